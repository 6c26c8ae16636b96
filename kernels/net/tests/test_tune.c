/* Choices of kernels. Every choice must compute the results of the reference plan, alone and mixed
 * with others. Choices by time must be usable. */
#include "kernels/tests/support.h"

#include <stdio.h>

enum { IMAGES = 5, CLASSES = 4, LAYERS_MAX = 16 };

/* Convolutions that every kernel supports, one that few do, norms, and pooling that drops rows. */
static void describe_large(struct net_desc *desc)
{
    begin_net(desc, "large", (struct shape){3, 13, 11}, CLASSES);
    add_layer(desc, conv2d_layer(6, 3, 3, 1, 1));
    add_layer(desc, layer_desc_preset(LAYER_batchnorm2d));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, maxpool2d_layer(2, 2, 2));
    add_layer(desc, conv2d_layer(35, 3, 3, 1, 1));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, conv2d_layer(7, 3, 3, 1, 0));
    add_layer(desc, layer_desc_preset(LAYER_batchnorm2d));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, conv2d_layer(9, 3, 3, 1, 1));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, maxpool2d_layer(2, 2, 2));
    add_layer(desc, dense_layer(CLASSES));
    end_net(desc);
}

static void describe_small(struct net_desc *desc)
{
    begin_net(desc, "small", (struct shape){1, 28, 28}, CLASSES);
    add_layer(desc, conv2d_layer(10, 5, 5, 1, 0));
    add_layer(desc, maxpool2d_layer(2, 2, 2));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, conv2d_layer(20, 5, 5, 1, 0));
    add_layer(desc, maxpool2d_layer(2, 2, 2));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, dense_layer(50));
    add_layer(desc, layer_desc_preset(LAYER_relu));
    add_layer(desc, dense_layer(CLASSES));
    end_net(desc);
}

typedef void describe_function(struct net_desc *desc);
static describe_function *const nets[] = {describe_large, describe_small};
enum { NETS = sizeof nets / sizeof nets[0] };

struct result {
    real *grads, *buffers, logits[IMAGES * CLASSES];
    char kernels[KERNELS_TEXT];
};

/* Runs a training step of the net with these choices, or none. */
static void run(struct result *r, const struct net_desc *desc, enum plan plan, int threads,
                const uint8_t *choices)
{
    uint8_t images[IMAGES * 3 * 28 * 28], labels[IMAGES];
    uint32_t samples[IMAGES];
    struct error e = {0};
    struct net *net = NULL;
    struct pool *pool = make_pool(threads);
    const struct net_options options = {.plan = plan,
                                        .isa = isa_best(),
                                        .n_max = IMAGES,
                                        .threads = threads,
                                        .slots = 1,
                                        .choices = choices};
    if (net_create(&net, desc, &options, &e) != OK)
        fail_msg("%s", e.text);
    for (size_t i = 0; i < IMAGES * shape_count(desc->input); i++)
        images[i] = (uint8_t)rng_word(5, 97, 0, 0, (uint32_t)i);
    for (uint32_t i = 0; i < IMAGES; i++) {
        labels[i] = (uint8_t)(i % CLASSES);
        samples[i] = i;
    }
    real *params = mem_alloc(desc->n_params * sizeof(real));
    net_init_params(desc, params, 3);
    r->grads = mem_alloc(desc->n_params * sizeof(real));
    r->buffers = mem_alloc(desc->n_buffer_values * sizeof(real));
    net_init_buffers(desc, r->buffers);
    const struct exec ex = {
        .pool = pool, .training = true, .seed = 1, .samples = samples, .buffers = r->buffers};
    net_load(net, &ex, 0, IMAGES, images);
    net_forward(net, &ex, 0, 0, net_ops(net), params);
    net_loss(net, &ex, 0, labels, NULL, 1.0 / IMAGES);
    memcpy(r->logits, net_logits(net, 0), sizeof r->logits);
    net_backward(net, &ex, 0, 0, net_ops(net), params, r->grads);
    net_kernels_text(net, desc, r->kernels);
    net_destroy(net);
    pool_destroy(pool);
    mem_free(params);
}

static void result_free(struct result *r)
{
    mem_free(r->grads);
    mem_free(r->buffers);
}

static void assert_alike(const char *what, const char *kernels, const real *a, const real *b,
                         size_t n)
{
    char text[1200];
    snprintf(text, sizeof text, "%s with %s", what, kernels);
    assert_close(text, a, b, n);
}

/* Results of the reference plan for each net. */
static struct result references[NETS];

static int run_references(void **state)
{
    for (int i = 0; i < NETS; i++) {
        struct net_desc desc;
        nets[i](&desc);
        run(&references[i], &desc, PLAN_REFERENCE, 1, NULL);
        net_desc_free(&desc);
    }
    return 0;
}

static int free_references(void **state)
{
    for (int i = 0; i < NETS; i++)
        result_free(&references[i]);
    return 0;
}

static void compare(int i, const struct net_desc *desc, enum plan plan, int threads,
                    const uint8_t *choices)
{
    const struct result *reference = &references[i];
    struct result own;
    run(&own, desc, plan, threads, choices);
    assert_alike("logits", own.kernels, own.logits, reference->logits, IMAGES * CLASSES);
    assert_alike("buffers", own.kernels, own.buffers, reference->buffers, desc->n_buffer_values);
    for (int t = 0; t < desc->n_tensors; t++) {
        const struct tensor_desc *tensor = &desc->tensors[t];
        size_t offset = tensor->offset, count = tensor->count;
        if (tensor->bias && t > 0 && !tensor[-1].norm) { /* gradient is 0 except for rounding, see
                                                          * test_conv3x3.c */
            offset = tensor[-1].offset;
            count += tensor[-1].count;
        }
        assert_alike(tensor->name, own.kernels, own.grads + offset, reference->grads + offset,
                     count);
    }
    result_free(&own);
}

static void every_choice_equals_the_reference(void **state)
{
    for (int i = 0; i < NETS; i++) {
        struct net_desc desc;
        nets[i](&desc);
        for (int choice = 0; choice < KERNEL_CHOICES; choice++)
            for (int plan = PLAN_FAST; plan <= PLAN_EXACT; plan++)
                for (int threads = 1; threads <= 2; threads++) {
                    uint8_t choices[LAYERS_MAX];
                    memset(choices, choice, sizeof choices);
                    compare(i, &desc, (enum plan)plan, threads, choices);
                }
        net_desc_free(&desc);
    }
}

/* Neighbouring layers use different kernels, so layouts change between them. */
static void choices_mix(void **state)
{
    for (uint32_t i = 0; i < 60; i++) {
        struct net_desc desc;
        uint8_t choices[LAYERS_MAX];
        nets[i % NETS](&desc);
        for (uint32_t l = 0; l < LAYERS_MAX; l++)
            choices[l] = (uint8_t)(rng_word(11, 98, 0, i, l) % KERNEL_CHOICES);
        compare((int)(i % NETS), &desc, i % 3 == 0 ? PLAN_EXACT : PLAN_FAST, 1 + (int)(i % 2),
                choices);
        net_desc_free(&desc);
    }
}

static void expect_kernels(enum plan plan, enum kernel_choice choice, const char *expected)
{
    struct net_desc desc;
    struct result r;
    uint8_t choices[LAYERS_MAX];
    describe_large(&desc);
    memset(choices, choice, sizeof choices);
    run(&r, &desc, plan, 1, choices);
    assert_string_equal(r.kernels, expected);
    result_free(&r);
    net_desc_free(&desc);
}

/* A plan never uses a kernel that is not allowed in it. If a kernel does not support a layer, the
 * layer keeps its default. */
static void chosen_kernels_are_used(void **state)
{
    expect_kernels(PLAN_FAST, CHOICE_shape,
                   "conv2d1:first_conv conv2d2:winograd conv2d3:winograd conv2d4:winograd_last "
                   "dense1:small_dense");
    expect_kernels(PLAN_FAST, CHOICE_direct,
                   "conv2d1:direct_first conv2d2:direct conv2d3:direct conv2d4:direct_last "
                   "dense1:small_dense");
    expect_kernels(
        PLAN_FAST, CHOICE_winograd_f2,
        "conv2d1:winograd_f2 conv2d2:winograd_f2 conv2d3:winograd_f2 conv2d4:winograd_f2 "
        "dense1:small_dense");
    expect_kernels(PLAN_FAST, CHOICE_gemm,
                   "conv2d1:layer conv2d2:layer conv2d3:layer conv2d4:layer dense1:layer");
    expect_kernels(
        PLAN_EXACT, CHOICE_winograd_f4,
        "conv2d1:first_conv conv2d2:direct conv2d3:direct conv2d4:direct_last dense1:layer");
    expect_kernels(PLAN_EXACT, CHOICE_gemm,
                   "conv2d1:layer conv2d2:layer conv2d3:layer conv2d4:layer dense1:layer");
    expect_kernels(PLAN_REFERENCE, CHOICE_direct,
                   "conv2d1:layer conv2d2:layer conv2d3:layer conv2d4:layer dense1:layer");
}

/* Without choices, results equal the default kernels' results to the bit. */
static void shape_is_the_default(void **state)
{
    const uint8_t choices[LAYERS_MAX] = {CHOICE_shape};
    for (int i = 0; i < NETS; i++) {
        struct net_desc desc;
        struct result none, shape;
        nets[i](&desc);
        run(&none, &desc, PLAN_FAST, 2, NULL);
        run(&shape, &desc, PLAN_FAST, 2, choices);
        assert_memory_equal(none.grads, shape.grads, desc.n_params * sizeof(real));
        assert_string_equal(none.kernels, shape.kernels);
        result_free(&none);
        result_free(&shape);
        net_desc_free(&desc);
    }
}

/* No choice is made for layers without alternatives, only exact kernels in the exact plan, and
 * nothing in the reference plan. */
static void tuning_chooses_what_can_be_used(void **state)
{
    for (int i = 0; i < NETS; i++)
        for (int plan = PLAN_REFERENCE; plan <= PLAN_EXACT; plan++) {
            struct net_desc desc;
            struct error e = {0};
            uint8_t choices[LAYERS_MAX];
            struct pool *pool = make_pool(2);
            nets[i](&desc);
            const struct net_options options = {.plan = (enum plan)plan,
                                                .isa = isa_best(),
                                                .n_max = IMAGES,
                                                .threads = 2,
                                                .slots = 1};
            assert_int_equal(net_tune(choices, &desc, &options, pool, &e), OK);
            for (int l = 0; l < desc.n_layers; l++) {
                enum layer_kind kind = desc.layers[l].kind;
                bool winograd =
                    choices[l] == CHOICE_winograd_f4 || choices[l] == CHOICE_winograd_f2;
                assert_true(choices[l] < KERNEL_CHOICES);
                assert_true(choices[l] == CHOICE_shape || kind == LAYER_conv2d ||
                            kind == LAYER_dense);
                assert_true(choices[l] == CHOICE_shape || plan != PLAN_REFERENCE);
                assert_false(winograd && plan == PLAN_EXACT);
            }
            compare(i, &desc, (enum plan)plan, 2, choices);
            pool_destroy(pool);
            net_desc_free(&desc);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_equals_the_reference), cmocka_unit_test(choices_mix),
        cmocka_unit_test(chosen_kernels_are_used),           cmocka_unit_test(shape_is_the_default),
        cmocka_unit_test(tuning_chooses_what_can_be_used),
    };
    gemm_init();
    return cmocka_run_group_tests_name("tune", tests, run_references, free_references);
}
