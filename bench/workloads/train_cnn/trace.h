/* Timeline of a timed run (measure.timeline). Spans of all steps are kept in memory. After the last
 * step, the spans of the step of median time are written to the record; all ranks choose the same
 * step. */
#pragma once

#include "bench/record/record.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/timeline.h"

/* Most timed steps whose spans are kept, and most bytes for them per rank. The median is taken over
 * the first steps that fit. */
enum { TRACE_STEPS = 1000, TRACE_BYTES = 32 << 20 };

struct traced_step {
    uint32_t epoch, step;
};

struct trace {
    struct timeline *timeline;
    char (*names)[NET_OP_LAYERS]; /* [ops] layers of each op */
    struct traced_step *steps;    /* [TRACE_STEPS] */
    double *slowest_ns; /* [TRACE_STEPS] time of each step, at the end of its slowest rank */
    size_t taken;       /* timed steps so far, kept or not */
};

/* Gives trainer and waiter a timeline. trace_close removes it. */
enum status trace_open(struct trace *trace, struct trainer *t, struct error *e);
void trace_close(struct trace *trace, struct trainer *t);

/* Keeps the timed step that has just ended. */
void trace_keep(struct trace *trace, const struct step_record *taken);

/* Adds the spans of the median step to the record. Collective; call it outside of timed steps. */
enum status trace_write(struct trace *trace, const struct job *job, struct recorder *recorder,
                        struct error *e);
