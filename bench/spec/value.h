/* Parses one value of an option from a YAML node, by the option's type, range and names. */
#pragma once

#include <stdbool.h>

#include "bench/spec/spec.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/error.h"

/* Option, and the node that gives its value. */
struct given {
    const struct spec_option *option;
    const struct node *node;
};

/* Parses a decimal number: no blanks, no hexadecimal, no infinity. Returns false for any other
 * text. */
bool number_parse(const char *text, double *number);

/* Parses a boolean of YAML 1.1: true, yes, on, false, no or off, in lower case, in upper case or
 * capitalised. Returns false for any other text. */
bool bool_parse(const char *text, bool *yes);
/* Returns word `i` of the list of words for booleans: true, True, TRUE, yes, ...; NULL after the
 * last word. The lower-case form of each word comes directly before its other forms. */
const char *bool_word(size_t i);

/* Parses a number and the unit directly behind it, if any. Sets *type to TYPE_REAL (no unit),
 * TYPE_TIME (*number in seconds), TYPE_SIZE (bytes) or TYPE_PERCENT (per cent). Returns false for
 * any other text. */
bool number_parse_unit(const char *text, enum option_type *type, double *number);

/* Writes the list items to suggest in place of the plain value `written`: "1, 2" for "1 2". For
 * segments and ranges such as "1..3", the items are a fixed example. */
void value_as_list(char text[200], const struct spec_option *option, const char *written);

/* Returns unit `i` of type TIME, SIZE or PERCENT; NULL after the last unit. */
const char *value_unit(enum option_type type, size_t i);

/* Parses a value into *value, whose old contents are freed. After an error, *value is unchanged. */
enum status value_parse(struct value *value, const struct given *g, struct error *e);

/* Copies a value. `to` is overwritten, not freed. After an error, nothing in `to` needs freeing. */
enum status value_copy(struct value *to, const struct value *from, struct error *e);
/* Copies a value, except that texts and lists are shared with `from`, which must outlive `to`. */
void value_borrow(struct value *to, const struct value *from);
void value_free(struct value *value);

/* Parse, copy and free a value of any type except FIGURES, for example a value of a figure's own
 * options. */
enum status value_parse_plain(struct value *value, const struct given *g, struct error *e);
enum status value_copy_plain(struct value *to, const struct value *from, struct error *e);
void value_free_plain(struct value *value);

/* value_set_list sets the text of a list value, such as "[a, b]". Each list item has `step` numbers
 * or texts. `write` writes the item that begins at element `i`. */
typedef void value_item_writer(FILE *out, const struct value *value, unsigned i);
enum status value_set_list(struct value *value, unsigned step, value_item_writer *write,
                           struct error *e);

/* Writes a text as a YAML scalar in quotation marks. */
void value_write_quoted(FILE *out, const char *text);

/* Returns whether a value equals the option's default. value->set is ignored, since recorded specs
 * set all options. False for an option without a default. */
bool value_is_preset(const struct spec_option *option, const struct value *value);

/* Returns whether two values of the same option are equal. */
bool value_equal(const struct value *a, const struct value *b);
