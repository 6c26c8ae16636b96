/* Writes tables in Markdown and LaTeX: rows, headers, escaped characters. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct markup {
    const char *begin, *between, *end; /* markup before the first cell of a row, between cells, and
                                          after the last */
    const char *title, *title_end;     /* markup before and after the title */
    const char *note;                  /* markup before each paragraph below the table */
    const char *special;               /* characters that need a backslash before them */
};

extern const struct markup markup_markdown, markup_latex;

/* Writes a text, with special characters escaped. */
void markup_write_text(FILE *out, const struct markup *m, const char *text);

/* Write the markup before a table, after its header row, and after the table. The first `numbers`
 * columns hold numbers, the next `texts` columns texts. */
void markup_begin_table(FILE *out, const struct markup *m, size_t numbers, size_t texts);
void markup_end_headers(FILE *out, const struct markup *m, size_t numbers, size_t texts);
void markup_end_table(FILE *out, const struct markup *m);

/* Writes each line of `notes` as a paragraph below the table. Changes `notes`. */
void markup_write_notes(FILE *out, const struct markup *m, char *notes);
