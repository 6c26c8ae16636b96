/* Conditions on the results of a run, such as "speedup >= 1.8 where ranks = 2" (grammar:
 * bench/spec/condition.h). Names are columns of summary.csv, their short forms (step_ms for
 * step_ms_median), metrics of a user's program, and options.
 *
 * A bound holds if it holds over the whole interval (speedup_lo, speedup_hi). It is violated if it
 * holds nowhere in the interval, else undecided. A measured value without an interval is undecided.
 * A point that failed, was skipped or lacks the value violates the bound. Intervals are those of
 * the table, each at its own level. */
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
    const char *file; /* file with one condition per line, or NULL */
    const char *out, *home;
};

enum check_outcome { CHECK_HOLDS, CHECK_UNDECIDED, CHECK_VIOLATED };

struct check {
    char *text;       /* text of the condition as typed */
    const char *file; /* file of the condition, borrowed; NULL: command line */
    int line;
    struct condition *demand, *where; /* `where` is NULL if the condition applies to every point */
    enum check_outcome *outcomes;     /* [points of the run]; CHECK_HOLDS if the condition does
                                         not apply */
    size_t points;                    /* number of points that the condition applies to */
    enum check_outcome outcome;       /* worst outcome of all points */
};

struct checking {
    struct side run;
    struct csv_table metrics; /* metrics.csv of the run; empty: none */
    double *values;           /* [metrics.rows] scratch for values of a metric */
    struct spec spec;         /* spec beside the tables; valid if has_spec */
    bool has_spec;
    size_t *points; /* [run.n] index of each row's point in `spec`; NULL without has_spec */
    struct check *checks;
    size_t n;
    size_t outcomes[CHECK_VIOLATED + 1]; /* number of checks with each outcome */
};

/* Evaluates the conditions on a run. Errors: ERR_ARGUMENT with file and line for a malformed
 * condition or an unknown name; ERR_UNAVAILABLE if no point matches a `where`. Call check_free in
 * any case. */
enum status check_run(struct checking *c, const struct check_request *request, struct error *e);
void check_free(struct checking *c);

/* Refuses conditions under `checks` of a spec that no run could decide, before anything runs.
 * Errors: ERR_SPEC with file and line. */
enum status checks_check(const struct spec *spec, struct error *e);
/* Evaluates the `checks` of a spec on the run in `run_dir` and prints them. *all_well is false if
 * one is violated, or undecided under `strict`. Errors: ERR_UNAVAILABLE if no point matches a
 * `where`. */
enum status checks_report(FILE *out, const struct spec *spec, const char *run_dir, bool strict,
                          bool *all_well, struct error *e);

/* Reads the rows of any CSV table as points, without conditions; check_look_up then resolves names.
 * Options are known for a summary.csv beside its spec. Call check_free in any case. */
enum status check_read_table(struct checking *c, const char *path, struct error *e);

/* Returns the offset of the keyword where in a condition, outside quotation marks; the length of
 * the text if there is none. */
size_t check_find_where(const char *text);

/* A point of a run, for look-ups of names. */
struct check_point {
    const struct checking *c;
    size_t point;
};
bool check_look_up(struct condition_value *value, const char *name, const void *point);

/* Returns the value with an unbounded interval. */
struct condition_value check_anywhere(const struct condition_value *value);

/* Returns whether a column of summary.csv is a measurement, which another run could change. */
bool check_is_measured(const char *column);
/* Returns whether the value was measured once and so has no interval. The speed-up of a base is no
 * measurement: it is 1. */
bool check_is_single(const struct check_point *p, const char *name);
/* Returns whether the name is a numeric column or a metric. */
bool check_is_number(const struct check_point *p, const char *name);

/* Returns the column of summary.csv for a name; step_ms stands for step_ms_median. NULL: none. */
const struct column *check_column(const char *name);

/* Returns the kind of values of a column of summary.csv or of an option (`config` NULL: without
 * options of a user's program). CONDITION_ANY for other names. */
enum condition_kind check_kind(const char *name, const struct config *config);

/* Writes a hint that names the most similar column or option to `near` (`config` NULL: without
 * options of a user's program). */
enum status check_find_near(char near[NAME_NEAR_BYTES], const char *name,
                            const struct config *config, struct error *e);

/* Returns whether the column is relative to the base, so 1 at a base: speedup, efficiency. */
bool check_is_relative(const char *name);
/* Returns whether the point is its own base. */
static inline bool check_is_base(const struct side_point *point)
{
    return strcmp(point->id, point->base) == 0;
}

/* ---- Conditions that no run can decide ---- */

/* Names that a condition may contain. */
struct check_names {
    condition_lookup *known;
    const void *arg;
    const struct spec *spec; /* spec of the run; NULL: unknown */
    bool open;               /* a SET on the command line may have changed the spec */
    bool ranges;             /* numbers must lie in the ranges of their columns */
};

/* Refuses unknown names and suggests the most similar one. Refuses terms that are true, or false,
 * at every point. Errors: ERR_ARGUMENT. */
enum status check_terms(const struct check *check, const struct check_names *names,
                        struct error *e);
/* Converts comparisons of two columns or options to the unit of the left one, as in step_ms <
 * read_s. Returns false with a reason in `why` if the units differ in kind or both names are the
 * same. */
bool check_convert(char why[CONDITION_WHY], struct condition *c, const struct config *config);
/* Refuses a condition on the speed-up or efficiency of bases alone. Errors: ERR_ARGUMENT. */
enum status check_beside_bases(const struct check *check, struct error *e);

/* Returns whether the table has interval columns for this column. A row without an interval then
 * has too few launches. */
bool check_has_interval(const struct csv_table *table, const char *name);
