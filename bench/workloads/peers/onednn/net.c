/* Implements kernels/net/net.h with oneDNN. The peer links the trainer with this file in place of
 * the project's kernels.
 *
 * From the first forward pass on, the arenas have each layer's weights in the layout of set_layout
 * (weighted.c). Optimizers and gradient sums do not depend on the layout. Checkpoints would, so
 * they are rejected (main.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/peers/onednn/program.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"
#include "kernels/layers/dropout_mask.h"
#include "kernels/layers/layer_tables.h"
#include "kernels/layers/loss.h"
#include "kernels/net/net.h"

struct net {
    struct net_options options;
    struct net_desc desc; /* shallow copy of the caller's description; desc.layers points to this
                             net's own copy, `layers` */
    struct layer_desc *layers;
    struct onednn_op *ops;
    int n_ops;
    struct dnn dnn;
    struct program *programs; /* list of programs, one per batch size, most recently used first */
    bool adopted;             /* whether `adopt` has converted the weights to the ops' layouts */
    uint8_t *keep;            /* dropout mask of one image */
    struct mem_room memory;
};

/* ---- Making ---- */

/* Returns whether the op of this layer also computes the ReLU that follows. */
static bool fuses_relu(const struct net_desc *desc, int layer)
{
    enum layer_kind kind = desc->layers[layer].kind;
    return (kind == LAYER_conv2d || kind == LAYER_dense || kind == LAYER_batchnorm2d) &&
           layer + 1 < desc->n_layers && desc->layers[layer + 1].kind == LAYER_relu;
}

/* Returns an op's entry in net_options.choices: the way (algorithm and layouts) of each pass,
 * packed into one byte. The byte is at least 1; 0 means that program_make chooses the fastest
 * ways. */
static uint8_t byte_of(const struct onednn_op *op)
{
    int byte = 0;
    for (int pass = ONEDNN_PASSES; pass-- > 0;)
        byte = byte * ONEDNN_WAYS + (op->ways[pass] > 0 ? op->ways[pass] : 0);
    return (uint8_t)(1 + byte);
}

static void set_ways(struct onednn_op *op, uint8_t byte)
{
    for (int pass = 0, rest = byte - 1; pass < ONEDNN_PASSES; pass++, rest /= ONEDNN_WAYS)
        op->ways[pass] = (int8_t)(byte == 0 ? -1 : rest % ONEDNN_WAYS);
}

static void choose_ops(struct net *net)
{
    bool learns = false;
    const uint8_t *choices = net->options.choices;
    for (int i = 0; i < net->desc.n_layers; i++) {
        struct onednn_op *op = &net->ops[net->n_ops++];
        *op = (struct onednn_op){
            .layer = &net->layers[i], .relu = fuses_relu(&net->desc, i), .hands_back = learns};
        set_ways(op, choices != NULL ? choices[i] : 0);
        learns = learns || op->layer->n_tensors > 0;
        i += op->relu;
    }
}

/* Moves the program (oneDNN calls) for n images to the front of net->programs. Makes the program if
 * there is none. */
static enum status find_program(struct net *net, int n, struct error *e)
{
    struct program **at = &net->programs, *found;
    while (*at != NULL && (*at)->n != n)
        at = &(*at)->next;
    found = *at;
    if (found == NULL)
        TRY(program_make(&found, &net->dnn, net->ops, net->n_ops, net->desc.input,
                         net->options.values, n, net->programs == NULL, e));
    else
        *at = found->next;
    found->next = net->programs;
    net->programs = found;
    return OK;
}

static enum status net_open(struct net *net, const struct net_desc *desc,
                            const struct net_options *options, struct error *e)
{
    const char *what = "the plan of a net";
    size_t n_layers = (size_t)desc->n_layers, most = shape_count(desc->input);
    net->options = *options;
    net->desc = *desc;
    TRY(MEM_KEEP(&net->memory, net->layers, n_layers, what, e));
    TRY(MEM_KEEP(&net->memory, net->ops, n_layers, what, e));
    memcpy(net->layers, desc->layers, n_layers * sizeof *net->layers);
    net->desc.layers = net->layers;
    for (size_t i = 0; i < n_layers; i++)
        most = shape_count(net->layers[i].in) > most ? shape_count(net->layers[i].in) : most;
    TRY(MEM_KEEP(&net->memory, net->keep, most, what, e));
    choose_ops(net);
    TRY(dnn_open(&net->dnn, options->threads, e));
    return find_program(net, options->n_max, e);
}

enum status net_create(struct net **net, const struct net_desc *desc,
                       const struct net_options *options, struct error *e)
{
    TRY(MEM_NEW(*net, 1, "a net", e));
    enum status status = net_open(*net, desc, options, e);
    if (status == OK)
        return OK;
    net_destroy(*net);
    *net = NULL;
    return status;
}

void net_destroy(struct net *net)
{
    if (net == NULL)
        return;
    while (net->programs != NULL) {
        struct program *next = net->programs->next;
        program_free(net->programs);
        net->programs = next;
    }
    dnn_close(&net->dnn);
    mem_room_empty(&net->memory);
    free(net);
}

enum status net_tune(uint8_t *choices, const struct net_desc *desc,
                     const struct net_options *options, struct pool *pool, struct error *e)
{
    struct net_options by_time = *options;
    struct net *net;
    (void)pool;
    by_time.choices = NULL;
    memset(choices, 0, (size_t)desc->n_layers);
    TRY(net_create(&net, desc, &by_time, e));
    for (int i = 0; i < net->n_ops; i++)
        choices[net->ops[i].layer->index] = byte_of(&net->ops[i]);
    net_destroy(net);
    return OK;
}

/* ---- Properties ---- */

int net_ops(const struct net *net)
{
    return net->n_ops;
}

void net_op_tensors(const struct net *net, int op, int *first, int *last)
{
    *first = net->ops[op].layer->first_tensor;
    *last = *first + net->ops[op].layer->n_tensors;
}

const char *net_op_name(const struct net *net, int op)
{
    return layer_names()[net->ops[op].layer->kind];
}

char *net_op_layers(const struct net *net, const struct net_desc *desc, int op,
                    char text[NET_OP_LAYERS])
{
    const struct onednn_op *o = &net->ops[op];
    text[0] = '\0';
    for (int i = 0; i <= o->relu; i++)
        text_join(text, NET_OP_LAYERS, " ", desc->layers[o->layer->index + i].name);
    return text;
}

char *net_kernels_text(const struct net *net, const struct net_desc *desc, char text[KERNELS_TEXT])
{
    (void)desc;
    text[0] = '\0';
    for (int i = 0; i < net->n_ops; i++) {
        char op[NET_NAME_MAX + 80];
        snprintf(op, sizeof op, "%s:%s", net->ops[i].layer->name, net->ops[i].algorithms);
        if (net->ops[i].algorithms[0])
            text_join(text, KERNELS_TEXT, " ", op);
    }
    return text;
}

struct net_op_view net_op_view(const struct net *net, int slot, int op)
{
    const struct layer_desc *l = net->ops[op].layer;
    (void)slot;
    return (struct net_op_view){.first_layer = l->index,
                                .last_layer = l->index + 1 + net->ops[op].relu,
                                .learns = net->ops[op].hands_back || l->n_tensors > 0,
                                .flops_forward = l->flops_forward,
                                .flops_backward = l->flops_backward};
}

/* Returns zeros, since oneDNN does not report how much memory it uses. */
struct net_memory net_memory(const struct net *net)
{
    (void)net;
    return (struct net_memory){0};
}

size_t net_bytes(const struct net *net)
{
    (void)net;
    return 0;
}

/* Returns the FLOPs per image of the forward pass or, if `backward` is set, of the backward pass,
 * with direct algorithms. oneDNN performs fewer if it uses Winograd. */
uint64_t net_flops_done(const struct net *net, bool backward)
{
    return backward ? net->desc.flops_backward : net->desc.flops_forward;
}

unsigned net_savings(const struct net *net)
{
    (void)net;
    return 0;
}

/* Returns 0, since only pipeline stages need the number of activations and this peer has no
 * pipeline. */
size_t net_activation_reals(const struct net *net, int op, int n)
{
    (void)net;
    (void)op;
    (void)n;
    return 0;
}

real *net_activations(const struct net *net, int slot, int op)
{
    (void)net;
    (void)slot;
    (void)op;
    return NULL;
}

real *net_gradients(const struct net *net, int slot, int op)
{
    return net_activations(net, slot, op);
}

bool net_op_hands_back(const struct net *net, int op)
{
    return net->ops[op].hands_back;
}

void net_expect(struct net *net, int slot, int n)
{
    (void)net;
    (void)slot;
    (void)n;
}

/* ---- Steps ---- */

struct load_call {
    const struct net_desc *desc;
    real *x;
    const uint8_t *const *image;
};

/* Normalises items [begin, end) of a batch. An item is one channel of one image. */
static void load_planes(void *arg, size_t begin, size_t end, int thread)
{
    const struct load_call *call = arg;
    const struct net_desc *desc = call->desc;
    size_t channels = (size_t)desc->input.c, plane = (size_t)desc->input.h * (size_t)desc->input.w;
    (void)thread;
    for (size_t p = begin; p < end; p++) {
        real scale = (real)(1 / (255 * desc->std[p % channels]));
        real shift = (real)(-desc->mean[p % channels] / desc->std[p % channels]);
        const uint8_t *bytes = call->image[p / channels] + p % channels * plane;
        for (size_t i = 0; i < plane; i++)
            call->x[p * plane + i] = (real)bytes[i] * scale + shift;
    }
}

/* Makes the program (program.h) for n images if there is none, then loads the images. The first
 * batch of a new size therefore takes longer than later batches of this size. net_create has
 * already made the program for n_max images. */
void net_load_each(struct net *net, const struct exec *ex, int slot, int n,
                   const uint8_t *const *image)
{
    struct error e;
    (void)slot;
    if (find_program(net, n, &e) != OK) {
        error_print(stderr, &e);
        abort();
    }
    struct load_call call = {&net->desc, program_data(net->programs->x), image};
    exec_for(ex, (size_t)n * (size_t)net->desc.input.c, 1, load_planes, &call);
}

void net_load(struct net *net, const struct exec *ex, int slot, int n, const uint8_t *images)
{
    const uint8_t **image = malloc((size_t)n * sizeof *image);
    for (int i = 0; image != NULL && i < n; i++)
        image[i] = images + (size_t)i * shape_count(net->desc.input);
    if (image == NULL)
        abort();
    net_load_each(net, ex, slot, n, image);
    free(image);
}

/* Converts the weights of each op in place from row-major order to the op's layout. Skips ops whose
 * layout is row-major. */
static void adopt(struct net *net, real *params)
{
    struct error e;
    for (int i = 0; i < net->n_ops; i++) {
        const struct onednn_op *op = &net->ops[i];
        if (op->weights.ndims == 0 || dnn_is_plain(&op->weights))
            continue;
        const struct tensor_desc *tensor = &net->desc.tensors[op->layer->first_tensor];
        const dnnl_memory_desc_t plain = dnn_plain(op->weights.ndims, op->weights.dims, dnnl_f32);
        real *at = params + tensor->offset;
        if (dnn_rearrange(&net->dnn, at, &plain, &op->weights, &e) != OK) {
            error_print(stderr, &e);
            abort();
        }
    }
    net->adopted = true;
}

/* Draws the factors of a dropout layer: 0 for dropped values, 1 / (1 - rate) for others. */
static void draw_mask(struct net *net, const struct exec *ex, const struct layer_desc *l,
                      dnnl_memory_t mask)
{
    struct dropout_units units = dropout_units_of(l);
    real *factors = program_data(mask), kept = (real)(1 / (1 - l->rate));
    for (int i = 0; i < net->programs->n; i++) {
        dropout_mask_draw_by(net->options.isa, net->keep, ex, l, units.units, ex->samples[i]);
        for (size_t k = 0; k < units.units; k++)
            for (size_t j = 0; j < units.size; j++)
                *factors++ = net->keep[k] ? kept : 0;
    }
}

/* Updates the running statistics as kernels/layers/batchnorm.c does. */
static void update_running(const struct layer_desc *l, const struct op_calls *c, size_t images)
{
    const real *mean = program_data(c->mean), *variance = program_data(c->variance);
    real *running = program_data(c->running_mean);
    double count = (double)(images * (size_t)l->in.h * (size_t)l->in.w), m = l->momentum;
    size_t channels = (size_t)l->in.c;
    for (size_t k = 0; k < channels; k++) {
        if (!isfinite(mean[k]) || !isfinite(variance[k]))
            continue;
        running[k] = (real)((1 - m) * (double)running[k] + m * (double)mean[k]);
        if (count > 1)
            running[channels + k] = (real)((1 - m) * (double)running[channels + k] +
                                           m * (double)variance[k] * (count / (count - 1)));
    }
}

/* Points an op's views at its weights, running statistics and, unless `grads` is NULL,
 * gradients. */
static void place(struct net *net, int op, const struct exec *ex, const real *params, real *grads)
{
    const struct layer_desc *l = net->ops[op].layer;
    const struct op_calls *c = &net->programs->ops[op];
    if (l->n_tensors > 0) {
        const struct tensor_desc *t = &net->desc.tensors[l->first_tensor];
        program_place(c->weights, params + t->offset);
        program_place(c->bias, params + t->offset + t->count);
        if (grads != NULL) {
            program_place(c->dweights, grads + t->offset);
            program_place(c->dbias, grads + t->offset + t->count);
        }
    }
    if (l->n_buffers > 0) {
        program_place(c->running_mean, ex->buffers + l->buffer_offset);
        program_place(c->running_variance, ex->buffers + l->buffer_offset + l->in.c);
    }
}

static void forward_op(struct net *net, const struct exec *ex, int op, const real *params)
{
    const struct layer_desc *l = net->ops[op].layer;
    const struct op_calls *c = &net->programs->ops[op];
    place(net, op, ex, params, NULL);
    if (ex->training && c->mask != NULL)
        draw_mask(net, ex, l, c->mask);
    dnn_run(&net->dnn, ex->training ? &c->forward : &c->evaluation);
    if (ex->training && l->kind == LAYER_batchnorm2d)
        update_running(l, c, (size_t)net->programs->n);
}

void net_forward(struct net *net, const struct exec *ex, int slot, int first, int last,
                 const real *params)
{
    (void)slot;
    if (!net->adopted)
        adopt(net, (real *)params);
    for (int op = first; op < last; op++)
        forward_op(net, ex, op, params);
}

struct score net_loss(struct net *net, const struct exec *ex, int slot, const uint8_t *labels,
                      const real *weights, double gradient_scale)
{
    const struct op_calls *last = &net->programs->ops[net->n_ops - 1];
    (void)ex;
    return softmax_cross_entropy_simd(net->options.isa, net->programs->n, net->desc.classes,
                                      net_logits(net, slot), labels, weights, gradient_scale,
                                      gradient_scale > 0 ? program_data(last->dy) : NULL);
}

void net_classify(const struct net *net, int slot, int *classes)
{
    const real *logits = net_logits(net, slot);
    for (int i = 0; i < net->programs->n; i++)
        classes[i] =
            largest_logit(logits + (size_t)i * (size_t)net->desc.classes, net->desc.classes);
}

void net_backward(struct net *net, const struct exec *ex, int slot, int first, int last,
                  const real *params, real *grads)
{
    (void)slot;
    for (int op = last - 1; op >= first; op--) {
        if (!net->ops[op].hands_back && net->ops[op].layer->n_tensors == 0)
            continue;
        place(net, op, ex, params, grads);
        dnn_run(&net->dnn, &net->programs->ops[op].backward);
    }
}

const real *net_logits(const struct net *net, int slot)
{
    (void)slot;
    return program_data(net->programs->ops[net->n_ops - 1].y);
}
