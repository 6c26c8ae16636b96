/* A fixed set of threads that run one function together. Work is split by thread number, so results
 * depend on the number of threads but never on timing. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

struct pool;

/* Function run by each thread; `thread` is 0 (the caller) to threads - 1. */
typedef void pool_function(void *arg, int thread, int threads);

/* Creates a pool of `threads` threads, at least 1, the caller included. Worker t is bound to
 * cpus[t] unless `cpus` is NULL; the caller's binding is unchanged. Each worker first calls
 * `start`, unless it is NULL. */
enum status pool_create(struct pool **pool, int threads, const int *cpus, void (*start)(void),
                        struct error *e);
void pool_destroy(struct pool *pool);

int pool_threads(const struct pool *pool);

/* Runs f on every thread and returns when all have finished. NULL `pool`: only the calling thread
 * runs f. Only one thread at a time may call this function, and never from within f. */
void pool_run(struct pool *pool, pool_function *f, void *arg);

/* Splits n items into `parts` ranges and computes range number `part`, [*begin, *end). Sizes differ
 * by at most one item, larger ranges first. */
static inline void pool_share(size_t n, size_t part, size_t parts, size_t *begin, size_t *end)
{
    size_t base = n / parts, rest = n % parts;
    *begin = part * base + (part < rest ? part : rest);
    *end = *begin + base + (part < rest ? 1 : 0);
}
