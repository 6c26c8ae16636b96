/* Cells of the table at the end of a campaign, for terminals and documents. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/published.h"

struct rule_result;

#define TABLE_CELL 128
#define TABLE_MAX  (OPTION_COUNT + 48) /* largest number of columns */

/* number of columns with intervals */
#define TABLE_LEVELS 3

enum { TABLE_LIST = 1024, TABLE_WORTH_TIMES = 11, TABLE_WORTH_KEPT = 100, TABLE_WORTH_ALL = 200 };

struct table_column {
    const char *header;
    /* Priority: on a narrow terminal the lowest is dropped first. Columns from TABLE_WORTH_TIMES on
     * are dropped after texts are shortened, columns of TABLE_WORTH_KEPT never. */
    int worth;
    void (*format)(char text[TABLE_CELL], const struct table_column *column,
                   const struct point_summary *p);
    enum option_id option; /* option that the column shows */
    enum column_id cell;   /* column of summary.csv that it shows */
    int digits;
    bool published;                            /* the column shows the published value of `cell` */
    bool names_level;                          /* rows name their own levels, because levels
                                                  differ */
    bool (*of)(const struct point_summary *p); /* returns whether a point has a value; NULL:
                                                  every point */
    size_t member, values; /* offsets in struct point_summary; values 0: no interval */
};

struct table {
    const struct summary *s; /* summary of the run, borrowed */
    struct table_column columns[TABLE_MAX];
    int widths[TABLE_MAX];
    char published_headers[PUBLISHED_MAX][64], level_headers[TABLE_LEVELS][48];
    size_t n, n_options; /* number of columns, and of leading columns that show options */
    char same[TABLE_LIST], left_out[TABLE_LIST]; /* lists of columns that table_fit removed */
};

void table_make(struct table *t, const struct summary *s);

/* Removes columns until the table is `width` columns wide (0: unlimited). First columns that are
 * equal in every row, listed with their values in `same`; then columns of low priority, listed in
 * `left_out`; last it shortens texts. */
void table_fit(struct table *t, int width);

/* Prints a cell right-aligned in `width` columns; cuts the middle of a longer text. */
void table_print_padded(FILE *out, const char *text, int width);

/* Prints lines without control characters, broken at blanks to `width` columns (0: unlimited).
 * Changes `text`. */
void table_print_lines(FILE *out, char *text, int width);

/* Formats one cell; "-" if it was not measured. Returns `text`. */
char *table_cell(char text[TABLE_CELL], const struct table *t, size_t column,
                 const struct point_summary *p);

/* Returns the interval that a column shows for a point, and its confidence level (NAN: none).
 * Internal. */
const struct interval *table_interval(const struct table_column *c, const struct point_summary *p);
double table_level(const struct table_column *c, const struct point_summary *p);
/* Sets headers of interval columns to the level common to all rows. If levels differ, rows below
 * TIMING_LEVEL show their own. */
void table_name_levels(struct table *t);
void table_add_level(char text[TABLE_CELL], double level);

/* Adds a column of published values beside each of ours; formats its cells; prints the note below
 * the table. Internal. */
void table_add_published(struct table *t, const struct published *p);
void table_format_published(char text[TABLE_CELL], const struct table *t,
                            const struct table_column *column, const struct point_summary *p);
void table_print_published(FILE *out, const struct summary *s);

/* Prints the remarks on a point, each after two spaces. */
void table_print_remarks(FILE *out, const struct point_summary *p);

/* Prints a part of a heading after `separator`; nothing if it is unknown. */
void table_print_part(FILE *out, const char *separator, const char *text);

/* Prints one sentence per series: the loss at its largest point, by cause. */
void table_print_losses(FILE *out, const struct summary *s);

/* Prints the number of pairs behind speed-ups, and ratios to peers by factors. */
void table_print_ratios(FILE *out, const struct summary *s);

/* Prints how long the longest steps were. */
void table_print_tails(FILE *out, const struct summary *s);

/* Prints how many of Hoefler and Belli's rules are met, and each unmet rule. */
void table_print_rules(FILE *out, const struct summary *s);
/* Prints "9 of 12 met, 3 not applicable". */
void table_print_grades(FILE *out, const struct rule_result *results, const struct summary *s);

/* Prints the lines below the table: bases with their rates, peers. */
void table_print_notes(FILE *out, const struct summary *s);

/* Prints the subject of the measurement in a line; prints all sentences below the table except
 * rules. */
void table_print_subject(FILE *out, const struct summary *s);
void table_print_findings(FILE *out, const struct summary *s);

/* Prints the table of a campaign for people, at most `width` columns wide (0: unlimited).
 * `run_dir`: the run's folder as the user would type it. */
void table_print(FILE *out, const struct summary *s, const char *run_dir, const char *revision,
                 int width);

/* Returns the *n names of sweep tables; each but the last has figures. */
const char *const *table_sweep_names(size_t *n);

/* Prints a summary of a sweep's table: comm.csv, compare.csv or kernels.csv. *all_well is false if
 * it contains a bad verdict. */
enum status table_print_sweep(FILE *out, const char *path, bool *all_well, struct error *e);

/* Writes the table as <run>/summary.md (GitHub's Markdown) and summary.tex (LaTeX tabular), with
 * remarks as last column. */
enum status table_write_documents(const struct summary *s, const char *run_dir, struct error *e);
