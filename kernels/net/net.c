/* A network compiled to a list of ops, with all its memory allocated in advance.
 *
 * A slot is the memory for one set of activations: value[0] is the input, value[i + 1] the output
 * of op i. Each slot has two gradient buffers. The gradient of value[i] is in buffer i % 2, so
 * backward of op i reads one buffer and writes the other. The contents of both buffers are kept
 * between calls of net_backward on the slot. The input of a pipeline stage is value[first_op]. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/text.h"
#include "kernels/layers/layer_tables.h"
#include "kernels/layers/loss.h"
#include "kernels/net/net.h"
#include "kernels/ops/op.h"

struct op {
    const struct op_kernel *kernel;
    struct fused_layers fused;
    int first_tensor, n_tensors;
    size_t params; /* offset of the op's first tensor in the arenas of parameters and gradients */
    size_t value;  /* offset of the op's output in slot.values */
    size_t saved;  /* offset of the op's data in slot.saved */
};

struct slot {
    int n;                 /* number of images loaded */
    const uint8_t **image; /* [n_max] pointers to the images of net_load, borrowed until backward
                            * ends */
    real *values;
    real *gradients[2];
    char *saved;
};

struct net {
    struct net_options options;
    struct shape input;
    int classes, n_ops, n_slots;
    struct layer_desc *layers; /* copy of the description's layers */
    struct extent *read;       /* [n_layers + 1] part of each layer's input that is read, then the
                                * whole output of the net */
    struct op *ops;
    struct slot *slots;
    char *scratch;
    size_t value_reals, gradient_reals, saved_bytes, scratch_bytes;
    real byte_value[CHANNELS_MAX][BYTE_VALUES]; /* (byte/255 - mean) / std of each channel, for each
                                                 * value of a byte */
    struct mem_room memory;
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t align_bytes(size_t bytes)
{
    return (bytes + MEM_ALIGNMENT - 1) / MEM_ALIGNMENT * MEM_ALIGNMENT;
}

/* Returns the size in reals of n_max activations of this shape, padded to align the next buffer. */
static size_t padded_reals(const struct net *net, struct shape shape)
{
    return aligned_reals((size_t)net->options.n_max * shape_count(shape));
}

static enum status check_options(const struct net_desc *desc, const struct net_options *o,
                                 struct error *e)
{
    if (o->n_max < 1 || o->threads < 1 || o->slots < 1)
        return error_set(
            e, ERR_ARGUMENT,
            "net '%s': found %d images, %d threads and %d slots; each number must be at least 1",
            desc->name, o->n_max, o->threads, o->slots);
    if (o->values != PRECISION_fp32 && (o->last_op > 0 || sizeof(real) != sizeof(float)))
        return error_set(e, ERR_ARGUMENT,
                         "net '%s': 16-bit values are supported neither in pipeline stages nor in "
                         "a double-precision build",
                         desc->name);
    if (desc->input.c > CHANNELS_MAX)
        return error_set(e, ERR_SHAPE,
                         "net '%s': images of %d channels are not supported; use 1 to %d",
                         desc->name, desc->input.c, CHANNELS_MAX);
    return OK;
}

static void fill_byte_values(struct net *net, const struct net_desc *desc)
{
    for (int c = 0; c < desc->input.c; c++)
        for (int byte = 0; byte < BYTE_VALUES; byte++)
            net->byte_value[c][byte] = (real)((byte / 255.0 - desc->mean[c]) / desc->std[c]);
}

/* Finds the tensors of an op. They are contiguous because tensors are stored in the order of
 * layers. */
static void find_tensors(struct op *op, const struct net_desc *desc)
{
    for (int i = 0; i < op->fused.n_layers; i++) {
        const struct layer_desc *layer = &op->fused.layers[i];
        if (op->n_tensors == 0)
            op->first_tensor = layer->first_tensor;
        op->n_tensors += layer->n_tensors;
    }
    op->params = op->n_tensors > 0 ? desc->tensors[op->first_tensor].offset : 0;
}

/* Returns LAYOUT_BYTES if the first op may read images as bytes; LAYOUT_NCHW if a nonzero byte is
 * normalised to 0 (51 with mean 0.2). Some ops that read bytes fold the normalisation into weights
 * and bias. Folding would turn such zeros into rounding errors, and ReLU would pass gradients where
 * an error is positive. */
static enum layout layout_of_images(const struct net *net)
{
    for (int c = 0; c < net->input.c; c++)
        for (int byte = 1; byte < BYTE_VALUES; byte++)
            if (net->byte_value[c][byte] == 0)
                return LAYOUT_NCHW;
    return LAYOUT_BYTES;
}

/* Partitions the layers into ops. op_find chooses a matching row of ops.def for each op. */
static void choose_ops(struct net *net, const struct net_desc *desc)
{
    enum layout layout = layout_of_images(net);
    bool parameters_before = false;
    plan_read_extents(net->layers, desc->n_layers, net->read);
    for (int i = 0; net->options.choices != NULL && i < desc->n_layers; i++)
        net->read[i].choice = (enum kernel_choice)net->options.choices[i];
    for (int first = 0, taken; first < desc->n_layers; first += taken) {
        struct op *op = &net->ops[net->n_ops++];
        op->kernel = op_find(net->options.plan, net->options.isa, layout, net->layers + first,
                             desc->n_layers - first, net->read + first, &taken);
        assert(op->kernel != NULL); /* cannot fail: an op only uses an output layout that the next
                                     * op reads */
        op->fused = (struct fused_layers){.layers = net->layers + first,
                                          .n_layers = taken,
                                          .read = net->read + first,
                                          .plan = net->options.plan,
                                          .choice = op_choice(op->kernel, net->read[first].choice),
                                          .isa = net->options.isa,
                                          .in = op->kernel->in,
                                          .out = op->kernel->out,
                                          .values = net->options.values,
                                          .wants_input = parameters_before,
                                          .byte_value = net->byte_value};
        find_tensors(op, desc);
        parameters_before |= op->n_tensors > 0;
        layout = op->kernel->out;
    }
}

/* Returns the size (reals) of an op's output gradients for n_max images, padded to align the next
 * buffer. The outputs themselves need at most as much memory. */
static size_t output_reals(const struct net *net, const struct op *op)
{
    if (op->kernel->out_reals == NULL)
        return padded_reals(net, fused_last(&op->fused)->out);
    return aligned_reals(op->kernel->out_reals(&op->fused, net->options.n_max));
}

/* Returns the size in reals of an op's outputs for n_max images. Outputs stored in 16 bits need
 * half as much memory as their gradients. */
static size_t value_reals(const struct net *net, const struct op *op)
{
    size_t reals = output_reals(net, op);
    return aligned_reals(reals / precision_per_real(values_precision(&op->fused, op->fused.out)));
}

/* Reserves memory for the input of the first op: the output of the previous pipeline stage, or the
 * images. Images that the op reads as bytes need no memory. */
static void lay_out_input(struct net *net)
{
    int first = net->options.first_op;
    if (first == 0 && net->ops[0].kernel->in != LAYOUT_BYTES)
        net->value_reals = net->gradient_reals = padded_reals(net, net->input);
    if (first > 0)
        net->value_reals = net->gradient_reals = output_reals(net, &net->ops[first - 1]);
}

/* Lays out the memory of a slot and of the scratch shared by all ops. Makes parameter offsets
 * relative to the first tensor of this stage. */
static void lay_out_ops(struct net *net)
{
    const struct net_options *o = &net->options;
    size_t first_param = SIZE_MAX;
    lay_out_input(net);
    for (int i = o->first_op; i < o->last_op; i++) {
        struct op *op = &net->ops[i];
        if (op->n_tensors > 0 && first_param == SIZE_MAX)
            first_param = op->params;
        op->params -= op->n_tensors > 0 ? first_param : 0;
        op->value = net->value_reals;
        op->saved = net->saved_bytes;
        net->value_reals += value_reals(net, op);
        net->gradient_reals = max_size(net->gradient_reals, output_reals(net, op));
        net->saved_bytes += align_bytes(op->kernel->saved_bytes(&op->fused, o->n_max));
        net->scratch_bytes = max_size(net->scratch_bytes,
                                      op->kernel->scratch_bytes(&op->fused, o->n_max, o->threads));
    }
}

static enum status check_stage(struct net *net, const struct net_desc *desc, struct error *e)
{
    struct net_options *o = &net->options;
    if (o->last_op == 0)
        o->last_op = net->n_ops;
    if (0 <= o->first_op && o->first_op < o->last_op && o->last_op <= net->n_ops)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "net '%s': op range [%d, %d) must be non-empty and lie within [0, %d)",
                     desc->name, o->first_op, o->last_op, net->n_ops);
}

static enum status slot_alloc(struct net *net, struct slot *slot, struct error *e)
{
    const char *what = "activations";
    TRY(MEM_KEEP(&net->memory, slot->values, net->value_reals, what, e));
    TRY(MEM_KEEP(&net->memory, slot->gradients[0], net->gradient_reals, what, e));
    TRY(MEM_KEEP(&net->memory, slot->gradients[1], net->gradient_reals, what, e));
    TRY(MEM_KEEP(&net->memory, slot->saved, net->saved_bytes, what, e));
    return MEM_KEEP(&net->memory, slot->image, (size_t)net->options.n_max, what, e);
}

static enum status net_alloc_buffers(struct net *net, const struct net_desc *desc, struct error *e)
{
    enum status status = OK;
    for (int i = 0; i < net->n_slots && status == OK; i++)
        status = slot_alloc(net, &net->slots[i], e);
    THEN(status, MEM_KEEP(&net->memory, net->scratch, net->scratch_bytes, "scratch", e));
    return status == OK
               ? OK
               : error_set(e, status,
                           "net '%s': no memory for %.0f MiB of activations of %d images",
                           desc->name, (double)net_bytes(net) / 0x1p20, net->options.n_max);
}

static enum status net_open(struct net *net, const struct net_desc *desc,
                            const struct net_options *options, struct error *e)
{
    const char *what = "the plan of a net";
    size_t n_layers = (size_t)desc->n_layers;
    net->options = *options;
    net->input = desc->input;
    net->classes = desc->classes;
    TRY(MEM_KEEP(&net->memory, net->layers, n_layers, what, e));
    TRY(MEM_KEEP(&net->memory, net->read, n_layers + 1, what, e));
    TRY(MEM_KEEP(&net->memory, net->ops, n_layers, what, e));
    TRY(MEM_KEEP(&net->memory, net->slots, (size_t)options->slots, what, e));
    memcpy(net->layers, desc->layers, n_layers * sizeof *net->layers);
    net->n_slots = options->slots;
    fill_byte_values(net, desc);
    choose_ops(net, desc);
    TRY(check_stage(net, desc, e));
    lay_out_ops(net);
    return net_alloc_buffers(net, desc, e);
}

enum status net_create(struct net **net, const struct net_desc *desc,
                       const struct net_options *options, struct error *e)
{
    *net = NULL;
    TRY(check_options(desc, options, e));
    TRY(MEM_NEW(*net, 1, "a net", e));
    enum status status = net_open(*net, desc, options, e);
    if (status != OK) {
        net_destroy(*net);
        *net = NULL;
    }
    return status;
}

void net_destroy(struct net *net)
{
    if (net == NULL)
        return;
    mem_room_empty(&net->memory);
    free(net);
}

int net_ops(const struct net *net)
{
    return net->n_ops;
}

void net_op_tensors(const struct net *net, int op, int *first, int *last)
{
    *first = net->ops[op].first_tensor;
    *last = *first + net->ops[op].n_tensors;
}

const char *net_op_name(const struct net *net, int op)
{
    return net->ops[op].kernel->name;
}

char *net_op_layers(const struct net *net, const struct net_desc *desc, int op,
                    char text[NET_OP_LAYERS])
{
    struct net_op_view v = net_op_view(net, 0, op);
    text[0] = '\0';
    for (int i = v.first_layer; i < v.last_layer; i++)
        text_join(text, NET_OP_LAYERS, " ", desc->layers[i].name);
    return text;
}

struct net_memory net_memory(const struct net *net)
{
    size_t slots = (size_t)net->n_slots;
    return (struct net_memory){.outputs = slots * net->value_reals * sizeof(real),
                               .saved = slots * net->saved_bytes,
                               .gradients = slots * 2 * net->gradient_reals * sizeof(real),
                               .scratch = net->scratch_bytes};
}

size_t net_bytes(const struct net *net)
{
    struct net_memory m = net_memory(net);
    return m.outputs + m.saved + m.gradients + m.scratch;
}

struct load_call {
    const struct net *net;
    real *x;
    const uint8_t *const *image;
};

/* Converts the bytes of planes [begin, end) to numbers. A plane is one channel of one image. */
static void load_planes(void *arg, size_t begin, size_t end, int thread)
{
    const struct load_call *call = arg;
    size_t channels = (size_t)call->net->input.c;
    size_t plane = (size_t)call->net->input.h * (size_t)call->net->input.w;
    for (size_t p = begin; p < end; p++) {
        const real *value = call->net->byte_value[p % channels];
        const uint8_t *bytes = call->image[p / channels] + p % channels * plane;
        for (size_t i = 0; i < plane; i++)
            call->x[p * plane + i] = value[bytes[i]];
    }
}

void net_load_each(struct net *net, const struct exec *ex, int slot, int n,
                   const uint8_t *const *image)
{
    assert(n >= 1 && n <= net->options.n_max);
    struct slot *at = &net->slots[slot];
    struct load_call call = {.net = net, .x = at->values, .image = at->image};
    size_t plane = (size_t)net->input.h * (size_t)net->input.w;
    at->n = n;
    memmove(at->image, image, (size_t)n * sizeof *image);
    if (net->ops[0].kernel->in == LAYOUT_BYTES)
        return;
    exec_for(ex, (size_t)n * (size_t)net->input.c, images_per_block(ELEMENTS_PER_BLOCK, plane),
             load_planes, &call);
}

void net_load(struct net *net, const struct exec *ex, int slot, int n, const uint8_t *images)
{
    assert(n >= 1 && n <= net->options.n_max);
    const uint8_t **image = net->slots[slot].image;
    for (int i = 0; i < n; i++)
        image[i] = images + (size_t)i * shape_count(net->input);
    net_load_each(net, ex, slot, n, image);
}

void net_expect(struct net *net, int slot, int n)
{
    assert(n >= 1 && n <= net->options.n_max);
    net->slots[slot].n = n;
}

/* Returns the size in reals of an op's input for n images, not padded to align the next buffer. */
size_t net_activation_reals(const struct net *net, int op, int n)
{
    if (op == 0)
        return (size_t)n * shape_count(net->input);
    const struct op *before = &net->ops[op - 1];
    if (before->kernel->out_reals != NULL)
        return before->kernel->out_reals(&before->fused, n);
    return (size_t)n * shape_count(fused_last(&before->fused)->out);
}

static size_t input_of(const struct net *net, int op)
{
    return op > net->options.first_op ? net->ops[op - 1].value : 0;
}

real *net_activations(const struct net *net, int slot, int op)
{
    bool bytes = op == 0 && net->ops[0].kernel->in == LAYOUT_BYTES;
    return bytes ? NULL : net->slots[slot].values + input_of(net, op);
}

real *net_gradients(const struct net *net, int slot, int op)
{
    return net->slots[slot].gradients[op % 2];
}

bool net_op_hands_back(const struct net *net, int op)
{
    return net->ops[op].fused.wants_input;
}

static uint64_t done_flops(const struct op *op, bool backward)
{
    uint64_t (*count)(const struct fused_layers *) =
        backward ? op->kernel->flops_backward : op->kernel->flops_forward;
    if (count != NULL)
        return count(&op->fused);
    uint64_t sum = 0;
    for (int i = 0; i < op->fused.n_layers; i++) {
        const struct layer_desc *layer = &op->fused.layers[i];
        sum += backward ? layer->flops_backward : layer->flops_forward;
    }
    return sum;
}

uint64_t net_flops_done(const struct net *net, bool backward)
{
    uint64_t sum = 0;
    for (int i = 0; i < net->n_ops; i++)
        sum += done_flops(&net->ops[i], backward);
    return sum;
}

static unsigned op_savings(const struct op *op)
{
    return op->kernel->savings != NULL ? op->kernel->savings(&op->fused) : 0;
}

unsigned net_savings(const struct net *net)
{
    unsigned savings = 0;
    for (int i = 0; i < net->n_ops; i++)
        savings |= op_savings(&net->ops[i]);
    return savings;
}

/* Returns whether an op has a backward pass: true if this op or an earlier one has parameters. */
static bool op_learns(const struct op *op)
{
    return op->fused.wants_input || op->n_tensors > 0;
}

static size_t value_bytes(const struct fused_layers *fused, enum layout layout)
{
    if (layout == LAYOUT_BYTES)
        return sizeof(uint8_t);
    return values_precision(fused, layout) == PRECISION_fp32 ? sizeof(real) : sizeof(uint16_t);
}

struct net_op_view net_op_view(const struct net *net, int slot, int index)
{
    const struct op *op = &net->ops[index];
    const struct extent *read = &op->fused.read[op->fused.n_layers];
    int first = (int)(op->fused.layers - net->layers);
    return (struct net_op_view){
        .first_layer = first,
        .last_layer = first + op->fused.n_layers,
        .y = op->kernel->out == LAYOUT_NCHW ? net->slots[slot].values + op->value : NULL,
        .read_h = read->h,
        .read_w = read->w,
        .learns = op_learns(op),
        .flops_forward = done_flops(op, false),
        .flops_backward = done_flops(op, true),
        .savings = op_savings(op),
        .choice = op->fused.choice,
        .bf16 = op->kernel->takes_bf16 && op->fused.plan != PLAN_EXACT &&
                op->fused.isa != isa_exact(op->fused.isa),
        .in_bytes = value_bytes(&op->fused, op->kernel->in),
        .out_bytes = value_bytes(&op->fused, op->kernel->out),
    };
}

static void charge_flops(const struct exec *ex, const struct op *op, bool backward, int n)
{
    if (ex->charge != NULL)
        ex->charge(ex->charge_arg, WORK_FLOP, (double)done_flops(op, backward) * n);
}

static struct op_call call_of(const struct net *net, const struct exec *ex, struct slot *slot,
                              int index, const real *params)
{
    const struct op *op = &net->ops[index];
    return (struct op_call){
        .ex = ex,
        .n = slot->n,
        .image = slot->image,
        .x = slot->values + input_of(net, index),
        .y = slot->values + op->value,
        .params = op->n_tensors > 0 ? params + op->params : NULL,
        .saved = slot->saved + op->saved,
        .scratch = net->scratch,
    };
}

void net_forward(struct net *net, const struct exec *ex, int slot, int first, int last,
                 const real *params)
{
    struct slot *at = &net->slots[slot];
    assert(pool_threads(ex->pool) <= net->options.threads);
    for (int i = first; i < last; i++) {
        const struct op *op = &net->ops[i];
        struct op_call call = call_of(net, ex, at, i, params);
        op->kernel->forward(&op->fused, &call);
        charge_flops(ex, op, false, at->n);
    }
}

struct score net_loss(struct net *net, const struct exec *ex, int slot, const uint8_t *labels,
                      const real *weights, double gradient_scale)
{
    struct slot *at = &net->slots[slot];
    real *dlogits = gradient_scale > 0 ? at->gradients[net->n_ops % 2] : NULL;
    const real *logits = net_logits(net, slot);
    struct score score =
        net->options.plan == PLAN_REFERENCE
            ? softmax_cross_entropy(at->n, net->classes, logits, labels, weights, gradient_scale,
                                    dlogits)
            : softmax_cross_entropy_simd(net->options.isa, at->n, net->classes, logits, labels,
                                         weights, gradient_scale, dlogits);
    exec_poll(ex);
    return score;
}

void net_classify(const struct net *net, int slot, int *classes)
{
    const real *logits = net_logits(net, slot);
    for (int i = 0; i < net->slots[slot].n; i++)
        classes[i] = largest_logit(logits + (size_t)i * (size_t)net->classes, net->classes);
}

void net_backward(struct net *net, const struct exec *ex, int slot, int first, int last,
                  const real *params, real *grads)
{
    struct slot *at = &net->slots[slot];
    assert(pool_threads(ex->pool) <= net->options.threads);
    for (int i = last - 1; i >= first; i--) {
        const struct op *op = &net->ops[i];
        if (!op_learns(op))
            continue;
        struct op_call call = call_of(net, ex, at, i, params);
        call.dx = op->fused.wants_input ? at->gradients[i % 2] : NULL;
        call.dparams = op->n_tensors > 0 ? grads + op->params : NULL;
        call.dy = at->gradients[(i + 1) % 2];
        op->kernel->backward(&op->fused, &call);
        charge_flops(ex, op, true, at->n);
    }
}

const real *net_logits(const struct net *net, int slot)
{
    return net->slots[slot].values + net->ops[net->n_ops - 1].value;
}
