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
    for (int i = 0; i < steps; i++)
        good = session_step(&a->trained, (uint32_t)i) && good;
    return good;
}

static inline void alone_close(struct alone *a)
{
    session_close(&a->trained);
    session_close(&a->initial);
}
