/* Steps that evaluate a condition on a stack: operands before operators. Private to
 * bench/spec/conditions. */
#pragma once

#include "bench/spec/condition.h"
#include "bench/spec/spec.h"

enum condition_action {
    ACTION_NUMBER,
    ACTION_NAME,
    ACTION_NEGATE,
    ACTION_ADD,
    ACTION_SUBTRACT,
    ACTION_MULTIPLY,
    ACTION_DIVIDE,
    ACTION_RELATE,  /* compare two arithmetic expressions */
    ACTION_COMPARE, /* compare a name with a number, word or text */
    ACTION_NOT,
    ACTION_AND,
    ACTION_OR,
};

struct condition_step {
    enum condition_action action;
    size_t term;                      /* index of the term of ACTION_NAME and ACTION_COMPARE */
    enum condition_relation relation; /* operator of ACTION_RELATE */
    double number;                    /* value of ACTION_NUMBER */
    const char *text;                 /* text of ACTION_NUMBER, as written */
    int column;
};

struct condition {
    char *text, *words; /* `text`: condition as written; `words`: names and texts of the terms */
    struct condition_step *steps;
    struct condition_term *terms;
    size_t n_steps, n_terms;
};

enum {
    CONDITION_DEPTH = 30, /* largest depth of parentheses, `not` and minus signs */
    /* Size of the stack for evaluation. Each depth of nesting adds at most five operands to the
     * stack, one for each level of operator precedence. */
    CONDITION_STACK = 5 * (CONDITION_DEPTH + 1) + 2
};

/* Converts `number` to the unit of the name that it is compared with. `number` is in seconds, bytes
 * or per cent, as `type` states; TYPE_REAL: no unit. `term`: first term of the comparison. The name
 * is the comparison's first name with a unit of `type`, or else its first name. Returns NAN if
 * number and name have units of different types. If one of them has no unit, returns `number`
 * unchanged. Exception: a percentage becomes a fraction if the name has no unit and is not an
 * option. */
double condition_convert(const struct condition *c, size_t term, enum option_type type,
                         double number);
