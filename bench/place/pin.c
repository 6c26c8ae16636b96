/* pin --cpus "0|1|2-3" [--] PROGRAM ARGUMENTS...
 *
 * Started once a rank by any MPI launcher: binds itself to the entry of its node-local rank, asks
 * the kernel to be killed when its launcher dies, and becomes PROGRAM. So binding does not depend
 * on what a launcher calls its own option, and no rank outlives its launch. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/place/place.h"
#include "kernels/base/descriptors.h"

static const char usage[] =
    "usage: pin --cpus \"LIST|LIST|...\" [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Binds to the processors of the own node-local rank, then becomes PROGRAM. Ranks are "
    "separated\n"
    "by '|', each a list as Linux writes it (0 or 0-3,8); an empty one leaves its rank alone.\n"
    "The rank is read from MPI_LOCALRANKID, SLURM_LOCALID or PMI_RANK, the first that is set.\n"
    "PROGRAM is killed when the process that started pin ends.\n"
    "\n"
    "exit status: PROGRAM's; 2 usage, 3 cannot bind, 126 or 127 cannot run PROGRAM\n";

static enum status local_rank(long *rank, struct error *e)
{
    /* Hydra's own variable comes first: under hydra inside a Slurm job, SLURM_LOCALID is that of
     * the proxy, the same for all of its ranks. */
    static const char *const names[] = {"MPI_LOCALRANKID", "SLURM_LOCALID", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        if (text == NULL)
            continue;
        *rank = strtol(text, &end, 10);
        if (end == text || *end || *rank < 0)
            return error_set(e, ERR_ARGUMENT, "%s='%s' is not a rank", names[i], text);
        return OK;
    }
    return error_set(e, ERR_ARGUMENT,
                     "no rank: none of MPI_LOCALRANKID, SLURM_LOCALID, PMI_RANK is set; pin is "
                     "started by mpiexec or srun");
}

/* Cuts entry number `rank` out of "0|1|2-3". */
static enum status own_entry(char *cpus, long rank, char **entry, struct error *e)
{
    const char *whole = cpus;
    long n = 1;
    for (const char *c = cpus; *c; c++)
        n += *c == '|';
    if (rank >= n)
        return error_set(e, ERR_ARGUMENT, "node-local rank %ld, but --cpus '%s' has %ld", rank,
                         whole, n);
    for (; rank > 0; rank--)
        strsep(&cpus, "|");
    *entry = strsep(&cpus, "|");
    return OK;
}

static enum status die_with_parent(pid_t parent, struct error *e)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return error_set(e, ERR_SYSTEM, "PR_SET_PDEATHSIG: %s", strerror(errno));
    /* A parent that died before this line sends no signal: an orphan has another parent by now. */
    if (getppid() != parent || getppid() == 1)
        return error_set(e, ERR_INTERRUPTED, "the launcher is gone");
    return OK;
}

/* Hydra does not end a launch for a process that leaves before MPI_Init: the other ranks would wait for
 * this one in there for ever. So it is told as MPI_Abort does, by PMI's own words (version 1). A
 * launcher that is not hydra speaks others and has its own option for this. */
static int end_launch(int status)
{
    char line[64];
    const char *fd = getenv("PMI_FD");
    if (fd == NULL || getenv("MPI_LOCALRANKID") == NULL)
        return status;
    int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    (void)send((int)strtol(fd, NULL, 10), line, (size_t)n, MSG_NOSIGNAL);
    return status;
}

static int fail(const struct error *e)
{
    fputs("pin: ", stderr);
    error_print(stderr, e);
    return end_launch(error_exit_status(e));
}

static int parse(int argc, char **argv, char **cpus)
{
    static const struct option options[] = {{"cpus", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            exit(0);
        }
        if (c != 'c') {
            fputs("pin --help tells more\n", stderr);
            exit(2);
        }
        *cpus = optarg;
    }
    return optind;
}

int main(int argc, char **argv)
{
    pid_t parent = getppid();
    char *cpus = NULL, *entry = NULL;
    long rank = 0;
    struct error e = {0};
    descriptors_open_standard();
    int first = parse(argc, argv, &cpus);
    if (cpus == NULL || first >= argc) {
        fprintf(stderr, "pin: %s is missing\n%s", cpus != NULL ? "PROGRAM" : "--cpus", usage);
        return 2;
    }
    if (local_rank(&rank, &e) != OK || own_entry(cpus, rank, &entry, &e) != OK ||
        place_bind_self(entry, &e) != OK || die_with_parent(parent, &e) != OK)
        return fail(&e);
    execvp(argv[first], argv + first);
    int status = errno == ENOENT ? 127 : 126;
    fprintf(stderr, "pin: cannot run %s: %s\n", argv[first], strerror(errno));
    return end_launch(status);
}
