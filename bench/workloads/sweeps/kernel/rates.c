/* Measures the peak rates of one core, which bound the ops of a step. */
#include <math.h>

#include "bench/place/hardware.h"
#include "bench/workloads/sweeps/kernel/limits.h"
#include "kernels/peak.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the size (bytes) of the array for measuring the bandwidth of a level. For L3, the array
 * fills at most half of the cache, since other cores share L3. */
static size_t bytes_at(const struct limits *l, enum level level)
{
    const size_t *caches = l->cache_bytes, mib = (size_t)1 << 20;
    if (level == LEVEL_L2)
        return caches[LEVEL_L2] / 2;
    if (level == LEVEL_L3)
        return smaller(4 * caches[LEVEL_L2], caches[LEVEL_L3] / 2);
    size_t twice = 2 * (caches[LEVEL_L2] + caches[LEVEL_L3]);
    return twice > 128 * mib ? twice : 128 * mib;
}

enum status limits_open(struct limits *l, struct mem_room *memory, struct error *e)
{
    char caches[256];
    *l = (struct limits){.n = {0}};
    hardware_caches(caches, sizeof caches);
    TRY(limits_read_caches(l, caches, e));
    for (enum level level = 0; level < LEVELS; level++) {
        real *x;
        l->n[level] = bytes_at(l, level) / sizeof *x / PEAK_REALS * PEAK_REALS;
        if (l->n[level] == 0)
            continue;
        TRY(MEM_KEEP(memory, x, l->n[level], "the bandwidth of a cache", e));
        for (size_t i = 0; i < l->n[level]; i++)
            x[i] = 1;
        l->x[level] = x;
    }
    return OK;
}

static void keep_best(double *best, double rate)
{
    *best = fmax(*best, 1e-9 * rate);
}

/* Measures each cache level several times, since the first pass must load the array into the cache.
 * Measures memory once per call, since a pass over memory takes long. */
void limits_measure(struct limits *l, enum isa isa)
{
    enum { TIMES = 16 };
    keep_best(&l->unit_gflop_per_s[isa], peak_flop_per_s(isa));
    if (isa_exact(isa) != isa)
        keep_best(&l->unit_gflop_per_s[isa_exact(isa)], peak_flop_per_s(isa_exact(isa)));
    for (enum level level = 0; level < LEVELS; level++)
        for (int i = 0; l->x[level] != NULL && i < (level == LEVEL_MEMORY ? 1 : TIMES); i++)
            keep_best(&l->gbyte_per_s[level], peak_byte_per_s(isa, l->x[level], l->n[level]));
}
