/* Timeline of a timed run (measure.timeline). Spans (phases with begin and end) are kept in memory.
 * After the last step, the spans of the step with the median time are written to the record. All
 * ranks choose the same step. */
#pragma once

#include "bench/record/record.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/timeline.h"

/* Limits of the kept spans: number of timed steps, and bytes per rank. The step with the median
 * time is chosen among the first steps that fit both limits. */
enum { TRACE_STEPS = 1000, TRACE_BYTES = 32 << 20 };

struct traced_step {
    uint32_t epoch, step;
};

struct trace {
    struct timeline *timeline;
    char (*names)[NET_OP_LAYERS]; /* [ops] names of each op's layers */
    struct traced_step *steps;    /* [TRACE_STEPS] epoch and number of each kept step */
    /* [TRACE_STEPS] time (ns) of each kept step on this rank; trace_write replaces the time by the
     * maximum over ranks */
    double *slowest_ns;
    size_t taken; /* number of timed steps so far, kept or not */
};

/* Makes the trainer and its waiter record spans until trace_close. */
enum status trace_open(struct trace *trace, struct trainer *t, struct error *e);
void trace_close(struct trace *trace, struct trainer *t);

/* Keeps the spans of the timed step that has just ended, unless TRACE_STEPS or TRACE_BYTES is
 * reached. */
void trace_keep(struct trace *trace, const struct step_record *taken);

/* Adds this rank's spans of one step to the record: the kept step with the median time. A step's
 * time is its maximum over ranks, so all ranks choose the same step. Collective; call it outside of
 * timed steps. */
enum status trace_write(struct trace *trace, const struct job *job, struct recorder *recorder,
                        struct error *e);
