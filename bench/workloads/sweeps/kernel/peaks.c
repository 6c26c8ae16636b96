/* Measures the machine's peak rates by a large matrix product, multiply-adds in registers and a
 * memory stream. */
#include <math.h>

#include "bench/workloads/sweeps/kernel/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/peak.h"

enum { SIDE = 1024 };
/* elements per array of the stream: 64 MiB in single precision */
#define STREAM_REALS ((size_t)16 << 20)

static void fill(real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(1 + i % 7);
}

enum status product_open(struct product *p, struct mem_room *memory, struct error *e)
{
    const size_t n = (size_t)SIDE * SIDE;
    real **const arrays[] = {&p->a, &p->b, &p->c};
    for (int i = 0; i < 3; i++) {
        TRY(MEM_KEEP(memory, *arrays[i], n, "a matrix product", e));
        fill(*arrays[i], n);
    }
    return OK;
}

double product_gflop_per_s(const struct product *p)
{
    const struct gemm_operand left = {p->a, SIDE, false}, right = {p->b, SIDE, false};
    int64_t begin_ns = clock_ns();
    gemm(SIDE, SIDE, SIDE, p->c, SIDE, left, right, false);
    return 2.0 * SIDE * SIDE * SIDE / (double)(clock_ns() - begin_ns);
}

static double stream_s(real *restrict a, const real *restrict b, const real *restrict c)
{
    int64_t begin_ns = clock_ns();
    for (size_t i = 0; i < STREAM_REALS; i++)
        a[i] = b[i] + 3 * c[i];
    return 1e-9 * (double)(clock_ns() - begin_ns);
}

static enum status measure_stream(double *gbyte_per_s, int repeats, struct mem_room *memory,
                                  struct error *e)
{
    real *arrays[3];
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        TRY(MEM_KEEP(memory, arrays[i], STREAM_REALS, "a memory stream", e));
        fill(arrays[i], STREAM_REALS);
    }
    for (int r = 0; r <= repeats; r++) /* repeats + 1, since the first repetition is a warm-up */
        best = fmin(best, stream_s(arrays[0], arrays[1], arrays[2]));
    *gbyte_per_s = 3e-9 * (double)(STREAM_REALS * sizeof(real)) / best;
    return OK;
}

static void measure_units(struct peaks *peaks, const struct sweep_options *o)
{
    for (int i = 0; i < o->n_isas; i++) {
        double *best = &peaks->unit_gflop_per_s[o->isas[i]];
        for (int r = 0; r <= o->repeats; r++)
            *best = fmax(*best, 1e-9 * peak_flop_per_s(o->isas[i]));
    }
}

static enum status measure(struct peaks *peaks, const struct sweep_options *options,
                           struct mem_room *memory, struct error *e)
{
    struct product product;
    TRY(product_open(&product, memory, e));
    measure_units(peaks, options);
    for (int r = 0; r <= options->repeats; r++)
        peaks->gflop_per_s = fmax(peaks->gflop_per_s, product_gflop_per_s(&product));
    mem_room_empty(memory);
    return measure_stream(&peaks->gbyte_per_s, options->repeats, memory, e);
}

/* A peak rate is the best of several repetitions, since other load on the machine can only slow
 * repetitions down. */
enum status peaks_measure(struct peaks *peaks, const struct sweep_options *options, struct error *e)
{
    struct mem_room memory = {.n = 0};
    *peaks = (struct peaks){.gflop_per_s = 0};
    enum status status = measure(peaks, options, &memory, e);
    mem_room_empty(&memory);
    return status;
}
