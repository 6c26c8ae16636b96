/* How much of its arenas a rank has in memory within a step: stages of ZeRO give back what is others'. Looked at
 * while a step computes that is not timed. */
#pragma once

#include "comm/strategy.h"

/* In MiB, the most that was seen so far; NAN where /proc does not tell. */
struct arena_use {
    bool asks; /* in this step */
    bool seen;
    double params_mib, grads_mib, state_mib;
};

/* Where somebody asks. */
void arena_use_look(struct arena_use *u, const struct sync *s);
