/* Measures one core: rate of matrix products, bandwidth of a memory stream, latency of dependent
 * loads. */
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/place/load.h"
#include "bench/workloads/doctor/doctor.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/gemm.h"

/* Number of rows and columns of the multiplied matrices. A product takes 1 to 2 ms, and
 * multiply_for overruns its duration by at most one product. */
enum { SIDE = 384 };

/* Total bytes of the three arrays used to measure memory bandwidth. STREAM_BYTES_ALL, meant to
 * exceed a machine's shared caches, is divided among the machine's ranks. Each rank gets at least
 * STREAM_BYTES_MIN and at most STREAM_BYTES_MAX. */
#define STREAM_BYTES_ALL ((size_t)512 << 20)
#define STREAM_BYTES_MIN ((size_t)48 << 20)
#define STREAM_BYTES_MAX ((size_t)384 << 20)
#define STREAM_S         0.04
#define CHAIN_BYTES      ((size_t)64 << 20)
#define CHAIN_LINE       64
#define CHAIN_LOADS      20000

struct work {
    real *a, *b, *c;  /* [SIDE, SIDE] matrices */
    float *x, *y, *z; /* arrays of the memory stream, `stream` elements each */
    size_t stream;
    struct line {
        uint32_t next;
        char rest[CHAIN_LINE - sizeof(uint32_t)];
    } * chain; /* cache lines, linked into one cycle in random order */
    size_t lines, at;
};

/* ---- Set up ---- */

static void fill(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(1 + i % 7);
}

/* Links all cache lines into one random cycle (Sattolo's shuffle). */
static void link_lines(struct work *w)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < w->lines; i++)
        w->chain[i].next = (uint32_t)i;
    for (size_t i = w->lines - 1; i > 0; i--) {
        state ^= state << 13; /* xorshift generator (Marsaglia, 2003) */
        state ^= state >> 7;
        state ^= state << 17;
        size_t k = (size_t)(state % i);
        uint32_t next = w->chain[i].next;
        w->chain[i].next = w->chain[k].next;
        w->chain[k].next = next;
    }
}

static size_t stream_length(const struct doctor *d)
{
    size_t bytes = STREAM_BYTES_ALL / (size_t)d->machine_ranks;
    bytes = bytes < STREAM_BYTES_MIN ? STREAM_BYTES_MIN : bytes;
    bytes = bytes > STREAM_BYTES_MAX ? STREAM_BYTES_MAX : bytes;
    return bytes / 3 / sizeof(float);
}

enum status work_new(struct work **made, const struct doctor *d, struct error *e)
{
    size_t n = (size_t)SIDE * SIDE;
    TRY(MEM_NEW(*made, 1, "buffers for measuring cores", e));
    struct work *w = *made;
    w->stream = stream_length(d);
    w->lines = CHAIN_BYTES / CHAIN_LINE;
    TRY(MEM_NEW_ALIGNED(w->a, n, "matrix products", e));
    TRY(MEM_NEW_ALIGNED(w->b, n, "matrix products", e));
    TRY(MEM_NEW_ALIGNED(w->c, n, "matrix products", e));
    TRY(MEM_NEW_ALIGNED(w->x, w->stream, "a stream through memory", e));
    TRY(MEM_NEW_ALIGNED(w->y, w->stream, "a stream through memory", e));
    TRY(MEM_NEW_ALIGNED(w->z, w->stream, "a stream through memory", e));
    TRY(MEM_NEW_ALIGNED(w->chain, w->lines, "loads from memory", e));
    for (size_t i = 0; i < n; i++)
        w->a[i] = w->b[i] = (real)(1 + i % 7);
    fill(w->y, w->stream);
    fill(w->z, w->stream);
    link_lines(w);
    return OK;
}

void work_free(struct work *w)
{
    if (w == NULL)
        return;
    mem_free(w->a);
    mem_free(w->b);
    mem_free(w->c);
    mem_free(w->x);
    mem_free(w->y);
    mem_free(w->z);
    mem_free(w->chain);
    free(w);
}

/* ---- Time on the core ---- */

/* Snapshot of times; NAN: unknown. `on_core_s`: time that this thread has run. `ready_s`: time that
 * this thread was ready to run but had no core. `steal_s`: time since boot that a hypervisor took
 * from the thread's processor. */
struct presence_on_core {
    int64_t wall_ns;
    double on_core_s, ready_s, steal_s;
};

static double ready_seconds(void)
{
    double ran_ns, ready_ns = NAN;
    FILE *in = fopen("/proc/thread-self/schedstat", "re");
    if (in == NULL)
        return NAN;
    if (fscanf(in, "%lf %lf", &ran_ns, &ready_ns) != 2)
        ready_ns = NAN;
    fclose(in);
    return 1e-9 * ready_ns;
}

static double steal_seconds(int cpu)
{
    char list[16];
    struct load load;
    snprintf(list, sizeof list, "%d", cpu);
    return load_read_list(&load, list) ? load.steal_s : NAN;
}

static struct presence_on_core look(void)
{
    struct timespec cpu;
    struct presence_on_core p = {.ready_s = ready_seconds(),
                                 .steal_s = steal_seconds(sched_getcpu())};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    p.on_core_s = (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec;
    p.wall_ns = clock_ns();
    return p;
}

/* ---- Measuring ---- */

static int multiply_for(const struct work *w, double seconds)
{
    const struct gemm_operand left = {w->a, SIDE, false}, right = {w->b, SIDE, false};
    int64_t begin_ns = clock_ns();
    int n = 0;
    for (; clock_seconds_since(begin_ns) < seconds; n++)
        gemm(SIDE, SIDE, SIDE, w->c, SIDE, left, right, false);
    return n;
}

static void stream_once(float *restrict x, const float *restrict y, const float *restrict z,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] + 3 * z[i];
}

static double measure_stream(const struct work *w)
{
    int64_t begin_ns = clock_ns();
    double bytes = 0;
    for (; clock_seconds_since(begin_ns) < STREAM_S;
         bytes += 3.0 * sizeof(float) * (double)w->stream)
        stream_once(w->x, w->y, w->z, w->stream);
    return 1e-9 * bytes / clock_seconds_since(begin_ns);
}

static double measure_loads(struct work *w)
{
    size_t at = w->at;
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < CHAIN_LOADS; i++)
        at = w->chain[at].next;
    double ns = (double)(clock_ns() - begin_ns) / CHAIN_LOADS;
    w->at = at;
    return ns;
}

/* Warms up first, since a cgroup's CPU limit takes effect only when the CPU time granted for the
 * current 0.1 s is used up. */
void work_measure(struct work *w, const struct doctor *d, struct doctor_burst *burst)
{
    multiply_for(w, d->warm_s);
    struct presence_on_core before = look();
    int products = multiply_for(w, d->burst_s);
    struct presence_on_core after = look();
    double wall_s = 1e-9 * (double)(after.wall_ns - before.wall_ns);
    burst->gemm_gflop_per_s = 2e-9 * SIDE * SIDE * SIDE * products / wall_s;
    burst->on_core_pct = 100 * (after.on_core_s - before.on_core_s) / wall_s;
    burst->ready_pct = 100 * (after.ready_s - before.ready_s) / wall_s;
    burst->steal_pct = 100 * (after.steal_s - before.steal_s) / wall_s;
    burst->memory_gbyte_per_s = measure_stream(w);
    burst->latency_ns = measure_loads(w);
}
