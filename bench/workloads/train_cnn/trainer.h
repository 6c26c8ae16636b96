/* One rank's share of training: network, strategy, optimizer, batches. The loop over epochs and steps
 * is in run.c; tests drive the same functions. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#include "bench/record/fields.h"
#include "bench/spec/spec.h"
#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/data/data_set.h"
#include "bench/workloads/train_cnn/model.h"
#include "bench/workloads/train_cnn/parts/group.h"
#include "bench/workloads/train_cnn/parts/inject.h"
#include "bench/workloads/train_cnn/parts/job.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "bench/workloads/train_cnn/work.h"
#include "comm/overlap.h"
#include "comm/strategy.h"
#include "kernels/base/fp_mode.h"
#include "kernels/gemm.h"
#include "kernels/net/net.h"
#include "kernels/optimizers/optimizer.h"

/* What one step took and gave, on this rank. */
struct step_record {
    struct record_step line; /* all but whether it is timed, and the hash of the weights */
    int64_t cpu_ns;          /* user and system time of the process */
    struct score score;
};

/* Images of each class, and how many of them were classified right. */
struct class_counts {
    int n; /* classes of the data set */
    struct class_score {
        uint32_t samples, correct;
    } of[DATA_CLASSES_MAX];
};

/* The images of steps. */
struct batches {
    uint32_t global_batch;
    uint32_t accumulate; /* micro-batches of a full step */
    uint32_t micro_max;  /* images of the largest */
    struct sampler sampler;
    uint32_t own_images;    /* of this rank's share of the step under way */
    const uint8_t **images; /* [micro_max]: where the images of a micro-batch lie in the data set */
    uint8_t
        *augmented;  /* [slots, micro_max, C, H, W]: copies where images are changed, else NULL */
    uint8_t *labels; /* [micro_max] */
    uint32_t *eval_samples; /* [micro_max] */
    int *eval_classes;      /* [micro_max] */
    int *predictions;       /* [test.n]: kept where trainer_keep_predictions was asked, or NULL */
};

/* What was slept before the updates of a step. */
struct update_sleep {
    uint64_t step;    /* whose update began last */
    int64_t slept_ns; /* in this step, before the optimizer ran, by */
    pthread_t thread; /* who takes it: that of sync.overlap may let a server step */
};

struct trainer {
    /* By the caller; pointers are borrowed. */
    const struct config *config;
    const struct data_set *data;
    bool rescales; /* a segment of a run whose ranks, and with them batch and shards, change */
    const int *progress_cpu; /* of a thread that sync.overlap asks for; NULL: not bound */
    struct work_options work;

    struct job job; /* waiter and comm by the caller, too */
    struct batches batches;
    struct model model;

    struct sync *sync;       /* over the ranks of the stage and slice */
    struct overlap *overlap; /* NULL: messages are left alone while this rank computes */
    struct group group;      /* open when ranks share the statistics of batch norm */
    struct optimizer optimizer;
    real *own_params; /* of a rank with weights of its own, while rank 0's are evaluated */

    struct inject inject; /* sleeps of this rank */
    struct update_sleep update_sleep;
    struct replayed_work *replayed; /* NULL: this rank computes */
    struct calibration *times;      /* of what it computes; NULL: nobody asks */
    /* By the caller, for steps that are not timed: takes the most that a rank has of its arenas in memory within a step
     * (params_mib, grads_mib, state_mib), where stages of ZeRO give back what is others'. NULL: nobody asks. */
    struct record_end *arena_use;
    const char (*op_names)[NET_OP_LAYERS]; /* of spans; NULL: the waiter has no timeline */

    uint64_t steps_done;
    uint64_t
        steps_aside; /* of these, beyond (modulo 2^64) as many as such epochs have: steps of others */
    int64_t batches_tracked; /* that went into the running statistics; of every such layer */
};

/* What train.precision lets the net keep values in, which double precision keeps in all their bits. */
enum precision trainer_values(const struct config *config);

/* The instruction set of this processor by kernels.isa, train.precision and $SCALEBENCH_ISA; ERR_UNAVAILABLE where it has
 * less than the first. From here on isa_choose gives no more. */
enum status trainer_isa(const struct config *config, enum isa *isa, struct error *e);

/* Whether kernels are chosen by time; and rank 0's choices [n_layers] given to all ranks, so that
 * replicas compute the same bits. Collective. */
bool trainer_tunes(const struct config *config);
enum status trainer_share_choices(const struct job *job, uint8_t *choices, int n_layers,
                                  struct error *e);

/* Images of a step over all ranks, which the spec may leave out, and of what one rank that has them to
 * itself computes at a time. */
uint32_t trainer_global_batch(const struct config *config, int ranks);
uint32_t trainer_batch_alone(const struct config *config);

/* The part of trainer_open that says which images each step takes; needs config, data, model.desc, job.rank and
 * job.ranks, and no MPI. The sampler is the caller's to close unless trainer_close is called. */
enum status trainer_open_batches(struct trainer *t, struct error *e);

/* Sets up batches and network. Collective: ranks agree on an instruction set. What is the caller's is set,
 * all else zero; `pool` is borrowed. ERR_SHAPE or ERR_ARGUMENT when model, data set and
 * batch do not fit. */
enum status trainer_open(struct trainer *t, struct pool *pool, struct error *e);

/* Creates the strategy and gives every rank the same initial weights, or its own where the spec says
 * so (train.broadcast_init). Collective. */
enum status trainer_connect(struct trainer *t, struct error *e);

/* Also after a failed open or connect. */
void trainer_close(struct trainer *t);

/* One training step on batch `step` of `epoch`. Collective. */
enum status trainer_step(struct trainer *t, uint32_t epoch, uint32_t step,
                         struct step_record *record, struct error *e);

/* Inside: a pass over a micro-batch, of a step's several, with the calls that the strategy makes around each op. A rank
 * whose share of a batch is empty takes part in these; NULL: nothing is computed, only the calls are made. */
enum status trainer_forward(struct trainer *t, const struct batch *batch, struct error *e);
enum status trainer_backward(struct trainer *t, const struct batch *batch, int micro, bool last,
                             struct error *e);

/* Inside: a sleep of inject.* that ends now, for the timeline. */
void trainer_add_sleep(const struct trainer *t, int64_t slept_ns);

/* Learning rate of the last step that was not skipped. */
double trainer_lr(const struct trainer *t);

/* What the next step's gradients are multiplied by; NAN without a loss scale. */
double trainer_loss_scale(const struct trainer *t);

/* 64-bit hash of the rank's parameters, and of the running statistics where ranks share them. */
uint64_t trainer_hash(const struct trainer *t);

/* The first parameter that is infinite or no number; 0: all are finite. */
double trainer_wrong_weight(const struct trainer *t);

/* Loss and accuracy over a part of the data set, and each class by itself, sharded over ranks,
 * summed by count; of rank 0's weights, where ranks hold their own. Collective. */
enum status trainer_evaluate(struct trainer *t, const struct data_part *part, struct score *score,
                             struct class_counts *classes, struct error *e);

/* Keeps the class that evaluations of the test part give each of its images; writes those of the last one as a text
 * file with a line an image. Writing is collective; rank 0 writes. */
enum status trainer_keep_predictions(struct trainer *t, struct error *e);
enum status trainer_write_predictions(struct trainer *t, const char *path, struct error *e);

void trainer_add_score(struct score *sum, const struct score *score);

/* Sums the ranks' scores in place. Collective. */
enum status trainer_sum_scores(const struct job *job, struct score *score, struct error *e);
