#include "comm/local_ops.h"

#include <string.h>

#include "kernels/base/simd.h"

double local_norm2(const struct exec *ex, const real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    local_charge_bytes(ex, n * sizeof *x);
    return sum;
}

double local_dot(const struct exec *ex, const real *x, const real *y, size_t n)
{
    enum { LANES = 8 };
    double lane[LANES] = {0}, rest = 0;
    size_t whole = n / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += (double)x[i + l] * (double)y[i + l];
    for (size_t i = whole; i < n; i++)
        rest += (double)x[i] * (double)y[i];
    local_charge_bytes(ex, 2 * n * sizeof *x);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7])) + rest;
}

void local_combine(const struct exec *ex, real *y, real a, const real *x, real b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a * y[i] + b * x[i];
    local_charge_bytes(ex, 3 * n * sizeof *x);
}

SIMD_CLONES static void add_numbers(real *restrict y, const real *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

void local_add(const struct exec *ex, real *y, const real *x, size_t n)
{
    add_numbers(y, x, n);
    local_charge_bytes(ex, n * sizeof *x);
}

/* BLOCK: count of numbers summed at a time, small enough for the first-level cache. Sums have a
 * separate buffer, since the array for the result may be one of the terms. LINE: count of numbers
 * in a cache line. */
enum { BLOCK = 1024, LINE = 64 / sizeof(real) };

/* Adds x to `sums`, or copies x if !add. Prefetches the next block of x: the hardware prefetcher
 * misses it, because sum_block reads other terms in between. */
static inline __attribute__((always_inline)) void
add_term(real *restrict sums, const real *restrict x, size_t n, bool add)
{
    size_t whole = n / LINE * LINE;
    for (size_t i = 0; i < whole; i += LINE) {
        __builtin_prefetch(x + BLOCK + i, 0, 3);
        for (size_t k = i; k < i + LINE; k++)
            sums[k] = add ? sums[k] + x[k] : x[k];
    }
    for (size_t i = whole; i < n; i++)
        sums[i] = add ? sums[i] + x[i] : x[i];
}

SIMD_CLONES static void sum_block(real *y, const real *const *x, int terms, size_t begin, size_t n)
{
    real sums[BLOCK] __attribute__((aligned(64)));
    add_term(sums, x[0] + begin, n, false);
    for (int t = 1; t < terms; t++)
        add_term(sums, x[t] + begin, n, true);
    memcpy(y, sums, n * sizeof *y);
}

/* Uses ordinary stores. Non-temporal stores would save reading each line of y, but the optimizer
 * would then miss the cache. */
void local_sum(const struct exec *ex, real *y, const real *const *x, int terms, size_t begin,
               size_t end)
{
    for (size_t i = begin; i < end; i += BLOCK)
        sum_block(y + i, x, terms, i, end - i < BLOCK ? end - i : BLOCK);
    local_charge_bytes(ex, (end - begin) * (size_t)terms * sizeof *y);
}

void local_copy(const struct exec *ex, void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    local_charge_bytes(ex, bytes);
}

SIMD_CLONES static void scale_numbers(real *x, size_t n, real factor)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

void local_scale(const struct exec *ex, real *x, size_t n, real factor)
{
    scale_numbers(x, n, factor);
    local_charge_bytes(ex, 2 * n * sizeof *x);
}

SIMD_CLONES static void clamp_numbers(real *x, size_t n, real most)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > most ? most : x[i] < -most ? -most : x[i];
}

void local_clamp(const struct exec *ex, real *x, size_t n, real most)
{
    clamp_numbers(x, n, most);
    local_charge_bytes(ex, 2 * n * sizeof *x);
}
