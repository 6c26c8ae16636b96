/* Hoefler and Belli's twelve rules for reporting performance (SC15; rules.def), graded from a
 * summary: the rows of rules.csv. */
#pragma once

#include "bench/collect/collect.h"

enum {
#define RULE(name, ...) RULE_##name,
#include "bench/collect/rules.def"
    RULES
};

/* not applicable: the run has nothing that the rule concerns; counts as met */
enum rule_grade { RULE_NOT_MET, RULE_MET, RULE_NOT_APPLICABLE };

struct rule_result {
    enum rule_grade grade;
    const char *title, *verdict, *remedy; /* verdict: grade in words */
    char by[320];                         /* sentence without its full stop */
};

/* Grades all rules in order; returns the number of rules met. */
size_t rules_grade(struct rule_result results[RULES], const struct summary *s);
