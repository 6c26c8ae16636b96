/* Programs that points of `workload: command` start. */
#pragma once

#include <jansson.h>

#include "bench/runner/tools.h"
#include "bench/spec/foreign.h"

/* Limit on the programs of one campaign. */
#define FOREIGN_PROGRAMS_MAX 64

/* Finds the program of a point and adds its path to `programs`, a JSON object by program name. A
 * path is resolved by seen_from_open; a plain name is looked up beside scalebench, then on PATH.
 * ERR_UNAVAILABLE with the position in the spec if there is no executable. ERR_SPEC if two
 * programs have one name, since a run knows programs by name. */
enum status foreign_find(json_t *programs, const struct spec *spec, const struct tools *tools,
                         const struct config *config, struct error *e);

/* Returns the path of a program, "" if it was not found. */
const char *foreign_program(const json_t *programs, const struct config *config);

/* Returns the file name of the program: "pi" for "build/pi". */
const char *foreign_name(const struct config *config);

/* Expands the words of the command after the program, with values for their braces. *arguments
 * is NULL-terminated; free it with one call of free. */
enum status foreign_arguments(char ***arguments, const struct config *config,
                              const struct foreign_launch *launch, struct error *e);
