/* Training on one rank, for comparison with several ranks. In double precision 10 steps agree to
 * 1e-10. In single precision, where training is chaotic, the first update agrees to 1e-4. */
#pragma once

#include "bench/workloads/train_cnn/tests/train_fixture.h"

#ifdef SCALEBENCH_F64
enum { STEPS = 10 };
#define ALLOWED 1e-10
#else
enum { STEPS = 1 };
#define ALLOWED 1e-4
#endif

/* Runs steps of a one-rank session. Rank 0 runs them and broadcasts the result; other ranks would
 * repeat the work and disturb it. opened: whether the session could be opened on this rank. */
static inline bool take_steps_once(struct session *s, bool opened, int steps)
{
    if (!mpi_all(opened))
        return false;
    bool good = mpi_world_rank() > 0 || session_steps(s, steps);
    const struct arenas *a = arenas_of(s);
    mpi_bcast(a->params, a->n, MPI_REAL_TYPE);
    mpi_bcast(a->state, (size_t)a->slots * a->n, MPI_REAL_TYPE);
    mpi_bcast(a->buffers, a->n_buffers, MPI_REAL_TYPE);
    return good;
}

/* One-rank run of `steps` steps, and its initial weights. Several sessions may be compared with
 * it. */
struct alone {
    struct session trained, initial;
    int steps;
};

static inline bool train_alone(struct alone *a, int steps)
{
    a->steps = steps;
    bool good = session_open(&a->trained, MPI_COMM_SELF, 1);
    good = session_open(&a->initial, MPI_COMM_SELF, 1) && good;
    return take_steps_once(&a->trained, good, steps);
}

static inline void alone_close(struct alone *a)
{
    session_close(&a->trained);
    session_close(&a->initial);
}

/* Expects that weights differ little from one rank's; parts: number of parts that the net is cut
 * into. */
static inline void expect_allowed(double distance, int parts)
{
    if (distance > ALLOWED)
        print_error("%s %s, in %d: distance %g, allowed %g\n",
                    config_text(&fixture.config, OPT_STRATEGY),
                    config_text(&fixture.config, OPT_VARIANT), parts, distance, ALLOWED);
    assert_all(distance <= ALLOWED);
}

/* Expects that all ranks, with the net cut into `parts` by `cut`, evaluate the test images like one
 * rank. */
static inline void expect_same_evaluation(void (*cut)(int parts), int parts)
{
    struct session own, all;
    struct score alone, shared;
    struct class_counts alone_classes, classes;
    struct error e;
    cut(1);
    bool good = session_open(&own, MPI_COMM_SELF, 1);
    cut(parts);
    good = session_open(&all, MPI_COMM_WORLD, 1) && good;
    assert_all(good);
    good = trainer_evaluate(&own.trainer, &fixture.data.test, &alone, &alone_classes, &e) == OK;
    good = trainer_evaluate(&all.trainer, &fixture.data.test, &shared, &classes, &e) == OK && good;
    session_close(&own);
    session_close(&all);
    assert_all(good && shared.samples == TEST_IMAGES && shared.correct == alone.correct);
    assert_all(memcmp(classes.of, alone_classes.of, sizeof classes.of) == 0);
    assert_all(fabs(shared.loss_sum - alone.loss_sum) <= 1e-4 * alone.loss_sum);
}
