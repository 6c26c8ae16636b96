/* Gradient synchronisation. A strategy works on flat arrays (arenas) that consist of tensors,
 * not on layers. It decides when the optimizer runs, and on which part of the parameters. The
 * training loop is therefore the same for sharded optimizers, local SGD, parameter servers and
 * delayed updates.
 *
 * One step of the training loop:
 *
 *   step_begin
 *   forward:   params_needed(range, PASS_FORWARD)  .. compute ..  params_done(range, PASS_FORWARD)
 *   backward:  params_needed(range, PASS_BACKWARD) .. compute ..  params_done(range, PASS_BACKWARD)
 *              grad_buffer(range) before an op, grad_ready(range, micro, last) after it
 *   step_end(optimizer): parameters are ready when params_needed of the next step returns
 *
 * Before backward, the loss gradient is divided by the global sample count, except with flag
 * STRATEGY_LOCAL_MEAN or STRATEGY_OWN_MEAN. Exact strategies therefore sum gradients and never
 * average them. If config.scale is pre or post, the loss gradient is divided by the mean number of
 * samples per replica instead. Gradients are then divided by the number of replicas: before the sum
 * by sync_grad_ready (pre), or after it by sync_finish_sum or strategies/server.c (post).
 *
 * With gradient accumulation, forward and backward repeat for each micro-batch and gradients add
 * up in grad_buffer. `micro` counts micro-batches from 0; gradients are sent after the last one
 * (`last`).
 *
 * local_ops.h reports its work to the callback exec.charge, a simulated clock that only tests set.
 *
 * To add a sum that is made within a step but is not part of a strategy: call sync_extra_sum, which
 * makes, times and counts the sum, and add a row to `extras` in
 * bench/workloads/train_cnn/tests/mpi_traffic.c. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/cost/cost.h"
#include "comm/loss_scale.h"
#include "comm/wait/wait.h"
#include "kernels/base/error.h"
#include "kernels/base/exec.h"
#include "kernels/base/mem.h"
#include "kernels/base/real.h"
#include "kernels/desc/net_desc.h"
#include "kernels/optimizers/optimizer.h"

/* MPI datatype of `real`. */
#ifdef SCALEBENCH_F64
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

enum pass { PASS_FORWARD, PASS_BACKWARD };

/* Tensors [first, last) of an arena. They are adjacent in each arena. */
struct range {
    int first, last;
};

/* Flat arrays (arenas) of parameters, gradients and optimizer state. All have the same layout,
 * given by the list of tensors. The strategy allocates them. */
struct arenas {
    const struct tensor_desc *tensors; /* borrowed from the network's description */
    int n_tensors;
    size_t n; /* number of elements in one arena */
    real *params, *grads;
    real *state; /* [slots][n] optimizer state */
    int slots;
    /* [n_buffers] running statistics of batch norm, all of them on every rank; allocated by
     * sync_create */
    real *buffers;
    size_t n_buffers;
};

/* Times of one step's communication on this rank (ns). sync_step_begin zeroes them. */
struct sync_times {
    int64_t pack_ns;       /* time of copies, casts, selections and sums in this rank's memory */
    int64_t comm_total_ns; /* time from the start of the step's first communication to the end of
                              its last one; strategy shm adds the preceding wait until all ranks
                              have read this rank's previous gradients */
    /* part of comm_total_ns during which the rank neither computed nor packed */
    int64_t comm_exposed_ns;
    int64_t optimizer_ns;
    int64_t poll_ns; /* part of comm_exposed_ns that sync_poll spent testing for messages */
    /* Time (clock_ns) when this rank began its last wait that followed computation, minus the
     * duration of earlier waits in the step. 0: the step had no wait. */
    int64_t arrive_ns;
};

struct sync_options {
    /* communicator of the ranks that hold the same part of the network, one rank per replica (data
     * dimension of the grid). sync_create duplicates it and uses the duplicate */
    MPI_Comm comm;
    /* Communicator of the ranks that together hold the network. Borrowed. NULL: this rank holds the
     * whole network. */
    const MPI_Comm *parts;
    /* [n_tensors] whether this rank includes a tensor in norms; a tensor that several ranks hold is
     * included on one rank only. Borrowed. NULL: includes all tensors. */
    const bool *in_norm;
    const struct net_desc *desc; /* description of the part of the network that this rank holds */
    struct strategy_config config;
    struct loss_scale_options loss_scale;
    int slots;             /* number of optimizer state arrays per parameter */
    struct waiter *waiter; /* borrowed */
    /* borrowed; provides the threads for the optimizer, and a simulated clock that local work
     * advances if a simulation runs */
    struct exec *exec;
    /* Called before the optimizer runs over a range of parameters. NULL: not called. */
    void (*before_update)(void *arg);
    void *before_update_arg;
    /* Called instead of clipping and optimizer, for elements [begin, end) of the arenas, for
     * example to sleep for the optimizer's calibrated time. NULL: clipping and optimizer run. */
    void (*update)(void *arg, size_t begin, size_t end);
    void *update_arg;
};

struct sync;

struct strategy {
    /* size of sync->context, which is zeroed before create; 0: the strategy has no context, and
     * destroy is not called */
    size_t context_bytes;
    /* Calls arenas_alloc and allocates in s->memory everything that steps need. Collective. */
    enum status (*create)(struct sync *s, struct error *e);
    void (*step_begin)(struct sync *s);
    /* Waits until the parameters of `range` are ready for `pass`. NULL hook: does nothing, like
     * every hook whose comment states no other default. */
    enum status (*params_needed)(struct sync *s, struct range range, enum pass pass,
                                 struct error *e);
    void (*params_done)(struct sync *s, struct range range, enum pass pass);
    /* Returns the buffer where backward writes the gradients of `range`. NULL hook: the gradient
     * arena. */
    real *(*grad_buffer)(struct sync *s, struct range range);
    /* Called when the gradients of `range` are complete for micro-batch `micro`. `last`: whether
     * `micro` is the last micro-batch of the step, so that the gradients may be sent. */
    enum status (*grad_ready)(struct sync *s, struct range range, int micro, bool last,
                              struct error *e);
    /* Lets messages in transit progress without waiting. Returns whether messages are in transit; a
     * message that completes during the call may or may not count. Parameter servers always return
     * true. Called while the rank computes, possibly by another thread, but never at the same time
     * as another hook. Must not add the time of message tests to s->times. Adds the time of other
     * work, such as a server's optimizer, only if s->polls is set. Errors are reported by the wait
     * for the message. */
    bool (*poll)(struct sync *s);
    /* Returns the sum of squares over this rank's share of the summed gradient, for clipping by
     * global norm. Shares cover the gradient exactly once. NULL hook: each rank takes an equal
     * share. */
    double (*norm2_local)(struct sync *s);
    /* Replaces the gradients by their sum over ranks; sync_update follows. A strategy whose ranks
     * do not all hold the whole sum has step_end instead. */
    enum status (*sum_gradients)(struct sync *s, struct error *e);
    enum status (*step_end)(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                            struct error *e);
    /* eval_begin writes the model to evaluate, for example an average, to the parameter arena.
     * eval_end restores the parameters. */
    enum status (*eval_begin)(struct sync *s, struct error *e);
    enum status (*eval_end)(struct sync *s, struct error *e);
    /* Save and restore checkpoints between two steps. Collective. `save` collects all parameters
     * and optimizer state in rank 0's arenas. *data is this rank's additional state, borrowed until
     * the next call. Before `restore`, every rank's arenas hold the parameters and optimizer state.
     * `data` has the bytes that `save` returned, or none if the checkpoint is from another number
     * of ranks or another strategy. NULL `restore`: rejects data (ERR_DATA). */
    enum status (*save)(struct sync *s, const void **data, size_t *bytes, struct error *e);
    enum status (*restore)(struct sync *s, const void *data, size_t bytes, struct error *e);
    /* Releases everything that is neither in s->memory nor in the arenas. Called after a failed
     * create too. */
    void (*destroy)(struct sync *s);
};

/* A strategy in use on this rank. `context` is the strategy's own state. */
struct sync {
    enum strategy_kind kind;
    struct strategy_config config;
    const struct strategy *strategy;
    MPI_Comm comm;
    const MPI_Comm *parts;
    const bool *in_norm;
    int rank, ranks;
    struct arenas arenas;
    /* [2 n_tensors] number of elements of each tensor, then number of rows of each (config.rows) */
    size_t *counts;
    struct sync_times times;
    struct cost extra; /* cost of this step's calls of sync_extra_sum */
    bool polls;        /* whether sync_poll is running on the computing thread */
    /* whether sync_finish_sum, sync_finish_sums or sync_clip_alone has been called in this step */
    bool sum_finished;
    /* Set by the caller: whether sync_finish_sum stores the result of sync_norm2_local in
     * sum_norm2, before it scales and clips the gradients. */
    bool takes_norm2;
    double sum_norm2;
    /* whether this step's gradients overflowed fp16 on any rank. After sync_clip_alone: whether
     * they overflowed on this rank. If true, the optimizer is skipped */
    bool overflow;
    /* scale of the loss, and so of backward's gradients; summed gradients are divided by it */
    struct loss_scale loss_scale;
    int64_t comm_begin_ns; /* time when the step's first communication call began; 0: none yet */
    /* times when the current intervals of communication and of packing began */
    int64_t interval_ns, packing_ns;
    /* duration (ns) of this step's exposed communication before computation last resumed;
     * subtracted from arrive_ns */
    int64_t waited_ns;
    /* whether the rank has computed since its last wait; the next wait then sets arrive_ns anew */
    bool computes_on;
    struct waiter *waiter;
    struct exec *exec;
    void (*before_update)(void *arg);
    void *before_update_arg;
    void (*update)(void *arg, size_t begin, size_t end);
    void *update_arg;
    /* memory allocated by the strategy and its compressor, freed by sync_destroy */
    struct mem_room memory;
    void *context;
    /* functions of the compressor (comm/compress.h); NULL: none */
    const struct compressor *compressor;
    void *compression; /* state of the compressor */
    /* number of elements of gradients and sums that became infinite in fp16 on this rank */
    uint64_t infinite;
};

/* Allocates each arena whose pointer is NULL: zeroed, aligned and already paged in. sync_destroy
 * frees arenas with mem_free. For arenas in memory that mem_free must not free, the destroy hook
 * must reset the pointer to NULL. */
enum status arenas_alloc(struct arenas *a, struct error *e);

/* Creates a strategy and its arenas. Collective. After an error nothing is allocated. */
enum status sync_create(struct sync **sync, enum strategy_kind kind,
                        const struct sync_options *options, struct error *e);
void sync_destroy(struct sync *sync);

/* The functions from here to sync_restore call the hooks of the same names in struct strategy, or
 * execute the default that struct strategy states. If the compressor keeps state, sync_save and
 * sync_restore handle this state instead. */
void sync_step_begin(struct sync *s);
enum status sync_params_needed(struct sync *s, struct range range, enum pass pass, struct error *e);
void sync_params_done(struct sync *s, struct range range, enum pass pass);
real *sync_grad_buffer(struct sync *s, struct range range);
enum status sync_grad_ready(struct sync *s, struct range range, int micro, bool last,
                            struct error *e);
/* Polls the strategy. If messages are in transit, the time counts as exposed communication, except
 * the time of other work such as a server's optimizer. */
void sync_poll(struct sync *s);
enum status sync_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                          struct error *e);
enum status sync_eval_begin(struct sync *s, struct error *e);
enum status sync_eval_end(struct sync *s, struct error *e);
enum status sync_save(struct sync *s, const void **data, size_t *bytes, struct error *e);
/* Restores the state that sync_save returned. ERR_DATA if `bytes` does not fit the strategy. */
enum status sync_restore(struct sync *s, const void *data, size_t bytes, struct error *e);
/* Implements sync_restore for strategies that save no state in checkpoints: returns ERR_DATA if
 * bytes > 0. */
enum status sync_keeps_nothing(const struct sync *s, size_t bytes, struct error *e);

/* Runs the optimizer over elements [begin, end) of the arenas and times it; does nothing if
 * s->overflow. Call it after sync_finish_sum, sync_finish_sums or sync_clip_alone. The elements
 * must be whole tensors if optimizer_takes_tensors(o->kind). */
void sync_optimize(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                   uint64_t step, double lr);

/* Runs sync_optimize with summed gradients from `grads` instead of the arena: grads[i] belongs to
 * element i. Other ranks may read `grads` at the same time. */
void sync_optimize_from(struct sync *s, const struct optimizer *o, const real *grads, size_t begin,
                        size_t end, uint64_t step, double lr);

/* Calls the before_update hook of sync_options. Needed by strategies that run the optimizer without
 * sync_optimize. */
void sync_before_update(struct sync *s);

/* Number of sums of zeros that strategies make before step 1. After five calls on a communicator,
 * MPICH changes its algorithms, and with them the order of summation
 * (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD). */
enum { SYNC_WARM_CALLS = 6 };

/* Sums x [n] over all ranks, in place, by one MPI_Allreduce or MPI_Iallreduce. Returns when the sum
 * is complete. */
enum status sync_allreduce(struct sync *s, real *x, size_t n, const char *operation,
                           struct error *e);

/* A sum over ranks that is made within a step but is not part of a strategy: norms, flags,
 * statistics, activations of a sliced network. */
struct extra_sum {
    void *values; /* [count] numbers, combined in place */
    size_t count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    const char *operation;
};

/* Combines x->values over ranks by x->op, counts the duration as communication and adds the cost to
 * s->extra. Used by all sums of a step except the strategy's own. `end` is sync_comm_end, or
 * sync_comm_end_amid if the rank computes afterwards. Collective over x->comm. */
enum status sync_extra_sum(struct sync *s, const struct extra_sum *x, void (*end)(struct sync *s),
                           struct error *e);

/* Calls wait_exchange and times it as communication. */
enum status sync_exchange(struct sync *s, const struct exchange *x, struct error *e);

/* Replaces the gradients of `tensors` by their sum over all ranks, computed by sync_allreduce or
 * the compressor. For strategies flagged STRATEGY_COMPRESSES. */
enum status sync_sum(struct sync *s, struct range tensors, const char *operation, struct error *e);

/* Mark the start and end of local copies, casts or sums and add their duration to pack_ns. */
void sync_pack_begin(struct sync *s);
void sync_pack_end(struct sync *s);

/* Call local_add, local_scale and local_copy, and add their duration to pack_ns. */
void sync_add(struct sync *s, real *y, const real *x, size_t n);
void sync_scale(struct sync *s, real *x, size_t n, real factor);
void sync_copy(struct sync *s, void *to, const void *from, size_t bytes);

/* Mark the start and end of a wait for communication and add its duration to comm_exposed_ns. The
 * first wait of a step sets arrive_ns. */
void sync_comm_begin(struct sync *s);
void sync_comm_end(struct sync *s);
/* Ends a wait after which the rank computes again. The next wait overwrites arrive_ns with its own
 * start time, minus the duration of earlier waits. */
void sync_comm_end_amid(struct sync *s);
/* Mark the start and end of communication calls that do not wait for messages, and add their
 * duration to comm_exposed_ns. */
void sync_call_begin(struct sync *s);
void sync_call_end(struct sync *s);

#define SYNC_TITLE 64
/* Writes the strategy's name for checkpoints to `text`, for example "allreduce + powersgd of rank
 * 2". Returns `text`. The name includes options on which the saved state depends. */
const char *sync_title(const struct sync *s, char text[SYNC_TITLE]);

/* Returns the flags (STRATEGY_...) of the strategy, including the flags of its configured
 * variant. */
unsigned sync_flags(const struct sync *s);

/* Returns the cost of communication that strategy_cost computes for this rank: for one step, or for
 * one period if the strategy does not communicate in every step. */
struct cost sync_cost(const struct sync *s);

/* Prepares the summed gradients [begin, end) for the optimizer. This rank updates the parameters of
 * these gradients. In fp16, if any gradient is not finite, sets s->overflow on all ranks and leaves
 * the gradients unchanged. Otherwise divides by the number of replicas if config.scale is post,
 * clips by value, and clips by global norm to at most o->clip_norm (Pascanu, Mikolov, Bengio,
 * 2013). Collective. */
enum status sync_finish_sum(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                            struct error *e);

struct span;
/* Does the work of sync_finish_sum for a rank that updates several ranges of elements, spans
 * [n]. */
enum status sync_finish_sums(struct sync *s, const struct optimizer *o, const struct span *spans,
                             size_t n, struct error *e);

/* Runs the optimizer over `spans` [n], which may begin or end within tensors. If the optimizer
 * needs norms of whole tensors, ranks first sum these in norms2 [2 n_tensors]. Collective. */
enum status sync_optimize_shares(struct sync *s, const struct optimizer *o,
                                 const struct span *spans, size_t n, uint64_t step, double lr,
                                 double *norms2, struct error *e);

/* Returns whether sync_finish_sum has anything to do in this run. */
bool sync_finishes_sum(const struct sync *s, const struct optimizer *o);

/* Returns the sum of squares over this rank's share of the summed gradient. */
double sync_norm2_local(struct sync *s);

/* Calls sync_finish_sum and runs the optimizer, for ranks that all hold the whole sum.
 * Collective. */
enum status sync_update(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                        struct error *e);

/* sync_clip_alone prepares this rank's own gradient for an update without a sum over ranks. In
 * fp16, it rounds the gradient as if it had been sent, and sets s->overflow if a rounded element is
 * not finite. It clips by value and by the gradient's own norm.
 * sync_update_alone calls sync_clip_alone, then runs the optimizer. */
void sync_clip_alone(struct sync *s, const struct optimizer *o);
void sync_update_alone(struct sync *s, const struct optimizer *o, uint64_t step, double lr);

/* Copies the parameters of rank 0 to every rank. Collective. */
enum status sync_broadcast_params(struct sync *s, struct error *e);

/* Copies the running statistics of rank 0 to every rank. Collective. */
enum status sync_broadcast_buffers(struct sync *s, struct error *e);
