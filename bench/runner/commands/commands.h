/* The commands of the scalebench program. Each prints its results to `out`, leaves messages to
 * standard error, and returns an error for main to print; *exit_status is set only where OK does
 * not mean 0. */
#pragma once

#include <stdio.h>

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

enum { OPERANDS_MAX = 256 };

struct arguments {
    char *const *command; /* the whole command line */
    const char *operand;  /* what is not an option, the first of them; NULL where absent */
    const char *operands[OPERANDS_MAX]; /* of commands whose operand ends in "..." */
    size_t n_operands;
    char *set;                                     /* --set, a line each, or NULL */
    const char *out;                               /* --out, else default_out */
    const char *default_out;                       /* $SCALEBENCH_OUT or "results" */
    const char *site;                              /* of submit, or NULL */
    const char *model, *data, *ranks, *strategies; /* of new, or NULL */
    const char *published;                         /* file to show beside a network, or NULL */
    const char *quantity, *margin, *level, *floor; /* of compare */
    const char *file, *format, *output;            /* of check; of several commands */
    bool fresh, strict, json, count_disturbed, as_measured, per_nodes, dry_run, update, commands;
};

typedef enum status command_function(const struct arguments *arguments, const struct tools *tools,
                                     FILE *out, int *exit_status, struct error *e);

#define COMMAND(name, operand, options, summary) command_function command_##name;
#include "bench/runner/commands/commands.def"

/* What `explain` tells of besides networks and groups, a name a line and what it means. */
command_function explain_names;
