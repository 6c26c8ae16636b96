/* A condition as the steps that work it out: operands before operators. Internal to bench/spec/conditions. */
#pragma once

#include "bench/spec/condition.h"

enum condition_action {
    ACTION_NUMBER,
    ACTION_NAME,
    ACTION_NEGATE,
    ACTION_ADD,
    ACTION_SUBTRACT,
    ACTION_MULTIPLY,
    ACTION_DIVIDE,
    ACTION_RELATE,  /* two sums */
    ACTION_COMPARE, /* a name with a number, a word or a text */
    ACTION_NOT,
    ACTION_AND,
    ACTION_OR,
};

struct condition_step {
    enum condition_action action;
    size_t term;                      /* of NAME and COMPARE */
    enum condition_relation relation; /* of RELATE */
    double number;                    /* of NUMBER */
    const char *text;                 /* of NUMBER, as written */
    int column;
};

struct condition {
    char *text, *words; /* as written; the names and values of the terms */
    struct condition_step *steps;
    struct condition_term *terms;
    size_t n_steps, n_terms;
};

/* Parentheses, `not` and - of an operand. A level has five operands waiting at most, one of each rank of operators. */
enum { CONDITION_DEPTH = 30, CONDITION_STACK = 5 * (CONDITION_DEPTH + 1) + 2 };
