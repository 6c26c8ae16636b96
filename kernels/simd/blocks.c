/* Converts between planes and blocks of channels by transposing squares in registers. Conversion
 * one number at a time took 20 % as long as the matrix products of vgg11_bn. */
#include "kernels/simd/blocks.h"

#include "kernels/simd/transpose.h"

#define BLOCK (2 * VECTOR_LANES)

static int at_most(int x, int most)
{
    return x < most ? x : most;
}

/* Returns the area to convert. If its rows are contiguous in memory, they are merged into one row
 * of h * w numbers. */
static struct area rows_of(const struct planes *p)
{
    if ((size_t)p->area.w == p->row)
        return (struct area){1, p->area.h * p->area.w};
    return p->area;
}

INLINE void square_to_blocks(real *to, const real *from, size_t plane, int lanes, int count)
{
    vreal square[VECTOR_LANES];
#pragma GCC unroll 16
    for (int l = 0; l < VECTOR_LANES; l++)
        square[l] = l < lanes ? vreal_load_first(from + (size_t)l * plane, count) : (vreal){0};
    transpose(square);
#pragma GCC unroll 16
    for (int i = 0; i < VECTOR_LANES; i++)
        if (i < count)
            vreal_store(to + i * BLOCK, square[i]);
}

INLINE void square_to_planes(real *to, const real *from, size_t plane, int lanes, int count)
{
    vreal square[VECTOR_LANES];
#pragma GCC unroll 16
    for (int i = 0; i < VECTOR_LANES; i++)
        square[i] = i < count ? vreal_load(from + i * BLOCK) : (vreal){0};
    transpose(square);
#pragma GCC unroll 16
    for (int l = 0; l < VECTOR_LANES; l++)
        if (l < lanes)
            vreal_store_first(to + (size_t)l * plane, square[l], count);
}

static void to_blocks(const struct planes *p, real *blocks, const real *planes)
{
    struct area a = rows_of(p);
    size_t block = (size_t)(a.h * a.w) * BLOCK;
    for (int first = 0; first < blocks_of(p->channels, BLOCK) * BLOCK; first += VECTOR_LANES) {
        real *to = blocks + (size_t)(first / BLOCK) * block + first % BLOCK;
        int lanes = at_most(p->channels - first, VECTOR_LANES);
        for (int r = 0; r < a.h; r++) {
            const real *from = planes + (size_t)first * p->plane + (size_t)r * p->row;
            for (int s = 0; s < a.w; s += VECTOR_LANES)
                square_to_blocks(to + (r * a.w + s) * BLOCK, from + s, p->plane, lanes,
                                 at_most(a.w - s, VECTOR_LANES));
        }
    }
}

static void to_planes(const struct planes *p, real *planes, const real *blocks)
{
    struct area a = rows_of(p);
    size_t block = (size_t)(a.h * a.w) * BLOCK;
    for (int first = 0; first < p->channels; first += VECTOR_LANES) {
        const real *from = blocks + (size_t)(first / BLOCK) * block + first % BLOCK;
        int lanes = at_most(p->channels - first, VECTOR_LANES);
        for (int r = 0; r < a.h; r++) {
            real *to = planes + (size_t)first * p->plane + (size_t)r * p->row;
            for (int s = 0; s < a.w; s += VECTOR_LANES)
                square_to_planes(to + s, from + (r * a.w + s) * BLOCK, p->plane, lanes,
                                 at_most(a.w - s, VECTOR_LANES));
        }
    }
}

const struct block_functions SIMD_NAME(blocks) = {
    .to_blocks = to_blocks,
    .to_planes = to_planes,
};
