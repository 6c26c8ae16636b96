/* Shared by tests of strategies: a network of a few tensors, plain SGD, and one waiter per
 * program, since opening a waiter takes longer than most tests if there are more ranks than
 * cores. main passes mpi_waiter_open and mpi_waiter_close to the group. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "comm/strategy.h"
#include "comm/tests/mpi_test.h"

/* ---- The waiter ---- */

static struct waiter program_waiter;

static inline enum wait_kind usual_wait(void)
{
    return mpi_is_crowded() ? WAIT_YIELD : WAIT_BLOCK;
}

static inline int mpi_waiter_open(void **state)
{
    struct error e;
    return waiter_open(&program_waiter, usual_wait(), 60, MPI_COMM_WORLD, &e) == OK ? 0 : -1;
}

static inline int mpi_waiter_close(void **state)
{
    waiter_close(&program_waiter);
    return 0;
}

/* ---- A strategy with its network ---- */

enum { FIXTURE_TENSORS = 4 };

struct fixture {
    struct tensor_desc tensors[FIXTURE_TENSORS];
    struct net_desc desc;
    struct exec exec;
    struct strategy_config config;
    struct loss_scale_options loss_scale;
    struct optimizer optimizer;
    struct waiter *waiter;
    struct sync *sync;
    uint64_t step;
};

/* Reads a default such as "25", "256KiB" or "1%". */
static inline double preset_number(const char *preset)
{
    char *unit;
    double number = strtod(preset, &unit);
    return strcmp(unit, "KiB") == 0 ? 1024 * number : number;
}

/* Sets every option to its default, with the program's waiter and no network. */
static inline void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.optimizer = {.kind = OPTIMIZER_sgd}, .waiter = &program_waiter};
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help)                            \
    f->config.options[SYNC_##key] = preset_number(preset);
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help)                            \
    f->config.options[SYNC_##key] = preset_number(preset);
#include "comm/cost/compressors.def"
}

static inline void fixture_no_tensors(struct fixture *f)
{
    f->desc = (struct net_desc){.tensors = f->tensors};
}

/* Adds a matrix, or a vector if columns is 0. */
static inline void fixture_add_tensor(struct fixture *f, size_t rows, size_t columns)
{
    struct tensor_desc *t = &f->tensors[f->desc.n_tensors++];
    *t = (struct tensor_desc){.name = "w",
                              .n_dims = columns > 0 ? 2 : 1,
                              .dims = {(int)rows, (int)columns},
                              .count = rows * (columns > 0 ? columns : 1),
                              .offset = f->desc.n_params};
    f->desc.n_params += t->count;
}

/* Cuts n numbers into tensors of a half, a sixth, and the rest. */
static inline void fixture_cut(struct fixture *f, size_t n)
{
    fixture_no_tensors(f);
    fixture_add_tensor(f, n / 2, 0);
    fixture_add_tensor(f, n / 6, 0);
    fixture_add_tensor(f, n - n / 2 - n / 6, 0);
}

/* Names the configuration in failures: "ring usual, algorithm auto, compressor none, 1009
 * numbers, segment 512, ..." */
static inline void fixture_name(const struct fixture *f, enum strategy_kind kind)
{
    static const char *const names[] = {
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) #key,
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) #key,
#include "comm/cost/compressors.def"
    };
    const struct strategy_config *config = &f->config;
    snprintf(mpi_subject, sizeof mpi_subject, "%s %s, algorithm %s, compressor %s, %zu numbers",
             strategy_names()[kind], strategy_variant_name(config->variant),
             algorithm_names()[config->algorithm], compressor_names()[config->compressor],
             f->desc.n_params);
    for (int i = 0; i < SYNC_OPTIONS; i++)
        if (config->options[i] != 0)
            snprintf(mpi_subject + strlen(mpi_subject), sizeof mpi_subject - strlen(mpi_subject),
                     ", %s %g", names[i], config->options[i]);
}

/* Creates a strategy over the network's tensors, as the fixture configures it. Close it with
 * sync_destroy. */
static inline enum status fixture_create(struct fixture *f, enum strategy_kind kind,
                                         struct error *e)
{
    const struct sync_options options = {.comm = MPI_COMM_WORLD,
                                         .desc = &f->desc,
                                         .config = f->config,
                                         .loss_scale = f->loss_scale,
                                         .slots = optimizer_slots(f->optimizer.kind),
                                         .waiter = f->waiter,
                                         .exec = &f->exec};
    fixture_name(f, kind);
    f->sync = NULL;
    f->step = 0;
    f->optimizer.n = f->desc.n_params;
    enum status status = sync_create(&f->sync, kind, &options, e);
    if (status == OK)
        f->optimizer.state = f->sync->arenas.state;
    return status;
}

static inline bool fixture_open(struct fixture *f, enum strategy_kind kind)
{
    struct error e;
    bool good = fixture_create(f, kind, &e) == OK;
    if (!good)
        print_error("%s\n", e.text);
    return good;
}

static inline struct range fixture_all(const struct fixture *f)
{
    return (struct range){0, f->desc.n_tensors};
}

static inline real *fixture_grads(const struct fixture *f)
{
    return sync_grad_buffer(f->sync, fixture_all(f));
}

/* Runs one step with the gradients in the buffer, all ready at once. */
static inline bool fixture_step(struct fixture *f, double lr)
{
    struct error e;
    struct range all = fixture_all(f);
    f->step++;
    sync_step_begin(f->sync);
    for (enum pass pass = PASS_FORWARD; pass <= PASS_BACKWARD; pass++) {
        if (sync_params_needed(f->sync, all, pass, &e) != OK)
            return false;
        sync_params_done(f->sync, all, pass);
    }
    return sync_grad_ready(f->sync, all, 0, true, &e) == OK &&
           sync_step_end(f->sync, &f->optimizer, f->step, lr, &e) == OK;
}

/* Returns the model's parameters, also from a strategy whose ranks keep only parts of them.
 * Collective. */
static inline const real *fixture_params(const struct fixture *f)
{
    struct error e;
    bool whole = !(sync_flags(f->sync) & STRATEGY_EXACT) || sync_eval_begin(f->sync, &e) == OK;
    return whole ? f->sync->arenas.params : NULL;
}

/* ---- Gradients whose sums are known ---- */

enum { GRADIENT_PERIOD = 101 };

/* Returns integers small enough that every order of summation is exact. */
static inline real whole_gradient(int rank, size_t i)
{
    return (real)((int)((i * 7 + (size_t)rank * 13) % GRADIENT_PERIOD) - 50);
}

static inline void fixture_fill(const struct fixture *f)
{
    real *grads = fixture_grads(f);
    for (size_t i = 0; i < f->desc.n_params; i++)
        grads[i] = whole_gradient(mpi_world_rank(), i);
}

/* Checks that parameters are minus the sums, as after `steps` steps at rate 1 from 0. */
static inline bool fixture_has_summed(const struct fixture *f, int steps)
{
    real sums[GRADIENT_PERIOD] = {0};
    const real *params = fixture_params(f);
    bool good = params != NULL;
    for (size_t i = 0; i < GRADIENT_PERIOD; i++)
        for (int r = 0; r < mpi_world_ranks(); r++)
            sums[i] += whole_gradient(r, i);
    for (size_t i = 0; i < f->desc.n_params && good; i++)
        good = params[i] == (real)steps * -sums[i % GRADIENT_PERIOD];
    return good;
}

static inline bool fixture_is_equal_everywhere(const struct fixture *f)
{
    size_t n = f->desc.n_params;
    const real *params = fixture_params(f);
    real *root = malloc((n + 1) * sizeof *root);
    memcpy(root, f->sync->arenas.params, n * sizeof *root);
    mpi_bcast(root, n, MPI_REAL_TYPE);
    bool equal = params != NULL && memcmp(root, params, n * sizeof *root) == 0;
    free(root);
    return equal;
}
