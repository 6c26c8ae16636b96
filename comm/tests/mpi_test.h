/* cmocka under mpiexec: every rank runs every test, rank 0 reports. A rank that fails alone would
 * leave the others waiting, so what ranks found is agreed on before it is asserted. */
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

/* What is tested, in words that a failure begins with; fixtures say it. */
static char mpi_subject[512];

/* In place of the C library's, for all that a test program links: every 16th yield sleeps. Waiting ranks yield, and beside
 * other tests they would take most of the time of the cores from the ranks that compute. */
int sched_yield(void)
{
    enum { EVERY = 16, SLEEP_US = 20 };
    static _Thread_local unsigned n;
    return ++n % EVERY == 0 ? usleep(SLEEP_US) : (int)syscall(SYS_sched_yield);
}

/* Completes a request of the tests themselves. Yields between tests: where ranks outnumber cores, a
 * rank that spins inside the library keeps the others from running. */
static inline void mpi_finish(MPI_Request request)
{
    int done = 0;
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        sched_yield();
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* True when `mine` holds on every rank. */
static inline int mpi_all(bool mine)
{
    int all, own = mine;
    MPI_Request request;
    PMPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    mpi_finish(request);
    return all;
}

/* Fails on every rank when `mine` does not hold on one; rank 0 says what was tested, and on which
 * ranks it failed. */
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

/* Sums n doubles in place. */
static inline void mpi_sum(double *values, int n)
{
    MPI_Request request;
    PMPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    mpi_finish(request);
}

/* Gives all ranks what rank 0 has. */
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

/* Ranks that spin in the library keep the others from running: they have to yield. */
static inline bool mpi_is_crowded(void)
{
    return mpi_world_ranks() > sysconf(_SC_NPROCESSORS_ONLN);
}

/* Inside the library, too, from MPI_Init on. */
__attribute__((constructor)) static void yield_if_crowded(void)
{
    if (progress_is_crowded())
        progress_yield();
}

/* Runs a group between the two functions, which may be NULL; ranks but the first keep quiet.
 * Returns the number of failed tests. */
#define mpi_run_group(tests, setup, teardown)                                                      \
    (mpi_world_rank() == 0 || freopen("/dev/null", "w", stdout) != NULL                            \
         ? cmocka_run_group_tests(tests, setup, teardown)                                          \
         : 1)
#define mpi_run_tests(tests) mpi_run_group(tests, NULL, NULL)
