/* Single-process compute: a network made of layers, an optimizer over flat arenas. No MPI, no
 * files.
 *
 * Shapes are written [N,C,H,W]; N is the number of images of the call. All numbers are `real`, in
 * row-major order without gaps. */
#ifndef SCALEBENCH_KERNELS_H
#define SCALEBENCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"
#include "kernels/base/isa.h"
#include "kernels/base/pool.h"
#include "kernels/base/real.h"
#include "kernels/desc/net_desc.h"

/* What kind of work is charged to a simulated clock. */
enum work { WORK_FLOP, WORK_BYTE };

/* Execution context: what a call may use and whom it must let speak. All pointers are borrowed. */
struct exec {
    struct pool *pool; /* NULL: the calling thread alone */

    /* Called at tile boundaries, at most every 200 us, so that communication can progress. NULL:
     * never. */
    void (*poll)(void *arg);
    void *poll_arg;

    /* Sums `values` over the ranks that share a batch (synchronised batch norm). NULL: one rank. A
     * sum that fails is for its giver to remember: the call goes on with what it has. */
    enum status (*group_sum)(void *arg, double *values, size_t n);
    void *group_arg;

    /* Charges work to a simulated clock. NULL: the work takes real time. */
    void (*charge)(void *arg, enum work kind, double amount);
    void *charge_arg;

    bool training;   /* dropout is on, state for backward is kept */
    bool accumulate; /* backward adds to gradients instead of overwriting them */

    /* Batch norm: the arena of running statistics, NULL where a net has none. With
     * `fixed_statistics` they are used while training too, and stay as they are. */
    real *buffers;
    bool fixed_statistics;

    /* [N], 0 for padding, which has no part in the statistics of a batch. NULL: all images
     * count. */
    const real *weights;

    /* Which samples these are: dropout and augmentation are functions of (seed, epoch, sample). */
    uint64_t seed;
    uint32_t epoch;
    const uint32_t *samples; /* [N] */
};

/* Compute of one kind of layer; one const table a file, named layer_<name>. `saved` holds what
 * forward leaves for backward of the same images; `scratch` holds nothing between calls; both are
 * aligned and may be NULL when their size is 0. n >= 1 images. */
struct layer_kernel {
    const char *name;
    size_t (*saved_bytes)(const struct layer_desc *layer, int n);
    size_t (*scratch_bytes)(const struct layer_desc *layer, int n, int threads);
    /* y [N,out] <- x [N,in]; params is the layer's first tensor, NULL if it has none. */
    void (*forward)(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                    const real *x, const real *params, void *saved, void *scratch);
    /* dx [N,in], dparams (layout of params) <- dy [N,out]. dx is NULL when nobody wants it. */
    void (*backward)(const struct exec *ex, const struct layer_desc *layer, int n, real *dx,
                     real *dparams, const real *dy, const real *x, const real *y,
                     const real *params, const void *saved, void *scratch);
};

/* What a plan is made of. The reference plan is plain loops, a layer at a time, never tuned: the
 * oracle. The exact plan sums as the net is written and leaves no work out; the fast plan may
 * transform convolutions and skip what nobody reads or what is zero. */
enum plan { PLAN_REFERENCE, PLAN_FAST, PLAN_EXACT };
const struct layer_kernel *layer_kernel_get(enum layer_kind kind, enum plan plan);

/* What a plan saves of the work that a net's description counts; a set of them has a bit each. */
enum saving {
#define SAVING(name, summary) SAVING_##name,
#include "kernels/savings.def"
#undef SAVING
    SAVINGS
};
#define SAVING_BIT(saving) (1u << (saving))
const char *saving_name(enum saving saving);
const char *saving_summary(enum saving saving);
/* "winograd dead_outputs", "none" for an empty set; text has SAVINGS_TEXT bytes. Returns text. */
#define SAVINGS_TEXT 128
char *savings_text(char text[SAVINGS_TEXT], unsigned savings);

/* What a layer's work is done with; CHOICE_shape is what its shape calls for. */
enum kernel_choice {
    CHOICE_shape,
#define CHOICE(name, plans, summary) CHOICE_##name,
#include "kernels/choices.def"
#undef CHOICE
    KERNEL_CHOICES
};

/* A network compiled for at most `n_max` images a call: a list of steps, each one layer or a run of
 * layers, and `slots` sets of activations. */
struct net;
struct net_options {
    enum plan plan;
    enum isa isa; /* what the processor has, the same on all ranks */
    int n_max;    /* images of a call at most */
    int threads;  /* of the pool that calls will bring */
    int slots;    /* activation sets, 1 unless pipelined */
    /* [n_layers] of enum kernel_choice, as net_tune leaves them; NULL: all by shape. Only read
     * while the net is made. */
    const uint8_t *choices;
};
enum status net_create(struct net **net, const struct net_desc *desc,
                       const struct net_options *options, struct error *e);
void net_destroy(struct net *net);
int net_steps(const struct net *net);
/* Tensors [*first, *last) of step `step`; empty for a step without parameters. */
void net_step_tensors(const struct net *net, int step, int *first, int *last);
/* The name of the kind of step, a row of steps.def. */
const char *net_step_name(const struct net *net, int step);
/* What a step is and did, for those who measure and compare plans. */
struct net_step_view {
    int first_layer, last_layer; /* layers [first, last) */
    /* The output of the slot's images [N,C,H,W] after net_forward, of which a later layer reads
     * read_h rows and read_w columns; NULL where it lies in a layout of the step's own. */
    const real *y;
    int read_h, read_w;
    bool learns;                            /* it has a backward pass */
    uint64_t flops_forward, flops_backward; /* an image, really done */
    unsigned savings;
    enum kernel_choice choice; /* that it follows; direct sums follow it also unasked */
};
struct net_step_view net_step_view(const struct net *net, int slot, int step);
/* "conv1:first_conv conv2:winograd_f2 fc:small_dense": what each convolution and dense layer is
 * computed with, the kind of its step or what was chosen more closely. text has KERNELS_TEXT bytes.
 * Returns text. */
#define KERNELS_TEXT 1024
char *net_kernels_text(const struct net *net, const struct net_desc *desc, char text[KERNELS_TEXT]);
size_t net_bytes(const struct net *net); /* activations, saved state and scratch */
/* FLOPs an image that the plan really does; those of the net as written are in its description.
 * Neither counts the gradient of the images, which nobody reads. */
uint64_t net_flops_done(const struct net *net, bool backward);
unsigned net_savings(const struct net *net); /* of all its steps */

/* Makes n <= n_max images, bytes [N,C,H,W], the slot's input; a net reads them as (byte/255 -
 * mean)/std. They are borrowed until the slot's backward has ended. */
void net_load(struct net *net, const struct exec *ex, int slot, int n, const uint8_t *images);
/* The same with images [C,H,W] anywhere in memory. The array itself is not kept. */
void net_load_each(struct net *net, const struct exec *ex, int slot, int n,
                   const uint8_t *const *image);

/* choices [n_layers] <- the fastest of the plan's kernels for each convolution and dense layer, at
 * options->n_max images on this machine now: each candidate's training steps on made-up images take
 * turns with those of the plan by shape, and what is chosen together must beat that as a whole. The
 * choices of options are not read. Takes some dozens of steps and two nets' memory; two calls may
 * choose differently, and other kernels round differently. */
enum status net_tune(uint8_t *choices, const struct net_desc *desc,
                     const struct net_options *options, struct pool *pool, struct error *e);

/* Runs steps [first, last) on the n images loaded into the slot. params: the parameter arena. */
void net_forward(struct net *net, const struct exec *ex, int slot, int first, int last,
                 const real *params);

/* What a batch scored, summed over its n images. */
struct score {
    double loss_sum;  /* natural logarithm */
    uint32_t correct; /* images whose largest logit, the first of equals, is the label */
    uint32_t samples;
};

/* Softmax cross-entropy of the slot's logits against labels [N]. With `gradient_scale` > 0 also
 * leaves dlogits = gradient_scale * (softmax - onehot) for backward; exact data parallelism passes
 * 1 / global samples. weights [N] (or NULL: all 1) multiply each image's loss, gradient and count
 * (0 for padding). */
struct score net_loss(struct net *net, const struct exec *ex, int slot, const uint8_t *labels,
                      const real *weights, double gradient_scale);

/* The class of each image of the slot: of its largest logit, the first of equals. classes [N]. */
void net_classify(const struct net *net, int slot, int *classes);

/* Runs steps last-1 down to first backward. grads: the gradient arena, overwritten for the tensors
 * of these steps, or added to with ex->accumulate. */
void net_backward(struct net *net, const struct exec *ex, int slot, int first, int last,
                  const real *params, real *grads);

/* The slot's logits [N, classes], valid after the last forward step. */
const real *net_logits(const struct net *net, int slot);

/* Initial weights of tensors as the desc's initializer says, from (seed, tensor, element) alone. */
void net_init_params(const struct net_desc *desc, real *params, uint64_t seed);

/* Running statistics before the first step: means 0, variances 1. */
void net_init_buffers(const struct net_desc *desc, real *buffers);

/* Optimizers: one const table a file, a line in optimizers.def. They work on any slice of the
 * arenas, in a fixed order without contraction, and give the same bits with every instruction set,
 * so that replicas stay bitwise equal. Those that optimizer_takes_tensors names need norms of
 * tensors: their slices must begin and end where tensors do. */
enum optimizer_kind {
#define OPTIMIZER(name, summary) OPTIMIZER_##name,
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER
    OPTIMIZERS
};

struct optimizer {
    enum optimizer_kind kind;
    enum isa isa;                  /* what the processor has; the portable one is always there */
    double momentum, weight_decay; /* sgd, lars; weight decay of all */
    bool nesterov;                 /* sgd: looks one step of the momentum ahead */
    bool decoupled;                /* sgd: decay shrinks weights and stays out of the momentum */
    double beta1, beta2, epsilon;  /* adam, adamw, lamb */
    double trust;                  /* lars: share of a tensor's norm that a step may change */
    double clip_norm;              /* 0: none; whoever sums gradients scales them to this norm */
    size_t n;                      /* parameters */
    real *state;                   /* [optimizer_slots][n], borrowed: an arena like the others */
    const struct tensor_desc *tensors; /* borrowed; of those that take tensors */
    int n_tensors;
};

const char *const *optimizer_names(void);
const char *optimizer_summary(enum optimizer_kind kind);
int optimizer_slots(enum optimizer_kind kind);
bool optimizer_takes_tensors(enum optimizer_kind kind);

/* Updates params[begin, end) from grads[begin, end); `step` counts from 1, `lr` is this step's
 * rate. */
void optimizer_step(const struct optimizer *o, struct pool *pool, real *params, const real *grads,
                    size_t begin, size_t end, uint64_t step, double lr);

/* Sets flush-to-zero and denormals-are-zero in the calling thread; every thread that computes calls
 * it. */
void fp_mode_set(void);
bool fp_mode_flushes(void);

/* "BLIS 0.9.0 skx": the matrix library and the kernel set it runs with here. */
const char *gemm_library(void);

/* Prepares the matrix library for single-threaded calls from any thread; before any net runs. */
void gemm_init(void);

/* c [m,n] <- a [m,k] * b [k,n], plus c when `add`. Row-major with leading dimensions; a transposed
 * operand is stored as [k,m] or [n,k]. */
struct gemm_operand {
    const real *data;
    size_t ld;
    bool transposed;
};
void gemm(size_t m, size_t n, size_t k, real *c, size_t ldc, struct gemm_operand a,
          struct gemm_operand b, bool add);

#endif
