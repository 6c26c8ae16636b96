/* Fused ops of small nets against the reference plan, with every instruction set and odd shapes. */
#include "kernels/tests/net_step.h"

#include "kernels/layers/dropout_mask.h"

enum { CLASSES = 3 };

/* Optional layers, then a dense one. */
struct shape_case {
    struct shape input;
    int kernels[2], channels[2]; /* one or two convolutions; 0: no more */
    bool relu_first;             /* ReLU before pooling, not after it */
    bool no_relu;
    int pool_pad;
    double rate; /* rate of dropout2d; 0: none */
    int hidden;  /* outputs of a dense layer before the last; 0: none */
    double hidden_rate;
    const char *ops[6]; /* expected ops of the fast plan */
};

#define DENSE "dense_bytes"
#define FIRST "small_conv_bytes"
#define INNER "small_conv"
#define SMALL "small_dense"

/* Kernels other than 3x3, which has ops of its own. */
static const struct shape_case shape_cases[] = {
    {{1, 7, 9}, {0}, {0}, .ops = {DENSE}},
    {{3, 5, 5}, {0}, {0}, .ops = {DENSE}},
    {{2, 8, 8}, {0}, {0}, .hidden = 37, .hidden_rate = 0.4, .ops = {DENSE, "layer", "dropout"}},
    {{1, 28, 28}, {5, 5}, {10, 20}, .rate = 0.5, .ops = {FIRST, SMALL}},
    {{1, 11, 13}, {4, 2}, {5, 7}, .relu_first = true, .ops = {FIRST, SMALL}},
    {{3, 17, 16}, {2, 4}, {18, 3}, .rate = 0.3, .ops = {FIRST, SMALL}},
    {{2, 15, 45}, {4, 5}, {6, 1}, .no_relu = true, .ops = {FIRST, SMALL}},
    {{1, 9, 8}, {7}, {11}, .rate = 0.9, .ops = {FIRST, SMALL}},
    {{4, 15, 13}, {6}, {3}, .relu_first = true, .ops = {FIRST, SMALL}},
    {{1, 20, 20}, {2, 7}, {33, 4}, .ops = {FIRST, SMALL}},
    {{1, 12, 12}, {4}, {4}, .hidden = 70, .hidden_rate = 0.5, .ops = {FIRST, SMALL, SMALL}},
    {{1, 12, 11}, {2}, {9}, .hidden = 16, .ops = {FIRST, SMALL, SMALL}},
    {{1, 17, 20}, {4, 5}, {5, 13}, .ops = {FIRST, SMALL}},
    {{2, 31, 34}, {4, 5}, {4, 11}, .rate = 0.6, .ops = {FIRST, SMALL}},
    {{2, 20, 19},
     {8, 4},
     {3, 6},
     .rate = 0.4,
     .ops = {"layer", "dropout", "layer", "layer", INNER}},
    {{1, 12, 11}, {8}, {7}, .rate = 0.4, .ops = {"layer", "dropout", "layer"}},
    {{1, 12, 12}, {4}, {4}, .pool_pad = 1, .ops = {"layer", "layer", "layer", SMALL}},
    {{1, 6, 6},
     {4},
     {5},
     .no_relu = true,
     .hidden = 33,
     .hidden_rate = 0.2,
     .ops = {FIRST, SMALL, SMALL}},
};

enum { SHAPE_CASES = sizeof shape_cases / sizeof *shape_cases };

static void add_block(struct net_desc *net, const struct shape_case *c, int i)
{
    add_layer(net, conv2d_layer(c->channels[i], c->kernels[i], c->kernels[i], 1, 0));
    if (c->rate > 0)
        add_layer(net, dropout_layer(LAYER_dropout2d, c->rate));
    if (c->relu_first && !c->no_relu)
        add_layer(net, layer_desc_preset(LAYER_relu));
    add_layer(net, pool_layer(LAYER_maxpool2d, 2, 2, 2, c->pool_pad));
    if (!c->relu_first && !c->no_relu)
        add_layer(net, layer_desc_preset(LAYER_relu));
}

static void describe(struct net_desc *net, const struct shape_case *c)
{
    begin_net(net, "case", c->input, CLASSES);
    for (int i = 0; i < c->input.c; i++) {
        net->mean[i] = 0.13 + 0.1 * i;
        net->std[i] = 0.31 - 0.05 * i;
    }
    for (int i = 0; i < 2 && c->kernels[i] > 0; i++)
        add_block(net, c, i);
    if (c->hidden > 0)
        add_layer(net, dense_layer(c->hidden));
    if (c->hidden > 0 && !c->no_relu)
        add_layer(net, layer_desc_preset(LAYER_relu));
    if (c->hidden_rate > 0)
        add_layer(net, dropout_layer(LAYER_dropout, c->hidden_rate));
    add_layer(net, dense_layer(CLASSES));
    end_net(net);
}

/* Half of the bytes are zero, in runs, as in drawings. */
static void setup_begin(struct setup *r, const struct shape_case *c, int n,
                        struct net_options options)
{
    *r = (struct setup){0};
    describe(&r->desc, c);
    options.n_max = STEP_IMAGES_MAX;
    setup_net(r, n, options);
    for (size_t i = 0; i < (size_t)n * shape_count(r->desc.input); i++)
        if (rng_word(3, 96, 0, 0, (uint32_t)(i / 21)) % 2 == 0)
            r->images[i] = 0;
}

static void check_step(const struct shape_case *c, int n, struct net_options options, bool training,
                       bool accumulate)
{
    struct net_options plain = {.plan = PLAN_REFERENCE, .threads = 1};
    struct setup reference, fast;
    setup_begin(&reference, c, n, plain);
    setup_begin(&fast, c, n, options);
    reference.ex.training = fast.ex.training = training;
    reference.ex.accumulate = fast.ex.accumulate = accumulate;
    double loss = setup_loss(&reference), fast_loss = setup_loss(&fast);
    assert_true(fabs(fast_loss - loss) <= REAL_EPSILON * 1e-4 / 0x1p-23 * fabs(loss));
    assert_close("logits", net_logits(fast.net, 0), net_logits(reference.net, 0),
                 (size_t)n * CLASSES);
    if (training) {
        setup_step(&reference);
        setup_step(&fast);
        for (int i = 0; i < reference.desc.n_tensors; i++) {
            const struct tensor_desc *t = &reference.desc.tensors[i];
            assert_close(t->name, fast.grads + t->offset, reference.grads + t->offset, t->count);
        }
    }
    setup_end(&reference);
    setup_end(&fast);
}

static void fused_ops_are_chosen(void **state)
{
    for (int i = 0; i < SHAPE_CASES; i++) {
        struct setup r;
        setup_begin(&r, &shape_cases[i], 1,
                    (struct net_options){.plan = PLAN_FAST, .isa = isa_best(), .threads = 1});
        for (int op = 0; shape_cases[i].ops[op]; op++)
            assert_string_equal(net_op_name(r.net, op), shape_cases[i].ops[op]);
        setup_end(&r);
    }
}

static void fused_ops_equal_the_reference_plan(void **state)
{
    const int counts[] = {1, 7, 13};
    for (int i = 0; i < SHAPE_CASES; i++)
        for (int isa = 0; isa <= (int)isa_best(); isa++)
            for (int threads = 1; threads <= 3; threads++) {
                struct net_options options = {
                    .plan = PLAN_FAST, .isa = (enum isa)isa, .threads = threads};
                int n = counts[(i + isa + threads) % 3];
                check_step(&shape_cases[i], n, options, true, threads == 2);
                check_step(&shape_cases[i], n, options, false, false);
            }
}

/* Batches larger than the groups of the ops: 64 images for dense_bytes, 128 for small_dense. */
static void large_batches_equal_the_reference_plan(void **state)
{
    const struct net_options options = {.plan = PLAN_FAST, .isa = isa_best(), .threads = 2};
    const int cases[] = {0, 2, 10, 12};
    for (int i = 0; i < 4; i++) {
        check_step(&shape_cases[cases[i]], STEP_IMAGES_MAX, options, true, false);
        check_step(&shape_cases[cases[i]], 128, options, true, true);
    }
}

static void fused_ops_repeat_bit_by_bit(void **state)
{
    for (int i = 0; i < SHAPE_CASES; i++) {
        const struct net_options options = {.plan = PLAN_FAST, .isa = isa_best(), .threads = 3};
        struct setup a, b;
        setup_begin(&a, &shape_cases[i], 13, options);
        setup_begin(&b, &shape_cases[i], 13, options);
        setup_step(&a);
        b.ex.epoch = 2;
        setup_step(&b);
        b.ex.epoch = 1;
        setup_step(&b);
        assert_memory_equal(a.grads, b.grads, a.desc.n_params * sizeof(real));
        setup_end(&a);
        setup_end(&b);
    }
}

#ifdef SCALEBENCH_F64
/* Tests every seventh parameter. Pooling and ReLU have kinks: the smaller the step h, the fewer lie
 * within it. Rounding adds about 100 epsilon/h: 3e-8. */
static void fused_gradients_are_finite_differences(void **state)
{
    const double h = 0x1p-20;
    for (int c = 0; c < SHAPE_CASES; c++) {
        struct setup r;
        setup_begin(&r, &shape_cases[c], 7,
                    (struct net_options){.plan = PLAN_FAST, .isa = isa_best(), .threads = 1});
        setup_step(&r);
        for (size_t i = 0; i < r.desc.n_params; i += 7) {
            real kept = r.params[i];
            r.params[i] = kept + h;
            double above = setup_loss(&r) / r.n;
            r.params[i] = kept - h;
            double below = setup_loss(&r) / r.n;
            r.params[i] = kept;
            double difference = (above - below) / (2 * h);
            if (!(fabs(difference - r.grads[i]) <= 1e-7))
                fail_msg("case %d, parameter %zu: gradient %.12g, difference %.12g", c, i,
                         r.grads[i], difference);
        }
        setup_end(&r);
    }
}
#endif

/* Vectors of random words give the same mask as single words, and do not write beyond it. */
static void every_set_drops_the_same_units(void **state)
{
    enum { UNITS_MAX = 131 };
    const double rates[] = {0, 0x1p-24, 0.1, 0.5, 1 - 0x1p-24};
    const struct exec ex = {.seed = 0x123456789abcdef0u, .epoch = 0xfffffffe};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t units = 1; units < UNITS_MAX; units += 1 + units / 7)
            for (int isa = 0; isa <= (int)isa_best(); isa++) {
                uint8_t want[UNITS_MAX], got[UNITS_MAX];
                struct layer_desc layer = {.index = (int)units % 5, .rate = rates[r]};
                memset(want, 7, sizeof want);
                memset(got, 7, sizeof got);
                dropout_mask_draw(want, &ex, &layer, units, (uint32_t)(59999 * units));
                dropout_mask_draw_by((enum isa)isa, got, &ex, &layer, units,
                                     (uint32_t)(59999 * units));
                assert_memory_equal(got, want, sizeof got);
            }
}

/* Wherever slices of a layer begin, together they drop the units that the whole layer drops. */
static void slices_drop_the_units_of_the_whole(void **state)
{
    enum { UNITS = 57, SAMPLE = 31 };
    const struct exec ex = {.seed = 5, .epoch = 3};
    struct layer_desc layer = {.index = 2, .rate = 0.5};
    uint8_t want[UNITS], got[UNITS];
    dropout_mask_draw(want, &ex, &layer, UNITS, SAMPLE);
    for (int isa = 0; isa <= (int)isa_best(); isa++)
        for (size_t slice = 1; slice < UNITS; slice++) {
            memset(got, 7, sizeof got);
            for (size_t first = 0; first < UNITS; first += slice) {
                layer.first_unit = (int)first;
                size_t n = UNITS - first < slice ? UNITS - first : slice;
                dropout_mask_draw_by((enum isa)isa, got + first, &ex, &layer, n, SAMPLE);
            }
            assert_memory_equal(got, want, sizeof got);
        }
}

/* NaN in a weight must reach the logits from any position in a window. */
static void nan_reaches_the_logits(void **state)
{
    struct setup r;
    setup_begin(&r, &shape_cases[4], 2,
                (struct net_options){.plan = PLAN_FAST, .isa = isa_best(), .threads = 1});
    r.params[3] = (real)NAN;
    setup_loss(&r);
    for (int i = 0; i < 2 * CLASSES; i++)
        assert_true(isnan(net_logits(r.net, 0)[i]));
    setup_end(&r);
}

/* Skipped work is not counted. A quarter of conv1 remains in backward, half of conv2 in forward,
 * with 6 instead of 10 products by Winograd's algorithm. */
static void flops_done_exclude_skipped_work(void **state)
{
    struct setup r;
    setup_begin(&r, &shape_cases[3], 1,
                (struct net_options){.plan = PLAN_FAST, .isa = isa_best(), .threads = 1});
    uint64_t conv1 = 288000, conv2 = 640000, dense = 2 * 320 * CLASSES;
    assert_int_equal(r.desc.flops_forward, conv1 + conv2 + dense);
    assert_int_equal(net_flops_done(r.net, false), conv1 / 2 + conv2 / 2 * 6 / 10 + dense);
    assert_int_equal(net_flops_done(r.net, true), conv1 / 8 + 2 * conv2 / 8 + 2 * dense);
    char text[SAVINGS_TEXT];
    assert_string_equal(savings_text(text, net_savings(r.net)),
                        "winograd dropped_channels pool_zeros data_zeros");
    setup_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_ops_are_chosen),
        cmocka_unit_test(fused_ops_equal_the_reference_plan),
        cmocka_unit_test(large_batches_equal_the_reference_plan),
        cmocka_unit_test(fused_ops_repeat_bit_by_bit),
#ifdef SCALEBENCH_F64
        cmocka_unit_test(fused_gradients_are_finite_differences),
#endif
        cmocka_unit_test(every_set_drops_the_same_units),
        cmocka_unit_test(slices_drop_the_units_of_the_whole),
        cmocka_unit_test(nan_reaches_the_logits),
        cmocka_unit_test(flops_done_exclude_skipped_work),
    };
    gemm_init();
    return cmocka_run_group_tests_name("small ops", tests, NULL, NULL);
}
