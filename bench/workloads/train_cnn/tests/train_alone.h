/* What one rank trains by itself, with which tests compare what several train: in double precision 20 steps agree to
 * 1e-10; in single precision, where training is chaotic, the first step's update agrees to 1e-4. */
#pragma once

#include "bench/workloads/train_cnn/tests/train_fixture.h"

#ifdef SCALEBENCH_F64
enum { STEPS = 20 };
#define ALLOWED 1e-10
#else
enum { STEPS = 1 };
#define ALLOWED 1e-4
#endif

/* Steps of a session of one rank, which is open on each, or could not be opened: the first rank takes them and gives what
 * they left to the others, which would do the same and take its core meanwhile. */
static inline bool take_steps_once(struct session *s, bool opened, int steps)
{
    if (!mpi_all(opened))
        return false;
    bool good = true;
    for (int i = 0; i < steps && mpi_world_rank() == 0; i++)
        good = session_step(s, (uint32_t)i) && good;
    const struct arenas *a = arenas_of(s);
    mpi_bcast(a->params, a->n, MPI_REAL_TYPE);
    mpi_bcast(a->state, (size_t)a->slots * a->n, MPI_REAL_TYPE);
    mpi_bcast(a->buffers, a->n_buffers, MPI_REAL_TYPE);
    return good;
}

/* One rank's own run of so many steps, and the weights that it began with. Many may be compared
 * with it. */
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
