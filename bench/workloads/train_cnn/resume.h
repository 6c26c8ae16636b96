/* Starts a run from a checkpoint and writes checkpoints (options checkpoint.*). */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/trainer.h"

struct resume {
    const struct config *config; /* borrowed */
    bool opened;                 /* whether `checkpoint` holds the state to start from */
    struct checkpoint checkpoint;
    uint64_t written; /* number of checkpoints that this run has written */
    int64_t write_ns;
};

/* Returns pointers to the state of a connected trainer that checkpoints save and restore. */
struct checkpoint_state resume_state(struct trainer *t);

/* Finds and reads the file that the options name. `resumes`: this kind of run can resume from a
 * checkpoint. Not collective, so that ranks can agree on an error. Call resume_close in any
 * case. */
enum status resume_open(struct resume *r, struct trainer *t, bool resumes, struct error *e);
void resume_close(struct resume *r);

/* Restores the trainer and *progress from the checkpoint, or begins at the first step without one.
 * Rank 0 prints which. Collective. */
enum status resume_begin(struct resume *r, struct trainer *t, struct progress *progress,
                         struct error *e);

/* Writes a checkpoint if one is due after a step, or after an epoch and its evaluation. The last
 * epoch of a segment always writes one. Collective. */
enum status resume_after_step(struct resume *r, struct trainer *t, const struct progress *progress,
                              struct error *e);
enum status resume_after_epoch(struct resume *r, struct trainer *t, const struct progress *progress,
                               bool ends_segment, struct error *e);
