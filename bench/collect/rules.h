/* Grades a run by Hoefler and Belli's twelve rules for reporting performance (SC15), which
 * rules.def lists. The grades are the rows of rules.csv. */
#pragma once

#include "bench/collect/collect.h"

enum {
#define RULE(name, ...) RULE_##name,
#include "bench/collect/rules.def"
    RULES
};

/* NOT_APPLICABLE: the run has nothing to which the rule applies */
enum rule_grade { RULE_NOT_MET, RULE_MET, RULE_NOT_APPLICABLE };

struct rule_result {
    enum rule_grade grade;
    const char *title, *verdict, *remedy; /* `verdict`: `grade` as text */
    char by[320];                         /* reason of the grade: a sentence without full stop */
};

/* Grades all rules, in the order of rules.def. Returns the number of rules that are met or not
 * applicable. */
size_t rules_grade(struct rule_result results[RULES], const struct summary *s);
