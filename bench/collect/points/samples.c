#include <math.h>
#include <stdlib.h>

#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

enum status samples_take(struct samples *samples, const struct summary *s,
                         const struct point_summary *p, enum launch_run run, struct error *e)
{
    *samples = (struct samples){.n = 0};
    TRY(MEM_NEW(samples->items, p->n_launches, "the launches of a point", e));
    TRY(MEM_NEW(samples->values, p->n_launches, "the launches of a point", e));
    struct timing *timings;
    TRY(MEM_NEW(timings, p->n_launches, "the launches of a point", e));
    samples->timings = (struct timings){.items = timings,
                                        .values = samples->values,
                                        .added = config_adds_launches(&s->spec->config)};
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &s->journal->launches[i];
        const struct launch_result *result = &s->launches[i].result;
        if (launch->run != run)
            continue;
        samples->diverged += s->launches[i].diverged;
        if (!s->launches[i].ok)
            continue;
        timings[samples->n] = (struct timing){launch->block, result->step_ms,
                                              point_work(s->spec, p->point, result->global_batch),
                                              result->comm_replay_ms};
        samples->items[samples->n++] = (struct sample){launch, result};
    }
    samples->timings.n = samples->n;
    return OK;
}

void samples_free(struct samples *samples)
{
    free(samples->items);
    free(samples->values);
    free((void *)samples->timings.items);
}

double sample_number(const struct sample *sample, size_t offset)
{
    return *(const double *)((const char *)sample->result + offset);
}

size_t samples_known(const struct samples *samples, size_t offset)
{
    size_t n = 0;
    for (size_t i = 0; i < samples->n; i++) {
        double value = sample_number(&samples->items[i], offset);
        if (!isnan(value))
            samples->values[n++] = value;
    }
    return n;
}

double samples_median(const struct samples *samples, size_t offset)
{
    return stats_median(samples->values, samples_known(samples, offset));
}
