/* A model whose gradient is linear in its weights takes the place of a net, so that what is stale,
 * or a rank's own, shows in the weights, and a test can compute all ranks' steps in one process. */
#ifndef SCALEBENCH_COMM_TESTS_LINEAR_MODEL_H
#define SCALEBENCH_COMM_TESTS_LINEAR_MODEL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/strategy.h"
#include "comm/tests/mpi_test.h"

enum { TENSORS = 3, N = 60, RANKS_MAX = 16, STEPS = 12 };
#define LR 0.125

struct fixture {
    struct tensor_desc tensors[TENSORS];
    struct net_desc desc;
    struct exec exec;
    struct waiter waiter;
    struct strategy_form form;
    struct optimizer optimizer;
    struct sync *sync;
    uint64_t step;
};

/* Half of the numbers, a sixth, and the rest. */
static inline void cut(struct fixture *f)
{
    const size_t ends[TENSORS] = {N / 2, N / 2 + N / 6, N};
    for (size_t i = 0, begin = 0; i < TENSORS; begin = ends[i++])
        f->tensors[i] = (struct tensor_desc){.name = "w",
                                             .n_dims = 1,
                                             .dims = {(int)(ends[i] - begin)},
                                             .count = ends[i] - begin,
                                             .offset = begin};
    f->desc = (struct net_desc){.tensors = f->tensors, .n_tensors = TENSORS, .n_params = N};
}

static inline bool open_with(struct fixture *f, enum strategy_kind kind, double momentum)
{
    struct error e;
    f->step = 0;
    f->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd, .momentum = momentum, .n = N};
    struct sync_options options = {.comm = MPI_COMM_WORLD,
                                   .desc = &f->desc,
                                   .form = f->form,
                                   .slots = optimizer_slots(OPTIMIZER_sgd),
                                   .waiter = &f->waiter,
                                   .exec = &f->exec};
    if (sync_create(&f->sync, kind, &options, &e) != OK) {
        print_error("%s\n", e.text);
        return false;
    }
    f->optimizer.state = f->sync->arenas.state;
    return true;
}

static inline bool setup(struct fixture *f)
{
    struct error e;
    *f = (struct fixture){.form = {.segment_bytes = 64, .period = 1}};
    cut(f);
    return waiter_open(&f->waiter, mpi_is_crowded() ? WAIT_YIELD : WAIT_BLOCK, 60, MPI_COMM_WORLD,
                       &e) == OK;
}

static inline void teardown(struct fixture *f)
{
    sync_destroy(f->sync);
    waiter_close(&f->waiter);
}

/* The gradient of rank r at weight i: multiples of a quarter, as far as the weights are. */
static inline double gradient_at(int rank, size_t i, double weight)
{
    return 0.25 * weight + (double)((int)((i * 7 + (size_t)rank * 13) % 31) - 15);
}

/* Gradients of this rank times `scale`, with which the strategy sums or averages. */
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

/* Rounding of STEPS steps of numbers below `size`, each with some ten operations: far less than
 * what a wrong step would change. */
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

static inline bool is_equal_everywhere(const struct fixture *f)
{
    real root[N];
    memcpy(root, f->sync->arenas.params, sizeof root);
    PMPI_Bcast(root, N, MPI_REAL_TYPE, 0, MPI_COMM_WORLD);
    return memcmp(root, f->sync->arenas.params, sizeof root) == 0;
}

#endif
