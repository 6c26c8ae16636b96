/* One value of an option: read from a node of YAML by the option's type, range and names. */
#pragma once

#include <stdbool.h>

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* A decimal number and nothing else: no blanks, no hexadecimal, no infinity. */
bool number_parse(const char *text, double *number);

/* A boolean of YAML 1.1: true, yes, on, false, no or off; also True and TRUE. */
bool bool_parse(const char *text, bool *yes);
/* The i-th of these words, its lower case first; NULL beyond the last. */
const char *bool_word(size_t i);

/* A number alone (*type is TYPE_REAL then), or one directly followed by a unit of times, sizes or
 * shares: in seconds, bytes or per cent. */
bool number_parse_unit(const char *text, enum option_type *type, double *number);

/* What a list of this option may look like whose items were written without brackets: "1, 2" of "1 2". */
void value_as_list(char text[200], const struct spec_option *option, const char *written);

/* The i-th unit that values of TIME, SIZE or PERCENT are written with; NULL beyond the last. */
const char *value_unit(enum option_type type, size_t i);

/* Reads `node` as a value of `option`. What the value held is freed. On error it is as before. */
enum status value_parse(struct value *value, const struct spec_option *option,
                        const struct node *node, struct error *e);

/* `to` is overwritten, not freed. On error nothing is left in it. */
enum status value_copy(struct value *to, const struct value *from, struct error *e);
/* The same without copying: `from` must outlive `to`. */
void value_borrow(struct value *to, const struct value *from);
void value_free(struct value *value);

/* The same of every type but FIGURES, which are made of such values. */
enum status value_parse_plain(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e);
enum status value_copy_plain(struct value *to, const struct value *from, struct error *e);
void value_free_plain(struct value *value);

/* Makes "[a, b]" the text of a list, of whose elements each `step` are an item. */
typedef void value_item_writer(FILE *out, const struct value *value, unsigned i);
enum status value_set_list(struct value *value, unsigned step, value_item_writer *write,
                           struct error *e);

/* As a scalar of YAML in quotation marks. */
void value_write_quoted(FILE *out, const char *text);

/* Whether it is the option's own value, given or not: a resolved spec writes every option out, also those that
 * nobody chose. False for an option without one. */
bool value_is_preset(const struct spec_option *option, const struct value *value);

/* Two values of the same option say the same. */
bool value_equal(const struct value *a, const struct value *b);
