/* Simulates the steps of one launch on all ranks. comm/cost/sweep.h gives the times of messages. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/forecast/step_times.h"
#include "bench/replay/inject.h"
#include "comm/cost/sweep.h"

/* Exposed communication (not hidden behind compute), all communication and injected sleep, summed
 * over ranks and timed periods (s). */
struct simulation_sums {
    double exposed, total, slept;
};

/* Injected sleeps (s) of a rank in one period of steps. `early` delays the rank's gradients, `late`
 * delays the start of its wait, `last` delays the end of its step. */
struct simulation_sleeps {
    double early, late, last;
};

struct simulation {
    const struct point *point;
    const struct config *config;
    int ranks;
    uint64_t seed;
    const struct step_parts *parts; /* mean times of the parts of a step, or NULL; borrowed */
    struct step_times times;
    struct sweep_machine machine;
    struct program_list program;
    uint64_t period; /* number of steps in a period; `program` covers one period */
    struct clock_sweep sweep;
    /* [program.n + 1] times at which a computing rank calls MPI (struct clock_sweep): at the start
     * of each communication operation of `program`, and at the end of compute. Messages advance
     * only at these calls. NULL: messages advance at any time */
    double *calls_s;
    bool overlaps;                    /* whether messages advance while a rank computes */
    struct inject *injects;           /* [ranks] injected sleeps */
    struct simulation_sleeps *sleeps; /* [ranks] durations of injected sleeps in this period (s) */
    double *starts_s;                 /* [ranks] start of this period */
    double *begins_s, *paces;         /* [ranks] start of this period's last step; mean step time in
                                         this period as a multiple of the typical step's time */
    double *spent_s;                  /* [ranks] total time of the timed periods */
    double *waits_s;                  /* [ranks] total wait for the last rank in timed periods, each
                                         of `period` steps */
    double *periods_s;                /* [periods] time of each timed period, maximum over ranks */
    int periods;                      /* number of timed periods */
    struct simulation_sums sums;
    struct launch_result *result;
};

/* Opens a simulation of points[point]. Before the call, set s->seed and, if used, s->parts; all
 * other fields must be 0. `run`: folder of the run; `calibration`: folder of the launch that
 * measured the times of ops, or NULL. s->times, s->machine and s->injects may be changed before
 * simulation_run. Call simulation_close in any case. */
enum status simulation_open(struct simulation *s, const struct spec *spec, size_t point,
                            const char *run, const char *calibration, struct error *e);
/* Simulates the warm-up and the timed steps, and sets s->result. Call once per simulation. */
enum status simulation_run(struct simulation *s, struct error *e);
void simulation_close(struct simulation *s);
