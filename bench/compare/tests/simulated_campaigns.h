/* Campaigns simulated by the model of floor.h, judged as `scalebench compare` does; for
 * test_judge.c and speed_compare.c. Each campaign shifts a point by a deviation `between`; the
 * share `shared` of its variance is common to all points. Launches scatter by `launch`. Each point
 * has 6 to 20 launches, added until an interval reaches 5 %, as a runner does by default. */
#pragma once

#include <math.h>
#include <stdlib.h>

#include "bench/collect/timing.h"
#include "bench/compare/floor.h"
#include "bench/compare/judge.h"
#include "kernels/base/rng.h"

enum { SIM_POINTS = 4, SIM_LAUNCHES = 20, SIM_CAMPAIGNS = 11 };

struct simulated {
    double launch, between, shared; /* standard deviations such as 0.02 and 0.01; share 0 to 1 */
    uint64_t seed;
    uint32_t drawn;
};

struct sim_campaign {
    double values[SIM_POINTS][SIM_LAUNCHES];
    size_t n[SIM_POINTS];
};

/* Returns a normal value by Box and Muller. */
static inline double sim_draw(struct simulated *s)
{
    double a = rng_unit(rng_word(s->seed, RNG_STREAM(RNG_SCHEDULE, 2), 0, s->drawn, 0));
    double b = rng_unit(rng_word(s->seed, RNG_STREAM(RNG_SCHEDULE, 2), 0, s->drawn++, 1));
    return sqrt(-2 * log1p(-a)) * cos(2 * M_PI * b);
}

static inline bool sim_is_precise(const double *values, size_t n)
{
    struct interval i = timing_interval(values, n, true);
    return timing_half_width_pct(&i, false) <= timing_asked_pct(5, n);
}

/* Draws a campaign of points of 10, 20, ... ms, times `slower`. */
static inline void sim_campaign(struct sim_campaign *c, struct simulated *s, double slower)
{
    double together = sqrt(s->shared) * sim_draw(s);
    for (size_t p = 0; p < SIM_POINTS; p++) {
        double change = s->between * (together + sqrt(1 - s->shared) * sim_draw(s));
        size_t n = 0;
        while (n < SIM_LAUNCHES && (n < 6 || n % 3 > 0 || !sim_is_precise(c->values[p], n)))
            c->values[p][n++] =
                slower * 10 * (double)(p + 1) * exp(change + s->launch * sim_draw(s));
        c->n[p] = n;
    }
}

static inline void sim_floor(struct noise_floor *floor, const struct compared *what,
                             const struct sim_campaign *c, size_t k)
{
    double logs[SIM_POINTS * SIM_CAMPAIGNS], variances[SIM_POINTS * SIM_CAMPAIGNS];
    floor_begin(floor, what->spread_pct);
    for (size_t p = 0; p < SIM_POINTS; p++)
        for (size_t r = 0; r < k; r++) {
            double own[SIM_LAUNCHES];
            for (size_t i = 0; i < c[r].n[p]; i++)
                own[i] = log(c[r].values[p][i]);
            struct location at = stats_trimmed(own, c[r].n[p]);
            logs[p * k + r] = at.mean;
            variances[p * k + r] = at.variance;
        }
    floor_add(floor, logs, variances, SIM_POINTS, k);
}

/* Number of points with each verdict. */
struct sim_verdicts {
    size_t n[VERDICT_UNDECIDED + 1], points;
};

static inline struct judge_sample sim_sample(struct judge_launches *launches,
                                             const struct sim_campaign *c, size_t k, size_t p)
{
    for (size_t r = 0; r < k; r++)
        launches[r] = (struct judge_launches){c[r].values[p], c[r].n[p], 0};
    return (struct judge_sample){launches, k, false, false};
}

/* Compares k campaigns with one campaign that is `slower` times as slow. */
static inline void sim_compare(struct sim_verdicts *verdicts, struct simulated *s,
                               const struct compared *what, size_t k, double slower)
{
    struct sim_campaign c[SIM_CAMPAIGNS], other;
    struct noise_floor floor;
    for (size_t r = 0; r < k; r++)
        sim_campaign(&c[r], s, 1);
    sim_campaign(&other, s, slower);
    sim_floor(&floor, what, c, k);
    const struct judge_rules rules = {.what = what,
                                      .margin = what->margin_pct / 100,
                                      .level = 1 - 0.05 / SIM_POINTS,
                                      .floor = &floor};
    for (size_t p = 0; p < SIM_POINTS; p++) {
        struct error e;
        struct judged judged;
        struct judge_launches left[SIM_CAMPAIGNS], right[1];
        struct judge_sample a = sim_sample(left, c, k, p), b = sim_sample(right, &other, 1, p);
        if (judge(&judged, &rules, &a, &b, &e) != OK)
            abort();
        verdicts->n[judged.verdict]++;
        verdicts->points++;
    }
}

static inline double sim_share(const struct sim_verdicts *v, enum verdict verdict)
{
    return (double)v->n[verdict] / (double)v->points;
}
