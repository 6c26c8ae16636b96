/* The cells of the table that a campaign ends with, for print and for documents. Internal to
 * bench/collect. */
#ifndef SCALEBENCH_COLLECT_TABLE_H
#define SCALEBENCH_COLLECT_TABLE_H

#include "bench/collect/published.h"

#define TABLE_CELL 128
#define TABLE_MAX  (OPTION_COUNT + 48) /* columns */

struct table_column {
    const char *header;
    void (*format)(char text[TABLE_CELL], const struct point_summary *p, enum option_id option);
    enum option_id option; /* of a column that shows an option */
    const char *cell;      /* else: column of summary.csv that is shown as it is, or NULL */
    bool published;        /* the value that was published for it */
};

struct table {
    const struct summary *s; /* borrowed */
    struct table_column columns[TABLE_MAX];
    int widths[TABLE_MAX];
    char published_headers[PUBLISHED_MAX][64];
    size_t n, n_options; /* columns, and the first of them that show options */
};

void table_make(struct table *t, const struct summary *s);

/* Formats one cell; "-" of a column that was not measured. Returns text. */
char *table_cell(char text[TABLE_CELL], const struct table *t, size_t column,
                 const struct point_summary *p);

/* Inside: columns of what was published, each beside ours; their cells; a remark below the table.
 */
void table_add_published(struct table *t, const struct published *p);
void table_format_published(char text[TABLE_CELL], const struct table *t,
                            const struct table_column *column, const struct point_summary *p);
void table_format_cell(char text[TABLE_CELL], const struct table_column *column,
                       const struct point_summary *p);
void table_print_published(FILE *out, const struct summary *s);

/* What a reader should know of a point beside its numbers, each remark after two spaces. */
void table_print_remarks(FILE *out, const struct point_summary *p);

/* Lines below the table: the bases with their rates, what peers reach. */
void table_print_notes(FILE *out, const struct summary *s);

/* Writes the table as Markdown (GitHub's) and as a LaTeX tabular, remarks as the last column. */
enum status table_write_markdown(FILE *out, const struct summary *s, struct error *e);
enum status table_write_latex(FILE *out, const struct summary *s, struct error *e);

#endif
