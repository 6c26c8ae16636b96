/* Pipeline stage of a rank (parallel.pipeline): ops [first, last) of the net, and the messages
 * exchanged with the previous and the next stage. Without a pipeline, a trainer has one stage,
 * which exchanges no messages. Messages have the memory layout of the plan, so results are bitwise
 * equal for any number of stages.
 *
 * A receive is posted when its buffer is free, a send when its data is complete. Callback `poll` of
 * struct exec tests the messages while the rank computes. */
#pragma once

#include "bench/workloads/train_cnn/parts/job.h"
#include "bench/workloads/train_cnn/parts/pace.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "comm/cost/pipeline.h"
#include "comm/strategy.h"
#include "kernels/net/net.h"

struct trainer;

/* Messages of a micro-batch: activations from the previous stage (TAKE) and to the next stage
 * (HAND), gradients of activations from the next stage (TAKE_BACK) and to the previous stage
 * (HAND_BACK). */
enum stage_message { STAGE_TAKE, STAGE_HAND, STAGE_TAKE_BACK, STAGE_HAND_BACK, STAGE_MESSAGES };

/* Activation slot of a micro-batch: buffers for the stage's input, its output and the gradients of
 * both, and the messages that fill or send these buffers. */
struct stage_slot {
    real *data[STAGE_MESSAGES];
    struct message messages[STAGE_MESSAGES];
};

struct stage {
    int first, last;      /* ops [first, last) of the plan */
    struct range tensors; /* tensors of the stage, numbered as in the whole net */
    /* Description of the net with the tensors of this stage only, numbered from 0. The rank's
     * arenas hold these tensors. Layers and buffers are borrowed from the net. */
    struct net_desc held;

    enum pipeline_schedule schedule;
    struct stage_slot *slots; /* [n_slots] activation slots */
    int n_slots;
    real *own; /* message buffers of all slots if compute is replayed in a pipeline of several
                  stages; else NULL */

    /* Borrowed: job, net, exec and pace. */
    const struct job *job;
    struct net *net;
    const struct exec *exec;
    struct pace *pace; /* replaces compute by sleeps; NULL if the rank computes */
    uint32_t micro_max;
    bool shares_statistics; /* whether batch-norm statistics are summed over ranks */

    /* this rank's batch in the current step, split into `micros` micro-batches */
    struct batch batch;
    int micros;
    /* kept: number of slots whose activations backward still needs. kept_most: maximum of
     * `kept`. */
    int kept, kept_most;
    int64_t waited_ns; /* time spent waiting for other stages in this step (ns) */
    uint64_t messages_sent, bytes_sent;
    int64_t next_poll_ns;
    /* previous value of exec.poll, called after the stage has tested its messages */
    void (*poll)(void *arg);
    void *poll_arg;
};

/* Returns how many activation slots the net needs: 1 without a pipeline. Requires t->job.grid and
 * t->batches.accumulate. */
int stage_sets(const struct trainer *t);

/* Opens the stage. Requires the trainer's net, the net's cut into stages (cut.h) and, if compute is
 * replayed, t->replayed. Call stage_close in any case. */
enum status stage_open(struct trainer *t, struct error *e);
/* Makes exec.poll test the stage's messages too. Call it after the strategy has set exec.poll. */
void stage_connect(struct stage *s, struct exec *exec);
void stage_close(struct stage *s);

/* Returns the index of a micro-batch's activation slot. */
int stage_slot_of(const struct stage *s, int micro);

/* Begins a step with `batch` split into `micros` micro-batches. On stages after the first, also
 * posts the receive of activations for each slot's first micro-batch, unless this micro-batch is
 * missing or has no images. */
enum status stage_step_begin(struct stage *s, const struct batch *batch, int micros,
                             struct error *e);

/* Returns this rank's images of micro-batch `micro`. A rank without images gets one image of weight
 * 0 if it takes part in batch-norm sums. */
struct batch stage_micro_batch(const struct stage *s, int micro);

/* stage_*_begin waits for the input of a pass over micro-batch `micro`. stage_*_end starts to send
 * the output. stage_forward_end also posts the receive of gradients of `micro`, if exec.training is
 * set. stage_backward_end also posts the next receive of activations into the slot of `micro`. */
enum status stage_forward_begin(struct stage *s, int micro, struct error *e);
enum status stage_forward_end(struct stage *s, int micro, struct error *e);
enum status stage_backward_begin(struct stage *s, int micro, struct error *e);
enum status stage_backward_end(struct stage *s, int micro, struct error *e);

/* Waits until all sends of the step are complete. */
enum status stage_step_end(struct stage *s, struct error *e);
