#include "bench/workloads/failure.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/base/log.h"
#include "kernels/base/launcher.h"
#include "kernels/base/mem.h"

bool failure_is_first_process(void)
{
    return launcher_rank() <= 0;
}

/* Returns the value of an environment variable as an integer; `unset` if it is not set. */
static int read_number(const char *name, int unset)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : unset;
}

void failure_warn_of_shared_memory(void)
{
    /* shared memory per rank (bytes) with MPICH 4.0.2 and UCX 1.13 */
    static const double UCX_RANK_BYTES = 4.2 * 1048576;
    int ranks = read_number("MPI_LOCALNRANKS", 1);
    struct error e;
    char who[64];
    if (getenv("UCX_TLS") != NULL || read_number("MPI_LOCALRANKID", 0) != 0)
        return; /* no check of shared memory: the user selected a transport, or the node's first
                   rank makes this check */
    snprintf(who, sizeof who, "starting MPI on %d rank%s", ranks, ranks == 1 ? "" : "s");
    if (mem_check_shared(who, ranks * UCX_RANK_BYTES, &e) != OK)
        log_print(LOG_WARNING, "%s", e.text);
}

/* Prints the error in one write, so that lines of several ranks do not mix. Without memory for the
 * line, uses several writes. */
static void print_line(const char *program, const struct error *e)
{
    char line[3 * sizeof *e] = ""; /* room for the escaped file name and text, each at most twice
                                      its size in *e, and for the rest of the line */
    FILE *text = fmemopen(line, sizeof line, "w");
    FILE *out = text != NULL ? text : stderr;
    fprintf(out, "%s: ", program);
    error_print(out, e);
    if (text == NULL)
        return;
    fclose(text);
    fputs(line, stderr);
}

int failure_report(const char *program, const struct error *e, bool speak)
{
    if (speak && e->text[0] != '\0')
        print_line(program, e);
    return error_exit_status(e);
}

void failure_abort_all(int exit_status, const struct error *e)
{
    const struct timespec moment = {.tv_nsec = 200000000}, patience = {.tv_sec = 2};
    nanosleep(e->text[0] != '\0' ? &moment : &patience, NULL);
    launcher_await_reading();
    MPI_Abort(MPI_COMM_WORLD, exit_status);
}
