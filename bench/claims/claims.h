/* Judges claims of publications by numbers. A file such as results/claims.yaml lists them:
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
 * values. A file is a table of a run, run/file.csv, or lies in published/ beside the claims. Names
 * of columns are resolved as in `scalebench check`, with their intervals and, for summary.csv, the
 * options of the points.
 *
 * The verdict evaluates `holds` over intervals of 95 %. A cell of a summary has its own interval if
 * that reaches 95 %. The median of at least six launches has an interval of order statistics, the
 * median of two to five launches one of Student's t. Rows of one launch count as one measurement,
 * their median. Any other measured cell has an unbounded interval. Counted and published numbers
 * are exact.
 *
 * A claim that nothing here can judge has `untestable: reason` instead of `holds`. A claim whose
 * run is missing is not testable until the run exists. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/record/csv.h"
#include "bench/runner/files.h"
#include "bench/spec/condition.h"
#include "bench/spec/yaml_reader.h"
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

struct claim_value {
    const char *name, *text; /* borrowed from `root` of the claims */
    struct mark mark;        /* place of `text` in the file */
    struct interval number;  /* lo = mid = hi if exact; NAN for a word */
    char *word;              /* text of a cell that is not a number, else NULL */
    char *rows;    /* rows of the cell, "published/a.csv#L3 published/a.csv#L5-L7"; "" or NULL
                      for arithmetic */
    int line;      /* line of the row that holds the number; 0: computed from several rows */
    bool of_table; /* it is a cell, or arithmetic over one */
    bool withheld; /* its interval is withheld because ranks share cores */
};

struct claim {
    const char *id, *kind, *place, *says,
        *untestable; /* borrowed; untestable is NULL for a claim that is judged */
    struct claim_value *values;
    size_t n;
    struct condition *holds; /* condition of the claim; NULL if untestable */
    struct mark holds_mark;
    enum claim_verdict verdict;
    char reason[768];  /* reason of an undecided or untestable claim, else "" */
    unsigned evidence; /* kinds of evidence, bits 1 << enum claim_evidence */
    char *command;     /* commands that measure its runs, separated by "; "; NULL: none */
};

struct claim_table;

struct claims {
    char path[PATH_BYTES], folder[PATH_BYTES]; /* paths of the file and of its folder */
    struct node root;
    struct claim *claims;
    size_t n;
    size_t verdicts[CLAIM_VERDICTS]; /* number of claims with each verdict */
    struct claim_table **tables;     /* tables read so far */
    size_t n_tables;
};

/* Reads a file of claims and judges each claim. Errors: ERR_SPEC with line and column for mistakes
 * in the file, ERR_DATA with file and line for unreadable tables. Call claims_free in any case. */
enum status claims_judge(struct claims *c, const char *path, struct error *e);
void claims_free(struct claims *c);

/* Lists on `out` the claims whose verdict differs from the table at `path`, and claims that only
 * one of both has. *differing is their number. A missing table differs in every claim. */
enum status claims_compare(FILE *out, const struct claims *c, const char *path, size_t *differing,
                           struct error *e);

/* Reads the story: the marked part of README.md beside the claims. *text is the caller's to free,
 * NULL if there is no such file; *line is the line where the part begins. */
#define STORY_FILE "README.md"
enum status claims_read_story(char **text, int *line, const struct claims *c, struct error *e);

/* Checks the links of the story, whose addresses are file#Lline. The words of a link must be the
 * verdict or the value at its address, to the number of digits written. Lists wrong links on `out`;
 * *wrong is their number. */
enum status claims_check_story(FILE *out, const struct claims *c, size_t *wrong, struct error *e);

/* Reads a Markdown link "[words](address)" at `open`. Returns false for a bracket that begins no
 * link. *link borrows from the text. */
struct story_link {
    const char *words, *address;
    size_t words_length, address_length;
};
bool story_link_at(struct story_link *link, const char *open);

typedef void claims_writer(FILE *out, const struct claims *c);
#define CLAIM_FORMAT(name, writer, meaning) claims_writer writer;
#include "bench/claims/claim_formats.def"

/* Finds the writer of a format. The message of ERR_ARGUMENT lists all formats. */
enum status claims_find_writer(claims_writer **writer, const char *name, struct error *e);

/* Writes "63 claims: 20 survive, 15 fail ...", counting the claims on the report of `of`; NULL: all
 * claims. */
void claims_write_counts(FILE *out, const struct claims *c, const struct claim *of);

/* Returns the *n columns of claims.csv, from csv_claims.def. */
const struct column *claims_columns(size_t *n);

/* ---- Internal to bench/claims ---- */

/* Reads the file without judging. */
enum status claims_read(struct claims *c, const char *path, struct error *e);

/* Frees the tables that claims have read. */
void claim_tables_free(struct claims *c);

/* Computes the i-th value of a claim, after all earlier values. If a run or row is missing,
 * claim->reason names it. */
enum status claim_find_value(struct claim *claim, size_t i, struct claims *c, struct error *e);

/* Computes the i-th value of a claim as arithmetic over earlier values. NAN if one of them is
 * missing. */
enum status claim_find_sum(struct claim *claim, size_t i, struct error *e);

/* Sets ERR_SPEC at the value's place, with its name and text before `why`. */
enum status claim_refuse_value(const struct claim_value *value, struct error *e, const char *why);

/* Writes "'x' is unknown; known: ..." with the names of the first n values. */
enum status claim_explain_name(char *text, size_t size, const struct claim *claim, size_t n,
                               const char *name, struct error *e);

/* Looks up a value of a claim by name. Is a condition_lookup. */
bool claim_look_up(struct condition_value *value, const char *name, const void *claim);

/* Writes the address of a value: its row or consecutive rows, as "published/a.csv#L3". A value from
 * other rows has the address of the claim's row in claims.csv, as has the verdict (`value` NULL).
 * `index` is the claim's index. Returns `text`. */
enum { CLAIM_ADDRESS = 320 };
char *claim_address(char text[CLAIM_ADDRESS], const struct claim_value *value, size_t index);

/* Writes a value to `digits` significant digits, as "240.6" or "1.93 [1.81, 2.08]", or its word.
 * Returns `text`. */
enum { CLAIM_VALUE_TEXT = 160 };
char *claim_value_text(char text[CLAIM_VALUE_TEXT], const struct claim_value *value, int digits);
