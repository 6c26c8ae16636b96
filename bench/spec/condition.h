/* Conditions and arithmetic over named values: "ranks > 1 and (step_ms * ranks < 100 or
 * sync.strategy = shm)". Excludes of a spec, rows of figures, checks and claims use this syntax.
 *
 *   condition   := term { or term };  term := factor { and factor }
 *   factor      := not factor | ( condition ) | comparison
 *   comparison  := sum operator sum | name = word | name = "text";  operator := = == != < <= > >=
 *   sum         := product { (+ | -) product };  product := operand { (* | /) operand }
 *   operand     := number [unit] | name | - operand | ( sum )
 *
 * In a condition, + - * / need blanks around them, since names and words may contain these signs. A
 * word after = or != is a text. `name = number` compares numbers, or texts if the value of the name
 * has no number. Only numbers have an order (< <= > >=) and arithmetic.
 *
 * The values of a name that ends in a unit, as step_ms or peak_mib, are in that unit. Other times
 * are in seconds and other sizes in bytes, as in options. A comparison of several names converts
 * all times to the unit of its first time, and all sizes to the unit of its first size. 80% is 80
 * for an option and for a column that ends in _pct, and 0.8 for other columns: efficiency >= 80%.
 *
 * A value may be an interval. A condition is true if it is true for all values in the intervals,
 * false if it is false for all, and otherwise open. The interval of a sum contains the sums of all
 * values in the intervals (Moore, "Interval analysis", 1966). Each occurrence of a name counts
 * separately, so the interval may be too wide, never too narrow.
 *
 * To add an operator: extend this grammar, conditions/parse.c and conditions/judge.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

struct condition;
struct node;

/* Parses a condition; free with condition_free. After an error, *c is NULL. A syntax error is
 * ERR_ARGUMENT with line 1 and its column in `text`. */
enum status condition_parse(struct condition **c, const char *text, struct error *e);

/* Parses a sum without a comparison. + - * / need no blanks, and numbers have no units. */
enum status condition_parse_sum(struct condition **c, const char *text, struct error *e);

/* Parses the condition in a node of a YAML file. ERR_SPEC with the position in the file; the
 * message begins with `key`. */
enum status condition_read(struct condition **c, const char *key, const struct node *node,
                           struct error *e);

void condition_free(struct condition *c); /* accepts NULL */

/* Value of a name in a condition: a number (NAN: not numeric) and a text (NULL: none). If the
 * number is NAN and the text is NULL or "", every comparison with the name is false. */
struct condition_value {
    double number;
    const char *text; /* borrowed; valid until the next lookup */
    bool spread;      /* whether the number is uncertain and lies in [lo, hi] */
    double lo, hi;
};

/* Returns the value of a CSV cell: its text, and the number that the text represents. */
struct condition_value condition_value_of(const char *text);

/* Looks up the value of a name. Returns false if the name is unknown. */
typedef bool condition_lookup(struct condition_value *value, const char *name, const void *arg);

/* Returns the first name in the condition that `lookup` does not know; NULL if `lookup` knows all
 * names. */
const char *condition_unknown(const struct condition *c, condition_lookup *lookup, const void *arg);

/* Returns whether the condition holds, ignoring the intervals of values. Comparisons with a name
 * that `lookup` does not know are false. Allocates nothing. */
bool condition_holds(const struct condition *c, condition_lookup *lookup, const void *arg);

/* Result of a condition whose names have intervals as values: false for all values in the
 * intervals, true for all of them, otherwise open. */
enum condition_truth { CONDITION_FALSE, CONDITION_TRUE, CONDITION_OPEN };
enum condition_truth condition_holds_throughout(const struct condition *c, condition_lookup *lookup,
                                                const void *arg);

/* Returns the interval of a sum; its `mid` is NAN if the value of a name is not numeric. */
struct interval condition_sum(const struct condition *c, condition_lookup *lookup, const void *arg);

enum condition_relation {
    RELATION_EQUAL,
    RELATION_UNEQUAL,
    RELATION_LESS,
    RELATION_LESS_EQUAL,
    RELATION_GREATER,
    RELATION_GREATER_EQUAL
};

/* One occurrence of a name in a condition: in a comparison with a value, or in a sum. */
struct condition_term {
    const char *name, *text; /* text: value compared with the name, as written but without quotation
                                marks; NULL if the name is in a sum */
    int name_column, text_column;
    enum condition_relation relation;
    /* number that the name is compared with, in the unit of the name; NAN for a word or text */
    double number;
    double scale; /* in a sum: factor that converts the name's value to the comparison's unit */
};

/* Kinds of values that a name can have. Texts have no order and no arithmetic. */
enum condition_kind { CONDITION_ANY, CONDITION_NUMBER, CONDITION_TEXT };

enum { CONDITION_WHY = 320 };

/* Returns whether the term's comparison is possible if the name has values of this kind. If not,
 * writes the reason to `why`. */
bool condition_term_fits(char why[CONDITION_WHY], const struct condition_term *term,
                         enum condition_kind kind);

/* Range of numbers that a name can have. */
struct condition_range {
    double lo, hi;
    bool above;  /* whether the range excludes lo itself */
    bool share;  /* whether the number is a fraction of 1; a comparison with 20 or more is then
                    refused as a probable percentage */
    int classes; /* number of classes if lo is the accuracy of random guessing; otherwise 0 */
};

/* Returns false, with the reason in `why`, if the comparison is true for all numbers of the range
 * or for none. Also returns false if range->share is set and the number in the comparison is 20 or
 * more, probably a percentage. Returns true for comparisons with a word or text. */
bool condition_term_decides(char why[CONDITION_WHY], const struct condition_term *term,
                            const struct condition_range *range);

/* Returns false, with the reason in `why`, if the condition is always or never true, such as "a > b
 * and a < b". Considers only comparisons of a name with a number or with another name. */
bool condition_decides(char why[CONDITION_WHY], const struct condition *c);

/* Returns the terms from left to right, *n of them; borrowed. */
const struct condition_term *condition_terms(const struct condition *c, size_t *n);

/* Replaces the text of the term with index `term` by a synonym, such as "true" for "yes". `text` is
 * borrowed. */
void condition_set_text(struct condition *c, size_t term, const char *text);

/* Unit of a named value. `text`: the unit, such as "ms"; NULL if unknown. Units of one `kind` (enum
 * option_type) can be converted into each other. `factor`: number of seconds or bytes that a value
 * of 1 amounts to, such as 0.001 in ms; 1 for all other kinds. */
struct condition_unit {
    const char *text;
    int kind;
    double factor;
};
typedef struct condition_unit condition_unit_of(const char *name, const void *arg);

/* Returns the unit in a name, such as ms in step_ms or step_ms_median. If the name has no unit,
 * `text` of the result is NULL. */
struct condition_unit condition_unit_in(const char *name);

/* Prepares each comparison of two arithmetic expressions: converts all of its times to one unit,
 * and all of its sizes to one unit. Returns false, with the reason in `why`, if values of different
 * kinds, such as a time and a size, are compared, added or subtracted. Also returns false if both
 * sides of a comparison are the same expression. */
bool condition_match_units(char why[CONDITION_WHY], struct condition *c, condition_unit_of *unit_of,
                           const void *arg);

/* Returns the text of the condition; borrowed. */
const char *condition_text(const struct condition *c);
