/* Gradient synchronisation. A strategy sees flat arenas cut into tensors, never layers; it decides
 * when and over which slice the optimizer runs, which is what lets sharded optimizers, local SGD,
 * parameter servers and delayed updates share one training loop.
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
 * and never average; where config.scale says so it is divided by a rank's share of that count, and
 * the gradients by the number of ranks before or after the sum, which sync_grad_ready and
 * sync_finish_sum do for all strategies.
 *
 * With gradient accumulation the middle part repeats for each micro-batch, whose gradients add up in
 * grad_buffer: `micro` counts them from 0, and what travels leaves with the `last`.
 *
 * A part of this interface waits for work to come: exec.charge, through which local_ops.h reports its
 * work, for a simulated clock.
 *
 * To add a sum inside a step beside the strategy's: sync_extra_sum makes, times and counts it; a row of
 * `extras` in mpi_traffic.c of the trainer. */
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

/* The MPI type of `real`. */
#ifdef SCALEBENCH_F64
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

enum pass { PASS_FORWARD, PASS_BACKWARD };

/* Tensors [first, last) of the table; they lie without gaps in each arena. */
struct range {
    int first, last;
};

/* The flat arenas, cut into tensors by one table. The strategy supplies their memory. */
struct arenas {
    const struct tensor_desc *tensors; /* borrowed from the net's description */
    int n_tensors;
    size_t n; /* numbers in one arena */
    real *params, *grads;
    real *state; /* [slots][n] */
    int slots;
    real *buffers; /* [n_buffers]: running statistics, whole on every rank. sync_create allocates */
    size_t n_buffers;
};

/* What one step spent in communication, and when; set to zero by step_begin. */
struct sync_times {
    int64_t pack_ns;         /* copies, casts, selections, sums on this rank's own memory */
    int64_t comm_total_ns;   /* first call to end of last */
    int64_t comm_exposed_ns; /* of these, while neither compute nor packing ran */
    int64_t optimizer_ns;
    int64_t poll_ns; /* of the exposed time, spent testing for messages between computing */
    /* Clock reading on entering the first blocking wait, of several with computing between them on entering the last one,
     * less what those before took; 0: there was none. */
    int64_t arrive_ns;
};

struct sync_options {
    MPI_Comm comm; /* the data dimension of the grid; the strategy duplicates it */
    /* Ranks that hold the other parts of the net, borrowed; NULL: this rank holds all of it. Of tensors that
     * several of these ranks have, one answers for the norm: answers_for [n_tensors], borrowed; NULL: for all. */
    const MPI_Comm *parts;
    const bool *answers_for;
    const struct net_desc *desc; /* of what it holds */
    struct strategy_config config;
    struct loss_scale_options loss_scale;
    int slots;             /* of optimizer state */
    struct waiter *waiter; /* borrowed */
    struct exec *exec; /* borrowed: the optimizer's threads; local sums charge their work here */
    /* Called before the optimizer runs over some numbers; or NULL. */
    void (*before_update)(void *arg);
    void *before_update_arg;
    /* Called in place of the optimizer over numbers [begin, end) and of what clips them, whose time
     * it may let pass; or NULL. */
    void (*update)(void *arg, size_t begin, size_t end);
    void *update_arg;
};

struct sync;

struct strategy {
    size_t context_bytes; /* of sync->context, which is zeroed before create; 0: NULL, no destroy */
    /* Calls arenas_alloc and allocates whatever else a step needs in s->memory: nothing is allocated
     * later. Collective. */
    enum status (*create)(struct sync *s, struct error *e);
    void (*step_begin)(struct sync *s);
    /* NULL hooks do nothing. */
    enum status (*params_needed)(struct sync *s, struct range range, enum pass pass,
                                 struct error *e);
    void (*params_done)(struct sync *s, struct range range, enum pass pass);
    /* Where backward leaves the gradients of `range`; NULL hook: in the arena, at their offset. */
    real *(*grad_buffer)(struct sync *s, struct range range);
    /* Gradients of `range` are complete for micro-batch `micro`; `last` when no other will
     * follow. */
    enum status (*grad_ready)(struct sync *s, struct range range, int micro, bool last,
                              struct error *e);
    /* Lets messages on their way progress, without waiting; true when there were any. Called while
     * the rank computes, perhaps by another thread, but never at the same time as another hook. It
     * leaves the times alone, but for work other than testing where s->polls says that the computing
     * thread asks. What goes wrong shows when the message is waited for. */
    bool (*poll)(struct sync *s);
    /* Sum of squares of this rank's share of the synchronised gradient, for clipping by global
     * norm. */
    double (*norm2_local)(struct sync *s);
    /* One of these two ends a step. The first, of strategies after which every rank holds the whole
     * sum: puts the sum of all gradients into the arena; sync_update follows. */
    enum status (*sum_gradients)(struct sync *s, struct error *e);
    enum status (*step_end)(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                            struct error *e);
    /* Makes params the model to evaluate (an average, say) and puts things back. */
    enum status (*eval_begin)(struct sync *s, struct error *e);
    enum status (*eval_end)(struct sync *s, struct error *e);
    /* For checkpoints, between two steps; collective. `save` leaves parameters and optimizer state
     * whole in rank 0's arenas, as one rank would have them, and gives out what this rank remembers
     * besides: *data is borrowed until the next call. `restore` finds parameters and state in the
     * arenas of every rank, and the bytes of `save`; or none, when the checkpoint is of another
     * number of ranks or another strategy: then it begins anew from the arenas. */
    enum status (*save)(struct sync *s, const void **data, size_t *bytes, struct error *e);
    enum status (*restore)(struct sync *s, const void *data, size_t bytes, struct error *e);
    /* Ends what is not memory, also after a create that has failed. */
    void (*destroy)(struct sync *s);
};

/* A strategy at work. What belongs to the strategy alone is its `context`. */
struct sync {
    enum strategy_kind kind;
    struct strategy_config config;
    const struct strategy *strategy;
    MPI_Comm comm;
    const MPI_Comm *parts;
    const bool *answers_for;
    int rank, ranks;
    struct arenas arenas;
    size_t *counts; /* [n_tensors] numbers in each tensor, then config.rows */
    struct sync_times times;
    struct cost extra; /* of this step: what sync_extra_sum has sent */
    bool polls;        /* in sync_poll */
    bool sum_finished; /* in this step, by sync_finish_sum */
    bool overflow; /* of this step's gradients in fp16: the optimizer does nothing, on no rank */
    struct loss_scale loss_scale;    /* that backward's gradients have; sums are without it */
    int64_t comm_begin_ns;           /* of the step's first call; 0: none yet */
    int64_t interval_ns, packing_ns; /* where the interval that is under way began */
    int64_t waited_ns;               /* in waits of this step with computing behind them */
    bool computes_on;                /* since the last one: the next is an arrival, too */
    struct waiter *waiter;
    struct exec *exec;
    void (*before_update)(void *arg);
    void *before_update_arg;
    void (*update)(void *arg, size_t begin, size_t end);
    void *update_arg;
    struct mem_room memory; /* of the strategy and its compressor */
    void *context;
    const struct compressor *compressor; /* comm/compress.h; NULL: none */
    void *compression;                   /* the compressor's context */
    uint64_t infinite; /* numbers that fp16 could not hold, on this rank, since the beginning */
};

/* Memory for the arenas: zeroed, aligned, present; of those that the strategy has not given memory.
 * Freed by sync_destroy. Gradients and parameters that lie in memory of the strategy stay there; its
 * destroy hook sets their pointers to NULL. */
enum status arenas_alloc(struct arenas *a, struct error *e);

/* Creates a strategy with its arenas. Collective. On error nothing is left. */
enum status sync_create(struct sync **sync, enum strategy_kind kind,
                        const struct sync_options *options, struct error *e);
void sync_destroy(struct sync *sync);

/* The hooks, with what a NULL hook means filled in. */
void sync_step_begin(struct sync *s);
enum status sync_params_needed(struct sync *s, struct range range, enum pass pass, struct error *e);
void sync_params_done(struct sync *s, struct range range, enum pass pass);
real *sync_grad_buffer(struct sync *s, struct range range);
enum status sync_grad_ready(struct sync *s, struct range range, int micro, bool last,
                            struct error *e);
/* Polls, and counts the time where something was on its way. */
void sync_poll(struct sync *s);
enum status sync_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                          struct error *e);
enum status sync_eval_begin(struct sync *s, struct error *e);
enum status sync_eval_end(struct sync *s, struct error *e);
enum status sync_save(struct sync *s, const void **data, size_t *bytes, struct error *e);
/* ERR_DATA for bytes that the strategy would not have saved. */
enum status sync_restore(struct sync *s, const void *data, size_t bytes, struct error *e);
/* For restore hooks of strategies whose save leaves none. */
enum status sync_keeps_nothing(const struct sync *s, size_t bytes, struct error *e);

/* The optimizer over numbers [begin, end) of the arenas, timed: what step_end hooks call, after one
 * of the next two. The range must be one of whole tensors where
 * optimizer_takes_tensors(o->kind). */
void sync_optimize(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                   uint64_t step, double lr);

/* The same where the summed gradients of [begin, end) lie at grads + begin, in memory that others
 * may read as well. */
void sync_optimize_from(struct sync *s, const struct optimizer *o, const real *grads, size_t begin,
                        size_t end, uint64_t step, double lr);

/* For strategies that run the optimizer themselves, before they do. */
void sync_before_update(struct sync *s);

/* MPICH changes its collective algorithms, and with them the order of summation, after five calls on a
 * communicator (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD). Strategies make so many calls on zeroes before
 * step 1. */
enum { SYNC_WARM_CALLS = 6 };

/* Sums x [n] over all ranks, in place, by one MPI_Allreduce. */
enum status sync_allreduce(struct sync *s, real *x, size_t n, const char *operation,
                           struct error *e);

/* A sum over ranks within a step that is not the gradients' own: norms, flags, statistics, outputs of slices. */
struct extra_sum {
    void *values; /* [count], summed in place */
    size_t count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    const char *operation;
};

/* Sums, timed as communication, and adds what that sends to s->extra: no sum of a step goes by without. `end` ends the
 * wait: sync_comm_end, or sync_comm_end_amid where the rank computes again after it. Collective over x->comm. */
enum status sync_extra_sum(struct sync *s, const struct extra_sum *x, void (*end)(struct sync *s),
                           struct error *e);

/* wait_exchange, timed as communication. */
enum status sync_exchange(struct sync *s, const struct exchange *x, struct error *e);

/* The sum of the gradients of some tensors over all ranks, in place: what strategies flagged
 * STRATEGY_COMPRESSES call. By sync_allreduce, or as the compressor does it. */
enum status sync_sum(struct sync *s, struct range tensors, const char *operation, struct error *e);

/* Around work on this rank's own memory, which counts as packing. */
void sync_pack_begin(struct sync *s);
void sync_pack_end(struct sync *s);

/* local_add, local_scale and local_copy, timed so. */
void sync_add(struct sync *s, real *y, const real *x, size_t n);
void sync_scale(struct sync *s, real *x, size_t n, real factor);
void sync_copy(struct sync *s, void *to, const void *from, size_t bytes);

/* Around each wait of a strategy that communicates while nothing is computed: the first notes the
 * arrival, together they make up the exposed time. */
void sync_comm_begin(struct sync *s);
void sync_comm_end(struct sync *s);
/* Ends such a wait in the midst of computing: the step's arrival is that at a later one, as it would be if those
 * before had taken no time. */
void sync_comm_end_amid(struct sync *s);
/* Around calls that do not wait, during backward. */
void sync_call_begin(struct sync *s);
void sync_call_end(struct sync *s);

/* Whose memory a checkpoint holds: "allreduce", "allreduce + powersgd of rank 2", "delayed, scaled after",
 * which keeps sums where the others keep means. */
#define SYNC_TITLE 64
const char *sync_title(const struct sync *s, char text[SYNC_TITLE]);

/* Flags of the configuration at work. */
unsigned sync_flags(const struct sync *s);

/* What one step, or a few, cost this rank on paper. */
struct cost sync_cost(const struct sync *s);

/* A step_end hook's task between the sum of the gradients and the optimizer, over the numbers
 * [begin, end) of the sum that this rank answers for: ranks agree on whether one of them is infinite or no
 * number in fp16, and then leave it at that; one over the ranks where the mean is taken after the sum;
 * clipping by value; clipping by global norm (Pascanu, Mikolov, Bengio, 2013), so that the
 * norm of all ranks' shares is o->clip_norm at most. Collective. */
enum status sync_finish_sum(struct sync *s, const struct optimizer *o, size_t begin, size_t end,
                            struct error *e);

/* The same of a rank that answers for several parts of it, spans [n] (comm/compress.h). */
struct span;
enum status sync_finish_sums(struct sync *s, const struct optimizer *o, const struct span *spans,
                             size_t n, struct error *e);

/* sync_optimize over such parts, which may cut tensors: of optimizers that take whole ones ranks add up the norms, for
 * which norms2 [2 n_tensors] is room. Collective. */
enum status sync_optimize_shares(struct sync *s, const struct optimizer *o,
                                 const struct span *spans, size_t n, uint64_t step, double lr,
                                 double *norms2, struct error *e);

/* Whether sync_finish_sum does anything. */
bool sync_finishes_sum(const struct sync *s, const struct optimizer *o);

/* Sum of squares of this rank's share of the synchronised gradient. */
double sync_norm2_local(struct sync *s);

/* What follows the sum where every rank holds the whole of it: sync_finish_sum, then the optimizer,
 * over whole arenas. Collective. */
enum status sync_update(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                        struct error *e);

/* The same, and with it the optimizer, for a rank that steps on its own gradient: by the norm of
 * that. In 16 bits it is rounded first, as one that travels is. */
void sync_clip_alone(struct sync *s, const struct optimizer *o);
void sync_update_alone(struct sync *s, const struct optimizer *o, uint64_t step, double lr);

/* Gives every rank the parameters of rank 0. Collective. */
enum status sync_broadcast_params(struct sync *s, struct error *e);

/* The same of the buffers. */
enum status sync_broadcast_buffers(struct sync *s, struct error *e);
