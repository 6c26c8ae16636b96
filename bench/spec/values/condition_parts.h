/* What a condition consists of. Internal to bench/spec. */
#pragma once

#include "bench/spec/condition.h"

enum action { ACTION_COMPARE, ACTION_NOT, ACTION_AND, ACTION_OR };
enum relation { EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

struct comparison {
    enum relation relation;
    double number; /* in the unit of what is compared; NAN for a word or a text */
};

/* The condition in the order in which its parts are worked out: operands before operators. */
struct condition {
    char *text, *words; /* as written; the names and values of the terms */
    enum action *actions;
    struct condition_term *terms;
    struct comparison *comparisons;
    size_t n_actions, n_terms;
};
