/* Conditions on the results of a run, such as "speedup >= 1.8 where ranks = 2" (grammar:
 * bench/spec/condition.h). Names are options, metrics of a user's program, and columns of
 * summary.csv, also in short form (step_ms for step_ms_median).
 *
 * A condition holds at a point if it holds for every number in the value's confidence interval. It
 * is violated if it holds for none of these numbers, otherwise undecided. If a value was measured
 * only once, or lacks its usual interval, its interval is unbounded. A missing number that the
 * condition needs violates it. So does a missing text at a point that failed or was skipped.
 * Intervals of metrics are computed; all other intervals come from summary.csv. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/compare/side.h"
#include "bench/spec/condition.h"
#include "bench/spec/spec.h"
#include "kernels/base/names.h"

struct check_request {
    const char *run;
    const char *const *conditions;
    size_t n_conditions;
    const char *file; /* path of a file with one condition per line; NULL: none */
    const char *out, *home;
};

enum check_outcome { CHECK_HOLDS, CHECK_UNDECIDED, CHECK_VIOLATED };

struct check {
    char *text;       /* the whole condition as the user typed it */
    const char *file; /* file that the condition was read from, borrowed; NULL: command line */
    int line;
    /* parts of the condition before and after the word "where"; the second part is NULL if the
     * condition has no such word and applies to every point */
    struct condition *demand, *where;
    /* [points of the run] outcome at each point; CHECK_HOLDS if the condition does not apply to the
     * point */
    enum check_outcome *outcomes;
    size_t points;              /* number of points that the condition applies to */
    enum check_outcome outcome; /* worst outcome of all points */
};

struct checking {
    struct side run;
    struct csv_table metrics; /* metrics.csv of the run; a table of 0 rows if the run has no such
                                 file */
    double *values;           /* [metrics.rows] scratch space for the values of one metric */
    struct spec spec;         /* spec from the folder of summary.csv; valid if has_spec */
    bool has_spec;
    size_t *points; /* [run.n] index in `spec` of each row's point; NULL if there is no spec */
    struct check *checks;
    size_t n;
    size_t outcomes[CHECK_VIOLATED + 1]; /* number of checks with each outcome */
};

/* Evaluates the conditions on a run. Errors: ERR_ARGUMENT with file and line for a malformed
 * condition or an unknown name; ERR_UNAVAILABLE if the run has no points, or no point matches a
 * `where`. Call check_free in any case. */
enum status check_run(struct checking *c, const struct check_request *request, struct error *e);
void check_free(struct checking *c);

/* Before a run, refuses conditions in the spec's list `checks` that no run could decide, or that
 * repeat or contradict another condition. Errors: ERR_SPEC with file and line. */
enum status checks_check(const struct spec *spec, struct error *e);
/* Evaluates the spec's list `checks` on the run in `run_dir` and prints the outcomes. *all_well:
 * whether no condition is violated and, with `strict`, none is undecided. ERR_UNAVAILABLE if the
 * run has no points, or if the `where` of a condition matches no point. */
enum status checks_report(FILE *out, const struct spec *spec, const char *run_dir, bool strict,
                          bool *all_well, struct error *e);

/* Reads a CSV table and treats each row as a point, for check_look_up. Options are known only for a
 * summary.csv with its spec beside it. Call check_free in any case. */
enum status check_read_table(struct checking *c, const char *path, struct error *e);

/* Returns the offset of the word `where` in a condition, outside quotation marks; the length of the
 * text if the word is missing. */
size_t check_find_where(const char *text);

/* A point of a run, as argument of check_look_up. */
struct check_point {
    const struct checking *c;
    size_t point;
};
bool check_look_up(struct condition_value *value, const char *name, const void *point);

/* Returns the value with an interval from -infinity to infinity. */
struct condition_value check_anywhere(const struct condition_value *value);

/* Returns whether a column of summary.csv is measured, so that another run can give another
 * value. */
bool check_is_measured(const char *column);
/* Returns whether a value without an interval is uncertain. True for a metric, for a column of
 * summary.csv that has interval columns, and for a measured value from at most one launch and one
 * accuracy run. False for the speed-up and efficiency of a base, which are 1. */
bool check_is_single(const struct check_point *p, const char *name);
/* Returns whether the name is a numeric column or a metric. */
bool check_is_number(const struct check_point *p, const char *name);

/* Returns the column of summary.csv with this name; NULL: none. The ending "_median" may be
 * omitted: step_ms selects step_ms_median. */
const struct column *check_column(const char *name);

/* Returns the kind of values of `name`, a column of summary.csv or an option. CONDITION_ANY for
 * other names. config: supplies options of a user's program; NULL: none. */
enum condition_kind check_kind(const char *name, const struct config *config);

/* Writes a suggestion to `near`, such as "; nearest 'speedup'": the column or option most similar
 * to the unknown `name`. Writes "" if none is similar. config: supplies options of a user's
 * program; NULL: none. Errors: ERR_MEMORY. */
enum status check_find_near(char near[NAME_NEAR_BYTES], const char *name,
                            const struct config *config, struct error *e);

/* Returns whether the column is speedup or efficiency. Both are ratios to the base, so their value
 * is 1 at a base. */
bool check_is_relative(const char *name);
/* Returns whether the point is its own base. */
static inline bool check_is_base(const struct side_point *point)
{
    return strcmp(point->id, point->base) == 0;
}

/* ---- Conditions that no run can decide ---- */

/* Names that a condition may use: all names that `known`, called with `arg`, can look up. */
struct check_names {
    condition_lookup *known;
    const void *arg;
    const struct spec *spec; /* spec of the run; NULL: unknown */
    /* whether to accept a condition that conflicts only with options whose values come from --set,
     * the spec's option `quick` or the machine */
    bool open;
    bool ranges; /* whether to refuse comparisons that are always true or always false; false for
                    the checks of a recorded spec (spec.yaml of an existing run) */
};

/* Refuses unknown names and suggests the most similar known one. If names->ranges is true, also
 * refuses comparisons that hold for every possible value, or for none; comparisons after `where`
 * are exempt. Errors: ERR_ARGUMENT. */
enum status check_terms(const struct check *check, const struct check_names *names,
                        struct error *e);
/* Converts both sides of each comparison, such as step_ms < read_s, to one unit. Returns false,
 * with the reason in `why`, if the units differ in kind (time and size) or both sides are the same
 * expression. */
bool check_convert(char why[CONDITION_WHY], struct condition *c, const struct config *config);
/* Refuses a condition that uses only speed-up and efficiency, which are always 1 at a base. The
 * caller must ensure that the condition applies only to bases. Errors: ERR_ARGUMENT. */
enum status check_beside_bases(const struct check *check, struct error *e);

/* Returns whether the table has intervals for this column. In such a table, a row without an
 * interval has too few launches, or its interval is withheld. */
bool check_has_interval(const struct csv_table *table, const char *name);
