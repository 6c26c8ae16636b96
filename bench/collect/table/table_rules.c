/* The twelve rules at the end of a report. */
#include "bench/collect/rules.h"
#include "bench/collect/table/table.h"

/* "Rules of Hoefler and Belli: 11 of 12 met; not" and "  5 what is measured carries an interval: 3 of 3
 * medians ... To meet it: ..." */
void table_print_rules(FILE *out, const struct summary *s)
{
    struct rule_result results[RULES];
    size_t met = rules_grade(results, s);
    fprintf(out, "Rules of Hoefler and Belli: %zu of %d met%s\n", met, RULES,
            met < RULES ? "; not met:" : ".");
    for (size_t i = 0; i < RULES; i++)
        if (results[i].grade == RULE_NOT_MET)
            fprintf(out, "  %zu %s: %s. To meet it: %s.\n", i + 1, rule_title(i), results[i].by,
                    rule_remedy(i));
}
