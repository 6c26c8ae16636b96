/* Layers against their references, against finite differences, and against repeated runs. */
#include "kernels/tests/layer_bench.h"

#include <pthread.h>

/* Difficult shapes: one channel or image, primes, strides that do not divide. Padding beyond half
 * the kernel, kernels as large as the input, batches of several chunks. */
struct shape_case {
    struct shape in;
    struct layer_desc layer;
    int n;
};

enum { CONV_CASES = 12, DENSE_CASES = 5 };

static void conv_cases(struct shape_case cases[CONV_CASES])
{
    const struct shape_case list[CONV_CASES] = {
        {{1, 1, 1}, conv2d_layer(1, 1, 1, 1, 0), 1},
        {{1, 5, 5}, conv2d_layer(1, 3, 3, 1, 0), 1},
        {{1, 13, 11}, conv2d_layer(7, 5, 3, 1, 0), 7},
        {{3, 7, 7}, conv2d_layer(5, 3, 3, 2, 0), 7},
        {{3, 7, 6}, conv2d_layer(5, 3, 3, 2, 1), 3},
        {{2, 5, 5}, conv2d_layer(3, 3, 3, 1, 2), 4},
        {{2, 3, 4}, conv2d_layer(3, 5, 5, 1, 4), 2},
        {{2, 4, 4}, conv2d_layer(3, 4, 4, 1, 0), 5},
        {{5, 6, 6}, conv2d_layer(11, 1, 1, 1, 0), 3},
        {{4, 9, 9}, conv2d_layer(6, 2, 3, 3, 1), 2},
        {{1, 2, 2}, conv2d_layer(2, 5, 5, 3, 4), 3},
        {{8, 16, 16}, conv2d_layer(16, 3, 3, 1, 1), 25},
    };
    memcpy(cases, list, sizeof list);
}

static void dense_cases(struct shape_case cases[DENSE_CASES])
{
    const struct shape_case list[DENSE_CASES] = {
        {{1, 1, 1}, dense_layer(1), 1},    {{13, 1, 1}, dense_layer(7), 1},
        {{3, 5, 7}, dense_layer(11), 7},   {{97, 1, 1}, dense_layer(101), 3},
        {{2, 3, 3}, dense_layer(300), 40},
    };
    memcpy(cases, list, sizeof list);
}

/* Two sums of the same k products in different orders differ by at most (k + 2) epsilon times the
 * sum of absolute products. Each is off by (k + 2) unit roundoffs, half an epsilon, to first order.
 * One more covers higher orders and the rounding of the bound. */
static void assert_same_sums(const char *what, const real *a, const real *b, const real *absolute,
                             size_t n, double k)
{
    for (size_t i = 0; i < n; i++) {
        double bound = (k + 3) * REAL_EPSILON * (double)absolute[i];
        if (!(fabs((double)a[i] - (double)b[i]) <= bound))
            fail_msg("%s[%zu]: %.17g and %.17g differ by more than %.3g", what, i, (double)a[i],
                     (double)b[i], bound);
    }
}

static void make_absolute(real **values, size_t n)
{
    real *a = absolute_reals(*values, n);
    mem_free(*values);
    *values = a;
}

/* Runs the reference on |x|, |w|, |dy|: sums of absolute products. */
static void run_absolute(struct bench *b, const struct shape_case *c)
{
    bench_begin(b, c->in, c->layer, PLAN_REFERENCE, c->n, 1);
    make_absolute(&b->x, b->in);
    make_absolute(&b->dy, b->out);
    make_absolute(&b->weights, b->params);
    bench_forward(b);
    bench_backward(b);
}

static void compare_plans(const struct shape_case *c, int threads)
{
    struct bench reference, fast, absolute;
    run_absolute(&absolute, c);
    bench_begin(&reference, c->in, c->layer, PLAN_REFERENCE, c->n, 1);
    bench_begin(&fast, c->in, c->layer, PLAN_FAST, c->n, threads);
    bench_forward(&reference);
    bench_backward(&reference);
    bench_forward(&fast);
    bench_backward(&fast);

    const struct layer_desc *l = fast.layer;
    double window = l->kernel_h > 0 ? (double)l->kernel_h * l->kernel_w : 1;
    double k_forward = (fast.params ? (double)fast.desc.tensors[0].fan_in : window) + 1;
    double k_params = (double)c->n * l->out.h * l->out.w;
    assert_same_sums("y", fast.y, reference.y, absolute.y, fast.out, k_forward);
    assert_same_sums("dx", fast.dx, reference.dx, absolute.dx, fast.in, l->out.c * window + 1);
    assert_same_sums("dw", fast.dweights, reference.dweights, absolute.dweights, fast.params,
                     k_params);
    bench_end(&absolute);
    bench_end(&reference);
    bench_end(&fast);
}

static void fast_conv2d_equals_the_reference(void **state)
{
    struct shape_case cases[CONV_CASES];
    conv_cases(cases);
    for (int i = 0; i < CONV_CASES; i++) {
        compare_plans(&cases[i], 1);
        compare_plans(&cases[i], 3);
    }
}

static void fast_dense_equals_the_reference(void **state)
{
    struct shape_case cases[DENSE_CASES];
    dense_cases(cases);
    for (int i = 0; i < DENSE_CASES; i++) {
        compare_plans(&cases[i], 1);
        compare_plans(&cases[i], 3);
    }
}

/* Large enough for tiles along both sides of the weight matrix. */
static void tiled_dense_equals_the_reference(void **state)
{
    const struct shape_case wide = {{3001, 1, 1}, dense_layer(307), 37};
    const struct shape_case tall = {{307, 1, 1}, dense_layer(3001), 37};
    compare_plans(&wide, 1);
    compare_plans(&tall, 1);
}

enum { POOL_CASES = 9 };

/* Shapes for pooling: the padding is at most half of the window. */
static void pool_cases(struct shape_case cases[POOL_CASES], enum layer_kind kind)
{
    const struct shape_case list[POOL_CASES] = {
        {{1, 1, 1}, pool_layer(kind, 1, 1, 2, 0), 1},
        {{1, 5, 7}, pool_layer(kind, 2, 2, 0, 0), 1},
        {{3, 13, 11}, pool_layer(kind, 3, 3, 2, 1), 7},
        {{2, 7, 7}, pool_layer(kind, 3, 2, 1, 1), 3},
        {{5, 4, 6}, pool_layer(kind, 4, 6, 0, 0), 2},
        {{1, 1, 1}, pool_layer(kind, 3, 3, 1, 1), 5},
        {{2, 2, 3}, pool_layer(kind, 5, 5, 3, 2), 2},
        {{7, 9, 17}, pool_layer(kind, 2, 3, 4, 1), 3},
        {{16, 16, 16}, pool_layer(kind, 2, 2, 0, 1), 11},
    };
    memcpy(cases, list, sizeof list);
}

static void fast_maxpool2d_equals_the_reference(void **state)
{
    struct shape_case cases[POOL_CASES];
    pool_cases(cases, LAYER_maxpool2d);
    for (int i = 0; i < POOL_CASES; i++) {
        const struct shape_case *c = &cases[i];
        struct bench reference, fast;
        bench_begin(&reference, c->in, c->layer, PLAN_REFERENCE, c->n, 1);
        bench_begin(&fast, c->in, c->layer, PLAN_FAST, c->n, 3);
        for (size_t j = 0; j < fast.in; j++) /* few distinct values, so many ties */
            fast.x[j] = reference.x[j] = (real)(int)(fast.x[j] * 4);
        bench_forward(&reference);
        bench_backward(&reference);
        bench_forward(&fast);
        bench_backward(&fast);
        assert_memory_equal(fast.y, reference.y, fast.out * sizeof(real));
        assert_memory_equal(fast.dx, reference.dx, fast.in * sizeof(real));
        bench_end(&reference);
        bench_end(&fast);
    }
}

static void fast_avgpool2d_equals_the_reference(void **state)
{
    struct shape_case cases[POOL_CASES];
    pool_cases(cases, LAYER_avgpool2d);
    for (int i = 0; i < POOL_CASES; i++) {
        compare_plans(&cases[i], 1);
        compare_plans(&cases[i], 3);
    }
}

/* Two runs give the same bits. */
static void assert_repeatable(const struct shape_case *c)
{
    struct bench a, b;
    bench_begin(&a, c->in, c->layer, PLAN_FAST, c->n, 3);
    bench_begin(&b, c->in, c->layer, PLAN_FAST, c->n, 3);
    bench_forward(&a);
    bench_backward(&a);
    bench_forward(&b);
    bench_backward(&b);
    assert_memory_equal(a.y, b.y, a.out * sizeof(real));
    assert_memory_equal(a.dx, b.dx, a.in * sizeof(real));
    assert_memory_equal(a.dweights, b.dweights, a.params * sizeof(real));
    bench_end(&a);
    bench_end(&b);
}

static void three_threads_are_repeatable_bit_by_bit(void **state)
{
    struct shape_case conv[CONV_CASES], dense[DENSE_CASES];
    conv_cases(conv);
    dense_cases(dense);
    for (int i = 0; i < CONV_CASES; i++)
        assert_repeatable(&conv[i]);
    for (int i = 0; i < DENSE_CASES; i++)
        assert_repeatable(&dense[i]);
}

/* With ex->accumulate, gradients are added to the old values. */
static void check_accumulate(const struct shape_case *c, enum plan plan, int threads)
{
    struct bench once, added, absolute;
    run_absolute(&absolute, c);
    bench_begin(&once, c->in, c->layer, plan, c->n, threads);
    bench_begin(&added, c->in, c->layer, plan, c->n, threads);
    bench_forward(&once);
    bench_backward(&once);
    real *before = random_reals(added.params, 6); /* as set by bench_begin */
    added.ex.accumulate = true;
    bench_forward(&added);
    bench_backward(&added);
    for (size_t i = 0; i < added.params; i++) {
        before[i] += once.dweights[i];
        absolute.dweights[i] += 1; /* adds the largest old value to the bound */
    }
    double k = (double)c->n * once.layer->out.h * once.layer->out.w + 1;
    assert_same_sums("dw", added.dweights, before, absolute.dweights, added.params, k);
    mem_free(before);
    bench_end(&once);
    bench_end(&added);
    bench_end(&absolute);
}

static void accumulate_adds_to_gradients(void **state)
{
    const struct shape_case conv = {{3, 7, 7}, conv2d_layer(5, 3, 3, 2, 1), 7};
    const struct shape_case dense = {{13, 1, 1}, dense_layer(7), 7};
    for (int threads = 1; threads <= 3; threads += 2) {
        check_accumulate(&conv, PLAN_REFERENCE, threads);
        check_accumulate(&conv, PLAN_FAST, threads);
        check_accumulate(&dense, PLAN_REFERENCE, threads);
        check_accumulate(&dense, PLAN_FAST, threads);
    }
}

/* A first layer computes no dx, and gets the same weight gradient. */
static void dx_is_optional(void **state)
{
    const struct layer_desc layers[] = {
        conv2d_layer(5, 3, 3, 1, 1),   dense_layer(4),
        maxpool2d_layer(2, 2, 0),      pool_layer(LAYER_avgpool2d, 3, 3, 1, 1),
        layer_desc_preset(LAYER_relu), dropout_layer(LAYER_dropout, 0.5)};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
            struct bench with, without;
            bench_begin(&with, (struct shape){2, 6, 6}, layers[i], (enum plan)plan, 3, 1);
            bench_begin(&without, (struct shape){2, 6, 6}, layers[i], (enum plan)plan, 3, 1);
            mem_free(without.dx);
            without.dx = NULL;
            bench_forward(&with);
            bench_backward(&with);
            bench_forward(&without);
            bench_backward(&without);
            assert_memory_equal(with.dweights, without.dweights, with.params * sizeof(real));
            bench_end(&with);
            bench_end(&without);
        }
    }
}

#ifdef SCALEBENCH_F64
#define DIFFERENCE 0x1p-10

static double weighted_output(struct bench *b)
{
    double sum = 0;
    bench_forward(b);
    for (size_t i = 0; i < b->out; i++)
        sum += (double)b->dy[i] * (double)b->y[i];
    return sum;
}

/* Every layer is linear between its kinks, so the central difference of sum(dy y) has no truncation
 * error. Inputs are kept away from kinks. Rounding: each of the two sums is off by at most (terms)
 * epsilon sum|dy||y|. */
static void check_differences(struct bench *b, real *values, const real *gradient, size_t n,
                              double absolute_sum, double k)
{
    const double h = DIFFERENCE;
    double bound = (k + (double)b->out + 3) * REAL_EPSILON * absolute_sum / h;
    assert_true(bound < 1e-6); /* a larger bound would test nothing */
    for (size_t i = 0; i < n; i++) {
        real kept = values[i];
        values[i] = kept + h;
        double above = weighted_output(b);
        values[i] = kept - h;
        double below = weighted_output(b);
        values[i] = kept;
        double difference = (above - below) / (2 * h);
        if (!(fabs(difference - gradient[i]) <= bound))
            fail_msg("%s, element %zu of %zu: gradient %.12g, difference %.12g, bound %.3g",
                     layer_names()[b->layer->kind], i, n, gradient[i], difference, bound);
    }
}

/* Distinct numbers in scrambled order, at least 1/128 from each other and from 0. */
static void spread_inputs(struct bench *b)
{
    uint32_t order[512];
    assert_true(b->in <= 512);
    rng_permutation(order, (uint32_t)b->in, 5, 98, 0);
    for (size_t i = 0; i < b->in; i++)
        b->x[i] = ((double)order[i] - (double)(b->in / 2) + 0.5) / 64;
}

/* Returns sum |dy| (output for |x| and |w|, each slightly larger than its maximum). */
static double absolute_output(struct shape in, struct layer_desc layer, int n,
                              const struct bench *b)
{
    struct bench a;
    bench_begin(&a, in, layer, PLAN_REFERENCE, n, 1);
    for (size_t i = 0; i < a.in; i++)
        a.x[i] = fabs(b->x[i]) + DIFFERENCE;
    for (size_t i = 0; i < a.params; i++)
        a.weights[i] = fabs(b->weights[i]) + DIFFERENCE;
    make_absolute(&a.dy, a.out);
    double sum = weighted_output(&a);
    bench_end(&a);
    return sum;
}

static void check_gradients(struct shape in, struct layer_desc layer, int n, enum plan plan,
                            int threads)
{
    struct bench b;
    bench_begin(&b, in, layer, plan, n, threads);
    spread_inputs(&b);
    bench_forward(&b);
    bench_backward(&b);
    double absolute = absolute_output(in, layer, n, &b);
    double window = (double)b.layer->kernel_h * b.layer->kernel_w;
    double k = 1 + (b.params ? (double)b.desc.tensors[0].fan_in : window);
    check_differences(&b, b.x, b.dx, b.in, absolute, k);
    check_differences(&b, b.weights, b.dweights, b.params, absolute, k);
    bench_end(&b);
}

static void gradients_are_finite_differences(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            enum plan p = (enum plan)plan;
            struct shape in = {2, 5, 7};
            check_gradients(in, conv2d_layer(3, 3, 3, 1, 0), 2, p, threads);
            check_gradients(in, conv2d_layer(3, 3, 2, 2, 1), 2, p, threads);
            check_gradients(in, conv2d_layer(2, 5, 5, 3, 4), 3, p, threads);
            check_gradients(in, dense_layer(5), 3, p, threads);
            check_gradients(in, maxpool2d_layer(2, 2, 0), 3, p, threads);
            check_gradients(in, maxpool2d_layer(3, 2, 1), 3, p, threads);
            check_gradients(in, pool_layer(LAYER_maxpool2d, 3, 3, 2, 1), 3, p, threads);
            check_gradients(in, pool_layer(LAYER_avgpool2d, 2, 2, 0, 0), 3, p, threads);
            check_gradients(in, pool_layer(LAYER_avgpool2d, 3, 4, 2, 1), 3, p, threads);
            check_gradients(in, layer_desc_preset(LAYER_relu), 3, p, threads);
            check_gradients(in, dropout_layer(LAYER_dropout, 0.4), 3, p, threads);
            check_gradients(in, dropout_layer(LAYER_dropout2d, 0.4), 3, p, threads);
        }
    }
}
#endif

struct poll_count {
    pthread_t caller;
    int calls, by_others;
};

static void count_poll(void *arg)
{
    struct poll_count *count = arg;
    count->calls++;
    count->by_others += !pthread_equal(pthread_self(), count->caller);
}

/* Every kernel polls, only from the calling thread, and polling changes no bit. */
static void only_the_caller_polls(void **state)
{
    const struct layer_desc layers[] = {
        conv2d_layer(4, 3, 3, 1, 1),        dense_layer(9),
        maxpool2d_layer(2, 2, 0),           pool_layer(LAYER_avgpool2d, 2, 2, 0, 0),
        layer_desc_preset(LAYER_relu),      dropout_layer(LAYER_dropout, 0.5),
        dropout_layer(LAYER_dropout2d, 0.5)};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
            struct bench quiet, polled;
            struct poll_count count = {.caller = pthread_self()};
            bench_begin(&quiet, (struct shape){2, 6, 6}, layers[i], (enum plan)plan, 7, 3);
            bench_begin(&polled, (struct shape){2, 6, 6}, layers[i], (enum plan)plan, 7, 3);
            polled.ex.poll = count_poll;
            polled.ex.poll_arg = &count;
            bench_forward(&quiet);
            bench_forward(&polled);
            assert_true(count.calls >= 1);
            bench_backward(&quiet);
            bench_backward(&polled);
            assert_true(count.calls >= 2);
            assert_int_equal(count.by_others, 0);
            assert_memory_equal(quiet.y, polled.y, quiet.out * sizeof(real));
            assert_memory_equal(quiet.dx, polled.dx, quiet.in * sizeof(real));
            bench_end(&quiet);
            bench_end(&polled);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_conv2d_equals_the_reference),
        cmocka_unit_test(fast_dense_equals_the_reference),
        cmocka_unit_test(tiled_dense_equals_the_reference),
        cmocka_unit_test(fast_maxpool2d_equals_the_reference),
        cmocka_unit_test(fast_avgpool2d_equals_the_reference),
        cmocka_unit_test(three_threads_are_repeatable_bit_by_bit),
        cmocka_unit_test(accumulate_adds_to_gradients),
        cmocka_unit_test(dx_is_optional),
#ifdef SCALEBENCH_F64
        cmocka_unit_test(gradients_are_finite_differences),
#endif
        cmocka_unit_test(only_the_caller_polls),
    };
    gemm_init();
    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
