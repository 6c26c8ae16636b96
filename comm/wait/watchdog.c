#include "comm/wait/watchdog.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Interval (ns) between checks of the deadline. A check that is late by one interval is harmless,
 * since deadlines are seconds long. */
#define LOOK_NS 50000000

struct watchdog {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stop_changed;
    bool stop;
    _Atomic int64_t deadline_ns; /* time of the deadline (CLOCK_MONOTONIC); 0: none */
    watchdog_describe *describe;
    void *arg;
    _Atomic int64_t *alive_ns;
};

static void end_process(struct watchdog *w)
{
    char text[1024];
    w->describe(w->arg, text, sizeof text - 1);
    size_t length = strlen(text);
    text[length++] = '\n';
    /* A failed write is ignored: the exit status reports the missed deadline too. quick_exit is
     * used because exit() would run handlers while another thread is inside MPI. */
    if (write(STDERR_FILENO, text, length) < 0)
        quick_exit(EXIT_FAILURE);
    quick_exit(EXIT_FAILURE);
}

static void *watch(void *arg)
{
    struct watchdog *w = arg;
    pthread_mutex_lock(&w->mutex);
    while (!w->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&w->stop_changed, &w->mutex, &until);
        int64_t deadline_ns = atomic_load(&w->deadline_ns), now_ns = clock_ns();
        atomic_store_explicit(w->alive_ns, now_ns, memory_order_relaxed);
        if (deadline_ns != 0 && now_ns > deadline_ns)
            end_process(w);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

enum status watchdog_start(struct watchdog **watchdog, watchdog_describe *describe, void *arg,
                           _Atomic int64_t *alive_ns, struct error *e)
{
    struct watchdog *w;
    TRY(MEM_NEW(w, 1, "the watchdog", e));
    w->describe = describe;
    w->arg = arg;
    w->alive_ns = alive_ns;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->stop_changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int failure = pthread_create(&w->thread, NULL, watch, w);
    if (failure != 0) {
        pthread_cond_destroy(&w->stop_changed);
        pthread_mutex_destroy(&w->mutex);
        free(w);
        return error_set(e, ERR_SYSTEM, "cannot start the watchdog thread: %s", strerror(failure));
    }
    *watchdog = w;
    return OK;
}

void watchdog_stop(struct watchdog *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_signal(&w->stop_changed);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->stop_changed);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

void watchdog_arm(struct watchdog *w, int64_t deadline_ns)
{
    atomic_store(&w->deadline_ns, deadline_ns);
}

void watchdog_disarm(struct watchdog *w)
{
    atomic_store(&w->deadline_ns, 0);
}
