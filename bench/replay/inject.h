/* Injected stragglers and failures: chosen ranks sleep or kill themselves in a chosen phase of
 * chosen steps. A sleep's random length depends only on (seed, phase, step, rank). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/spec.h"

/* Injection on one rank; `kind` is INJECT_none if this rank was not chosen. */
struct inject {
    enum inject_kind kind;
    enum inject_phase phase;
    uint64_t first, last; /* first and last step with an injection, counted from 1 */
    double sleep_s, shape;
    uint64_t seed;
    uint32_t rank;
};

/* Sets up the injection on this rank. ERR_ARGUMENT if inject.ranks names a rank that the job does
 * not have. */
enum status inject_open(struct inject *in, const struct config *config, int rank, int ranks,
                        struct error *e);

/* Returns the length of the sleep in this phase and step (s); 0: no sleep. inject.sleep is the
 * length of fixed, the mean of exponential and the minimum of Pareto sleeps. inject.shape is the
 * shape of the Pareto distribution. */
double inject_seconds(const struct inject *in, enum inject_phase phase, uint64_t step);

/* Returns whether the rank kills itself (SIGKILL) in this phase and step. */
bool inject_kills(const struct inject *in, enum inject_phase phase, uint64_t step);
