/* Computes the matrix products of winograd.h with vector instructions. Each number of A (the left
 * matrix) is broadcast and multiplied by a row of the panel (the right matrix), which is two
 * vectors. With AVX-512, the 32 registers hold 12 rows of sums, a row of the panel and a broadcast.
 * With other instruction sets, the registers hold 6 rows of sums. Rows are divided evenly into
 * groups, to keep the multipliers busy: with AVX-512, 64 rows become 6 groups of 10 or 11.
 *
 * 16-bit operands are packed in pairs, which halves the reals of a row and the steps of a sum. */
#pragma once

#include "kernels/simd/operands.h"
#include "kernels/simd/winograd/winograd_axis.h"

#define LINE_REALS (64 / (int)sizeof(real))
#define DEPTH      PAIR

#if defined(__AVX512F__)
#define ROWS_MAX      12
#define CASES_OF_ROWS CASES_1_TO_12
#else
#define ROWS_MAX      6
#define CASES_OF_ROWS CASES_1_TO_6
#endif

/* Adds the product of A [rows, k] and B [k, block] to `sum`; k counts pairs if operands are pairs.
 * Rows of A are row_step reals apart, and elements of a row are k_step reals apart. Also prefetches
 * the numbers at `next`, one cache line per iteration. A later call reads these numbers. Contiguous
 * parts of A are too short for the processor's own prefetching. */
INLINE void add_products(int rows, vreal sum[][2], const real *a, int row_step, int k_step,
                         const real *b, int k, const real *next)
{
#pragma GCC unroll 2
    for (int i = 0; i < k; i++, a += k_step, b += BLOCK, next += LINE_REALS) {
        __builtin_prefetch(next, 0, 3);
        vreal b0 = vreal_load(b), b1 = vreal_load(b + VECTOR_LANES);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++) {
            vreal x = operand_all(a + r * row_step);
            sum[r][0] = operand_multiply_add(sum[r][0], x, b0);
            sum[r][1] = operand_multiply_add(sum[r][1], x, b1);
        }
    }
}

/* Sets the sums to zero in registers. An initialiser or memset would write them to memory. */
INLINE void zero_sums(int rows, vreal sum[][2])
{
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++)
        sum[r][0] = sum[r][1] = (vreal){0};
}

INLINE void store_sums(int rows, real *c, vreal sum[][2], bool add)
{
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++, c += BLOCK) {
        if (add) {
            sum[r][0] += vreal_load(c);
            sum[r][1] += vreal_load(c + VECTOR_LANES);
        }
        vreal_store(c, sum[r][0]);
        vreal_store(c + VECTOR_LANES, sum[r][1]);
    }
}

INLINE void few_rows(int rows, real *c, const real *const *a, const real *const *b, int count,
                     size_t first, size_t a_stride, int k, int run, bool add)
{
    vreal sum[ROWS_MAX][2];
    int terms = 0;
    zero_sums(rows, sum);
    for (int i = 0; i < count; i++) {
        const real *left = a[i] + first * ROW, *right = b[i];
        for (int todo = k; todo > 0; todo -= BLOCK, left += a_stride, right += ROW * BLOCK) {
            int taken = todo < BLOCK ? todo : BLOCK;
            if (terms + taken > run) {
                store_sums(rows, c, sum, add);
                zero_sums(rows, sum);
                terms = 0;
                add = true;
            }
            add_products(rows, sum, left, ROW, 1, right, operand_steps(taken), left + rows * ROW);
            terms += taken;
        }
    }
    store_sums(rows, c, sum, add);
}

INLINE void few_columns(int rows, real *c, const real *const *a, const real *const *b, int count,
                        size_t first, int k, bool add, const real *next)
{
    vreal sum[ROWS_MAX][2];
    zero_sums(rows, sum);
    for (int i = 0; i < count; i++)
        add_products(rows, sum, a[i] + first, 1, BLOCK, b[i], operand_steps(k), next);
    store_sums(rows, c, sum, add);
}

/* Returns the number of rows to process next if `left` rows remain. */
static int share_of(int left)
{
    int groups = (left + ROWS_MAX - 1) / ROWS_MAX;
    return (left + groups - 1) / groups;
}

static void product_rows(real *c, const real *const *a, const real *const *b, int count,
                         size_t a_stride, int rows, int k, int run, bool add)
{
    for (int first = 0, taken; first < rows; first += taken, c += taken * BLOCK) {
        taken = share_of(rows - first);
        switch (taken) {
            CASES_OF_ROWS(few_rows, c, a, b, count, (size_t)first, a_stride, k, run, add)
        }
    }
}

static void product_columns(real *c, const real *const *a, const real *const *b, int count,
                            int rows, int k, bool add, const real *next)
{
    for (int first = 0, taken; first < rows; first += taken, c += taken * BLOCK) {
        taken = share_of(rows - first);
        switch (taken) {
            CASES_OF_ROWS(few_columns, c, a, b, count, (size_t)first, k, add, next)
        }
        next += operand_steps(k) * LINE_REALS;
    }
}
