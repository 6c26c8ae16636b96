/* Lists every batch of a run as arrays, for a process that cannot call the sampler. */
#pragma once

#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/trainer.h"

/* Offset of the crop of an augmented image, and whether it is mirrored (augment.h). */
struct batch_crop {
    int8_t row, column, flip;
};

/* `steps` steps in order; samples and weights of consecutive steps are concatenated. */
struct batch_list {
    size_t steps, n; /* n: images of this rank over all steps */
    uint32_t *epoch, *step, *count, *global;
    double *lr;
    uint32_t *samples;
    real *weights;
    bool padded;              /* whether any weight differs from 1 */
    struct batch_crop *crops; /* [n] as samples; NULL without augmentation */
};

/* Lists all batches of `run`; the trainer's sampler must be open. Call batch_list_free in any
 * case. */
enum status batch_list_make(struct batch_list *list, struct trainer *t, enum run_kind run,
                            struct error *e);
void batch_list_free(struct batch_list *list);
