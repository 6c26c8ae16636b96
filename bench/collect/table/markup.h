/* Tables in documents: how a kind of document writes a row, and what of a text it would take for its
 * own. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct markup {
    const char *begin, *between, *end; /* of a row */
    const char *title, *title_end;     /* around the first line */
    const char *note;                  /* before a line below the table: a paragraph of its own */
    const char *special;               /* characters that get a backslash */
};

extern const struct markup markup_markdown, markup_latex;

/* A text that came from outside, as the document shows it. */
void markup_write_text(FILE *out, const struct markup *m, const char *text);

/* What stands before a table, between its headers and its rows, and behind it: columns of numbers,
 * then of texts. */
void markup_begin_table(FILE *out, const struct markup *m, size_t numbers, size_t texts);
void markup_end_headers(FILE *out, const struct markup *m, size_t numbers, size_t texts);
void markup_end_table(FILE *out, const struct markup *m);

/* What is printed below a table, a paragraph a line. `notes` is cut up. */
void markup_write_notes(FILE *out, const struct markup *m, char *notes);
