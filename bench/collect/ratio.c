/* Ratios of points: speed-ups, shares of overlap, ratios to peers, each paired by block; and of bytes, which are
 * counted. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/collect/summary.h"

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

/* What is said of cores: r of the base's. */
static void set_claims_of_cores(struct point_summary *p, double strong_r, double r)
{
    p->efficiency = p->speedup.mid / r;
    p->efficiency_lo = p->speedup.lo / r;
    p->efficiency_hi = p->speedup.hi / r;
    p->karp_flatt = karp_flatt(p->speedup.mid, strong_r);
    p->karp_flatt_lo = karp_flatt(p->speedup.hi, strong_r);
    p->karp_flatt_hi = karp_flatt(p->speedup.lo, strong_r);
}

static void set_speedup(struct point_summary *p, const struct summary *s,
                        const struct samples *time, const struct samples *base)
{
    const struct point_summary *reference = &s->points[p->base];
    bool strong = config_int(&s->spec->config, OPT_SCALING) == SCALING_strong;
    double r = (double)p->cores / reference->cores;
    p->speedup = timing_ratio(&time->timings, &base->timings, &p->pairs);
    p->speedup = judged(p->speedup, p->pairs, p, reference);
    if (p == reference && isfinite(p->speedup.mid))
        p->speedup = (struct interval){.lo = NAN, .mid = 1, .hi = NAN};
    set_claims_of_cores(p, strong ? r : NAN, r);
}

/* Ranks that share cores, or whose base's do, tell nothing of what more cores would give: how long it
 * took is known as well as elsewhere, how it scales is not. */
static void withhold_claims(struct point_summary *p, const struct summary *s)
{
    const struct point_summary *base = &s->points[p->base];
    bool own = point_is_oversubscribed(p->point, s->usable_cores) == 1;
    if (own)
        p->images_per_s_lo = p->images_per_s_hi = NAN;
    if (!own && point_is_oversubscribed(base->point, s->usable_cores) != 1)
        return;
    p->speedup.lo = p->speedup.hi = NAN;
    p->efficiency = p->efficiency_lo = p->efficiency_hi = NAN;
    p->karp_flatt = p->karp_flatt_lo = p->karp_flatt_hi = NAN;
}

/* Launches of a point send the same but for what the clock decides: medians make the ratio. */
static void set_bytes_ratio(struct point_summary *p, const struct samples *time,
                            const struct samples *base)
{
    double own = samples_median(time, offsetof(struct launch_result, bytes_wire));
    double reference = samples_median(base, offsetof(struct launch_result, bytes_wire));
    p->bytes_ratio = reference > 0 ? own / reference : NAN;
}

/* How much less is computed than the peer does, and how much faster the rest. The peer does the net as
 * written where it does not tell. */
static void set_peer_factors(struct point_summary *p, const struct samples *time,
                             const struct samples *peer)
{
    p->peer_work_ratio = p->peer_rate_ratio = NAN;
    if (time->n == 0 || peer->n == 0 || !isfinite(p->peer_ratio.mid))
        return;
    const struct launch_result *own = time->items[0].result, *other = peer->items[0].result;
    double theirs = isfinite(other->flops_done_per_image) ? other->flops_done_per_image
                                                          : other->flops_per_image;
    p->peer_work_ratio = theirs / own->flops_done_per_image;
    p->peer_rate_ratio = p->peer_ratio.mid / p->peer_work_ratio;
}

/* Whether everything that is reported with an interval is as narrow as the spec asks; what is not
 * compared has no interval. */
static bool all_are_precise(const struct point_summary *p, const struct summary *s)
{
    double asked_pct = config_number(&s->spec->config, OPT_TIME_PRECISION);
    const struct {
        const struct interval *interval;
        bool is_share, is_reported;
    } all[] = {{&p->step_ms, false, true},
               {&p->speedup, false, &s->points[p->base] != p && isfinite(p->speedup.mid)},
               {&p->overlap_share, true, isfinite(p->overlap_share.mid)},
               {&p->peer_ratio, false, isfinite(p->peer_ratio.mid)}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_reported &&
            !(timing_half_width_pct(all[i].interval, all[i].is_share) <= asked_pct))
            return false;
    return true;
}

/* A rank that has each batch to itself sends no gradients: no share of its step is communication. */
static void set_overlap(struct point_summary *p, const struct summary *s,
                        const struct samples *time, const struct samples *alone)
{
    const struct config *c = &p->point->config;
    struct timings own = time->timings;
    if (config_replicas(c, config_int(c, OPT_RANKS)) == 1)
        own.n = 0;
    p->overlap_share = timing_overlap(&own, &alone->timings, &p->overlap_pairs);
    p->overlap_share = judged(p->overlap_share, p->overlap_pairs, p, &s->points[p->alone]);
}

void ratios_set(struct point_summary *p, const struct summary *s, const struct samples *time,
                const struct samples *base, const struct samples *alone, const struct samples *peer)
{
    set_speedup(p, s, time, base);
    set_bytes_ratio(p, time, base);
    set_overlap(p, s, time, alone);
    p->peer_ratio = timing_ratio(&time->timings, &peer->timings, &p->peer_pairs);
    p->peer_ratio = judged(p->peer_ratio, p->peer_pairs, p, &s->points[p->peer]);
    set_peer_factors(p, time, peer);
    p->precision_met = all_are_precise(p, s);
    withhold_claims(p, s);
}

void ratios_flag(struct point_summary *p, const struct summary *s)
{
    const size_t references[] = {p->base, p->alone, p->peer};
    bool incomplete = false;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        incomplete |= &s->points[references[i]] != p && s->points[references[i]].lost_launches > 0;
    if (incomplete && p->launches > 0)
        point_add_flag(p, FLAG_base_incomplete);
}
