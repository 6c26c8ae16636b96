/* Ops for 3x3 convolutions against the reference plan, in whole nets. */
#include "kernels/tests/net_step.h"

#include "kernels/ops/op.h"

enum { CLASSES = 5, CONV_MAX = 4 };

enum after {
    NOTHING,
    RELU,
    RELU_POOL,
    POOL_RELU,
    CONV_1X1,
    RELU_NORM,
    NORM,
    NORM_RELU,
    NORM_RELU_POOL
};

struct conv_case {
    int channels, pad;
    enum after after;
};

/* A net of 3x3 convolutions and a dense layer. */
struct net_case {
    struct shape input;
    int n;
    struct conv_case convs[CONV_MAX]; /* list that ends with channels 0 */
    const char *ops;                  /* expected ops of the fast plan */
};

static const struct net_case cases[] = {
    {{1, 14, 14}, 5, {{8, 0, RELU_POOL}, {12, 0, RELU_POOL}}, "first_conv winograd_last layer"},
    {{1, 28, 28},
     3,
     {{32, 0, RELU_POOL}, {40, 0, RELU_POOL}, {33, 0, RELU_POOL}},
     "first_conv winograd winograd_last layer"},
    {{3, 8, 8},
     7,
     {{5, 1, NOTHING}, {7, 1, RELU_POOL}, {11, 1, RELU_POOL}, {6, 1, RELU}},
     "first_conv winograd winograd winograd_last layer"},
    {{3, 9, 7},
     13,
     {{3, 1, RELU}, {4, 2, RELU}, {5, 0, POOL_RELU}},
     "first_conv winograd winograd_last layer"},
    {{2, 5, 11},
     1,
     {{1, 2, NOTHING}, {1, 5, NOTHING}, {2, 0, RELU_POOL}},
     "first_conv winograd winograd_last layer"},
    {{4, 6, 6},
     2,
     {{37, 1, RELU}, {70, 1, POOL_RELU}, {3, 1, NOTHING}},
     "first_conv winograd winograd_last layer"},
    {{2, 13, 12},
     4,
     {{6, 0, CONV_1X1}, {34, 0, RELU_POOL}, {9, 0, RELU_POOL}},
     "first_conv_alone layer winograd_first winograd_last layer"},
    {{3, 11, 9},
     3,
     {{35, 1, CONV_1X1}, {18, 1, CONV_1X1}, {7, 0, RELU_POOL}},
     "first_conv_alone layer winograd_alone layer winograd_alone layer"},
    {{3, 10, 8},
     6,
     {{33, 1, RELU_NORM}, {9, 1, NORM_RELU}, {7, 1, RELU_NORM}},
     "first_conv norm winograd winograd norm_last layer"},
    {{3, 9, 11},
     5,
     {{35, 1, NORM_RELU_POOL}, {7, 1, NORM_RELU}, {5, 1, NORM}, {6, 1, NORM_RELU_POOL}},
     "first_conv winograd winograd winograd_last layer"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void describe(struct net_desc *desc, const struct net_case *c)
{
    begin_net(desc, "convs", c->input, CLASSES);
    /* With these means no byte represents exactly 0; otherwise the net would convert the bytes
     * first. */
    for (int i = 0; i < c->input.c; i++) {
        desc->mean[i] = 0.41 + 0.05 * i;
        desc->std[i] = 0.3;
    }
    for (int i = 0; i < CONV_MAX && c->convs[i].channels > 0; i++) {
        enum after after = c->convs[i].after;
        add_layer(desc, conv2d_layer(c->convs[i].channels, 3, 3, 1, c->convs[i].pad));
        if (after >= NORM)
            add_layer(desc, layer_desc_preset(LAYER_batchnorm2d));
        if (after == CONV_1X1)
            add_layer(desc, conv2d_layer(c->convs[i].channels, 1, 1, 1, 0));
        if (after == POOL_RELU)
            add_layer(desc, maxpool2d_layer(2, 2, 2));
        if (after != NOTHING && after != CONV_1X1 && after != NORM)
            add_layer(desc, layer_desc_preset(LAYER_relu));
        if (after == RELU_NORM)
            add_layer(desc, layer_desc_preset(LAYER_batchnorm2d));
        if (after == RELU_POOL || after == NORM_RELU_POOL)
            add_layer(desc, maxpool2d_layer(2, 2, 2));
    }
    add_layer(desc, dense_layer(CLASSES));
    end_net(desc);
}

static void setup_begin(struct setup *r, const struct net_case *c, enum plan plan, enum isa isa,
                        int threads)
{
    *r = (struct setup){0};
    describe(&r->desc, c);
    setup_net(r, c->n, (struct net_options){.plan = plan, .isa = isa, .threads = threads});
    for (size_t i = 0; i < r->desc.n_params; i++) /* random biases too, instead of zeros */
        r->params[i] += (real)(0.01 * rng_unit(rng_word(3, 96, 0, 0, (uint32_t)i)));
}

/* Expected names of the ops; "winograd" becomes "direct" in the exact plan, "layer" any dense
 * op. */
static void assert_ops(const struct net *net, const char *expected, enum plan plan)
{
    char text[400] = "";
    for (int i = 0; i < net_ops(net); i++) {
        const char *name = net_op_name(net, i), *kind = plan == PLAN_EXACT ? "direct" : "winograd";
        if (strcmp(name, "small_dense") == 0)
            name = "layer";
        size_t length = strlen(kind), used = strlen(text);
        bool same = strncmp(name, kind, length) == 0;
        snprintf(text + used, sizeof text - used, "%s%s%s", i > 0 ? " " : "",
                 same ? "winograd" : name, same ? name + length : "");
    }
    assert_string_equal(text, expected);
}

/* Changes a setup before its step. */
typedef void setup_change(struct setup *r);

/* Begins the step of the reference plan, the expected result for every instruction set. */
static void reference_begin(struct setup *reference, const struct net_case *c, setup_change *change)
{
    setup_begin(reference, c, PLAN_REFERENCE, ISA_PORTABLE, 1);
    change(reference);
    setup_step(reference);
}

static void compare(const struct setup *reference, const struct net_case *c, enum plan plan,
                    enum isa isa, int threads, setup_change *change)
{
    struct setup fast;
    setup_begin(&fast, c, plan, isa, threads);
    assert_ops(fast.net, c->ops, plan);
    change(&fast);
    setup_step(&fast);
    assert_close("buffers", fast.buffers, reference->buffers, fast.desc.n_buffer_values);
    assert_close("logits", net_logits(fast.net, 0), net_logits(reference->net, 0),
                 (size_t)c->n * CLASSES);
    for (int t = 0; t < fast.desc.n_tensors; t++) {
        const struct tensor_desc *tensor = &fast.desc.tensors[t];
        size_t offset = tensor->offset, count = tensor->count;
        /* The gradient of a bias before batch norm is 0 except for rounding, so it is compared
         * together with its weights. */
        if (tensor->bias && t > 0 && !tensor[-1].norm) {
            offset = tensor[-1].offset;
            count += tensor[-1].count;
        }
        assert_close(tensor->name, fast.grads + offset, reference->grads + offset, count);
    }
    setup_end(&fast);
}

static void change_nothing(struct setup *r)
{
}

static void ops_equal_the_reference_on_every_isa(void **state)
{
    for (int i = 0; i < CASES; i++) {
        struct setup reference;
        reference_begin(&reference, &cases[i], change_nothing);
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++)
            for (int threads = 1; threads <= 3; threads++)
                for (int plan = PLAN_FAST; plan <= PLAN_EXACT; plan++)
                    compare(&reference, &cases[i], (enum plan)plan, (enum isa)isa, threads,
                            change_nothing);
        setup_end(&reference);
    }
}

static void use_sums(struct setup *r)
{
    r->ex.accumulate = true;
}

/* More than 2 MiB of transformed weights: slices of inputs, of outputs, and two chunks of
 * images. */
static void many_weights_are_transformed_in_slices(void **state)
{
    static const struct net_case many[] = {
        {{3, 4, 4},
         3,
         {{648, 1, NORM_RELU}, {25, 1, RELU}, {648, 1, NORM_RELU}},
         "first_conv winograd winograd_last layer"},
        {{2, 1, 40}, 13, {{352, 1, RELU}, {96, 1, NORM_RELU}}, "first_conv winograd_last layer"},
    };
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
        for (int sums = 0; sums <= 1; sums++) {
            setup_change *change = sums ? use_sums : change_nothing;
            struct setup reference;
            reference_begin(&reference, &many[i], change);
            for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++)
                compare(&reference, &many[i], PLAN_FAST, (enum isa)isa, 1, change);
            setup_end(&reference);
        }
}

static void use_padding(struct setup *r)
{
    for (int i = 0; i < r->n; i++)
        r->weights[i] = i % 3 != 1;
    r->ex.weights = r->weights;
}

static void use_fixed_statistics(struct setup *r)
{
    r->ex.fixed_statistics = true;
}

static enum status double_sums(void *arg, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] *= 2;
    return OK;
}

/* Simulates another rank with the same images. */
static void use_a_group(struct setup *r)
{
    r->ex.group_sum = double_sums;
}

static void batch_norm_supports_padding_groups_and_fixed_statistics(void **state)
{
    setup_change *const changes[] = {use_padding, use_fixed_statistics, use_a_group};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        for (int c = CASES - 2; c < CASES; c++) {
            struct setup reference;
            reference_begin(&reference, &cases[c], changes[i]);
            for (int plan = PLAN_FAST; plan <= PLAN_EXACT; plan++)
                for (int threads = 1; threads <= 3; threads++)
                    compare(&reference, &cases[c], (enum plan)plan, isa_best(), threads,
                            changes[i]);
            setup_end(&reference);
        }
}

/* A net without kinks: its loss is smooth in every parameter. The bound is derived in
 * test_net.c. */
#ifdef SCALEBENCH_F64
static void check_gradient(enum plan plan)
{
    const double h = 0x1p-15;
    const struct net_case c = {
        {2, 6, 5}, 3, {{3, 1, NOTHING}, {4, 0, NOTHING}, {2, 1, NOTHING}}, NULL};
    struct setup r;
    setup_begin(&r, &c, plan, isa_best(), 2);
    setup_step(&r);
    for (size_t i = 0; i < r.desc.n_params; i++) {
        real kept = r.params[i];
        r.params[i] = kept + h;
        double above = setup_loss(&r) / r.n;
        r.params[i] = kept - h;
        double below = setup_loss(&r) / r.n;
        r.params[i] = kept;
        double difference = (above - below) / (2 * h);
        if (!(fabs(difference - r.grads[i]) <= 3e-8))
            fail_msg("parameter %zu: gradient %.12g, difference %.12g", i, r.grads[i], difference);
    }
    setup_end(&r);
}

static void gradient_is_a_finite_difference(void **state)
{
    check_gradient(PLAN_FAST);
    check_gradient(PLAN_EXACT);
}
#endif

/* Repeats the step also after a smaller batch has left its values in all buffers. */
static void check_repeat(enum plan plan)
{
    for (int i = 0; i < CASES; i++) {
        struct setup a, b;
        setup_begin(&a, &cases[i], plan, isa_best(), 3);
        setup_begin(&b, &cases[i], plan, isa_best(), 3);
        setup_step(&a);
        b.n = (b.n + 1) / 2;
        setup_step(&b);
        b.n = a.n;
        setup_step(&b);
        assert_memory_equal(a.grads, b.grads, a.desc.n_params * sizeof(real));
        setup_end(&a);
        setup_end(&b);
    }
}

static void steps_repeat_bit_by_bit(void **state)
{
    check_repeat(PLAN_FAST);
    check_repeat(PLAN_EXACT);
}

static void evaluation_equals_training(void **state)
{
    for (int i = 0; i < CASES; i++) {
        struct setup a, b;
        setup_begin(&a, &cases[i], PLAN_FAST, isa_best(), 1);
        setup_begin(&b, &cases[i], PLAN_FAST, isa_best(), 1);
        a.ex.fixed_statistics = true; /* as in evaluation */
        b.ex.training = false;
        setup_loss(&a);
        setup_loss(&b);
        assert_memory_equal(net_logits(a.net, 0), net_logits(b.net, 0),
                            (size_t)a.n * CLASSES * sizeof(real));
        setup_end(&a);
        setup_end(&b);
    }
}

static void check_savings(const struct net *net, const char *expected)
{
    char text[SAVINGS_TEXT];
    assert_string_equal(savings_text(text, net_savings(net)), expected);
}

/* keras_690k's convolutions. The last pooling drops a third of the outputs of the first one. */
static void outputs_that_nothing_reads_are_not_computed(void **state)
{
    const struct net_case c = {
        {1, 28, 28}, 1, {{32, 0, RELU_POOL}, {128, 0, RELU_POOL}, {256, 0, RELU_POOL}}, NULL};
    struct setup r;
    setup_begin(&r, &c, PLAN_FAST, isa_best(), 1);
    uint64_t conv1 = 2 * 9 * 32 * 20 * 20;  /* 20x20 of 26x26 outputs */
    uint64_t conv2 = 2 * 36 * 4 * 32 * 128; /* 8x8 of 11x11: four tiles of 36 products */
    uint64_t conv3 = 2 * 16 * 128 * 256;    /* 2x2 of 3x3: one tile of 16 */
    uint64_t dense = 2 * 256 * CLASSES;
    assert_int_equal(net_flops_done(r.net, false), conv1 + conv2 + conv3 + dense);
    assert_int_equal(net_flops_done(r.net, true), conv1 + 2 * (conv2 + conv3 + dense));
    check_savings(r.net, "dead_outputs winograd data_zeros");
    setup_end(&r);
}

static void the_exact_plan_leaves_no_work_out(void **state)
{
    const struct net_case c = {
        {1, 28, 28}, 1, {{32, 0, RELU_POOL}, {128, 0, RELU_POOL}, {256, 0, RELU_POOL}}, NULL};
    struct setup r;
    setup_begin(&r, &c, PLAN_EXACT, isa_best(), 1);
    assert_int_equal(net_flops_done(r.net, false), r.desc.flops_forward);
    assert_int_equal(net_flops_done(r.net, true), r.desc.flops_backward);
    check_savings(r.net, "none");
    setup_end(&r);
}

/* 12x12 outputs have 9 taps each. On each of 4 edges 12 outputs lack 3 taps; each corner tap is
 * subtracted only once. */
static void the_exact_plan_skips_padding(void **state)
{
    const struct net_case c = {{1, 12, 12}, 1, {{8, 1, RELU}, {16, 1, RELU}}, NULL};
    struct setup r;
    setup_begin(&r, &c, PLAN_EXACT, isa_best(), 1);
    uint64_t taps = 9 * 12 * 12 - 4 * 12 * 3 + 4, pair = 2 * 8 * 16;
    uint64_t conv1 = 2 * 9 * 12 * 12 * 8, dense = 2 * 16 * 12 * 12 * CLASSES;
    assert_int_equal(r.desc.flops_forward, conv1 + 9 * 12 * 12 * pair + dense);
    assert_int_equal(net_flops_done(r.net, false), conv1 + taps * pair + dense);
    assert_int_equal(net_flops_done(r.net, true), conv1 + 2 * (taps * pair + dense));
    check_savings(r.net, "padding");
    setup_end(&r);
}

static void count_poll(void *arg)
{
    ++*(int *)arg;
}

/* Every op lets communication progress, forward and backward. */
static void every_op_polls(void **state)
{
    int polls = 0;
    struct setup r;
    setup_begin(&r, &cases[2], PLAN_FAST, isa_best(), 2);
    r.ex.poll = count_poll;
    r.ex.poll_arg = &polls;
    setup_step(&r);
    assert_true(polls >= 2 * net_ops(r.net));
    setup_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_equal_the_reference_on_every_isa),
        cmocka_unit_test(many_weights_are_transformed_in_slices),
        cmocka_unit_test(batch_norm_supports_padding_groups_and_fixed_statistics),
#ifdef SCALEBENCH_F64
        cmocka_unit_test(gradient_is_a_finite_difference),
#endif
        cmocka_unit_test(steps_repeat_bit_by_bit),
        cmocka_unit_test(evaluation_equals_training),
        cmocka_unit_test(outputs_that_nothing_reads_are_not_computed),
        cmocka_unit_test(the_exact_plan_leaves_no_work_out),
        cmocka_unit_test(the_exact_plan_skips_padding),
        cmocka_unit_test(every_op_polls),
    };
    gemm_init();
    return cmocka_run_group_tests_name("conv3x3", tests, NULL, NULL);
}
