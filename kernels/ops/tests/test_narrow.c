/* 16-bit values on every instruction set. Reading 16-bit values gives the same bits as reading the
 * same numbers in 32 bits. Stored values are the 32-bit results rounded to nearest. test_winograd.c
 * compares whole ops with plain loops. */
#include "kernels/tests/support.h"

#include <float.h>

#include "kernels/cast16.h"
#include "kernels/ops/winograd.h"
#include "kernels/simd/first_conv.h"
#include "kernels/simd/norm.h"

SIMD_DECLARE_BF16(struct first_conv_functions, first_conv)
SIMD_DECLARE_BF16(struct norm_functions, norm)

enum { CODES = 1 << 16, BLOCK_MAX = 32 };

/* 16-bit types are all rows of precisions.def but the first. */
#define FOR_EACH_NARROW(type)                                                                      \
    for (enum precision type = PRECISION_fp32 + 1; type < PRECISIONS; type++)

static const char *const type_names[] = {
#define PRECISION(name, summary) #name,
#include "kernels/base/precisions.def"
};

static const struct cast16 *cast_of(enum precision type)
{
    const struct cast16_functions *f = cast16_get(ISA_PORTABLE);
    return type == PRECISION_fp16 ? &f->fp16 : &f->bf16;
}

/* Codes of a 16-bit type, and the same numbers in full precision. */
struct values {
    enum precision type;
    size_t n;
    uint16_t *codes;
    real *wide;
};

static struct values make_values(enum precision type, size_t n)
{
    struct values v = {type, n, mem_alloc(n * sizeof *v.codes),
                       mem_alloc((n + BLOCK_MAX) * sizeof *v.wide)};
    assert_true(v.codes != NULL && v.wide != NULL);
    return v;
}

static void encode(struct values *v)
{
    cast_of(v->type)->encode(v->codes, v->wide, v->n, 1);
}

static void decode(struct values *v)
{
    cast_of(v->type)->decode(v->wide, v->codes, v->n, 1);
}

static struct values random_values(enum precision type, size_t n, uint64_t seed)
{
    struct values v = make_values(type, n);
    real *x = random_reals(n, seed);
    memcpy(v.wide, x, n * sizeof *x);
    mem_free(x);
    encode(&v);
    decode(&v);
    return v;
}

static void free_values(struct values *v)
{
    mem_free(v->codes);
    mem_free(v->wide);
}

static const real *narrow_of(const struct values *v)
{
    return (const real *)(void *)v->codes;
}

static void assert_rounded(enum isa isa, enum precision type, const real *narrow, const real *wide,
                           size_t n)
{
    uint16_t *expected = mem_alloc(n * sizeof *expected);
    cast_of(type)->encode(expected, wide, n, 1);
    const uint16_t *codes = (const uint16_t *)(const void *)narrow;
    for (size_t i = 0; i < n; i++)
        if (codes[i] != expected[i])
            fail_msg("%s, %s: number %zu, %.9g, is 0x%04x, expected 0x%04x", isa_names()[isa],
                     type_names[type], i, (double)wide[i], codes[i], expected[i]);
    mem_free(expected);
}

/* ---- Conversions ---- */

static void fill(real *x, size_t n, real value)
{
    for (size_t i = 0; i < n; i++)
        x[i] = value;
}

/* Reads all codes by a batch norm that changes no number, not even the sign of a zero. */
static void read_all_codes(enum isa isa, const struct values *v)
{
    real *wide = mem_alloc(CODES * sizeof *wide), terms[3 * BLOCK_MAX];
    const struct norm_functions *f = norm_for(isa);
    struct area area = {1, CODES / f->block};
    struct norm norm = {EPILOGUE_NONE, v->type, PRECISION_fp32, area, area};
    fill(terms, BLOCK_MAX, 0);
    fill(terms + BLOCK_MAX, BLOCK_MAX, 1);
    fill(terms + 2 * BLOCK_MAX, BLOCK_MAX, (real)-0.0);
    f->normalise(&norm, wide, NULL, narrow_of(v), terms, terms + BLOCK_MAX, terms + 2 * BLOCK_MAX);
    for (size_t i = 0; i < CODES; i++) /* a signalling NaN becomes quiet */
        if (memcmp(&wide[i], &v->wide[i], sizeof *wide) != 0 &&
            (v->wide[i] == v->wide[i] || wide[i] == wide[i]))
            fail_msg("%s, %s: 0x%04zx is %.9g, expected %.9g", isa_names()[isa],
                     type_names[v->type], i, (double)wide[i], (double)v->wide[i]);
    mem_free(wide);
}

static void all_codes_are_read(void **state)
{
    FOR_EACH_NARROW(type)
    {
        struct values v = make_values(type, CODES);
        for (size_t i = 0; i < CODES; i++)
            v.codes[i] = (uint16_t)i;
        decode(&v);
        for (int isa = 0; isa <= (int)isa_best_bf16(); isa++)
            read_all_codes((enum isa)isa, &v);
        free_values(&v);
    }
}

/* Stores numbers as T2's outputs, with only the first point set, so that all four outputs of a tile
 * are equal. */
static void store_by_winograd(enum isa isa, enum precision type, real *narrow, const real *x)
{
    const struct winograd_tiles *f = winograd_tiles_for(isa);
    int images = CODES / f->block;
    struct winograd w = {.kind = WINOGRAD_T2,
                         .points = 3,
                         .outputs = 2,
                         .y_precision = type,
                         .out_blocks = 1,
                         .block = f->block,
                         .out = {2, 2},
                         .stored = {2, 2},
                         .tiles_h = 1,
                         .tiles_w = 1};
    real *m = mem_alloc(9 * CODES * sizeof *m), bias[BLOCK_MAX];
    fill(bias, BLOCK_MAX, (real)-0.0);
    fill(m, 9 * CODES, (real)-0.0);
    memcpy(m, x, CODES * sizeof *m);
    f->output(&w, images, 0, narrow, NULL, m, bias, NULL);
    mem_free(m);
}

/* Each number is stored at four positions of a block. */
static void assert_stored(enum isa isa, const uint16_t *is, const struct values *expected)
{
    size_t block = (size_t)winograd_tiles_for(isa)->block;
    for (size_t i = 0; i < 4 * CODES; i++) {
        size_t of = i / (4 * block) * block + i % block;
        if (is[i] != expected->codes[of])
            fail_msg("%s, %s: %.9g is 0x%04x, expected 0x%04x", isa_names()[isa],
                     type_names[expected->type], (double)expected->wide[of], is[i],
                     expected->codes[of]);
    }
}

/* Returns numbers between a code and the next one away from zero: the code, the midpoint, and their
 * neighbours. Beyond the largest code, the next power of two is used. */
enum { BETWEEN = 6 };
static float number_between(const real *of_codes, size_t code, int which)
{
    double low = (double)of_codes[code], high = 0;
    if (!isfinite(low))
        return (float)low;
    high = (double)of_codes[code + 1];
    high = isfinite(high) ? high : 2 * low - (double)of_codes[code - 1];
    float middle = (float)((low + high) / 2), first = (float)low, last = (float)high;
    const float numbers[BETWEEN] = {first,  nextafterf(first, last),  nextafterf(middle, first),
                                    middle, nextafterf(middle, last), nextafterf(last, first)};
    return numbers[which];
}

/* Tests every code, ties, the numbers beside them, and carries up to infinity. The bf16 instruction
 * flushes denormals. */
static void all_numbers_are_rounded_to_the_nearest(void **state)
{
    real *narrow = mem_alloc(2 * CODES * sizeof *narrow);
    FOR_EACH_NARROW(type)
    {
        struct values codes = make_values(type, CODES), v = make_values(type, CODES);
        for (size_t i = 0; i < CODES; i++)
            codes.codes[i] = (uint16_t)i;
        decode(&codes);
        for (int which = 0; which < BETWEEN; which++)
            for (int isa = 0; isa <= (int)isa_best_bf16(); isa++) {
                bool flushes = type == PRECISION_bf16 && (enum isa)isa != isa_exact((enum isa)isa);
                for (size_t i = 0; i < CODES; i++) {
                    float x = number_between(codes.wide, i, which);
                    v.wide[i] = flushes && fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
                }
                encode(&v);
                store_by_winograd((enum isa)isa, type, narrow, v.wide);
                assert_stored((enum isa)isa, (const uint16_t *)(const void *)narrow, &v);
            }
        free_values(&codes);
        free_values(&v);
    }
    mem_free(narrow);
}

/* ---- Kernels ---- */

/* Returns small whole numbers, whose transforms are exact in any order. */
static real *small_numbers(size_t n, uint64_t seed)
{
    real *x = random_reals(n, seed);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)((int)(x[i] * 100) % 2);
    return x;
}

/* Outputs of n images of one block, in both precisions, and their origins. */
static void check_outputs(enum isa isa, const struct winograd_tiles *f, struct winograd w)
{
    enum { IMAGES = 3 };
    size_t tiles = (size_t)(IMAGES * winograd_tiles(&w)), stored = IMAGES * winograd_stored(&w);
    size_t of_m = w.kind == CONV_DIRECT ? IMAGES * area_pixels(w.out) * (size_t)w.block
                                        : winograd_m(&w, IMAGES);
    real *m = small_numbers(of_m, 9), *bias = small_numbers(BLOCK_MAX, 10);
    real *wide = mem_alloc(stored * sizeof *wide), *narrow = mem_alloc(stored * sizeof *narrow);
    uint8_t *from = mem_alloc(2 * stored);
    uint16_t *blank = mem_alloc(tiles * sizeof *blank);
    w.y_precision = PRECISION_fp32;
    f->output(&w, IMAGES, 0, wide, from, m, bias, blank);
    FOR_EACH_NARROW(type)
    {
        w.y_precision = type;
        f->output(&w, IMAGES, 0, narrow, from + stored, m, bias, blank);
        assert_rounded(isa, type, narrow, wide, stored);
        assert_memory_equal(from, from + stored, stored);
    }
    void *all[] = {m, bias, wide, narrow, from, blank};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

static void convolutions_store_rounded_outputs(void **state)
{
    static const struct {
        int points, outputs;
    } axis[] = {[WINOGRAD_F4] = {6, 4},
                [WINOGRAD_F2] = {4, 2},
                [WINOGRAD_T2] = {3, 2},
                [CONV_DIRECT] = {3, 1}};
    for (int isa = 0; isa <= (int)isa_best_bf16(); isa++)
        for (int kind = 0; kind <= CONV_DIRECT; kind++)
            for (int epilogue = EPILOGUE_NONE; epilogue <= EPILOGUE_RELU_POOL; epilogue++) {
                const struct winograd_tiles *f = kind == CONV_DIRECT
                                                     ? direct_tiles_for((enum isa)isa)
                                                     : winograd_tiles_for((enum isa)isa);
                struct area out = kind == WINOGRAD_T2 ? (struct area){2, 2} : (struct area){7, 6};
                bool pools = epilogue == EPILOGUE_RELU_POOL;
                int size = axis[kind].outputs;
                check_outputs((enum isa)isa, f,
                              (struct winograd){
                                  .kind = (enum winograd_kind)kind,
                                  .epilogue = (enum epilogue)epilogue,
                                  .points = axis[kind].points,
                                  .outputs = size,
                                  .block = f->block,
                                  .out_blocks = 1,
                                  .out = out,
                                  .stored = {pools ? out.h / 2 : out.h, pools ? out.w / 2 : out.w},
                                  .tiles_h = (out.h + size - 1) / size,
                                  .tiles_w = (out.w + size - 1) / size});
            }
}

static void first_convolutions_store_rounded_outputs(void **state)
{
    for (int isa = 0; isa <= (int)isa_best_bf16(); isa++)
        for (int epilogue = EPILOGUE_NONE; epilogue <= EPILOGUE_RELU_POOL; epilogue++) {
            const struct first_conv_functions *f = first_conv_for((enum isa)isa);
            bool pools = epilogue == EPILOGUE_RELU_POOL;
            struct first_conv c = {.epilogue = (enum epilogue)epilogue,
                                   .in_c = 3,
                                   .out_c = 2 * f->block,
                                   .block = f->block,
                                   .out_blocks = 2,
                                   .out = {7, 9},
                                   .stored = {pools ? 3 : 7, pools ? 4 : 9},
                                   .image_h = 10,
                                   .image_w = 14};
            size_t stored = first_conv_stored(&c);
            real *x = random_reals(first_conv_image(&c), 11), *bias = random_reals(64, 12);
            real *weights = random_reals(2 * first_conv_panel(&c), 13);
            real *y = mem_alloc(stored * sizeof *y), *narrow = mem_alloc(stored * sizeof *narrow);
            uint8_t *from = mem_alloc(2 * stored);
            f->forward(&c, y, from, x, weights, bias);
            FOR_EACH_NARROW(type)
            {
                c.y_precision = type;
                f->forward(&c, narrow, from + stored, x, weights, bias);
                assert_rounded((enum isa)isa, type, narrow, y, stored);
                assert_memory_equal(from, from + stored, stored);
            }
            void *all[] = {x, bias, weights, y, narrow, from};
            for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                mem_free(all[i]);
        }
}

/* Results of the passes over a block. */
struct passes {
    real first[BLOCK_MAX], *y, *dx;
    uint8_t *from;
    double inputs[2 * BLOCK_MAX], gradients[2 * BLOCK_MAX];
};

static void run_passes(struct passes *p, enum isa isa, struct norm n, const real *x)
{
    const struct norm_functions *f = norm_for(isa);
    size_t block = (size_t)f->block;
    size_t in = area_pixels(n.in) * block, stored = area_pixels(n.stored) * block;
    real *dy = random_reals(stored, 14), *terms = random_reals(4 * block, 15);
    *p = (struct passes){.y = mem_alloc(stored * sizeof(real)),
                         .dx = mem_alloc(in * sizeof(real)),
                         .from = mem_alloc(stored)};
    f->first_inputs(&n, p->first, x);
    f->sum_inputs(&n, p->inputs, x, terms);
    f->normalise(&n, p->y, p->from, x, terms, terms + block, terms + 2 * block);
    f->sum_gradients(&n, p->gradients, dy, p->from, x, terms);
    f->differentiate(&n, p->dx, dy, p->from, x, terms);
    mem_free(dy);
    mem_free(terms);
}

static void free_passes(struct passes *p)
{
    mem_free(p->y);
    mem_free(p->dx);
    mem_free(p->from);
}

/* 16-bit inputs give the same bits as the same inputs in 32 bits. 16-bit outputs are the rounded
 * 32-bit outputs. */
static void check_norm(enum isa isa, enum precision type, struct norm n)
{
    size_t block = (size_t)norm_for(isa)->block;
    size_t in = area_pixels(n.in) * block, stored = area_pixels(n.stored) * block;
    struct values x = random_values(type, in, 16);
    struct passes wide, narrow;
    n.x_precision = n.y_precision = PRECISION_fp32;
    run_passes(&wide, isa, n, x.wide);
    for (int both = 0; both < 2; both++) {
        n.x_precision = type;
        n.y_precision = both ? type : PRECISION_fp32;
        run_passes(&narrow, isa, n, narrow_of(&x));
        assert_memory_equal(wide.first, narrow.first, sizeof wide.first);
        assert_memory_equal(wide.inputs, narrow.inputs, sizeof wide.inputs);
        assert_memory_equal(wide.gradients, narrow.gradients, sizeof wide.gradients);
        assert_memory_equal(wide.dx, narrow.dx, in * sizeof(real));
        if (both)
            assert_rounded(isa, type, narrow.y, wide.y, stored);
        else
            assert_memory_equal(wide.y, narrow.y, stored * sizeof(real));
        if (n.epilogue != EPILOGUE_NONE)
            assert_memory_equal(wide.from, narrow.from, stored);
        free_passes(&narrow);
    }
    free_passes(&wide);
    free_values(&x);
}

static void batch_norm_reads_and_stores_narrow_and_wide_values(void **state)
{
    static const struct area areas[] = {{2, 3}, {4, 6}, {7, 5}};
    for (int isa = 0; isa <= (int)isa_best_bf16(); isa++)
        for (size_t i = 0; i < sizeof areas / sizeof *areas; i++)
            for (int epilogue = EPILOGUE_NONE; epilogue <= EPILOGUE_RELU_POOL; epilogue++) {
                struct norm norm = {(enum epilogue)epilogue, PRECISION_fp32, PRECISION_fp32,
                                    areas[i], areas[i]};
                if (epilogue == EPILOGUE_RELU_POOL)
                    norm.stored = (struct area){areas[i].h / 2, areas[i].w / 2};
                FOR_EACH_NARROW(type)
                check_norm((enum isa)isa, type, norm);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_codes_are_read),
        cmocka_unit_test(all_numbers_are_rounded_to_the_nearest),
        cmocka_unit_test(convolutions_store_rounded_outputs),
        cmocka_unit_test(first_convolutions_store_rounded_outputs),
        cmocka_unit_test(batch_norm_reads_and_stores_narrow_and_wide_values),
    };
    return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
