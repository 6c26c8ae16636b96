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
