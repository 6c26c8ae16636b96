/* The programs that points of `workload: command` start. */
#pragma once

#include "bench/runner/tools.h"
#include "bench/spec/foreign.h"

/* No campaign compares as many. */
#define FOREIGN_PROGRAMS_MAX 64

/* Each once, by what the spec calls it. */
struct foreign_programs {
    char *written[FOREIGN_PROGRAMS_MAX], *paths[FOREIGN_PROGRAMS_MAX];
    size_t n;
};

/* Finds the program of a point where seen_from_open says or, a plain name, beside scalebench or on PATH.
 * ERR_UNAVAILABLE with the place in the spec where there is none that can be run, ERR_SPEC where two
 * go by one name: a run knows programs by theirs. Ended with foreign_free in any case. */
enum status foreign_find(struct foreign_programs *programs, const struct spec *spec,
                         const struct tools *tools, const struct config *config, struct error *e);
void foreign_free(struct foreign_programs *programs);

/* The path of a program; "" where it was not found. */
const char *foreign_program(const struct foreign_programs *programs, const struct config *config);

/* "pi" of "build/pi". */
const char *foreign_name(const struct config *config);

/* The words of the command behind the program, braces replaced; NULL-terminated, in one allocation. */
enum status foreign_arguments(char ***arguments, const struct config *config,
                              const struct foreign_launch *launch, struct error *e);
