/* Prints the longest steps as multiples of the median step time, since medians hide long steps. */
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

/* For each point, divides a column (ms) by the median step time. Returns the largest ratio and sets
 * *label to this point's label. 0: unknown; *label is then unchanged. */
static double find_tail(const struct summary *s, enum column_id column, const char **label)
{
    double most = 0;
    for (size_t i = 0; i < s->n; i++) {
        double times = cell_number(&s->points[i], column) / s->points[i].step_ms.mid;
        if (times > most) {
            most = times;
            *label = s->points[i].point->label;
        }
    }
    return most;
}

/* Prints, over all points, the largest ratios of step_max_ms and of step_p95_ms to the median step
 * time, with the points' labels. */
void table_print_tails(FILE *out, const struct summary *s)
{
    char longest[TEXT_NUMBER], p95[TEXT_NUMBER];
    const char *of_longest = "", *of_p95 = "";
    double most = find_tail(s, COLUMN_step_max_ms, &of_longest);
    double usual = find_tail(s, COLUMN_step_p95_ms, &of_p95);
    if (most > 0 && usual > 0)
        fprintf(
            out,
            "Longest step: %s times the step time of its point (%s). 95th percentile of a launch: "
            "at most %s times (%s).\n",
            text_significant(longest, most, 3), of_longest, text_significant(p95, usual, 3),
            of_p95);
}
