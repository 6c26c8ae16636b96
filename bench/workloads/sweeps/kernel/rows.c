/* Computes and prints the rows of kernels.csv. */
#include <string.h>

#include "bench/workloads/sweeps/kernel/sweep.h"

#define CONFIDENCE 0.95

const char *pass_name(enum pass pass)
{
    static const char *const names[] = {
        [PASS_FORWARD] = "forward", [PASS_BACKWARD] = "backward", [PASS_TRAIN] = "train"};
    return names[pass];
}

/* Returns the verdict of a row: "ok" or "exceeds bound". A residual of NAN counts as above the
 * bound. */
static const char *verdict_of(const struct kernel_row *row)
{
    return row->residual <= row->bound ? "ok" : "exceeds bound";
}

void sweep_print_row(struct sweep *s, struct kernel_row *row, enum isa isa, const double *ms,
                     size_t n)
{
    struct interval time = stats_median_interval(ms, n, CONFIDENCE);
    row->model = s->desc->name;
    row->isa = isa_names()[isa];
    row->batch = s->options->batch;
    row->repeats = (double)n;
    CSV_SET_INTERVAL(row, time_ms, time, 1);
    row->gflop_per_s = 1e-6 * row->flop / time.mid;
    row->gflop_done_per_s = 1e-6 * row->flop_done / time.mid;
    row->gbyte_per_s = 1e-6 * row->bytes / time.mid;
    row->intensity = row->flop / row->bytes;
    row->peak_gflop_per_s = s->peaks.gflop_per_s;
    row->unit_gflop_per_s = s->peaks.unit_gflop_per_s[isa];
    row->memory_gbyte_per_s = s->peaks.gbyte_per_s;
    row->peak_pct = 100 * row->gflop_done_per_s / s->peaks.gflop_per_s;
    row->memory_pct = 100 * row->gbyte_per_s / s->peaks.gbyte_per_s;
    row->verdict = verdict_of(row);
    row->blas = gemm_library();
    s->wrong += strcmp(row->verdict, "ok") != 0;
    csv_write_row(s->out, &sweep_files[SWEEP_KERNELS], row);
    fflush(s->out);
}

bool sweep_wants(const struct sweep *s, int first_layer, int last_layer)
{
    const char *wanted = s->options->layer;
    for (int i = first_layer; i < last_layer; i++)
        if (wanted == NULL || strcmp(s->desc->layers[i].name, wanted) == 0)
            return true;
    return false;
}
