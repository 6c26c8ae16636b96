/* Loops with enough independent multiply-adds or loads to reach the processor's peak FLOP rate or
 * bandwidth. */
#include "kernels/simd/peak.h"

#include "kernels/simd/lanes.h"
#include "kernels/simd/operands.h"

#ifdef OPERANDS_FILL_TILES

#include "kernels/simd/tiles.h"

/* Adds products of AMX tiles. Four independent tiles of sums suffice to hide the latency of the
 * multiplier. */
static real run(size_t rounds)
{
    const struct tile_shapes shapes = tiles_whole();
    real sums[TILE_ROWS * VECTOR_LANES];
    TILE_SHAPE(&shapes);
    for (size_t i = 0; i < rounds; i++) {
        TILE_ADD_PRODUCT(0, 4, 6);
        TILE_ADD_PRODUCT(1, 4, 7);
        TILE_ADD_PRODUCT(2, 5, 6);
        TILE_ADD_PRODUCT(3, 5, 7);
    }
    TILE_STORE(0, sums, TILE_BYTES);
    TILE_RELEASE();
    return sums[0];
}

#define FLOPS_OF_ROUND (2.0 * PAIR * TILE_ROWS * TILE_ROWS * VECTOR_LANES * 4)

#else

/* Number of independent sums, enough to keep all multipliers busy. If two products start per cycle,
 * at least 8 sums are needed for products that take 4 cycles, and 12 for products that take 6. */
#if defined(__AVX512F__) || defined(__aarch64__)
enum { SUMS = 24 };
#else
enum { SUMS = 12 };
#endif

/* Adds products of vectors. VECTOR_IN_REGISTER hides that `a` is constant: the compiler would
 * otherwise multiply only once. */
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

#define FLOPS_OF_ROUND (2.0 * PAIR * VECTOR_LANES * SUMS)

#endif

/* Number of parts of an array that are read in alternation. A single sequence of reads, although
 * prefetched, does not reach the memory bandwidth. */
enum { PARTS = 4 };

/* Returns the sum of x [n], loading each vector once. Uses 8 independent sums, so that two loads
 * can start per cycle although an addition takes 4 cycles. */
static real load(const real *x, size_t n)
{
    const size_t part = n / PARTS;
    vreal sum[2 * PARTS] = {0};
    real all = 0;
    for (size_t i = 0; i + 2 * VECTOR_LANES <= part; i += 2 * VECTOR_LANES) {
        UNROLL
        for (int p = 0; p < PARTS; p++) {
            sum[2 * p] += vreal_load(x + (size_t)p * part + i);
            sum[2 * p + 1] += vreal_load(x + (size_t)p * part + i + VECTOR_LANES);
        }
    }
    UNROLL
    for (int s = 1; s < 2 * PARTS; s++)
        sum[0] += sum[s];
    for (int lane = 0; lane < VECTOR_LANES; lane++)
        all += sum[0][lane];
    return all;
}

/* Adds quarter 1 of x [n] to quarter 0, and quarter 3 to quarter 2. */
static void add(real *x, size_t n)
{
    const size_t part = n / PARTS;
    for (size_t i = 0; i + VECTOR_LANES <= part; i += VECTOR_LANES) {
        UNROLL
        for (int p = 0; p < PARTS; p += 2) {
            real *to = x + (size_t)p * part + i;
            vreal_store(to, vreal_load(to) + vreal_load(to + part));
        }
    }
}

const struct peak_functions SIMD_NAME(peak) = {
    .flops = FLOPS_OF_ROUND,
    .run = run,
    .load = load,
    .add = add,
};
