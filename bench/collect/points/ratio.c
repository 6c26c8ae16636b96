/* Computes ratios between points: speed-up, overlap, ratio to the peer program, bytes sent. All but
 * the last are medians over pairs of launches in the same block. */
#include <math.h>
#include <stddef.h>

#include "bench/collect/summary.h"

static const struct interval unknown = {.lo = NAN, .mid = NAN, .hi = NAN};

/* Returns `ratio`, a median over n pairs of launches of two points. Returns `unknown` if a point
 * diverged. Also returns `unknown` if a point lost launches and fewer than 2 pairs are left, since
 * one pair gives no interval. */
static struct interval judged(struct interval ratio, size_t n, const struct point_summary *p,
                              const struct point_summary *reference)
{
    bool diverged = p->outcome == POINT_diverged || reference->outcome == POINT_diverged;
    if (diverged || (n < 2 && p->lost_launches + reference->lost_launches > 0))
        return unknown;
    return ratio;
}

/* Returns the serial fraction of Karp and Flatt ("Measuring parallel processor performance", 1990).
 * r: cores of the point / cores of the base point. NAN if r is NAN (weak scaling) or r <= 1. */
static double karp_flatt(double speedup, double r)
{
    return r > 1 ? (1 / speedup - 1 / r) / (1 - 1 / r) : NAN;
}

/* Sets efficiency and Karp-Flatt fraction from the speed-up. r: cores of the point / cores of the
 * base point; strong_r: r for strong scaling, else NAN. */
static void set_claims_of_cores(struct point_scaling *c, double strong_r, double r)
{
    const struct interval *s = &c->speedup;
    c->efficiency = (struct interval){.lo = s->lo / r, .mid = s->mid / r, .hi = s->hi / r};
    c->karp_flatt = (struct interval){.lo = karp_flatt(s->hi, strong_r),
                                      .mid = karp_flatt(s->mid, strong_r),
                                      .hi = karp_flatt(s->lo, strong_r)};
}

static void set_speedup(struct point_summary *p, const struct summary *s,
                        const struct samples *time, const struct samples *base)
{
    const struct point_summary *reference = &s->points[p->base];
    bool strong = config_int(&s->spec->config, OPT_SCALING) == SCALING_strong;
    double r = (double)p->cores / reference->cores;
    struct point_scaling *c = &p->scaling;
    c->speedup = timing_ratio(&time->timings, &base->timings, &c->pairs);
    c->speedup = judged(c->speedup, c->pairs, p, reference);
    if (p == reference && isfinite(c->speedup.mid))
        c->speedup = (struct interval){.lo = NAN, .mid = 1, .hi = NAN};
    set_claims_of_cores(c, strong ? r : NAN, r);
}

/* If the point or its base is oversubscribed, removes efficiency, serial fraction and the interval
 * of the speed-up: times on shared cores do not show how the point would scale on more cores. If
 * the point itself is oversubscribed, also removes the interval of images_per_s. */
static void withhold_claims(struct point_summary *p, const struct summary *s)
{
    const struct point_summary *base = &s->points[p->base];
    bool own = point_is_oversubscribed(p->point, s->usable_cores) == 1;
    if (own)
        p->rates.images_per_s.lo = p->rates.images_per_s.hi = NAN;
    if (!own && point_is_oversubscribed(base->point, s->usable_cores) != 1)
        return;
    p->scaling.speedup.lo = p->scaling.speedup.hi = NAN;
    p->scaling.efficiency = p->scaling.karp_flatt = unknown;
}

/* Returns the median of the bytes that the point sends, divided by the base point's median; NAN if
 * the base point sends nothing. */
static double bytes_ratio(const struct samples *time, const struct samples *base)
{
    double own = samples_median(time, offsetof(struct launch_result, bytes_wire));
    double reference = samples_median(base, offsetof(struct launch_result, bytes_wire));
    return reference > 0 ? own / reference : NAN;
}

/* Splits the ratio to the fastest peer into work_ratio and rate_ratio. A peer that does not report
 * its FLOPs is assumed to compute all FLOPs of the network. */
static void set_peer_factors(struct point_beside_peer *b, const struct samples *time,
                             const struct samples *peer)
{
    b->work_ratio = b->rate_ratio = NAN;
    if (time->n == 0 || peer->n == 0 || !isfinite(b->ratio.mid))
        return;
    const struct launch_result *own = time->items[0].result, *other = peer->items[0].result;
    double theirs = isfinite(other->flops_done_per_image) ? other->flops_done_per_image
                                                          : other->flops_per_image;
    b->work_ratio = theirs / own->flops_done_per_image;
    b->rate_ratio = b->ratio.mid / b->work_ratio;
}

/* Returns whether the intervals of step time, speed-up, overlap share and ratio to each peer are as
 * narrow as measure.time.precision requires. Ignores unknown speed-ups, overlap shares and ratios,
 * and the speed-up of a point that is its own base. */
static bool all_are_precise(const struct point_summary *p, const struct summary *s)
{
    double asked_pct = config_number(&s->spec->config, OPT_TIME_PRECISION);
    const struct {
        const struct interval *interval;
        bool is_share, is_reported;
    } all[] = {
        {&p->step_ms, false, true},
        {&p->scaling.speedup, false, &s->points[p->base] != p && isfinite(p->scaling.speedup.mid)},
        {&p->overlap.share, true, isfinite(p->overlap.share.mid)},
    };
    for (size_t w = 0; w < WORKLOADS; w++)
        if (isfinite(p->beside[w].ratio.mid) &&
            !(timing_half_width_pct(&p->beside[w].ratio, false) <= asked_pct))
            return false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_reported &&
            !(timing_half_width_pct(all[i].interval, all[i].is_share) <= asked_pct))
            return false;
    return true;
}

/* Sets the share of communication time hidden behind compute. If the ranks hold only one replica of
 * the network, no gradients are synchronised and the share is undefined. */
static void set_overlap(struct point_summary *p, const struct summary *s,
                        const struct samples *time, const struct samples *alone)
{
    const struct config *c = &p->point->config;
    struct timings own = time->timings;
    if (config_replicas(c, config_int(c, OPT_RANKS)) == 1)
        own.n = 0;
    p->overlap.share = timing_overlap(&own, &alone->timings, &p->overlap.pairs);
    p->overlap.share = judged(p->overlap.share, p->overlap.pairs, p, &s->points[p->alone]);
}

/* Sets the ratio of throughputs (images per second), point / peer, for each peer. p->peer becomes
 * the fastest peer, which has the smallest ratio. */
static void set_peers(struct point_summary *p, const struct summary *s,
                      const struct point_samples *all)
{
    const size_t own = (size_t)(p - s->points);
    double least = INFINITY;
    for (size_t w = 0; w < WORKLOADS; w++) {
        size_t peer = p->point->peers[w];
        p->beside[w] = (struct point_beside_peer){unknown, 0, NAN, NAN};
        if (peer == own)
            continue;
        struct point_beside_peer *b = &p->beside[w];
        b->ratio = timing_ratio(&all[own].time.timings, &all[peer].time.timings, &b->pairs);
        b->ratio = judged(b->ratio, b->pairs, p, &s->points[peer]);
        p->peer = b->ratio.mid < least ? peer : p->peer;
        least = fmin(least, b->ratio.mid);
    }
    p->beside_peer = p->beside[config_int(&s->points[p->peer].point->config, OPT_WORKLOAD)];
    set_peer_factors(&p->beside_peer, &all[own].time, &all[p->peer].time);
}

void ratios_set(struct point_summary *p, const struct summary *s, const struct point_samples *all)
{
    static const struct samples none = {.n = 0};
    const size_t own = (size_t)(p - s->points);
    const struct samples *time = &all[own].time, *base = &all[p->base].time;
    const struct samples *alone = p->alone != own ? &all[p->alone].time : &none;
    set_speedup(p, s, time, base);
    p->scaling.bytes_ratio = bytes_ratio(time, base);
    set_overlap(p, s, time, alone);
    set_peers(p, s, all);
    p->precision_met = all_are_precise(p, s);
    withhold_claims(p, s);
}

bool ratios_lack_launches(const struct point_summary *p, const struct summary *s)
{
    bool lacks = s->points[p->base].lost_launches > 0 && &s->points[p->base] != p;
    lacks = lacks || (s->points[p->alone].lost_launches > 0 && &s->points[p->alone] != p);
    for (size_t w = 0; w < WORKLOADS; w++) {
        const struct point_summary *peer = &s->points[p->point->peers[w]];
        lacks = lacks || (peer->lost_launches > 0 && peer != p);
    }
    return lacks && p->launches > 0;
}
