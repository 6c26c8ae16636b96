/* The cells of the table that a campaign ends with, for print and for documents. Internal to
 * bench/collect. */
#ifndef SCALEBENCH_COLLECT_TABLE_H
#define SCALEBENCH_COLLECT_TABLE_H

#include "bench/collect/collect.h"

#define TABLE_CELL 128
#define TABLE_MAX  (OPTION_COUNT + 16) /* columns */

struct table_column {
    const char *header;
    void (*format)(char text[TABLE_CELL], const struct point_summary *p, enum option_id option);
    enum option_id option; /* of a column that shows an option */
};

struct table {
    struct table_column columns[TABLE_MAX];
    int widths[TABLE_MAX];
    size_t n, n_options; /* columns, and the first of them that show options */
};

void table_make(struct table *t, const struct summary *s);

/* Formats one cell; "-" of a column that was not measured. Returns text. */
char *table_cell(char text[TABLE_CELL], const struct table *t, size_t column,
                 const struct point_summary *p);

/* What a reader should know of a point beside its numbers, each remark after two spaces. */
void table_print_remarks(FILE *out, const struct point_summary *p);

/* Writes the table as Markdown (GitHub's) and as a LaTeX tabular, remarks as the last column. */
enum status table_write_markdown(FILE *out, const struct summary *s, struct error *e);
enum status table_write_latex(FILE *out, const struct summary *s, struct error *e);

#endif
