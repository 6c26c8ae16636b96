#include "bench/workloads/train_cnn/parts/recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "comm/library.h"
#include "kernels/base/text.h"

/* Exit statuses of the child process, chosen because no MPI library uses them. */
enum { IS_THERE = 70, IS_REFUSED, IS_NOT_DECLARED };

/* Runs in a child process, as an MPI job of its own: tries the ULFM calls, discards all output and
 * exits with the result as its status. */
static _Noreturn void try_calls(void)
{
    int how = IS_NOT_DECLARED, nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
#ifdef MPIX_ERR_PROC_FAILED
    MPI_Comm all, left;
    int agreed = 1;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    bool good =
        MPIX_Comm_shrink(all, &left) == MPI_SUCCESS && MPIX_Comm_agree(all, &agreed) == MPI_SUCCESS;
    how = good ? IS_THERE : IS_REFUSED;
#endif
    _exit(how);
}

static void print_verdict(FILE *out, int wait_status)
{
    static const char *const verdicts[] = {
        [IS_THERE] = "yes: MPIX_Comm_shrink and MPIX_Comm_agree work; train_cnn does not use them",
        [IS_REFUSED] = "no: MPIX_Comm_shrink or MPIX_Comm_agree returns an error",
        [IS_NOT_DECLARED] = "no: MPIX_Comm_shrink is not declared",
    };
    char library[256], end[TEXT_END];
    int how = WIFSIGNALED(wait_status) ? 0 : WEXITSTATUS(wait_status);
    library_name(library, sizeof library);
    if (how >= IS_THERE && how <= IS_NOT_DECLARED)
        fprintf(out, "%s: %s\n", library, verdicts[how]);
    else
        fprintf(out, "%s: no: MPIX_Comm_shrink ends the process (%s)\n", library,
                text_end(end, wait_status));
}

enum status recovery_probe(FILE *out, struct error *e)
{
    int wait_status;
    pid_t child = fork();
    if (child == 0)
        try_calls();
    if (child < 0)
        return error_set(e, ERR_SYSTEM, "cannot start a trial process: fork: %s", strerror(errno));
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ;
    print_verdict(out, wait_status);
    return OK;
}
