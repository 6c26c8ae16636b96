/* Epilogue of a convolution or batch norm, applied to outputs in registers: ReLU, and the maximum
 * of each 2x2 window with its position (origin). load_gradients computes the gradients of the
 * epilogue's inputs. Lanes are channels.
 *
 * As separate layers, ReLU and pooling took 32 of the 98 ms of a step of keras_690k with 256
 * images. Without the origins, one byte each, backward would need the outputs before pooling. */
#pragma once

#include "kernels/simd/conv3x3.h"
#include "kernels/simd/operands.h"

/* UNROLL_BY(count) unrolls the loop below it. UNROLL_BY is empty in sanitizer builds: their
 * compiler optimises less, and warns about the pragma at loops of a single iteration. */
#ifdef SCALEBENCH_SANITIZE
#define UNROLL_BY(count)
#else
#define UNROLL_BY(count)  UNROLL_TEXT(GCC unroll count)
#define UNROLL_TEXT(text) _Pragma(#text)
#endif

typedef uint8_t vbyte __attribute__((vector_size(VECTOR_LANES)));

INLINE vreal masked(vint mask, vreal x)
{
    return (vreal)((vint)x & mask);
}

/* Loads VECTOR_LANES bytes and widens them to integers. Uses intrinsics, because GCC 12 compiles
 * __builtin_convertvector to conversions one by one. */
INLINE vint mask_load(const uint8_t *x)
{
    vbyte bytes;
    memcpy(&bytes, x, sizeof bytes);
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vint)_mm512_cvtepu8_epi32((__m128i)bytes);
#elif defined(__AVX2__) && !defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    return (vint)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
#else
    return __builtin_convertvector(bytes, vint);
#endif
}

/* Stores the lanes of v as bytes. Lanes must be in [-128, 127]: AVX2 would saturate other numbers,
 * AVX-512 would truncate them. */
INLINE void mask_store(uint8_t *x, vint v)
{
#if defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    _mm_storeu_si128((__m128i *)(void *)x, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined(__AVX2__) && !defined(__AVX512F__) && !defined(SCALEBENCH_F64)
    __m128i narrow = _mm_packs_epi32(_mm256_castsi256_si128((__m256i)v),
                                     _mm256_extracti128_si256((__m256i)v, 1));
    _mm_storel_epi64((__m128i *)(void *)x, _mm_packs_epi16(narrow, narrow));
#else
    vbyte bytes = __builtin_convertvector(v, vbyte);
    memcpy(x, &bytes, sizeof bytes);
#endif
}

/* Position of a patch in an image of h rows and w columns. Parts of the patch may lie outside the
 * image. */
struct patch {
    int row, column, h, w;
};

INLINE bool patch_is_inside(struct patch a, int size)
{
    return a.row >= 0 && a.column >= 0 && a.row + size <= a.h && a.column + size <= a.w;
}

INLINE bool patch_has(struct patch a, int i, int j, bool inside)
{
    return inside ||
           ((unsigned)(a.row + i) < (unsigned)a.h && (unsigned)(a.column + j) < (unsigned)a.w);
}

INLINE ptrdiff_t patch_at(struct patch a, int i, int j)
{
    return ((ptrdiff_t)(a.row + i) * a.w + a.column + j) * BLOCK;
}

/* Returns the larger of a and b per lane: a if equal, NaN if one is NaN. Sets *from to from_b where
 * b is returned. */
INLINE vreal larger(vreal a, vreal b, vint *from, vint from_b)
{
    vint second = (b > a) | (b != b);
    *from = (from_b & second) | (*from & ~second);
    return (vreal)(((vint)b & second) | ((vint)a & ~second));
}

/* Returns y, or 0 where y is negative; NaN stays NaN. Where y <= 0, *from becomes FROM_NOWHERE. */
INLINE vreal rectified(vreal y, vint *from)
{
    vint stopped = y <= 0;
    *from = (stopped & FROM_NOWHERE) | (*from & ~stopped);
    return masked(~(y < 0), y);
}

/* Applies the epilogue (nothing, ReLU, or ReLU and pooling) to outputs y [rows, columns], whose
 * rows are `step` vectors apart. Stores the results in image `to`, in the given precision; the
 * first result goes to position `at`. Leaves out results that lie outside the image. */
INLINE void store_outputs(int epilogue, enum precision precision, int rows, int columns, int step,
                          const vreal *y, real *to, uint8_t *from, struct patch at)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    UNROLL_BY(4)
    for (int i = 0; i < rows / size; i++) {
        UNROLL_BY(6)
        for (int j = 0; j < columns / size; j++) {
            if (!patch_has(at, i, j, false))
                continue;
            const vreal *first = y + size * (i * step + j);
            vreal best = first[0];
            vint origin = {0};
            if (epilogue == EPILOGUE_RELU_POOL) {
                best = larger(best, first[1], &origin, (vint){0} + 1);
                best = larger(best, first[step], &origin, (vint){0} + 2);
                best = larger(best, first[step + 1], &origin, (vint){0} + 3);
            }
            if (epilogue != EPILOGUE_NONE) {
                best = rectified(best, &origin);
                mask_store(from + patch_at(at, i, j), origin);
            }
            value_store(precision, to, (size_t)patch_at(at, i, j), best);
        }
    }
}

/* Loads the gradients of the outputs stored at patch `at`, and computes dy [rows, columns], the
 * gradients of the epilogue's inputs. Adds the sum of dy to *dbias. */
INLINE void load_gradients(int epilogue, int rows, int columns, int step, vreal *dy,
                           const real *stored, const uint8_t *from, struct patch at, vreal *dbias)
{
    const int size = epilogue == EPILOGUE_RELU_POOL ? 2 : 1;
    UNROLL_BY(4)
    for (int i = 0; i < rows / size; i++) {
        UNROLL_BY(6)
        for (int j = 0; j < columns / size; j++) {
            bool has = patch_has(at, i, j, false);
            vreal d = has ? vreal_load(stored + patch_at(at, i, j)) : (vreal){0};
            vint origin = {0};
            if (epilogue != EPILOGUE_NONE && has) {
                origin = mask_load(from + patch_at(at, i, j));
                d = masked(origin != FROM_NOWHERE, d);
            }
            vreal *first = dy + size * (i * step + j);
            *dbias += d;
            first[0] = d;
            if (epilogue == EPILOGUE_RELU_POOL) {
                first[0] = masked(origin == 0, d);
                first[1] = masked(origin == 1, d);
                first[step] = masked(origin == 2, d);
                first[step + 1] = masked(origin == 3, d);
            }
        }
    }
}
