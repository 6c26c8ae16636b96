/* What of a net a rank computes: ops [first, last), and the messages to the stages before and behind where the
 * net is cut into several (parallel.pipeline). A trainer without a pipeline is one stage, which has nobody to
 * send to. Activations and gradients travel as the plan lays them out, so that a net computes the same
 * bits in any number of stages.
 *
 * Receives are begun as soon as there is room for what comes, sends as soon as it is there; while the rank
 * computes they are tested (stage_poll), and it waits for them where it needs them. */
#pragma once

#include "bench/workloads/train_cnn/parts/job.h"
#include "bench/workloads/train_cnn/parts/pace.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "comm/cost/pipeline.h"
#include "comm/strategy.h"
#include "kernels/net/net.h"

struct trainer;

/* Messages of a micro-batch at the ends of a stage: activations are taken before its first op and handed on behind its
 * last one; gradients of the loss by them go the other way. */
enum stage_message { STAGE_TAKE, STAGE_HAND, STAGE_TAKE_BACK, STAGE_HAND_BACK, STAGE_MESSAGES };

/* One set of activations: what goes through its ends, and the messages that take it there. */
struct stage_slot {
    real *data[STAGE_MESSAGES];
    struct message messages[STAGE_MESSAGES];
};

struct stage {
    int first, last;      /* ops of the plan */
    struct range tensors; /* theirs, of the net's */
    /* The net's description with these tensors alone, counted from their first: what the rank's arenas hold.
     * Layers and buffers are the net's own. */
    struct net_desc held;

    enum pipeline_schedule schedule;
    struct stage_slot *slots; /* [n_slots] */
    int n_slots;
    real *own; /* memory of the activations where the net is not computed */

    /* Borrowed. */
    const struct job *job;
    struct net *net;
    const struct exec *exec;
    struct pace *pace; /* of a rank that does not compute; NULL: it does */
    uint32_t micro_max;
    bool shares_statistics; /* of batch norm, with other ranks */

    struct batch batch; /* of the step that is under way, in so many micro-batches */
    int micros;
    int kept, kept_most; /* sets of activations in use: now, at most so far */
    int64_t waited_ns;   /* for other stages, and what was sent to them, in this step */
    uint64_t messages_sent, bytes_sent;
    int64_t next_poll_ns;
    void (*poll)(void *arg); /* what exec.poll was before, called after the stage's own tests */
    void *poll_arg;
};

/* Sets of activations that the trainer's net is to have: one where nothing is cut. After its grid. */
int stage_sets(const struct trainer *t);

/* After the trainer's net, cut by cut.h, and what stands for computing. Closed with stage_close in any
 * case. */
enum status stage_open(struct trainer *t, struct error *e);
/* After exec.poll has been set for the strategy: tests messages between stages there, too. */
void stage_connect(struct stage *s, struct exec *exec);
void stage_close(struct stage *s);

/* Which set of activations a micro-batch uses. */
int stage_slot_of(const struct stage *s, int micro);

/* A step of a batch in so many micro-batches: what there is room for begins to come. */
enum status stage_step_begin(struct stage *s, const struct batch *batch, int micros,
                             struct error *e);

/* This rank's images of one of them. Where the statistics of batch norm are summed over ranks, a rank without
 * images has one that counts nothing. */
struct batch stage_micro_batch(const struct stage *s, int micro);

/* Around a pass over a micro-batch: waits for what it needs, hands on what it has made. Where nothing is
 * learned (exec.training is false) nothing comes back. */
enum status stage_forward_begin(struct stage *s, int micro, struct error *e);
enum status stage_forward_end(struct stage *s, int micro, struct error *e);
enum status stage_backward_begin(struct stage *s, int micro, struct error *e);
enum status stage_backward_end(struct stage *s, int micro, struct error *e);

/* Waits until all that was sent has left. */
enum status stage_step_end(struct stage *s, struct error *e);
