/* Implements the functions of local_ops.h for compressors and 16-bit numbers. */
#include <math.h>
#include <string.h>

#include "comm/local_ops.h"
#include "kernels/base/simd.h"

void local_fill(const struct exec *ex, real *y, size_t n, real value)
{
    for (size_t i = 0; i < n; i++)
        y[i] = value;
    local_charge_bytes(ex, n * sizeof *y);
}

const struct cast16 *local_cast16(enum precision precision, enum isa isa)
{
    const struct cast16_functions *functions = cast16_get(isa);
    if (precision == PRECISION_fp32)
        return NULL;
    return precision == PRECISION_fp16 ? &functions->fp16 : &functions->bf16;
}

void local_encode16(const struct exec *ex, const struct cast16 *cast, uint16_t *y, const real *x,
                    size_t n, float scale)
{
    cast->encode(y, x, n, scale);
    local_charge_bytes(ex, n * (sizeof *x + sizeof *y));
}

void local_decode16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                    size_t n, float scale)
{
    cast->decode(y, x, n, scale);
    local_charge_bytes(ex, n * (sizeof *x + sizeof *y));
}

void local_add16(const struct exec *ex, const struct cast16 *cast, real *y, const uint16_t *x,
                 size_t n, float scale)
{
    cast->add(y, x, n, scale);
    local_charge_bytes(ex, n * (sizeof *x + sizeof *y));
}

/* Rounds x to 16 bits, then scales it. Works in blocks, so that both passes over a block find it in
 * the first-level cache. */
void local_round16(const struct exec *ex, const struct cast16 *cast, real *x, size_t n, float scale)
{
    enum { BLOCK = 2048 };
    uint16_t codes[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t count = n - i < BLOCK ? n - i : BLOCK;
        cast->encode(codes, x + i, count, 1);
        cast->decode(x + i, codes, count, scale);
    }
    local_charge_bytes(ex, 2 * n * sizeof *x);
}

/* ---- The largest numbers ---- */

/* Magnitudes are compared as integers, by their bits. Infinity and NaN are then larger than all
 * other numbers. */
#ifdef SCALEBENCH_F64
typedef uint64_t magnitude;
#else
typedef uint32_t magnitude;
#endif

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static magnitude magnitude_of(real x)
{
    magnitude bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & ((magnitude)-1 >> 1);
}

SIMD_CLONES static magnitude largest_magnitude(const real *x, size_t n)
{
    magnitude largest = 0;
    for (size_t i = 0; i < n; i++) {
        magnitude own = magnitude_of(x[i]);
        largest = own > largest ? own : largest;
    }
    return largest;
}

bool local_is_finite(const struct exec *ex, const real *x, size_t n)
{
    magnitude largest = largest_magnitude(x, n);
    local_charge_bytes(ex, n * sizeof *x);
    return largest < magnitude_of((real)INFINITY);
}

/* Selects every number whose magnitude & mask is above `least`, and the first `ties` numbers whose
 * magnitude & mask equals `least`. */
struct threshold {
    magnitude mask, least;
    size_t ties;
};

/* Builds in `counts` a histogram of the digit at bit `shift`, over magnitudes whose higher digits
 * match t->least. */
static void count_digits(size_t counts[DIGITS], const real *x, size_t n, const struct threshold *t,
                         int shift)
{
    memset(counts, 0, DIGITS * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        magnitude m = magnitude_of(x[i]);
        if ((m & t->mask) == t->least)
            counts[m >> shift & (DIGITS - 1)]++;
    }
}

/* Finds the threshold that selects the k largest magnitudes, by radix selection from the highest
 * digit on. */
static struct threshold find_threshold(const real *x, size_t n, size_t k)
{
    struct threshold t = {.ties = k};
    size_t counts[DIGITS];
    for (int shift = 8 * (int)sizeof(magnitude) - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        magnitude digit = DIGITS - 1;
        count_digits(counts, x, n, &t, shift);
        while (counts[digit] < t.ties)
            t.ties -= counts[digit--];
        t.mask |= (magnitude)(DIGITS - 1) << shift;
        t.least |= digit << shift;
        if (counts[digit] == t.ties)
            break;
    }
    return t;
}

void local_take_largest(const struct exec *ex, real *x, size_t n, size_t k, real *values,
                        uint32_t *places)
{
    struct threshold t = find_threshold(x, n, k);
    for (size_t i = 0, taken = 0; taken < k; i++) {
        magnitude m = magnitude_of(x[i]) & t.mask;
        if (m < t.least || (m == t.least && t.ties == 0))
            continue;
        t.ties -= m == t.least;
        values[taken] = x[i];
        places[taken++] = (uint32_t)i;
        x[i] = 0;
    }
    local_charge_bytes(ex, 2 * n * sizeof *x + k * (sizeof *values + sizeof *places));
}

void local_add_at(const struct exec *ex, real *y, const real *values, const uint32_t *places,
                  size_t k)
{
    for (size_t i = 0; i < k; i++)
        y[places[i]] += values[i];
    local_charge_bytes(ex, k * (2 * sizeof *values + sizeof *places));
}

/* ---- Signs ---- */

double local_norm1(const struct exec *ex, const real *x, size_t n)
{
    enum { LANES = 8 };
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += fabs((double)x[i + k]);
    for (; i < n; i++)
        sum += fabs((double)x[i]);
    for (size_t k = 0; k < LANES; k++)
        sum += sums[k];
    local_charge_bytes(ex, n * sizeof *x);
    return sum;
}

void local_take_signs(const struct exec *ex, real *x, size_t n, real scale, uint64_t *bits,
                      size_t at)
{
    for (size_t i = 0; i < n; i++, at++) {
        uint64_t bit = 1ull << at % 64;
        bool negative = signbit(x[i]) != 0;
        bits[at / 64] = negative ? bits[at / 64] | bit : bits[at / 64] & ~bit;
        x[i] -= negative ? -scale : scale;
    }
    local_charge_bytes(ex, 2 * n * sizeof *x + n / 8);
}

void local_add_signs(const struct exec *ex, real *y, size_t n, real scale, const uint64_t *bits,
                     size_t at)
{
    for (size_t i = 0; i < n; i++, at++)
        y[i] += bits[at / 64] >> at % 64 & 1 ? -scale : scale;
    local_charge_bytes(ex, 2 * n * sizeof *y + n / 8);
}
