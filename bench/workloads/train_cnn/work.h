/* Local work of a step: everything except communication with other ranks. A rank computes this
 * work, computes and times this work (calibrate), or sleeps instead (replay). The time to sleep is
 * calibrated, or computed from compute.rate. */
#pragma once

#include "bench/replay/calibration.h"
#include "bench/workloads/train_cnn/parts/pace.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "comm/strategy.h"
#include "kernels/net/net.h"

struct trainer;

/* Whether to compute, to calibrate or to replay. All zero: compute. */
struct work_options {
    const char *calibration; /* folder with the times to replay; NULL: none. Borrowed. */
    double gflops;  /* rate in GFLOP/s per thread that determines the replayed times; 0: none */
    bool calibrate; /* whether to record the time of each part of a step */
};

/* State of a rank that sleeps instead of computing. */
struct replayed_work {
    struct pace pace;
    struct calibration calibration;
    uint64_t first;      /* step s replays calibration row (s + first), modulo the number of rows */
    const int64_t *row;  /* row of `calibration`: times that the current step replays */
    double step_share;   /* this rank's images in this step / images in a calibrated step */
    double share;        /* factor for calibrated times: images in this micro-batch / images in a
                            calibrated step */
    real *gradients;     /* random gradients if there is a compressor; NULL: gradients are 0 */
    bool own_core;       /* whether no other process needs this rank's core while the rank sleeps */
    int64_t *writing_ns; /* [n_ops] shortest time (ns) so far to fill each op's gradients with
                            random numbers or zeros; 0: not timed yet */
    char from[128];      /* source of the times, written to the record: RUN/LAUNCH or a rate */
};

static inline bool work_is_replayed(const struct work_options *o)
{
    return o->calibration != NULL || o->gflops > 0;
}

/* Opens a calibration or a replay, if t->work requests one. Requires t->model.net. ERR_ARGUMENT or
 * ERR_DATA if the calibration is missing or damaged, or does not match this trainer (struct
 * calibrated_work). Call work_close in any case. */
enum status work_open(struct trainer *t, struct error *e);
/* Allocates random gradients for a replay with a compressor. Requires t->sync. */
enum status work_connect(struct trainer *t, struct error *e);
void work_close(struct trainer *t);

/* work_ops returns the number of ops of all pipeline stages: in the plan, or in the calibration if
 * compute is replayed. work_net_range and work_op_range return the range of an op's tensors.
 * work_net_range numbers tensors as in the whole net, work_op_range from the first tensor of this
 * rank's stage. */
int work_ops(const struct trainer *t);
struct range work_net_range(const struct trainer *t, int op);
struct range work_op_range(const struct trainer *t, int op);

/* Returns the weights of an op, at the same offsets as in the parameter arena, valid until the next
 * call. `rounds`: as in weights16_of. An op that multiplies bf16 numbers reads the parameter arena
 * itself, because the op rounds the operands of its products. */
const real *work_op_weights(const struct trainer *t, int op, bool rounds);

/* Parts of a step, in call order, with the activations in slot t->model.slot. work_micro_begin to
 * work_backward are repeated for each micro-batch. A rank without images has zero gradients. */
void work_step_begin(struct trainer *t, const struct batch *batch);
void work_micro_begin(struct trainer *t, const struct batch *batch);
void work_load(struct trainer *t, const struct batch *batch);
void work_forward(struct trainer *t, const struct batch *batch, int op);
struct score work_loss(struct trainer *t, const struct batch *batch, double gradient_scale);
void work_backward(struct trainer *t, const struct batch *batch, int op, real *grads);
/* Sleeps in place of the optimizer's update of parameters [begin, end). `arg` is the trainer. */
void work_update(void *arg, size_t begin, size_t end);
/* Returns the total calibrated time (ns) of this rank's work in the current step. */
int64_t work_replayed_ns(const struct trainer *t);
/* Records the optimizer's time of this step, if calibrating. */
void work_step_end(struct trainer *t, int64_t optimizer_ns);
/* Keeps the times of the step that has just ended, if calibrating. */
void work_keep(struct trainer *t);
