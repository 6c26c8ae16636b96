/* Pipeline stage of a rank (parallel.pipeline): ops [first, last) of the net, and messages to the
 * previous and next stage. Without a pipeline a trainer has one stage and sends nothing.
 * Activations and gradients are sent in the plan's layout, so results are the same bits for any
 * number of stages.
 *
 * A receive begins when its buffer is free, a send when its data is complete. Messages are tested
 * while the rank computes (exec.poll) and waited for where they are needed. */
#pragma once

#include "bench/workloads/train_cnn/parts/job.h"
#include "bench/workloads/train_cnn/parts/pace.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "comm/cost/pipeline.h"
#include "comm/strategy.h"
#include "kernels/net/net.h"

struct trainer;

/* Messages of a micro-batch. Activations arrive before the stage's first op (TAKE) and leave after
 * its last (HAND). Their gradients travel the other way (TAKE_BACK, HAND_BACK). */
enum stage_message { STAGE_TAKE, STAGE_HAND, STAGE_TAKE_BACK, STAGE_HAND_BACK, STAGE_MESSAGES };

/* Activation slot: buffers at both ends of the stage, and their messages. */
struct stage_slot {
    real *data[STAGE_MESSAGES];
    struct message messages[STAGE_MESSAGES];
};

struct stage {
    int first, last;      /* ops [first, last) of the plan */
    struct range tensors; /* tensors of these ops, counted from the net's first */
    /* Description of the net with the stage's tensors only, counted from the stage's first: the
     * content of the rank's arenas. Layers and buffers are borrowed from the net. */
    struct net_desc held;

    enum pipeline_schedule schedule;
    struct stage_slot *slots; /* [n_slots] */
    int n_slots;
    real *own; /* buffers of all slots if the net is not computed */

    /* Borrowed. */
    const struct job *job;
    struct net *net;
    const struct exec *exec;
    struct pace *pace; /* clock of a rank that replays; NULL: it computes */
    uint32_t micro_max;
    bool shares_statistics; /* whether batch-norm statistics are summed over ranks */

    struct batch batch; /* batch of the current step, split into `micros` micro-batches */
    int micros;
    int kept, kept_most; /* slots in use now, and the maximum so far */
    int64_t waited_ns;   /* time spent in this step waiting for other stages */
    uint64_t messages_sent, bytes_sent;
    int64_t next_poll_ns;
    void (*poll)(void *arg); /* previous exec.poll, called after the stage's own tests */
    void *poll_arg;
};

/* Returns the number of activation slots that the trainer's net needs: 1 without a pipeline.
 * Requires the trainer's grid. */
int stage_sets(const struct trainer *t);

/* Opens the stage; requires the trainer's net, cut by cut.h, and its replay. Call stage_close in
 * any case. */
enum status stage_open(struct trainer *t, struct error *e);
/* Makes exec.poll test stage messages too. Call it after the strategy has set exec.poll. */
void stage_connect(struct stage *s, struct exec *exec);
void stage_close(struct stage *s);

/* Returns the activation slot of a micro-batch. */
int stage_slot_of(const struct stage *s, int micro);

/* Begins a step with `batch` split into `micros` micro-batches, and posts receives for all free
 * slots. */
enum status stage_step_begin(struct stage *s, const struct batch *batch, int micros,
                             struct error *e);

/* Returns this rank's images of a micro-batch. If batch-norm statistics are summed over ranks, a
 * rank without images gets one image of weight 0. */
struct batch stage_micro_batch(const struct stage *s, int micro);

/* stage_*_begin waits for the inputs of a pass over a micro-batch; stage_*_end sends its outputs.
 * Without exec.training nothing is sent back. */
enum status stage_forward_begin(struct stage *s, int micro, struct error *e);
enum status stage_forward_end(struct stage *s, int micro, struct error *e);
enum status stage_backward_begin(struct stage *s, int micro, struct error *e);
enum status stage_backward_end(struct stage *s, int micro, struct error *e);

/* Waits until all sends of the step are complete. */
enum status stage_step_end(struct stage *s, struct error *e);
