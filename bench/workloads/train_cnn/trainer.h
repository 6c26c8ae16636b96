/* Trainer of one rank: network, strategy, optimizer, batches. run.c loops over epochs and steps;
 * tests call the same functions. */
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

/* Times, costs and results of one step on this rank. */
struct step_record {
    struct record_step line; /* complete except for `timed` and the hash of the weights */
    int64_t cpu_ns;          /* user and system time of the process */
    struct score score;
};

/* Number of images and of correctly classified images per class. */
struct class_counts {
    int n; /* number of classes in the data set */
    struct class_score {
        uint32_t samples, correct;
    } of[DATA_CLASSES_MAX];
};

/* Images of a step. */
struct batches {
    uint32_t global_batch;
    uint32_t accumulate; /* number of micro-batches in a full step */
    uint32_t micro_max;  /* images in the largest micro-batch */
    struct sampler sampler;
    uint32_t own_images; /* number of this rank's images in the current step */
    /* [micro_max] pointers into the data set, one per image of a micro-batch */
    const uint8_t **images;
    /* [slots, micro_max, C, H, W] augmented copies of the images; NULL without augmentation */
    uint8_t *augmented;
    uint8_t *labels;        /* [micro_max] */
    uint32_t *eval_samples; /* [micro_max] */
    int *eval_classes;      /* [micro_max] */
    /* [test.n] predicted class per test image; NULL unless trainer_keep_predictions was called */
    int *predictions;
};

/* Sleep injected before the optimizer update (inject.phase: update). */
struct update_sleep {
    uint64_t step;    /* last step that has begun its update, from 1 */
    int64_t slept_ns; /* time slept before the current step's update, on `thread` only */
    /* Thread that runs trainer_step; the thread of sync.overlap may run a server's update. */
    pthread_t thread;
};

struct trainer {
    /* Set by the caller; pointers are borrowed. */
    const struct config *config;
    const struct data_set *data;
    /* Whether this is a segment of an elastic run: ranks, batch and shards may change. */
    bool rescales;
    const int *progress_cpu; /* core of the thread that sync.overlap starts; NULL: not bound */
    struct work_options work;

    struct job job; /* the caller sets waiter and comm */
    struct batches batches;
    struct model model;

    struct sync *sync; /* gradient synchronisation among ranks with the same stage and slice */
    struct overlap *overlap; /* NULL: no messages progress while this rank computes */
    struct group group;      /* open if ranks share batch-norm statistics */
    struct optimizer optimizer;
    /* Backup of this rank's own weights while it evaluates rank 0's weights; else NULL. */
    real *own_params;

    struct inject inject; /* sleeps or kills injected on this rank */
    struct update_sleep update_sleep;
    struct replayed_work *replayed; /* NULL: this rank computes */
    struct calibration *times;      /* measured times of each op; NULL: not calibrating */
    /* Set by the caller in untimed steps: receives the maximum resident size (MiB) of parameters,
     * gradients and optimizer state within a step. ZeRO stages free memory during a step. NULL: not
     * measured. */
    struct record_end *arena_use;
    /* [ops] layers of each op, for timeline spans; NULL: no timeline */
    const char (*op_names)[NET_OP_LAYERS];

    uint64_t steps_done;
    /* Offset from steps_done to the step of the learning-rate schedule, modulo 2^64; not 0 if
     * earlier segments had other epoch lengths. */
    uint64_t steps_aside;
    /* Batches in the running statistics, equal for all batch-norm layers. */
    int64_t batches_tracked;
};

/* Returns the precision of values stored between layers (train.precision). Double-precision builds
 * store them in full. */
enum precision trainer_values(const struct config *config);

/* Chooses the instruction set from this processor, kernels.isa, train.precision and
 * $SCALEBENCH_ISA, and limits isa_choose to it. ERR_UNAVAILABLE if the processor lacks the set that
 * kernels.isa names. */
enum status trainer_isa(const struct config *config, enum isa *isa, struct error *e);

/* Returns whether kernels are chosen by timing (kernels.tune). trainer_share_choices broadcasts
 * rank 0's choices [n_layers], so that replicas compute the same bits; it is collective. */
bool trainer_tunes(const struct config *config);
enum status trainer_share_choices(const struct job *job, uint8_t *choices, int n_layers,
                                  struct error *e);

/* Returns the number of images per step over all ranks, or the default if the spec names none.
 * trainer_batch_alone returns the images of a micro-batch on a single rank. */
uint32_t trainer_global_batch(const struct config *config, int ranks);
uint32_t trainer_batch_alone(const struct config *config);

/* Opens the sampler: which images each step uses. Needs config, data, model.desc, job.rank and
 * job.ranks, but no MPI. The caller closes the sampler unless it calls trainer_close. */
enum status trainer_open_batches(struct trainer *t, struct error *e);

/* Sets up batches and network. Collective: ranks agree on an instruction set. Fields that the
 * caller owns must be set, all others zero; `pool` is borrowed. ERR_SHAPE or ERR_ARGUMENT if model,
 * data set and batch do not fit. */
enum status trainer_open(struct trainer *t, struct pool *pool, struct error *e);

/* Creates the strategy and draws the initial weights: the same on all ranks, or different ones if
 * train.broadcast_init is off. Collective. */
enum status trainer_connect(struct trainer *t, struct error *e);

/* May be called after a failed open or connect. */
void trainer_close(struct trainer *t);

/* One training step on batch `step` of `epoch`. Collective. */
enum status trainer_step(struct trainer *t, uint32_t epoch, uint32_t step,
                         struct step_record *record, struct error *e);

/* For the trainer's own files: one pass over a micro-batch, with the strategy's calls around each
 * op. `batch` may be empty: the rank still makes all calls. NULL: makes the calls without
 * computing. */
enum status trainer_forward(struct trainer *t, const struct batch *batch, struct error *e);
enum status trainer_backward(struct trainer *t, const struct batch *batch, int micro, bool last,
                             struct error *e);

/* For the trainer's own files: adds an injected sleep that ends now to the timeline. */
void trainer_add_sleep(const struct trainer *t, int64_t slept_ns);

/* Learning rate of the last step that was not skipped. */
double trainer_lr(const struct trainer *t);

/* Returns the factor on the next step's gradients, or NAN without loss scaling. */
double trainer_loss_scale(const struct trainer *t);

/* Returns a 64-bit hash of the rank's parameters. Running statistics are included if ranks share
 * them. */
uint64_t trainer_hash(const struct trainer *t);

/* Returns the first parameter that is infinite or NaN; 0 if all are finite. */
double trainer_wrong_weight(const struct trainer *t);

/* Computes loss and accuracy over a part of the data set, in total and per class. Images are
 * sharded over ranks. If ranks have different weights, rank 0's are evaluated. Collective. */
enum status trainer_evaluate(struct trainer *t, const struct data_part *part, struct score *score,
                             struct class_counts *classes, struct error *e);

/* Keeps the predicted class of each test image in later evaluations. trainer_write_predictions
 * writes the last ones to a text file, one line per image; it is collective, and rank 0 writes. */
enum status trainer_keep_predictions(struct trainer *t, struct error *e);
enum status trainer_write_predictions(struct trainer *t, const char *path, struct error *e);

void trainer_add_score(struct score *sum, const struct score *score);

/* Sums the scores of all ranks in place. Collective. */
enum status trainer_sum_scores(const struct job *job, struct score *score, struct error *e);
