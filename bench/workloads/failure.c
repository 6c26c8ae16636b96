#include "bench/workloads/failure.h"

#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "kernels/base/launcher.h"

bool failure_is_first_process(void)
{
    return launcher_rank() <= 0;
}

int failure_report(const char *program, const struct error *e, bool speak)
{
    if (speak && e->text[0] != '\0') {
        fprintf(stderr, "%s: ", program);
        error_print(stderr, e);
    }
    return error_exit_status(e);
}

void failure_abort_all(int exit_status)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    nanosleep(&moment, NULL);
    MPI_Abort(MPI_COMM_WORLD, exit_status);
}
