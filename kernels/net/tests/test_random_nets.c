/* Random nets of all layer kinds on random images, many with zero biases or blank areas. A training
 * step is compared with plain loops in double precision, for every plan and instruction set, one to
 * three threads, default and random kernels. plain_net.h also bounds the error of each number.
 * Outputs whose inputs are all zero must be exact.
 *
 * Every third net is unusual: sides from 1 on, up to 256 classes, dropout rates of 0 and near 1,
 * layers in unlikely places. Strides and padding may exceed the kernel and differ between rows and
 * columns. A batch may be smaller than n_max and filled up with padding images.
 *
 *   test_random_nets[_f64]              the tests
 *   test_random_nets[_f64] NUMBER       one net: its description, and its largest errors
 *   test_random_nets[_f64] FIRST END    nets FIRST to END - 1 */
#include "kernels/tests/plain_net.h"

#include <stdio.h>

#include "kernels/ops/op.h"

enum {
    NETS = 240,
    IMAGES_MAX = 7,
    THREADS_MAX = 3,
    DRAWS_MAX = 40,
    SEED = 12,
};
/* Largest number of multiplications in forward of a net, for all images. */
#define WORK_MAX 600000
/* Allowed error in standard deviations. Equal terms, as in blank areas, are all rounded the same
 * way. A sequential sum of m of them is off by sqrt(m)/2 times the deviation of plain_net.h, and m
 * exceeds 1,000 here. Only the reference plan sums so: it is 25 deviations off in net 222, other
 * plans at most 1.2. */
#define DEVIATIONS(plan) ((plan) == PLAN_REFERENCE ? 32 : 16)
/* Minimum distance of a number from a kink, in standard deviations. */
#define CLEARANCE 5

struct draw {
    uint32_t net, at;
};

static uint32_t draw_word(struct draw *d)
{
    return rng_word(SEED, 1, 0, d->net, d->at++);
}

static int draw_below(struct draw *d, int n)
{
    return (int)(draw_word(d) % (uint32_t)n);
}

static bool draw_chance(struct draw *d, int percent)
{
    return draw_below(d, 100) < percent;
}

struct random_net {
    struct net_desc desc;
    uint32_t number;
    int n;
    bool odd;
    int n_max, slot; /* images per call, slot used */
    bool padded;     /* set if `weights` mark padding images */
    bool accumulate;
    uint8_t choices[PLAIN_LAYERS_MAX];
    real weights[IMAGES_MAX];
    real *params, *buffers;
    uint8_t *images, labels[IMAGES_MAX];
    uint32_t samples[IMAGES_MAX];
    struct plain_net exact, fast; /* oracles with the error bounds of direct sums, and of
                                   * transforms */
};

/* Returns the multiplications that a layer would have after the others; 0 if it does not fit. */
static uint64_t work_of(const struct random_net *r, struct layer_desc l)
{
    const struct layer_rule *rule = layer_rule_get(l.kind);
    struct error e = {0};
    int before = r->desc.n_layers;
    l.in = before > 0 ? r->desc.layers[before - 1].out : r->desc.input;
    if (rule->infer(&l, &e) != OK || rule->flops == NULL)
        return 0;
    return (uint64_t)r->n * rule->flops(&l) / 2;
}

/* Removes the bias of every fourth layer that can have one. Uses a separate random stream, so that
 * other choices stay the same. */
static struct layer_desc with_bias_or_not(const struct random_net *r, struct layer_desc l)
{
    bool may = l.kind == LAYER_conv2d || l.kind == LAYER_dense;
    uint32_t word = rng_word(SEED, 2, 0, r->number, (uint32_t)r->desc.n_layers);
    l.without_bias = may && word % 4 == 0;
    return l;
}

static bool try_layer(struct random_net *r, struct layer_desc l)
{
    struct error e = {0};
    l = with_bias_or_not(r, l);
    if (r->odd && work_of(r, l) > WORK_MAX)
        return false;
    if (net_desc_add(&r->desc, &l, &e) != OK)
        return false;
    const struct layer_desc *last = &r->desc.layers[r->desc.n_layers - 1];
    return (uint64_t)r->n * last->flops_forward / 2 <= WORK_MAX;
}

static void draw_odd_pool(struct draw *d, struct random_net *r, enum layer_kind kind)
{
    struct layer_desc l = pool_layer(kind, 1 + draw_below(d, 4), 1 + draw_below(d, 4), 0, 0);
    l.stride_h = draw_below(d, draw_chance(d, 20) ? 30 : 5);
    l.stride_w = draw_below(d, draw_chance(d, 20) ? 30 : 5);
    l.pad_h = draw_below(d, l.kernel_h / 2 + 1);
    l.pad_w = draw_below(d, l.kernel_w / 2 + 1);
    try_layer(r, l);
}

static void draw_pool(struct draw *d, struct random_net *r)
{
    enum layer_kind kind = draw_chance(d, 75) ? LAYER_maxpool2d : LAYER_avgpool2d;
    if (r->odd && draw_chance(d, 60)) {
        draw_odd_pool(d, r, kind);
        return;
    }
    if (draw_chance(d, 75)) {
        try_layer(r, pool_layer(kind, 2, 2, 2, 0));
        return;
    }
    int h = 1 + draw_below(d, 3), w = 1 + draw_below(d, 3), most = (h < w ? h : w) / 2;
    try_layer(r, pool_layer(kind, h, w, 1 + draw_below(d, 3), draw_below(d, most + 1)));
}

static void draw_dropout(struct draw *d, struct random_net *r, enum layer_kind kind)
{
    static const double odd[] = {0, 1e-6, 0.97, 0.999999};
    bool is_odd = r->odd && draw_chance(d, 50);
    try_layer(r,
              dropout_layer(kind, is_odd ? odd[draw_below(d, 4)] : 0.1 * (1 + draw_below(d, 6))));
}

static struct layer_desc draw_odd_conv(struct draw *d)
{
    bool three = draw_chance(d, 40);
    int h = three ? 3 : 1 + draw_below(d, 8), w = three ? 3 : 1 + draw_below(d, 8);
    struct layer_desc l = conv2d_layer(1 + draw_below(d, 9), h, w, 1, 0);
    if (draw_chance(d, three ? 20 : 60)) {
        l.stride_h = 1 + draw_below(d, 9);
        l.stride_w = 1 + draw_below(d, 9);
    }
    int most = draw_chance(d, 40) ? 12 : 4;
    l.pad_h = draw_below(d, most);
    l.pad_w = draw_below(d, most);
    return l;
}

static struct layer_desc draw_conv(struct draw *d, const struct random_net *r)
{
    if (r->odd && draw_chance(d, 70))
        return draw_odd_conv(d);
    int channels = draw_chance(d, 15) ? 30 + draw_below(d, 12) : 1 + draw_below(d, 17);
    if (draw_chance(d, 60))
        return conv2d_layer(channels, 3, 3, 1, draw_chance(d, 10) ? 3 : draw_below(d, 3));
    if (draw_chance(d, 60)) {
        int kernel = draw_chance(d, 60) ? 5 : 2 + draw_below(d, 6);
        return conv2d_layer(channels, kernel, kernel, 1, 0);
    }
    int h = 1 + draw_below(d, 4), w = 1 + draw_below(d, 4), least = h < w ? h : w;
    return conv2d_layer(channels, h, w, 1 + draw_below(d, 2), draw_below(d, least));
}

static void draw_block(struct draw *d, struct random_net *r)
{
    if (!try_layer(r, draw_conv(d, r)))
        return;
    if (draw_chance(d, 25))
        try_layer(r, layer_desc_preset(LAYER_batchnorm2d));
    else if (draw_chance(d, 20))
        draw_dropout(d, r, LAYER_dropout2d);
    bool relu = draw_chance(d, 60), pool = draw_chance(d, 50);
    if (relu)
        try_layer(r, layer_desc_preset(LAYER_relu));
    if (pool)
        draw_pool(d, r);
    if (!relu && draw_chance(d, 80))
        try_layer(r, layer_desc_preset(LAYER_relu));
    if (draw_chance(d, 15))
        try_layer(r, layer_desc_preset(LAYER_batchnorm2d));
    if (draw_chance(d, 10))
        draw_dropout(d, r, draw_chance(d, 50) ? LAYER_dropout : LAYER_dropout2d);
}

/* Draws any layer except a dense one. */
static void draw_anything(struct draw *d, struct random_net *r)
{
    int kind = draw_below(d, 6);
    if (kind == 0)
        draw_pool(d, r);
    else if (kind == 1)
        try_layer(r, draw_odd_conv(d));
    else if (kind == 2)
        draw_dropout(d, r, draw_chance(d, 50) ? LAYER_dropout : LAYER_dropout2d);
    else
        try_layer(r, layer_desc_preset(kind < 5 ? LAYER_batchnorm2d : LAYER_relu));
}

/* Draws a last layer with one output per class: a dense layer or, if possible, a convolution over
 * the whole input. */
static void draw_last(struct draw *d, struct random_net *r)
{
    struct shape in =
        r->desc.n_layers > 0 ? r->desc.layers[r->desc.n_layers - 1].out : r->desc.input;
    struct layer_desc conv = conv2d_layer(r->desc.classes, in.h, in.w, 1, 0);
    bool fits = r->odd && in.h <= 64 && in.w <= 64 && work_of(r, conv) <= WORK_MAX;
    add_layer(&r->desc, with_bias_or_not(
                            r, fits && draw_chance(d, 30) ? conv : dense_layer(r->desc.classes)));
    if (r->odd && draw_chance(d, 15))
        try_layer(r, layer_desc_preset(draw_chance(d, 50) ? LAYER_relu : LAYER_batchnorm2d));
    if (r->odd && draw_chance(d, 10))
        draw_dropout(d, r, draw_chance(d, 50) ? LAYER_dropout : LAYER_dropout2d);
}

static void draw_head(struct draw *d, struct random_net *r)
{
    for (int hidden = draw_below(d, 3); hidden > 0; hidden--) {
        try_layer(r, dense_layer(1 + draw_below(d, 70)));
        if (draw_chance(d, 80))
            try_layer(r, layer_desc_preset(LAYER_relu));
        if (draw_chance(d, 30))
            draw_dropout(d, r, LAYER_dropout);
        if (r->odd && draw_chance(d, 40))
            draw_anything(d, r);
    }
    draw_last(d, r);
}

/* Returns the byte that represents 0. Means are 0 (byte 0) or 0.2 (byte 51 = 0.2 * 255). */
static int byte_of_zero(const struct net_desc *desc)
{
    return desc->mean[0] == 0 ? 0 : 51;
}

/* Draws an image shape: small, long, or a single pixel. */
static struct shape draw_odd_shape(struct draw *d)
{
    struct shape in = {1 + draw_below(d, 4), 1 + draw_below(d, 9), 1 + draw_below(d, 9)};
    if (draw_chance(d, 20))
        in.w = 10 + draw_below(d, 70);
    if (draw_chance(d, 10))
        in.h = 10 + draw_below(d, 70);
    return in;
}

/* Draws an unusual batch; at least one of its images counts. */
static void draw_odd_batch(struct draw *d, struct random_net *r)
{
    r->n_max = r->n + draw_below(d, 4) * draw_below(d, 12);
    r->slot = draw_below(d, 2);
    r->padded = r->n > 1 && draw_chance(d, 30);
    for (int i = 0; i < r->n; i++)
        r->weights[i] = i > 0 && draw_chance(d, 40) ? 0 : 1;
}

static void draw_net(struct draw *d, struct random_net *r)
{
    struct shape in = {1 + draw_below(d, 3), 4 + draw_below(d, 15), 4 + draw_below(d, 15)};
    int classes = 2 + draw_below(d, 10);
    r->odd = d->net % 3 == 2;
    r->number = d->net;
    r->n = r->n_max = 1 + draw_below(d, IMAGES_MAX);
    r->accumulate = draw_chance(d, 30);
    if (r->odd) {
        in = draw_chance(d, 70) ? draw_odd_shape(d) : in;
        classes = draw_chance(d, 10) ? 256 - draw_below(d, 3) : classes;
        draw_odd_batch(d, r);
    }
    begin_net(&r->desc, "random", in, classes);
    r->desc.initializer = draw_chance(d, 70) ? INIT_GLOROT : INIT_PYTORCH;
    int kind = draw_below(d, 10);
    for (int c = 0; c < 4; c++) {
        r->desc.mean[c] = kind < 6 ? 0 : kind < 8 ? 0.2 : 0.1 * (1 + draw_below(d, 6));
        r->desc.std[c] = draw_chance(d, 50) ? 1 : 0.1 * (1 + draw_below(d, 9));
    }
    if (r->odd && draw_chance(d, 25))
        draw_anything(d, r);
    for (int blocks = draw_below(d, 4); blocks > 0; blocks--)
        draw_block(d, r);
    draw_head(d, r);
    end_net(&r->desc);
    bool told = draw_chance(d, 40);
    for (int i = 0; i < r->desc.n_layers; i++)
        r->choices[i] = told ? (uint8_t)draw_below(d, KERNEL_CHOICES) : CHOICE_shape;
}

/* Draws boxes of one brightness, of noise, or nothing, on a blank or noisy background. */
static void draw_image_of(struct draw *d, const struct net_desc *desc, uint8_t *image)
{
    struct shape s = desc->input;
    bool noise = draw_chance(d, 15);
    for (size_t i = 0; i < shape_count(s); i++)
        image[i] = (uint8_t)(noise ? draw_below(d, 256) : byte_of_zero(desc));
    for (int boxes = draw_chance(d, 20) ? 0 : 1 + draw_below(d, 4); boxes > 0; boxes--) {
        int top = draw_below(d, s.h), left = draw_below(d, s.w), only = draw_below(d, 2 * s.c);
        int bottom = top + 1 + draw_below(d, 6), right = left + 1 + draw_below(d, 6);
        bool flat = draw_chance(d, 30);
        uint32_t brightness = draw_word(d) >> 24;
        for (int c = 0; c < s.c; c++)
            for (int y = top; y < bottom && y < s.h && (only >= s.c || only == c); y++)
                for (int x = left; x < right && x < s.w; x++)
                    image[plain_at(s, 0, c, y, x)] =
                        (uint8_t)(flat ? brightness : (uint32_t)draw_below(d, 256));
    }
}

static void draw_values(struct draw *d, struct random_net *r)
{
    const struct net_desc *desc = &r->desc;
    bool all_blank = draw_chance(d, 6), shifted = draw_chance(d, 30);
    size_t image = shape_count(desc->input);
    net_init_params(desc, r->params, draw_word(d));
    for (int t = 0; t < desc->n_tensors; t++)
        for (size_t i = 0; i < desc->tensors[t].count; i++) {
            real *w = &r->params[desc->tensors[t].offset + i];
            if (desc->tensors[t].norm && !desc->tensors[t].bias)
                *w = (real)(2 * rng_unit(draw_word(d)) - 1);
            else if (desc->tensors[t].bias && shifted)
                *w = (real)(rng_unit(draw_word(d)) - 0.5);
            *w = (float)*w;
        }
    for (int i = 0; i < r->n; i++) {
        draw_image_of(d, desc, r->images + (size_t)i * image);
        if (all_blank)
            memset(r->images + (size_t)i * image, byte_of_zero(desc), image);
        r->labels[i] = (uint8_t)draw_below(d, desc->classes);
        r->samples[i] = (uint32_t)i;
    }
}

static void reference_begin(struct random_net *r, struct plain_net *p, bool transforms)
{
    *p = (struct plain_net){.desc = &r->desc,
                            .n = r->n,
                            .transforms = transforms,
                            .params = r->params,
                            .images = r->images,
                            .labels = r->labels,
                            .weights = r->padded ? r->weights : NULL,
                            .seed = SEED,
                            .epoch = 3};
    plain_begin(p);
}

/* Draws values until no number is so close to a kink that rounding could cross it. */
static bool random_net_begin(struct random_net *r, uint32_t number)
{
    struct draw d = {.net = number};
    *r = (struct random_net){.n = 0};
    draw_net(&d, r);
    r->params = mem_alloc(r->desc.n_params * sizeof(real));
    r->buffers = mem_alloc((r->desc.n_buffer_values + 1) * sizeof(real));
    r->images = mem_alloc((size_t)r->n * shape_count(r->desc.input));
    reference_begin(r, &r->exact, false);
    reference_begin(r, &r->fast, true);
    for (int draws = 0; draws < DRAWS_MAX; draws++) {
        draw_values(&d, r);
        plain_forward(&r->fast);
        if (r->fast.nearest < CLEARANCE * (double)FLT_EPSILON / 2)
            continue;
        plain_forward(&r->exact);
        plain_backward(&r->fast);
        plain_backward(&r->exact);
        return true;
    }
    return false;
}

static void random_net_end(struct random_net *r)
{
    plain_end(&r->exact);
    plain_end(&r->fast);
    mem_free(r->params);
    mem_free(r->buffers);
    mem_free(r->images);
    net_desc_free(&r->desc);
}

/* Settings and results of one run of a net. */
struct run {
    const struct random_net *net;
    uint32_t number;
    enum plan plan;
    enum isa isa;
    int threads;
    struct net *compiled;
    double worst; /* error in standard deviations */
    enum precision values;
    bool rounds; /* 16-bit operands or values, with relative errors of at most 2^-8 */
    bool near;   /* rounding may cross kinks, so numbers must only be finite */
};

static void check_number(struct run *run, const char *what, size_t at, real got, double expected,
                         double var)
{
    double off = fabs((double)got - expected);
    double deviation =
        run->rounds ? 0x1p-8 * (sqrt(var) + fabs(expected)) : REAL_EPSILON / 2 * sqrt(var);
    if (run->near && isfinite(got))
        return;
    if (off > 0)
        run->worst = fmax(run->worst, off / deviation);
    if (!(off <= DEVIATIONS(run->plan) * deviation))
        fail_msg("net %u, plan %d, set %d, %d threads: %s[%zu] is %.17g instead of %.17g, "
                 "%.3g deviations off",
                 run->number, (int)run->plan, (int)run->isa, run->threads, what, at, (double)got,
                 expected, off / deviation);
}

/* Checks all [N,C,H,W] values between ops, in the part that is read. */
static void check_values(struct run *run, const struct plain_net *p)
{
    for (int op = 0; op < net_ops(run->compiled); op++) {
        struct net_op_view v = net_op_view(run->compiled, run->net->slot, op);
        const struct layer_desc *l = &p->desc->layers[v.last_layer - 1];
        struct plain expected = p->value[v.last_layer];
        for (size_t i = 0; v.y && i < (size_t)p->n * shape_count(l->out); i++) {
            int position = (int)(i % (size_t)(l->out.h * l->out.w));
            if (position / l->out.w < v.read_h && position % l->out.w < v.read_w)
                check_number(run, l->name, i, v.y[i], expected.x[i], expected.var[i]);
        }
    }
}

static void check_gradient(struct run *run, const struct plain_net *p, const real *grads,
                           double before)
{
    for (int t = 0; t < p->desc->n_tensors; t++) {
        const struct tensor_desc *tensor = &p->desc->tensors[t];
        struct shape out = p->desc->layers[tensor->layer].out;
        double terms = (double)p->n * out.h * out.w;
        for (size_t i = 0; i < tensor->count; i++) {
            double expected = p->grads.x[tensor->offset + i];
            double var = p->grads.var[tensor->offset + i];
            if (before != 0) /* added one by one; all may be rounded the same way */
                var += square((terms + PATH) * before / DEVIATIONS(run->plan));
            check_number(run, tensor->name, i, grads[tensor->offset + i], expected + before, var);
        }
    }
}

static void compile(struct run *run)
{
    const struct random_net *r = run->net;
    const struct net_options options = {.plan = run->plan,
                                        .isa = run->isa,
                                        .values = run->values,
                                        .n_max = r->n_max,
                                        .threads = run->threads,
                                        .slots = 1 + r->slot,
                                        .choices = r->choices};
    struct error e = {0};
    if (net_create(&run->compiled, &r->desc, &options, &e) != OK)
        fail_msg("net %u, plan %d, set %d: %s", run->number, (int)run->plan, (int)run->isa, e.text);
}

/* Runs a step with n_max images and NaN weights beforehand, whose remains in memory must have no
 * effect. fp16 training continues after such a step. */
static void fill_memory_with_nan(const struct run *run, const struct exec *ex)
{
    const struct random_net *r = run->net;
    size_t n = (size_t)r->n_max, params = r->desc.n_params;
    real *weights = mem_alloc(params * sizeof *weights), *grads = mem_alloc(params * sizeof *grads);
    const uint8_t **images = mem_alloc(n * sizeof *images);
    uint8_t *labels = mem_alloc(n);
    uint32_t *samples = mem_alloc(n * sizeof *samples);
    struct exec spoiled = *ex;
    spoiled.samples = samples;
    spoiled.weights = NULL;
    for (size_t i = 0; i < params; i++)
        weights[i] = NAN;
    for (size_t i = 0; i < n; i++)
        images[i] = r->images + i % (size_t)r->n * shape_count(r->desc.input);
    int ops = net_ops(run->compiled);
    net_load_each(run->compiled, &spoiled, r->slot, r->n_max, images);
    net_forward(run->compiled, &spoiled, r->slot, 0, ops, weights);
    net_loss(run->compiled, &spoiled, r->slot, labels, NULL, 1.0 / r->n_max);
    net_backward(run->compiled, &spoiled, r->slot, 0, ops, weights, grads);
    mem_free(weights);
    mem_free(grads);
    mem_free(images);
    mem_free(labels);
    mem_free(samples);
}

static void train(struct run *run, struct pool *pool)
{
    const struct random_net *r = run->net;
    struct exec ex = {.pool = pool,
                      .training = true,
                      .accumulate = r->accumulate,
                      .buffers = r->desc.n_buffers > 0 ? r->buffers : NULL,
                      .weights = r->padded ? r->weights : NULL,
                      .seed = SEED,
                      .epoch = 3,
                      .samples = r->samples};
    real *grads = mem_alloc(r->desc.n_params * sizeof(real)), before = r->accumulate ? 0.125 : 0;
    for (size_t i = 0; i < r->desc.n_params; i++)
        grads[i] = r->accumulate ? before : NAN;
    compile(run);
    net_init_buffers(&r->desc, r->buffers);
    fill_memory_with_nan(run, &ex);
    net_init_buffers(&r->desc, r->buffers);
    int ops = net_ops(run->compiled);
    net_load(run->compiled, &ex, r->slot, r->n, r->images);
    net_forward(run->compiled, &ex, r->slot, 0, ops, r->params);
    net_loss(run->compiled, &ex, r->slot, r->labels, ex.weights, 1.0 / r->n);
    net_backward(run->compiled, &ex, r->slot, 0, ops, r->params, grads);
    const struct plain_net *p = run->plan == PLAN_FAST ? &r->fast : &r->exact;
    check_values(run, p);
    check_gradient(run, p, grads, before);
    mem_free(grads);
}

#define OP(name, plans, family, summary) &op_##name,
static const struct op_kernel *const kinds[] = {
#include "kernels/ops/ops.def"
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Largest error of each plan in standard deviations, and uses of each op. */
struct tally {
    double worst[PLAN_EXACT + 1];
    int ops[KINDS];
};

static void count_ops(struct tally *tally, const struct net *net)
{
    for (int op = 0; op < net_ops(net); op++)
        for (int kind = 0; kind < KINDS; kind++)
            tally->ops[kind] += net_op_name(net, op) == kinds[kind]->name;
}

static void run_net(const struct random_net *r, uint32_t number, struct pool **pools,
                    struct tally *tally)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_EXACT; plan++)
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++)
            for (int threads = 1; threads <= THREADS_MAX; threads++) {
                struct run run = {.net = r,
                                  .number = number,
                                  .plan = (enum plan)plan,
                                  .isa = (enum isa)isa,
                                  .threads = threads};
                if (plan == PLAN_REFERENCE && isa > ISA_PORTABLE)
                    continue;
                train(&run, pools[threads - 1]);
                count_ops(tally, run.compiled);
                net_destroy(run.compiled);
                tally->worst[plan] = fmax(tally->worst[plan], run.worst);
            }
}

static bool fits_fp16(const struct random_net *r)
{
    for (int i = 0; i <= r->desc.n_layers; i++) {
        struct shape s = i > 0 ? r->desc.layers[i - 1].out : r->desc.input;
        for (size_t k = 0; k < (size_t)r->n * shape_count(s); k++)
            if (fabs(r->fast.value[i].x[k]) > 1000)
                return false;
    }
    return true;
}

/* Tests the fast plan with 16 bits: values between ops, and operands if the processor multiplies
 * them. */
static void run_narrow(const struct random_net *r, uint32_t number, struct pool **pools)
{
    for (int values = 0; values < PRECISIONS; values++)
        for (int threads = 1; threads <= THREADS_MAX; threads += THREADS_MAX - 1) {
            struct run run = {.net = r,
                              .number = number,
                              .plan = PLAN_FAST,
                              .isa = isa_best_bf16(),
                              .threads = threads,
                              .values = (enum precision)values,
                              .rounds = true,
                              .near = r->fast.nearest < CLEARANCE * 0x1p-8};
            if (values == PRECISION_fp16 && !fits_fp16(r))
                continue;
            train(&run, pools[threads - 1]);
            net_destroy(run.compiled);
        }
}

static void run_nets(uint32_t first, uint32_t end, struct tally *tally, int *runs)
{
    struct pool *pools[THREADS_MAX];
    for (int threads = 1; threads <= THREADS_MAX; threads++)
        pools[threads - 1] = make_pool(threads);
    for (uint32_t number = first; number < end; number++) {
        struct random_net r;
        bool drawn = random_net_begin(&r, number);
        if (end - first == 1)
            net_desc_print(stdout, &r.desc);
        if (drawn)
            run_net(&r, number, pools, tally);
        if (drawn && sizeof(real) == sizeof(float))
            run_narrow(&r, number, pools);
        *runs += drawn;
        random_net_end(&r);
    }
    for (int threads = 1; threads <= THREADS_MAX; threads++)
        pool_destroy(pools[threads - 1]);
    print_message("%d nets; largest errors in deviations: reference %.2f, fast %.2f, exact %.2f\n",
                  *runs, tally->worst[PLAN_REFERENCE], tally->worst[PLAN_FAST],
                  tally->worst[PLAN_EXACT]);
}

static void every_plan_equals_plain_loops(void **state)
{
    struct tally tally = {0};
    int runs = 0;
    run_nets(0, NETS, &tally, &runs);
    assert_true(runs >= 200);
    for (int kind = 0; kind < KINDS; kind++)
        if (tally.ops[kind] == 0 && (!kinds[kind]->needs_wide || isa_best() != ISA_PORTABLE))
            fail_msg("no net has an op %s", kinds[kind]->name);
}

static int run_some(uint32_t first, uint32_t end)
{
    struct tally tally = {0};
    int runs = 0;
    run_nets(first, end, &tally, &runs);
    return runs > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    fp_mode_set();
    gemm_init();
    isa_best_bf16(); /* requests tiles before threads exist */
    if (argc == 2 || argc == 3) {
        uint32_t first = (uint32_t)strtoul(argv[1], NULL, 10);
        return run_some(first, argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : first + 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_equals_plain_loops),
    };
    return cmocka_run_group_tests_name("random nets", tests, NULL, NULL);
}
