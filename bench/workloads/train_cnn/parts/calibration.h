/* What each part of a training step took, step after step: written by a launch that computes on cores of
 * its own (compute: calibrate), let pass by one whose ranks outnumber cores (compute: replay). Or made
 * from a stated rate.
 *
 * The parts of a step, in the order in which they come: loading the batch, each op forward, the loss,
 * each op backward, the optimizer. A rank keeps them in rank.N.times.json beside its record. */
#pragma once

#include <stdint.h>

#include "kernels/base/error.h"

enum { CALIBRATION_SCHEMA = 1 };

/* What was computed: times hold for the same alone. */
struct calibrated_work {
    char model[256], plan[32], optimizer[32];
    int64_t params;
    int images;        /* of a rank's batch */
    int micro_batches; /* in which it computes them */
    int threads;
};

/* An op of the plan, with tensors [first, last). */
struct calibrated_op {
    char name[32];
    int first, last;
};

struct calibration {
    struct calibrated_work work;
    struct calibrated_op *ops; /* [n_ops] */
    int n_ops;
    int64_t *ns; /* [n_steps][calibration_parts] */
    int n_steps, capacity;
};

/* Where the parts lie in a row of times; op: of those that are one an op, else 0. */
static inline int calibration_parts(const struct calibration *c)
{
    return 2 * c->n_ops + 3;
}
enum calibration_part { PART_LOAD, PART_FORWARD, PART_LOSS, PART_BACKWARD, PART_OPTIMIZER };
static inline int calibration_part(const struct calibration *c, enum calibration_part part, int op)
{
    const int first[] = {0, 1, 1 + c->n_ops, 2 + c->n_ops, 2 + 2 * c->n_ops};
    return first[part] + op;
}

/* For the times of `steps` steps of so many ops, which are the caller's to fill in. Freed with
 * calibration_free in any case, as below. */
enum status calibration_open(struct calibration *c, const struct calibrated_work *work, int ops,
                             int steps, struct error *e);
void calibration_free(struct calibration *c);

/* The row [calibration_parts] of the step that is under way; it counts once it is kept. When the
 * calibration is full, steps are kept no more. */
int64_t *calibration_row(const struct calibration *c);
void calibration_keep(struct calibration *c);

/* Writes, reads folder/rank.N.times.json. ERR_DATA with the file, and its line where it is no JSON, for
 * one that is not a calibration; ERR_ARGUMENT where the folder has none of that rank. */
enum status calibration_write(const struct calibration *c, const char *folder, int rank,
                              struct error *e);
enum status calibration_read(struct calibration *c, const char *folder, int rank, struct error *e);

/* The ranks from 0 whose files are in the folder. */
int calibration_ranks(const char *folder);

/* ERR_ARGUMENT, naming the folder, where times of other work would be let pass. */
enum status calibration_check(const struct calibration *c, const struct calibrated_work *wanted,
                              const char *folder, struct error *e);
