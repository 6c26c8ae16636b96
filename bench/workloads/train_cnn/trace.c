#include "bench/workloads/train_cnn/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/base/log.h"
#include "kernels/base/mem.h"

/* Names each op by its layers. If compute is replayed, the names come from the calibration. */
static enum status name_ops(struct trace *trace, struct trainer *t, struct error *e)
{
    int n = work_ops(t);
    TRY(MEM_NEW(trace->names, (size_t)n, "the names of a timeline", e));
    for (int op = 0; op < n; op++)
        if (t->replayed != NULL)
            snprintf(trace->names[op], NET_OP_LAYERS, "%s", t->replayed->calibration.ops[op].name);
        else
            net_op_layers(t->model.net, t->model.desc, op, trace->names[op]);
    return OK;
}

enum status trace_open(struct trace *trace, struct trainer *t, struct error *e)
{
    TRY(name_ops(trace, t, e));
    TRY(MEM_NEW(trace->steps, TRACE_STEPS, "the steps of a timeline", e));
    TRY(MEM_NEW(trace->slowest_ns, TRACE_STEPS, "the steps of a timeline", e));
    TRY(timeline_open(&trace->timeline, TRACE_STEPS, TRACE_BYTES, e));
    t->job.waiter->timeline = trace->timeline;
    t->op_names = (const char(*)[NET_OP_LAYERS])trace->names;
    return OK;
}

void trace_close(struct trace *trace, struct trainer *t)
{
    if (t->job.waiter != NULL)
        t->job.waiter->timeline = NULL;
    t->op_names = NULL;
    timeline_close(trace->timeline);
    free(trace->names);
    free(trace->steps);
    free(trace->slowest_ns);
    *trace = (struct trace){0};
}

void trace_keep(struct trace *trace, const struct step_record *taken)
{
    size_t i = timeline_steps(trace->timeline);
    trace->taken++;
    timeline_keep(trace->timeline);
    if (timeline_steps(trace->timeline) == i)
        return;
    trace->steps[i] = (struct traced_step){taken->line.epoch, taken->line.step};
    trace->slowest_ns[i] = (double)(taken->line.end_ns - taken->line.begin_ns);
}

/* Returns the index of the (lower) median of x [n], n > 0. */
static size_t find_median(const double *x, size_t n)
{
    size_t i = 0;
    for (;; i++) {
        size_t before = 0;
        for (size_t k = 0; k < n; k++)
            before += x[k] < x[i] || (x[k] == x[i] && k < i);
        if (before == (n - 1) / 2)
            return i;
    }
}

/* Sets *n to the lowest number of kept steps on any rank. A rank with more spans per step keeps
 * fewer steps, because memory is limited. */
static enum status count_steps(const struct trace *trace, const struct job *job, size_t *n,
                               struct error *e)
{
    double kept = (double)timeline_steps(trace->timeline);
    TRY(wait_allreduce(job->waiter, &kept, 1, MPI_DOUBLE, MPI_MIN, job->comm,
                       "the steps that ranks have kept", e));
    *n = (size_t)kept;
    if (job->rank == 0 && *n < trace->taken)
        log_print(LOG_NOTE,
                  "the timeline shows the median step of only the first %zu of %zu timed steps, "
                  "because each rank keeps at most %d steps and %d MiB",
                  *n, trace->taken, TRACE_STEPS, TRACE_BYTES >> 20);
    return OK;
}

/* Sets *chosen to the index of the step with the median time. All ranks choose the same step,
 * because the time of a step is its maximum over all ranks. */
static enum status choose_step(const struct trace *trace, const struct job *job, size_t n,
                               size_t *chosen, struct error *e)
{
    TRY(wait_allreduce(job->waiter, trace->slowest_ns, n, MPI_DOUBLE, MPI_MAX, job->comm,
                       "the slowest rank of each step", e));
    *chosen = find_median(trace->slowest_ns, n);
    return OK;
}

static json_t *line_of(const struct traced_step *step, const struct timeline_span *span)
{
    struct record_span line = {.epoch = step->epoch,
                               .step = step->step,
                               .begin_ns = span->begin_ns,
                               .end_ns = span->end_ns};
    snprintf(line.phase, sizeof line.phase, "%s", phase_names()[span->phase]);
    snprintf(line.name, sizeof line.name, "%.*s", (int)sizeof line.name - 1, span->name);
    return record_json(RECORD_span, &line);
}

enum status trace_write(struct trace *trace, const struct job *job, struct recorder *recorder,
                        struct error *e)
{
    size_t chosen, n;
    if (trace->timeline == NULL)
        return OK;
    TRY(count_steps(trace, job, &n, e));
    if (n == 0)
        return OK;
    TRY(choose_step(trace, job, n, &chosen, e));
    const struct timeline_span *spans = timeline_step(trace->timeline, chosen, &n);
    for (size_t i = 0; i < n; i++)
        TRY(recorder_add(recorder, line_of(&trace->steps[chosen], &spans[i]), e));
    if (timeline_lost(trace->timeline) > 0)
        log_print(
            LOG_WARNING,
            "rank %d: the buffer of the timeline was full, so %zu activities were not recorded",
            job->rank, timeline_lost(trace->timeline));
    return OK;
}
