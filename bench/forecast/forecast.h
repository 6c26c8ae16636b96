/* Forecasts the time of a campaign before it runs. A point's time comes from the first of these
 * that exists: its earlier launches; steps of the same network in other campaigns, scaled to this
 * machine; FLOPs and bytes of the network. Without earlier launches, a simulated point's time is
 * estimated from its ranks and steps, and a user's program has no forecast. Timed launches after a
 * point's first one are included only as far as they fit measure.budget. */
#pragma once

#include <stdio.h>

#include "bench/place/hardware.h"
#include "bench/runner/campaign.h"
#include "comm/cost/sweep.h"

enum forecast_basis {
#define FORECAST_BASIS(name, words) BASIS_##name,
#include "bench/forecast/bases.def"
    FORECAST_BASES
};

enum { FORECAST_FROM = 64 };

struct forecast_launch {
    double seconds; /* time of a launch from exec to exit; NAN: unknown */
    enum forecast_basis basis;
    /* name of the other campaign if basis is BASIS_elsewhere; otherwise "" */
    char from[FORECAST_FROM];
};

struct forecast_point {
    bool runs; /* whether the point has launches of its own; false if it is skipped or shares an
                  earlier point's launches */
    /* numbers of required launches (`least`) and finished launches, by enum launch_run */
    size_t least[2], done[2];
    size_t most; /* limit of timed launches, reached only if measure.time.precision requires it */
    struct forecast_launch launch[2];
    /* forecast time (s) of the point's finished launches and of the pending launches that the
     * budget allows. least_s: for the required number of timed launches; most_s: for the largest
     * number (`most`). 0: the point requires no launch; NAN: unknown */
    double least_s, most_s;
    double left_s; /* part of least_s for launches that are still pending */
    double cut_s;  /* time of the required launches that do not fit the budget */
    bool forecasts_memory;
    struct sync_memory memory; /* forecast bytes of parameters, gradients, optimizer state and
                                  ZeRO's buffers on rank 0; set only if
                                  forecasts_memory is true */
};

struct forecast {
    const struct campaign *c;      /* campaign to forecast; borrowed */
    struct forecast_point *points; /* [c->spec.n_points] one per point */
    /* sums of the points' least_s, most_s, left_s and cut_s, without unknown times */
    double least_s, most_s, left_s, cut_s;
    /* number of points per basis. A point's basis is the least reliable basis among its required
     * launches */
    size_t n[FORECAST_BASES];
    /* names of the other campaigns that were used, such as "efficiency, overlap" */
    char from[3 * FORECAST_FROM];
};

/* Forecasts the campaign `c`. Call forecast_free afterwards, also after an error. */
enum status forecast_make(struct forecast *f, const struct campaign *c, struct error *e);
void forecast_free(struct forecast *f);

/* Prints a line such as "forecast: 2 min 3 s, at most 5 min 0 s, of which 40 s are left". Then
 * prints warnings about measure.budget and measure.limit, and how many points are forecast on each
 * basis (bases.def). */
void forecast_print(FILE *out, const struct forecast *f);

/* Writes one row per point (csv_plan.def). */
void forecast_write_csv(FILE *out, const struct forecast *f);

/* Assumed speed of a core of a current server processor (FLOP/s). */
#define FORECAST_FLOP_PER_S 40e9
/* Assumed coefficients of messages within a host. */
extern const struct link_model forecast_memory;
/* Returns the model of a point's hosts and links. Links between emulated or simulated hosts have
 * the rate and the delay of the spec. If a simulated point sets site.link, the coefficients of that
 * link take precedence. Other coefficients are assumed. */
struct sweep_machine forecast_machine(const struct config *c);
/* Returns the model of a simulated point's hosts and links. `memory`: coefficients within a host;
 * alpha also applies between hosts. Rate and delay between hosts come from the spec. If site.link
 * is set, coefficients of that link take precedence. */
struct sweep_machine forecast_simulated(const struct config *c, const struct link_model *memory);

/* Models the link between hosts as ci/netns.sh emulates it: with packet headers, a token bucket and
 * a send buffer. */
void forecast_emulate(struct sweep_machine *machine, const struct config *c);

/* ---- Internal ---- */

/* A measured step time of another campaign, and the properties on which it depends. */
struct known_step {
    char model[NET_NAME_MAX], workload[32], strategy[48], from[FORECAST_FROM];
    char site[32], link[LINK_BYTES];
    char machine[HARDWARE_CLASS_BYTES]; /* hardware class (hardware.h); "": unknown */
    double ranks, nodes, cores;         /* numbers of ranks, of nodes, and of cores that computed */
    double images;                      /* images of a step over all ranks */
    double flops; /* FLOPs of a step over all ranks, by the network's definition; NAN: unknown */
    /* step_s: total time of a step (s); compute_s: time of a step without exposed communication
     * (s) */
    double step_s, compute_s;
    size_t computed; /* index of the step's network and workload in here_rates */
};

/* Measured rates of this machine for one pair of network and workload. */
struct known_rates {
    double n, sum; /* `n`: number of steps; `sum`: sum of log(images per second and core) over these
                      steps */
};

struct known_steps {
    struct known_step *all;
    size_t n;
    /* rates of this machine per pair of network and workload, indexed by known_step.computed */
    struct known_rates *here_rates;
    char here[HARDWARE_CLASS_BYTES]; /* hardware class of this machine */
};

/* Reads step times of other campaigns: from the latest run of every campaign below `out`, and from
 * the runs in results/reference. This folder is searched for below the working directory, then
 * below `home`. Skips unreadable tables, and steps with replayed compute or injected sleep.
 * `machine`: this machine. Oversubscribed ranks are assumed to share as many cores as this machine
 * has, but at most one core per thread. Call known_steps_free afterwards, also after an error. */
enum status known_steps_read(struct known_steps *known, const char *out, const char *home,
                             const struct place_machine *machine, struct error *e);
void known_steps_free(struct known_steps *known);

/* Returns the known step that is most similar to a step of the point; NULL: none. Network and
 * workload must be equal, and so must the batch per rank or the total batch. */
const struct known_step *known_steps_find(const struct known_steps *known,
                                          const struct point *point);
/* Returns whether the communication time of a known step applies to the point: same site, nodes and
 * link, same strategy if there are several nodes, and an unsplit network. */
bool known_step_communicates_as(const struct known_step *step, const struct point *point);
/* Returns how fast a core of this machine is relative to a core of the step's machine, from steps
 * of both machines with equal network and workload. Returns 1 if both machines have the same
 * hardware class, or if there are no such steps. */
double known_steps_speed(const struct known_steps *known, const struct known_step *step);
/* Returns the speed of one core of this machine (FLOP/s), from the known step of `workload` whose
 * number of FLOPs is nearest to `flops`. Prefers steps of this machine, and multiplies the speed of
 * another machine by known_steps_speed. NAN: no step of `workload` has a known number of FLOPs. */
double known_steps_rate(const struct known_steps *known, const char *workload, double flops);
