/* Starts a run from a checkpoint and writes checkpoints (options checkpoint.*). */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/trainer.h"

struct resume {
    const struct config *config; /* borrowed from the caller */
    bool opened; /* whether `checkpoint` has been read and holds the initial state */
    struct checkpoint checkpoint;
    uint64_t written; /* number of checkpoints that this process has written */
    int64_t write_ns;
};

/* Returns pointers to the state that checkpoints save and restore. Requires trainer_connect. */
struct checkpoint_state resume_state(struct trainer *t);

/* Reads the checkpoint that the options name, if any. `resumes`: whether this kind of run can
 * resume. Not collective: the caller makes ranks agree on an error. Call resume_close in any
 * case. */
enum status resume_open(struct resume *r, struct trainer *t, bool resumes, struct error *e);
void resume_close(struct resume *r);

/* Restores the trainer and *progress from the checkpoint. Without a checkpoint, training starts at
 * the first step. Rank 0 prints where training starts. Collective. */
enum status resume_begin(struct resume *r, struct trainer *t, struct progress *progress,
                         struct error *e);

/* Write a checkpoint if one is due after this step, or after this epoch and its evaluation.
 * `ends_segment`: a segment of an elastic run ends, so a checkpoint is always due. Collective. */
enum status resume_after_step(struct resume *r, struct trainer *t, const struct progress *progress,
                              struct error *e);
enum status resume_after_epoch(struct resume *r, struct trainer *t, const struct progress *progress,
                               bool ends_segment, struct error *e);
