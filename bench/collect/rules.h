/* The twelve rules of Hoefler and Belli for reporting performance (SC15; rules.def), graded from what a
 * summary holds: the rows of rules.csv, which the report of a run ends with. */
#pragma once

#include "bench/collect/collect.h"

enum {
#define RULE(name, ...) RULE_##name,
#include "bench/collect/rules.def"
    RULES
};

/* A rule about what a run does not have is not applicable: it counts as met. */
enum rule_grade { RULE_NOT_MET, RULE_MET, RULE_NOT_APPLICABLE };

struct rule_result {
    enum rule_grade grade;
    const char *title, *verdict, *remedy; /* verdict: the grade in words */
    char by[320];                         /* a sentence without its stop */
};

/* One after another, from the first; how many are met. */
size_t rules_grade(struct rule_result results[RULES], const struct summary *s);
