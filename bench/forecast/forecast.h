/* What a campaign is expected to take before it is run: each launch by earlier ones of its point; where there are none,
 * by steps of the same network and batch in other campaigns, brought to the speed of this machine and to the point's own
 * network; else roughly, by what the network computes and moves.
 * Timed launches behind the first of each point count as far as measure.budget has room for them, as they run. */
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
    double seconds; /* exec to exit; NAN where nothing is known */
    enum forecast_basis basis;
    char from[FORECAST_FROM]; /* BASIS_elsewhere: the campaign; else "" */
};

struct forecast_point {
    bool runs; /* neither skipped nor with the launches of a point before it */
    /* By enum launch_run: launches asked for in any case, those of them that are there, and what one takes. */
    size_t least[2], done[2];
    size_t most; /* timed launches, where precision takes them */
    struct forecast_launch launch[2];
    double least_s,
        most_s;    /* all launches; 0 where none is asked for, NAN where nothing is known */
    double left_s; /* of least_s */
    double cut_s;  /* launches behind the first, of `least`, that the budget has no room for */
    bool tells_memory;
    struct sync_memory memory; /* of a rank, where it can be told */
};

struct forecast {
    const struct campaign *c;              /* borrowed */
    struct forecast_point *points;         /* [c->spec.n_points] */
    double least_s, most_s, left_s, cut_s; /* of the points of which something is known */
    size_t n[FORECAST_BASES];              /* points, by the worse of what their launches rest on */
    char from[3 * FORECAST_FROM];          /* "efficiency, overlap": campaigns that some rest on */
};

/* Freed with forecast_free in any case. */
enum status forecast_make(struct forecast *f, const struct campaign *c, struct error *e);
void forecast_free(struct forecast *f);

/* "forecast: 2 min 3 s, at most 5 min 0 s, of which 40 s are left", what of the launches asked for the budget has no room
 * for, a launch that measure.limit would end, and how many points it rests on what. */
void forecast_print(FILE *out, const struct forecast *f);

/* A row a point, as csv_plan.def says. */
void forecast_write_csv(FILE *out, const struct forecast *f);

/* ---- Inside ---- */

/* A step that was measured somewhere. */
struct known_step {
    char model[NET_NAME_MAX], workload[32], strategy[48], from[FORECAST_FROM];
    char site[32], link[LINK_BYTES];
    char machine[HARDWARE_CLASS_BYTES]; /* as hardware_class tells it; "": not known */
    double ranks, nodes, cores;         /* cores: those that computed */
    double images;                      /* of the step, all ranks */
    double flops;                       /* of them, as the net is written; NAN: not known */
    double step_s, compute_s; /* compute_s: without the time that ranks were seen to communicate */
    size_t computed;          /* network and workload, as struct known_steps counts them */
};

/* What this machine has computed of one network as one workload does. */
struct known_rates {
    double n, sum; /* of steps: logarithms of images a second of one core */
};

struct known_steps {
    struct known_step *all;
    size_t n;
    struct known_rates *here_rates;  /* by known_step.computed */
    char here[HARDWARE_CLASS_BYTES]; /* this machine */
};

/* Those of the latest run of every campaign below `out`, and of results/reference, here or in `home`. Tables that
 * cannot be read tell nothing, nor do steps in which ranks slept as inject.kind says. `machine`: this one, whose cores
 * ranks that were more than them are taken to have shared. Freed with known_steps_free in any case. */
enum status known_steps_read(struct known_steps *known, const char *out, const char *home,
                             const struct place_machine *machine, struct error *e);
void known_steps_free(struct known_steps *known);

/* The one most like a step of the point, of the same network, workload and batch, by rank or in all; NULL: none. */
const struct known_step *known_steps_find(const struct known_steps *known,
                                          const struct point *point);
/* Whether its messages went as the point's will. */
bool known_step_communicates_as(const struct known_step *step, const struct point *point);
/* How many times as fast this machine is as that of the step, by the networks that both have computed; 1 where there
 * is none. */
double known_steps_speed(const struct known_steps *known, const struct known_step *step);
/* FLOP/s of one core here, as nets are written, in a step of the workload of so many; of the step that comes nearest, of
 * this machine where it has computed one. NAN: nothing is known. */
double known_steps_rate(const struct known_steps *known, const char *workload, double flops);
