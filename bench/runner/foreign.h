/* Finds the users' programs for points with `workload: command`. */
#pragma once

#include <jansson.h>

#include "bench/runner/tools.h"
#include "bench/spec/foreign.h"

/* largest number of users' programs in one campaign */
#define FOREIGN_PROGRAMS_MAX 64

/* Finds a user's program and adds its path to the JSON object `programs`, with the name in the spec
 * as key. Searches for a relative path in the folders of seen_from_open; for a name without '/',
 * also in scalebench's folder and PATH. ERR_UNAVAILABLE with the position in the spec if there is
 * no executable. ERR_SPEC if there are too many programs, or if two programs (including
 * scalebench's) have the same file name. */
enum status foreign_find(json_t *programs, const struct spec *spec, const struct tools *tools,
                         const struct config *config, struct error *e);

/* Returns the path of the point's program; "" if the program was not found. */
const char *foreign_program(const json_t *programs, const struct config *config);

/* Returns the file name of the point's program, such as "pi" for "build/pi". */
const char *foreign_name(const struct config *config);

/* Replaces words in braces in the user's command by values of the launch. *arguments are the words
 * after the program, NULL-terminated. Free *arguments with one call of free. */
enum status foreign_arguments(char ***arguments, const struct config *config,
                              const struct foreign_launch *launch, struct error *e);
