/* A network compiled for its shapes: forward, loss and backward over flat arenas of parameters and
 * gradients. Uses neither MPI nor files. */
#pragma once

#include "kernels/base/mem.h"
#include "kernels/base/precision.h"
#include "kernels/layers/layer.h"
#include "kernels/layers/loss.h"
#include "kernels/ops/savings.h"

/* A network compiled for at most `n_max` images per call: a list of ops, each of one or more
 * layers, and `slots` sets of activations. */
struct net;

struct net_options {
    enum plan plan;
    enum isa isa; /* instruction set to use, the same on all ranks */
    /* Precision in which activations between convolutions are stored; arithmetic is not affected.
     * 16-bit types are not supported for stages of a pipeline or in double precision. */
    enum precision values;
    int n_max;   /* maximum number of images per call */
    int threads; /* maximum number of threads of ex->pool */
    int slots;   /* number of sets of activations; 1 without a pipeline */
    /* Ops [first_op, last_op) to run, for a stage of a pipeline. The arenas only hold the tensors
     * of these ops. Other ops use no memory. 0, 0: all ops. */
    int first_op, last_op;
    /* [n_layers] kernel choice of each layer (enum kernel_choice), as set by net_tune; NULL:
     * default kernels. Not used after net_create. */
    const uint8_t *choices;
};

/* Compiles a description and allocates all memory that calls need. `desc` may be freed afterwards.
 * Free *net with net_destroy. On error, *net is NULL: ERR_ARGUMENT (invalid options), ERR_SHAPE
 * (images of more than 4 channels) or ERR_MEMORY. */
enum status net_create(struct net **net, const struct net_desc *desc,
                       const struct net_options *options, struct error *e);
void net_destroy(struct net *net);

/* Returns the number of ops in the plan, including ops of other pipeline stages. */
int net_ops(const struct net *net);
/* Sets [*first, *last) to the range of an op's tensors, which is empty if the op has no
 * parameters. */
void net_op_tensors(const struct net *net, int op, int *first, int *last);
/* Returns the name of an op's kind, as in ops.def. */
const char *net_op_name(const struct net *net, int op);
#define NET_OP_LAYERS 256
/* Writes the names of an op's layers, cut to fit: "conv1 relu1 maxpool2d1". Returns `text`. */
char *net_op_layers(const struct net *net, const struct net_desc *desc, int op,
                    char text[NET_OP_LAYERS]);
/* Properties and output of one op, for timing and comparing plans. */
struct net_op_view {
    int first_layer, last_layer; /* range of layers [first, last) */
    /* Output [N,C,H,W] of the last net_forward in this slot (set of activations). Later layers read
     * read_h rows and read_w columns of it. NULL if the output has another layout. */
    const real *y;
    int read_h, read_w;
    bool learns;                            /* whether the op has a backward pass */
    uint64_t flops_forward, flops_backward; /* FLOPs per image that the op computes */
    unsigned savings;
    enum kernel_choice choice;  /* kernel choice that the op implements. CHOICE_direct: the op
                                   computes direct sums, requested or by default. CHOICE_shape: any
                                   other default kernel */
    bool bf16;                  /* whether the op multiplies bf16 numbers */
    size_t in_bytes, out_bytes; /* bytes per number of the op's input and of its output */
};
struct net_op_view net_op_view(const struct net *net, int slot, int op);
#define KERNELS_TEXT 1024
/* Writes the kernel of each convolution and dense layer: "conv1:first_conv conv2:winograd_f2
 * fc:small_dense". Suffix "_bf16": the op multiplies bf16 numbers. Returns `text`. */
char *net_kernels_text(const struct net *net, const struct net_desc *desc, char text[KERNELS_TEXT]);
/* Memory of a net for all slots and for scratch, in bytes. */
struct net_memory {
    size_t outputs;   /* bytes of all outputs, and of the first op's input if stored as reals */
    size_t saved;     /* bytes that ops save for backward, in addition to outputs */
    size_t gradients; /* bytes of the buffers for gradients of op outputs, over all slots; each slot
                         has two buffers */
    size_t scratch;
};
struct net_memory net_memory(const struct net *net);
size_t net_bytes(const struct net *net); /* Returns the sum of net_memory's members, in bytes. */
/* Returns the FLOPs per image that the plan's ops do in forward or backward, over all pipeline
 * stages. Backward excludes the gradient with respect to the images. */
uint64_t net_flops_done(const struct net *net, bool backward);
/* Returns a bit mask (enum saving) of the kinds of work that the ops skip or do in a cheaper
 * way. */
unsigned net_savings(const struct net *net);

/* Sets the input of a slot to n <= n_max images, bytes [N,C,H,W], read as (byte/255 - mean)/std.
 * Borrows the images until backward of the slot has ended. */
void net_load(struct net *net, const struct exec *ex, int slot, int n, const uint8_t *images);
/* Works as net_load, for images [C,H,W] anywhere in memory. Copies the array of pointers `image`.
 * Borrows the images until backward of the slot has ended. */
void net_load_each(struct net *net, const struct exec *ex, int slot, int n,
                   const uint8_t *const *image);

/* An activation is the input of op `op` or, if op = net_ops(net), the output of the last op.
 * net_activation_reals returns its size in reals for n images. net_activations returns its address,
 * net_gradients the address of its gradient; both have the plan's layout. net_activations returns
 * NULL if `op` is 0 and the first op reads bytes. The gradient is valid until backward of op - 2
 * begins. A pipeline stage only has the activations of its own ops. */
size_t net_activation_reals(const struct net *net, int op, int n);
real *net_activations(const struct net *net, int slot, int op);
real *net_gradients(const struct net *net, int slot, int op);

/* Returns whether backward of the op computes a gradient for the previous op: true if an earlier op
 * has parameters. */
bool net_op_hands_back(const struct net *net, int op);

/* Replaces net_load in a later pipeline stage: sets the number of images n <= n_max. The caller
 * writes the input to net_activations(net, slot, first_op). */
void net_expect(struct net *net, int slot, int n);

/* Sets choices [n_layers] to the fastest kernel of each convolution and dense layer, measured in
 * training steps on options->n_max generated images. Keeps all default kernels unless the chosen
 * kernels together are faster. Ignores options->choices. Needs several dozen steps and the memory
 * of two nets. Two calls may choose differently, and kernels differ in rounding. */
enum status net_tune(uint8_t *choices, const struct net_desc *desc,
                     const struct net_options *options, struct pool *pool, struct error *e);

/* Runs forward of ops [first, last) on the n images of the slot. params: the arena of
 * parameters. */
void net_forward(struct net *net, const struct exec *ex, int slot, int first, int last,
                 const real *params);

/* Returns the score (loss sum, correct images, samples) of the slot's logits against labels [N]. If
 * gradient_scale > 0, also stores dlogits, multiplied by gradient_scale, for backward. For the mean
 * gradient of a batch, gradient_scale is 1 / (images of the batch). weights [N] are as in
 * softmax_cross_entropy; images of weight 0 are padding. */
struct score net_loss(struct net *net, const struct exec *ex, int slot, const uint8_t *labels,
                      const real *weights, double gradient_scale);

/* Sets classes [N] to the class of each image's largest logit. If several are equal, the first one
 * counts. */
void net_classify(const struct net *net, int slot, int *classes);

/* Runs backward of ops last-1 down to first. Each op overwrites its gradients in `grads` (the arena
 * of gradients) or, if ex->accumulate, adds to them. */
void net_backward(struct net *net, const struct exec *ex, int slot, int first, int last,
                  const real *params, real *grads);

/* Returns the slot's logits [N, classes], valid after forward of the last op. */
const real *net_logits(const struct net *net, int slot);

/* Sets all parameters to initial values by the description's initializer. Each value depends only
 * on the initializer, `seed`, the tensor and the element. */
void net_init_params(const struct net_desc *desc, real *params, uint64_t seed);
/* Returns the initial value of one element of a tensor. */
real net_initial_value(const struct net_desc *desc, int tensor, size_t element, uint64_t seed);
/* Sets the initial weights of tensors [first, last) only. The first of these tensors begins at
 * params[0]. */
void net_init_tensors(const struct net_desc *desc, int first, int last, real *params,
                      uint64_t seed);

/* Sets running statistics to their initial values: means 0, variances 1. */
void net_init_buffers(const struct net_desc *desc, real *buffers);

/* A generated batch and initial weights for timing training steps, the same at every call of
 * net_batch_open. Free with mem_room_empty(&memory), also after an error. */
struct net_batch {
    const struct net_desc *desc; /* description of the network, borrowed */
    int n;
    struct exec ex;
    uint8_t *images, *labels;
    uint32_t *samples;
    real *params, *grads, *buffers;
    struct mem_room memory;
};
enum status net_batch_open(struct net_batch *b, const struct net_desc *desc, int n,
                           struct error *e);
