/* Turns a run's records into raw.csv (one row per launch), summary.csv (one row per point), the
 * other files of columns/files.def, and the table at the end of a campaign. The only input is the
 * run's folder: resolved spec, journal, records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/record/csv.h"
#include "bench/record/fields.h"
#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* largest number of ranks whose waiting times are stored per launch */
enum { RANK_WAITS = 64 };

/* Results of one launch: each metric of metrics.def, combined over ranks. Unknown numbers are NAN,
 * unknown truth values -1, unknown texts "". */
struct launch_result {
#define RESULT_TEXT(id, bytes) char id[bytes];
#define RESULT_INT(id, bytes)  double id;
#define RESULT_REAL(id, bytes) double id;
#define RESULT_BOOL(id, bytes) int id;
#define METRIC(id, type, unit, line, field, ...)                                                   \
    RESULT_##type(id, sizeof((struct record_##line *)0)->field)
#define RESULT(id, type, unit, launches, meaning) RESULT_##type(id, 1024)
#include "bench/record/metrics.def"
    double rank_waits[RANK_WAITS]; /* mean waiting time per step (ms) of ranks 0 to RANK_WAITS -
                                      1 */
    double earlier_s;  /* total time (s) of the interrupted launches that this elastic launch
                          resumed; 0: none */
    double all_steps;  /* number of steps, timed or not */
    char diverged[64]; /* why training diverged, such as "loss is nan", from the first rank that
                          detected it; "": training did not diverge */
    char first_difference[160]; /* first difference between ranks' weights, such as "step 17, rank
                                   1"; "": none found, or weights not compared */
};

/* Reads the records DIR/rank.*.jsonl of `ranks` ranks. Ignores an incomplete last line. Errors:
 * ERR_DATA if a rank's `end` line is missing, or ranks disagree on facts of the launch. */
enum status launch_read(const char *dir, int ranks, struct launch_result *result, struct error *e);

/* Reads a launch of an elastic point. If it has segments, reads the records of the last one, which
 * include earlier segments, and ignores `ranks`. Otherwise, reads the records of `ranks` ranks.
 * Errors as launch_read. */
enum status launch_take_elastic(const char *dir, int ranks, struct launch_result *result,
                                struct error *e);

/* Returns the wall time (s) of a launch, including the interrupted launches that it resumed. NAN:
 * the launch is running or was itself interrupted. */
double launch_wall_s(const struct journal_launch *launch, const struct launch_result *result);

/* Sets every metric of `result` to unknown: numbers to NAN, truth values to -1, texts to "". */
void launch_clear(struct launch_result *result);

/* Reads the results of a launch of `point` that ran for wall_s seconds. If a user's program writes
 * no records, the launch counts as one step. The step time is then wall_s, or the metric that
 * option workload.time names. Errors as launch_read; ERR_DATA also if a metric is missing in the
 * output, or if the step time is not above 0. */
enum status launch_take(const char *dir, const struct point *point, double wall_s,
                        struct launch_result *result, struct error *e);
/* Writes or reads the results of a simulated launch, DIR/simulated.json. Errors: ERR_SYSTEM if the
 * file cannot be written, ERR_DATA if it is missing or damaged. */
enum status launch_simulated_write(const char *dir, const struct launch_result *result,
                                   struct error *e);
enum status launch_simulated_read(const char *dir, struct launch_result *result, struct error *e);
/* Writes result->rank_waits (ms) as text to result->rank_wait_ms, one number per rank. Stops at the
 * first unknown number and after RANK_WAITS ranks. If there are more than RANK_WAITS ranks and any
 * number is written, the text ends with "...". */
void launch_list_waits(struct launch_result *result, int ranks);
/* Copies the facts about program, network, data and machine from `other` to `result`. Sets the
 * cores and pipeline stages of ranks, and the time to read data, to unknown. */
void launch_take_hello(struct launch_result *result, const struct launch_result *other);
/* Returns whether the launch has records of its ranks. For a user's program or a simulated launch,
 * which may have none, checks whether rank 0's record exists. For all other launches, returns true
 * without a check. */
bool launch_has_records(const char *dir, const struct point *point);

/* Reads the user's metrics from the launch's log into values [number of workload.metrics], in the
 * order of the spec. Errors: ERR_DATA if a metric is missing. */
enum status launch_metrics(const char *dir, const struct config *config, double *values,
                           struct error *e);

/* Returns the work of one step; work / step time is the speed of a point. The work is `images`, the
 * images per step. If `images` is NAN (a user's program without records), the work is the number of
 * ranks if scaling is weak or epoch, else 1. */
double point_work(const struct spec *spec, const struct point *point, double images);

/* CPUS_JOINED_BY separates the processor models in result->cpus. launch_is_mixed returns whether
 * the launch's nodes have different processor models. */
#define CPUS_JOINED_BY " + "
bool launch_is_mixed(const struct launch_result *result);

/* Returns whether the launch replayed compute times instead of computing: its ranks slept, or the
 * launch was simulated. */
bool launch_is_replayed(const struct launch_result *result);

/* Returns the gradient noise scale (images): variance / norm2. `variance`: variance of per-image
 * gradients; norm2: squared norm of the gradient over all images. NAN unless both are positive. */
double launch_noise_scale(double variance, double norm2);

/* Writes a text such as "loss is nan at step 17" for a launch that diverged. */
void launch_diverged_text(char *text, size_t size, const struct launch_result *result);

/* Status of a point, such as failed or skipped: the rows of point_status.def. */
enum point_status {
#define POINT_STATUS(id, fails, meaning) POINT_##id,
#include "bench/collect/point_status.def"
    POINT_STATUSES
};
const char *const *point_status_names(void);

/* Returns fact i of a launch as text. Facts are the fields flagged FIELD_IDENTITY, which must be
 * equal in all launches of a point. Sets *name to the fact's name in records. Returns "" if the
 * fact is not recorded, NULL if i is beyond the last fact. */
const char *launch_common(const struct launch_result *result, size_t i, const char **name);

/* A launch of the journal, with its results. `ok`: whether the launch is valid, that is, succeeded
 * with complete records, did not diverge and is not `unasked` (used by no result). `reason`: why
 * the launch is not valid; "" if it is `unasked`. `result`: complete only if `ok` or `diverged`. */
struct summary_launch {
    bool ok, diverged;
    bool replaced; /* whether the launch is not valid and was replaced: it was marked as retried, or
                      a later launch of the same block or seed is valid */
    bool unasked;  /* no result uses the launch: the spec lacks its point, or its peer program has
                      changed */
    char reason[512];
    struct launch_result result;
    /* index of the launch's point in the spec; if several points are equal, the first of them.
     * n_points or more if the spec lacks the point */
    size_t point;
    size_t next; /* index in the journal of the point's next launch that is not `unasked`;
                    n_launches or more: there is none. Not set if this launch is `unasked` */
};

/* Memory of one rank for parameters, gradients and optimizer state (MiB); `all`: sum of the
 * three. */
struct model_states {
    double params, grads, state, all;
};

/* Returns whether the memory of the point can be forecast: only for train_cnn without a
 * pipeline. */
bool point_forecasts_memory(const struct point *point);
/* Forecasts the peak memory of rank 0 in a step (bytes): parameters, gradients, optimizer state,
 * and ZeRO's message buffers. `width`: bytes per tensor element. Errors: ERR_MEMORY. */
enum status point_memory(struct sync_memory *m, const struct point *point, size_t width,
                         struct error *e);

/* Noise in a point's timed launches. */
struct point_noise {
    size_t disturbed, outliers; /* number of valid launches that were disturbed; number of valid
                                   launches that are outliers */
    size_t modes;               /* number of clusters among the launches' step times; 0: unknown */
    char disturbed_by[64];
    double trend_pct; /* change of the step time over the timed steps, from first to last (%),
                         median over launches */
    int trend;        /* sign of trend_pct if it is significant, else 0 */
};

/* The rank that most often arrived last at the gradient synchronisation. */
struct point_last {
    int rank;   /* number of the rank that most often arrived last; -1: unknown */
    double pct; /* share of timed steps in which this rank arrived last (%), median over the
                   launches with this rank as last_rank */
    double p;   /* upper bound of the probability that, among equally fast ranks, some rank is
                   last_rank in at least as many launches as `rank` */
};

/* Memory per rank (MiB). Measured values are maxima over ranks; forecast_mib is computed for rank
 * 0. */
struct point_memory {
    double most_mib, growth_mib;
    struct model_states forecast_mib, formula_mib; /* model states as forecast by scalebench, and by
                                                      DeepSpeed's formulas */
    double states_mib, error_pct;                  /* measured model states (parameters, gradients
                                                      and optimizer state), and their difference
                                                      from forecast_mib.all (%) */
};

/* Medians over accuracy runs with different seeds: test accuracy, gradient noise scale, and the
 * time, epochs and images needed to reach the target accuracy. */
struct point_accuracy {
    struct interval test_acc_pct, to_target_s, to_target_epochs, to_target_images, noise_scale;
};

/* Whether replayed compute is accurate at a point. In replay, ranks sleep for calibrated times
 * instead of computing. */
struct point_replay {
    double smallest_step_ms; /* shortest compute time per step that sleeping can reproduce
                                accurately; NAN: ranks really compute, or there is no timed
                                launch */
    bool is_short, is_late;
};

/* Ratios of the point to its base point. Intervals of efficiency and karp_flatt are computed from
 * the interval of speedup. */
struct point_scaling {
    struct interval speedup, efficiency, karp_flatt;
    size_t pairs;       /* number of launch pairs (point and base, same block) */
    double bytes_ratio; /* bytes sent per rank and step, relative to the base point */
};

/* Ratio of images/s: this point / the point with equal options in a peer program. It is work_ratio
 * (FLOPs per image, peer / point) x rate_ratio (FLOP/s, point / peer). */
struct point_beside_peer {
    struct interval ratio;
    size_t pairs; /* number of launch pairs (point and peer, same block) */
    double work_ratio, rate_ratio;
};

/* Share of the communication time that is hidden behind compute: measured, and predicted for
 * strategy bucketed. */
struct point_overlap {
    struct interval share;
    size_t pairs; /* number of launch pairs (with and without communication, same block) */
    double model;
};

/* Step time (ms) of the simulated point with the same compute and messages as this point, and the
 * relative error against the measured step time (%). */
struct point_predicted {
    double step_ms, error_pct;
};

/* Rates from the median step time. The interval of images_per_s is computed from the interval of
 * step_ms. */
struct point_rates {
    struct interval images_per_s;
    double gflop_per_s, gflop_done_per_s;
    double mfu_pct, hfu_pct; /* gflop_per_s and gflop_done_per_s in % of the measured peak */
};

/* Energy of processor packages: medians over timed launches. */
struct point_energy {
    struct interval step_j, epoch_j, images_per_j;
};

/* Price of an epoch on the point's cores, and images per unit of money, in the currency of
 * site.price_per_core_hour. */
struct point_price {
    double epoch, images_per_unit;
};

/* Shares of compute, communication and waiting in the step time (%). */
struct point_shares {
    double compute_pct, comm_pct, wait_pct;
};

/* Summary of one point: the texts of its row of summary.csv, and numbers for the table and figures.
 * Unknown texts are "", undefined numbers NAN. */
struct point_summary {
    const struct point *point;
    const char *run; /* name of the point's run if a figure combines several runs, else NULL */
    char **cells;    /* [columns of summary.def] texts of the point's row of summary.csv */
    enum point_status outcome;
    char status[16]; /* name of the status in `outcome` */
    char reason[512];
    char flags[256];
    size_t base;         /* index of the base point, to which speed-ups refer */
    size_t peer;         /* index of the point that runs a peer program with this point's options;
                            of several peer programs, the fastest measured one. The point's own
                            index if it has no peer */
    size_t alone;        /* index of the point with strategy none that differs from this point only
                            in sync.*; this point's own index if no such point exists */
    int cores;           /* number of the point's cores: ranks x cores per rank */
    size_t first_launch; /* index of the point's first launch in the journal; s->n_launches or more:
                            none */
    size_t n_launches;   /* number of the point's launches in the journal, except outdated
                            launches */
    const char *skip_reason;     /* why the point was skipped, borrowed from the journal; NULL: not
                                    skipped */
    size_t launches;             /* number of valid timed launches */
    size_t failed_launches;      /* number of timed launches that ended, but are not valid */
    size_t lost_launches;        /* number of failed timed launches that no other launch replaces */
    size_t accuracy_runs;        /* number of accuracy runs that ended, valid or not */
    size_t seeds, seeds_missing; /* number of requested seeds; number of requested seeds without
                                    a valid accuracy run */
    double launches_s, core_h;   /* total wall time (s) of the point's launches, and core-hours */
    double foreign_pct;          /* share of processor time that other programs, interrupts and a
                                    hypervisor used (%), median over launches */
    double batch_per_rank;
    struct interval step_ms;
    struct point_rates rates;
    struct point_energy energy;
    struct point_price price;
    struct point_shares shares;
    struct point_scaling scaling;
    struct point_beside_peer beside_peer;       /* ratio of images/s: this point / fastest peer */
    struct point_beside_peer beside[WORKLOADS]; /* ratio of images/s: this point / each peer;
                                                   work_ratio and rate_ratio are NAN */
    struct point_overlap overlap;
    struct point_predicted predicted;
    struct point_memory memory;
    struct point_accuracy accuracy;
    struct point_last last;
    struct point_noise noise;
    struct point_replay replay;
    bool precision_met;
    bool timed;        /* the spec requests timed launches of the point */
    bool by_design;    /* ranks end with different weights because an option reproduces a flaw of a
                          published program */
    bool compute_only; /* strategy none at several ranks: ranks compute, but never synchronise
                          gradients */
};

/* Machine and software of a run, from manifest.json; "": unknown. */
struct run_setup {
    char command[1024]; /* command line as the user typed it */
    char started[32];   /* time at which the run began, "2026-11-22T04:26:58Z" */
    char host[128], cpu[128], architecture[32], system[32], kernel[64];
    char caches[64]; /* cache sizes of the first core, such as "48K 32K 1024K 32768K"; may differ
                        between machines with equal `cpu` */
    char revision[64], compiler[64];
};

struct published; /* published numbers to compare with measured ones: bench/collect/published.h */
struct fits;      /* laws fitted to curves over ranks: bench/collect/fits.h */

struct summary {
    const struct spec *spec;       /* spec of the run, borrowed */
    const struct journal *journal; /* journal of the run, borrowed; NULL: the summary was read from
                                      summary.csv */
    struct point_summary *points;  /* [n] summaries of points, in the order of the spec */
    size_t n;
    struct summary_launch *launches; /* [n_launches] launches in the order of the journal */
    size_t n_launches;
    size_t n_unasked, n_unasked_points; /* number of ended launches of points not in the spec;
                                           number of launched points not in the spec */
    size_t n_outdated;                  /* number of ended launches whose peer program had a
                                           different source or version than it has now */
    size_t n_trends;                    /* number of points whose trends are tested together
                                           (Bonferroni correction) */
    size_t n_timed, n_accuracy;         /* number of ended timed launches and accuracy runs, valid
                                           or not */
    double wall_s, core_s;              /* total wall time of the launches (s); total core-seconds,
                                           without simulated launches */
    struct published *published;        /* results of a published report that the spec names for
                                           comparison */
    struct fits *fits;
    int usable_cores, machine_cores, numa_nodes; /* numbers per node, from the manifest: cores that
                                                    the job may use, all cores, NUMA nodes; 0:
                                                    unknown */
    struct run_setup setup;
    char undocumented[128]; /* facts that are needed to repeat the run but missing in the manifest,
                               such as "kernel, compiler" */
    char link[64]; /* link between emulated or simulated hosts at points with default link options,
                      as the manifest records it, such as "1gbit delay none"; "": not recorded */
};

/* Computes the summary of a run. `spec` and `journal` must live until summary_free. Call
 * summary_free in any case. A successful launch whose records cannot be read counts as failed. */
enum status summary_collect(struct summary *s, const struct spec *spec, const char *run_dir,
                            const struct journal *journal, struct error *e);
/* Reads a summary from <run>/summary.csv, for a run without journal and records. s->launches is
 * NULL. Columns that an older version did not write are unknown. Errors: ERR_DATA if the rows are
 * not the spec's points. */
enum status summary_read(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e);
void summary_free(struct summary *s);

/* Returns whether the status of a point makes the campaign fail (point_status.def). */
bool summary_fails(const struct summary *s, size_t point);

/* Returns whether a requested seed has no valid accuracy run (flag seeds_missing). Ignores the flag
 * at points without requested seeds: earlier versions set it there too. */
bool point_lacks_seeds(const struct point_summary *p);

/* Writes the CSV files of the run (RFC 4180, decimal points in any locale), each atomically. Reads
 * the records of valid launches again. */
enum status summary_write(const struct summary *s, const char *run_dir, struct error *e);

/* Writes only fits.csv, for a run without journal and records. Writes nothing if fits.csv would
 * have no row. */
enum status summary_write_fits(const struct summary *s, const char *run_dir, struct error *e);

/* Checks the file of published numbers that the spec names. Call it before the first launch. */
enum status published_check(const struct spec *spec, struct error *e);

/* Returns the name of the i-th CSV file that a run of this spec writes, such as "raw.csv"; NULL
 * beyond the last. A listed fits.csv is written only if some curve is long enough for a fit. */
const char *summary_file(const struct spec *spec, size_t i);

/* Columns of all CSV files of a run, file by file, in order. */
extern const struct csv_file columns_all;

/* Prints every file with name, type, unit and meaning of its columns. */
void columns_print(FILE *out);
/* Prints the description of one column, as `scalebench explain NAME` does. */
void column_explain(FILE *out, const struct column *column);

/* A term for `scalebench explain` that is in no other list, such as a word of tables or captions,
 * or a flag or status of points. */
struct word {
    const char *of, *name, *meaning; /* `of`: kind of the term, such as "a flag of points" */
};
/* Returns a static list of the *n terms for `scalebench explain` that are in no other list: words
 * of tables and captions, flags and statuses of points, kinds of saved work, laws of fits.csv and
 * phases of timelines. */
const struct word *words_all(size_t *n);
