/* Winograd's F(2, 5) of small convolutions against direct sums, with every instruction set, odd
 * shapes and group sizes of channels.
 *
 * The bound is derived. An output is a sum over channels, rows and points that the algorithm
 * computes in another order than the reference. Its error is at most the roundings on the path of
 * one term, times epsilon, times the sum of absolute values of all terms. The path has a sum of 5
 * in_c products and PATH more roundings. The maximum of a pooling window lies between the maxima of
 * the lower and of the upper bounds. */
#include "kernels/ops/op_small_conv.h"
#include "kernels/simd_tables.h"
#include "kernels/tests/support.h"

#define KERNEL 5
#define POINTS SMALL_CONV_POINTS
/* Roundings of one term besides the sum of products. 5 are in the transform of weights, 4 of
 * inputs, 1 in the product, 4 in the transform back, 1 in the bias. 1 is for the bound itself,
 * which is computed in double. */
#define PATH 16

SIMD_DECLARE(struct small_conv_winograd_functions, small_conv_winograd)

/* Transforms of weights, inputs and sums, at 0, 1, -1, 2, -2 and infinity. */
static const double of_weights[POINTS][KERNEL] = {
    {1 / 4., 0, 0, 0, 0},
    {-1 / 6., -1 / 6., -1 / 6., -1 / 6., -1 / 6.},
    {-1 / 6., 1 / 6., -1 / 6., 1 / 6., -1 / 6.},
    {1 / 24., 2 / 24., 4 / 24., 8 / 24., 16 / 24.},
    {1 / 24., -2 / 24., 4 / 24., -8 / 24., 16 / 24.},
    {0, 0, 0, 0, 1},
};
static const double of_numbers[POINTS][POINTS] = {
    {4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
    {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1},
};
static const double of_sums[2][POINTS] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 1}};

struct shape_case {
    struct shape input;
    int channels;
};

static const struct shape_case shape_cases[] = {
    {{10, 12, 12}, 20}, {{5, 12, 13}, 1}, {{7, 14, 30}, 7}, {{6, 11, 6}, 3},
    {{16, 13, 12}, 5},  {{5, 6, 6}, 2},   {{9, 12, 12}, 4}, {{6, 9, 41}, 13},
};

enum { CASES = sizeof shape_cases / sizeof *shape_cases };

struct setup {
    struct net_desc desc;
    struct small_conv c;
    real *x, *weights, *bias;
};

static void setup_begin(struct setup *r, const struct shape_case *s, enum isa isa)
{
    begin_net(&r->desc, "case", s->input, 2);
    add_layer(&r->desc, conv2d_layer(s->channels, KERNEL, KERNEL, 1, 0));
    add_layer(&r->desc, maxpool2d_layer(2, 2, 2));
    const struct fused_layers fused = {.layers = r->desc.layers, .n_layers = 2, .isa = isa};
    r->c = small_conv_shape(&fused);
    r->x = random_reals(image_reals(&r->c) + 2 * SMALL_CONV_PAD, 1);
    r->weights = random_reals(weights_of(&r->c), 2);
    r->bias = random_reals(r->c.out_c, 3);
}

static void setup_end(struct setup *r)
{
    net_desc_free(&r->desc);
    mem_free(r->x);
    mem_free(r->weights);
    mem_free(r->bias);
}

/* Computes one output and the bound of its error in epsilons. The bound is 0 if all inputs of the
 * output are zero. */
static void one_output(const struct setup *r, size_t o, size_t row, size_t column, double *y,
                       double *bound)
{
    const struct small_conv *c = &r->c;
    long double sum = r->bias[o];
    bool blank = true;
    *bound = fabs((double)r->bias[o]);
    for (size_t channel = 0; channel < c->in_c; channel++)
        for (size_t u = 0; u < KERNEL; u++) {
            const real *g = r->weights + ((o * c->in_c + channel) * KERNEL + u) * KERNEL;
            const real *x = r->x + (channel * c->in_h + row + u) * c->in_w;
            for (size_t v = 0; v < KERNEL; v++) {
                sum += (long double)g[v] * (long double)x[column + v];
                blank = blank && x[column + v] == 0;
            }
            for (size_t point = 0; point < POINTS; point++) {
                double weight = 0, number = 0;
                for (size_t v = 0; v < KERNEL; v++)
                    weight += fabs(of_weights[point][v] * (double)g[v]);
                for (size_t v = 0; v < POINTS; v++)
                    number += fabs(of_numbers[point][v] * (double)x[column / 2 * 2 + v]);
                *bound += fabs(of_sums[column % 2][point]) * weight * number;
            }
        }
    *y = (double)sum;
    if (blank)
        *bound = 0;
}

static void assert_pooled(const struct setup *r, size_t o, size_t row, size_t column, real got)
{
    double low = -(double)INFINITY, high = low, largest = low, most = 0;
    for (size_t place = 0; place < 4; place++) {
        double y, bound;
        one_output(r, o, 2 * row + place / 2, 2 * column + place % 2, &y, &bound);
        bound *= (double)(KERNEL * r->c.in_c + PATH) * REAL_EPSILON;
        largest = fmax(largest, y);
        low = fmax(low, y - bound);
        high = fmax(high, y + bound);
        most = fmax(most, bound);
    }
    if (!((double)got >= low && (double)got <= high))
        fail_msg(
            "%zu channels of %zu x %zu: output %zu at (%zu, %zu) is %g instead of %g, bound %g",
            r->c.in_c, r->c.in_h, r->c.in_w, o, row, column, (double)got, largest, most);
}

static void check(const struct setup *r, enum isa isa, size_t n_kept)
{
    const struct small_conv *c = &r->c;
    const struct small_conv_winograd_functions *f = small_conv_winograd_for(isa);
    size_t pooled = c->pooled_h * c->pooled_w;
    real *points = mem_alloc(points_of(c) * sizeof *points);
    real *y = mem_alloc(c->out_c * pooled * sizeof *y);
    struct small_conv_marks *marks = mem_alloc(c->out_c * c->vectors * sizeof *marks);
    struct small_conv_forward_work w = {
        .x = r->x, .planes = mem_alloc(c->in_c * 2 * (KERNEL + 1) * c->plane * sizeof(real))};
    uint16_t kept[SMALL_CONV_CHANNELS_MAX];
    for (size_t i = 0; i < n_kept; i++)
        kept[i] = (uint16_t)i;
    const struct small_conv_output out = {
        .y = y, .marks = marks, .kept = kept, .n_kept = n_kept, .scale = 1};
    f->transform_weights(points, r->weights, points_of(c) / POINTS);
    f->forward(c, &w, points, r->bias, &out);
    for (size_t i = 0; i < n_kept * pooled; i++)
        assert_pooled(r, i / pooled, i % pooled / c->pooled_w, i % c->pooled_w, y[i]);
    mem_free(points);
    mem_free(y);
    mem_free(marks);
    mem_free(w.planes);
}

static void every_set_is_within_the_bound(void **state)
{
    for (int i = 0; i < CASES; i++)
        for (int isa = 0; isa <= (int)isa_best(); isa++) {
            struct setup r;
            setup_begin(&r, &shape_cases[i], (enum isa)isa);
            check(&r, (enum isa)isa, r.c.out_c);
            setup_end(&r);
        }
}

/* Most columns of most rows are blank, in all patterns. */
static void outputs_of_zero_inputs_equal_the_bias(void **state)
{
    for (int i = 0; i < CASES; i++)
        for (int isa = 0; isa <= (int)isa_best(); isa++) {
            struct setup r;
            setup_begin(&r, &shape_cases[i], (enum isa)isa);
            size_t plane = r.c.in_h * r.c.in_w;
            for (size_t at = 0; at < r.c.in_c * plane; at++)
                if (rng_word(9, 99, 0, 0, (uint32_t)(at % plane)) % 32 != 0)
                    r.x[at] = 0;
            check(&r, (enum isa)isa, r.c.out_c);
            setup_end(&r);
        }
}

/* Channels are computed in groups of up to six. */
static void every_number_of_channels_is_within_the_bound(void **state)
{
    for (int isa = 0; isa <= (int)isa_best(); isa++) {
        struct setup r;
        setup_begin(&r, &shape_cases[0], (enum isa)isa);
        for (size_t n = 0; n <= 13; n++)
            check(&r, (enum isa)isa, n);
        setup_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_is_within_the_bound),
        cmocka_unit_test(outputs_of_zero_inputs_equal_the_bias),
        cmocka_unit_test(every_number_of_channels_is_within_the_bound),
    };
    return cmocka_run_group_tests_name("small winograd", tests, NULL, NULL);
}
