/* Products of the sets avx512_bf16 and amx_bf16 against plain C. Every operand must be the
 * full-precision set's number rounded to nearest, bit by bit. A sum of products must be the float
 * sum of rounded operands. If the processor has no tiles, a model multiplies. */
#include "kernels/tests/support.h"

#include "kernels/cast16.h"
#include "kernels/ops/winograd.h"

enum { BLOCK = 32 };

/* Allocates n operands, padded to whole reals. */
static uint16_t *make_operands(size_t n)
{
    uint16_t *x = mem_alloc((n + 1) * sizeof *x);
    assert_non_null(x);
    return x;
}

static void round_all(uint16_t *y, const real *x, size_t n)
{
    cast16_get(ISA_PORTABLE)->bf16.encode(y, x, n, 1);
}

static double value_of(uint16_t code)
{
    real x;
    cast16_get(ISA_PORTABLE)->bf16.decode(&x, &code, 1, 1);
    return (double)x;
}

static uint16_t *random_operands(size_t n, uint64_t seed)
{
    real *x = random_reals(n, seed);
    uint16_t *y = make_operands(n);
    round_all(y, x, n);
    mem_free(x);
    return y;
}

static void skip_where_nothing_rounds(void)
{
    if (winograd_product_for(isa_best_bf16())->pair != NULL)
        return;
    print_message("no products of bf16 here: skipped\n");
    skip();
}

static const struct winograd_product *tested;

/* Runs `check` for each rounding set of this processor, then for the model. */
static void with_every_product(void (*check)(void))
{
#if defined(__x86_64__)
    extern const struct winograd_product winograd_product_amx_model;
    skip_where_nothing_rounds();
    for (int isa = 0; isa <= (int)isa_best_bf16(); isa++) {
        tested = winograd_product_for((enum isa)isa);
        if (tested->pair != NULL)
            check();
    }
    tested = &winograd_product_amx_model;
    check();
#else
    skip_where_nothing_rounds();
#endif
}

/* Returns c0 + the sum of a[i] b[i] in order, in float. *bound: largest difference to another
 * order. Products of two bf16 numbers are exact in a float, except for numbers smaller than any
 * here. k sums are off by at most k half epsilons of the sum of magnitudes, in any order, and the
 * other result by as many. Each run of a sum adds one more. */
static float sum_of(float c0, const uint16_t *a, const uint16_t *b, int k, int run, double *bound)
{
    float sum = c0;
    double sizes = fabs((double)c0);
    for (int i = 0; i < k; i++) {
        double product = value_of(a[i]) * value_of(b[i]);
        sum += (float)product;
        sizes += fabs(product);
    }
    *bound = (k + 1 + (double)(k / run + 1) / 2) * REAL_EPSILON * sizes;
    return sum;
}

static void assert_near(const char *what, int row, int column, real is, float expected,
                        double bound)
{
    if (!(fabs((double)is - (double)expected) <= bound))
        fail_msg("%s (%d, %d): %.9g, expected %.9g to within %.3g", what, row, column, (double)is,
                 (double)expected, bound);
}

/* ---- c [rows, 32] from a [rows, k] b [k, 32] ---- */

static void check_rows(int rows, int k, int run, bool add)
{
    int blocks = blocks_of(k, BLOCK), even = (k + 1) / 2 * 2;
    size_t of_a = (size_t)(blocks * rows * BLOCK), of_b = (size_t)(even * BLOCK);
    uint16_t *a = random_operands(of_a, 1), *b = make_operands(of_b);
    uint16_t *left = make_operands((size_t)k), *right = random_operands((size_t)k * BLOCK, 2);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < BLOCK; j++)
            b[(i / 2 * BLOCK + j) * 2 + i % 2] = right[j * k + i];
    real *c = random_reals((size_t)(rows * BLOCK), 3),
         *before = random_reals((size_t)(rows * BLOCK), 3);
    const real *as = (const real *)(void *)a, *bs = (const real *)(void *)b;
    tested->rows(c, &as, &bs, 1, (size_t)(rows * BLOCK / 2), rows, k, run, add);
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < k; i++)
            left[i] = a[(i / BLOCK * rows + r) * BLOCK + i % BLOCK];
        for (int j = 0; j < BLOCK; j++) {
            double bound;
            float c0 = add ? (float)before[r * BLOCK + j] : 0;
            float expected = sum_of(c0, left, right + j * k, k, run, &bound);
            assert_near("rows", r, j, c[r * BLOCK + j], expected, bound);
        }
    }
    void *all[] = {a, b, left, right, c, before};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

/* Up to three groups of twelve rows, or of tiles. */
static void check_all_rows(void)
{
    static const int ks[] = {1, 2, 3, 31, 32, 33, 64, 97, 289};
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++)
        for (int rows = 1; rows <= 65; rows += rows < 25 ? 1 : 8)
            check_rows(rows, ks[i], rows % 2 ? RUN_F4 : RUN, rows % 3 == 0);
}

static void rows_sum_rounded_operands(void **state)
{
    with_every_product(check_all_rows);
}

/* ---- c [rows, 32] from a [k, rows]' b [k, 32] ---- */

/* Interleaves two rows of a block, number by number; a missing last row is zero. */
static void pair_plainly(uint16_t *to, const uint16_t *from, int rows)
{
    for (int r = 0; r < rows; r += 2)
        for (int i = 0; i < BLOCK; i++, to += 2) {
            to[0] = from[r * BLOCK + i];
            to[1] = r + 1 < rows ? from[(r + 1) * BLOCK + i] : 0;
        }
}

static void check_columns(int rows, int k, bool add)
{
    size_t n = (size_t)(k * BLOCK), paired = (size_t)((k + 1) / 2 * 2 * BLOCK);
    uint16_t *a = random_operands(paired, 4), *b = random_operands(paired, 5);
    uint16_t *a2 = make_operands(paired), *b2 = make_operands(paired),
             *plain = make_operands(paired);
    uint16_t *left = make_operands(n), *right = make_operands(n);
    real *c = random_reals((size_t)(rows * BLOCK), 6),
         *before = random_reals((size_t)(rows * BLOCK), 6);
    memcpy(a2, a, paired * sizeof *a);
    tested->pair((real *)(void *)a2, (const real *)(void *)a2, k);
    tested->pair((real *)(void *)b2, (const real *)(void *)b, k);
    pair_plainly(plain, a, k);
    assert_memory_equal(a2, plain, paired * sizeof *plain);
    pair_plainly(plain, b, k);
    assert_memory_equal(b2, plain, paired * sizeof *plain);
    const real *as = (const real *)(void *)a2, *bs = (const real *)(void *)b2;
    tested->columns(c, &as, &bs, 1, rows, k, add, c);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < BLOCK; j++) {
            double bound;
            for (int i = 0; i < k; i++) {
                left[i] = a[i * BLOCK + r];
                right[i] = b[i * BLOCK + j];
            }
            float c0 = add ? (float)before[r * BLOCK + j] : 0;
            float expected = sum_of(c0, left, right, k, k, &bound);
            assert_near("columns", r, j, c[r * BLOCK + j], expected, bound);
        }
    void *all[] = {a, b, a2, b2, plain, left, right, c, before};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

static void check_all_columns(void)
{
    static const int ks[] = {1, 2, 7, 64, 101};
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++)
        for (int rows = 1; rows <= BLOCK; rows++)
            check_columns(rows, ks[i], rows % 3 == 0);
}

static void columns_sum_rounded_operands(void **state)
{
    with_every_product(check_all_columns);
}

/* ---- Transforms ---- */

/* One convolution before batch norm, for the rounding set and for the full-precision set. */
struct twins {
    struct net_desc desc;
    struct extent read[3];
    struct fused_layers fused;
    struct winograd plain, rounded;
};

static void twins_begin(struct twins *t, struct shape in, int channels)
{
    const struct extent all = {.h = in.h, .w = in.w};
    *t = (struct twins){.read = {all, all, all}};
    begin_net(&t->desc, "one", in, 2);
    add_layer(&t->desc, conv2d_layer(channels, 3, 3, 1, 1));
    add_layer(&t->desc, layer_desc_preset(LAYER_batchnorm2d));
    t->fused = (struct fused_layers){.layers = t->desc.layers,
                                     .n_layers = 2,
                                     .read = t->read,
                                     .plan = PLAN_FAST,
                                     .isa = isa_best()};
    t->plain = winograd_of(&t->fused);
    t->fused.isa = isa_best_bf16();
    t->rounded = winograd_of(&t->fused);
    assert_int_equal(t->plain.kind, t->rounded.kind);
    assert_int_equal(t->plain.block, BLOCK);
}

/* V: [blocks, points, rows, 32]. If rows are odd, the planes of pairs have one more row. */
static void check_inputs(const struct twins *t, int n)
{
    int rows = n * winograd_tiles(&t->plain);
    size_t planes = (size_t)(t->plain.in_blocks * winograd_points(&t->plain));
    size_t plane = (size_t)(rows * BLOCK), padded = 2 * winograd_plane(&t->rounded, rows);
    real *x = random_reals((size_t)n * winograd_in(&t->plain), 7);
    real *v = mem_alloc(planes * plane * sizeof *v), *narrow = mem_alloc(planes * padded * 2);
    uint16_t *expected = make_operands(planes * plane), *blank = make_operands((size_t)rows);
    winograd_tiles_for(isa_best())->input(&t->plain, n, v, blank, x);
    winograd_tiles_for(isa_best_bf16())->input(&t->rounded, n, narrow, blank, x);
    round_all(expected, v, planes * plane);
    for (size_t p = 0; p < planes; p++)
        assert_memory_equal((uint16_t *)(void *)narrow + p * padded, expected + p * plane,
                            plane * sizeof *expected);
    void *all[] = {x, v, narrow, expected, blank};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

typedef void transform_function(const struct winograd *w, int at, int first, int count, real *u,
                                const real *weights);

/* U: [points, rows, 32]; with rounded operands [points, rows/2, 32, 2]. Gaps follow points. */
static void check_panel(const struct twins *t, transform_function *plain,
                        transform_function *rounded, int at, int first, int count)
{
    size_t points = (size_t)winograd_points(&t->plain), plane = (size_t)(count * BLOCK);
    size_t padded = 2 * winograd_plane(&t->rounded, count);
    size_t next = winograd_spread_plane(&t->plain, count),
           next_narrow = 2 * winograd_spread_plane(&t->rounded, count);
    real *weights = random_reals(t->desc.n_params, 8);
    real *u = mem_alloc(points * next * sizeof *u), *narrow = mem_alloc(points * next_narrow * 2);
    uint16_t *expected = make_operands(plane), *paired = make_operands(padded);
    plain(&t->plain, at, first, count, u, weights);
    rounded(&t->rounded, at, first, count, narrow, weights);
    for (size_t p = 0; p < points; p++) {
        round_all(expected, u + p * next, plane);
        pair_plainly(paired, expected, count);
        assert_memory_equal((uint16_t *)(void *)narrow + p * next_narrow, paired,
                            padded * sizeof *paired);
    }
    void *all[] = {weights, u, narrow, expected, paired};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

static void check_panels(const struct twins *t)
{
    const struct winograd_weights *plain = winograd_weights_for(isa_best()),
                                  *rounded = winograd_weights_for(isa_best_bf16());
    int in_c = t->plain.in_c, out_c = t->plain.out_c;
    for (int b = 0; b < t->plain.out_blocks; b++)
        check_panel(t, plain->transform, rounded->transform, b, 0, in_c);
    for (int b = 0; b < t->plain.in_blocks; b++)
        check_panel(t, plain->transform_transposed, rounded->transform_transposed, b, 0, out_c);
    if (in_c > BLOCK)
        check_panel(t, plain->transform, rounded->transform, 0, BLOCK, in_c - BLOCK);
}

static void transforms_are_rounded_to_the_nearest(void **state)
{
    static const struct shape shapes[] = {{3, 8, 8}, {35, 5, 9}, {33, 4, 4}, {64, 6, 6}, {7, 2, 2}};
    skip_where_nothing_rounds();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct twins t;
        twins_begin(&t, shapes[i], (int)(31 + 2 * i));
        for (int n = 1; n <= 3; n++)
            check_inputs(&t, n);
        check_panels(&t);
        net_desc_free(&t.desc);
    }
}

/* Prints a line that ci/run_tests.sh repeats at its end. */
static void print_where_tiles_were_tested(void)
{
    const char *where = "not tested: this processor has no AVX512-BF16";
#if defined(__x86_64__)
    enum isa best = isa_best_bf16();
    if (best == ISA_AMX_BF16)
        where = "tested on the instructions and on their model";
    else if (winograd_product_for(best)->pair != NULL)
        where = "tested on a model of the instructions alone";
#endif
    printf("# tiles of AMX-BF16: %s\n", where);
}

int main(void)
{
    print_where_tiles_were_tested();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_sum_rounded_operands),
        cmocka_unit_test(columns_sum_rounded_operands),
        cmocka_unit_test(transforms_are_rounded_to_the_nearest),
    };
    return cmocka_run_group_tests_name("bf16", tests, NULL, NULL);
}
