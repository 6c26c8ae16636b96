/* The programs that points of `workload: command` start. */
#pragma once

#include <jansson.h>

#include "bench/runner/tools.h"
#include "bench/spec/foreign.h"

/* No campaign compares as many. */
#define FOREIGN_PROGRAMS_MAX 64

/* Finds the program of a point where seen_from_open says or, a plain name, beside scalebench or on PATH, and adds its
 * path to `programs`, an object, by what the spec calls it. ERR_UNAVAILABLE with the place in the spec where there is none
 * that can be run, ERR_SPEC where two go by one name: a run knows programs by theirs. */
enum status foreign_find(json_t *programs, const struct spec *spec, const struct tools *tools,
                         const struct config *config, struct error *e);

/* The path of a program; "" where it was not found. */
const char *foreign_program(const json_t *programs, const struct config *config);

/* "pi" of "build/pi". */
const char *foreign_name(const struct config *config);

/* The words of the command behind the program, braces replaced; NULL-terminated, in one allocation. */
enum status foreign_arguments(char ***arguments, const struct config *config,
                              const struct foreign_launch *launch, struct error *e);
