#include "bench/workloads/checkpoint/checkpoint_numbers.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "kernels/cast16.h"

#define CHUNK 1024 /* numbers converted per call */

enum number { F16, BF16, F32, F64, NUMBERS };

static const char *const names[NUMBERS] = {"F16", "BF16", "F32", "F64"};
const char numbers_types[] = "F16, BF16, F32 or F64";

static enum number number_of(const char *dtype)
{
    enum number i = 0;
    while (i < NUMBERS && strcmp(names[i], dtype) != 0)
        i++;
    return i;
}

bool numbers_known(const char *dtype)
{
    return number_of(dtype) < NUMBERS;
}

static size_t count_of(const struct safetensors_tensor *t)
{
    return t->bytes / safetensors_type_bytes(t->dtype);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the portable functions that convert to and from a 16-bit type. The functions of all
 * instruction sets give the same bits. */
static const struct cast16 *cast_of(enum number type)
{
    const struct cast16_functions *functions = cast16_get(ISA_PORTABLE);
    return type == F16 ? &functions->fp16 : &functions->bf16;
}

/* Saves the floating-point environment in *before and sets the default: round to nearest, keep
 * denormal numbers. The trainer's threads otherwise flush denormal numbers to 0. */
static void exact_begin(fenv_t *before)
{
    fegetenv(before);
    fesetenv(FE_DFL_ENV);
}

/* ---- Reading ---- */

/* READ(type): defines the function read_<type>, which converts n numbers of this type to `real`.
 * The numbers may be unaligned in memory. */
#define READ(type)                                                                                 \
    static void read_##type(real *to, const uint8_t *from, size_t n)                               \
    {                                                                                              \
        type x;                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            memcpy(&x, from + i * sizeof x, sizeof x);                                             \
            to[i] = (real)x;                                                                       \
        }                                                                                          \
    }
READ(float)
READ(double)

static void read_codes(real *to, const uint8_t *from, size_t n, const struct cast16 *cast)
{
    uint16_t codes[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t some = smaller(n - i, CHUNK);
        memcpy(codes, from + i * sizeof *codes, some * sizeof *codes);
        cast->decode(to + i, codes, some, 1);
    }
}

void numbers_read(real *to, const struct safetensors_tensor *from)
{
    enum number type = number_of(from->dtype);
    fenv_t before;
    exact_begin(&before);
    if (type == F64)
        read_double(to, from->data, count_of(from));
    else if (type == F32)
        read_float(to, from->data, count_of(from));
    else
        read_codes(to, from->data, count_of(from), cast_of(type));
    fesetenv(&before);
}

size_t numbers_first_beyond(const struct safetensors_tensor *from)
{
    const uint8_t *at = from->data;
    size_t n = count_of(from);
    double x;
    for (size_t i = 0; i < n && number_of(from->dtype) == F64; i++) {
        memcpy(&x, at + i * sizeof x, sizeof x);
        if (isfinite(x) && !isfinite((real)x))
            return i;
    }
    return n;
}

/* ---- Writing ---- */

static enum number number_of_dtype(enum checkpoint_dtype dtype)
{
    return dtype == CHECKPOINT_DTYPE_f16 ? F16 : BF16;
}

const char *numbers_dtype(enum checkpoint_dtype dtype)
{
    return names[number_of_dtype(dtype)];
}

/* Rounds a double to a float that rounds to the same 16-bit number as the double would. An inexact
 * float gets an odd last bit, so it is never halfway between two 16-bit numbers. */
static real to_odd(real x)
{
    float nearest = (float)x;
    uint32_t bits;
    if (nearest == x || !isfinite(nearest))
        return x;
    if (fabs((double)nearest) > fabs((double)x))
        nearest = nextafterf(nearest, 0);
    memcpy(&bits, &nearest, sizeof bits);
    bits |= 1;
    memcpy(&nearest, &bits, sizeof bits);
    return nearest;
}

static bool is_infinite(uint16_t code, enum number type)
{
    return (code & 0x7fff) == (type == F16 ? 0x7c00 : 0x7f80);
}

size_t numbers_narrow(uint16_t *codes, const real *x, size_t n, enum checkpoint_dtype dtype)
{
    enum number type = number_of_dtype(dtype);
    real chunk[CHUNK];
    size_t beyond = n;
    fenv_t before;
    exact_begin(&before);
    for (size_t i = 0; i < n && beyond == n; i += CHUNK) {
        size_t some = smaller(n - i, CHUNK);
        for (size_t k = 0; k < some; k++)
            chunk[k] = to_odd(x[i + k]);
        cast_of(type)->encode(codes + i, chunk, some, 1);
        for (size_t k = i; k < i + some && beyond == n; k++)
            if (is_infinite(codes[k], type) && isfinite(x[k]))
                beyond = k;
    }
    fesetenv(&before);
    return beyond;
}
