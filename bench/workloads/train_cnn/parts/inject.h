/* Stragglers on purpose: chosen ranks sleep in a chosen phase of chosen steps, so that one sees which
 * ranks wait for them; or failures, of ranks that kill themselves there. How long is a function of (seed, step, rank) alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/spec.h"

/* What one rank does; of a rank that was not chosen `kind` is INJECT_none. */
struct inject {
    enum inject_kind kind;
    enum inject_phase phase;
    uint64_t first, last; /* steps, counted from 1 */
    double sleep_s, shape;
    uint64_t seed;
    uint32_t rank;
};

/* ERR_ARGUMENT for a chosen rank that the job does not have. */
enum status inject_open(struct inject *in, const struct config *config, int rank, int ranks,
                        struct error *e);

/* Seconds that the rank sleeps in this phase of this step: fixed: inject.sleep; exponential: with
 * this mean; Pareto: with this least value and inject.shape. */
double inject_seconds(const struct inject *in, enum inject_phase phase, uint64_t step);

/* Whether it ends there by SIGKILL instead. */
bool inject_kills(const struct inject *in, enum inject_phase phase, uint64_t step);

/* Sleeps for so long; returns the nanoseconds that it took. */
int64_t inject_sleep(const struct inject *in, enum inject_phase phase, uint64_t step);
