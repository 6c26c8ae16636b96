#include "comm/local_ops.h"

#include <string.h>

static void charge_bytes(const struct exec *ex, size_t bytes)
{
    if (ex->charge != NULL)
        ex->charge(ex->charge_arg, WORK_BYTE, (double)bytes);
}

double local_norm2(const struct exec *ex, const real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    charge_bytes(ex, n * sizeof *x);
    return sum;
}

void local_add(const struct exec *ex, real *y, const real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
    charge_bytes(ex, n * sizeof *x);
}

/* Numbers that stay in the first-level cache between one term and the next. */
#define BLOCK 2048

static void sum_block(real *restrict y, const real *const *x, int terms, size_t begin, size_t n)
{
    const real *first = x[0] + begin, *second = x[terms > 1 ? 1 : 0] + begin;
    if (terms == 1) {
        memcpy(y, first, n * sizeof *y);
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = first[i] + second[i];
    for (int t = 2; t < terms; t++) {
        const real *next = x[t] + begin;
        for (size_t i = 0; i < n; i++)
            y[i] += next[i];
    }
}

/* Writing past the caches, which spares a read of each line, was tried and gained nothing. */
void local_sum(const struct exec *ex, real *y, const real *const *x, int terms, size_t begin,
               size_t end)
{
    for (size_t i = begin; i < end; i += BLOCK)
        sum_block(y + i, x, terms, i, end - i < BLOCK ? end - i : BLOCK);
    charge_bytes(ex, (end - begin) * (size_t)terms * sizeof *y);
}

void local_copy(const struct exec *ex, void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    charge_bytes(ex, bytes);
}

void local_scale(const struct exec *ex, real *x, size_t n, real factor)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
    charge_bytes(ex, 2 * n * sizeof *x);
}
