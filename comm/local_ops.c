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
