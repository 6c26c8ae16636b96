/* Gradient synchronisation. A strategy handles flat arenas cut into tensors, never layers. It
 * decides when the optimizer runs, and on which slice. One training loop therefore serves sharded
 * optimizers, local SGD, parameter servers and delayed updates.
 *
 * One step of the training loop:
 *
 *   step_begin
 *   forward:   params_needed(range, PASS_FORWARD)  .. compute ..  params_done(range, PASS_FORWARD)
 *   backward:  params_needed(range, PASS_BACKWARD) .. compute ..  params_done(range, PASS_BACKWARD)
 *              grad_buffer(range) before, grad_ready(range, micro, last) after, in backward order
 *   step_end(optimizer): parameters are ready when params_needed of the next step returns
 *
 * The loss gradient is divided by the global sample count before backward, so exact strategies sum
 * and never average. If config.scale is pre or post, it is divided by the rank's own sample count
 * instead. For all strategies, sync_grad_ready (pre) or sync_finish_sum (post) then divides
 * gradients by the number of ranks.
 *
 * With gradient accumulation, forward and backward repeat for each micro-batch and gradients add up
 * in grad_buffer. `micro` counts micro-batches from 0; gradients are sent after the `last`.
 *
 * One part of this interface is prepared for later use: through exec.charge, local_ops.h reports
 * its work to a simulated clock.
 *
 * To add a sum inside a step beside the strategy's: sync_extra_sum makes, times and counts it; a
 * row of `extras` in mpi_traffic.c of the trainer. */
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

/* MPI type of `real`. */
#ifdef SCALEBENCH_F64
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

enum pass { PASS_FORWARD, PASS_BACKWARD };

/* Tensors [first, last) of the tensor table. They lie without gaps in each arena. */
struct range {
    int first, last;
};

/* Flat arenas of parameters, gradients and optimizer state, cut into tensors by one table. The
 * strategy supplies their memory. */
struct arenas {
    const struct tensor_desc *tensors; /* borrowed from the network's description */
    int n_tensors;
    size_t n; /* numbers per arena */
    real *params, *grads;
    real *state; /* [slots][n] */
    int slots;
    /* [n_buffers] running statistics, whole on every rank; allocated by sync_create */
    real *buffers;
    size_t n_buffers;
};

/* Times that one step spent in communication. step_begin zeroes them. */
struct sync_times {
    int64_t pack_ns;       /* copies, casts, selections and sums in this rank's memory */
    int64_t comm_total_ns; /* time from the start of the first call to the end of the last */
    /* part of comm_total_ns during which the rank neither computed nor packed */
    int64_t comm_exposed_ns;
    int64_t optimizer_ns;
    int64_t poll_ns; /* part of comm_exposed_ns spent testing for messages during computation */
    /* Clock reading at entry to the last blocking wait that follows computation, less the time
     * of earlier waits in the step. 0: the step had no wait. */
    int64_t arrive_ns;
};

struct sync_options {
    /* ranks with the same weights (data dimension of the grid); duplicated by sync_create */
    MPI_Comm comm;
    /* Ranks that hold the other parts of the network, borrowed; NULL: this rank holds all of it.
     * in_norm [n_tensors], borrowed: whether this rank counts a tensor in the norm, if
     * several ranks hold it. NULL: it counts all. */
    const MPI_Comm *parts;
    const bool *in_norm;
    const struct net_desc *desc; /* description of the part that this rank holds */
    struct strategy_config config;
    struct loss_scale_options loss_scale;
    int slots;             /* number of optimizer state arrays per parameter */
    struct waiter *waiter; /* borrowed */
    struct exec *exec;     /* borrowed; threads of the optimizer, clock that local sums charge */
    /* Called before the optimizer runs over a range; may be NULL. */
    void (*before_update)(void *arg);
    void *before_update_arg;
    /* Called instead of clipping and the optimizer for numbers [begin, end), for example to
     * sleep for their measured time; may be NULL. */
    void (*update)(void *arg, size_t begin, size_t end);
    void *update_arg;
};

struct sync;

struct strategy {
    /* size of sync->context, which is zeroed before create; 0: no context and no destroy */
    size_t context_bytes;
    /* Calls arenas_alloc and allocates in s->memory all that steps need. Collective. */
    enum status (*create)(struct sync *s, struct error *e);
    void (*step_begin)(struct sync *s);
    /* Waits until the parameters of `range` are ready for `pass`. NULL hooks of a strategy do
     * nothing. */
    enum status (*params_needed)(struct sync *s, struct range range, enum pass pass,
                                 struct error *e);
    void (*params_done)(struct sync *s, struct range range, enum pass pass);
    /* Returns the buffer where backward writes the gradients of `range`. NULL hook: the gradient
     * arena. */
    real *(*grad_buffer)(struct sync *s, struct range range);
    /* Called when gradients of `range` are complete for micro-batch `micro`. last: whether it is
     * the last micro-batch. */
    enum status (*grad_ready)(struct sync *s, struct range range, int micro, bool last,
                              struct error *e);
    /* Lets messages in transit progress without waiting; returns whether there were any. Called
     * while the rank computes, possibly by another thread, but never at the same time as another
     * hook. It does not change s->times, except for work other than testing while s->polls is
     * set. Errors are reported by the wait for the message. */
    bool (*poll)(struct sync *s);
    /* Returns the sum of squares of this rank's share of the synchronised gradient, for clipping
     * by global norm. */
    double (*norm2_local)(struct sync *s);
    /* Ends a step by putting the sum of all gradients into the arena; sync_update follows. A
     * strategy that does not hold the whole sum on every rank has step_end instead. */
    enum status (*sum_gradients)(struct sync *s, struct error *e);
    enum status (*step_end)(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                            struct error *e);
    /* Make params the model to evaluate, for example an average, and restore them. */
    enum status (*eval_begin)(struct sync *s, struct error *e);
    enum status (*eval_end)(struct sync *s, struct error *e);
    /* Save and restore checkpoints between two steps. Collective.
     * `save` puts whole parameters and optimizer state into rank 0's arenas, as one rank would have
     * them. It returns this rank's additional state in *data, which is borrowed until the next
     * call.
     * `restore` finds parameters and state in every rank's arenas, and the bytes that `save`
     * returned. It gets no bytes if the checkpoint is from another number of ranks or another
     * strategy, and then starts from the arenas. */
    enum status (*save)(struct sync *s, const void **data, size_t *bytes, struct error *e);
    enum status (*restore)(struct sync *s, const void *data, size_t bytes, struct error *e);
    /* Releases everything except memory, also after a failed create. */
    void (*destroy)(struct sync *s);
};

/* A strategy in use. `context` holds the data of one strategy. */
struct sync {
    enum strategy_kind kind;
    struct strategy_config config;
    const struct strategy *strategy;
    MPI_Comm comm;
    const MPI_Comm *parts;
    const bool *in_norm;
    int rank, ranks;
    struct arenas arenas;
    size_t *counts; /* [2 n_tensors]: numbers in each tensor, then config.rows */
    struct sync_times times;
    struct cost extra; /* cost of the sums by sync_extra_sum in this step */
    bool polls;        /* the computing thread is in sync_poll */
    bool sum_finished; /* sync_finish_sum has run in this step */
    /* this step's fp16 gradients overflow on some rank; every rank skips the optimizer */
    bool overflow;
    struct loss_scale loss_scale; /* scale of backward's gradients; sums are unscaled */
    int64_t comm_begin_ns;        /* start of the step's first call; 0: none yet */
    /* start of the current interval of communication, of packing */
    int64_t interval_ns, packing_ns;
    int64_t waited_ns; /* time in waits of this step that computation followed */
    /* the rank has computed since the last wait, so the next wait is a new arrival */
    bool computes_on;
    struct waiter *waiter;
    struct exec *exec;
    void (*before_update)(void *arg);
    void *before_update_arg;
    void (*update)(void *arg, size_t begin, size_t end);
    void *update_arg;
    struct mem_room memory; /* memory of the strategy and its compressor */
    void *context;
    const struct compressor *compressor; /* comm/compress.h; NULL: none */
    void *compression;                   /* context of the compressor */
    uint64_t infinite; /* numbers that overflowed fp16 on this rank since the start */
};

/* Allocates zeroed, aligned, paged-in memory for arenas whose pointer is NULL; sync_destroy
 * frees it. A strategy may set pointers to memory of its own before. Its destroy hook must then
 * set these pointers to NULL. */
enum status arenas_alloc(struct arenas *a, struct error *e);

/* Creates a strategy with its arenas. Collective. On error nothing remains allocated. */
enum status sync_create(struct sync **sync, enum strategy_kind kind,
                        const struct sync_options *options, struct error *e);
void sync_destroy(struct sync *sync);

/* Call the strategy's hooks, with the default for a NULL hook. */
void sync_step_begin(struct sync *s);
enum status sync_params_needed(struct sync *s, struct range range, enum pass pass, struct error *e);
void sync_params_done(struct sync *s, struct range range, enum pass pass);
real *sync_grad_buffer(struct sync *s, struct range range);
enum status sync_grad_ready(struct sync *s, struct range range, int micro, bool last,
                            struct error *e);
/* Polls the strategy. If messages are in transit, counts the time as exposed communication. */
void sync_poll(struct sync *s);
enum status sync_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                          struct error *e);
enum status sync_eval_begin(struct sync *s, struct error *e);
enum status sync_eval_end(struct sync *s, struct error *e);
enum status sync_save(struct sync *s, const void **data, size_t *bytes, struct error *e);
/* Restores what sync_save returned. ERR_DATA if `bytes` does not fit the strategy. */
enum status sync_restore(struct sync *s, const void *data, size_t bytes, struct error *e);
/* Restore hook of strategies that save nothing: ERR_DATA if bytes > 0. */
enum status sync_keeps_nothing(const struct sync *s, size_t bytes, struct error *e);

/* Runs the optimizer over numbers [begin, end) of the arenas and times it. step_end hooks call
 * it after sync_finish_sum or sync_finish_sums. The range must consist of whole tensors if
 * optimizer_takes_tensors(o->kind). */
void sync_optimize(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                   uint64_t step, double lr);

/* Runs the optimizer as sync_optimize does, but reads the summed gradients of [begin, end) at
 * grads + begin. Other ranks may read that memory at the same time. */
void sync_optimize_from(struct sync *s, const struct optimizer *o, const real *grads, size_t begin,
                        size_t end, uint64_t step, double lr);

/* Calls the before_update hook. For strategies that run the optimizer themselves. */
void sync_before_update(struct sync *s);

/* Calls on zeroes that strategies make before step 1. After five calls on a communicator MPICH
 * changes its collective algorithms, and thus the order of summation
 * (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD). */
enum { SYNC_WARM_CALLS = 6 };

/* Sums x [n] over all ranks, in place, by one MPI_Allreduce. */
enum status sync_allreduce(struct sync *s, real *x, size_t n, const char *operation,
                           struct error *e);

/* A sum over ranks within a step, of other values than gradients: norms, flags, statistics,
 * outputs of slices. */
struct extra_sum {
    void *values; /* [count], summed in place */
    size_t count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    const char *operation;
};

/* Sums x->values, times the sum as communication and adds its cost to s->extra. Every sum of a
 * step that is not the strategy's goes through here. end: sync_comm_end, or sync_comm_end_amid
 * if the rank computes afterwards. Collective over x->comm. */
enum status sync_extra_sum(struct sync *s, const struct extra_sum *x, void (*end)(struct sync *s),
                           struct error *e);

/* Runs wait_exchange and times it as communication. */
enum status sync_exchange(struct sync *s, const struct exchange *x, struct error *e);

/* Sums the gradients of some tensors over all ranks, in place, by sync_allreduce or by the
 * compressor. Strategies flagged STRATEGY_COMPRESSES call it. */
enum status sync_sum(struct sync *s, struct range tensors, const char *operation, struct error *e);

/* Mark the start and end of work on this rank's own memory, timed as packing. */
void sync_pack_begin(struct sync *s);
void sync_pack_end(struct sync *s);

/* Run local_add, local_scale and local_copy, timed as packing. */
void sync_add(struct sync *s, real *y, const real *x, size_t n);
void sync_scale(struct sync *s, real *x, size_t n, real factor);
void sync_copy(struct sync *s, void *to, const void *from, size_t bytes);

/* Mark the start and end of a wait for communication without computation. The first wait sets
 * the arrival time; the sum of all is the exposed time. */
void sync_comm_begin(struct sync *s);
void sync_comm_end(struct sync *s);
/* Ends a wait that computation follows. The step's arrival is then that of a later wait, less
 * the time of earlier waits. */
void sync_comm_end_amid(struct sync *s);
/* Mark the start and end of calls that do not wait, during backward. */
void sync_call_begin(struct sync *s);
void sync_call_end(struct sync *s);

/* Writes the name under which a checkpoint keeps a strategy's state, for example "allreduce +
 * powersgd of rank 2" or "delayed, scaled after". The latter keeps sums, `delayed` keeps means. */
#define SYNC_TITLE 64
const char *sync_title(const struct sync *s, char text[SYNC_TITLE]);

/* Returns the flags of the strategy with its variant. */
unsigned sync_flags(const struct sync *s);

/* Returns the cost of one step on this rank by formula. It covers several steps if the strategy
 * synchronises less often. */
struct cost sync_cost(const struct sync *s);

/* Finishes the sum of gradients before the optimizer, for the numbers [begin, end) that this
 * rank is responsible for. In fp16, ranks agree whether any number is not finite; if so, nothing
 * else is done. Then it divides by the number of ranks (config.scale post) and clips by value.
 * At last it clips by global norm, so that the norm over all ranks is at most o->clip_norm
 * (Pascanu, Mikolov, Bengio, 2013). Collective. */
enum status sync_finish_sum(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                            struct error *e);

/* Finishes the sum as sync_finish_sum does, for a rank that is responsible for several parts,
 * spans [n]. */
struct span;
enum status sync_finish_sums(struct sync *s, const struct optimizer *o, const struct span *spans,
                             size_t n, struct error *e);

/* Runs the optimizer over spans [n], which may cut tensors. If the optimizer needs norms of
 * whole tensors, ranks first sum these in norms2 [2 n_tensors]. Collective. */
enum status sync_optimize_shares(struct sync *s, const struct optimizer *o,
                                 const struct span *spans, size_t n, uint64_t step, double lr,
                                 double *norms2, struct error *e);

/* Returns whether sync_finish_sum has any work. */
bool sync_finishes_sum(const struct sync *s, const struct optimizer *o);

/* Sum of squares of this rank's share of the synchronised gradient. */
double sync_norm2_local(struct sync *s);

/* Finishes the sum and runs the optimizer over whole arenas, on ranks that all hold the whole
 * sum. Collective. */
enum status sync_update(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                        struct error *e);

/* Clips, or clips and updates, on a rank that applies its own gradient. The gradient's own norm
 * is used. In 16-bit precisions the gradient is first rounded, as if it had been sent. */
void sync_clip_alone(struct sync *s, const struct optimizer *o);
void sync_update_alone(struct sync *s, const struct optimizer *o, uint64_t step, double lr);

/* Copies the parameters of rank 0 to every rank. Collective. */
enum status sync_broadcast_params(struct sync *s, struct error *e);

/* Copies the running statistics of rank 0 to every rank. Collective. */
enum status sync_broadcast_buffers(struct sync *s, struct error *e);
