/* Shared by the parts of the summary. Internal to bench/collect. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"
#include "bench/collect/point_flags.h"
#include "bench/collect/timing.h"
#include "kernels/base/text.h"

/* Limit of processor time used by others (%); a point above it is `busy`. Others on a busy
 * processor take turns with ours: 10 % make steps 10 % longer, twice the default precision, and the
 * median over launches does not remove that. */
#define SUMMARY_BUSY_PCT 10.0

/* confidence level of every interval */
#define SUMMARY_CONFIDENCE TIMING_LEVEL

/* A launch that counts. */
struct sample {
    const struct journal_launch *journal;
    const struct launch_result *result;
};

/* Launches of one point and kind that count; `values` is scratch for one number each. */
struct samples {
    struct sample *items;
    size_t n, diverged; /* diverged: number of launches that diverged, which do not count */
    double *values;
    struct timings timings; /* the same launches' values in the journal */
};

/* Collects the launches of a point. Call samples_free in any case. Errors: ERR_MEMORY. */
enum status samples_take(struct samples *samples, const struct summary *s,
                         const struct journal *journal, const struct point_summary *p,
                         enum launch_run run, struct error *e);
void samples_free(struct samples *samples);

/* Returns the double at `offset` of struct launch_result. */
double sample_number(const struct sample *sample, size_t offset);

/* Copies the known doubles at `offset` of struct launch_result to `values`; returns their
 * number. */
size_t samples_known(const struct samples *samples, size_t offset);

/* Returns the median of the known doubles at `offset` of struct launch_result. */
double samples_median(const struct samples *samples, size_t offset);

/* Computes overlap_share as a model of the buckets' order predicts it; measured shares may exceed
 * it. Time is split over layers by FLOPs as written. 1: fully hidden; NAN: no buckets, or unknown
 * times. `alone`: samples of the point that does not communicate. */
enum status overlap_model(double *share, const struct point *point, const struct samples *time,
                          const struct samples *alone, struct error *e);

/* Sets the values of point i that follow from the spec alone, including the points it is compared
 * with. */
void point_take(struct point_summary *p, const struct spec *spec, size_t i);

/* Sets forecast and measured memory. */
enum status memory_set(struct point_memory *m, const struct point *point,
                       const struct samples *time, const struct samples *accuracy, struct error *e);
/* Returns whether measured model states under ZeRO differ from their forecast by more than 5 % and
 * 8 pages. */
bool memory_is_off(const struct point_memory *m, const struct point *point);

/* Sets the status of a point and its reason. */
void point_judge(struct point_summary *p, const struct summary *s, const struct journal *journal,
                 const struct samples *time, const struct samples *accuracy);

/* Sets ratios of a point to its base, to the point without communication (`alone`) and to the peer;
 * their statuses must be known. Also sets whether all reported intervals are as precise as
 * requested. */
void ratios_set(struct point_summary *p, const struct summary *s, const struct samples *time,
                const struct samples *base, const struct samples *alone,
                const struct samples *peer);

/* Returns whether a launch of a point failed that one of the ratios of `p` needs. */
bool ratios_lack_launches(const struct point_summary *p, const struct summary *s);

/* Returns whether other programs used more than SUMMARY_BUSY_PCT of the point's processor time. */
bool point_is_busy(const struct point_summary *p);

/* Returns whether the point has a launch that counts. */
bool point_was_measured(const struct point_summary *p);

/* Returns the number of points for which `has` is true. */
size_t summary_count(const struct summary *s, bool (*has)(const struct point_summary *p));

/* Sets the machine and software of the summary from <run>/manifest.json; a missing file leaves them
 * unknown. */
enum status machine_read(struct summary *s, const char *run_dir, struct error *e);

/* Allocates the points; reads the machine and published numbers. */
enum status summary_open(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e);

/* Returns ranks x cores per rank. */
int point_cores(const struct point *point);

/* Returns the number of cores that ranks need on the fullest node. Hosts that share a machine count
 * together. */
int point_cores_of_node(const struct point *point);

/* Returns the number of ranks on the fullest node. */
int point_ranks_per_node(const struct point *point);

/* Returns whether the option applies to the point. A user's program has only the thread option of
 * those that train_cnn has. */
bool point_has_option(const struct point *point, enum option_id option);

/* Returns whether replicas, or models combined from parts, must be bitwise equal. */
bool point_is_replicated(const struct point *point);

/* Returns 1 if a node has fewer cores than the point needs, 0 if not, -1 if unknown. Also 0 for
 * replayed compute, and if the spec refuses such points. */
int point_is_oversubscribed(const struct point *point, int usable_cores);

/* Parses numbers, counts, status and flags from p->cells. Errors: ERR_DATA for malformed cells. */
enum status point_read_cells(struct point_summary *p, struct error *e);

/* Returns the number in a cell of summary.csv, NAN if unknown. The rounded cell is used so that
 * figures drawn from the file alone are the same. */
double cell_number(const struct point_summary *p, enum column_id column);

/* Adds up the time of all points' launches. */
void summary_add_up(struct summary *s);

/* Fills p->cells. The numbers of the point and of its base must be known. Errors: ERR_MEMORY. */
enum status cells_fill(struct point_summary *p, const struct summary *s, const struct samples *time,
                       const struct samples *accuracy, struct error *e);
void cells_free(char **cells);

/* Writes the strategy with requested variant, overlap or compressor: "gather_scatter",
 * "gather_scatter (mpich)", "bucketed (poll_tiles)", "allreduce + fp16". Returns `text`. */
enum { STRATEGY_TEXT = 112 };
const char *strategy_text(char text[STRATEGY_TEXT], const struct point *point);

/* Writes the distinct texts of a column over the points, as "a, b"; strategies with their variant.
 * A list that does not fit ends with "and 3 more". Returns `text`. */
char *summary_distinct(char *text, size_t size, const struct summary *s, enum column_id id);
/* Writes the distinct kinds of points, of accuracy runs or of timed launches. Returns `text`. */
char *summary_kinds(char *text, size_t size, const struct summary *s, bool trained);

/* Writes the work of a step: "batch per rank 16", "4 micro-batches of 16 images per rank", "global
 * batch 64 in 4 micro-batches"; "" if unknown. Returns `text`. */
const char *summary_batch(char *text, size_t size, const struct summary *s);
