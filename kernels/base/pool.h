/* A fixed set of threads that run one function together. Work is split by thread number alone, so a
 * result depends on the number of threads but never on timing. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

struct pool;

/* What each thread runs: `thread` of `threads`, 0 being the caller. */
typedef void pool_function(void *arg, int thread, int threads);

/* A pool of `threads` (>= 1, the caller included). With `cpus` (one number a thread, or NULL)
 * worker t is bound to cpus[t]; the caller's own binding is left alone. `start` (or NULL) runs
 * first in every worker, e.g. to set the floating-point mode. */
enum status pool_create(struct pool **pool, int threads, const int *cpus, void (*start)(void),
                        struct error *e);
void pool_destroy(struct pool *pool);

int pool_threads(const struct pool *pool);

/* Runs f on every thread and returns when all have returned. Workers spin for a short while between
 * calls, then sleep. A NULL pool is one thread. Called by one thread at a time and never from f. */
void pool_run(struct pool *pool, pool_function *f, void *arg);

/* The share [begin, end) of n items that falls to `part` of `parts`; shares differ by at most one
 * item, larger ones first: 256 over 3 = 86 + 85 + 85. */
static inline void pool_share(size_t n, size_t part, size_t parts, size_t *begin, size_t *end)
{
    size_t base = n / parts, rest = n % parts;
    *begin = part * base + (part < rest ? part : rest);
    *end = *begin + base + (part < rest ? 1 : 0);
}
