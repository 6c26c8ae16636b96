#include "bench/collect/rules.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

void table_print_grades(FILE *out, const struct rule_result *results, const struct summary *s)
{
    size_t n[RULE_NOT_APPLICABLE + 1] = {0};
    for (size_t i = 0; i < RULES; i++)
        n[results[i].grade]++;
    if (summary_count(s, point_was_measured) == 0) {
        fputs("nothing was measured that could be graded", out);
        return;
    }
    fprintf(out, "%zu of %d met", n[RULE_MET], RULES);
    if (n[RULE_NOT_APPLICABLE] > 0)
        fprintf(out, ", %zu not applicable", n[RULE_NOT_APPLICABLE]);
}

/* Prints "Rules of Hoefler and Belli: 11 of 12 met; not met:" and a line for each unmet rule. */
void table_print_rules(FILE *out, const struct summary *s)
{
    struct rule_result results[RULES];
    size_t met = rules_grade(results, s);
    fputs("Rules of Hoefler and Belli: ", out);
    table_print_grades(out, results, s);
    fputs(met < RULES ? "; not met:\n" : ".\n", out);
    for (size_t i = 0; i < RULES; i++)
        if (results[i].grade == RULE_NOT_MET)
            fprintf(out, "  %zu %s: %s. To meet it: %s.\n", i + 1, results[i].title, results[i].by,
                    results[i].remedy);
}
