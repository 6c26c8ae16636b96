/* Helpers of the value parsers, private to bench/spec. value.c parses single values; lists.c parses
 * lists. */
#pragma once

#include "bench/spec/value.h"
#include "kernels/base/error.h"

/* Parses a node, whose kind (list or not) has been checked, into a zeroed value. After an error,
 * free the value with value_free_plain. */
typedef enum status value_parser(struct value *value, const struct given *g, struct error *e);
value_parser value_parse_ints, value_parse_texts, value_parse_patterns, value_parse_segments;

/* Reports "KEY: MESSAGE" at the position of the value. */
enum status value_refuse(struct error *e, const struct given *g, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets value->text to a formatted text, which must be freed with free(). */
enum status value_set_text(struct value *value, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the number with 15 digits, or with 17 if 15 do not read back as the same number. Returns
 * `text`. */
const char *value_number_text(char text[32], double number);

/* Checks a number against the option's bounds. The error message prints the bounds in `unit`. If
 * `unit` is "", the message prints option->unit after the number instead. A default outside the
 * bounds is accepted, since command lines of workloads contain defaults. */
enum status value_check_range(const struct given *g, double number, const char *unit,
                              struct error *e);

/* Parse a number without checking its bounds (value_parse_number), or a whole number within the
 * option's bounds (value_parse_whole). A number in quotation marks is rejected. */
enum status value_parse_number(const struct given *g, double *number, struct error *e);
enum status value_parse_whole(const struct given *g, double *number, struct error *e);

/* Rejects empty texts, and texts with control characters, since a text is stored in one line of a
 * file. */
enum status value_check_text(const struct given *g, struct error *e);

/* Sets *index to the position of the value among the names that the option accepts. */
enum status value_parse_name(const struct given *g, int *index, struct error *e);
