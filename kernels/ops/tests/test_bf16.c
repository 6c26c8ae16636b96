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

/* Rearranges rows of a block as `turn` does, number by number. */
static void turn_plainly(uint16_t *to, const uint16_t *from, int rows)
{
    int depth = tested->depth;
    if (depth == 2) {
        pair_plainly(to, from, rows);
        return;
    }
    for (int r = 0; r < (rows + depth - 1) / depth * depth; r++)
        for (int i = 0; i < BLOCK; i++)
            to[(r / depth * BLOCK + i) * depth + r % depth] = r < rows ? from[r * BLOCK + i] : 0;
}

static void check_columns(int rows, int k, bool add)
{
    size_t n = (size_t)(k * BLOCK), paired = (size_t)((k + 1) / 2 * 2 * BLOCK);
    size_t turned = (size_t)((k + tested->depth - 1) / tested->depth * tested->depth * BLOCK);
    uint16_t *a = random_operands(paired, 4), *b = random_operands(paired, 5);
    uint16_t *a2 = make_operands(turned), *b2 = make_operands(paired),
             *plain = make_operands(turned);
    uint16_t *left = make_operands(n), *right = make_operands(n);
    real *c = random_reals((size_t)(rows * BLOCK), 6),
         *before = random_reals((size_t)(rows * BLOCK), 6);
    memcpy(a2, a, paired * sizeof *a);
    tested->turn((real *)(void *)a2, (const real *)(void *)a2, k);
    tested->pair((real *)(void *)b2, (const real *)(void *)b, k);
    turn_plainly(plain, a, k);
    assert_memory_equal(a2, plain, turned * sizeof *plain);
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

/* ---- Direct 3x3 convolution: `row` and `taps` ---- */

/* A convolution of n images of `in` channels to one block of output channels. */
struct direct {
    int h, w, out_h, out_w;     /* areas of x and of y */
    int pad, n, in, in_blocks;  /* in_blocks: number of blocks of input channels */
    int padded;                 /* n, padded to a multiple of tested->depth */
    uint16_t *x, *dy, *weights; /* x [in_blocks, h, w, padded, BLOCK], dy [out_h, out_w, padded,
                                 * BLOCK], weights [9, in, BLOCK] */
};

static struct direct direct_begin(int h, int w, int pad, int n, int in)
{
    struct direct d = {.h = h, .w = w, .pad = pad, .n = n, .in = in};
    d.out_h = h + 2 * pad - 2;
    d.out_w = w + 2 * pad - 2;
    d.in_blocks = blocks_of(in, BLOCK);
    d.padded = (n + tested->depth - 1) / tested->depth * tested->depth;
    d.x = random_operands((size_t)(d.in_blocks * h * w * d.padded * BLOCK), 10);
    d.dy = random_operands((size_t)(d.out_h * d.out_w * d.padded * BLOCK), 11);
    d.weights = random_operands((size_t)(9 * in * BLOCK), 12);
    for (int p = 0; p < d.in_blocks * h * w; p++)
        for (int i = 0; i < d.padded; i++)
            for (int c = 0; c < BLOCK; c++)
                if (p / (h * w) * BLOCK + c >= in)
                    d.x[(p * d.padded + i) * BLOCK + c] = 0;
    return d;
}

static void direct_end(struct direct *d)
{
    mem_free(d->x);
    mem_free(d->dy);
    mem_free(d->weights);
}

/* Returns the operand of x in channel c at (row, column) of an image, or NULL in padding. */
static const uint16_t *input_at(const struct direct *d, int c, int row, int column, int image)
{
    if (row < 0 || row >= d->h || column < 0 || column >= d->w)
        return NULL;
    int p = (c / BLOCK * d->h + row) * d->w + column;
    return d->x + (p * d->padded + image) * BLOCK + c % BLOCK;
}

/* Lists the products a[k] b[k] that add up to output o of position (i, j) of an image: an input
 * times a weight. Returns their number. */
static int factors_of_output(const struct direct *d, int i, int j, int image, int o, uint16_t *a,
                             uint16_t *b)
{
    int k = 0;
    for (int t = 0; t < 9; t++)
        for (int c = 0; c < d->in; c++) {
            const uint16_t *x = input_at(d, c, i - d->pad + t / 3, j - d->pad + t % 3, image);
            if (x == NULL)
                continue;
            a[k] = *x;
            b[k++] = d->weights[(t * d->in + c) * BLOCK + o];
        }
    return k;
}

static void check_row(const struct direct *d, int i)
{
    size_t plane = (size_t)(d->padded * BLOCK / 2), steps = (size_t)((d->in + 1) / 2);
    uint16_t *panel = make_operands(9 * steps * 2 * BLOCK);
    uint16_t *a = make_operands((size_t)(9 * d->in)), *b = make_operands((size_t)(9 * d->in));
    real *c = random_reals((size_t)(d->out_w * d->n * BLOCK), 13);
    struct direct_rows r = {.columns = d->out_w,
                            .in_columns = d->w,
                            .origin = -d->pad,
                            .plane = plane,
                            .tap = (ptrdiff_t)(steps * BLOCK),
                            .in_block = (size_t)(d->h * d->w) * plane};
    for (int t = 0; t < 9; t++)
        pair_plainly(panel + (size_t)t * steps * 2 * BLOCK, d->weights + t * d->in * BLOCK, d->in);
    for (int t = 0; t < 3; t++)
        if (i - d->pad + t >= 0 && i - d->pad + t < d->h) {
            r.in[r.lines] =
                (const real *)(const void *)d->x + (size_t)((i - d->pad + t) * d->w) * plane;
            r.panel[r.lines++] =
                (const real *)(const void *)panel + (size_t)(3 * t) * steps * BLOCK;
        }
    tested->row(c, &r, d->n, d->in);
    for (int at = 0; at < d->out_w * d->n * BLOCK; at++) {
        int j = at / (d->n * BLOCK), image = at / BLOCK % d->n, o = at % BLOCK;
        double bound;
        int k = factors_of_output(d, i, j, image, o, a, b);
        float expected = sum_of(0, a, b, k, k > 0 ? k : 1, &bound);
        assert_near("row", j * d->n + image, o, c[at], expected, bound);
    }
    void *all[] = {panel, a, b, c};
    for (size_t f = 0; f < sizeof all / sizeof *all; f++)
        mem_free(all[f]);
}

/* Computes c [9, channels, BLOCK], or adds to it, from turned inputs x and paired gradients dy. */
static void run_taps(const struct direct *d, real *c, const uint16_t *x, const uint16_t *dy,
                     int channels, bool add)
{
    size_t plane = (size_t)(d->padded * BLOCK / 2), tap = (size_t)(channels * BLOCK);
    for (int t = 0; t < 3; t++) {
        int from = t - d->pad, first = from < 0 ? -from : 0;
        int last = d->h - from < d->out_h ? d->h - from : d->out_h;
        struct direct_rows r = {.columns = d->out_w,
                                .in_columns = d->w,
                                .origin = -d->pad,
                                .plane = plane,
                                .tap = (ptrdiff_t)tap,
                                .lines = last - first};
        r.in[0] = (const real *)(const void *)x + (size_t)((from + first) * d->w) * plane;
        r.out = (const real *)(const void *)dy + (size_t)(first * d->out_w) * plane;
        tested->taps(c + 3 * (size_t)t * tap, &r, channels, d->n, add);
    }
}

/* Lists the products a[k] b[k] that add up to the gradient of weight (t, channel, o): an input
 * times an output gradient. Returns their number. */
static int factors_of_weight(const struct direct *d, int t, int channel, int o, uint16_t *a,
                             uint16_t *b)
{
    int k = 0;
    for (int p = 0; p < d->out_h * d->out_w; p++)
        for (int image = 0; image < d->n; image++) {
            const uint16_t *in = input_at(d, channel, p / d->out_w - d->pad + t / 3,
                                          p % d->out_w - d->pad + t % 3, image);
            if (in == NULL)
                continue;
            a[k] = *in;
            b[k++] = d->dy[(p * d->padded + image) * BLOCK + o];
        }
    return k;
}

/* Checks the gradients of the weights of block `block` of x, for all taps. */
static void check_taps(const struct direct *d, int block, bool add)
{
    size_t plane = (size_t)(d->padded * BLOCK), area = (size_t)(d->h * d->w);
    size_t positions = (size_t)(d->out_h * d->out_w), terms = positions * (size_t)d->n;
    uint16_t *x = make_operands(area * plane), *dy = make_operands(positions * plane);
    uint16_t *a = make_operands(terms), *b = make_operands(terms);
    int left = d->in - block * BLOCK, channels = left < BLOCK ? left : BLOCK;
    size_t all = (size_t)(9 * channels * BLOCK);
    real *c = random_reals(all, 14), *before = random_reals(all, 14);
    memset(dy, 0, positions * plane * sizeof *dy);
    for (size_t p = 0; p < area; p++)
        turn_plainly(x + p * plane, d->x + ((size_t)block * area + p) * plane, d->n);
    for (size_t p = 0; p < positions; p++)
        pair_plainly(dy + p * plane, d->dy + p * plane, d->n);
    run_taps(d, c, x, dy, channels, add);
    for (int at = 0; at < (int)all; at++) {
        int t = at / (channels * BLOCK), channel = at / BLOCK % channels;
        int k = factors_of_weight(d, t, block * BLOCK + channel, at % BLOCK, a, b);
        double bound;
        float expected = sum_of(add ? (float)before[at] : 0, a, b, k, k > 0 ? k : 1, &bound);
        assert_near("taps", t, at, c[at], expected, bound);
    }
    void *memory[] = {x, dy, a, b, c, before};
    for (size_t f = 0; f < sizeof memory / sizeof *memory; f++)
        mem_free(memory[f]);
}

static void check_direct(void)
{
    static const struct {
        int h, w, pad, n, in;
    } cases[] = {{1, 1, 1, 1, 3},  {2, 2, 1, 33, 32}, {3, 4, 1, 16, 33}, {4, 3, 0, 5, 64},
                 {5, 5, 1, 2, 40}, {4, 6, 0, 17, 20}, {3, 7, 2, 3, 9},   {2, 8, 1, 40, 65}};
    if (tested->row == NULL)
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct direct d =
            direct_begin(cases[i].h, cases[i].w, cases[i].pad, cases[i].n, cases[i].in);
        for (int row = 0; row < d.out_h; row++)
            check_row(&d, row);
        for (int b = 0; b < d.in_blocks; b++)
            check_taps(&d, b, b % 2 == 0);
        direct_end(&d);
    }
}

/* Tests `row` and `taps`, which only products with AMX tiles and their model have. */
static void direct_rows_sum_rounded_operands(void **state)
{
    with_every_product(check_direct);
}

/* ---- Transforms ---- */

/* One convolution before batch norm, for the rounding set and for the full-precision set. */
struct twins {
    struct net_desc desc;
    struct extent read[3];
    struct fused_layers fused;
    struct winograd plain, rounded;
};

static void twins_begin(struct twins *t, struct shape in, int channels, enum kernel_choice choice)
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
                                     .choice = choice,
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
        twins_begin(&t, shapes[i], (int)(31 + 2 * i), CHOICE_shape);
        for (int n = 1; n <= 3; n++)
            check_inputs(&t, n);
        check_panels(&t);
        net_desc_free(&t.desc);
        twins_begin(&t, shapes[i], (int)(31 + 2 * i), CHOICE_direct);
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
        cmocka_unit_test(direct_rows_sum_rounded_operands),
        cmocka_unit_test(transforms_are_rounded_to_the_nearest),
    };
    return cmocka_run_group_tests_name("bf16", tests, NULL, NULL);
}
