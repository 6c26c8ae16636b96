/* The parts of a step that are a rank's own, between its calls to others: computed, computed and timed
 * one by one (calibrate), or not computed while their time passes (replay). */
#pragma once

#include "bench/workloads/train_cnn/parts/calibration.h"
#include "bench/workloads/train_cnn/parts/pace.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "comm/strategy.h"
#include "kernels/net/net.h"

struct trainer;

/* What is asked of a trainer besides its configuration; zero: it computes. */
struct work_options {
    const char *calibration; /* folder of times to let pass, NULL: none. Borrowed. */
    double gflops;           /* of each thread, whose times pass instead; 0: none */
    bool calibrate;          /* the time of each part is kept */
};

/* A rank that does not compute. */
struct replayed_work {
    struct pace pace;
    struct calibration calibration;
    uint64_t first;      /* row of the first step */
    const int64_t *row;  /* of this step */
    double step_share;   /* of the calibrated images that this step has */
    double share;        /* that this micro-batch has */
    real *gradients;     /* made up, where a compressor looks at them; NULL: they stay 0 */
    bool own_core;       /* nobody else has work for this rank's core while it sleeps */
    int64_t *writing_ns; /* [n_ops] what writing the gradients of each takes at least */
    char from[128];      /* whose times they are, for the record */
};

static inline bool work_is_replayed(const struct work_options *o)
{
    return o->calibration != NULL || o->gflops > 0;
}

/* After the trainer's net. ERR_ARGUMENT or ERR_DATA where the calibration is missing, broken or one of
 * other work. Closed with work_close in any case. */
enum status work_open(struct trainer *t, struct error *e);
/* After the trainer's strategy. */
enum status work_connect(struct trainer *t, struct error *e);
void work_close(struct trainer *t);

/* Ops of the plan, those of the calibration where they are not computed, and the tensors of one: of the net's,
 * and as the arenas of the rank's stage count them. */
int work_ops(const struct trainer *t);
struct range work_net_range(const struct trainer *t, int op);
struct range work_op_range(const struct trainer *t, int op);

/* The parts, in their order, of the rank's stage, on the set of activations t->model.slot; those from work_micro_begin to work_backward for each micro-batch of the step.
 * A rank without images computes nothing, but has gradients of 0. */
void work_step_begin(struct trainer *t, const struct batch *batch);
void work_micro_begin(struct trainer *t, const struct batch *batch);
void work_load(struct trainer *t, const struct batch *batch);
void work_forward(struct trainer *t, const struct batch *batch, int op);
struct score work_loss(struct trainer *t, const struct batch *batch, double gradient_scale);
void work_backward(struct trainer *t, const struct batch *batch, int op, real *grads);
/* Numbers [begin, end) of the parameters, in place of sync's own optimizer; arg is the trainer. */
void work_update(void *arg, size_t begin, size_t end);
/* All that is to pass in the step. */
int64_t work_replayed_ns(const struct trainer *t);
/* With what the optimizer took. */
void work_step_end(struct trainer *t, int64_t optimizer_ns);
/* The step that has ended is one of a calibration; without one nothing happens. */
void work_keep(struct trainer *t);
