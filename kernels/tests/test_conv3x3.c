/* Steps for 3x3 convolutions against the reference plan, in whole nets. */
#include "kernels/tests/support.h"

#include "kernels/step.h"

enum { CLASSES = 5, IMAGES_MAX = 13, CONV_MAX = 4 };

/* What comes after a convolution. */
enum after { NOTHING, RELU, RELU_POOL, POOL_RELU };

struct conv_case {
    int channels, pad;
    enum after after;
};

/* A net of 3x3 convolutions and a dense layer. */
struct net_case {
    struct shape input;
    int n;
    struct conv_case convs[CONV_MAX]; /* ends with channels 0 */
};

static const struct net_case cases[] = {
    {{1, 14, 14}, 5, {{8, 0, RELU_POOL}, {12, 0, RELU_POOL}}},
    {{1, 28, 28}, 3, {{32, 0, RELU_POOL}, {40, 0, RELU_POOL}, {33, 0, RELU_POOL}}},
    {{3, 8, 8}, 7, {{5, 1, NOTHING}, {7, 1, RELU_POOL}, {11, 1, RELU_POOL}, {6, 1, RELU}}},
    {{3, 9, 7}, 13, {{3, 1, RELU}, {4, 2, RELU}, {5, 0, POOL_RELU}}},
    {{2, 5, 11}, 1, {{1, 2, NOTHING}, {1, 5, NOTHING}, {2, 0, RELU_POOL}}},
    {{4, 6, 6}, 2, {{37, 1, RELU}, {70, 1, POOL_RELU}, {3, 1, NOTHING}}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void describe(struct net_desc *desc, const struct net_case *c)
{
    begin_net(desc, "convs", c->input, CLASSES);
    for (int i = 0; i < c->input.c; i++) {
        desc->mean[i] = 0.4 + 0.05 * i;
        desc->std[i] = 0.3;
    }
    for (int i = 0; i < CONV_MAX && c->convs[i].channels > 0; i++) {
        enum after after = c->convs[i].after;
        add_layer(desc, conv2d_layer(c->convs[i].channels, 3, 3, 1, c->convs[i].pad));
        if (after == POOL_RELU)
            add_layer(desc, maxpool2d_layer(2, 2, 2));
        if (after != NOTHING)
            add_layer(desc, layer_desc_preset(LAYER_relu));
        if (after == RELU_POOL)
            add_layer(desc, maxpool2d_layer(2, 2, 2));
    }
    add_layer(desc, dense_layer(CLASSES));
    end_net(desc);
}

struct rig {
    struct net_desc desc;
    struct net *net;
    struct pool *pool;
    struct exec ex;
    int n;
    uint8_t *images, labels[IMAGES_MAX];
    uint32_t samples[IMAGES_MAX];
    real *params, *grads;
};

static void rig_begin(struct rig *r, const struct net_case *c, enum plan plan, enum isa isa,
                      int threads)
{
    struct error e = {0};
    *r = (struct rig){.n = c->n};
    describe(&r->desc, c);
    const struct net_options options = {
        .plan = plan, .isa = isa, .n_max = c->n, .threads = threads, .slots = 1};
    if (net_create(&r->net, &r->desc, &options, &e) != OK)
        fail_msg("%s", e.text);
    r->pool = make_pool(threads);
    size_t bytes = (size_t)c->n * shape_count(c->input);
    r->images = mem_alloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        r->images[i] = (uint8_t)rng_word(1, 96, 0, 0, (uint32_t)i);
    for (uint32_t i = 0; i < (uint32_t)c->n; i++) {
        r->labels[i] = (uint8_t)(rng_word(2, 96, 0, 0, i) % CLASSES);
        r->samples[i] = i;
    }
    r->params = mem_alloc(r->desc.n_params * sizeof(real));
    r->grads = random_reals(r->desc.n_params, 8);
    net_init_params(&r->desc, r->params, 42);
    for (size_t i = 0; i < r->desc.n_params; i++) /* biases, too */
        r->params[i] += (real)(0.01 * rng_unit(rng_word(3, 96, 0, 0, (uint32_t)i)));
    r->ex = (struct exec){.pool = r->pool, .training = true, .samples = r->samples};
}

static void rig_end(struct rig *r)
{
    net_destroy(r->net);
    pool_destroy(r->pool);
    net_desc_free(&r->desc);
    mem_free(r->images);
    mem_free(r->params);
    mem_free(r->grads);
}

static double rig_loss(struct rig *r)
{
    net_load(r->net, &r->ex, 0, r->n, r->images);
    net_forward(r->net, &r->ex, 0, 0, net_steps(r->net), r->params);
    return net_loss(r->net, &r->ex, 0, r->labels, NULL, 1.0 / r->n).loss_sum;
}

static void rig_step(struct rig *r)
{
    rig_loss(r);
    net_backward(r->net, &r->ex, 0, 0, net_steps(r->net), r->params, r->grads);
}

/* ||a - b|| / ||b|| */
static double relative_distance(const real *a, const real *b, size_t n)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

static void assert_close(const char *what, const real *a, const real *b, size_t n)
{
    const double bound = REAL_EPSILON * 1e-4 / 0x1p-23;
    double distance = relative_distance(a, b, n);
    if (!(distance <= bound))
        fail_msg("%s: relative distance %.3g exceeds %.3g", what, distance, bound);
}

static void compare(const struct net_case *c, enum isa isa, int threads)
{
    struct rig reference, fast;
    rig_begin(&reference, c, PLAN_REFERENCE, isa, 1);
    rig_begin(&fast, c, PLAN_FAST, isa, threads);
    assert_string_equal(net_step_name(fast.net, 0), "first_conv");
    assert_string_equal(net_step_name(fast.net, net_steps(fast.net) - 2), "winograd_last");
    rig_step(&reference);
    rig_step(&fast);
    assert_close("logits", net_logits(fast.net, 0), net_logits(reference.net, 0),
                 (size_t)c->n * CLASSES);
    for (int t = 0; t < fast.desc.n_tensors; t++) {
        const struct tensor_desc *tensor = &fast.desc.tensors[t];
        assert_close(tensor->name, fast.grads + tensor->offset, reference.grads + tensor->offset,
                     tensor->count);
    }
    rig_end(&reference);
    rig_end(&fast);
}

static void steps_equal_the_reference_on_every_isa(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++)
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++)
            for (int threads = 1; threads <= 3; threads++)
                compare(&cases[i], (enum isa)isa, threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_equal_the_reference_on_every_isa),
    };
    gemm_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
