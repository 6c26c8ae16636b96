/* Local work of a step, between calls to other ranks: compute it, compute and time it (calibrate),
 * or sleep for its calibrated time (replay). */
#pragma once

#include "bench/workloads/train_cnn/parts/calibration.h"
#include "bench/workloads/train_cnn/parts/pace.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "comm/strategy.h"
#include "kernels/net/net.h"

struct trainer;

/* Options of local work: compute, calibrate or replay. All zero: compute. */
struct work_options {
    const char *calibration; /* folder with the times to replay; NULL: none. Borrowed. */
    double gflops;  /* GFLOP/s of each thread, from which replayed times are made; 0: none */
    bool calibrate; /* whether to keep the time of each part */
};

/* State of a rank that sleeps instead of computing. */
struct replayed_work {
    struct pace pace;
    struct calibration calibration;
    uint64_t first;      /* first row of the calibration that this rank replays */
    const int64_t *row;  /* row of the current step */
    double step_share;   /* images of this step / images of a calibrated step */
    double share;        /* images of this micro-batch / images of a calibrated step */
    real *gradients;     /* random gradients for a compressor; NULL: gradients are 0 */
    bool own_core;       /* whether no other process needs this rank's core while it sleeps */
    int64_t *writing_ns; /* [n_ops] least time of writing each op's gradients so far */
    char from[128];      /* launch or rate that the times come from, for the record */
};

static inline bool work_is_replayed(const struct work_options *o)
{
    return o->calibration != NULL || o->gflops > 0;
}

/* Opens calibration or replay; requires the trainer's net. ERR_ARGUMENT or ERR_DATA if the
 * calibration is missing, broken or for different work. Call work_close in any case. */
enum status work_open(struct trainer *t, struct error *e);
/* Makes gradients for a compressor; requires the trainer's strategy. */
enum status work_connect(struct trainer *t, struct error *e);
void work_close(struct trainer *t);

/* work_ops returns the number of ops: of the plan, or of the calibration in replay. The ranges are
 * an op's tensors, counted from the net's first tensor or from the first tensor of this rank's
 * stage. */
int work_ops(const struct trainer *t);
struct range work_net_range(const struct trainer *t, int op);
struct range work_op_range(const struct trainer *t, int op);

/* Parts of a step of this rank's stage, in call order, on activation slot t->model.slot.
 * work_micro_begin to work_backward run once per micro-batch. A rank without images computes
 * nothing and has zero gradients. */
void work_step_begin(struct trainer *t, const struct batch *batch);
void work_micro_begin(struct trainer *t, const struct batch *batch);
void work_load(struct trainer *t, const struct batch *batch);
void work_forward(struct trainer *t, const struct batch *batch, int op);
struct score work_loss(struct trainer *t, const struct batch *batch, double gradient_scale);
void work_backward(struct trainer *t, const struct batch *batch, int op, real *grads);
/* Sleeps for the update of parameters [begin, end), in place of sync's optimizer; arg is the
 * trainer. */
void work_update(void *arg, size_t begin, size_t end);
/* Returns the total time that this rank replays in the step. */
int64_t work_replayed_ns(const struct trainer *t);
/* Records the optimizer's time. */
void work_step_end(struct trainer *t, int64_t optimizer_ns);
/* Adds the step that has just ended to the calibration, if there is one. */
void work_keep(struct trainer *t);
