/* Upper bounds, measured: a large matrix product, and a stream through memory. */
#include <math.h>

#include "bench/workloads/kernel_sweep/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

enum { SIDE = 1024 };
#define STREAM_REALS ((size_t)16 << 20) /* 64 MiB an array in single precision */

static double product_s(real *c, const real *a, const real *b)
{
    const struct gemm_operand left = {a, SIDE, false}, right = {b, SIDE, false};
    int64_t begin_ns = clock_ns();
    gemm(SIDE, SIDE, SIDE, c, SIDE, left, right, false);
    return 1e-9 * (double)(clock_ns() - begin_ns);
}

static double stream_s(real *restrict a, const real *restrict b, const real *restrict c)
{
    int64_t begin_ns = clock_ns();
    for (size_t i = 0; i < STREAM_REALS; i++)
        a[i] = b[i] + 3 * c[i];
    return 1e-9 * (double)(clock_ns() - begin_ns);
}

static void fill(real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(1 + i % 7);
}

/* The best of several counts: whatever else runs can only slow them down. */
enum status peaks_measure(struct peaks *peaks, int repeats, struct error *e)
{
    double product = INFINITY, stream = INFINITY;
    real *arrays[3] = {NULL, NULL, NULL};
    bool whole = true;
    for (int i = 0; i < 3; i++) {
        arrays[i] = mem_alloc(STREAM_REALS * sizeof(real));
        whole = whole && arrays[i];
        if (arrays[i])
            fill(arrays[i], STREAM_REALS);
    }
    for (int r = 0; whole && r <= repeats; r++) { /* once more: the first warms up */
        product = fmin(product, product_s(arrays[0], arrays[1], arrays[2]));
        stream = fmin(stream, stream_s(arrays[0], arrays[1], arrays[2]));
    }
    for (int i = 0; i < 3; i++)
        mem_free(arrays[i]);
    peaks->gflop_per_s = 2e-9 * SIDE * SIDE * SIDE / product;
    peaks->gbyte_per_s = 3e-9 * (double)(STREAM_REALS * sizeof(real)) / stream;
    return whole ? OK : error_set(e, ERR_MEMORY, "no memory for arrays to measure with");
}
