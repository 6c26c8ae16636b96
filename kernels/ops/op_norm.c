/* Batch norm [+ ReLU [+ 2x2 pooling]] on blocks of channels as a separate op. Used if ReLU or
 * pooling lies between the convolution and the norm. See norm_blocks.h. */
#include "kernels/ops/norm_blocks.h"

static struct norm_call call_begin(const struct fused_layers *fused, const struct op_call *c)
{
    return norm_call_begin(fused, 0, c, c->x, c->params, c->saved, c->scratch);
}

/* Adds the inputs of images [begin, end) to the batch statistics. */
static void add_inputs(void *arg, size_t begin, size_t end, int thread)
{
    const struct norm_call *call = arg;
    for (size_t i = begin; i < end; i++)
        for (size_t b = 0; b < call->blocks; b++)
            norm_add_inputs(call, i, b, thread);
}

static void differentiate(void *arg, size_t begin, size_t end, int thread)
{
    const struct norm_call *call = arg;
    for (size_t i = begin; i < end; i++)
        for (size_t b = 0; b < call->blocks; b++)
            norm_differentiate(call, call->c->dx + (i * call->blocks + b) * call->in, i, b, thread);
}

static void run_images(struct norm_call *call, block_function *f)
{
    exec_for(call->c->ex, call->bn.images,
             images_per_block(ELEMENTS_PER_BLOCK, call->blocks * call->in), f, call);
}

static void forward(const struct fused_layers *fused, const struct op_call *c)
{
    struct norm_call call = call_begin(fused, c);
    if (norm_wants_sums(&call)) {
        norm_sums_begin(&call);
        run_images(&call, add_inputs);
    }
    norm_forward(&call);
}

static void backward(const struct fused_layers *fused, const struct op_call *c)
{
    struct norm_call call = call_begin(fused, c);
    norm_backward(&call, c->dparams, c->dx != NULL);
    if (c->dx != NULL)
        run_images(&call, differentiate);
}

static size_t saved_bytes(const struct fused_layers *fused, int n)
{
    return norm_saved_bytes(fused, 0, n);
}

static size_t scratch_bytes(const struct fused_layers *fused, int n, int threads)
{
    return norm_scratch_bytes(fused, 0, threads);
}

static size_t out_reals(const struct fused_layers *fused, int n)
{
    return norm_out_reals(fused, 0, n);
}

OP_KERNEL(norm, LAYOUT_BLOCKED, LAYOUT_BLOCKED, norm_match_blocks, .out_reals = out_reals);
OP_KERNEL(norm_last, LAYOUT_BLOCKED, LAYOUT_NCHW, norm_match_last, .out_reals = NULL);
