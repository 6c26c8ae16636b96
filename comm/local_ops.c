#include "comm/local_ops.h"

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
