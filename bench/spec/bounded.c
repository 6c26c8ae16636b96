#include "bench/spec/bounded.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum status bounded_new(void **shared, size_t size, struct error *e)
{
    *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (*shared != MAP_FAILED)
        return OK;
    *shared = NULL;
    return error_no_memory(e, "a process of its own");
}

void bounded_free(void *shared, size_t size)
{
    if (shared != NULL)
        munmap(shared, size);
}

static void limit(int resource, rlim_t most)
{
    struct rlimit limits;
    getrlimit(resource, &limits);
    limits.rlim_cur = most < limits.rlim_max ? most : limits.rlim_max;
    setrlimit(resource, &limits);
}

/* Sanitizers reserve terabytes of addresses. */
static void limit_memory(void)
{
#ifndef SCALEBENCH_SANITIZE
    limit(RLIMIT_AS, (rlim_t)1 << 30);
#endif
}

/* Out of time ends it by SIGXCPU, which would leave a core file. */
static _Noreturn void do_work(void (*work)(void *shared), void *shared, double seconds,
                              pid_t caller)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != caller)
        _exit(1); /* the caller died before the line above */
    signal(SIGXCPU, SIG_DFL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)ceil(seconds));
    limit_memory();
    work(shared);
    _exit(0);
}

enum status bounded_run(enum bounded_end *end, void (*work)(void *shared), void *shared,
                        double seconds, struct error *e)
{
    int status;
    pid_t caller = getpid(), child = fork();
    if (child == 0)
        do_work(work, shared, seconds, caller);
    if (child < 0)
        return error_set(e, ERR_SYSTEM, "fork: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_set(e, ERR_SYSTEM, "waitpid: %s", strerror(errno));
    *end = WIFEXITED(status) && WEXITSTATUS(status) == 0        ? BOUNDED_DONE
           : WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? BOUNDED_OUT_OF_TIME
                                                                : BOUNDED_LOST;
    return OK;
}
