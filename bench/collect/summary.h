/* Functions that the files of bench/collect share to compute a summary. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"
#include "bench/collect/point_flags.h"
#include "bench/collect/timing.h"
#include "kernels/base/text.h"

/* A point is flagged `busy` if other programs, interrupts and a hypervisor use over this share (%)
 * of processor time. This share lengthens steps by about 10 %, twice the default of
 * measure.time.precision. */
#define SUMMARY_BUSY_PCT 10.0

/* confidence level that every interval must have */
#define SUMMARY_CONFIDENCE TIMING_LEVEL

/* A valid launch of a point: its line of the journal and its results, both borrowed. */
struct sample {
    const struct journal_launch *journal;
    const struct launch_result *result;
};

/* Valid launches of one point: its timed launches or its accuracy runs. `values` is scratch space
 * for one number per launch. */
struct samples {
    struct sample *items;
    size_t n, diverged; /* number of valid launches; number of launches that diverged */
    double *values;
    struct timings timings; /* step times and blocks of the n valid launches */
};

struct point_samples {
    struct samples time, accuracy; /* valid timed launches, and valid accuracy runs */
};

/* Collects point `p`'s valid launches of kind `run`: timed launches or accuracy runs. Call
 * samples_free in any case. Errors: ERR_MEMORY. */
enum status samples_take(struct samples *samples, const struct summary *s,
                         const struct point_summary *p, enum launch_run run, struct error *e);
void samples_free(struct samples *samples);

/* Returns the double at `offset` of the sample's struct launch_result. */
double sample_number(const struct sample *sample, size_t offset);

/* Copies each sample's double at `offset` of struct launch_result to samples->values, except NAN.
 * Returns the number of copied doubles. */
size_t samples_known(const struct samples *samples, size_t offset);

/* Returns the median of the doubles at `offset` of struct launch_result, ignoring NAN. */
double samples_median(const struct samples *samples, size_t offset);

/* Sets p->predicted from the simulated point with the same compute and messages, if any; else to
 * NAN. */
void predicted_find(struct point_summary *p, const struct summary *s);

/* Agreement of simulated points with measured ones. */
struct validation {
    size_t simulated;           /* number of simulated points */
    size_t n;                   /* number of measured points that simulated points predict */
    double ranks;               /* largest number of ranks among the predicted points */
    double median_pct, p90_pct; /* median and 90th percentile of absolute prediction errors (%) */
};
struct validation summary_validation(const struct summary *s);
/* Writes prediction errors, such as "validated to 8 ranks: errors of 3 % (median) and 9 % (90th
 * percentile) at 12 points". If v->n is 0: "not validated" and why. */
void validation_write(FILE *out, const struct validation *v);

/* Sets *share to the predicted share of communication time that the backward pass hides. Assumes
 * that buckets are sent one after another, each once it is full, and that layers share the backward
 * time in proportion to their FLOPs. 1: all communication is hidden; NAN: no buckets, or times are
 * unknown. `alone`: samples of the point without communication. */
enum status overlap_model(double *share, const struct point *point, const struct samples *time,
                          const struct samples *alone, struct error *e);

/* Sets the members of `p`, the summary of point `i`, that do not depend on launches, such as the
 * index of its base. */
void point_take(struct point_summary *p, const struct spec *spec, size_t i);

/* Sets the memory of a point: measured, forecast by scalebench, and computed by DeepSpeed's
 * formulas. Unknown values are NAN. */
enum status memory_set(struct point_memory *m, const struct point *point,
                       const struct point_samples *all, struct error *e);
/* Returns whether the measured model states of a ZeRO strategy differ from their forecast both by
 * more than 5 % and by more than 8 pages. False for other strategies. */
bool memory_is_off(const struct point_memory *m, const struct point *point);

/* Sets the status of a point and its reason. */
void point_judge(struct point_summary *p, const struct summary *s, const struct point_samples *all);

/* Sets p->precision_met and the ratios of `p` to other points. `all` [s->n]: samples of all points.
 * Status and lost_launches of all points must be set before. */
void ratios_set(struct point_summary *p, const struct summary *s, const struct point_samples *all);

/* Returns whether failed launches of another point were not replaced, so that ratios of `p` lack
 * launch pairs. The other point may be the base of `p`, a peer (the same point in a program by
 * other authors) or the point of `p` without communication. False if `p` has no timed launches. */
bool ratios_lack_launches(const struct point_summary *p, const struct summary *s);

/* Returns whether other programs, interrupts and a hypervisor together used more than
 * SUMMARY_BUSY_PCT of the point's processor time. */
bool point_is_busy(const struct point_summary *p);

/* Returns whether the point has a valid timed launch or a test accuracy. */
bool point_was_measured(const struct point_summary *p);

/* Returns whether the point is a base with a step time. */
bool point_is_timed_base(const struct point_summary *p);

/* Returns whether the point synchronises gradients, has more cores than its base, and has an
 * efficiency. */
bool point_is_scaled(const struct point_summary *p, const struct summary *s);

/* Returns the number of points for which `has` is true. */
size_t summary_count(const struct summary *s, bool (*has)(const struct point_summary *p));

/* Sets s->setup, s->link, s->undocumented and the numbers of cores and NUMA nodes from
 * <run>/manifest.json. Without this file, s->undocumented lists all needed facts; other members
 * stay unknown. */
enum status machine_read(struct summary *s, const char *run_dir, struct error *e);

/* Begins a summary: allocates the points, reads the manifest and published numbers. */
enum status summary_open(struct summary *s, const struct spec *spec, const char *run_dir,
                         struct error *e);

/* Returns the number of the point's cores: ranks x cores per rank. */
int point_cores(const struct point *point);

/* Returns the number of cores that the point's ranks need on the fullest node. Emulated hosts on
 * one machine are one node. */
int point_cores_of_node(const struct point *point);

/* Returns the number of ranks on the fullest node. */
int point_ranks_per_node(const struct point *point);

/* Returns whether the option applies to the point. A user's program has only one of train_cnn's
 * options, the number of threads. */
bool point_has_option(const struct point *point, enum option_id option);

/* Returns whether the point's strategy requires bitwise equal weights on all ranks at the end.
 * Sharded weights are gathered before they are compared. */
bool point_is_replicated(const struct point *point);
/* Returns whether measure.check = step compares the weights after each step. False for strategies
 * with STRATEGY_AVERAGED, whose weights differ between ranks or are sharded until the end of
 * training. */
bool point_compares_steps(const struct point *point);

/* Returns 1 if the point needs more than `usable_cores` cores on a node, 0 if not, -1 if
 * `usable_cores` is 0 (unknown). Always 0 if the spec refuses oversubscription, or if compute is
 * replayed. */
int point_is_oversubscribed(const struct point *point, int usable_cores);

/* Sets the numbers, status and flags of the point from p->cells. Errors: ERR_DATA for malformed
 * cells. */
enum status point_read_cells(struct point_summary *p, struct error *e);

/* Returns the number in the point's cell of a column; NAN: unknown. Cells are rounded as in
 * summary.csv, so figures drawn from launches and from summary.csv are equal. */
double cell_number(const struct point_summary *p, enum column_id column);

/* Sets s->n_timed, s->n_accuracy, s->wall_s and s->core_s to sums over all points. Points with the
 * same id are counted once. */
void summary_add_up(struct summary *s);

/* Allocates and fills p->cells from the numbers of the point, its base and its peer. Free with
 * cells_free. Errors: ERR_MEMORY. */
enum status cells_fill(struct point_summary *p, const struct summary *s,
                       const struct point_samples *all, struct error *e);
void cells_free(char **cells);

/* Writes the name of the point's strategy, with variant, overlap and compressor unless default:
 * "gather_scatter (mpich)", "bucketed (poll_tiles)", "allreduce + fp16"; "" for a user's program.
 * Returns `text`. */
enum { STRATEGY_TEXT = 112 };
const char *strategy_text(char text[STRATEGY_TEXT], const struct point *point);

/* Lists the distinct texts of a column over all requested points, as "a, b" or "a, b and 3 more".
 * Strategies include their variant. Returns `text`. */
char *summary_distinct(char *text, size_t size, const struct summary *s, enum column_id id);
/* Lists the distinct kinds of the requested points, such as measured and emulated: kinds of
 * accuracy runs if `trained` is true, else of timed launches. Returns `text`. */
char *summary_kinds(char *text, size_t size, const struct summary *s, bool trained);

/* Prints `separator` and `text` in a heading; nothing if the text is unknown (""). */
void summary_print_part(FILE *out, const char *separator, const char *text);

/* Writes the number of images per step: "batch per rank 16", "4 micro-batches of 16 images per
 * rank", "global batch 64 in 4 micro-batches"; "" if unknown. Returns `text`. */
const char *summary_batch(char *text, size_t size, const struct summary *s);
