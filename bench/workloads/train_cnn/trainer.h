/* Trainer of one rank: network, strategy, optimizer and batches. run.c calls it for each epoch and
 * step; tests call the same functions. */
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
#include "bench/workloads/train_cnn/parts/noise_scale.h"
#include "bench/workloads/train_cnn/parts/sampler.h"
#include "bench/workloads/train_cnn/work.h"
#include "comm/overlap.h"
#include "comm/strategy.h"
#include "kernels/base/fp_mode.h"
#include "kernels/gemm.h"
#include "kernels/net/net.h"
#include "kernels/optimizers/optimizer.h"

/* Result of one step on this rank. */
struct step_record {
    struct record_step line; /* line of the record, without `timed` and the hash of the weights */
    int64_t cpu_ns;          /* processor time of the process in the step (user + system, ns) */
    struct score score;
};

/* Per class of the data set: number of images and number of correctly classified images. */
struct class_counts {
    int n; /* number of classes in the data set */
    struct class_score {
        uint32_t samples, correct;
    } of[DATA_CLASSES_MAX];
};

/* Batch sizes, and buffers for the images of a step. */
struct batches {
    uint32_t global_batch;
    uint32_t accumulate; /* number of micro-batches in a full step */
    uint32_t micro_max;  /* maximum number of images in a micro-batch of any rank */
    struct sampler sampler;
    uint32_t own_images; /* this rank's number of images in the current step, without padding */
    /* [micro_max] pointers into the data set, one per image of the current micro-batch; not used
     * for augmented images */
    const uint8_t **images;
    /* [slots, micro_max, C, H, W] augmented copies of the images; NULL if images are not
     * augmented */
    uint8_t *augmented;
    uint8_t *labels;        /* [micro_max] labels of the current micro-batch */
    uint32_t *eval_samples; /* [micro_max] indices of the images being evaluated */
    int *eval_classes;      /* [micro_max] predicted classes of the images being evaluated */
    /* [test.n] predicted class per test image; NULL unless trainer_keep_predictions was called */
    int *predictions;
};

/* Sleep injected before the optimizer update (inject.phase: update). */
struct update_sleep {
    uint64_t step;    /* last step whose update has begun, counted from 1 */
    int64_t slept_ns; /* time that `thread` slept before the optimizer update of the current step;
                         reset to 0 at the start of each step */
    /* Thread that runs trainer_step. Only sleeps on this thread lengthen the step; a parameter
     * server's update may run on the thread of sync.overlap instead. */
    pthread_t thread;
};

struct trainer {
    /* The caller sets the members up to and including `work`. Pointers are borrowed. */
    const struct config *config;
    const struct data_set *data;
    /* Whether this is a segment of an elastic run, in which the number of ranks, the batch and the
     * shards may differ from the values in the checkpoint. */
    bool rescales;
    const int *progress_cpu; /* core of the thread that sync.overlap starts; NULL: not bound */
    /* Sums of squared gradient norms of steps with a full batch (measure.noise_scale). NULL: not
     * summed. Requires fp32, an exact strategy and the whole network on every rank. */
    struct noise_sums *noise;
    struct work_options work;

    struct job job; /* the caller sets job.waiter and job.comm */
    struct batches batches;
    struct model model;

    struct sync *sync;       /* sums gradients over the ranks that have the same stage and slice */
    struct overlap *overlap; /* tests messages while this rank computes; NULL: none are tested */
    struct group group;      /* ranks that sum batch-norm statistics, if group.open */
    struct optimizer optimizer;
    /* [arenas.n] Buffer that keeps this rank's weights while the first replica's weights are
     * evaluated. NULL: all replicas begin training with the same weights. */
    real *own_params;

    struct inject inject; /* sleeps and kills injected on this rank */
    struct update_sleep update_sleep;
    double own_norm2; /* squared norm of this step's gradient before it is summed over ranks */
    struct replayed_work *replayed; /* state of replayed compute; NULL: this rank computes */
    struct calibration *times;      /* measured times of each op; NULL: not calibrating */
    /* Record that receives the largest resident sizes of the arenas so far (params_mib, grads_mib,
     * state_mib), measured at each op. NULL: not measured. The caller sets the pointer in untimed
     * steps only. */
    struct record_end *arena_use;
    /* [ops] names of each op's layers in a timeline; NULL: no timeline */
    const char (*op_names)[NET_OP_LAYERS];

    uint64_t steps_done;
    /* Number of weight updates minus the step of the learning-rate schedule, modulo 2^64. Not 0 if
     * earlier segments of an elastic run had another number of steps per epoch. */
    uint64_t steps_aside;
    /* Number of batches that the running statistics of batch norm include, equal for all layers. */
    int64_t batches_tracked;
};

/* Returns the number type of values between layers (train.precision). Returns PRECISION_fp32 in a
 * double-precision build, which stores all values in double. */
enum precision trainer_values(const struct config *config);

/* Sets *isa to this processor's best instruction set for train.precision, limited by kernels.isa
 * and $SCALEBENCH_ISA. kernels.isa also limits later calls of isa_choose. ERR_UNAVAILABLE if the
 * processor does not support kernels.isa. */
enum status trainer_isa(const struct config *config, enum isa *isa, struct error *e);

/* trainer_tunes returns whether kernels are chosen by timing (kernels.tune). trainer_share_choices
 * is collective. It broadcasts rank 0's choices [n_layers], so that replicas compute the same
 * bits. */
bool trainer_tunes(const struct config *config);
enum status trainer_share_choices(const struct job *job, uint8_t *choices, int n_layers,
                                  struct error *e);

/* trainer_global_batch returns the number of images per step over all ranks, set by the spec or by
 * default. trainer_batch_alone returns the number of images of a micro-batch if there is only one
 * rank. */
uint32_t trainer_global_batch(const struct config *config, int ranks);
uint32_t trainer_batch_alone(const struct config *config);

/* Opens t->batches.sampler, which chooses the images of each step. Requires config, data,
 * model.desc, job.rank and job.ranks, but no MPI. The caller closes the sampler unless it calls
 * trainer_close. */
enum status trainer_open_batches(struct trainer *t, struct error *e);

/* Sets up batches and network. The caller has set model.desc, job.waiter, job.comm and the members
 * of *t up to and including `work`, and zeroed all other members. `pool` is borrowed. ERR_SHAPE,
 * ERR_ARGUMENT or ERR_DATA if model, data set and batch do not fit. Collective. */
enum status trainer_open(struct trainer *t, struct pool *pool, struct error *e);

/* Creates the strategy and draws the initial weights. All replicas get the same weights, or
 * different ones if train.broadcast_init is off. Collective. */
enum status trainer_connect(struct trainer *t, struct error *e);

/* Closes the trainer. May be called after trainer_open or trainer_connect has failed. */
void trainer_close(struct trainer *t);

/* Executes one training step on batch `step` of `epoch`. Collective. */
enum status trainer_step(struct trainer *t, uint32_t epoch, uint32_t step,
                         struct step_record *record, struct error *e);

/* Run the forward or backward pass over a micro-batch, with the strategy's hooks around each op. An
 * empty `batch` has zero gradients. If `batch` is NULL, only the hooks are called. Used inside the
 * trainer only. */
enum status trainer_forward(struct trainer *t, const struct batch *batch, struct error *e);
enum status trainer_backward(struct trainer *t, const struct batch *batch, int micro, bool last,
                             struct error *e);

/* Records in the timeline an injected sleep that lasted slept_ns and ends now. Does nothing if
 * slept_ns is 0. Used inside the trainer only. */
void trainer_add_sleep(const struct trainer *t, int64_t slept_ns);

/* Returns the learning rate of the latest weight update. If there was none yet, returns the rate of
 * the first update. A step skipped because of an overflow is no update. */
double trainer_lr(const struct trainer *t);

/* Returns the loss scale of the next step; NAN if train.precision is not fp16. */
double trainer_loss_scale(const struct trainer *t);

/* Returns a 64-bit hash of this rank's parameters. Running statistics of batch norm are included if
 * they must be equal on all ranks. */
uint64_t trainer_hash(const struct trainer *t);

/* Returns the value of the first parameter that is infinite or NaN; 0 if all are finite. */
double trainer_wrong_weight(const struct trainer *t);

/* Computes loss and accuracy over the samples of `part`. Also counts, for each class, the samples
 * and the correctly classified samples. The samples are divided among the replicas. All replicas
 * use the weights that the strategy provides, such as an average, or the first replica's weights if
 * train.broadcast_init is off. Collective. */
enum status trainer_evaluate(struct trainer *t, const struct data_part *part, struct score *score,
                             struct class_counts *classes, struct error *e);

/* After trainer_keep_predictions, evaluations keep the predicted class of each test image.
 * trainer_write_predictions, which is collective, writes the latest predictions to a text file on
 * rank 0, one line per image. */
enum status trainer_keep_predictions(struct trainer *t, struct error *e);
enum status trainer_write_predictions(struct trainer *t, const char *path, struct error *e);

void trainer_add_score(struct score *sum, const struct score *score);

/* Sums the scores of all ranks in place. Collective. */
enum status trainer_sum_scores(const struct job *job, struct score *score, struct error *e);

/* Estimates the gradient noise from all ranks' steps since the last call, and sets the sums in
 * *t->noise to 0. The estimates are NAN if t->noise is NULL. Collective. */
enum status trainer_sum_noise(const struct trainer *t, struct noise_estimate *estimate,
                              struct error *e);
