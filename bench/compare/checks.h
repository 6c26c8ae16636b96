/* Conditions that a run has to meet: "speedup >= 1.8 where ranks = 2", as bench/spec/condition.h says,
 * over the columns of summary.csv, their short names (step_ms of step_ms_median), metrics of the user's own and
 * options. A bound holds where the whole interval (speedup_lo, speedup_hi) holds it and is violated where no part of the
 * interval does. An interval that contains the bound leaves it undecided; so does a value that was measured once and has
 * no interval. A point without the value, because it failed, was skipped or does not measure it, violates. Intervals
 * are those of the table, each at its own level. */
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
    const char *file; /* with a condition a line, or NULL */
    const char *out, *home;
};

enum check_outcome { CHECK_HOLDS, CHECK_UNDECIDED, CHECK_VIOLATED };

struct check {
    char *text;       /* as written */
    const char *file; /* where it is written, borrowed; NULL: on the command line */
    int line;
    struct condition *demand, *where; /* where: NULL: at every point */
    enum check_outcome *outcomes;     /* one a point; CHECK_HOLDS where it does not apply */
    size_t points;                    /* that it applies to */
    enum check_outcome outcome;       /* the worst of them */
};

struct checking {
    struct side run;
    struct csv_table metrics; /* metrics.csv of the run; empty: it has none */
    double *values;           /* [metrics.rows], scratch */
    struct spec spec;         /* of the run, where a condition names an option */
    bool has_spec;
    size_t *points; /* [run.n], where has_spec: of each row */
    struct check *checks;
    size_t n;
    size_t outcomes[CHECK_VIOLATED + 1]; /* how often */
};

/* ERR_ARGUMENT with the place for what is no condition or names what nobody knows; ERR_UNAVAILABLE for a
 * `where` that no point meets. Freed with check_free in any case. */
enum status check_run(struct checking *c, const struct check_request *request, struct error *e);
void check_free(struct checking *c);

/* Finds fault with the `checks` of a spec before anything runs: ERR_SPEC with the place. */
enum status checks_check(const struct spec *spec, struct error *e);
/* What these come to, as text, of the tables of the run in that folder. *all_well: none is violated, with
 * `strict` none undecided either. A `where` that no point meets is ERR_UNAVAILABLE. */
enum status checks_tell(FILE *out, const struct spec *spec, const char *run_dir, bool strict,
                        bool *all_well, struct error *e);

/* The rows of any table, as points of a run without conditions: what names stand for in them is what check_look_up
 * says; options are known in a summary.csv beside its spec. Freed with check_free in any case. */
enum status check_read_table(struct checking *c, const char *path, struct error *e);

/* Where " where " begins outside of quotation marks; the end of the text where it does not. */
size_t check_find_where(const char *text);

/* What the name is at the point, as condition_lookup. */
struct check_point {
    const struct checking *c;
    size_t point;
};
bool check_look_up(struct condition_value *value, const char *name, const void *point);

/* The same value, which may come out anywhere. */
struct condition_value check_anywhere(const struct condition_value *value);

/* Whether some point of the spec reads a metric of this name from its program's output. */
bool check_is_metric(const struct spec *spec, const char *name);
/* Whether a column of summary.csv has numbers that another launch may change. */
bool check_is_measured(const char *column);
/* Whether the row lacks an interval since it was measured once. A base is 1 times itself, which no launch changes. */
bool check_is_single(const struct check_point *p, const char *name);
/* Whether the name is a column of numbers or a metric. */
bool check_is_number(const struct check_point *p, const char *name);

/* The column of summary.csv that the name calls, step_ms that of step_ms_median; NULL: none. */
const struct column *check_column(const char *name);

/* What the values of a name are: of a column of summary.csv or an option (`config` NULL: none is a program's own);
 * CONDITION_ANY: of anything else. */
enum condition_kind check_kind(const char *name, const struct config *config);

/* The column of summary.csv, by its short name, or the option (NULL: none is a program's own) that is nearest. */
enum status check_find_near(char near[NAME_NEAR_BYTES], const char *name,
                            const struct config *config, struct error *e);

/* Whether the name is a time relative to that of the base: 1 at a base. */
bool check_is_relative(const char *name);
/* Whether it is its own base. */
static inline bool check_is_base(const struct side_point *point)
{
    return strcmp(point->id, point->base) == 0;
}

/* ---- What no run can decide ---- */

/* What names may be. */
struct check_names {
    condition_lookup *known;
    const void *arg;
    const struct spec *spec; /* NULL: it is not known */
    bool open;               /* whoever typed a SET may have changed it */
    bool ranges;             /* numbers lie in the ranges of their columns */
};

/* ERR_ARGUMENT for a name that is unknown, with the nearest, and for what no point can meet or every point meets. */
enum status check_terms(const struct check *check, const struct check_names *names,
                        struct error *e);
/* Converts the right one of two compared columns or options to the unit of the left one: step_ms < read_s. Returns false
 * for units of other kinds, and for a name compared with itself; `why` says so. */
bool check_convert(char why[CONDITION_WHY], struct condition *c, const struct config *config);
/* ERR_ARGUMENT for a demand on speed-ups of bases alone. */
enum status check_beside_bases(const struct check *check, struct error *e);

/* Whether the table has intervals of that column: a row without one was measured too few times to have one. */
bool check_has_interval(const struct csv_table *table, const char *name);
