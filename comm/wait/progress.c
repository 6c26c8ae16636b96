#include "comm/wait/progress.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

typedef unsigned progress_function(void *worker);

static atomic_bool yields;
static _Atomic uint64_t n_yields;
static progress_function *_Atomic next;

/* Replaces UCX's function of the same name (signature in ucp_api.h). Calls UCX's function, and
 * yields if it returns 0 (no progress) and progress_yield was called. If the MPI library refers to
 * UCX, the linker exports this definition, so that MPI finds it before UCX's own. It is weak, so
 * that a UCX linked into the program replaces it. */
unsigned ucp_worker_progress(void *worker);

__attribute__((weak)) unsigned ucp_worker_progress(void *worker)
{
    progress_function *own = atomic_load_explicit(&next, memory_order_relaxed);
    if (own == NULL) {
        own = (progress_function *)dlsym(RTLD_NEXT, "ucp_worker_progress");
        atomic_store_explicit(&next, own, memory_order_relaxed);
    }
    unsigned happened = own(worker);
    if (happened == 0 && atomic_load_explicit(&yields, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&n_yields, 1, memory_order_relaxed);
        sched_yield();
    }
    return happened;
}

bool progress_is_crowded(void)
{
    const char *ranks = getenv("MPI_LOCALNRANKS");
    cpu_set_t usable;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        processors = CPU_COUNT(&usable);
    return ranks != NULL && atol(ranks) > processors;
}

void progress_yield(void)
{
    atomic_store(&yields, true);
}

uint64_t progress_yields(void)
{
    return atomic_load(&n_yields);
}
