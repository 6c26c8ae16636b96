/* Text on a terminal: its width, line breaks, and escapes for control characters. */
#pragma once

#include <stdio.h>

/* Bytes that terminal_show needs: at most four escapes such as \x1b, and the final zero. */
enum { TERMINAL_SHOWN = 4 * 4 + 1 };

/* Writes the first character of `from` to `shown`. Each byte of a control character, and each byte
 * that is not valid UTF-8, becomes an escape such as \x1b. Returns the number of bytes read from
 * `from`. */
size_t terminal_show(char shown[TERMINAL_SHOWN], const char *from);

/* Copies an untrusted text, cut to fit. Control characters and bytes that are not UTF-8 are written
 * as escapes such as \x1b. Returns `to`. */
char *terminal_clean(char *to, size_t size, const char *from);

/* Returns the number of terminal columns that a UTF-8 text occupies. Wide characters count as two,
 * combining marks as none. */
int terminal_columns(const char *text);

/* Returns the length in bytes of the longest prefix of `text` that fits in `columns`. */
size_t terminal_fit(const char *text, int columns);

/* Returns the line width in columns: $COLUMNS if set, else the width of the terminal `out`. Returns
 * 0 (no limit) if $COLUMNS >= 100,000, or if unset and `out` is no terminal. */
int terminal_width(FILE *out);

/* Prints a list entry: a head, then a text from column `indent` on, in lines of at most `columns`
 * columns. After a head too long for the indent, the text begins on the next line. */
void terminal_print_entry(FILE *out, const char *head, int indent, const char *text, int columns);
