/* Texts, numbers and paragraphs of a page: whatever comes from files stands in it as text, never as
 * markup. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* A text between tags or inside an attribute in quotation marks. */
void html_text(FILE *out, const char *text);

/* The day of "2026-11-20T19:05:03Z". */
void html_day(FILE *out, const char *at);

/* A cell that names a processor and below it its caches, by which those of one name differ; "" is not told. */
void html_processor(FILE *out, const char *name, const char *caches);

/* A text in a data: address, for a link that saves it as a file. */
void html_address(FILE *out, const char *text);

/* An id of letters, digits, '_' and '-' that resembles the text, cut off at `size`. */
void html_id(char *id, size_t size, const char *text);

/* Whether a cell of a CSV file is a number, or empty. */
bool html_is_number(const char *cell);
/* A cell of a table, rounded to five digits where it has more, its own digits in the title. */
void html_cell(FILE *out, const char *cell, bool number);

/* The lines that `print` prints, a paragraph of the class each. */
typedef void html_printer(FILE *out, const void *what);
enum status html_paragraphs(FILE *out, const char *tag, html_printer *print, const void *what,
                            struct error *e);

/* The same as a list below a heading; a long one is folded in, so that figures are not far. */
enum status html_findings(FILE *out, html_printer *print, const void *what, struct error *e);

/* A file as it is, escaped or, as script and style are, not. ERR_SYSTEM names one that cannot be
 * read. */
enum status html_file(FILE *out, const char *path, bool escaped, struct error *e);

/* The whole file as a string that the caller frees. */
enum status html_read(char **text, const char *path, struct error *e);
