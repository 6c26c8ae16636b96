#include "kernels/base/launcher.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define OF_THIS_MPI                                                                                \
    "use the mpiexec of the program's MPI (MPIEXEC=mpiexec.mpich, mpiexec.openmpi, ...): "         \
    "mpiexec -n %1$d %2$s ..."

/* Environment variables that state the rank and the number of processes; `advice` ends the message
 * of launcher_check. Rows: Hydra or srun with an MPI plugin, Open MPI, any other srun. The first
 * row whose variable is set applies. srun is last, because mpiexec inside a Slurm job also inherits
 * srun's variables. */
static const struct launcher {
    const char *rank, *tasks, *advice;
} LAUNCHERS[] = {
    {"PMI_RANK", "PMI_SIZE", OF_THIS_MPI},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", OF_THIS_MPI},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
     "type: srun --mpi=pmi2 -n %1$d %2$s ..., or: mpiexec -n %1$d %2$s ..."},
};
enum { N_LAUNCHERS = sizeof LAUNCHERS / sizeof *LAUNCHERS };

/* Returns the number in `text`, or -1 if the text is not a valid rank. */
static int parse_rank(const char *text)
{
    char *end;
    long rank = strtol(text, &end, 10);
    return end == text || *end != '\0' || rank < 0 || rank > 0x7fffffff ? -1 : (int)rank;
}

int launcher_rank(void)
{
    for (int i = 0; i < N_LAUNCHERS; i++) {
        const char *text = getenv(LAUNCHERS[i].rank);
        if (text != NULL)
            return parse_rank(text);
    }
    return -1;
}

/* Returns the index in LAUNCHERS of the launcher that started this process; N_LAUNCHERS if there is
 * none. */
static int find_launcher(void)
{
    int i = 0;
    while (i < N_LAUNCHERS && getenv(LAUNCHERS[i].tasks) == NULL)
        i++;
    return i;
}

int launcher_tasks(const char **name)
{
    int i = find_launcher();
    *name = i < N_LAUNCHERS ? LAUNCHERS[i].tasks : "";
    return i < N_LAUNCHERS ? parse_rank(getenv(*name)) : 0;
}

enum status launcher_check(int ranks, const char *program, struct error *e)
{
    char advice[512];
    const char *name;
    int tasks = launcher_tasks(&name);
    if (tasks <= ranks)
        return OK;
    snprintf(advice, sizeof advice, LAUNCHERS[find_launcher()].advice, tasks, program);
    error_set(e, ERR_ARGUMENT,
              "%s=%d, but MPI has %d rank%s: the processes would run as separate jobs; %s", name,
              tasks, ranks, ranks == 1 ? "" : "s", advice);
    if (launcher_rank() > 0 && e != NULL)
        e->text[0] = '\0';
    return ERR_ARGUMENT;
}

/* Reads as much of /proc/PID/NAME as fits into `text`. Returns the number of bytes read. */
static size_t read_entry(const char *pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    FILE *in = fopen(path, "re");
    size_t n = in != NULL ? fread(text, 1, size - 1, in) : 0;
    if (in != NULL)
        fclose(in);
    text[n] = '\0';
    return n;
}

/* Returns whether process `pid` is stopped and has the same parent as this process. Parses
 * /proc/PID/stat after the last ')', because the program's name can contain a ')'. */
static bool is_stopped_sibling(const char *pid)
{
    char text[512], state;
    int parent;
    read_entry(pid, "stat", text, sizeof text);
    const char *after = strrchr(text, ')');
    return after != NULL && sscanf(after + 1, " %c %d", &state, &parent) == 2 &&
           parent == (int)getppid() && (state == 'T' || state == 't');
}

/* Returns the rank in the environment of process `pid`, or -1 if there is none. /proc/PID/environ
 * consists of zero-terminated strings. */
static int rank_of(const char *pid)
{
    static const size_t ENVIRONMENT_BYTES = 131072;
    char *text = malloc(ENVIRONMENT_BYTES);
    size_t n = text != NULL ? read_entry(pid, "environ", text, ENVIRONMENT_BYTES) : 0;
    int rank = -1;
    for (int i = 0; i < N_LAUNCHERS && rank < 0; i++) {
        size_t length = strlen(LAUNCHERS[i].rank);
        for (size_t at = 0; at < n && rank < 0; at += strlen(text + at) + 1)
            if (strncmp(text + at, LAUNCHERS[i].rank, length) == 0 && text[at + length] == '=')
                rank = parse_rank(text + at + length + 1);
    }
    free(text);
    return rank;
}

bool launcher_name_stopped(char *text, size_t size)
{
    DIR *all = opendir("/proc");
    size_t used = (size_t)snprintf(text, size, "rank"), empty = used;
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_stopped_sibling(entry->d_name))
            continue;
        int rank = rank_of(entry->d_name);
        if (rank >= 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, " %d", rank);
    }
    if (all != NULL)
        closedir(all);
    return used > empty;
}

bool launcher_hears_leaving(void)
{
    return getenv("PMI_FD") != NULL || launcher_rank() < 0;
}

/* Announces the end of this process to the launcher, as MPI_Finalize does under PMI-1. Otherwise
 * Hydra may report a crash. */
static void announce_end(void)
{
    static const char command[] = "cmd=finalize\n";
    const char *text = getenv("PMI_FD");
    struct pollfd connection = {.events = POLLIN};
    char answer[64];
    if (text == NULL)
        return;
    connection.fd = atoi(text);
    if (write(connection.fd, command, sizeof command - 1) == (ssize_t)sizeof command - 1 &&
        poll(&connection, 1, 1000) == 1)
        (void)!read(connection.fd, answer, sizeof answer);
}

/* The leak check is only defined in builds with the leak sanitizer. It is called explicitly, since
 * _exit skips it. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

void launcher_leave(int exit_status)
{
    fflush(NULL);
    if (__lsan_do_leak_check != NULL)
        __lsan_do_leak_check();
    announce_end();
    _exit(exit_status);
}

/* Returns the number of unread bytes in pipe `fd`; -1 if `fd` is not a pipe. */
static int unread(int fd)
{
    struct stat what;
    int bytes = 0;
    if (fstat(fd, &what) != 0 || !S_ISFIFO(what.st_mode) || ioctl(fd, FIONREAD, &bytes) != 0)
        return -1;
    return bytes;
}

void launcher_await_reading(void)
{
    enum { TURNS = 5000, TURNS_OF_OTHERS = 100 };
    const struct timespec turn = {.tv_nsec = 2000000};
    fflush(NULL);
    for (int i = 0; i < TURNS; i++) {
        int out = unread(STDOUT_FILENO), err = unread(STDERR_FILENO);
        bool known = out >= 0 && err >= 0;
        if (known ? out + err == 0 : i >= TURNS_OF_OTHERS && out <= 0 && err <= 0)
            return;
        nanosleep(&turn, NULL);
    }
}
