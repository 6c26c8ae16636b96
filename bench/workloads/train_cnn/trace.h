/* The timeline of a timed run (measure.timeline): spans of all its steps are kept in memory, and after the last
 * one those of the step of median time, the same on all ranks, become lines of the record. */
#pragma once

#include "bench/record/record.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/timeline.h"

/* Timed steps among which the median one is looked for: the first ones of a long run, so many at most, and no more than
 * find room in so many bytes of a rank. */
enum { TRACE_STEPS = 1000, TRACE_BYTES = 32 << 20 };

struct traced_step {
    uint32_t epoch, step;
};

struct trace {
    struct timeline *timeline;
    char (*names)[NET_OP_LAYERS]; /* [ops]: what the trainer calls its ops */
    struct traced_step *steps;    /* [TRACE_STEPS] */
    double *slowest_ns;           /* [TRACE_STEPS]: what they took, in the end the slowest rank */
    size_t taken;                 /* timed steps, kept or not */
};

/* Gives trainer and waiter a timeline, until trace_close takes it away. */
enum status trace_open(struct trace *trace, struct trainer *t, struct error *e);
void trace_close(struct trace *trace, struct trainer *t);

/* The step that has just been taken is a timed one. */
void trace_keep(struct trace *trace, const struct step_record *taken);

/* Adds the spans of the median step to the record. Collective, outside of what is timed. */
enum status trace_write(struct trace *trace, const struct job *job, struct recorder *recorder,
                        struct error *e);
