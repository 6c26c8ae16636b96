/* Text on a terminal: how wide it is there, how wide it may be, and without what would steer it. */
#pragma once

#include <stdio.h>

/* Writes the character that the text begins with; a control character, or a byte that is no UTF-8, as \x1b. Returns
 * its bytes in the text. */
enum { TERMINAL_SHOWN = 4 * 4 + 1 };
size_t terminal_show(char shown[TERMINAL_SHOWN], const char *from);

/* Copies a text that came from outside, cut to fit, with control characters and bytes that are no
 * UTF-8 as \x1b. Returns `to`. */
char *terminal_clean(char *to, size_t size, const char *from);

/* Columns that a text takes: of UTF-8, wide characters counting two. */
int terminal_columns(const char *text);

/* Bytes of the longest beginning of `text` that takes at most so many columns. */
size_t terminal_fit(const char *text, int columns);

/* Columns of the terminal that `out` is, or of $COLUMNS if that is set; 0: without limit, since
 * `out` is none. */
int terminal_width(FILE *out);

/* Prints an entry of a list: a head, and its text in words from column `indent` on, in lines of so many columns. The
 * text of a head that is too long for the indent begins on the next line. */
void terminal_print_entry(FILE *out, const char *head, int indent, const char *text, int columns);
