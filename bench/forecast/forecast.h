/* Forecast of a campaign's time, before it runs: from earlier launches of each point, else from
 * steps of the same network and batch in other campaigns, converted to this machine and the
 * point's link. Without these it is rough, from FLOPs and bytes of the network. Timed launches
 * after the first of each point count as far as measure.budget has room. */
#pragma once

#include <stdio.h>

#include "bench/place/hardware.h"
#include "bench/runner/campaign.h"

enum forecast_basis {
#define FORECAST_BASIS(name, words) BASIS_##name,
#include "bench/forecast/bases.def"
    FORECAST_BASES
};

enum { FORECAST_FROM = 64 };

struct forecast_launch {
    double seconds; /* time from exec to exit; NAN: unknown */
    enum forecast_basis basis;
    char from[FORECAST_FROM]; /* BASIS_elsewhere: name of the campaign; else "" */
};

struct forecast_point {
    bool runs; /* not skipped, and not sharing the launches of an earlier point */
    /* By enum launch_run: required launches, launches already done, and one launch's time. */
    size_t least[2], done[2];
    size_t most; /* timed launches if the precision needs them */
    struct forecast_launch launch[2];
    double least_s, most_s; /* time of all launches; 0: none required, NAN: unknown */
    double left_s;          /* part of least_s that is not done */
    double cut_s;           /* time of required launches that the budget has no room for */
    bool forecasts_memory;
    struct sync_memory memory; /* memory of a rank, if forecasts_memory */
};

struct forecast {
    const struct campaign *c;              /* borrowed */
    struct forecast_point *points;         /* [c->spec.n_points] */
    double least_s, most_s, left_s, cut_s; /* sums over points with a known time */
    size_t n[FORECAST_BASES];     /* number of points by the worst basis of their launches */
    char from[3 * FORECAST_FROM]; /* "efficiency, overlap": campaigns used by BASIS_elsewhere */
};

/* Makes a forecast. Call forecast_free afterwards, also after an error. */
enum status forecast_make(struct forecast *f, const struct campaign *c, struct error *e);
void forecast_free(struct forecast *f);

/* Prints "forecast: 2 min 3 s, at most 5 min 0 s, of which 40 s are left". Further lines:
 * required launches beyond the budget, a launch beyond measure.limit, number of points per
 * basis. */
void forecast_print(FILE *out, const struct forecast *f);

/* Writes one row per point (csv_plan.def). */
void forecast_write_csv(FILE *out, const struct forecast *f);

/* ---- Internal ---- */

/* Measured step of another campaign. */
struct known_step {
    char model[NET_NAME_MAX], workload[32], strategy[48], from[FORECAST_FROM];
    char site[32], link[LINK_BYTES];
    char machine[HARDWARE_CLASS_BYTES]; /* hardware_class; "": unknown */
    double ranks, nodes, cores;         /* cores: number that computed */
    double images;                      /* images of the step, all ranks */
    double flops;             /* FLOPs of these images, for the network as written; NAN: unknown */
    double step_s, compute_s; /* compute_s: without exposed communication */
    size_t computed;          /* index of its pair of network and workload in here_rates */
};

/* Rates of this machine for one network and workload. */
struct known_rates {
    double n, sum; /* number of steps, and sum of log(images per second and core) */
};

struct known_steps {
    struct known_step *all;
    size_t n;
    struct known_rates *here_rates;  /* rates of this machine, indexed by known_step.computed */
    char here[HARDWARE_CLASS_BYTES]; /* hardware class of this machine */
};

/* Reads the steps of the latest run of every campaign below `out`, and of results/reference here
 * or in `home`. Unreadable tables are skipped, and so are steps with injected sleep. `machine`
 * is this machine; oversubscribed ranks are assumed to have shared its cores. Call
 * known_steps_free afterwards, also after an error. */
enum status known_steps_read(struct known_steps *known, const char *out, const char *home,
                             const struct place_machine *machine, struct error *e);
void known_steps_free(struct known_steps *known);

/* Returns the step most like the point's, with equal network, workload and batch (per rank or in
 * all); NULL if there is none. */
const struct known_step *known_steps_find(const struct known_steps *known,
                                          const struct point *point);
/* Returns whether the step's messages are like the point's. */
bool known_step_communicates_as(const struct known_step *step, const struct point *point);
/* Returns how much faster this machine is than the step's machine, from networks that both have
 * computed; 1 if there are none. */
double known_steps_speed(const struct known_steps *known, const struct known_step *step);
/* Returns the FLOP/s of one core here for networks as written, in a step with `flops` FLOPs. It
 * uses the step with the nearest number, preferably of this machine. NAN: nothing is known. */
double known_steps_rate(const struct known_steps *known, const char *workload, double flops);
