#include "comm/overlap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/base/clock.h"
#include "kernels/base/fp_mode.h"
#include "kernels/base/mem.h"

/* Thread that may call MPI at the moment. */
enum owner { OWNER_NOBODY, OWNER_COMPUTING, OWNER_POLLING };

struct overlap {
    enum overlap_kind kind;
    struct sync *sync;
    bool yields;
    int64_t next_ns; /* for poll_tiles: time of the next test (clock_ns) */

    /* State of the separate thread, which sleeps between steps and polls in a loop during steps.
     * `running`: whether there is such a thread. */
    bool running;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* whether the thread must end; whether a step is in progress; both protected by the mutex */
    bool stop, stepping;
    atomic_bool spinning; /* copy of `stepping` for reads without the mutex */
    atomic_int owner;
    atomic_bool wanted; /* whether the computing thread waits to call MPI, so no poll may begin */
    int64_t cpu_ns;     /* processor time of the separate thread at the last reading */
};

/* ---- The thread ---- */

static bool take_library(struct overlap *o, int owner)
{
    int nobody = OWNER_NOBODY;
    return atomic_compare_exchange_strong(&o->owner, &nobody, owner);
}

static void release_library(struct overlap *o)
{
    atomic_store(&o->owner, OWNER_NOBODY);
}

static void poll_once(struct overlap *o)
{
    if (!atomic_load(&o->wanted) && take_library(o, OWNER_POLLING)) {
        o->sync->strategy->poll(o->sync);
        release_library(o);
    }
    if (o->yields)
        sched_yield();
}

/* Main function of the separate thread. It sets the same floating-point mode as computing threads,
 * because it sums arrived messages. */
static void *poll_always(void *arg)
{
    struct overlap *o = arg;
    fp_mode_set();
    pthread_mutex_lock(&o->mutex);
    while (!o->stop) {
        if (!o->stepping) {
            pthread_cond_wait(&o->changed, &o->mutex);
            continue;
        }
        pthread_mutex_unlock(&o->mutex);
        while (atomic_load(&o->spinning))
            poll_once(o);
        pthread_mutex_lock(&o->mutex);
    }
    pthread_mutex_unlock(&o->mutex);
    return NULL;
}

static int create_thread(struct overlap *o, const int *cpu)
{
    pthread_attr_t attributes;
    cpu_set_t set;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0)
        return failure;
    CPU_ZERO(&set);
    if (cpu != NULL) {
        CPU_SET((size_t)*cpu, &set);
        failure = pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    if (failure == 0)
        failure = pthread_create(&o->thread, &attributes, poll_always, o);
    pthread_attr_destroy(&attributes);
    return failure;
}

static enum status start_thread(struct overlap *o, const int *cpu, struct error *e)
{
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        return error_set(e, ERR_UNAVAILABLE,
                         "sync.overlap: thread needs MPI_THREAD_SERIALIZED, which this MPI library "
                         "does not support. Use sync.overlap: poll_tiles");
    pthread_mutex_init(&o->mutex, NULL);
    pthread_cond_init(&o->changed, NULL);
    int failure = create_thread(o, cpu);
    if (failure == 0) {
        o->running = true;
        return OK;
    }
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->mutex);
    return error_set(e, ERR_SYSTEM, "cannot start the thread of sync.overlap: %s",
                     strerror(failure));
}

static void set_stepping(struct overlap *o, bool stepping)
{
    pthread_mutex_lock(&o->mutex);
    o->stepping = stepping;
    atomic_store(&o->spinning, stepping);
    pthread_cond_signal(&o->changed);
    pthread_mutex_unlock(&o->mutex);
}

static void stop_thread(struct overlap *o)
{
    pthread_mutex_lock(&o->mutex);
    o->stop = true;
    atomic_store(&o->spinning, false);
    pthread_cond_signal(&o->changed);
    pthread_mutex_unlock(&o->mutex);
    pthread_join(o->thread, NULL);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->mutex);
}

/* Adds to waiter->poll_ns the processor time that the separate thread has used since the last call.
 * Polling then does not count as useful work. */
static void count_polling(struct overlap *o)
{
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(o->thread, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return;
    int64_t cpu_ns = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
    o->sync->waiter->poll_ns += cpu_ns - o->cpu_ns;
    o->cpu_ns = cpu_ns;
}

/* ---- Calls ---- */

static bool has_thread(const struct overlap *o)
{
    return o != NULL && o->running;
}

enum status overlap_open(struct overlap **overlap, const struct overlap_options *options,
                         struct error *e)
{
    *overlap = NULL;
    if (options->kind == OVERLAP_none || options->sync->strategy->poll == NULL)
        return OK;
    struct overlap *o;
    TRY(MEM_NEW(o, 1, "the overlap of messages and compute", e));
    o->kind = options->kind;
    o->sync = options->sync;
    o->yields = options->yields;
    atomic_init(&o->owner, OWNER_COMPUTING);
    enum status status = o->kind == OVERLAP_thread ? start_thread(o, options->cpu, e) : OK;
    if (status != OK) {
        free(o);
        return status;
    }
    *overlap = o;
    return OK;
}

void overlap_close(struct overlap *o)
{
    if (has_thread(o))
        stop_thread(o);
    free(o);
}

void overlap_step_begin(struct overlap *o)
{
    if (has_thread(o))
        set_stepping(o, true);
}

void overlap_step_end(struct overlap *o)
{
    if (!has_thread(o))
        return;
    set_stepping(o, false);
    count_polling(o);
}

void overlap_compute_begin(struct overlap *o)
{
    overlap_resume(o);
}

void overlap_compute_end(struct overlap *o)
{
    overlap_pause(o);
    if (o != NULL && o->kind == OVERLAP_poll_layers)
        sync_poll(o->sync);
}

void overlap_pause(struct overlap *o)
{
    if (!has_thread(o))
        return;
    atomic_store(&o->wanted, true);
    while (!take_library(o, OWNER_COMPUTING))
        if (o->yields)
            sched_yield();
    atomic_store(&o->wanted, false);
}

void overlap_resume(struct overlap *o)
{
    if (has_thread(o))
        release_library(o);
}

void overlap_tile(void *arg)
{
    struct overlap *o = arg;
    int64_t now_ns = clock_ns();
    if (now_ns < o->next_ns)
        return;
    sync_poll(o->sync);
    o->next_ns = now_ns + OVERLAP_TILE_NS;
}

bool overlap_wants_tiles(const struct overlap *o)
{
    return o != NULL && o->kind == OVERLAP_poll_tiles;
}
