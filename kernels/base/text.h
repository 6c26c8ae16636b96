/* Numbers as text: exact ones for files, rounded ones for people. Decimal points whatever the
 * locale; NAN is "" in files and "-" for people; one of more digits than there is room for has an
 * exponent. Each fills `text` and returns it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kernels/base/stats.h"

#define TEXT_NUMBER   40
#define TEXT_INTERVAL (3 * TEXT_NUMBER + 5)
#define TEXT_END      80

/* What is not a number as a result, where NAN is an unknown value. Arithmetic may make either of
 * it. */
double text_not_a_number(void);

/* Ten significant digits, as many as a measurement has use for; results that are not finite as R
 * and pandas read them: NaN, Inf, -Inf. */
char *text_real(char text[TEXT_NUMBER], double x);

/* A whole number, every digit of it. */
char *text_whole(char text[TEXT_NUMBER], double x);

/* `decimals` digits after the point. */
char *text_fixed(char text[TEXT_NUMBER], double x, int decimals);

/* So many significant digits, but every digit before the point: 26.10, 1446. */
char *text_significant(char text[TEXT_NUMBER], double x, int digits);

/* "177.0 [176.2, 178.1]", rounded alike; the median alone where there is no interval. */
char *text_interval(char text[TEXT_INTERVAL], const struct interval *i, int digits);

/* 690,590 */
char *text_count(char text[TEXT_NUMBER], long n);

/* "45 s", "4 min 31 s", "2 h 5 min" */
char *text_duration(char text[TEXT_NUMBER], double seconds);

/* The same, but "7.3 s" below 10 s: what has been measured. */
char *text_wall_time(char text[TEXT_NUMBER], double seconds);

/* "1 rank", "2 ranks", "3 launches", "4 epochs" */
char *text_plural(char text[TEXT_NUMBER], long n, const char *noun);

/* Returns the length of the first sentence, without the full stop that another sentence follows. */
int text_sentence(const char *text);

/* How a process ended, of what wait() says of it: "exit status 3", "killed by signal 9 (Killed)". */
char *text_end(char text[TEXT_END], int wait_status);

/* Writes a field of a CSV file, in quotes where it needs them. Bytes that are no UTF-8 are escaped as on a terminal, so
 * that every reader takes the file. */
void text_write_field(FILE *out, const char *text);

/* Writes a text in XML or HTML, of which nothing is markup. */
void text_write_markup(FILE *out, const char *text);

/* Makes one line of `text` that no reader of CSV stumbles over: gnuplot knows neither line breaks
 * nor doubled quotation marks inside a field. */
void text_clean(char *text);

/* Appends a text behind a separator, which an empty text does without; cut to fit. */
void text_join(char *text, size_t size, const char *separator, const char *more);

/* Whether a text ends with `end` and has more before it. */
bool text_ends(const char *text, const char *end);

/* Takes the blanks at both ends off. */
void text_trim(char *text);

/* Characters in so many bytes of UTF-8. */
size_t text_characters(const char *text, size_t bytes);

/* How many different texts there are; sorts them. */
size_t text_count_distinct(const char **texts, size_t n);
