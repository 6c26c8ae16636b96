/* Ratios of points: speed-ups, shares of overlap, ratios to peers, each paired by block. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"

static const struct sample *sample_of_block(const struct samples *samples, int block)
{
    for (size_t i = 0; i < samples->n; i++)
        if (samples->items[i].journal->block == block)
            return &samples->items[i];
    return NULL;
}

static double images_per_ms(const struct launch_result *result)
{
    return (double)result->global_batch / result->step_ms;
}

/* Launches of one block ran under like conditions: ratios are formed within blocks, and the median
 * and its interval are those of the blocks, *n of them. */
static struct interval rate_ratio(const struct samples *time, const struct samples *base, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < time->n; i++) {
        const struct sample *reference = sample_of_block(base, time->items[i].journal->block);
        if (reference != NULL)
            time->values[(*n)++] =
                images_per_ms(time->items[i].result) / images_per_ms(reference->result);
    }
    return samples_interval(time->values, *n);
}

/* What part of communication cost no time: (T_compute + T_comm - T_step) / T_comm, within blocks,
 * T_compute being the step of those that do not communicate, T_comm the replay of the launch. */
static struct interval overlap_share(const struct samples *time, const struct samples *alone,
                                     size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < time->n; i++) {
        const struct sample *compute = sample_of_block(alone, time->items[i].journal->block);
        const struct launch_result *own = time->items[i].result;
        if (compute != NULL && own->comm_replay_ms > 0)
            time->values[(*n)++] = (compute->result->step_ms + own->comm_replay_ms - own->step_ms) /
                                   own->comm_replay_ms;
    }
    return samples_interval(time->values, *n);
}

/* What diverged is compared with nothing. Where launches of either point failed, one pair that is
 * left must not stand for them all: without an interval nobody would see how little it rests on. */
static struct interval judged(struct interval ratio, size_t n, const struct point_summary *p,
                              const struct point_summary *reference)
{
    bool diverged = p->outcome == POINT_diverged || reference->outcome == POINT_diverged;
    if (diverged || (n < 2 && p->lost_launches + reference->lost_launches > 0))
        return (struct interval){.lo = NAN, .mid = NAN, .hi = NAN};
    return ratio;
}

/* Karp and Flatt, "Measuring parallel processor performance", 1990, over r = cores / base cores.
 * Defined where the problem stays the same. */
static double karp_flatt(double speedup, double r)
{
    return r > 1 ? (1 / speedup - 1 / r) / (1 - 1 / r) : NAN;
}

static void set_speedup(struct point_summary *p, const struct summary *s,
                        const struct samples *time, const struct samples *base)
{
    const struct point_summary *reference = &s->points[p->base];
    bool strong = config_int(&s->spec->config, OPT_SCALING) == SCALING_strong;
    double r = (double)p->cores / reference->cores;
    p->speedup = rate_ratio(time, base, &p->pairs);
    p->speedup = judged(p->speedup, p->pairs, p, reference);
    if (p == reference && isfinite(p->speedup.mid))
        p->speedup = (struct interval){.lo = NAN, .mid = 1, .hi = NAN};
    p->efficiency = p->speedup.mid / r;
    p->karp_flatt = strong ? karp_flatt(p->speedup.mid, r) : NAN;
}

void ratios_set(struct point_summary *p, const struct summary *s, const struct samples *time,
                const struct samples *base, const struct samples *alone, const struct samples *peer)
{
    const size_t references[] = {p->base, p->alone, p->peer};
    size_t n;
    set_speedup(p, s, time, base);
    p->overlap_share = overlap_share(time, alone, &n);
    p->overlap_share = judged(p->overlap_share, n, p, &s->points[p->alone]);
    p->peer_ratio = rate_ratio(time, peer, &n);
    p->peer_ratio = judged(p->peer_ratio, n, p, &s->points[p->peer]);
    bool incomplete = false;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        incomplete |= &s->points[references[i]] != p && s->points[references[i]].lost_launches > 0;
    if (incomplete && time->n > 0)
        point_add_flag(p, "base_incomplete");
}
