/* Reads a point's numbers, status and flags from its cells in summary.csv. Tables and figures use
 * the cells, whether just computed or read from a file. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/spec/value.h"
#include "kernels/base/names.h"

/* columns read into struct point_summary in addition to the NUMBER and COUNT rows of summary.def */
static const struct point_number metrics[] = {
    {COLUMN_ci_level, offsetof(struct point_summary, step_ms.level), false, NAN},
    {COLUMN_batch_per_rank, offsetof(struct point_summary, batch_per_rank), false, NAN},
    {COLUMN_test_acc_pct, offsetof(struct point_summary, accuracy.test_acc_pct.mid), false, NAN},
    {COLUMN_foreign_pct, offsetof(struct point_summary, foreign_pct), false, NAN},
    {COLUMN_memory_mib, offsetof(struct point_summary, memory.most_mib), false, NAN},
    {COLUMN_trend_pct, offsetof(struct point_summary, noise.trend_pct), false, NAN},
    {COLUMN_growth_mib, offsetof(struct point_summary, memory.growth_mib), false, NAN},
};

double cell_number(const struct point_summary *p, enum column_id column)
{
    double x;
    return number_parse(p->cells[column], &x) ? x : NAN;
}

static enum status read_number(const struct point_summary *p, enum column_id column, double *x,
                               struct error *e)
{
    const char *cell = p->cells[column];
    *x = NAN;
    if (cell[0] == '\0' || number_parse(cell, x))
        return OK;
    return error_set(e, ERR_DATA, "%s: '%s' is not a number", column_get(column)->name, cell);
}

/* Sets *count to the whole number in a cell; to `none` if the cell is empty. */
static enum status read_count(const struct point_summary *p, enum column_id column, int none,
                              int *count, struct error *e)
{
    double x;
    *count = none;
    TRY(read_number(p, column, &x, e));
    if (isnan(x))
        return OK;
    if (!(x >= 0 && x <= INT_MAX && x == floor(x)))
        return error_set(e, ERR_DATA, "%s: expected a whole number from 0 to %d, found %g",
                         column_get(column)->name, INT_MAX, x);
    *count = (int)x;
    return OK;
}

static enum status read_numbers(struct point_summary *p, const struct point_number *numbers,
                                size_t n, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        void *to = (char *)p + numbers[i].offset;
        int count;
        if (!numbers[i].is_count) {
            TRY(read_number(p, numbers[i].column, to, e));
            continue;
        }
        TRY(read_count(p, numbers[i].column, 0, &count, e));
        *(size_t *)to = (size_t)count;
    }
    return OK;
}

static enum status read_outcome(struct point_summary *p, struct error *e)
{
    char text[256];
    const char *status = p->cells[COLUMN_status];
    int outcome = name_index(status, point_status_names(), POINT_STATUSES);
    if (outcome < 0)
        return error_set(
            e, ERR_DATA, "status %s",
            name_explain(text, sizeof text, status, point_status_names(), POINT_STATUSES));
    p->outcome = (enum point_status)outcome;
    snprintf(p->status, sizeof p->status, "%s", status);
    snprintf(p->reason, sizeof p->reason, "%s", p->cells[COLUMN_reason]);
    snprintf(p->flags, sizeof p->flags, "%s", p->cells[COLUMN_flags]);
    snprintf(p->noise.disturbed_by, sizeof p->noise.disturbed_by, "%s",
             p->cells[COLUMN_disturbed_by]);
    p->noise.trend = strstr(p->flags, "warming") != NULL ? -1 : strstr(p->flags, "slowing") != NULL;
    return OK;
}

enum status point_read_cells(struct point_summary *p, struct error *e)
{
    size_t n;
    const struct point_number *own = point_numbers(&n);
    TRY(read_numbers(p, own, n, e));
    TRY(read_numbers(p, metrics, sizeof metrics / sizeof *metrics, e));
    TRY(read_count(p, COLUMN_last_rank, -1, &p->last.rank, e));
    TRY(read_outcome(p, e));
    p->step_ms.met = p->step_ms.level >= SUMMARY_CONFIDENCE;
    p->precision_met = p->launches > 0 && strstr(p->flags, "ci_not_met") == NULL;
    return OK;
}

void summary_add_up(struct summary *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (p->point->twin != i)
            continue;
        s->n_timed += p->launches + p->failed_launches;
        s->n_accuracy += p->accuracy_runs;
        s->wall_s += p->launches_s;
        s->core_s += 3600 * p->core_h;
    }
}
