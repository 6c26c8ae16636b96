/* Conditions over named values: "ranks > 1 and (sync.strategy = shm or not train.epochs = 1)". One
 * small language for what a spec excludes, what a figure shows and what a check demands.
 *
 *   condition   := term { or term };  term := factor { and factor }
 *   factor      := not factor | ( condition ) | comparison
 *   comparison  := name operator value;  operator := = == != < <= > >=
 *   value       := a number, with the units that options have (5ms, 64KiB, 5%) | word | "text"
 *
 * A number is compared with the value's number, or as text with one that has none; a word or a text
 * with the value's text; an order is one of numbers. Times are in seconds and sizes in bytes as
 * those of options are, unless the name says its unit at its end, as columns of CSV files do:
 * step_ms, peak_mib. A share in per cent compares with an option or a column that ends in _pct as
 * it is, with any other column as a part of 1: efficiency >= 80%. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

struct condition;
struct node;

/* Freed with condition_free; NULL after an error: ERR_ARGUMENT at line 1 and the column in `text`. */
enum status condition_parse(struct condition **c, const char *text, struct error *e);

/* The same from a file: ERR_SPEC with its place there. `key` begins the message. */
enum status condition_read(struct condition **c, const char *key, const struct node *node,
                           struct error *e);

void condition_free(struct condition *c); /* NULL is none */

/* What a name stands for: its number, NAN where the text is none; its text, NULL where it has none.
 * Neither of them (NAN and NULL or "") is an unknown value, of which every comparison is false. */
struct condition_value {
    double number;
    const char *text; /* borrowed until the next call */
};

/* Returns false for a name that it does not know. */
typedef bool condition_lookup(struct condition_value *value, const char *name, const void *arg);

/* The first name that `lookup` does not know, of which the caller knows the nearest; NULL: it knows all. */
const char *condition_unknown(const struct condition *c, condition_lookup *lookup, const void *arg);

/* Whether it holds. Allocates nothing; a name that is not known is an unknown value. */
bool condition_holds(const struct condition *c, condition_lookup *lookup, const void *arg);

/* The same of values that are known as intervals [*lo, *hi]; NAN: there is none, the value counts. True
 * or false is what it is wherever in their intervals the values lie, all that is left is open. */
enum condition_truth { CONDITION_FALSE, CONDITION_TRUE, CONDITION_OPEN };
typedef bool condition_interval_lookup(struct condition_value *value, double *lo, double *hi,
                                       const char *name, const void *arg);
enum condition_truth condition_holds_throughout(const struct condition *c,
                                                condition_interval_lookup *lookup, const void *arg);

/* One comparison: for messages that know which names and values there are. */
struct condition_term {
    const char *name, *text; /* of the value as written, without quotation marks */
    int name_column, text_column;
    bool ordered; /* < <= > or >= */
    bool number;  /* the value is one, with or without a unit */
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

/* Whether numbers of the range differ in whether they meet the comparison; else `why` says what all of them do. One that
 * asks for a number above lo is met by all, and says that there is one. */
bool condition_term_decides(char why[CONDITION_WHY], const struct condition *c, size_t term,
                            const struct condition_range *range);

/* Whether some number of each name meets the condition and some does not, in its order of numbers alone: of
 * "ranks > 2 and ranks < 1" none does. Else `why` says so. */
bool condition_decides(char why[CONDITION_WHY], const struct condition *c);

/* The comparisons from left to right, *n of them, borrowed. */
const struct condition_term *condition_terms(const struct condition *c, size_t *n);

/* Replaces the text of a comparison's value by another that means the same, borrowed. */
void condition_set_text(struct condition *c, size_t term, const char *text);

/* The condition as it was written. */
const char *condition_text(const struct condition *c);
