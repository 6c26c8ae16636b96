#include "kernels/base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"

/* Time for which a waiting thread spins before it sleeps: longer than the gap between layers,
 * shorter than a scheduler's time slice. */
#define SPIN_NS 50000
/* Time after which a spinning thread calls sched_yield in every iteration. This lets the awaited
 * thread run if the scheduler has left both threads on one core. */
#define KEEP_NS 2000

struct worker {
    struct pool *pool;
    int number;
    pthread_t id;
};

/* pool_run stores its function and argument, then increments `generation`. `running`: number of
 * workers that have not finished the call. The mutex is only used for sleeping and waking. */
struct pool {
    int threads, started;
    int64_t spin_ns;
    void (*start)(void);
    pool_function *function;
    void *arg;
    bool stop;
    atomic_uint generation;
    atomic_int running;
    pthread_mutex_t mutex;
    pthread_cond_t announced, finished;
    struct worker workers[]; /* [threads - 1] workers; the caller is the remaining thread */
};

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Runs one iteration of a spin loop that began at time `begin` (ns). Returns false if the loop has
 * already lasted pool->spin_ns. */
static bool spin(const struct pool *pool, int64_t begin)
{
    int64_t spent = clock_ns() - begin;
    if (spent >= pool->spin_ns)
        return false;
    if (spent < KEEP_NS)
        cpu_pause();
    else
        sched_yield();
    return true;
}

/* Waits until `generation` differs from `seen`. Returns the new value. */
static unsigned wait_for_call(struct pool *pool, unsigned seen)
{
    unsigned now = 0;
    int64_t begin = clock_ns();
    do {
        now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen)
            return now;
    } while (spin(pool, begin));
    pthread_mutex_lock(&pool->mutex);
    while ((now = atomic_load(&pool->generation)) == seen)
        pthread_cond_wait(&pool->announced, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    return now;
}

static void wait_for_workers(struct pool *pool)
{
    int64_t begin = clock_ns();
    do {
        if (atomic_load_explicit(&pool->running, memory_order_acquire) == 0)
            return;
    } while (spin(pool, begin));
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->running) > 0)
        pthread_cond_wait(&pool->finished, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

static void announce(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->announced);
    pthread_mutex_unlock(&pool->mutex);
}

static void report_finished(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->running, 1) > 1)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->finished);
    pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct pool *pool = worker->pool;
    if (pool->start != NULL)
        pool->start();
    for (unsigned seen = 0;;) {
        seen = wait_for_call(pool, seen);
        if (pool->stop)
            return NULL;
        pool->function(pool->arg, worker->number, pool->threads);
        report_finished(pool);
    }
}

/* Sets the attributes that bind a new thread to `cpu` before its first instruction, so that its
 * first touch of memory is local. Returns 0 or an errno value. */
static int attributes_bind(pthread_attr_t *attributes, int cpu)
{
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    if (set == NULL)
        return ENOMEM;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    int failed = pthread_attr_setaffinity_np(attributes, bytes, set);
    CPU_FREE(set);
    return failed;
}

/* Starts one worker, bound to `cpu` unless `cpu` is negative. Returns 0 or an errno value. */
static int worker_start(struct worker *worker, int cpu)
{
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;
    if (cpu >= 0)
        failed = attributes_bind(&attributes, cpu);
    if (!failed)
        failed = pthread_create(&worker->id, &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    return failed;
}

/* Returns the time (ns) for which a waiting thread spins before it sleeps. Returns 0 if the threads
 * are unbound and outnumber the processors of this process: a spinning thread could occupy the
 * processor that the awaited thread needs. */
static int64_t choose_spin_ns(int threads, const int *cpus)
{
    cpu_set_t set;
    bool crowded =
        cpus == NULL && sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < threads;
    return crowded ? 0 : SPIN_NS;
}

static enum status pool_start(struct pool *pool, const int *cpus, struct error *e)
{
    for (int t = 1; t < pool->threads; t++) {
        struct worker *worker = &pool->workers[t - 1];
        *worker = (struct worker){.pool = pool, .number = t};
        int cpu = cpus != NULL ? cpus[t] : -1;
        int failed = worker_start(worker, cpu);
        if (failed && cpus != NULL)
            return error_set(
                e, ERR_SYSTEM,
                "cannot start thread %d of %d on CPU %d: %s; use a CPU that this process may use",
                t, pool->threads, cpu, strerror(failed));
        if (failed)
            return error_set(e, ERR_SYSTEM, "cannot start thread %d of %d: %s", t, pool->threads,
                             strerror(failed));
        pool->started++;
    }
    return OK;
}

static enum status check_request(int threads, const int *cpus, struct error *e)
{
    if (threads < 1)
        return error_set(e, ERR_ARGUMENT, "expected 1 or more threads, found %d", threads);
    for (int t = 1; cpus != NULL && t < threads; t++)
        if (cpus[t] < 0)
            return error_set(e, ERR_ARGUMENT,
                             "expected a CPU number of 0 or more for thread %d, found %d", t,
                             cpus[t]);
    return OK;
}

enum status pool_create(struct pool **created, int threads, const int *cpus, void (*start)(void),
                        struct error *e)
{
    TRY(check_request(threads, cpus, e));
    struct pool *pool = calloc(1, sizeof *pool + (size_t)(threads - 1) * sizeof pool->workers[0]);
    if (pool == NULL)
        return error_no_memory(e, "a pool of threads");
    pool->threads = threads;
    pool->start = start;
    pool->spin_ns = choose_spin_ns(threads, cpus);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->announced, NULL);
    pthread_cond_init(&pool->finished, NULL);

    /* Block all signals in this thread while it creates the workers, which inherit the mask.
     * Signals are then handled by the caller's thread only. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    enum status status = pool_start(pool, cpus, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == OK)
        *created = pool;
    else
        pool_destroy(pool);
    return status;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    pool->stop = true;
    announce(pool);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].id, NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->announced);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

int pool_threads(const struct pool *pool)
{
    return pool != NULL ? pool->threads : 1;
}

void pool_run(struct pool *pool, pool_function *f, void *arg)
{
    if (pool_threads(pool) == 1) {
        f(arg, 0, 1);
        return;
    }
    pool->function = f;
    pool->arg = arg;
    atomic_store(&pool->running, pool->threads - 1);
    announce(pool);
    f(arg, 0, pool->threads);
    wait_for_workers(pool);
}
