/* Computes pi by the midpoint rule with MPI. This program does not use scalebench; pi.yaml shows
 * how to measure such a program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double sum_of(long intervals, int first, int stride)
{
    double sum = 0, width = 1.0 / (double)intervals;
    for (long i = first; i < intervals; i += stride) {
        double x = ((double)i + 0.5) * width;
        sum += 4 * width / (1 + x * x);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    long intervals = argc > 1 ? atol(argv[1]) : 1000000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), pi, part = sum_of(intervals, rank, ranks);
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi = %.15f in %.6f ms\n", pi, 1e3 * (MPI_Wtime() - begin));
    MPI_Finalize();
    return 0;
}
