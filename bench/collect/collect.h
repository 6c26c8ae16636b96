/* Turns a run's records into tables and figures: raw.csv with one row per launch, summary.csv with
 * one row per point, the other files of columns/files.def, and the table at the end of a campaign.
 * Reads the run's folder alone: resolved spec, journal, records. */
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

/* number of ranks whose waiting time is kept */
enum { RANK_WAITS = 64 };

/* Records of one launch, combined over its ranks: the columns of metrics.def. Unknown numbers are
 * NAN, unknown truth values -1, unknown texts "". */
struct launch_result {
#define RESULT_TEXT(id, bytes) char id[bytes];
#define RESULT_INT(id, bytes)  double id;
#define RESULT_REAL(id, bytes) double id;
#define RESULT_BOOL(id, bytes) int id;
#define METRIC(id, type, unit, line, field, ...)                                                   \
    RESULT_##type(id, sizeof((struct record_##line *)0)->field)
#define RESULT(id, type, unit, launches, meaning) RESULT_##type(id, 1024)
#include "bench/record/metrics.def"
    double rank_waits[RANK_WAITS]; /* waiting time per step (ms) of the first ranks */
    double earlier_s;  /* time of the interrupted launches that an elastic launch resumes (s);
                          else 0 */
    char diverged[64]; /* "loss is nan", from the rank that found it first; "": none */
    char first_difference[160]; /* step and rank at which weights first differed; "": none */
};

/* Reads DIR/rank.*.jsonl, of `ranks` ranks. A torn last line is ignored. Errors: ERR_DATA with file
 * and line, unless every rank has its `end` and all ranks agree on the launch's facts. */
enum status launch_read(const char *dir, int ranks, struct launch_result *result, struct error *e);

/* Reads the records of an elastic launch, from the ranks of its last segment. `ranks` counts for
 * launches without segments, such as timed ones. Errors as launch_read. */
enum status launch_take_elastic(const char *dir, int ranks, struct launch_result *result,
                                struct error *e);

/* Returns the time of an ended launch (s), including the launches that it resumes; NAN if
 * unknown. */
double launch_wall_s(const struct journal_launch *launch, const struct launch_result *result);

/* Sets all values to unknown. */
void launch_clear(struct launch_result *result);

/* Reads the records of a launch of `point` that took wall_s seconds. A user's program without
 * records has the time of the point's `workload.time`, as one step. Errors as launch_read; ERR_DATA
 * also if the output lacks a metric. */
enum status launch_take(const char *dir, const struct point *point, double wall_s,
                        struct launch_result *result, struct error *e);
/* Returns whether the launch has records: always, unless a user's program wrote none. */
bool launch_has_records(const char *dir, const struct point *point);

/* Reads values [n of workload.metrics], in order, from the launch's log. Errors: ERR_DATA with
 * pattern and log if a metric is missing. */
enum status launch_metrics(const char *dir, const struct config *config, double *values,
                           struct error *e);

/* Returns the work of a step of the point, which ratios divide by time: its images. A user's
 * program has none (NAN). Its work is 1, or the number of ranks if the spec's scaling is weak or
 * epoch. */
double point_work(const struct spec *spec, const struct point *point, double images);

/* Returns whether the launch's nodes have processors of several kinds. */
#define CPUS_JOINED_BY " + "
bool launch_is_mixed(const struct launch_result *result);

/* Returns whether ranks of the launch slept instead of computing. */
bool launch_is_replayed(const struct launch_result *result);

/* Writes "loss is nan at step 17" for a launch that diverged. */
void launch_diverged_text(char *text, size_t size, const struct launch_result *result);

/* Status of a point: the rows of point_status.def. */
enum point_status {
#define POINT_STATUS(id, fails, meaning) POINT_##id,
#include "bench/collect/point_status.def"
    POINT_STATUSES
};
const char *const *point_status_names(void);

/* Returns fact i that launches must share to be compared, as text, with its name in the records'
 * hello and in --identify. "": not recorded. NULL beyond the last fact. */
const char *launch_common(const struct launch_result *result, size_t i, const char **name);

/* One launch of the journal. `ok` means that it counts: it ended well, its records are complete and
 * training did not diverge. Otherwise `reason` is set; `result` is valid only if ok or diverged. */
struct summary_launch {
    bool ok, diverged;
    bool replaced; /* failed, and another launch of its block or seed replaces it, or will */
    bool unasked;  /* of a point that the spec lacks, or outdated: kept, but in no result */
    char reason[512];
    struct launch_result result;
    size_t point; /* index in the spec, the first of equal points; n_points or more if `unasked` */
    size_t next;  /* index of the point's next launch in the journal; n_launches or more: none */
};

/* Memory of a rank for model states (MiB). */
struct model_states {
    double params, grads, state, all;
};

/* Returns whether the memory of the point can be forecast: train_cnn, without a pipeline that is
 * split by measured times. */
bool point_forecasts_memory(const struct point *point);
/* Computes the most memory that a rank of the point has of each arena, for tensors of `width` bytes
 * per number. The first rank has as much as any other. Errors: ERR_MEMORY. */
enum status point_memory(struct sync_memory *m, const struct point *point, size_t width,
                         struct error *e);

/* Noise of a point's timed launches. */
struct point_noise {
    size_t disturbed, outliers; /* numbers of launches that count */
    size_t modes;               /* number of groups of step times; 0: unknown */
    char disturbed_by[64];
    double trend_pct; /* change of step times during the timed part (%), median of launches */
    int trend;        /* -1: steps get shorter, 1: longer, 0: no significant trend */
};

/* The rank that arrived last most often. */
struct point_last {
    int rank;   /* rank that arrived last; -1: unknown */
    double pct; /* share of steps in which it was last (%) */
    double p;   /* probability of such a result if all ranks are equal */
};

/* Memory of the largest rank (MiB). */
struct point_memory {
    double most_mib, growth_mib;
    struct model_states forecast_mib, formula_mib; /* forecast, and by DeepSpeed's formulas */
    double states_mib, error_pct;                  /* measured model states; their difference
                                                      from forecast_mib (%) */
};

/* Results of accuracy runs over seeds. */
struct point_accuracy {
    struct interval test_acc_pct, to_target_s, to_target_epochs, to_target_images;
};

/* Validity of replayed compute. */
struct point_replay {
    double smallest_step_ms; /* shortest step that replayed compute can represent; NAN: compute
                                is real */
    bool is_short, is_late;
};

/* Ratios to the base. efficiency and karp_flatt have the relative width of speedup. */
struct point_scaling {
    struct interval speedup, efficiency, karp_flatt;
    size_t pairs;       /* number of blocks behind the speed-up */
    double bytes_ratio; /* bytes sent per rank and step, relative to the base */
};

/* Ratio of images/s to the peer, and its two factors: less work, faster rate of FLOPs. */
struct point_beside_peer {
    struct interval ratio;
    size_t pairs; /* number of blocks behind the ratio */
    double work_ratio, rate_ratio;
};

/* Share of communication that cost no time, measured and as a model of buckets predicts it. */
struct point_overlap {
    struct interval share;
    size_t pairs; /* number of blocks behind the share */
    double model;
};

/* Rates from step_ms. images_per_s has its relative width. */
struct point_rates {
    struct interval images_per_s;
    double gflop_per_s, gflop_done_per_s;
};

/* Shares of a step (%). */
struct point_shares {
    double compute_pct, comm_pct, wait_pct;
};

/* One point of the summary: a text for every column, and the numbers for table and figures. Unknown
 * texts are "", undefined numbers NAN. */
struct point_summary {
    const struct point *point;
    const char *run; /* name of its run in figures of several runs; NULL: one run */
    char **cells;    /* [columns of summary.def] texts of the point's row */
    enum point_status outcome;
    char status[16]; /* name of the status in `outcome` */
    char reason[512];
    char flags[256];
    size_t base;         /* index of the point that speed-ups refer to */
    size_t peer;         /* index of the same point in another program; else its own */
    size_t alone;        /* index of the point of strategy none at the same ranks; else its own */
    int cores;           /* ranks x cores per rank */
    size_t first_launch; /* index in the journal; n_launches of the summary or more: none */
    size_t n_launches;   /* number of launches in the journal */
    const char *skip_reason;     /* reason for skipping, borrowed from the journal; NULL: not
                                    skipped */
    size_t launches;             /* number of timed launches that count */
    size_t failed_launches;      /* number of timed launches that do not count */
    size_t lost_launches;        /* number of timed launches that failed without replacement */
    size_t accuracy_runs;        /* number of ended accuracy runs */
    size_t seeds, seeds_missing; /* number of requested seeds, and of seeds without an accuracy
                                    run that counts */
    double launches_s, core_h;   /* time of all launches (s), and core-hours */
    double foreign_pct;          /* processor time used by others (%), median of launches */
    double batch_per_rank;
    struct interval step_ms;
    struct point_rates rates;
    struct point_shares shares;
    struct point_scaling scaling;
    struct point_beside_peer beside_peer;
    struct point_overlap overlap;
    struct point_memory memory;
    struct point_accuracy accuracy;
    struct point_last last;
    struct point_noise noise;
    struct point_replay replay;
    bool precision_met;
    bool timed;        /* the campaign requests timed launches */
    bool by_design;    /* weights differ between ranks because an option reproduces a published
                          flaw */
    bool compute_only; /* strategy none at several ranks: each trains alone */
};

/* Machine and software of a run, from manifest.json; "": unknown. */
struct run_setup {
    char command[1024]; /* command line as typed */
    char started[32];   /* begin of the run, "2026-11-22T04:26:58Z" */
    char host[128], cpu[128], architecture[32], system[32], kernel[64];
    char caches[64]; /* caches of the first core, "48K 32K 1024K 32768K"; distinguishes
                        processors with equal names */
    char revision[64], compiler[64];
};

struct published; /* numbers of others: bench/collect/published.h */

struct summary {
    const struct spec *spec;      /* spec of the run, borrowed */
    struct point_summary *points; /* [n] points in the order of the spec */
    size_t n;
    struct summary_launch *launches; /* [n_launches] in the order of the journal */
    size_t n_launches;
    size_t n_unasked, n_unasked_points; /* numbers of launches, and of their points, that the
                                           spec does not request */
    size_t n_outdated;                  /* number of launches of requested points whose peer
                                           program has changed since */
    size_t n_trends;                    /* number of points tested for a trend together */
    size_t n_timed, n_accuracy;         /* numbers of ended launches, whether they count or not */
    double wall_s, core_s;              /* sum of the launches' times, and of their core-seconds */
    struct published *published;        /* published numbers that the spec compares with */
    int usable_cores, machine_cores, numa_nodes; /* cores and NUMA nodes of a node, from the
                                                    manifest; 0: unknown */
    struct run_setup setup;
    char undocumented[128]; /* facts missing in the manifest: "cpu, compiler" */
    char link[64];          /* link between hosts of an emulated site, from the manifest */
};

/* Computes the summary of a run. `spec` and `journal` are borrowed until summary_free. A point with
 * a launch that the journal calls ok, but whose records cannot be read, is failed, with file and
 * line as reason. Call summary_free in any case. */
enum status summary_collect(struct summary *s, const struct spec *spec, const char *run_dir,
                            const struct journal *journal, struct error *e);
/* Reads the summary back from <run>/summary.csv, for a run of which only tables are left. It has
 * the points, but no launches (s->launches is NULL). A column that an older version did not write
 * is unknown. Errors: ERR_DATA with file and line if the rows are not the spec's points. */
enum status summary_read(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e);
void summary_free(struct summary *s);

/* Returns whether the status of a point makes the campaign fail (point_status.def). */
bool summary_fails(const struct summary *s, size_t point);

/* Returns whether the point has the flag seeds_missing and requested seeds. Earlier versions set
 * the flag also for points without seeds. */
bool point_lacks_seeds(const struct point_summary *p);

/* Writes the CSV files of the run (RFC 4180, decimal points in any locale), each by a temporary
 * file and a rename. Reads the records of launches that count again. `journal` is the journal that
 * was collected. */
enum status summary_write(const struct summary *s, const char *run_dir,
                          const struct journal *journal, struct error *e);

/* Checks the file of published numbers that the spec names, before anything runs. */
enum status published_check(const struct spec *spec, struct error *e);

/* Returns the name of the i-th CSV file of a run of this spec ("raw.csv"); NULL beyond the last. */
const char *summary_file(const struct spec *spec, size_t i);

/* Returns the *n columns of all CSV files, file by file, in order. */
const struct column *columns_all(size_t *n);

/* Prints every file with name, type, unit and meaning of its columns. */
void columns_print(FILE *out);
/* Prints one column, as `scalebench explain NAME` does. */
void column_explain(FILE *out, const struct column *column);

/* A term in tables, captions or flags that is no column, option or listed name. */
struct word {
    const char *of, *name, *meaning; /* of: kind of the word, "a flag of points" */
};
/* Returns all *n words. */
const struct word *words_all(size_t *n);
