/* Tests 16-bit conversions against the definition of both formats: all 2^16 codes, every rounding
 * boundary, and every instruction set against the portable one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/rng.h"
#include "kernels/cast16.h"

enum { CODES = 1 << 16 };

struct format {
    const char *name;
    int exponent_bits, fraction_bits;
};

static const struct format formats[] = {{"fp16", 5, 10}, {"bf16", 8, 7}};

static const struct cast16 *cast_of(enum isa isa, int format)
{
    const struct cast16_functions *f = cast16_get(isa);
    return format == 0 ? &f->fp16 : &f->bf16;
}

/* Returns the value of a code by the definition of the format. */
static double value_of(const struct format *f, uint16_t code)
{
    int fraction = code & ((1 << f->fraction_bits) - 1);
    int most = (1 << f->exponent_bits) - 1, exponent = code >> f->fraction_bits & most;
    int bias = most / 2;
    double size;
    if (exponent == most)
        size = fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        size = ldexp(fraction, 1 - bias - f->fraction_bits);
    else
        size = ldexp((1 << f->fraction_bits) + fraction, exponent - bias - f->fraction_bits);
    return code & 0x8000 ? -size : size;
}

static uint16_t infinity_of(const struct format *f)
{
    return (uint16_t)(((1 << f->exponent_bits) - 1) << f->fraction_bits);
}

static uint16_t encode(const struct cast16 *cast, double x)
{
    uint16_t code;
    const real number = (real)x;
    cast->encode(&code, &number, 1, 1);
    return code;
}

static void every_code_has_its_value(void **state)
{
    static uint16_t codes[CODES], again[CODES];
    static real values[CODES];
    for (uint32_t i = 0; i < CODES; i++)
        codes[i] = (uint16_t)i;
    for (int isa = 0; isa <= (int)isa_best(); isa++) {
        for (int k = 0; k < 2; k++) {
            const struct cast16 *cast = cast_of((enum isa)isa, k);
            cast->decode(values, codes, CODES, 1);
            cast->encode(again, values, CODES, 1);
            uint16_t quiet = (uint16_t)(1 << (formats[k].fraction_bits - 1));
            for (uint32_t i = 0; i < CODES; i++) {
                double expected = value_of(&formats[k], codes[i]);
                if (isnan(expected)) {
                    assert_true(isnan(values[i]));
                    assert_int_equal(again[i], codes[i] | quiet);
                } else {
                    assert_true((double)values[i] == expected);
                    assert_true(!signbit(values[i]) == !signbit(expected));
                    assert_int_equal(again[i], codes[i]);
                }
            }
        }
    }
}

/* Halfway between two codes the even one wins; slightly off, the nearer. Beyond the largest code,
 * rounding is as if the next power of two existed. */
static void check_boundary(const struct cast16 *cast, const struct format *f, uint16_t code)
{
    double low = value_of(f, code), high = value_of(f, (uint16_t)(code + 1));
    if (isinf(high))
        high = 2 * low - value_of(f, (uint16_t)(code - 1));
    float middle = (float)(low + (high - low) / 2);
    assert_true((double)middle == low + (high - low) / 2);
    uint16_t up = (uint16_t)(code + 1), even = code % 2 == 0 ? code : up;
    for (int sign = 0; sign < 2; sign++) {
        float m = sign ? -middle : middle, towards = sign ? -INFINITY : INFINITY;
        uint16_t bit = sign ? 0x8000 : 0;
        assert_int_equal(encode(cast, (double)m), even | bit);
        assert_int_equal(encode(cast, (double)nextafterf(m, towards)), up | bit);
        assert_int_equal(encode(cast, (double)nextafterf(m, 0)), code | bit);
    }
}

static void every_boundary_rounds_to_nearest_even(void **state)
{
    for (int isa = 0; isa <= (int)isa_best(); isa++)
        for (int k = 0; k < 2; k++)
            for (uint16_t code = 0; code < infinity_of(&formats[k]); code++)
                check_boundary(cast_of((enum isa)isa, k), &formats[k], code);
}

static void too_large_numbers_become_infinite(void **state)
{
    for (int isa = 0; isa <= (int)isa_best(); isa++) {
        const struct cast16 *fp16 = cast_of((enum isa)isa, 0), *bf16 = cast_of((enum isa)isa, 1);
        const uint16_t codes[] = {0x7bff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0};
        assert_int_equal(encode(fp16, 65504), 0x7bff);
        assert_int_equal(encode(fp16, 65519.99), 0x7bff);
        assert_int_equal(encode(fp16, 65520), 0x7c00);
        assert_int_equal(encode(fp16, -1e30), 0xfc00);
        assert_int_equal(encode(fp16, (double)INFINITY), 0x7c00);
        assert_int_equal(encode(bf16, 0x1.fep127), 0x7f7f);
        assert_int_equal(encode(bf16, 0x1.fffffep127), 0x7f80);
        assert_int_equal(cast16_get((enum isa)isa)->count_infinite(codes, 6), 2);
    }
}

/* Numbers of every size and bit pattern, at odd lengths and addresses, with and without scale. */
static void every_instruction_set_gives_the_same_bits(void **state)
{
    enum { N = 100003, ROOM = N + 8 };
    real *x = malloc(ROOM * sizeof *x), *y = malloc(2 * ROOM * sizeof *y);
    uint16_t *codes = malloc(2 * ROOM * sizeof *codes);
    for (uint32_t i = 0; i < ROOM; i++) {
        uint32_t bits = rng_word(1, 2, 3, 4, i);
        float number;
        memcpy(&number, &bits, sizeof number);
        x[i] = i % 3 == 0 ? (real)ldexp(rng_unit(bits) - 0.5, (int)(bits % 50) - 30) : (real)number;
    }
    for (int pass = 0; pass < 8; pass++) {
        int k = pass % 2;
        size_t shift = (size_t)(pass / 2), n = N - shift;
        float scale = pass < 4 ? 1 : 1024;
        for (int isa = 0; isa <= (int)isa_best(); isa++) {
            const struct cast16 *cast = cast_of((enum isa)isa, k);
            uint16_t *own = codes + (isa > 0 ? ROOM : 0);
            real *numbers = y + (isa > 0 ? ROOM : 0);
            cast->encode(own, x + shift, n, scale);
            cast->decode(numbers, own, n, 1 / scale);
            cast->add(numbers, own, n, 1 / scale);
            if (isa == 0)
                continue;
            assert_memory_equal(codes, own, n * sizeof *own);
            assert_memory_equal(y, numbers, n * sizeof *numbers);
        }
    }
    free(x);
    free(y);
    free(codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_value),
        cmocka_unit_test(every_boundary_rounds_to_nearest_even),
        cmocka_unit_test(too_large_numbers_become_infinite),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
