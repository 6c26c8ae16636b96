/* Compares convolutions by AMX tiles with the same direct sums by vectors. Both round operands to
 * bf16; only the order of sums differs. Without AMX the test is skipped, and test_bf16.c tests the
 * products with a model of the instructions. */
#include "kernels/tests/net_step.h"

#if defined(__x86_64__)

/* Three convolutions. channels: outputs of the second and the third; the first has 8. n: number of
 * images. pool: whether pooling follows the second convolution. */
struct shapes {
    struct shape in;
    int channels[2], pad, n, threads;
    bool norm, pool;
};

static void describe(struct setup *r, const struct shapes *s)
{
    begin_net(&r->desc, "tiles", s->in, 7);
    for (int i = 0; i < 3; i++) {
        struct layer_desc conv = conv2d_layer(i == 0 ? 8 : s->channels[i - 1], 3, 3, 1, s->pad);
        conv.without_bias = s->norm; /* batch norm cancels a bias: a bias gradient is noise */
        add_layer(&r->desc, conv);
        if (s->norm)
            add_layer(&r->desc, layer_desc_preset(LAYER_batchnorm2d));
        add_layer(&r->desc, layer_desc_preset(LAYER_relu));
        if (s->pool && i == 1)
            add_layer(&r->desc, maxpool2d_layer(2, 2, 2));
    }
    add_layer(&r->desc, dense_layer(r->desc.classes));
    end_net(&r->desc);
}

static void begin(struct setup *r, const struct shapes *s, enum isa isa)
{
    uint8_t choices[16];
    *r = (struct setup){0};
    describe(r, s);
    memset(choices, CHOICE_direct, sizeof choices);
    assert_true(r->desc.n_layers <= (int)sizeof choices);
    setup_net(r, s->n,
              (struct net_options){
                  .plan = PLAN_FAST, .isa = isa, .threads = s->threads, .choices = choices});
    for (int i = 1; i < net_ops(r->net); i++)
        assert_true(i == net_ops(r->net) - 1 || net_op_view(r->net, 0, i).bf16);
}

/* Another order of products changes a sum by a relative 1e-7. A few sums then round to another bf16
 * number or change sign before a ReLU. In these cases, gradients of a tensor differ by up to 2e-4
 * in relative norm. */
static void check(const struct shapes *s)
{
    enum { STEPS = 2 };
    const double tolerance = 1e-3;
    struct setup tiles, vectors;
    begin(&tiles, s, ISA_AMX_BF16);
    begin(&vectors, s, ISA_AVX512_BF16);
    for (int step = 0; step < STEPS; step++) {
        tiles.ex.accumulate = vectors.ex.accumulate = step > 0;
        setup_step(&tiles);
        setup_step(&vectors);
    }
    for (int i = 0; i < tiles.desc.n_tensors; i++) {
        const struct tensor_desc *t = &tiles.desc.tensors[i];
        double is = relative_distance(tiles.grads + t->offset, vectors.grads + t->offset, t->count);
        if (!(is <= tolerance))
            fail_msg("%dx%dx%d, %d images, pad %d: gradient %s differs by %g", s->in.c, s->in.h,
                     s->in.w, s->n, s->pad, t->name, is);
    }
    setup_end(&tiles);
    setup_end(&vectors);
}

static void tiles_sum_like_vectors(void **state)
{
    static const struct shapes all[] = {{{1, 8, 8}, {40, 33}, 1, 17, 1, true, true},
                                        {{3, 6, 9}, {32, 64}, 1, 32, 1, true, false},
                                        {{2, 12, 10}, {65, 31}, 0, 5, 1, false, true},
                                        {{3, 4, 4}, {64, 96}, 1, 70, 1, true, false},
                                        {{1, 7, 11}, {20, 40}, 2, 3, 2, false, false},
                                        {{3, 8, 8}, {48, 32}, 1, 50, 2, true, true},
                                        {{3, 2, 2}, {33, 65}, 1, 100, 1, true, false},
                                        {{4, 9, 5}, {34, 36}, 1, 1, 1, false, false}};
    if (isa_best_bf16() != ISA_AMX_BF16) {
        print_message("no AMX tiles here: skipped\n");
        skip();
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(&all[i]);
}

#else

static void tiles_sum_like_vectors(void **state)
{
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_sum_like_vectors)};
    return cmocka_run_group_tests_name("tiles", tests, NULL, NULL);
}
