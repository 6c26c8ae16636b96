#include "bench/runner/commands/help/dictionaries.h"

#include "bench/claims/claims.h"
#include "bench/collect/collect.h"
#include "bench/compare/format.h"
#include "bench/doctor/table.h"
#include "bench/figures/figures.h"
#include "bench/forecast/columns.h"
#include "bench/record/sweep_files.h"

static const struct csv_file *const others[] = {
    &columns_all, &compare_file, &claims_file, &claims_plan_file, &plan_file,
    &export_file, &predict_file, &links_file,  &figures_series,   &figures_dots};
enum { OTHERS = sizeof others / sizeof *others };

const struct csv_file *dictionary_get(size_t i)
{
    size_t n;
    const struct doctor_table *const *of_doctor = doctor_tables(&n);
    if (i < OTHERS)
        return others[i];
    if (i < OTHERS + SWEEP_FILES)
        return &sweep_files[i - OTHERS];
    i -= OTHERS + SWEEP_FILES;
    return i < n ? &of_doctor[i]->file : NULL;
}
