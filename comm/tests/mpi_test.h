/* cmocka under mpiexec: every rank runs every test, rank 0 reports. A failure on one rank would
 * leave the others waiting, so ranks agree on results before they assert. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "comm/wait/progress.h"

#define assert_all(condition) mpi_assert_all(condition, #condition, __FILE__, __LINE__)

/* Configuration under test, printed at the start of a failure; fixtures set it. */
static char mpi_subject[512];

/* Replaces the C library's function in the test program: every 16th yield sleeps. Otherwise
 * waiting ranks would take most of the cores' time from ranks that compute, beside other tests. */
int sched_yield(void)
{
    enum { EVERY = 16, SLEEP_US = 20 };
    static _Thread_local unsigned n;
    return ++n % EVERY == 0 ? usleep(SLEEP_US) : (int)syscall(SYS_sched_yield);
}

/* Completes a request of a test. Yields between tests, because a rank that spins inside MPI
 * keeps others from running if there are more ranks than cores. */
static inline void mpi_finish(MPI_Request request)
{
    int done = 0;
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        sched_yield();
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* Returns whether `mine` is true on every rank. */
static inline int mpi_all(bool mine)
{
    int all, own = mine;
    MPI_Request request;
    PMPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    mpi_finish(request);
    return all;
}

/* Fails on every rank if `mine` is false on one. Rank 0 prints the configuration and the failed
 * ranks. */
static inline void mpi_assert_all(bool mine, const char *text, const char *file, int line)
{
    enum { RANKS_MAX = 64 };
    int own = mine, all[RANKS_MAX] = {0}, rank, ranks;
    if (mpi_all(mine))
        return;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    mpi_finish(request);
    for (int r = 0; r < ranks && rank == 0; r++)
        if (!all[r])
            print_error("%s: wrong on rank %d of %d\n", mpi_subject, r, ranks);
    _assert_true(0, text, file, line);
}

static inline void mpi_sum(double *values, int n)
{
    MPI_Request request;
    PMPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    mpi_finish(request);
}

static inline void mpi_bcast(void *values, size_t n, MPI_Datatype type)
{
    MPI_Request request;
    PMPI_Ibcast(values, (int)n, type, 0, MPI_COMM_WORLD, &request);
    mpi_finish(request);
}

static inline int mpi_world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static inline int mpi_world_ranks(void)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/* Returns whether ranks must yield because there are more ranks than cores. */
static inline bool mpi_is_crowded(void)
{
    return mpi_world_ranks() > sysconf(_SC_NPROCESSORS_ONLN);
}

/* Makes ranks yield inside MPI too, from MPI_Init on. */
__attribute__((constructor)) static void yield_if_crowded(void)
{
    if (progress_is_crowded())
        progress_yield();
}

/* Runs a group with setup and teardown, which may be NULL; only rank 0 prints. Returns the
 * number of failed tests. */
#define mpi_run_group(tests, setup, teardown)                                                      \
    (mpi_world_rank() == 0 || freopen("/dev/null", "w", stdout) != NULL                            \
         ? cmocka_run_group_tests(tests, setup, teardown)                                          \
         : 1)
#define mpi_run_tests(tests) mpi_run_group(tests, NULL, NULL)
