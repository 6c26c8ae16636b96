/* The table of the sweep, RFC 4180 with line feeds. */
#include <math.h>
#include <string.h>

#include "bench/workloads/kernel_sweep/sweep.h"

#define CONFIDENCE 0.95

void rows_print_header(FILE *out)
{
    const char *separator = "";
#define COLUMN(id, type, unit, meaning)                                                            \
    fprintf(out, "%s%s", separator, #id);                                                          \
    separator = ",";
#include "bench/workloads/kernel_sweep/csv_kernels.def"
#undef COLUMN
    fputc('\n', out);
}

void rows_print_columns(FILE *out)
{
#define COLUMN(id, type, unit, meaning) fprintf(out, "  %-18s %-9s %s\n", #id, unit, meaning);
#include "bench/workloads/kernel_sweep/csv_kernels.def"
#undef COLUMN
}

/* No text of this table holds a comma or a quotation mark. */
static void print_TEXT(FILE *out, const char *text)
{
    fputs(text ? text : "", out);
}

static void print_REAL(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.6g", x);
}

static void print_INT(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.0f", x);
}

void row_print(FILE *out, const struct kernel_row *row)
{
    const char *separator = "";
#define COLUMN(id, type, unit, meaning)                                                            \
    fputs(separator, out);                                                                         \
    print_##type(out, row->id);                                                                    \
    separator = ",";
#include "bench/workloads/kernel_sweep/csv_kernels.def"
#undef COLUMN
    fputc('\n', out);
    fflush(out);
}

/* Whatever is not surely within the bound is not ok. */
static const char *verdict_of(const struct kernel_row *row)
{
    return row->residual <= row->bound ? "ok" : "exceeds bound";
}

void sweep_print_row(struct sweep *s, struct kernel_row *row, const double *ms, size_t n)
{
    struct interval time = stats_median_interval(ms, n, CONFIDENCE);
    row->model = s->desc->name;
    row->isa = isa_names()[s->options->isa];
    row->batch = s->options->batch;
    row->repeats = (double)n;
    row->time_ms = time.mid;
    row->time_ms_lo = time.lo;
    row->time_ms_hi = time.hi;
    row->gflop_per_s = 1e-6 * row->flop / time.mid;
    row->gbyte_per_s = 1e-6 * row->bytes / time.mid;
    row->intensity = row->flop / row->bytes;
    row->peak_gflop_per_s = s->peaks.gflop_per_s;
    row->memory_gbyte_per_s = s->peaks.gbyte_per_s;
    row->peak_pct = 100 * row->gflop_per_s / s->peaks.gflop_per_s;
    row->memory_pct = 100 * row->gbyte_per_s / s->peaks.gbyte_per_s;
    row->verdict = verdict_of(row);
    row->blas = gemm_library();
    if (!s->begun)
        rows_print_header(s->out);
    s->begun = true;
    s->all_ok = s->all_ok && strcmp(row->verdict, "ok") == 0;
    row_print(s->out, row);
}

bool sweep_wants(const struct sweep *s, int first_layer, int last_layer)
{
    const char *wanted = s->options->layer;
    for (int i = first_layer; i < last_layer; i++)
        if (!wanted || strcmp(s->desc->layers[i].name, wanted) == 0)
            return true;
    return false;
}
