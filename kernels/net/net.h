/* A network of layers compiled for its shapes: forward, loss and backward over flat arenas. One
 * process; no MPI, no files. */
#pragma once

#include "kernels/base/mem.h"
#include "kernels/base/precision.h"
#include "kernels/layers/layer.h"
#include "kernels/layers/loss.h"
#include "kernels/ops/savings.h"

/* A network compiled for at most `n_max` images a call: a list of ops, each one layer or a run of
 * layers, and `slots` sets of activations. */
struct net;
struct net_options {
    enum plan plan;
    enum isa isa; /* what the processor has, the same on all ranks */
    /* What values between convolutions, and what these keep of them from forward to backward, are kept in:
     * arithmetic is not. One of 16 bits not for a stage, nor in double precision. */
    enum precision values;
    int n_max;   /* images of a call at most */
    int threads; /* of the pool that calls will bring */
    int slots;   /* activation sets, 1 unless pipelined */
    /* Ops [first_op, last_op) alone are run, as a stage of a pipeline: others take no memory, and the
     * arenas of parameters and gradients hold the tensors of these ops only. 0, 0: all. */
    int first_op, last_op;
    /* [n_layers] of enum kernel_choice, as net_tune leaves them; NULL: all by shape. Only read
     * while the net is made. */
    const uint8_t *choices;
};
/* *net: desc, which may go afterwards, compiled with all the memory that its calls need; freed with
 * net_destroy. ERR_ARGUMENT for options out of range or that do not go together, ERR_SHAPE for images of
 * more than 4 channels, ERR_MEMORY with how much was asked for; *net is NULL then. */
enum status net_create(struct net **net, const struct net_desc *desc,
                       const struct net_options *options, struct error *e);
void net_destroy(struct net *net);

/* How many ops the plan has, those of other stages with them. */
int net_ops(const struct net *net);
/* Tensors [*first, *last) of an op; empty for one without parameters. */
void net_op_tensors(const struct net *net, int op, int *first, int *last);
/* The name of the kind of op, a row of ops.def. */
const char *net_op_name(const struct net *net, int op);
/* "conv1 relu1 maxpool2d1": the layers that it does, cut to fit. Returns text. */
#define NET_OP_LAYERS 256
char *net_op_layers(const struct net *net, const struct net_desc *desc, int op,
                    char text[NET_OP_LAYERS]);
/* What an op is and did, for measuring and comparing plans. */
struct net_op_view {
    int first_layer, last_layer; /* layers [first, last) */
    /* The output of the slot's images [N,C,H,W] after net_forward, of which a later layer reads
     * read_h rows and read_w columns; NULL where it lies in a layout of the op's own. */
    const real *y;
    int read_h, read_w;
    bool learns;                            /* it has a backward pass */
    uint64_t flops_forward, flops_backward; /* an image, really done */
    unsigned savings;
    enum kernel_choice choice;  /* that it follows; direct sums follow it also unasked */
    bool bf16;                  /* it multiplies numbers of bf16 */
    size_t in_bytes, out_bytes; /* of a value that it reads in forward, and of one that it gives */
};
struct net_op_view net_op_view(const struct net *net, int slot, int op);
/* "conv1:first_conv conv2:winograd_f2 fc:small_dense": what each convolution and dense layer is
 * computed with, the kind of its op or what was chosen more closely, "winograd_bf16" where it multiplies
 * numbers of bf16. text has KERNELS_TEXT bytes.
 * Returns text. */
#define KERNELS_TEXT 1024
char *net_kernels_text(const struct net *net, const struct net_desc *desc, char text[KERNELS_TEXT]);
/* What a net takes of its slots' images, and to compute. */
struct net_memory {
    size_t outputs;   /* of ops */
    size_t saved;     /* what ops keep beside these for backward */
    size_t gradients; /* of outputs, of two ops */
    size_t scratch;
};
struct net_memory net_memory(const struct net *net);
size_t net_bytes(const struct net *net); /* all of it */
/* FLOPs an image that the plan really does; those of the net as written are in its description.
 * Neither counts the gradient of the images, which is not wanted. */
uint64_t net_flops_done(const struct net *net, bool backward);
unsigned net_savings(const struct net *net); /* of all its ops */

/* Makes n <= n_max images, bytes [N,C,H,W], the slot's input; a net reads them as (byte/255 -
 * mean)/std. They are borrowed until the slot's backward has ended. */
void net_load(struct net *net, const struct exec *ex, int slot, int n, const uint8_t *images);
/* The same with images [C,H,W] anywhere in memory. The array itself is not kept. */
void net_load_each(struct net *net, const struct exec *ex, int slot, int n,
                   const uint8_t *const *image);

/* What of a net's ops goes from one to the next, as its plan lays it out: the input of op `op` of n images,
 * or the output of the last op where op is net_ops. A stage of a pipeline has its own first op's and that
 * of the op behind it. net_activations: where the slot keeps them; net_gradients: where backward keeps the
 * gradient of the loss by them, until it writes that of the next but one. NULL before op 0 where it
 * takes bytes. */
size_t net_activation_reals(const struct net *net, int op, int n);
real *net_activations(const struct net *net, int slot, int op);
real *net_gradients(const struct net *net, int slot, int op);

/* Whether the op hands a gradient on to the one before it, which is so behind the first tensor. */
bool net_op_hands_back(const struct net *net, int op);

/* In place of net_load where the net's first op is that of a later stage: n <= n_max images, whose
 * activations come into net_activations(net, slot, first_op). */
void net_expect(struct net *net, int slot, int n);

/* choices [n_layers] <- the fastest of the plan's kernels for each convolution and dense layer, at
 * options->n_max images on this machine now: each candidate's training steps on made-up images take
 * turns with those of the plan by shape, and what is chosen together must beat that as a whole. The
 * choices of options are not read. Takes some dozens of steps and two nets' memory; two calls may
 * choose differently, and other kernels round differently. */
enum status net_tune(uint8_t *choices, const struct net_desc *desc,
                     const struct net_options *options, struct pool *pool, struct error *e);

/* Runs ops [first, last) on the n images loaded into the slot. params: the parameter arena. */
void net_forward(struct net *net, const struct exec *ex, int slot, int first, int last,
                 const real *params);

/* Softmax cross-entropy of the slot's logits against labels [N]. With `gradient_scale` > 0 also
 * leaves dlogits = gradient_scale * (softmax - onehot) for backward; exact data parallelism passes
 * 1 / global samples. weights [N] (or NULL: all 1) multiply each image's loss, gradient and count
 * (0 for padding). */
struct score net_loss(struct net *net, const struct exec *ex, int slot, const uint8_t *labels,
                      const real *weights, double gradient_scale);

/* The class of each image of the slot: of its largest logit, the first of equals. classes [N]. */
void net_classify(const struct net *net, int slot, int *classes);

/* Runs ops last-1 down to first backward. grads: the gradient arena, overwritten for the tensors
 * of these ops, or added to with ex->accumulate. */
void net_backward(struct net *net, const struct exec *ex, int slot, int first, int last,
                  const real *params, real *grads);

/* The slot's logits [N, classes], valid after the last forward step. */
const real *net_logits(const struct net *net, int slot);

/* Initial weights of tensors as the desc's initializer says, from (seed, tensor, element) alone. */
void net_init_params(const struct net_desc *desc, real *params, uint64_t seed);
/* One number of a tensor, as these have it. */
real net_initial_value(const struct net_desc *desc, int tensor, size_t element, uint64_t seed);
/* The same of tensors [first, last) alone, the first of which lies at params[0]. */
void net_init_tensors(const struct net_desc *desc, int first, int last, real *params,
                      uint64_t seed);

/* Running statistics before the first step: means 0, variances 1. */
void net_init_buffers(const struct net_desc *desc, real *buffers);

/* n images, labels and weights made up to time training steps with, the same every time. The caller frees them by
 * emptying `memory`, after a failure too. */
struct net_batch {
    const struct net_desc *desc; /* borrowed */
    int n;
    struct exec ex;
    uint8_t *images, *labels;
    uint32_t *samples;
    real *params, *grads, *buffers;
    struct mem_room memory;
};
enum status net_batch_open(struct net_batch *b, const struct net_desc *desc, int n,
                           struct error *e);
