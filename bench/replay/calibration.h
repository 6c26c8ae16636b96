/* Durations of the parts of a training step, for each step of a launch. A launch with compute =
 * calibrate measures them on ranks with cores of their own. With compute.rate above 0, they are
 * computed from the FLOPs of each op. With compute = replay, each rank sleeps for these durations
 * instead of computing.
 *
 * Parts in order: loading, each op forward, loss, each op backward, optimizer. When calibrating,
 * rank N writes rank.N.times.json beside its record. */
#pragma once

#include <stdint.h>

#include "kernels/base/error.h"

enum { CALIBRATION_SCHEMA = 1 };

/* Properties of the measured step. Measured times are replayed only for steps with equal
 * properties. */
struct calibrated_work {
    char model[256], plan[32], optimizer[32];
    int64_t params;
    int images;        /* images per rank and step */
    int micro_batches; /* micro-batches per step */
    int threads;
};

/* One op of the execution plan. Its parameters are the tensors with indices in the half-open range
 * [first, last). */
struct calibrated_op {
    char name[32];
    int first, last;
};

struct calibration {
    struct calibrated_work work;
    struct calibrated_op *ops; /* [n_ops] ops in the order of execution */
    int n_ops;
    int64_t *ns; /* [n_steps][calibration_parts] time (ns) of each part of each step */
    int n_steps, capacity;
};

/* calibration_parts returns the number of parts of a step. calibration_part returns the index of
 * one part in a row of `ns`. `op`: index of the op for PART_FORWARD and PART_BACKWARD, otherwise
 * 0. */
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

/* Allocates rows for the times of `steps` steps with `ops` ops each. The caller sets the names and
 * tensors of the ops. Call calibration_free after calibration_open or calibration_read, even after
 * an error. */
enum status calibration_open(struct calibration *c, const struct calibrated_work *work, int ops,
                             int steps, struct error *e);
void calibration_free(struct calibration *c);

/* calibration_row returns the row [calibration_parts] for the times (ns) of the current step.
 * calibration_keep keeps this row, or discards it if `capacity` rows are already kept. */
int64_t *calibration_row(const struct calibration *c);
void calibration_keep(struct calibration *c);

/* Writes or reads folder/rank.N.times.json. ERR_DATA with the file's name if the file is not a
 * calibration, ERR_ARGUMENT if it does not exist, ERR_SYSTEM if it cannot be written. */
enum status calibration_write(const struct calibration *c, const char *folder, int rank,
                              struct error *e);
enum status calibration_read(struct calibration *c, const char *folder, int rank, struct error *e);

/* Returns the number of consecutive calibration files rank.0, rank.1, ... in the folder. */
int calibration_ranks(const char *folder);

/* Returns the last two components of the path of a launch's folder: point and launch, such as
 * "1a2b3c4d5e6f/time-003". */
const char *calibration_name(const char *folder);

/* Checks that the properties of the measured step (c->work) equal `wanted`. If not: ERR_ARGUMENT,
 * with a message that names `folder`. */
enum status calibration_check(const struct calibration *c, const struct calibrated_work *wanted,
                              const char *folder, struct error *e);
