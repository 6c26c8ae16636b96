/* The commands of the scalebench program. Each prints its results to `out`, leaves messages to
 * standard error, and returns an error for main to print; *exit_status is set only where OK does
 * not mean 0. */
#pragma once

#include <stdio.h>

#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct arguments {
    char *const *command;  /* the whole command line */
    const char *operand;   /* what is not an option; NULL where absent */
    const char *set, *out; /* --set (or NULL), --out (or "results") */
    bool fresh, strict, json;
};

typedef enum status command_function(const struct arguments *arguments, const struct tools *tools,
                                     FILE *out, int *exit_status, struct error *e);

#define COMMAND(name, operand, options, summary) command_function command_##name;
#include "bench/runner/commands/commands.def"
