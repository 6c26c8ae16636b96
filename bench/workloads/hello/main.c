/* hello_ranks: prints one line about its MPI job, such as "ranks=2 nodes=2 mpi=3.1". If launcher
 * and MPI library do not match, each process prints its own line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/descriptors.h"
#include "kernels/base/launcher.h"

static int count_names(const char *names, int n)
{
    int different = 0;
    for (int i = 0; i < n; i++) {
        const char *name = names + (size_t)i * MPI_MAX_PROCESSOR_NAME, *before = names;
        while (strcmp(before, name) != 0)
            before += MPI_MAX_PROCESSOR_NAME;
        different += before == name;
    }
    return different;
}

/* Prints the line about the MPI job and returns the exit status. */
static int print_job(const char *names, int ranks)
{
    int major, minor;
    MPI_Get_version(&major, &minor);
    printf("ranks=%d nodes=%d mpi=%d.%d\n", ranks, count_names(names, ranks), major, minor);
    return descriptors_end_output("hello_ranks", 0);
}

/* Ends the process. Calls MPI_Finalize only if the launcher requires this call, since MPI_Finalize
 * of some MPI libraries can hang over TCP. */
static _Noreturn void leave(int exit_status)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (launcher_hears_leaving())
        launcher_leave(exit_status);
    MPI_Finalize();
    exit(exit_status);
}

int main(int argc, char **argv)
{
    int rank, ranks, length, exit_status = 0;
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    descriptors_open_standard();
    if (argc > 1) {
        fprintf(stderr, "hello_ranks: '%s' is one argument too many; expected none\n", argv[1]);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(name, &length);
    char *names = calloc((size_t)ranks, sizeof name);
    if (names == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        exit_status = print_job(names, ranks);
    free(names);
    MPI_Barrier(MPI_COMM_WORLD);
    leave(exit_status);
}
