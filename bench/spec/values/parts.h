/* What parsers of values are made of. Internal to bench/spec: value.c parses single values, lists.c here lists. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* Reads a node that has the kind of the option's type into a value that is zeroed. What is in it after an error is
 * given back by value_free_plain. */
typedef enum status value_parser(struct value *value, const struct spec_option *option,
                                 const struct node *node, struct error *e);
value_parser value_parse_ints, value_parse_texts, value_parse_strings, value_parse_patterns,
    value_parse_segments;

/* "key: what is wrong", at the place of the value. */
enum status value_refuse(struct error *e, const struct spec_option *option, const struct node *node,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The value's text; a copy of a text. Freed with free. */
enum status value_set_text(struct value *value, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status value_copy_text(char **to, const char *from, struct error *e);

/* The shortest of two forms that reads back to the same number. */
const char *value_number_text(char text[32], double number);

/* `unit` is the one that the value is written with, if any. The preset may lie out of bounds: a
 * command line repeats it for what is not given. */
enum status value_check_range(const struct spec_option *option, const struct node *node,
                              double number, const char *unit, struct error *e);

/* A number; a whole one within the option's bounds. */
enum status value_parse_number(const struct spec_option *option, const struct node *node,
                               double *number, struct error *e);
enum status value_parse_whole(const struct spec_option *option, const struct node *node,
                              double *number, struct error *e);

/* Control characters would not survive a command line or a line of a file. */
enum status value_check_text(const struct spec_option *option, const struct node *node,
                             struct error *e);

/* The place of a name among those that the option takes. */
enum status value_parse_name(const struct spec_option *option, const struct node *node, int *index,
                             struct error *e);
