/* What numbers say of the claims of publications. A file lists them, results/claims.yaml:
 *
 *   runs:                                     # folders in reference/ beside it: what measures each
 *     overlap: make references NAMES=overlap
 *   claims:
 *     - id: kota/one_sum                      # report and name
 *       kind: time                            # of kinds.def
 *       place: section 5.4, figure 8          # in the report
 *       says: Gathering takes longer than allreduce.
 *       values:
 *         gather: step_ms of overlap/summary.csv where sync.strategy = gather_scatter
 *         allreduce: step_ms of overlap/summary.csv where sync.strategy = allreduce_layer
 *         ratio: gather / allreduce
 *       holds: ratio > 1
 *
 * A value is a cell, [reduction] column of file [where condition], or arithmetic over the values before it.
 * Files are those of a run, run/file.csv, or of published/ beside the claims. Columns are called as by
 * `scalebench check`, which knows their intervals and, of summary.csv, the options of the points. The verdict is
 * what `holds` comes to over intervals of 95 %: of a summary's cells its own, where it has that level; of the
 * median of six and more launches that of order statistics, of two to five Student's, rows of one launch being one
 * measurement by their median; else there is none, and the cell may be anything. Counted and published numbers are
 * what they are. A claim has `untestable: reason` instead of `holds` where
 * nothing here can judge it; one that rests on a run which is not there yet is not testable until it is. */
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
    const char *name, *text; /* borrowed from the tree of the file */
    struct mark mark;        /* of the text */
    struct interval number;  /* lo = mid = hi where it is exact; NAN of a word */
    char *word;              /* of a cell that is no number, else NULL */
    char *rows;    /* "published/a.csv#L3 published/a.csv#L5-L7"; "" or NULL of arithmetic */
    int line;      /* of the row that the number itself stands in; 0: it is made of several */
    bool withheld; /* without an interval since its ranks share cores */
};

struct claim {
    const char *id, *kind, *place, *says,
        *untestable; /* borrowed; untestable: NULL: it is judged */
    struct claim_value *values;
    size_t n;
    struct condition *holds; /* NULL with untestable */
    struct mark holds_mark;
    enum claim_verdict verdict;
    char reason[768];  /* why it is not testable, or what leaves it undecided; else "" */
    unsigned evidence; /* 1 << enum claim_evidence, of each that it rests on */
    char *command;     /* what measures its runs; "" */
};

struct claim_table;

struct claims {
    char path[PATH_BYTES], folder[PATH_BYTES]; /* of the file, and where that lies */
    struct node root;
    struct claim *claims;
    size_t n;
    size_t verdicts[CLAIM_VERDICTS]; /* how often */
    struct claim_table **tables;     /* that were read, so that each is read once */
    size_t n_tables;
};

/* Reads a file of claims and judges each. ERR_SPEC with its place for what is wrong in it, ERR_DATA with
 * file and line for tables that cannot be read. Freed with claims_free in any case. */
enum status claims_judge(struct claims *c, const char *path, struct error *e);
void claims_free(struct claims *c);

/* Names on `out` each claim whose verdict differs from that in the table at `path`, and those that one of
 * both does not have; *differing counts them. A table that is not there has none. */
enum status claims_compare(FILE *out, const struct claims *c, const char *path, size_t *differing,
                           struct error *e);

/* The story: what README.md beside the claims has between the lines that say so. *text is the caller's to free, NULL where
 * there is no such file; *line: where it begins. */
#define STORY_FILE "README.md"
enum status claims_read_story(char **text, int *line, const struct claims *c, struct error *e);

/* Names on `out` each link of the story whose words are not what stands at its address, file#Lline: a verdict, or a value
 * to as many digits as are written. *wrong counts them. */
enum status claims_check_story(FILE *out, const struct claims *c, size_t *wrong, struct error *e);

/* "[words](address)" at `open`; false: a bracket of the text. */
struct story_link {
    const char *words, *address;
    size_t words_length, address_length;
};
bool story_link_at(struct story_link *link, const char *open);

typedef void claims_writer(FILE *out, const struct claims *c);
#define CLAIM_FORMAT(name, writer, meaning) claims_writer writer;
#include "bench/claims/claim_formats.def"

/* The writer of that name; ERR_ARGUMENT names all of them. */
enum status claims_find_writer(claims_writer **writer, const char *name, struct error *e);

/* "63 claims: 20 survive, 15 fail ..." of the claims on the report of one; NULL: of all. */
void claims_write_counts(FILE *out, const struct claims *c, const struct claim *of);

/* The columns of claims.csv, which stand in csv_claims.def. */
const struct column *claims_columns(size_t *n);

/* ---- Inside ---- */

/* The shape of the file, nothing judged. */
enum status claims_read(struct claims *c, const char *path, struct error *e);

void claim_tables_free(struct claims *c);

/* Finds the i-th value of a claim, those before it being found. Where what it rests on is not there,
 * claim->reason says what. */
enum status claim_find_value(struct claim *claim, size_t i, struct claims *c, struct error *e);

/* Works out the i-th value of a claim, a sum of those before it; without one of these it has no number either. */
enum status claim_find_sum(struct claim *claim, size_t i, struct error *e);

enum status claim_refuse_value(const struct claim_value *value, struct error *e, const char *why);

/* "'x' is unknown; known: ..." of the first n values. */
enum status claim_explain_name(char *text, size_t size, const struct claim *claim, size_t n,
                               const char *name, struct error *e);

/* A value of the claim, as condition_lookup. */
bool claim_look_up(struct condition_value *value, const char *name, const void *claim);

/* "published/a.csv#L3", where the value stands: in its row, in the rows one after the other that it is made of, else in
 * claims.csv, in the row of the `index`-th claim, which names them; NULL, the verdict, there too. Returns text. */
enum { CLAIM_ADDRESS = 320 };
char *claim_address(char text[CLAIM_ADDRESS], const struct claim_value *value, size_t index);

/* "240.6" or "1.93 [1.81, 2.08]", to so many digits, or the word of a value; returns text. */
enum { CLAIM_VALUE_TEXT = 160 };
char *claim_value_text(char text[CLAIM_VALUE_TEXT], const struct claim_value *value, int digits);
