/* What the parts of the summary share. Internal to bench/collect. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"
#include "bench/collect/point_flags.h"
#include "bench/collect/timing.h"
#include "kernels/base/text.h"

/* More of its processors' time than this that others took makes a point `busy`. A busy processor
 * is shared out by turns: a tenth of its time that others have makes steps a tenth longer, twice
 * the precision that campaigns ask for by default, and it stays in the median of all launches. */
#define SUMMARY_BUSY_PCT 10.0

/* Of every interval. */
#define SUMMARY_CONFIDENCE TIMING_LEVEL

/* A launch that counts. */
struct sample {
    const struct journal_launch *journal;
    const struct launch_result *result;
};

/* The launches of one point and kind that count; `values` is room for a number of each. */
struct samples {
    struct sample *items;
    size_t n, diverged; /* diverged: launches of that kind that do not count because they did */
    double *values;
    struct timings timings; /* of the same launches */
};

/* Those of the point. Freed with samples_free in any case. */
enum status samples_take(struct samples *samples, const struct summary *s,
                         const struct journal *journal, const struct point_summary *p,
                         enum launch_run run, struct error *e);
void samples_free(struct samples *samples);

/* The double at `offset` of struct launch_result. */
double sample_number(const struct sample *sample, size_t offset);

/* Brings the doubles at `offset` of struct launch_result that are known into `values`; how many. */
size_t samples_known(const struct samples *samples, size_t offset);

/* Median of the double at `offset` of struct launch_result, unknown ones left out. */
double samples_median(const struct samples *samples, size_t offset);

/* The overlap_share that a model of the order of buckets expects, no bound of it: layers take time by
 * their FLOPs as written. 1 is all of it, NAN where the strategy has no buckets or times are unknown.
 * `alone`: samples of the point that does not communicate. */
enum status overlap_model(double *share, const struct point *point, const struct samples *time,
                          const struct samples *alone, struct error *e);

/* Fills what follows from the spec alone: the i-th point, and those that it is compared with. */
void point_take(struct point_summary *p, const struct spec *spec, size_t i);

/* Fills what is forecast and what was measured of its memory. */
enum status memory_set(struct point_memory *m, const struct point *point,
                       const struct samples *time, const struct samples *accuracy, struct error *e);
/* Under a stage of ZeRO: what was measured is not what was forecast. */
bool memory_is_off(const struct point_memory *m, const struct point *point);

/* Settles the status of a point and its reason. */
void point_judge(struct point_summary *p, const struct summary *s, const struct journal *journal,
                 const struct samples *time, const struct samples *accuracy);

/* Fills the speed-up of a point and what follows from it, its share of overlap and its ratio to a
 * peer: those with its base, with the point that does not communicate and with the peer, whose
 * statuses are known; whether all that is reported is as precise as was asked. */
void ratios_set(struct point_summary *p, const struct summary *s, const struct samples *time,
                const struct samples *base, const struct samples *alone,
                const struct samples *peer);

/* Whether a ratio of it rests on a point of which launches failed. */
bool ratios_lack_launches(const struct point_summary *p, const struct summary *s);

/* Whether others disturbed most of its launches. */
bool point_is_busy(const struct point_summary *p);

/* Whether anything was measured at it. */
bool point_was_measured(const struct point_summary *p);

/* How many points are so. */
size_t summary_count(const struct summary *s, bool (*has)(const struct point_summary *p));

/* Fills what the summary says of the machine from <run>/manifest.json; none leaves it unknown. */
enum status machine_read(struct summary *s, const char *run_dir, struct error *e);

/* Room for the points, and what stands beside them: the machine, what was published. */
enum status summary_open(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e);

/* Ranks times the cores that each wants. */
int point_cores(const struct point *point);

/* Cores that its ranks want of the fullest node; of hosts that share a machine, all of them. */
int point_cores_of_node(const struct point *point);

/* Ranks on the fullest node. */
int point_ranks_per_node(const struct point *point);

/* A foreign program takes none of the options that train_cnn does but its threads. */
bool point_has_option(const struct point *point, enum option_id option);

/* Whether replicas, or the models that are made of them, must be bitwise equal. */
bool point_is_replicated(const struct point *point);

/* 1 when the point wants more cores than a node has for it, 0 when not, -1 unknown. */
int point_is_oversubscribed(const struct point *point, int usable_cores);

/* Takes numbers, counts, status and remarks from p->cells. ERR_DATA for what they cannot be. */
enum status point_read_cells(struct point_summary *p, struct error *e);

/* What stands in summary.csv, NAN where it is unknown; not what it was rounded from, so that
 * figures drawn from that file alone are the same. */
double cell_number(const struct point_summary *p, enum column_id column);

/* What the launches of all points took, from their numbers. */
void summary_add_up(struct summary *s);

/* Fills p->cells once its numbers and those of its base are known. */
enum status cells_fill(struct point_summary *p, const struct summary *s, const struct samples *time,
                       const struct samples *accuracy, struct error *e);
void cells_free(char **cells);

/* "gather_scatter", "gather_scatter (mpich)" where the spec asks for a variant, "bucketed
 * (poll_tiles)" where it asks for overlap, "allreduce + fp16" where for a compressor. Returns
 * text. */
enum { STRATEGY_TEXT = 112 };
const char *strategy_text(char text[STRATEGY_TEXT], const struct point *point);

/* The different texts that this column has in the requested points, as "a, b", a strategy with its
 * variant; where they do not fit "a, b and 3 more". Returns text. */
char *summary_distinct(char *text, size_t size, const struct summary *s, enum column_id id);
/* The kinds in the same way, of accuracy runs or of timed launches. */
char *summary_kinds(char *text, size_t size, const struct summary *s, bool trained);

/* What a step computes: "batch per rank 16", "4 micro-batches of 16 images per rank", "global batch 64
 * in 4 micro-batches"; "" where it is unknown. Returns text. */
const char *summary_batch(char *text, size_t size, const struct summary *s);
