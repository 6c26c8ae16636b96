#include "kernels/tests/net_step.h"

#include "kernels/layers/loss.h"
#include "kernels/ops/op.h"

enum { CLASSES = 5, IMAGES = 7, IMAGE_BYTES = 2 * 12 * 12 };

/* A small version of lenet_21k with two channels and both kinds of dropout. */
static void describe_small_net(struct net_desc *net)
{
    begin_net(net, "small", (struct shape){2, 12, 12}, CLASSES);
    net->mean[0] = 0.13;
    net->std[0] = 0.31;
    net->mean[1] = 0.5;
    net->std[1] = 0.25;
    add_layer(net, conv2d_layer(4, 3, 3, 1, 0));
    add_layer(net, maxpool2d_layer(2, 2, 0));
    add_layer(net, layer_desc_preset(LAYER_relu));
    add_layer(net, conv2d_layer(6, 2, 2, 1, 0));
    add_layer(net, dropout_layer(LAYER_dropout2d, 0.3));
    add_layer(net, maxpool2d_layer(2, 2, 0));
    add_layer(net, layer_desc_preset(LAYER_relu));
    add_layer(net, dense_layer(10));
    add_layer(net, layer_desc_preset(LAYER_relu));
    add_layer(net, dropout_layer(LAYER_dropout, 0.3));
    add_layer(net, dense_layer(CLASSES));
    end_net(net);
}

static void setup_begin(struct setup *r, enum plan plan, int threads)
{
    *r = (struct setup){0};
    describe_small_net(&r->desc);
    setup_net(
        r, IMAGES,
        (struct net_options){.plan = plan, .isa = isa_best(), .threads = threads, .slots = 2});
}

#ifdef SCALEBENCH_F64
/* Compares d loss / d parameter of the whole net with central differences. The truncation error is
 * h^2/6 times a third derivative of order 1: 2e-10. Rounding adds about 100 epsilon/h for a loss
 * near 11: at most 3e-8. */
static void check_whole_net_gradient(enum plan plan)
{
    const double h = 0x1p-15;
    struct setup r;
    setup_begin(&r, plan, 1);
    setup_step(&r);
    for (size_t i = 0; i < r.desc.n_params; i++) {
        real kept = r.params[i];
        r.params[i] = kept + h;
        double above = setup_loss(&r) / IMAGES;
        r.params[i] = kept - h;
        double below = setup_loss(&r) / IMAGES;
        r.params[i] = kept;
        double difference = (above - below) / (2 * h);
        if (!(fabs(difference - r.grads[i]) <= 3e-8))
            fail_msg("parameter %zu: gradient %.12g, difference %.12g", i, r.grads[i], difference);
    }
    setup_end(&r);
}

static void whole_net_gradient_is_a_finite_difference(void **state)
{
    check_whole_net_gradient(PLAN_REFERENCE);
    check_whole_net_gradient(PLAN_FAST);
    check_whole_net_gradient(PLAN_EXACT);
}
#endif

/* The gradient of one step must agree to 1e-4 of its norm in float; double has 2^29 times the
 * precision. */
static void fast_plan_equals_the_reference_plan(void **state)
{
    const double bound = REAL_EPSILON * 1e-4 / 0x1p-23;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct setup reference, fast;
        setup_begin(&reference, PLAN_REFERENCE, threads);
        setup_begin(&fast, PLAN_FAST, threads);
        setup_step(&reference);
        setup_step(&fast);
        assert_true(relative_distance(net_logits(fast.net, 0), net_logits(reference.net, 0),
                                      IMAGES * CLASSES) <= bound);
        assert_true(relative_distance(fast.grads, reference.grads, fast.desc.n_params) <= bound);
        setup_end(&reference);
        setup_end(&fast);
    }
}

static void steps_repeat_bit_by_bit(void **state)
{
    struct setup a, b;
    setup_begin(&a, PLAN_FAST, 3);
    setup_begin(&b, PLAN_FAST, 3);
    setup_step(&a);
    setup_step(&b);
    setup_step(&b);
    assert_memory_equal(a.grads, b.grads, a.desc.n_params * sizeof(real));
    setup_end(&a);
    setup_end(&b);
}

/* Loads images [begin, begin + n) and adds their gradient, divided by the size of the whole
 * batch. */
static void add_part(struct setup *r, int begin, int n)
{
    r->ex.samples = r->samples + begin;
    net_load(r->net, &r->ex, 0, n, r->images + begin * IMAGE_BYTES);
    net_forward(r->net, &r->ex, 0, 0, net_ops(r->net), r->params);
    net_loss(r->net, &r->ex, 0, r->labels + begin, NULL, 1.0 / IMAGES);
    net_backward(r->net, &r->ex, 0, 0, net_ops(r->net), r->params, r->grads);
    r->ex.accumulate = true;
}

/* The gradient of 7 images equals the sum of the gradients of 3 and 4 of them, also with dropout:
 * data parallelism is exact. Only the order of the sum differs. */
static void a_batch_is_the_sum_of_its_parts(void **state)
{
    const double bound = REAL_EPSILON * 1e-4 / 0x1p-23;
    for (int plan = PLAN_REFERENCE; plan <= PLAN_EXACT; plan++) {
        struct setup whole, parts;
        setup_begin(&whole, (enum plan)plan, 1);
        setup_begin(&parts, (enum plan)plan, 3);
        setup_step(&whole);
        add_part(&parts, 0, 3);
        add_part(&parts, 3, 4);
        assert_true(relative_distance(parts.grads, whole.grads, whole.desc.n_params) <= bound);
        setup_end(&whole);
        setup_end(&parts);
    }
}

/* Running ranges of ops on two slots alternately, as a pipeline does, equals a whole pass. */
static void slots_and_ranges_do_not_disturb_each_other(void **state)
{
    struct setup whole, cut;
    setup_begin(&whole, PLAN_FAST, 1);
    setup_begin(&cut, PLAN_FAST, 1);
    setup_step(&whole);
    int ops = net_ops(cut.net), middle = ops / 2;
    real *other = random_reals(cut.desc.n_params, 9);
    uint8_t inverted[IMAGES * IMAGE_BYTES];
    for (size_t i = 0; i < sizeof inverted; i++)
        inverted[i] = (uint8_t)(255 - cut.images[i]);
    net_load(cut.net, &cut.ex, 0, IMAGES, cut.images);
    net_load(cut.net, &cut.ex, 1, IMAGES - 2, inverted);
    net_forward(cut.net, &cut.ex, 0, 0, middle, cut.params);
    net_forward(cut.net, &cut.ex, 1, 0, ops, cut.params);
    net_forward(cut.net, &cut.ex, 0, middle, ops, cut.params);
    net_loss(cut.net, &cut.ex, 0, cut.labels, NULL, 1.0 / IMAGES);
    net_loss(cut.net, &cut.ex, 1, cut.labels, NULL, 1.0 / IMAGES);
    net_backward(cut.net, &cut.ex, 0, middle, ops, cut.params, cut.grads);
    net_backward(cut.net, &cut.ex, 1, 0, ops, cut.params, other);
    net_backward(cut.net, &cut.ex, 0, 0, middle, cut.params, cut.grads);
    assert_memory_equal(cut.grads, whole.grads, cut.desc.n_params * sizeof(real));
    assert_true(relative_distance(other, cut.grads, cut.desc.n_params) > 0.01);
    mem_free(other);
    setup_end(&whole);
    setup_end(&cut);
}

/* The tensors of all ops, in order, are the tensors of the net. */
static void ops_own_the_tensors_in_order(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_EXACT; plan++) {
        struct setup r;
        setup_begin(&r, (enum plan)plan, 1);
        int next = 0;
        for (int i = 0; i < net_ops(r.net); i++) {
            int first = -1, last = -1;
            net_op_tensors(r.net, i, &first, &last);
            if (last > first)
                assert_int_equal(first, next);
            next += last - first;
        }
        assert_int_equal(next, r.desc.n_tensors);
        if (plan == PLAN_REFERENCE)
            assert_int_equal(net_ops(r.net), r.desc.n_layers);
        setup_end(&r);
    }
}

/* A dense layer with unit weights outputs the net's input. */
static void bytes_are_normalised_by_channel(void **state)
{
    struct net_desc desc;
    struct exec ex = {0};
    begin_net(&desc, "sum", (struct shape){2, 1, 1}, 2);
    desc.mean[0] = 0.13;
    desc.std[0] = 0.31;
    desc.mean[1] = 0.5;
    desc.std[1] = 0.25;
    add_layer(&desc, dense_layer(2));
    end_net(&desc);
    struct net *net = make_net(&desc, PLAN_REFERENCE, 256, 1, 1);
    const real params[6] = {1, 0, 0, 1, 0, 0};
    uint8_t images[512];
    for (int i = 0; i < 256; i++) {
        images[2 * i] = (uint8_t)i;
        images[2 * i + 1] = (uint8_t)(255 - i);
    }
    net_load(net, &ex, 0, 256, images);
    net_forward(net, &ex, 0, 0, 1, params);
    const real *seen = net_logits(net, 0);
    for (int i = 0; i < 256; i++) {
        assert_true(seen[2 * i] == (real)((i / 255.0 - 0.13) / 0.31));
        assert_true(seen[2 * i + 1] == (real)(((255 - i) / 255.0 - 0.5) / 0.25));
    }
    net_destroy(net);
    net_desc_free(&desc);
}

/* Logits ln 1, ln 2, ln 5 have probabilities 1/8, 2/8, 5/8. Logarithms are rounded to `real`, which
 * changes probabilities by their relative error, one or two epsilons. */
static void loss_equals_a_hand_computation(void **state)
{
    const real logits[6] = {0, (real)log(2), (real)log(5), (real)log(2), 0, (real)log(5)};
    const uint8_t labels[2] = {1, 2};
    const double gradient[6] = {0.5 * 1 / 8, 0.5 * -6 / 8, 0.5 * 5 / 8,
                                0.5 * 2 / 8, 0.5 * 1 / 8,  0.5 * -3 / 8};
    real dlogits[6];
    struct score s = softmax_cross_entropy(2, 3, logits, labels, NULL, 0.5, dlogits);
    assert_true(fabs(s.loss_sum - (log(4) + log(8.0 / 5))) <= 4 * REAL_EPSILON);
    assert_int_equal(s.samples, 2);
    assert_int_equal(s.correct, 1);
    for (int i = 0; i < 6; i++)
        assert_true(fabs((double)dlogits[i] - gradient[i]) <= 4 * REAL_EPSILON);
}

/* exp(1e4) overflows even in double. If logits are equal, the first class is chosen. */
static void loss_is_stable_and_ties_take_the_first(void **state)
{
    const real logits[8] = {10000, 0, -10000, 0, 3, 3, 3, 3};
    const uint8_t labels[2] = {1, 0};
    real dlogits[8];
    struct score s = softmax_cross_entropy(2, 4, logits, labels, NULL, 1, dlogits);
    assert_true(fabs(s.loss_sum - (10000 + log(4))) <= 1e-11);
    assert_int_equal(s.correct, 1);
    const real expected[8] = {1, -1, 0, 0, -0.75, 0.25, 0.25, 0.25};
    for (int i = 0; i < 8; i++)
        assert_true(fabs((double)dlogits[i] - (double)expected[i]) <= REAL_EPSILON);
}

/* An image of weight 0 (padding) has no effect on loss and gradient; an image of weight 2 counts
 * twice. */
static void weights_scale_loss_and_gradient(void **state)
{
    real *logits = random_reals(3 * 4, 1), d[12], d_plain[12];
    const uint8_t labels[3] = {3, 0, 1};
    const real weights[3] = {1, 0, 2};
    struct score plain[3];
    for (int i = 0; i < 3; i++)
        plain[i] =
            softmax_cross_entropy(1, 4, logits + 4 * i, labels + i, NULL, 0.25, d_plain + 4 * i);
    struct score s = softmax_cross_entropy(3, 4, logits, labels, weights, 0.25, d);
    assert_true(s.loss_sum == plain[0].loss_sum + 2 * plain[2].loss_sum);
    assert_int_equal(s.samples, 2);
    assert_int_equal(s.correct, plain[0].correct + plain[2].correct);
    for (int i = 0; i < 4; i++) {
        assert_true(d[i] == d_plain[i]);
        assert_true(d[4 + i] == 0);
        assert_true(d[8 + i] == 2 * d_plain[8 + i]);
    }
    mem_free(logits);
}

/* Evaluation computes no gradient and leaves the gradient of the last training batch unchanged. */
static void loss_without_a_scale_leaves_no_gradient(void **state)
{
    struct setup a, b;
    setup_begin(&a, PLAN_FAST, 1);
    setup_begin(&b, PLAN_FAST, 1);
    setup_step(&a);
    setup_loss(&b);
    const uint8_t wrong[IMAGES] = {0};
    net_loss(b.net, &b.ex, 0, wrong, NULL, 0);
    net_backward(b.net, &b.ex, 0, 0, net_ops(b.net), b.params, b.grads);
    assert_memory_equal(a.grads, b.grads, a.desc.n_params * sizeof(real));
    setup_end(&a);
    setup_end(&b);
}

static void charge_flops(void *arg, enum work kind, double amount)
{
    assert_int_equal(kind, WORK_FLOP);
    *(double *)arg += amount;
}

static void a_simulated_clock_is_charged_every_flop(void **state)
{
    double charged = 0;
    struct setup r;
    setup_begin(&r, PLAN_FAST, 1);
    r.ex.charge = charge_flops;
    r.ex.charge_arg = &charged;
    setup_step(&r);
    assert_true(charged ==
                (double)(net_flops_done(r.net, false) + net_flops_done(r.net, true)) * IMAGES);
    setup_end(&r);
}

static void impossible_nets_are_refused(void **state)
{
    struct net *net = NULL;
    struct error e = {0};
    struct net_desc desc;
    begin_net(&desc, "seven", (struct shape){7, 4, 4}, 3);
    add_layer(&desc, dense_layer(3));
    end_net(&desc);
    struct net_options options = {.plan = PLAN_FAST, .n_max = 1, .threads = 1, .slots = 1};
    assert_int_equal(net_create(&net, &desc, &options, &e), ERR_SHAPE);
    assert_null(net);
    assert_non_null(strstr(e.text, "7 channels"));
    options.n_max = 0;
    assert_int_equal(net_create(&net, &desc, &options, &e), ERR_ARGUMENT);
    net_desc_free(&desc);
}

/* Returns the initial weights of a dense net with enough numbers for statistics. */
static real *initial_params(enum initializer initializer, struct net_desc *desc, uint64_t seed)
{
    begin_net(desc, "init", (struct shape){1, 20, 20}, 10);
    desc->initializer = initializer;
    add_layer(desc, dense_layer(100));
    add_layer(desc, dense_layer(10));
    end_net(desc);
    real *params = mem_alloc(desc->n_params * sizeof *params);
    assert_non_null(params);
    net_init_params(desc, params, seed);
    return params;
}

/* All numbers are within bounds. The variance of each weight tensor is within six standard errors
 * of its distribution's. The variance of a sample variance is (kurtosis - 1) variance^2 / n, with
 * kurtosis 9/5 for uniform, 3 for normal numbers. */
static void check_tensor(const struct tensor_desc *t, const real *w, double variance,
                         double kurtosis, double limit)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        assert_true(fabs((double)w[i]) <= limit);
        assert_true(w[i] == (real)(float)w[i]); /* a float in both builds */
        sum += (double)w[i] * (double)w[i];
    }
    double n = (double)t->count;
    assert_true(fabs(sum / n - variance) <= 6 * variance * sqrt((kurtosis - 1) / n));
}

static void initial_weights_have_their_distribution(void **state)
{
    for (int kind = 0; kind < INITIALIZERS; kind++) {
        struct net_desc desc;
        real *params = initial_params((enum initializer)kind, &desc, 1);
        for (int i = 0; i < desc.n_tensors; i++) {
            const struct tensor_desc *t = &desc.tensors[i];
            const real *w = params + t->offset;
            double in = (double)t->fan_in, out = (double)t->fan_out;
            double bound = kind == INIT_PYTORCH ? 1 / sqrt(in) : sqrt(6 / (in + out));
            if (kind != INIT_PYTORCH && t->bias)
                check_tensor(t, w, 0, 3, 0);
            else if (kind == INIT_HE)
                check_tensor(t, w, 2 / in, 3, 6 * sqrt(2 / in));
            else /* one rounding to float beyond the bound */
                check_tensor(t, w, bound * bound / 3, 1.8, bound * (1 + 0x1p-23));
        }
        mem_free(params);
        net_desc_free(&desc);
    }
}

static double cosine(const real *a, const real *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

static void initial_weights_depend_on_the_seed_alone(void **state)
{
    struct net_desc desc, same, other;
    real *a = initial_params(INIT_PYTORCH, &desc, 1), *b = initial_params(INIT_PYTORCH, &same, 1);
    real *c = initial_params(INIT_PYTORCH, &other, 2);
    assert_memory_equal(a, b, desc.n_params * sizeof *a);
    assert_true(relative_distance(c, a, desc.n_params) > 1);
    /* Tensors of one net have independent streams: the cosine between n independent numbers each
     * has a standard deviation of 1/sqrt(n). */
    const double n = 1000;
    assert_true(fabs(cosine(a, a + desc.tensors[2].offset, (size_t)n)) < 6 / sqrt(n));
    mem_free(a);
    mem_free(b);
    mem_free(c);
    net_desc_free(&desc);
    net_desc_free(&same);
    net_desc_free(&other);
}

/* 200 steps of Adam on 7 images: all parts work together. */
static void a_small_net_learns_its_batch(void **state)
{
    struct setup r;
    setup_begin(&r, PLAN_FAST, 1);
    real *moments = mem_alloc(2 * r.desc.n_params * sizeof(real));
    const struct optimizer adam = {.kind = OPTIMIZER_adam,
                                   .beta1 = 0.9,
                                   .beta2 = 0.999,
                                   .epsilon = 1e-8,
                                   .n = r.desc.n_params,
                                   .state = moments};
    for (uint64_t step = 1; step <= 200; step++) {
        r.ex.epoch = (uint32_t)step; /* other masks in each step */
        setup_step(&r);
        optimizer_step(&adam, r.pool, r.params, r.grads, 0, r.desc.n_params, step, 0.01);
    }
    r.ex.training = false;
    net_load(r.net, &r.ex, 0, IMAGES, r.images);
    net_forward(r.net, &r.ex, 0, 0, net_ops(r.net), r.params);
    struct score s = net_loss(r.net, &r.ex, 0, r.labels, NULL, 0);
    assert_int_equal(s.samples, IMAGES);
    assert_int_equal(s.correct, IMAGES);
    int classes[IMAGES];
    net_classify(r.net, 0, classes);
    for (int i = 0; i < IMAGES; i++)
        assert_int_equal(classes[i], r.labels[i]);
    mem_free(moments);
    setup_end(&r);
}

/* A small version of keras_690k's convolutions: 13x13 -> conv 3 -> 11x11 -> pool -> 5x5 -> conv 3
 * -> 3x3 -> pool -> 1x1. The last pooling reads 2x2 of 3x3, which need 4x4 of 5x5, 8x8 of 11x11,
 * 10x10 of 13x13. */
static void rows_dropped_by_floor_pooling_are_not_read(void **state)
{
    struct net_desc desc;
    begin_net(&desc, "floors", (struct shape){1, 13, 13}, 2);
    add_layer(&desc, conv2d_layer(3, 3, 3, 1, 0));
    add_layer(&desc, maxpool2d_layer(2, 2, 0));
    add_layer(&desc, conv2d_layer(2, 3, 3, 1, 0));
    add_layer(&desc, layer_desc_preset(LAYER_relu));
    add_layer(&desc, maxpool2d_layer(2, 2, 0));
    end_net(&desc);
    struct extent read[6];
    plan_read_extents(desc.layers, desc.n_layers, read);
    const int expected[6] = {10, 8, 4, 2, 2, 1};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(read[i].h, expected[i]);
        assert_int_equal(read[i].w, expected[i]);
    }
    net_desc_free(&desc);
}

/* Padding shifts the windows: a 3x3 kernel with padding 1 reads one row more than the outputs
 * needed. */
static void padding_does_not_count_as_read_rows(void **state)
{
    struct net_desc desc;
    begin_net(&desc, "padded", (struct shape){1, 5, 7}, 3);
    add_layer(&desc, conv2d_layer(2, 3, 3, 1, 1));
    add_layer(&desc, maxpool2d_layer(2, 2, 0));
    add_layer(&desc, dense_layer(3));
    end_net(&desc);
    struct extent read[4];
    plan_read_extents(desc.layers, desc.n_layers, read);
    assert_int_equal(read[1].h, 4);
    assert_int_equal(read[1].w, 6);
    assert_int_equal(read[0].h, 5);
    assert_int_equal(read[0].w, 7);
    net_desc_free(&desc);
}

/* If only padding would be read, one row is still read: an op computes at least one number. */
static void padding_alone_is_read_as_one_row(void **state)
{
    struct net_desc desc;
    begin_net(&desc, "corner", (struct shape){1, 4, 6}, 3);
    add_layer(&desc, conv2d_layer(2, 3, 3, 1, 1));
    add_layer(&desc, conv2d_layer(2, 3, 3, 1, 7));
    add_layer(&desc, maxpool2d_layer(1, 1, 64));
    add_layer(&desc, dense_layer(3));
    end_net(&desc);
    struct extent read[5];
    plan_read_extents(desc.layers, desc.n_layers, read);
    const int expected[4] = {2, 1, 1, 1};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(read[i].h, expected[i]);
        assert_int_equal(read[i].w, expected[i]);
    }
    net_desc_free(&desc);
}

/* 16-bit values of 16 images, whole vectors in either precision, need half the memory; their
 * gradients do not. */
static void narrow_values_need_half_the_memory(void **state)
{
    struct net_desc desc;
    struct net *nets[PRECISIONS] = {NULL};
    struct error e = {0};
    size_t blocked = 0;
    struct net_options options = {
        .plan = PLAN_FAST, .isa = isa_best(), .n_max = 16, .threads = 1, .slots = 2};
    begin_net(&desc, "three convolutions", (struct shape){3, 12, 12}, 10);
    for (int i = 0; i < 3; i++) {
        add_layer(&desc, conv2d_layer(24, 3, 3, 1, 1));
        if (i != 1)
            add_layer(&desc, layer_desc_preset(LAYER_batchnorm2d));
        add_layer(&desc, layer_desc_preset(LAYER_relu));
    }
    add_layer(&desc, dense_layer(10));
    end_net(&desc);
    assert_int_equal(net_create(&nets[0], &desc, &options, &e), OK);
    bool can = sizeof(real) == sizeof(float);
    struct net_memory wide = net_memory(nets[0]);
    for (int op = 0; op < net_ops(nets[0]); op++)
        if (net_op_view(nets[0], 0, op).y == NULL)
            blocked += net_activation_reals(nets[0], op + 1, 2 * 16) * sizeof(real);
    assert_true(blocked > 0);
    for (enum precision values = PRECISION_bf16; values < PRECISIONS; values++) {
        options.values = values;
        enum status status = net_create(&nets[values], &desc, &options, &e);
        assert_int_equal(status, can ? OK : ERR_ARGUMENT);
        if (!can)
            continue;
        struct net_memory narrow = net_memory(nets[values]);
        assert_int_equal(wide.outputs - narrow.outputs, blocked / 2);
        assert_int_equal(wide.gradients, narrow.gradients);
        assert_true(narrow.saved < wide.saved);
    }
    for (int i = 0; i < PRECISIONS; i++)
        net_destroy(nets[i]);
    net_desc_free(&desc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_dropped_by_floor_pooling_are_not_read),
        cmocka_unit_test(padding_does_not_count_as_read_rows),
        cmocka_unit_test(padding_alone_is_read_as_one_row),
#ifdef SCALEBENCH_F64
        cmocka_unit_test(whole_net_gradient_is_a_finite_difference),
#endif
        cmocka_unit_test(fast_plan_equals_the_reference_plan),
        cmocka_unit_test(steps_repeat_bit_by_bit),
        cmocka_unit_test(a_batch_is_the_sum_of_its_parts),
        cmocka_unit_test(slots_and_ranges_do_not_disturb_each_other),
        cmocka_unit_test(ops_own_the_tensors_in_order),
        cmocka_unit_test(bytes_are_normalised_by_channel),
        cmocka_unit_test(loss_equals_a_hand_computation),
        cmocka_unit_test(loss_is_stable_and_ties_take_the_first),
        cmocka_unit_test(weights_scale_loss_and_gradient),
        cmocka_unit_test(loss_without_a_scale_leaves_no_gradient),
        cmocka_unit_test(a_simulated_clock_is_charged_every_flop),
        cmocka_unit_test(impossible_nets_are_refused),
        cmocka_unit_test(initial_weights_have_their_distribution),
        cmocka_unit_test(initial_weights_depend_on_the_seed_alone),
        cmocka_unit_test(a_small_net_learns_its_batch),
        cmocka_unit_test(narrow_values_need_half_the_memory),
    };
    gemm_init();
    return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
