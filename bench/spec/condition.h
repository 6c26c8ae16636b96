/* Conditions and arithmetic over named values: "ranks > 1 and (step_ms * ranks < 100 or sync.strategy = shm)". One
 * small language for what a spec excludes, what a figure shows, what a check demands and what a claim works out.
 *
 *   condition   := term { or term };  term := factor { and factor }
 *   factor      := not factor | ( condition ) | comparison
 *   comparison  := sum operator sum | name = word | name = "text";  operator := = == != < <= > >=
 *   sum         := product { (+ | -) product };  product := operand { (* | /) operand }
 *   operand     := number [unit] | name | - operand | ( sum )
 *
 * Blanks stand around + - * / in a condition, since names and words may contain them. A word behind = or != is a text.
 * A number is compared with the value's number, or as text with a value that has none. < <= > >= + - * / are of
 * numbers. Times are in seconds and sizes in bytes as those of options are, unless a name says its unit at its end, as
 * columns of CSV files do: step_ms, peak_mib. Numbers of a comparison with several names go by the first name with a
 * unit of that kind. A share in per cent compares with an option or a column that ends in _pct as it is, with any other
 * column as a part of 1: efficiency >= 80%.
 *
 * Values may be known as intervals. A condition is then true or false if it is that wherever in their intervals the
 * values lie, otherwise open. An interval that is worked out holds what it is wherever they lie (Moore, "Interval
 * analysis", 1966). Each occurrence of a value counts as one of its own, so that it may be wider than need be, never
 * narrower.
 *
 * To add an operator: its line in this grammar, conditions/parse.c and conditions/judge.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

struct condition;
struct node;

/* Freed with condition_free; NULL after an error: ERR_ARGUMENT at line 1 and the column in `text`. */
enum status condition_parse(struct condition **c, const char *text, struct error *e);

/* Reads a sum alone, in which + - * / need no blanks and numbers have no units. */
enum status condition_parse_sum(struct condition **c, const char *text, struct error *e);

/* Reads a condition from a file: ERR_SPEC with its place there. `key` begins the message. */
enum status condition_read(struct condition **c, const char *key, const struct node *node,
                           struct error *e);

void condition_free(struct condition *c); /* NULL is none */

/* What a name stands for: its number, NAN where the text is none; its text, NULL where it has none.
 * Neither of them (NAN and NULL or "") is an unknown value, of which every comparison is false. */
struct condition_value {
    double number;
    const char *text; /* borrowed until the next call */
    bool spread;      /* the number lies in [lo, hi] */
    double lo, hi;
};

/* Of a cell: the text, and the number that it is. */
struct condition_value condition_value_of(const char *text);

/* Returns false for a name that it does not know. */
typedef bool condition_lookup(struct condition_value *value, const char *name, const void *arg);

/* The first name that `lookup` does not know, of which the caller knows the nearest; NULL: it knows all. */
const char *condition_unknown(const struct condition *c, condition_lookup *lookup, const void *arg);

/* Whether it holds of the numbers, whatever their intervals. Allocates nothing; a name that is not known is an unknown
 * value. */
bool condition_holds(const struct condition *c, condition_lookup *lookup, const void *arg);

/* Whether it holds wherever in their intervals the values lie. */
enum condition_truth { CONDITION_FALSE, CONDITION_TRUE, CONDITION_OPEN };
enum condition_truth condition_holds_throughout(const struct condition *c, condition_lookup *lookup,
                                                const void *arg);

/* What a sum comes to: mid NAN where a value has no number. */
struct interval condition_sum(const struct condition *c, condition_lookup *lookup, const void *arg);

enum condition_relation {
    RELATION_EQUAL,
    RELATION_UNEQUAL,
    RELATION_LESS,
    RELATION_LESS_EQUAL,
    RELATION_GREATER,
    RELATION_GREATER_EQUAL
};

/* A name with the value that it is compared with, or in a sum: for messages that know which names and values there are. */
struct condition_term {
    const char *name, *text; /* of the value as written, without quotation marks; NULL in a sum */
    int name_column, text_column;
    enum condition_relation relation;
    double number; /* the value, in the unit of the name; NAN for a word or a text */
    double scale;  /* of the name's value in a sum */
};

/* Values of a name. Only numbers have an order, and no word is a number. */
enum condition_kind { CONDITION_ANY, CONDITION_NUMBER, CONDITION_TEXT };

/* Whether values of this kind can meet the comparison; else `why` says why not. */
enum { CONDITION_WHY = 320 };
bool condition_term_fits(char why[CONDITION_WHY], const struct condition_term *term,
                         enum condition_kind kind);

/* Numbers that a name can have, from lo to hi. */
struct condition_range {
    double lo, hi;
    bool above;  /* lo is none of them */
    bool share;  /* a part of 1, which may have been typed in per cent */
    int classes; /* that guessing among reaches lo; 0: lo is no chance */
};

/* Whether numbers of the range differ in whether they meet the comparison; else `why` says what all of them do. */
bool condition_term_decides(char why[CONDITION_WHY], const struct condition_term *term,
                            const struct condition_range *range);

/* Whether some number of each name meets the condition and some does not, as far as it compares names with numbers: of
 * "ranks > 2 and ranks < 1" none does. Else `why` says so. */
bool condition_decides(char why[CONDITION_WHY], const struct condition *c);

/* The names from left to right, *n of them, borrowed. */
const struct condition_term *condition_terms(const struct condition *c, size_t *n);

/* Replaces the text of a comparison's value by another that means the same, borrowed. */
void condition_set_text(struct condition *c, size_t term, const char *text);

/* Unit of a name's numbers; the text is NULL if it is unknown. Numbers of one kind (enum option_type), such as times,
 * differ in `factor` alone: a unit in seconds or bytes. */
struct condition_unit {
    const char *text;
    int kind;
    double factor;
};
typedef struct condition_unit condition_unit_of(const char *name, const void *arg);

/* Converts the times and sizes of each comparison of sums to one unit. Returns false, with the reason in `why`, if two
 * operands have different kinds of unit or both sides of a comparison are equal. */
bool condition_match_units(char why[CONDITION_WHY], struct condition *c, condition_unit_of *unit_of,
                           const void *arg);

/* The condition as it was written. */
const char *condition_text(const struct condition *c);
