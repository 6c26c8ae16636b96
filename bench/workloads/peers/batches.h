/* Lists all batches of a run as arrays, for programs that cannot call the sampler. */
#pragma once

#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/trainer.h"

/* Augmentation of one image: row and column offset of its crop (pixels), and whether the crop is
 * mirrored (augment.h). */
struct batch_crop {
    int8_t row, column, flip;
};

/* All batches of a run. Arrays `epoch` to `lr` have one element per step; `samples`, `weights` and
 * `crops` have one per image of this rank, in the order of steps. */
struct batch_list {
    size_t steps, n; /* `n`: number of images of this rank over all steps */
    uint32_t *epoch, *step, *count, *global;
    double *lr;
    uint32_t *samples;
    real *weights;
    bool padded;              /* whether train.remainder = pad, which gives padding images weight 0;
                                 otherwise all weights are 1 */
    struct batch_crop *crops; /* [n] crop of each sample; NULL without augmentation */
};

/* Lists all batches of a run; `run` is RUN_FOR_TIME or RUN_FOR_ACCURACY. The sampler of `t` must be
 * open. Call batch_list_free in any case. */
enum status batch_list_make(struct batch_list *list, struct trainer *t, enum run_kind run,
                            struct error *e);
void batch_list_free(struct batch_list *list);
