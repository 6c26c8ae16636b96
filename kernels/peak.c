#include "kernels/peak.h"

#include "kernels/base/clock.h"
#include "kernels/simd/peak.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_TILES(struct peak_functions, peak)

/* ROUNDS: rounds per run, so that a run lasts about half a millisecond, less than a scheduler's
 * time slice. TIMES: number of runs, of which the fastest is used. */
enum { ROUNDS = 1 << 17, TIMES = 16 };

double peak_flop_per_s(enum isa isa)
{
    const struct peak_functions *f = peak_for(isa);
    double best = 0;
    for (int i = 0; i < TIMES; i++) {
        int64_t begin_ns = clock_ns();
        f->run(ROUNDS);
        double rate = 1e9 * ROUNDS * f->flops / (double)(clock_ns() - begin_ns);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Returns the rate of memory accesses (bytes/s): the higher of the rates of `load`, which reads x,
 * and `add`, which reads x and writes half of it. */
double peak_byte_per_s(enum isa isa, real *x, size_t n)
{
    const struct peak_functions *f = peak_for(isa);
    const double bytes = (double)(n * sizeof *x);
    int64_t begin_ns = clock_ns();
    f->load(x, n);
    int64_t loaded_ns = clock_ns();
    f->add(x, n);
    double load = bytes / (double)(loaded_ns - begin_ns);
    double add = 1.5 * bytes / (double)(clock_ns() - loaded_ns);
    return 1e9 * (load > add ? load : add);
}
