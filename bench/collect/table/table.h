/* The cells of the table that a campaign ends with, for print and for documents. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/published.h"

struct rule_result;

#define TABLE_CELL 128
#define TABLE_MAX  (OPTION_COUNT + 48) /* columns */

/* Columns with intervals. */
#define TABLE_LEVELS 3

enum { TABLE_LIST = 1024, TABLE_WORTH_TIMES = 11, TABLE_WORTH_KEPT = 100, TABLE_WORTH_ALL = 200 };

struct table_column {
    const char *header;
    /* Where there is little room the least goes first, those from TABLE_WORTH_TIMES on once texts
     * are short, and TABLE_WORTH_KEPT never. */
    int worth;
    void (*format)(char text[TABLE_CELL], const struct table_column *column,
                   const struct point_summary *p);
    enum option_id option; /* of a column that shows an option */
    enum column_id
        cell; /* of one that shows a column of summary.csv, or what was published for it */
    int digits;
    bool published;                            /* the value that was published for the cell */
    bool tells_level;                          /* levels differ from row to row */
    bool (*of)(const struct point_summary *p); /* whether a point has it; NULL: all do */
    size_t member, values; /* as in measured.def; values 0: it has no interval */
};

struct table {
    const struct summary *s; /* borrowed */
    struct table_column columns[TABLE_MAX];
    int widths[TABLE_MAX];
    char published_headers[PUBLISHED_MAX][64], level_headers[TABLE_LEVELS][48];
    size_t n, n_options; /* columns, and the first of them that show options */
    char same[TABLE_LIST], left_out[TABLE_LIST]; /* columns that table_fit took */
};

void table_make(struct table *t, const struct summary *s);

/* Takes columns away until the table is `width` columns wide: those that are the same in every row,
 * listed with their values in `same`, then those of least worth, listed in `left_out`. Last, texts
 * get less room than they are wide. 0: any width will do. */
void table_fit(struct table *t, int width);

/* A cell in so many columns, to the right; a longer text loses its middle. */
void table_print_padded(FILE *out, const char *text, int width);

/* Prints lines, each without control characters and broken at blanks where it is wider than `width`
 * columns; 0: none is. Changes `text`. */
void table_print_lines(FILE *out, char *text, int width);

/* Formats one cell; "-" of a column that was not measured. Returns text. */
char *table_cell(char text[TABLE_CELL], const struct table *t, size_t column,
                 const struct point_summary *p);

/* Inside: the interval of a point that a column shows; the confidence that it has, NAN where it has none. */
const struct interval *table_interval(const struct table_column *c, const struct point_summary *p);
double table_level(const struct table_column *c, const struct point_summary *p);
/* Headers of columns with intervals say the level that holds for all rows; where levels differ, rows
 * below TIMING_LEVEL say their own. */
void table_name_levels(struct table *t);
void table_add_level(char text[TABLE_CELL], double level);

/* Inside: columns of what was published, each beside ours; their cells; a remark below the
 * table. */
void table_add_published(struct table *t, const struct published *p);
void table_format_published(char text[TABLE_CELL], const struct table *t,
                            const struct table_column *column, const struct point_summary *p);
void table_print_published(FILE *out, const struct summary *s);

/* What a reader should know of a point beside its numbers, each remark after two spaces. */
void table_print_remarks(FILE *out, const struct point_summary *p);

/* Prints a part of a heading; parts that are unknown leave no trace. */
void table_print_part(FILE *out, const char *separator, const char *text);

/* A sentence a series: what it lost at its largest point, and to what. */
void table_print_losses(FILE *out, const struct summary *s);

/* What ratios are: speed-ups of how many pairs, what peers reach and by which factors. */
void table_print_ratios(FILE *out, const struct summary *s);

/* How long the longest steps were. */
void table_print_tails(FILE *out, const struct summary *s);

/* How many of Hoefler and Belli's rules are met, and a line for each that is not. */
void table_print_rules(FILE *out, const struct summary *s);
/* "9 of 12 met, 3 not applicable", of their grades. */
void table_tell_grades(FILE *out, const struct rule_result *results, const struct summary *s);

/* Lines below the table: the bases with their rates, what peers reach. */
void table_print_notes(FILE *out, const struct summary *s);

/* What was measured on what, in a line, and all sentences below the table but those of rules. */
void table_print_subject(FILE *out, const struct summary *s);
void table_print_findings(FILE *out, const struct summary *s);

/* The closing table, for people, at most `width` columns wide; 0: as wide as it is. `run_dir` as
 * the user would type it. */
void table_print(FILE *out, const struct summary *s, const char *run_dir, const char *revision,
                 int width);

/* The tables of sweeps, each with figures but the last. */
const char *const *table_sweep_names(size_t *n);

/* What the table of a sweep says in short: comm.csv, compare.csv or kernels.csv. *all_well: no verdict
 * in it is bad. */
enum status table_print_sweep(FILE *out, const char *path, bool *all_well, struct error *e);

/* Writes the table as <run>/summary.md (GitHub's Markdown) and as a LaTeX tabular in summary.tex,
 * remarks as the last column. */
enum status table_write_documents(const struct summary *s, const char *run_dir, struct error *e);
