/* A sum waits for its last product: enough of them side by side keep all multipliers busy, 8 or 12 where a
 * product takes 4 or 6 cycles and two begin in each. */
#include "kernels/simd/peak.h"

#include "kernels/simd/lanes.h"
#include "kernels/simd/operands.h"

#if defined(__AVX512F__) || defined(__aarch64__)
enum { SUMS = 24 };
#else
enum { SUMS = 12 };
#endif

/* Operands change as far as the compiler knows, or it would multiply once. */
static real run(size_t rounds)
{
    const real number = (real)0.501;
    vreal sum[SUMS] = {0}, a = operand_all(&number), b = a;
    for (size_t i = 0; i < rounds; i++) {
#pragma GCC unroll 24
        for (int s = 0; s < SUMS; s++) {
            VECTOR_IN_REGISTER(a);
            sum[s] = operand_multiply_add(sum[s], a, b);
        }
    }
#pragma GCC unroll 24
    for (int s = 1; s < SUMS; s++)
        sum[0] += sum[s];
    return sum[0][0];
}

const struct peak_functions SIMD_NAME(peak) = {
    .flops = 2.0 * PAIR * VECTOR_LANES * SUMS,
    .run = run,
};
