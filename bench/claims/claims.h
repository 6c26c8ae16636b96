/* Judges claims of publications by measured numbers. A file such as results/claims.yaml lists the
 * claims:
 *
 *   runs:                                     # runs in reference/ and their commands
 *     overlap: make references NAMES=overlap
 *   claims:
 *     - id: kota/one_sum                      # report and name
 *       kind: time                            # a row of kinds.def
 *       place: section 5.4, figure 8          # in the report
 *       says: Gathering takes longer than allreduce.
 *       values:
 *         gather: step_ms of overlap/summary.csv where sync.strategy = gather_scatter
 *         allreduce: step_ms of overlap/summary.csv where sync.strategy = allreduce_layer
 *         ratio: gather / allreduce
 *       holds: ratio > 1
 *
 * A value is a cell, "[reduction] column of file [where condition]", or arithmetic over earlier
 * values. `file` is run/file.csv for a run in reference/, or file.csv for a table in published/.
 * Both folders are beside the claims file. Names in `column` and `condition` are columns or, for
 * summary.csv, also options of the points.
 *
 * The verdict evaluates `holds` over 95 % intervals of the values. A cell takes its interval from
 * columns *_lo and *_hi unless their confidence level is known to be below 95 %. `median of` a
 * column has an interval from order statistics for six or more launches, and from Student's t for
 * two to five. A launch counts once, by the median of its rows. A cell with none of these intervals
 * is unbounded if the table has columns *_lo and *_hi for the cell's column, if this column is a
 * measured one of summary.csv, or if the cell is a `median of` one row or one launch of a run. The
 * remaining cells, such as counted and published numbers, are exact.
 *
 * For two medians over different launches, "a - b" and "a / b" have the estimate and interval of
 * two_samples_shift (bench/base/two_samples.h); "a / b" uses logarithms. For two medians over the
 * same launches, each launch gives one difference or quotient, and the interval is computed for the
 * median of these numbers. For all other arithmetic, the interval reaches from the smallest to the
 * largest result over the intervals of the values. Differences and quotients also get this interval
 * if a sample is too small for 95 %, or if raw.csv lacks the column (such as speedup).
 *
 * A claim that cannot be judged has `untestable: reason` instead of `holds`. A claim whose run is
 * missing is not testable until the run exists. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/csv.h"
#include "bench/runner/files.h"
#include "bench/spec/condition.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/stats.h"

enum claim_verdict {
#define CLAIM_VERDICT(id, name, count, meaning) CLAIM_##id,
#include "bench/claims/verdicts.def"
    CLAIM_VERDICTS
};
extern const char *const claim_verdict_names[CLAIM_VERDICTS];

enum claim_evidence {
#define CLAIM_EVIDENCE(name, meaning) EVIDENCE_##name,
#include "bench/claims/evidence.def"
    CLAIM_EVIDENCES
};
extern const char *const claim_evidence_names[CLAIM_EVIDENCES];

enum claim_method {
#define CLAIM_METHOD(id, name, meaning) METHOD_##id,
#include "bench/claims/methods.def"
    CLAIM_METHODS
};

struct claim_table;

struct claim_value {
    const char *name, *text; /* name and text of the value, such as "ratio" and "gather /
                                allreduce"; borrowed from claims.root */
    struct mark mark;        /* line and column of `text` in the file */
    struct interval number;  /* number with its interval; lo = mid = hi if the number is exact, mid
                                = NAN if the value is a text or unknown */
    char *word;              /* the cell's text, owned; NULL: the value is a number or unknown */
    char *rows; /* addresses of the cell's rows, "published/a.csv#L3 published/a.csv#L5-L7"; "": no
                   row matches; NULL: arithmetic, or the table is not measured yet */
    int line;   /* line of the row that `min of` or `max of` selects; 0: neither reduction */
    const struct claim_table *table; /* table that has the cell; NULL: computed from other values */
    char column[64];                 /* name of the cell's column */
    size_t *found, n_found;          /* [n_found] indices of the cell's rows in its table, owned */
    struct condition_unit unit;      /* unit in the column's name, or common unit of a sum's values;
                                   unit.text NULL: no unit (for example a product) or unknown */
    bool sampled;                    /* whether the value is one row's cell or a median over rows;
                                        false for other reductions and arithmetic */
    bool of_table;                   /* the value is a table cell or computed from table cells */
    enum claim_method method;        /* method that gave the interval of an arithmetic value */
    size_t launches[2];              /* number of launches of each operand in "a - b" or "a / b"; 0:
                                        the interval is computed from the operands' intervals
                                        (METHOD_CORNERS); more launches are assumed not to change
                                        the method */
    bool withheld;                   /* the value has no interval because ranks share cores */
};

/* Number of launches per point, existing ones included, that would decide an undecided claim. The
 * estimate assumes that the claim's values stay the same, and that their intervals shrink as for
 * normally distributed values. */
struct claim_need {
    bool known;      /* whether an estimate exists. It needs an undecided claim, launches in raw.csv
                        and intervals that can shrink */
    bool seeds;      /* the launches are accuracy runs, one per seed */
    bool at_least;   /* whether `launches` is only a lower bound, because a cell has too few
                        launches for an interval */
    size_t now;      /* number of launches so far: minimum over the claim's cells */
    size_t launches; /* launches per point that would decide the claim; 0: CLAIM_LAUNCHES_MAX
                             launches would not decide it */
    double seconds;  /* wall time of `launches` launches of every point that the claim uses,
                             from the mean wall time of existing launches */
    enum claim_verdict expected;     /* verdict once each point has `launches` launches, if values
                                        stay the same; valid if launches > 0 */
    const struct claim_value *value; /* first value whose interval leaves the claim undecided;
                                        borrowed */
    struct interval width;           /* expected interval of `value` (bounds and middle) after
                                        `launches` launches */
    struct claim_launch {
        const struct claim_table *raw;
        size_t row;
    } * used; /* [n_used] rows of raw.csv behind the claim's cells */
    size_t n_used;
};
enum { CLAIM_LAUNCHES_MAX = 1000000, CLAIM_DAY_S = 86400 };

/* confidence level of every interval that a verdict uses */
#define CLAIM_LEVEL 0.95

struct claim {
    const char *id, *kind, *place, *says,
        *untestable; /* texts of the claim's keys, borrowed; `untestable`: why the claim cannot be
                        judged, else NULL */
    struct claim_value *values;
    size_t n;
    struct condition *holds; /* condition that decides the verdict; NULL if untestable */
    struct mark holds_mark;
    enum claim_verdict verdict;
    char reason[768]; /* reason of an undecided or untestable claim, else "" */
    /* whether claims_write_text and claims_write_counts omit the claim; set by claims_select */
    bool left_out;
    unsigned evidence; /* union of the evidence of all values: bits 1 << enum claim_evidence */
    char *command;     /* commands that measure the claim's runs, separated by "; "; NULL: none */
    struct claim_need need;
};

struct claims {
    char path[PATH_BYTES], folder[PATH_BYTES]; /* path of the claims file, and of the folder that
                                                  contains it */
    struct node root;
    struct claim *claims;
    size_t n;
    size_t verdicts[CLAIM_VERDICTS]; /* [verdict] number of claims with this verdict */
    struct claim_table **tables;     /* [n_tables] tables that claims have used so far, each read
                                        once */
    size_t n_tables;
};

/* Reads a file of claims and judges each claim. Call claims_free in any case. Errors: ERR_ARGUMENT
 * if `path` does not end in .yaml or .yml, ERR_SPEC for mistakes in the file, ERR_DATA for
 * unreadable tables. */
enum status claims_judge(struct claims *c, const char *path, struct error *e);
void claims_free(struct claims *c);

/* Restricts claims_write_text and claims_write_counts to the claims that `of` names: claims of a
 * report ("kota"), one claim ("kota/one_sum") or claims with values of a run ("overlap").
 * ERR_ARGUMENT if `of` names no claim. */
enum status claims_select(struct claims *c, const char *of, struct error *e);

/* Compares the verdicts with an earlier claims.csv at `path`. Lists on `out` each claim whose
 * verdict differs, or that is new or missing. *differing: number of these claims. Without such a
 * file, every claim differs. */
enum status claims_compare(FILE *out, const struct claims *c, const char *path, size_t *differing,
                           struct error *e);

/* Reads the story, the text between begin_mark and end_mark (story.c) in the README.md beside the
 * claims file. *line: line where the story begins. The caller frees *text, which is NULL if there
 * is no README.md, or if the claims file is not called claims.yaml. */
#define STORY_FILE "README.md"
enum status claims_read_story(char **text, int *line, const struct claims *c, struct error *e);

/* Checks the story's links "[words](FILE#L<line>)" to rows of CSV tables. The words of a link must
 * be the verdict or a rounded value of a claim. FILE#L<line> must be the address of this verdict or
 * value (claim_address). Lists wrong links on `out`; *wrong is their number. */
enum status claims_check_story(FILE *out, const struct claims *c, size_t *wrong, struct error *e);

/* Markdown link "[words](address)". Its members point into the text that story_link_at reads.
 * story_link_at returns false if no link begins at `open`. */
struct story_link {
    const char *words, *address;
    size_t words_length, address_length;
};
bool story_link_at(struct story_link *link, const char *open);

typedef void claims_writer(FILE *out, const struct claims *c);
#define CLAIM_FORMAT(name, writer, plan_writer, meaning) claims_writer writer, plan_writer;
#include "bench/claims/claim_formats.def"

/* Finds the function that writes the verdicts in format `name` or, if `plan` is true, the plan. The
 * plan lists the launches that would decide each undecided claim, sorted by the number of claims
 * decided per second of measurement, highest first. ERR_ARGUMENT if `name` is unknown. */
enum status claims_find_writer(claims_writer **writer, const char *name, bool plan,
                               struct error *e);

/* Writes "63 claims: 20 survive, 15 fail ...". Counts the claims of the published report that
 * contains claim `of`; if `of` is NULL, the claims of all reports. Claims that claims_select left
 * out do not count. */
void claims_write_counts(FILE *out, const struct claims *c, const struct claim *of);

/* Columns of claims.csv and of the table that `claims --plan` writes, from csv_claims.def and
 * csv_plan.def. */
extern const struct csv_file claims_file, claims_plan_file;

/* ---- Internal to bench/claims ---- */

/* Reads the file of claims without judging them. */
enum status claims_read(struct claims *c, const char *path, struct error *e);

void claim_tables_free(struct claims *c);

/* Computes the i-th value of a claim from table cells or earlier values. Returns OK with
 * claim->reason set if a run's table is not measured yet, or if none of its matching rows has a
 * value. Reduction `count` needs no value: it gives the number of matching rows. ERR_SPEC if no
 * matching row of a published table has a value. */
enum status claim_find_value(struct claim *claim, size_t i, struct claims *c, struct error *e);

/* Computes the i-th value of a claim as arithmetic over earlier values. NAN if claim->reason is
 * already set. Division by 0 gives NAN and sets claim->reason, but is ERR_SPEC if all numbers of
 * the claim are published. */
enum status claim_find_sum(struct claim *claim, size_t i, struct error *e);

/* Replaces the interval of a value "a - b" or "a / b" by an interval computed from the launches of
 * a and b. Keeps the interval if this is not possible, for example with too few launches. Other
 * values stay as they are. */
enum status claim_compare_samples(struct claim *claim, size_t i, struct claims *c, struct error *e);

/* Returns the 95 % interval of the median of n >= 1 launches: by order statistics for six or more,
 * by Student's t for two to five, unbounded for one. */
struct interval claim_median_interval(const double *x, size_t n);

/* Returns the unit of a claim's value (a condition_unit_of callback). Units of different size, such
 * as s and ms, get different kinds, so that they cannot be added or compared. */
struct condition_unit claim_unit_of(const char *name, const void *claim);

/* Returns the name of the method that computed the interval of an arithmetic value. NULL: the value
 * is a cell or is exact, or a bound of its interval is infinite. */
const char *claim_method_name(const struct claim_value *value);

/* Sets ERR_SPEC at the value's line and column. The message is the value's name and text, then
 * `why`. Returns ERR_SPEC. */
enum status claim_refuse_value(const struct claim_value *value, struct error *e, const char *why);

/* Writes "'x' is unknown; known: ..." with the names of the claim's first n values. */
enum status claim_explain_name(char *text, size_t size, const struct claim *claim, size_t n,
                               const char *name, struct error *e);

/* Returns whether the claim would be undecided if every value except `name` were exact. */
bool claim_is_open(const struct claim *claim, const char *name);

/* Sets claim->need: the launches that would decide an undecided claim. Adds their number, if known,
 * to claim->reason. */
enum status claim_find_need(struct claim *claim, struct claims *c, struct error *e);

/* Returns the expected half width of claim_median_interval for n launches, in standard deviations
 * of one launch; infinite if n < 2. */
double claim_expected_width(size_t n);

/* Returns the expected half width of the two-sample interval over n and m launches, in standard
 * deviations of one launch. Infinite if n or m is too small. */
double claim_expected_shift(size_t n, size_t m);

/* A condition_lookup callback: looks up a claim's value by name. */
bool claim_look_up(struct condition_value *value, const char *name, const void *claim);

/* Writes the address of the table row behind a value, such as "published/a.csv#L3", or of several
 * consecutive rows ("published/a.csv#L5-L7"). The verdict (`value` NULL) and values without such an
 * address get the address of the claim's row in claims.csv. `index`: index of the claim in the
 * claims file. Returns `text`. */
enum { CLAIM_ADDRESS = 320 };
char *claim_address(char text[CLAIM_ADDRESS], const struct claim_value *value, size_t index);

/* claim_value_text writes a value with `digits` significant digits, such as "240.6" or "1.93 [1.81,
 * 2.08]". An exact whole number is written in full. If the value is a text, the text is written.
 * Returns `text`. */
enum { CLAIM_VALUE_TEXT = 160 };
char *claim_value_text(char text[CLAIM_VALUE_TEXT], const struct claim_value *value, int digits);
