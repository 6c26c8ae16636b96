/* Small convolutions, each with 2x2 pooling, optional ReLU and optional dropout of channels, one
 * image at a time. They suit LeNet and similar nets, whose weights fit into the first-level cache.
 *
 * Computing single images allows work to be skipped. Channels dropped by dropout2d are not
 * computed. In backward, only the maximum of a pooling window can have a gradient, and only if ReLU
 * did not set it to 0: for lenet_21k about 100 of 1,280 outputs of conv2. Prototypes with vectors
 * over images could skip nothing and were half as fast.
 *
 * On one core of a Xeon with AVX-512 (212 GFLOP/s) both convolutions of 128 MNIST images take 0.48
 * ms forward and 0.50 ms backward.
 *
 * Images of bytes are convolved as bytes: scale and shift are folded into weights and bias (see
 * op_dense_bytes.c). Backward only processes windows with a nonzero byte, two thirds of all on
 * MNIST. Threads share the images. Each thread sums its gradients; the sums are added in thread
 * order. */
#include "kernels/ops/op_small_conv.h"

#define PARTS_MAX 4 /* largest number of convolutions per op */

/* The consecutive convolutions of one op. Each is a part with its own layers and call. */
struct run {
    int n;
    struct fused_layers parts[PARTS_MAX];
    struct op_call ops[PARTS_MAX];
    struct small_conv_call calls[PARTS_MAX];
};

static int match(const struct layer_desc *layers, int n, const struct extent *read)
{
    int taken = 0;
    for (int part = 0, more = 1; part < PARTS_MAX && taken < n && more > 0; part++) {
        more = small_conv_match_part(layers + taken, n - taken);
        taken += more;
    }
    return taken;
}

static int cut_parts(const struct fused_layers *fused, struct fused_layers parts[PARTS_MAX])
{
    int n = 0;
    for (int first = 0; first < fused->n_layers; n++) {
        parts[n] = *fused;
        parts[n].layers += first;
        parts[n].read += first;
        parts[n].n_layers = small_conv_match_part(parts[n].layers, fused->n_layers - first);
        parts[n].in = n == 0 ? fused->in : LAYOUT_NCHW;
        parts[n].wants_input = n > 0 || fused->wants_input;
        first += parts[n].n_layers;
    }
    return n;
}

/* Lays out the saved data of each part and, except for the last part, its output. Returns the total
 * size in bytes. */
static size_t lay_out_parts(struct run *r, size_t images, void *base)
{
    struct pieces p = {.base = base};
    for (int i = 0; i < r->n; i++) {
        const struct small_conv c = small_conv_shape(&r->parts[i]);
        struct saved saved;
        struct op_call *op = &r->ops[i];
        op->saved = take(&p, small_conv_place_saved(&saved, &c, images, NULL));
        if (i + 1 == r->n)
            break;
        op->y = take(&p, images * pooled_reals(&c) * sizeof(real));
        r->ops[i + 1].x = op->y;
    }
    return p.used;
}

static void run_begin(struct run *r, const struct fused_layers *fused, const struct op_call *op)
{
    r->n = cut_parts(fused, r->parts);
    for (int i = 0; i < r->n; i++)
        r->ops[i] = *op;
    lay_out_parts(r, (size_t)op->n, op->saved);
    size_t params = 0;
    for (int i = 0; i < r->n; i++) {
        r->ops[i].params = op->params + params;
        r->ops[i].dparams = op->dparams != NULL ? op->dparams + params : NULL;
        r->calls[i] = small_conv_call_of(&r->parts[i], &r->ops[i]);
        r->calls[i].inside = i > 0;
        params += weights_of(&r->calls[i].c) + bias_count(r->parts[i].layers);
    }
}

/* Prepares the scratch of each part, one after the other in memory. If `scratch` is NULL, only
 * computes the size. Returns the total size in bytes. */
static size_t prepare(struct run *r, int threads, void *scratch,
                      size_t (*prepare_part)(struct small_conv_call *, int, void *))
{
    size_t used = 0;
    for (int i = 0; i < r->n; i++)
        used +=
            prepare_part(&r->calls[i], threads, scratch != NULL ? (char *)scratch + used : NULL);
    return used;
}

static void forward_group(void *arg, size_t begin, size_t end, int thread)
{
    const struct run *r = arg;
    for (int i = 0; i < r->n; i++)
        small_conv_forward_images(&r->calls[i], begin, end, thread);
}

static void forward(const struct fused_layers *fused, const struct op_call *op)
{
    struct run r;
    run_begin(&r, fused, op);
    prepare(&r, pool_threads(op->ex->pool), op->scratch, small_conv_prepare_forward);
    for (size_t i = 0; r.calls[0].bytes && i < IMAGES_AHEAD; i++)
        op_prefetch_image(op, i, image_reals(&r.calls[0].c));
    exec_for(op->ex, (size_t)op->n, SMALL_CONV_GROUP, forward_group, &r);
}

static void backward_group(void *arg, size_t begin, size_t end, int thread)
{
    const struct run *r = arg;
    const struct small_conv_call *last = &r->calls[r->n - 1];
    const real *dy = last->op->dy + begin * pooled_reals(&last->c);
    for (int i = r->n - 1; i >= 0; i--) {
        const struct small_conv_call *call = &r->calls[i];
        real *dx = NULL;
        if (i > 0)
            dx = small_conv_group_dx(call, thread);
        else if (call->op->dx != NULL)
            dx = call->op->dx + begin * image_reals(&call->c);
        small_conv_backward_images(call, begin, end, thread, dx, dy);
        dy = dx;
    }
}

static void backward(const struct fused_layers *fused, const struct op_call *op)
{
    struct run r;
    run_begin(&r, fused, op);
    prepare(&r, pool_threads(op->ex->pool), op->scratch, small_conv_prepare_backward);
    for (int i = 0; i < r.n; i++)
        small_conv_clear_sums(&r.calls[i]);
    exec_for(op->ex, (size_t)op->n, SMALL_CONV_GROUP, backward_group, &r);
    for (int i = 0; i < r.n; i++)
        small_conv_add_sums(&r.calls[i]);
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    struct run r = {0};
    r.n = cut_parts(fused, r.parts);
    return lay_out_parts(&r, (size_t)n, NULL);
}

static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    struct run r = {0};
    r.n = cut_parts(fused, r.parts);
    for (int i = 0; i < r.n; i++)
        r.calls[i] = (struct small_conv_call){
            .fused = &r.parts[i], .inside = i > 0, .c = small_conv_shape(&r.parts[i])};
    size_t forward_bytes = prepare(&r, threads, NULL, small_conv_prepare_forward);
    size_t backward_bytes = prepare(&r, threads, NULL, small_conv_prepare_backward);
    return forward_bytes > backward_bytes ? forward_bytes : backward_bytes;
}

static uint64_t flops_forward(const struct fused_layers *fused)
{
    struct fused_layers parts[PARTS_MAX];
    uint64_t sum = 0;
    for (int i = cut_parts(fused, parts) - 1; i >= 0; i--)
        sum += small_conv_part_flops_forward(&parts[i]);
    return sum;
}

static uint64_t flops_backward(const struct fused_layers *fused)
{
    struct fused_layers parts[PARTS_MAX];
    uint64_t sum = 0;
    for (int i = cut_parts(fused, parts) - 1; i >= 0; i--)
        sum += small_conv_part_flops_backward(&parts[i]);
    return sum;
}

static unsigned savings(const struct fused_layers *fused)
{
    struct fused_layers parts[PARTS_MAX];
    unsigned savings = 0;
    for (int i = cut_parts(fused, parts) - 1; i >= 0; i--)
        savings |= small_conv_part_savings(&parts[i]);
    return savings;
}

#define KERNEL(name, in)                                                                           \
    OP_KERNEL(name, in, LAYOUT_NCHW, match, .flops_forward = flops_forward,                        \
              .flops_backward = flops_backward, .savings = savings)

KERNEL(small_conv_bytes, LAYOUT_BYTES);
KERNEL(small_conv, LAYOUT_NCHW);
