/* cmocka under mpiexec: every rank runs every test, rank 0 reports. A rank that fails alone would
 * leave the others waiting, so what ranks found is agreed on before it is asserted. */
#ifndef SCALEBENCH_COMM_TESTS_MPI_TEST_H
#define SCALEBENCH_COMM_TESTS_MPI_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define assert_all(condition) assert_true(mpi_all(condition))

/* True when `mine` holds on every rank. Ranks that outnumber the cores would spin here for long:
 * they yield. */
static inline int mpi_all(bool mine)
{
    int all, own = mine, done = 0;
    MPI_Request request;
    PMPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    while (!done) {
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return all;
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

/* Runs a group; the others keep quiet. Returns the number of failed tests. */
#define mpi_run_tests(tests)                                                                       \
    (mpi_world_rank() == 0 || freopen("/dev/null", "w", stdout) != NULL                            \
         ? cmocka_run_group_tests(tests, NULL, NULL)                                               \
         : 1)

#endif
