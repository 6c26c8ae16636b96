/* Prints how long pipeline stages wait for each other, since the table's columns "compute", "comm"
 * and "wait" do not include this time. */
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

/* Prints, for the point with the largest bubble_pct: "Pipeline stages wait for each other during up
 * to 65.4 % of a step (ranks=2; bubble_pct). More micro-batches (train.accumulate) reduce the
 * waiting." Prints nothing if no point has a bubble. */
void table_print_bubbles(FILE *out, const struct summary *s)
{
    char share[TEXT_NUMBER];
    const struct point_summary *most = NULL;
    for (size_t i = 0; i < s->n; i++) {
        double pct = cell_number(&s->points[i], COLUMN_bubble_pct);
        if (pct > 0 && (most == NULL || pct > cell_number(most, COLUMN_bubble_pct)))
            most = &s->points[i];
    }
    if (most != NULL)
        fprintf(out,
                "Pipeline stages wait for each other during up to %s %% of a step (%s; "
                "bubble_pct). More micro-batches (train.accumulate) reduce the waiting.\n",
                text_significant(share, cell_number(most, COLUMN_bubble_pct), 3),
                most->point->label);
}
