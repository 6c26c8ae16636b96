/* Every batch of a run as arrays, for a process that cannot call the sampler. */
#pragma once

#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/trainer.h"

/* Where the crop of an augmented image begins, and whether it is mirrored: augment.h. */
struct batch_crop {
    int8_t row, column, flip;
};

/* `steps` steps in the order in which they are run; samples and weights of one lie behind those of
 * the step before. */
struct batch_list {
    size_t steps, n; /* n: images of this rank over all steps */
    uint32_t *epoch, *step, *count, *global;
    double *lr;
    uint32_t *samples;
    real *weights;
    bool padded;              /* some weight is not 1 */
    struct batch_crop *crops; /* as samples; NULL where images stay as they are */
};

/* Takes all batches of `run` from the trainer's sampler, which is open. Freed with batch_list_free,
 * also after an error. */
enum status batch_list_make(struct batch_list *list, struct trainer *t, enum run_kind run,
                            struct error *e);
void batch_list_free(struct batch_list *list);
