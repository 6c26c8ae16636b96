#include "kernels/peak.h"

#include "kernels/base/clock.h"
#include "kernels/simd/peak.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_BF16(struct peak_functions, peak)

/* A round of the least set takes some 6 ns, of the most some 3. */
#define ROUNDS ((size_t)1 << 21)

double peak_flop_per_s(enum isa isa)
{
    const struct peak_functions *f = peak_for(isa);
    int64_t begin_ns = clock_ns();
    f->run(ROUNDS);
    return 1e9 * (double)ROUNDS * f->flops / (double)(clock_ns() - begin_ns);
}
