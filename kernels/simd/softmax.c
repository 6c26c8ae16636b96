/* Softmax with one image per lane. exp takes 15 ns in the C library, but less than 1 ns here. With
 * the library's exp, softmax would take a tenth or more of a small net's step. */
#include "kernels/simd/softmax.h"

#include "kernels/simd/lanes.h"

#define LANES (VECTOR_BYTES / (int)sizeof(double))

typedef double vdouble __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t vlong __attribute__((vector_size(VECTOR_BYTES)));

INLINE vdouble all(double x)
{
    return x - (vdouble){0};
}

INLINE vdouble choose(vlong condition, vdouble yes, vdouble no)
{
    return (vdouble)((condition & (vlong)yes) | (~condition & (vlong)no));
}

/* Returns exp(x) for x <= 0. x = k ln 2 + r with |r| <= ln(2)/2. The first omitted term of the
 * series, r^14/14!, is below 2^-57; Horner's scheme adds one or two roundings. For x < -708 the
 * result is exp(-708) = 3e-308, near the smallest normal double. NaN stays NaN. */
INLINE vdouble exp_negative(vdouble x)
{
    const double magic = 0x1.8p52; /* adding `magic`, whose ulp is 1, rounds to an integer */
    x = choose(x < -708, all(-708), x);
    vdouble shifted = x * 0x1.71547652b82fep0 + magic;
    vdouble k = shifted - magic;
    vdouble r = x - k * 0x1.62e42fefa39efp-1;
    r = r - k * 0x1.abc9e3b39803fp-56;
    static const double inverse_factorials[] = {
        1.0 / 6227020800,
        1.0 / 479001600,
        1.0 / 39916800,
        1.0 / 3628800,
        1.0 / 362880,
        1.0 / 40320,
        1.0 / 5040,
        1.0 / 720,
        1.0 / 120,
        1.0 / 24,
        1.0 / 6,
        1.0 / 2,
        1,
        1,
    };
    vdouble sum = all(inverse_factorials[0]);
    UNROLL
    for (size_t i = 1; i < sizeof inverse_factorials / sizeof *inverse_factorials; i++)
        sum = sum * r + inverse_factorials[i];
    vlong power = ((vlong)shifted + 1023) << 52;
    return sum * (vdouble)power;
}

/* Returns ln(x) for x >= 1 or NaN. x = 2^e m with m between sqrt(1/2) and sqrt(2). With f =
 * (m-1)/(m+1), ln m = 2 (f + f^3/3 + f^5/5 + ...). |f| < 0.1716: the first omitted term, f^22/23
 * relative to f, is below 2^-60. */
INLINE vdouble log_of(vdouble x)
{
    const vlong mantissa = (vlong){0} + 0xfffffffffffff, one = (vlong){0} + 0x3ff0000000000000;
    vlong bits = (vlong)x;
    vdouble m = (vdouble)((bits & mantissa) | one);
    vlong large = m > 0x1.6a09e667f3bcdp0;
    m = choose(large, 0.5 * m, m);
    /* Converts the integer exponent to double, by placing its bits in the fraction of 2^52. */
    vlong exponent = (bits >> 52) - large;
    vdouble e = (vdouble)(exponent | (vlong)all(0x1p52)) - (0x1p52 + 1023);
    vdouble f = (m - 1) / (m + 1), square = f * f, sum = all(1.0 / 21);
    UNROLL
    for (int n = 19; n >= 1; n -= 2)
        sum = sum * square + 1.0 / n;
    vdouble result = e * 0x1.62e42fefa39efp-1 + 2 * f * sum;
    return choose(x == x, result, x);
}

/* logits [classes][LANES] <- x [n][classes], transposed. Lanes without an image repeat the last
 * image. */
static void transpose(vdouble *logits, const real *x, size_t n, size_t classes)
{
    for (int lane = 0; lane < LANES; lane++) {
        const real *from = x + ((size_t)lane < n ? (size_t)lane : n - 1) * classes;
        for (size_t c = 0; c < classes; c++)
            ((double *)&logits[c])[lane] = (double)from[c];
    }
}

static void transpose_back(real *x, const vdouble *values, size_t n, size_t classes)
{
    for (size_t lane = 0; lane < n; lane++)
        for (size_t c = 0; c < classes; c++)
            x[lane * classes + c] = (real)((const double *)&values[c])[lane];
}

/* Replaces the logits in `values` by exp(logit - *largest) and returns their sum over the classes.
 * *largest, *best: the largest logit and its class. */
INLINE vdouble exponentials(vdouble *values, size_t classes, vdouble *largest, vdouble *best)
{
    vdouble most = values[0], at = all(0), sum = all(0);
    for (size_t c = 1; c < classes; c++) {
        vlong more = values[c] > most;
        most = choose(more, values[c], most);
        at = choose(more, all((double)c), at);
    }
    for (size_t c = 0; c < classes; c++) {
        values[c] = exp_negative(values[c] - most);
        sum += values[c];
    }
    *largest = most;
    *best = at;
    return sum;
}

static void softmax(size_t n, size_t classes, const real *logits, const uint8_t *labels,
                    const double *scale, struct softmax_result *results, real *dlogits)
{
    vdouble values[SOFTMAX_CLASSES], largest, best;
    for (size_t i = 0; i < n; i += LANES) {
        size_t count = n - i < LANES ? n - i : LANES;
        transpose(values, logits + i * classes, count, classes);
        vdouble sum = exponentials(values, classes, &largest, &best);
        vdouble log_total = largest + log_of(sum);
        for (size_t lane = 0; lane < count; lane++)
            results[i + lane] =
                (struct softmax_result){.log_total = log_total[lane], .best = best[lane]};
        if (dlogits == NULL)
            continue;
        vdouble scales = {0};
        memcpy(&scales, scale + i, count * sizeof *scale);
        vdouble factor = scales / sum;
        for (size_t c = 0; c < classes; c++)
            values[c] *= factor;
        for (size_t lane = 0; lane < count; lane++)
            ((double *)&values[labels[i + lane]])[lane] -= scale[i + lane];
        transpose_back(dlogits + i * classes, values, count, classes);
    }
}

const struct softmax_functions SIMD_NAME(softmax) = {.softmax = softmax};
