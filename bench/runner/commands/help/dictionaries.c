#include "bench/runner/commands/help/dictionaries.h"

#include "bench/claims/claims.h"
#include "bench/collect/collect.h"
#include "bench/collect/columns.h"
#include "bench/compare/format.h"
#include "bench/doctor/table.h"
#include "bench/figures/figures.h"
#include "bench/forecast/columns.h"

static const struct {
    const struct column *(*columns)(size_t *n);
    const char *what;
} others[] = {
    {columns_all, NULL},
    {format_columns, "One row per point and run, printed by `scalebench compare --format csv`"},
    {claims_columns, "One row per claim, printed by `scalebench claims --format csv`"},
    {claims_plan_columns,
     "One row per undecided claim, printed by `scalebench claims --plan --format csv`"},
    {forecast_columns, "One row per point, printed by `scalebench plan --format csv`"},
    {export_columns, "One row per exported point, printed by `scalebench export`"},
    {predict_columns, "One row per predicted point, printed by `scalebench predict --format csv`"},
    {links_columns,
     "One row per fitted coefficient, printed by `scalebench predict --format links`"},
    {figures_series_columns, "One row per value of a figure, in a file beside its picture"},
    {figures_dots_columns,
     "One row per launch behind a value of a figure, in a file beside its picture"},
};
enum { OTHERS = sizeof others / sizeof *others };

bool dictionary_get(struct dictionary *d, size_t i)
{
    size_t sweeps, examined;
    const struct sweep_table *tables = sweep_tables(&sweeps);
    const struct doctor_table *const *of_doctor = doctor_tables(&examined);
    if (i < OTHERS) {
        d->columns = others[i].columns(&d->n);
        d->what = others[i].what;
    } else if (i < OTHERS + sweeps) {
        const struct sweep_table *table = &tables[i - OTHERS];
        *d = (struct dictionary){table->columns, table->n, table->what};
    } else if (i < OTHERS + sweeps + examined) {
        const struct doctor_table *table = of_doctor[i - OTHERS - sweeps];
        *d = (struct dictionary){table->columns, table->n, table->what};
    }
    return i < OTHERS + sweeps + examined;
}
