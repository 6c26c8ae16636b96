#include "bench/runner/commands/dictionaries.h"

#include "bench/claims/claims.h"
#include "bench/collect/collect.h"
#include "bench/compare/format.h"
#include "bench/doctor/table.h"
#include "bench/figures/figures.h"
#include "bench/forecast/columns.h"

/* Sweeps are programs of their own: their rows have no offsets here. */
static const struct column comm[] = {
#define COLUMN(id, type, unit, meaning) {"comm.csv", #id, CSV_##type, unit, meaning, 0},
#include "bench/workloads/sweeps/comm/csv_comm.def"
#undef COLUMN
};
static const struct column links[] = {
#define COLUMN(id, type, unit, meaning) {"link.csv", #id, CSV_##type, unit, meaning, 0},
#include "bench/workloads/sweeps/comm/csv_link.def"
#undef COLUMN
};
static const struct column kernels[] = {
#define COLUMN(id, type, unit, meaning) {"kernels.csv", #id, CSV_##type, unit, meaning, 0},
#include "bench/workloads/sweeps/kernel/csv_kernels.def"
#undef COLUMN
};

static const struct {
    const struct column *columns;
    size_t n;
    const char *what;
} of_sweeps[] = {{comm, sizeof comm / sizeof *comm, "a row an operation, of `comm_sweep`"},
                 {links, sizeof links / sizeof *links, "a row a size of message, of `comm_sweep`"},
                 {kernels, sizeof kernels / sizeof *kernels, "a row a kernel, of `kernel_sweep`"}};
enum { SWEEPS = sizeof of_sweeps / sizeof *of_sweeps };

static const struct {
    const struct doctor_table *table;
    const char *what;
} of_doctor[] = {{&doctor_nodes, "a row a node, of `scalebench doctor`"},
                 {&doctor_bursts, "a row a burst of work, of `scalebench doctor`"},
                 {&doctor_messages, "a row a size of message, of `scalebench doctor`"},
                 {&doctor_cores, "a row a core, of `scalebench doctor`"},
                 {&doctor_links, "a row a pair of nodes, of `scalebench doctor`"},
                 {&doctor_findings, "a row a finding, of `scalebench doctor`"}};
enum { DOCTORS = sizeof of_doctor / sizeof *of_doctor };

static const struct {
    const struct column *(*columns)(size_t *n);
    const char *what;
} others[] = {
    {columns_all, NULL},
    {format_columns, "a row a point and run, of `scalebench compare --format csv`"},
    {claims_columns, "a row a claim, of `scalebench claims --format csv`"},
    {forecast_columns, "a row a point, of `scalebench plan --format csv`"},
    {figures_series_columns, "a row a value of a figure, beside its picture"},
    {figures_dots_columns, "a row a launch behind a value of a figure, beside its picture"},
};
enum { OTHERS = sizeof others / sizeof *others };

bool dictionary_get(struct dictionary *d, size_t i)
{
    if (i < OTHERS) {
        d->columns = others[i].columns(&d->n);
        d->what = others[i].what;
    } else if (i < OTHERS + SWEEPS) {
        *d = (struct dictionary){of_sweeps[i - OTHERS].columns, of_sweeps[i - OTHERS].n,
                                 of_sweeps[i - OTHERS].what};
    } else if (i < OTHERS + SWEEPS + DOCTORS) {
        const struct doctor_table *table = of_doctor[i - OTHERS - SWEEPS].table;
        *d = (struct dictionary){table->columns, table->n, of_doctor[i - OTHERS - SWEEPS].what};
    }
    return i < OTHERS + SWEEPS + DOCTORS;
}
