/* Commands of the scalebench program. A command prints results to `out` and messages to standard
 * error; main prints the returned error. A command that returns OK can set *exit_status, which is
 * initially 0. */
#pragma once

#include <stdio.h>

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

enum { OPERANDS_MAX = 256 };

struct arguments {
    const struct tools *tools;
    char *const *command; /* whole command line: argv of main, NULL-terminated; borrowed */
    const char *operand;  /* first operand; NULL: none */
    const char *operands
        [OPERANDS_MAX]; /* all operands; several only if the command's operand ends in "..." */
    size_t n_operands;
    char *set;                                     /* values of all --set options, one per line;
                                                      NULL: none */
    const char *out;                               /* folder of results: --out, else default_out */
    const char *default_out;                       /* $SCALEBENCH_OUT or "results" */
    const char *site;                              /* option of `submit`; NULL: not given */
    const char *model, *data, *ranks, *strategies; /* options of `new`; NULL: not given */
    const char *published; /* path or name of a published layer table to compare a network with;
                              NULL: none */
    const char *quantity, *margin, *level, *floor;     /* options of `compare`; NULL: not given */
    const char *file, *exact;                          /* options of `check`; NULL: not given */
    const char *format, *output;                       /* --format and --output; NULL: not given */
    const char *calibration;                           /* option of `simulate`; NULL: not given */
    const char *of;                                    /* `claims --of`; NULL: all claims */
    const char *point, *leaf_hosts, *oversubscription; /* options of `export`; NULL: not given */
    bool fresh, strict, json, count_disturbed, as_measured, bisect, per_nodes, dry_run, update,
        commands, plan, why, again;
};

typedef enum status command_function(const struct arguments *a, FILE *out, int *exit_status,
                                     struct error *e);

#define COMMAND(name, operand, options, summary) command_function command_##name;
#include "bench/runner/commands/commands.def"

/* Prints names that `explain` accepts, with their meanings. Omits networks, groups of options, keys
 * allowed in every YAML file, and terms of several words. */
command_function explain_names;
