/* A network compiled to a list of steps with all its memory allocated up front.
 *
 * Slot memory: value[0] is the input, value[i + 1] the output of step i. The gradient of value[i]
 * lives in one of two buffers, number i % 2: step i reads the one and writes the other, and what
 * lies between two calls of net_backward on a slot stays where it is. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/layers/layer_tables.h"
#include "kernels/layers/loss.h"
#include "kernels/net/net.h"
#include "kernels/ops/op.h"

struct step {
    const struct step_kernel *kernel;
    struct stretch stretch;
    int first_tensor, n_tensors;
    size_t params; /* where the first tensor lies in an arena */
    size_t value;  /* offset of the output among a slot's values */
    size_t saved;  /* offset of what forward leaves for backward */
};

struct slot {
    int n;                 /* images loaded */
    const uint8_t **image; /* [n_max], borrowed from net_load to the end of backward */
    real *values;
    real *gradients[2];
    char *saved;
};

struct net {
    struct net_options options;
    struct shape input;
    int classes, n_steps, n_slots;
    struct layer_desc *layers; /* a copy of the desc's */
    struct extent *read;       /* of the value before each layer, and of the output */
    struct step *steps;
    struct slot *slots;
    char *scratch;
    size_t value_reals, gradient_reals, saved_bytes, scratch_bytes;
    real byte_value[CHANNELS_MAX][BYTE_VALUES]; /* (byte/255 - mean) / std, a channel */
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t align_bytes(size_t bytes)
{
    return (bytes + MEM_ALIGNMENT - 1) / MEM_ALIGNMENT * MEM_ALIGNMENT;
}

/* Numbers of n_max activations of this shape, padded so that the next buffer is aligned. */
static size_t padded_reals(const struct net *net, struct shape shape)
{
    return real_bytes((size_t)net->options.n_max * shape_count(shape)) / sizeof(real);
}

static enum status check_options(const struct net_desc *desc, const struct net_options *o,
                                 struct error *e)
{
    if (o->n_max < 1 || o->threads < 1 || o->slots < 1)
        return error_set(e, ERR_ARGUMENT,
                         "net '%s': %d images, %d threads, %d slots; each must be at least 1",
                         desc->name, o->n_max, o->threads, o->slots);
    if (desc->input.c > CHANNELS_MAX)
        return error_set(e, ERR_SHAPE, "net '%s': images of %d channels; 1 to %d can be loaded",
                         desc->name, desc->input.c, CHANNELS_MAX);
    return OK;
}

static void fill_byte_values(struct net *net, const struct net_desc *desc)
{
    for (int c = 0; c < desc->input.c; c++)
        for (int byte = 0; byte < BYTE_VALUES; byte++)
            net->byte_value[c][byte] = (real)((byte / 255.0 - desc->mean[c]) / desc->std[c]);
}

/* The tensors of a stretch lie side by side: layers own theirs in forward order. */
static void find_tensors(struct step *s, const struct net_desc *desc)
{
    for (int i = 0; i < s->stretch.n_layers; i++) {
        const struct layer_desc *layer = &s->stretch.layers[i];
        if (s->n_tensors == 0)
            s->first_tensor = layer->first_tensor;
        s->n_tensors += layer->n_tensors;
    }
    s->params = s->n_tensors > 0 ? desc->tensors[s->first_tensor].offset : 0;
}

/* Steps that take bytes may move their scale and shift into weights and bias. Where a byte other
 * than 0 stands for exactly 0, as 51 does with a mean of 0.2, rounding would be left of the output
 * of a blank area, and ReLU let gradients of it pass: such nets get numbers. */
static enum layout layout_of_images(const struct net *net)
{
    for (int c = 0; c < net->input.c; c++)
        for (int byte = 1; byte < BYTE_VALUES; byte++)
            if (net->byte_value[c][byte] == 0)
                return LAYOUT_NCHW;
    return LAYOUT_BYTES;
}

/* Cuts the layers into stretches, each computed by the first kind of step that takes it. */
static void choose_steps(struct net *net, const struct net_desc *desc)
{
    enum layout layout = layout_of_images(net);
    bool parameters_before = false;
    plan_read_extents(net->layers, desc->n_layers, net->read);
    for (int i = 0; net->options.choices && i < desc->n_layers; i++)
        net->read[i].choice = (enum kernel_choice)net->options.choices[i];
    for (int first = 0, taken; first < desc->n_layers; first += taken) {
        struct step *s = &net->steps[net->n_steps++];
        s->kernel = step_find(net->options.plan, layout, net->layers + first,
                              desc->n_layers - first, net->read + first, &taken);
        assert(s->kernel); /* a layout of its own is left by a step of the same family */
        s->stretch = (struct stretch){.layers = net->layers + first,
                                      .n_layers = taken,
                                      .read = net->read + first,
                                      .plan = net->options.plan,
                                      .choice = step_choice(s->kernel, net->read[first].choice),
                                      .isa = net->options.isa,
                                      .in = s->kernel->in,
                                      .out = s->kernel->out,
                                      .wants_input = parameters_before,
                                      .byte_value = net->byte_value};
        find_tensors(s, desc);
        parameters_before |= s->n_tensors > 0;
        layout = s->kernel->out;
    }
}

/* Numbers of the outputs of n_max images, padded so that the next buffer is aligned. */
static size_t output_reals(const struct net *net, const struct step *s)
{
    if (!s->kernel->out_reals)
        return padded_reals(net, stretch_last(&s->stretch)->out);
    return real_bytes(s->kernel->out_reals(&s->stretch, net->options.n_max)) / sizeof(real);
}

/* Lays out a slot and sizes the scratch, which all steps share. */
static void lay_out_steps(struct net *net)
{
    const struct net_options *o = &net->options;
    if (net->steps[0].kernel->in != LAYOUT_BYTES)
        net->value_reals = net->gradient_reals = padded_reals(net, net->input);
    for (int i = 0; i < net->n_steps; i++) {
        struct step *s = &net->steps[i];
        s->value = net->value_reals;
        s->saved = net->saved_bytes;
        net->value_reals += output_reals(net, s);
        net->gradient_reals = max_size(net->gradient_reals, output_reals(net, s));
        net->saved_bytes += align_bytes(s->kernel->saved_bytes(&s->stretch, o->n_max));
        net->scratch_bytes = max_size(net->scratch_bytes,
                                      s->kernel->scratch_bytes(&s->stretch, o->n_max, o->threads));
    }
}

static bool slot_alloc(const struct net *net, struct slot *slot)
{
    slot->values = mem_alloc(net->value_reals * sizeof(real));
    slot->gradients[0] = mem_alloc(net->gradient_reals * sizeof(real));
    slot->gradients[1] = mem_alloc(net->gradient_reals * sizeof(real));
    slot->saved = mem_alloc(net->saved_bytes);
    slot->image = mem_alloc((size_t)net->options.n_max * sizeof *slot->image);
    return slot->image && slot->values && slot->gradients[0] && slot->gradients[1] && slot->saved;
}

static bool net_alloc_buffers(struct net *net)
{
    for (int i = 0; i < net->n_slots; i++)
        if (!slot_alloc(net, &net->slots[i]))
            return false;
    net->scratch = mem_alloc(net->scratch_bytes);
    return net->scratch != NULL;
}

/* An empty net with room for its steps and slots, or NULL. */
static struct net *net_alloc(const struct net_desc *desc, const struct net_options *options)
{
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->options = *options;
    net->input = desc->input;
    net->classes = desc->classes;
    size_t n_layers = (size_t)desc->n_layers;
    net->layers = calloc(n_layers, sizeof *net->layers);
    net->read = calloc(n_layers + 1, sizeof *net->read);
    net->steps = calloc(n_layers, sizeof *net->steps);
    net->slots = calloc((size_t)options->slots, sizeof *net->slots);
    if (!net->layers || !net->read || !net->steps || !net->slots) {
        net_destroy(net);
        return NULL;
    }
    memcpy(net->layers, desc->layers, n_layers * sizeof *net->layers);
    net->n_slots = options->slots;
    return net;
}

enum status net_create(struct net **net, const struct net_desc *desc,
                       const struct net_options *options, struct error *e)
{
    *net = NULL;
    TRY(check_options(desc, options, e));
    struct net *made = net_alloc(desc, options);
    if (!made)
        return error_set(e, ERR_MEMORY, "net '%s': no memory for its plan", desc->name);
    fill_byte_values(made, desc);
    choose_steps(made, desc);
    lay_out_steps(made);
    if (!net_alloc_buffers(made)) {
        double mib = (double)net_bytes(made) / 0x1p20;
        net_destroy(made);
        return error_set(e, ERR_MEMORY,
                         "net '%s': no memory for %.0f MiB of activations of %d images", desc->name,
                         mib, options->n_max);
    }
    *net = made;
    return OK;
}

void net_destroy(struct net *net)
{
    if (!net)
        return;
    for (int i = 0; i < net->n_slots; i++) {
        mem_free(net->slots[i].values);
        mem_free(net->slots[i].gradients[0]);
        mem_free(net->slots[i].gradients[1]);
        mem_free(net->slots[i].saved);
        mem_free(net->slots[i].image);
    }
    mem_free(net->scratch);
    free(net->slots);
    free(net->steps);
    free(net->read);
    free(net->layers);
    free(net);
}

int net_steps(const struct net *net)
{
    return net->n_steps;
}

void net_step_tensors(const struct net *net, int step, int *first, int *last)
{
    *first = net->steps[step].first_tensor;
    *last = *first + net->steps[step].n_tensors;
}

const char *net_step_name(const struct net *net, int step)
{
    return net->steps[step].kernel->name;
}

size_t net_bytes(const struct net *net)
{
    size_t slot = (net->value_reals + 2 * net->gradient_reals) * sizeof(real) + net->saved_bytes;
    return (size_t)net->n_slots * slot + net->scratch_bytes;
}

struct load_call {
    const struct net *net;
    real *x;
    const uint8_t *const *image;
};

/* Items are planes, one channel of one image. */
static void load_planes(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
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
    if (net->steps[0].kernel->in == LAYOUT_BYTES)
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

static uint64_t done_flops(const struct step *s, bool backward)
{
    uint64_t (*count)(const struct stretch *) =
        backward ? s->kernel->flops_backward : s->kernel->flops_forward;
    if (count)
        return count(&s->stretch);
    uint64_t sum = 0;
    for (int i = 0; i < s->stretch.n_layers; i++) {
        const struct layer_desc *layer = &s->stretch.layers[i];
        sum += backward ? layer->flops_backward : layer->flops_forward;
    }
    return sum;
}

uint64_t net_flops_done(const struct net *net, bool backward)
{
    uint64_t sum = 0;
    for (int i = 0; i < net->n_steps; i++)
        sum += done_flops(&net->steps[i], backward);
    return sum;
}

static unsigned step_savings(const struct step *s)
{
    return s->kernel->savings ? s->kernel->savings(&s->stretch) : 0;
}

unsigned net_savings(const struct net *net)
{
    unsigned savings = 0;
    for (int i = 0; i < net->n_steps; i++)
        savings |= step_savings(&net->steps[i]);
    return savings;
}

/* Backward of a step, with nothing to learn in it or before, is left out. */
static bool step_learns(const struct step *s)
{
    return s->stretch.wants_input || s->n_tensors > 0;
}

struct net_step_view net_step_view(const struct net *net, int slot, int step)
{
    const struct step *s = &net->steps[step];
    const struct extent *read = &s->stretch.read[s->stretch.n_layers];
    int first = (int)(s->stretch.layers - net->layers);
    return (struct net_step_view){
        .first_layer = first,
        .last_layer = first + s->stretch.n_layers,
        .y = s->kernel->out == LAYOUT_NCHW ? net->slots[slot].values + s->value : NULL,
        .read_h = read->h,
        .read_w = read->w,
        .learns = step_learns(s),
        .flops_forward = done_flops(s, false),
        .flops_backward = done_flops(s, true),
        .savings = step_savings(s),
        .choice = s->stretch.choice,
    };
}

static void charge_flops(const struct exec *ex, const struct step *s, bool backward, int n)
{
    if (ex->charge)
        ex->charge(ex->charge_arg, WORK_FLOP, (double)done_flops(s, backward) * n);
}

/* What forward and backward of a step have in common. */
static struct step_call call_of(const struct net *net, const struct exec *ex, struct slot *slot,
                                int step, const real *params)
{
    const struct step *s = &net->steps[step];
    return (struct step_call){
        .ex = ex,
        .n = slot->n,
        .image = slot->image,
        .x = slot->values + (step > 0 ? net->steps[step - 1].value : 0),
        .y = slot->values + s->value,
        .params = s->n_tensors > 0 ? params + s->params : NULL,
        .saved = slot->saved + s->saved,
        .scratch = net->scratch,
    };
}

void net_forward(struct net *net, const struct exec *ex, int slot, int first, int last,
                 const real *params)
{
    struct slot *at = &net->slots[slot];
    assert(pool_threads(ex->pool) <= net->options.threads);
    for (int i = first; i < last; i++) {
        const struct step *s = &net->steps[i];
        struct step_call call = call_of(net, ex, at, i, params);
        s->kernel->forward(&s->stretch, &call);
        charge_flops(ex, s, false, at->n);
    }
}

struct score net_loss(struct net *net, const struct exec *ex, int slot, const uint8_t *labels,
                      const real *weights, double gradient_scale)
{
    struct slot *at = &net->slots[slot];
    real *dlogits = gradient_scale > 0 ? at->gradients[net->n_steps % 2] : NULL;
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
        const struct step *s = &net->steps[i];
        if (!step_learns(s))
            continue;
        struct step_call call = call_of(net, ex, at, i, params);
        call.dx = s->stretch.wants_input ? at->gradients[i % 2] : NULL;
        call.dparams = s->n_tensors > 0 ? grads + s->params : NULL;
        call.dy = at->gradients[(i + 1) % 2];
        s->kernel->backward(&s->stretch, &call);
        charge_flops(ex, s, true, at->n);
    }
}

const real *net_logits(const struct net *net, int slot)
{
    return net->slots[slot].values + net->steps[net->n_steps - 1].value;
}
