/* From records to tables: one row a launch (raw.csv), one row a point (summary.csv) and the other
 * files of columns/files.def, the table that a campaign ends with, figures. Everything is computed from
 * the run's folder alone: its resolved spec, journal and records; nothing is run. */
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

/* Ranks of which each one's waiting is kept. */
enum { RANK_WAITS = 64 };

/* What the records of one launch say, over its ranks: the columns of metrics.def that are read from
 * records or computed from several. Unknown numbers are NAN, unknown truths -1, unknown texts "". */
struct launch_result {
#define RESULT_TEXT(id, bytes) char id[bytes];
#define RESULT_INT(id, bytes)  double id;
#define RESULT_REAL(id, bytes) double id;
#define RESULT_BOOL(id, bytes) int id;
#define METRIC(id, type, unit, line, field, ...)                                                   \
    RESULT_##type(id, sizeof((struct record_##line *)0)->field)
#define RESULT(id, type, unit, launches, meaning) RESULT_##type(id, 1024)
#include "bench/record/metrics.def"
    double rank_waits[RANK_WAITS]; /* in ms, of the first ranks */
    double earlier_s;  /* of interrupted launches that an elastic one goes on from; else 0 */
    char diverged[64]; /* "loss is nan"; of the rank that found it first */
    char first_difference[160]; /* step and rank at which weights first differed */
};

/* Reads DIR/rank.*.jsonl. ERR_DATA, naming file and line, unless every rank of `ranks` has its
 * `end` and the ranks agree on what they ran. A torn last line is ignored. */
enum status launch_read(const char *dir, int ranks, struct launch_result *result, struct error *e);

/* The same of one of an elastic point, whose segments say how many ranks wrote the records: those of
 * the last. `ranks` of a launch that has no segments, as timed ones. */
enum status launch_take_elastic(const char *dir, int ranks, struct launch_result *result,
                                struct error *e);

/* How long a run took that has ended, with what it goes on from; NAN where that is unknown. */
double launch_wall_s(const struct journal_launch *launch, const struct launch_result *result);

/* Nothing is known. */
void launch_clear(struct launch_result *result);

/* The same of a launch of `point` that took wall_s: where a foreign program wrote no records, its time
 * is that of the point's `workload.time`, as of one step. ERR_DATA too where its output lacks one of
 * the metrics. */
enum status launch_take(const char *dir, const struct point *point, double wall_s,
                        struct launch_result *result, struct error *e);
bool launch_has_records(const char *dir, const struct point *point);

/* [n of workload.metrics] in order. ERR_DATA, naming pattern and log, where one is not there. */
enum status launch_metrics(const char *dir, const struct config *config, double *values,
                           struct error *e);

/* What a step of the point does, by which times of different points are compared: its images; of a
 * foreign program, which has none (NAN), the same at each number of ranks, or as much for each rank,
 * as the spec's scaling says. */
double point_work(const struct spec *spec, const struct point *point, double images);

/* Its nodes have processors of several kinds. */
#define CPUS_JOINED_BY " + "
bool launch_is_mixed(const struct launch_result *result);

/* Its ranks let the time of computing pass. */
bool launch_is_replayed(const struct launch_result *result);

/* "loss is nan at step 17" of a launch that diverged. */
void launch_diverged_text(char *text, size_t size, const struct launch_result *result);

/* What a point comes to, the rows of point_status.def, and their names. */
enum point_status {
#define POINT_STATUS(id, fails, meaning) POINT_##id,
#include "bench/collect/point_status.def"
    POINT_STATUSES
};
const char *const *point_status_names(void);

/* What launches that are compared must have in common: the i-th value as text, "" where it was not
 * told, and its name, as hello of the records and --identify of workloads have it. NULL beyond the
 * last. */
const char *launch_common(const struct launch_result *result, size_t i, const char **name);

/* One launch of the journal. `ok` means that it counts: the journal says so, its records read and
 * its training did not diverge; otherwise `reason` says why not, and unless it `diverged` `result`
 * is not to be used. */
struct summary_launch {
    bool ok, diverged;
    bool replaced; /* it failed, and another one of its block or seed ended, or is to be run */
    bool
        unasked; /* of a point that the spec does not have, or outdated: kept, and part of nothing */
    char reason[512];
    struct launch_result result;
    size_t point; /* of the spec, the first of twins; n_points and more where it is `unasked` */
    size_t next;  /* the point's next launch in the journal; n_launches and more: none */
};

/* What a rank has in memory of each, and of all together, in MiB. */
struct model_states {
    double params, grads, state, all;
};

/* Whether its memory can be told before it runs: it is ours, and no rank has a part of the net that is cut by measured
 * times. */
bool point_forecasts_memory(const struct point *point);
/* What a rank of it has of each arena at the most, the first rank, which has as much as any, for tensors of `width`
 * bytes a number. */
enum status point_memory(struct sync_memory *m, const struct point *point, size_t width,
                         struct error *e);

/* What its timed launches say of each other, and what disturbed them. */
struct point_noise {
    size_t disturbed, outliers; /* launches that count */
    size_t modes;               /* of their step times; 0: unknown */
    char disturbed_by[64];
    double trend_pct; /* of the steps' time while they are timed, median */
    int trend;        /* -1 or 1: it is one, steps get shorter or longer */
};

/* The rank that arrived last most often. */
struct point_last {
    int rank;   /* -1 if unknown */
    double pct; /* in how many of the steps */
    double p;   /* how often equal ranks would show one like it */
};

/* Memory of the largest rank. */
struct point_memory {
    double most_mib, growth_mib;
    struct model_states forecast_mib, formula_mib; /* formula: DeepSpeed's */
    double states_mib, error_pct;                  /* measured; over what was forecast */
};

/* What accuracy runs come to, over seeds. */
struct point_accuracy {
    struct interval test_acc_pct, to_target_s, to_target_epochs, to_target_images;
};

/* Whether replayed compute stands for the real one. */
struct point_replay {
    double smallest_step_ms; /* that it can stand for; NAN: compute is real */
    bool is_short, is_late;
};

/* Against the base; efficiency and karp_flatt are as wide as the speed-up. */
struct point_scaling {
    struct interval speedup, efficiency, karp_flatt;
    size_t pairs;       /* blocks that the speed-up rests on */
    double bytes_ratio; /* bytes that a rank sends in a step over those of the base */
};

/* Against the peer: the ratio of images/s, how much less is done, and how much faster that. */
struct point_beside_peer {
    struct interval ratio;
    size_t pairs; /* blocks that it rests on */
    double work_ratio, rate_ratio;
};

/* Communication that cost no time: its share, and the one that a model of the buckets expects. */
struct point_overlap {
    struct interval share;
    size_t pairs; /* blocks that it rests on */
    double model;
};

/* What follows from step_ms; images_per_s is as wide. */
struct point_rates {
    struct interval images_per_s;
    double gflop_per_s, gflop_done_per_s;
};

/* Of a step. */
struct point_shares {
    double compute_pct, comm_pct, wait_pct;
};

/* One point of the summary: a cell of text for every column ("" is unknown), and the numbers that
 * the table and the figures want. Undefined numbers are NAN. */
struct point_summary {
    const struct point *point;
    const char *run; /* which of several runs it is of, as figures call it; NULL: there is one */
    char **cells;    /* one a column of columns/summary.def */
    enum point_status outcome;
    char status[16]; /* its name */
    char reason[512];
    char flags[256];
    size_t base;  /* index of the point that the speed-up refers to */
    size_t peer;  /* index of the point of another program that does the same; else its own */
    size_t alone; /* index of the point of strategy none at the same ranks; else its own */
    int cores;    /* ranks times the cores that each wants */
    size_t first_launch;     /* in the journal; n_launches of the summary and more: it has none */
    size_t n_launches;       /* in the journal */
    const char *skip_reason; /* borrowed from the journal; NULL: it was not skipped */
    size_t launches;         /* timed ones that count */
    size_t failed_launches;  /* timed ones that do not */
    size_t lost_launches;    /* of these, those that no other one replaces */
    size_t accuracy_runs;    /* that ended, whether they count or not */
    size_t seeds, seeds_missing; /* asked for, and those of which no accuracy run counts */
    double launches_s, core_h;   /* what all its launches took, and times their cores */
    double foreign_pct;          /* of the processors' time that others took, median of launches */
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
    bool timed;        /* launches were asked for */
    bool by_design;    /* weights differ between ranks as a declared flaw has it */
    bool compute_only; /* strategy none at several ranks: they train apart */
};

/* What was run where, as manifest.json tells it; "" is unknown. */
struct run_setup {
    char command[1024]; /* as it was typed */
    char started[32];   /* "2026-11-22T04:26:58Z" */
    char host[128], cpu[128], architecture[32], system[32], kernel[64];
    char caches[64]; /* of the first core, "48K 32K 1024K 32768K": processors may share a name */
    char revision[64], compiler[64];
};

struct published; /* numbers of others beside ours: bench/collect/published.h */

struct summary {
    const struct spec *spec;      /* borrowed */
    struct point_summary *points; /* as many as the spec has, in its order */
    size_t n;
    struct summary_launch *launches; /* one a launch of the journal, in its order */
    size_t n_launches;
    size_t n_unasked, n_unasked_points; /* launches of the journal that the spec does not ask for */
    size_t n_outdated;                  /* that it asks for, of peers that are not those any more */
    size_t n_trends;             /* points that are asked at once whether their steps change */
    size_t n_timed, n_accuracy;  /* finished launches, whether they count or not */
    double wall_s, core_s;       /* what they took, one after another, and times their cores */
    struct published *published; /* what the spec compares with */
    int usable_cores, machine_cores, numa_nodes; /* of a node, from the manifest; 0: unknown */
    struct run_setup setup;
    char undocumented[128]; /* what the manifest should tell and does not: "cpu, compiler" */
    char link[64];          /* between the hosts of an emulated site, from there too */
};

/* Computes the summary of a run. A launch that the journal calls ok but whose records do not read
 * makes its point failed, with the file and line as the reason. */
enum status summary_collect(struct summary *s, const struct spec *spec, const char *run_dir,
                            const struct journal *journal, struct error *e);
/* Reads it back from <run>/summary.csv, for a run of which only the tables are left: everything
 * that table and figures want of points, no launches (s->launches is NULL). A column that an older
 * version did not write is unknown. ERR_DATA with file and line where the rows are not those of the
 * spec's points. */
enum status summary_read(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e);
void summary_free(struct summary *s);

/* Whether a point makes the campaign fail, as point_status.def says. */
bool summary_fails(const struct summary *s, size_t point);

/* Whether it is flagged seeds_missing: tables of earlier versions have that of points that want none, too. */
bool point_lacks_seeds(const struct point_summary *p);

/* Writes the CSV files of the run (RFC 4180, each by way of a temporary file and a rename; decimal
 * points whatever the locale), reading again the records of the launches that count. `journal` is
 * the one that was collected. */
enum status summary_write(const struct summary *s, const char *run_dir,
                          const struct journal *journal, struct error *e);

/* Reads the file of published numbers that the spec names, to find fault with it early. */
enum status published_check(const struct spec *spec, struct error *e);

/* Name of the i-th CSV file that a run of this spec leaves ("raw.csv"); NULL beyond the last. */
const char *summary_file(const struct spec *spec, size_t i);

/* Every column of every CSV file, file by file, in order. */
const struct column *columns_all(size_t *n);

/* Prints every file with its columns: name, type, unit, meaning. */
void columns_print(FILE *out);
/* What `scalebench explain NAME` prints of one. */
void column_explain(FILE *out, const struct column *column);

/* A name that tables, captions or flags print and that is no column, option or name of a list. */
struct word {
    const char *of, *name, *meaning; /* "a flag of points" */
};
const struct word *words_all(size_t *n);
