/* What a run begins from, and when it leaves a checkpoint behind: the options checkpoint.* at
 * work. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/trainer.h"

struct resume {
    const struct config *config; /* borrowed */
    bool opened;                 /* `checkpoint` holds what the run begins from */
    struct checkpoint checkpoint;
    uint64_t written; /* checkpoints, by this run */
    int64_t write_ns;
};

/* What checkpoints save of a connected trainer and put back. */
struct checkpoint_state resume_state(struct trainer *t);

/* Finds and reads what the options name; `resumes`: the run is of a kind that goes on from a
 * checkpoint. Not collective, so that ranks can agree on an error. Closed with resume_close, also
 * after an error. */
enum status resume_open(struct resume *r, struct trainer *t, bool resumes, struct error *e);
void resume_close(struct resume *r);

/* Makes it the trainer's state and *progress where the run stands; without anything to begin from,
 * at its first step. Rank 0 says so. Collective. */
enum status resume_begin(struct resume *r, struct trainer *t, struct progress *progress,
                         struct error *e);

/* Writes a checkpoint when one is due after a step, or after an epoch and its evaluation; in any case
 * after the last epoch of a segment. Collective. */
enum status resume_after_step(struct resume *r, struct trainer *t, const struct progress *progress,
                              struct error *e);
enum status resume_after_epoch(struct resume *r, struct trainer *t, const struct progress *progress,
                               bool ends_segment, struct error *e);
