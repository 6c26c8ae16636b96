/* Markup of tables in documents: rows, headers, escapes. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct markup {
    const char *begin, *between, *end; /* markup around and between the cells of a row */
    const char *title, *title_end;     /* markup around the title */
    const char *note;                  /* markup before each paragraph below the table */
    const char *special;               /* characters that get a backslash */
};

extern const struct markup markup_markdown, markup_latex;

/* Writes a text with the document's special characters escaped. */
void markup_write_text(FILE *out, const struct markup *m, const char *text);

/* Write the markup before a table, between headers and rows, and after a table, for columns of
 * numbers followed by columns of texts. */
void markup_begin_table(FILE *out, const struct markup *m, size_t numbers, size_t texts);
void markup_end_headers(FILE *out, const struct markup *m, size_t numbers, size_t texts);
void markup_end_table(FILE *out, const struct markup *m);

/* Writes the lines below a table, each as a paragraph. Changes `notes`. */
void markup_write_notes(FILE *out, const struct markup *m, char *notes);
