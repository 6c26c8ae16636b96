/* Command lines of sweeps. All errors are ERR_ARGUMENT with what is wrong and what is accepted;
 * texts are borrowed from argv. */
#ifndef SCALEBENCH_BENCH_WORKLOADS_SWEEPS_OPTIONS_H
#define SCALEBENCH_BENCH_WORKLOADS_SWEEPS_OPTIONS_H

#include <getopt.h>
#include <stddef.h>

#include "kernels/base/error.h"

/* Hands every option of argv in its order to `take`: the letter that `known` has for it, and its
 * value. Nothing but options may be there. */
enum status options_walk(int argc, char **argv, const struct option *known,
                         enum status (*take)(void *arg, int letter, const char *value,
                                             struct error *e),
                         void *arg, struct error *e);

/* A whole number of 1..most. */
enum status option_count(const char *option, const char *text, int most, int *value,
                         struct error *e);

/* The index of one of names [n]. */
enum status option_name(const char *option, const char *text, const char *const *names, size_t n,
                        int *index, struct error *e);

#endif
