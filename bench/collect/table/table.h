/* Table printed at the end of a campaign: one row per point, for terminals and documents. Internal
 * to bench/collect. */
#pragma once

#include "bench/collect/published.h"

struct rule_result;

#define TABLE_CELL 128
#define TABLE_MAX  (OPTION_COUNT + 48) /* largest number of columns */

/* number of columns with confidence intervals */
#define TABLE_LEVELS 3

enum { TABLE_LIST = 1024, TABLE_WORTH_TIMES = 11, TABLE_WORTH_KEPT = 100, TABLE_WORTH_ALL = 200 };

struct table_column {
    const char *header;
    /* Priority on a narrow terminal: the column with the lowest priority is left out first. Texts
     * of options are shortened to 24 columns before that, and to 8 before a column of priority
     * TABLE_WORTH_TIMES or higher is left out. A column of priority TABLE_WORTH_KEPT or higher is
     * left out only if all its cells are equal. */
    int worth;
    void (*format)(char text[TABLE_CELL], const struct table_column *column,
                   const struct point_summary *p);
    enum option_id option; /* option that the column shows */
    enum column_id cell;   /* column of summary.csv that the column shows */
    int digits;
    bool published;                            /* the column shows the value of `cell` from a
                                                  published report, not this run's own */
    bool names_level;                          /* true: confidence levels differ between points, so
                                                  each cell with a level below TIMING_LEVEL shows
                                                  its level */
    bool (*of)(const struct point_summary *p); /* returns whether a point has a value in this
                                                  column; NULL: every point has one */
    size_t member, values; /* offsets in struct point_summary. `member`: offset of the value.
                              `values`: offset of the number of launches or launch pairs behind the
                              value's interval; 0: no interval */
};

struct table {
    const struct summary *s; /* summary of the run, borrowed */
    struct table_column columns[TABLE_MAX];
    int widths[TABLE_MAX];
    char published_headers[PUBLISHED_MAX][64], level_headers[TABLE_LEVELS][48];
    size_t n, n_options; /* number of columns; number of leading columns that show options */
    char same[TABLE_LIST], left_out[TABLE_LIST]; /* names and values of removed columns whose cells
                                                    are all equal; names of columns left out to fit
                                                    the terminal */
};

void table_make(struct table *t, const struct summary *s);

/* Narrows the table to `width` terminal columns if possible (0: unlimited). First moves columns
 * that have one value in all rows to `same`. Then shortens texts, and moves columns of low priority
 * to `left_out`. Columns of high priority are never moved to `left_out`, so the table can stay too
 * wide. */
void table_fit(struct table *t, int width);

/* Prints a cell right-aligned in `width` terminal columns. If the text is longer, leaves out its
 * middle. */
void table_print_padded(FILE *out, const char *text, int width);

/* Prints the lines of `text`, wrapped at blanks to `width` terminal columns (0: unlimited). Every
 * line must end with a newline. Control characters are escaped. Changes `text`. */
void table_print_lines(FILE *out, char *text, int width);

/* Formats one cell; a result of a point that was not measured is "-". Returns `text`. */
char *table_cell(char text[TABLE_CELL], const struct table *t, size_t column,
                 const struct point_summary *p);

/* Return the interval that a column shows for a point, and the interval's confidence level (NAN: no
 * interval). Internal. */
const struct interval *table_interval(const struct table_column *c, const struct point_summary *p);
double table_level(const struct table_column *c, const struct point_summary *p);
/* Adds the confidence level to the header of each column with intervals. If the levels in a column
 * differ, cells with a level below 95 % show their own level (table_add_level). */
void table_name_levels(struct table *t);
void table_add_level(char text[TABLE_CELL], double level);

/* Add columns with published values beside measured ones, format the cells of these columns, and
 * print a sentence about the published values below the table. Internal. */
void table_add_published(struct table *t, const struct published *p);
void table_format_published(char text[TABLE_CELL], const struct table *t,
                            const struct table_column *column, const struct point_summary *p);
void table_print_published(FILE *out, const struct summary *s);

/* Prints the remarks on a point, such as "(precision not met)", each after two spaces. */
void table_print_remarks(FILE *out, const struct point_summary *p);

/* Prints one sentence per series: the efficiency lost at its largest number of ranks, split into
 * causes. */
void table_print_losses(FILE *out, const struct summary *s);

/* Prints one sentence per curve of at least four rank counts: the number of ranks at which its
 * efficiency falls below 75 %, and the largest speed-up that a fitted law allows. */
void table_print_fits(FILE *out, const struct summary *s);

/* Prints sentences about ratios between points: the number of launch pairs behind speed-ups, bytes
 * per step relative to the base, and images/s and memory relative to peers. */
void table_print_ratios(FILE *out, const struct summary *s);

/* For each point, divides the longest timed step and the 95th percentile of steps by
 * step_ms_median, the point's step time. Prints the maximum of each ratio with its point's label.
 * Prints nothing if a maximum is unknown. */
void table_print_tails(FILE *out, const struct summary *s);
/* Prints the largest bubble_pct of all points: the share of a step in which pipeline stages wait
 * for each other. */
void table_print_bubbles(FILE *out, const struct summary *s);

/* Prints how many of the twelve rules of Hoefler and Belli are met, and each unmet rule. */
void table_print_rules(FILE *out, const struct summary *s);
/* Prints how many rules are met and how many do not apply, without a newline: "9 of 12 met, 3 not
 * applicable". If no point was measured, prints a text that says so instead. */
void table_print_grades(FILE *out, const struct rule_result *results, const struct summary *s);

/* Prints sentences about base points (times and rates), ratios, longest steps, waiting pipeline
 * stages and disturbed launches. */
void table_print_notes(FILE *out, const struct summary *s);

/* Prints one line about the subject of the campaign: scaling, network, data, training and site. */
void table_print_subject(FILE *out, const struct summary *s);
/* Prints the sentences below the table, except sentences about rules, about the run's files and
 * about resuming the run. */
void table_print_findings(FILE *out, const struct summary *s);

/* Prints the table of a campaign on a terminal of `width` columns (0: unlimited). `run_dir`: the
 * run's folder as the user would type it. */
void table_print(FILE *out, const struct summary *s, const char *run_dir, const char *revision,
                 int width);

/* Returns the *n names of the tables that sweeps write, such as "comm.csv". Not every table has
 * figures (see figures_check_sweep). */
const char *const *table_sweep_names(size_t *n);

/* Prints a summary of a sweep's table (table_sweep_names). *all_well: whether all results are
 * right; always true for limits.csv. */
enum status table_print_sweep(FILE *out, const char *path, bool *all_well, struct error *e);

/* Writes the table as <run>/summary.md (GitHub's Markdown) and summary.tex (LaTeX tabular), with
 * remarks as last column. */
enum status table_write_documents(const struct summary *s, const char *run_dir, struct error *e);
