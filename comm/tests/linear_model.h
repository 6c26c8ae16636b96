/* A model whose gradient is linear in its weights replaces a network. Stale or rank-specific
 * gradients then show in the weights, and a test can compute all ranks' steps in one process. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/tests/sync_fixture.h"

enum { TENSORS = 3, N = 60, RANKS_MAX = 16, STEPS = 12 };
#define LR 0.125

static inline void setup(struct fixture *f)
{
    fixture_init(f);
    f->config.options[SYNC_segment] = 64;
    f->config.options[SYNC_period] = 1;
    f->config.options[SYNC_staleness] = 0;
    fixture_cut(f, N);
}

static inline bool open_with(struct fixture *f, enum strategy_kind kind, double momentum)
{
    f->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd, .momentum = momentum};
    return fixture_open(f, kind);
}

/* Returns the gradient of rank r at weight i, a multiple of a quarter if the weights are. */
static inline double gradient_at(int rank, size_t i, double weight)
{
    return 0.25 * weight + (double)((int)((i * 7 + (size_t)rank * 13) % 31) - 15);
}

/* Runs a step with this rank's gradients times `scale`. */
static inline bool step(struct fixture *f, double scale)
{
    struct error e;
    struct range all = {0, TENSORS};
    sync_step_begin(f->sync);
    bool good = sync_params_needed(f->sync, all, PASS_FORWARD, &e) == OK;
    real *grads = sync_grad_buffer(f->sync, all);
    for (size_t i = 0; i < N; i++)
        grads[i] = (real)(scale * gradient_at(f->sync->rank, i, (double)f->sync->arenas.params[i]));
    good = good && sync_grad_ready(f->sync, all, 0, true, &e) == OK;
    f->step++;
    return good && sync_step_end(f->sync, &f->optimizer, f->step, LR, &e) == OK;
}

/* Allows for rounding of STEPS steps of numbers below `size`, with about ten operations each. A
 * wrong step differs by far more. */
static inline bool is_near(double value, double expected, double size)
{
    return fabs(value - expected) <= 10.0 * STEPS * (double)REAL_EPSILON * size;
}

static inline bool params_are_near(const struct fixture *f, const double *expected)
{
    double size = 1;
    bool good = true;
    for (size_t i = 0; i < N; i++)
        size = fmax(size, fabs(expected[i]));
    for (size_t i = 0; i < N; i++)
        good = good && is_near((double)f->sync->arenas.params[i], expected[i], 16 * size);
    return good;
}
