/* Numbers as text: precise for files, rounded for people. The decimal mark is a point in every
 * locale. NAN is "" in files and "-" for people. Exceptions: text_duration writes "0 s",
 * text_wall_time "- s". A number too long for its buffer is written with an exponent. Functions
 * that return `char *` fill `text` and return it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kernels/base/stats.h"

#define TEXT_NUMBER   40
#define TEXT_INTERVAL (3 * TEXT_NUMBER + 5)
#define TEXT_END      80

/* Returns a special NaN that marks undefined results; files show it as NaN. The ordinary NAN marks
 * unknown values; files show it as "". Arithmetic may turn one into the other. */
double text_not_a_number(void);

/* Writes x with ten significant digits, which suffice for measurements. Writes infinities and
 * text_not_a_number() as R and pandas read them (Inf, -Inf, NaN), and the ordinary NAN as "". */
char *text_real(char text[TEXT_NUMBER], double x);

/* Writes a whole number with all its digits; "" if it is not finite. */
char *text_whole(char text[TEXT_NUMBER], double x);

/* Writes x with `decimals` digits after the point; "-" if x is not finite. */
char *text_fixed(char text[TEXT_NUMBER], double x, int decimals);

/* Writes x with `digits` significant digits, but always with its whole integer part: for 4 digits,
 * 26.10 and 12345. */
char *text_significant(char text[TEXT_NUMBER], double x, int digits);

/* Writes the median with `digits` significant digits, and the bounds with as many decimals: "177.0
 * [176.2, 178.1]". Writes only the median if a bound is not finite. */
char *text_interval(char text[TEXT_INTERVAL], const struct interval *i, int digits);

/* Writes a count with thousands separators: 690,590. */
char *text_count(char text[TEXT_NUMBER], long n);

/* Writes a duration: "45 s", "4 min 31 s", "2 h 5 min". Negative numbers and NAN give "0 s". */
char *text_duration(char text[TEXT_NUMBER], double seconds);

/* Writes a measured duration: "7.3 s" below 10 s, else as text_duration. */
char *text_wall_time(char text[TEXT_NUMBER], double seconds);

/* Writes a count and its noun: "1 rank", "2 ranks", "3 launches", "4 epochs". */
char *text_plural(char text[TEXT_NUMBER], long n, const char *noun);

/* Returns the length in bytes of the first sentence, without its full stop: the text before the
 * first ". ". If the text has no ". ", returns the length of the whole text. */
int text_sentence(const char *text);

/* Describes a status from wait(): "exit status 3", "killed by signal 9 (Killed)". */
char *text_end(char text[TEXT_END], int wait_status);

/* Writes a field of a CSV file, quoted if necessary. Writes invalid UTF-8 and control characters
 * other than tabs and line breaks as escapes such as \x1b. */
void text_write_field(FILE *out, const char *text);

/* Writes a text into XML or HTML, with its special characters escaped. */
void text_write_markup(FILE *out, const char *text);

/* Replaces control characters by spaces and double quotation marks by single ones. gnuplot cannot
 * read line breaks and double quotation marks inside a CSV field. */
void text_clean(char *text);

/* Appends `separator` and `more` to `text`, cut to fit. If `text` is empty, `separator` is
 * omitted. */
void text_join(char *text, size_t size, const char *separator, const char *more);

/* Returns whether `end` is a proper suffix of `text`. */
bool text_ends(const char *text, const char *end);

/* Removes the spaces at both ends of `text`. */
void text_trim(char *text);

/* Returns the number of code points in the first `bytes` bytes of a UTF-8 text. */
size_t text_characters(const char *text, size_t bytes);

/* Returns the number of distinct texts. Sorts `texts`. */
size_t text_count_distinct(const char **texts, size_t n);
