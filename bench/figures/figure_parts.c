/* Figures of bars that show several values per point: parts of the step time, hidden communication,
 * memory of a rank. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"

/* Writes one row for each point that has a bar: the columns that all figures of bars have, then the
 * columns that `numbers` writes. */
static enum status write_bars(FILE *out, const struct figure_data *d,
                              void (*numbers)(FILE *out, const struct figure_data *d, size_t point))
{
    size_t row = 0;
    for (size_t i = 0; i < d->s->n; i++) {
        if (!figure_data_has_bar(d, i))
            continue;
        figure_begin_bar(out, d->bars[i] ? ++row : 0, &d->s->points[i]);
        numbers(out, d, i);
        fputc('\n', out);
    }
    return OK;
}

/* Returns a time of summary.csv (ms); 0 if it is unknown, since another part of the step then
 * includes this time. */
static double known_ms(const struct point_summary *p, enum column_id column)
{
    double x = cell_number(p, column);
    return isnan(x) ? 0 : x;
}

/* ---- Stacked parts of a step ---- */

/* PART(name, column, without): a part of the step time. Its time is the value of `column` minus
 * `without` (columns of summary.csv). `without` = COLUMNS subtracts nothing. */
#define PARTS(PART)                                                                                \
    PART(load, COLUMN_load_ms, COLUMNS)                                                            \
    PART(forward, COLUMN_forward_ms, COLUMNS)                                                      \
    PART(backward, COLUMN_backward_ms, COLUMNS)                                                    \
    PART(pack, COLUMN_pack_ms, COLUMNS)                                                            \
    PART(wait, COLUMN_wait_ms, COLUMNS)                                                            \
    PART(comm, COLUMN_comm_exposed_ms, COLUMN_wait_ms)                                             \
    PART(optimizer, COLUMN_optimizer_ms, COLUMNS)                                                  \
    PART(inject, COLUMN_inject_ms, COLUMNS)

/* Parts of a simulated step: time on the critical path by cause, such as backward or message
 * latency (critical_path.h). */
#define CAUSES(PART)                                                                               \
    PART(path_load, COLUMN_path_load_ms, COLUMNS)                                                  \
    PART(path_forward, COLUMN_path_forward_ms, COLUMNS)                                            \
    PART(path_backward, COLUMN_path_backward_ms, COLUMNS)                                          \
    PART(path_memory, COLUMN_path_memory_ms, COLUMNS)                                              \
    PART(path_bytes, COLUMN_path_bytes_ms, COLUMNS)                                                \
    PART(path_starts, COLUMN_path_starts_ms, COLUMNS)                                              \
    PART(path_sums, COLUMN_path_sums_ms, COLUMNS)                                                  \
    PART(path_optimizer, COLUMN_path_optimizer_ms, COLUMNS)                                        \
    PART(path_inject, COLUMN_path_inject_ms, COLUMNS)

static const struct part {
    const char *name;
    enum column_id column, without;
} parts[] = {
#define PART(name, column, without) {#name, column, without},
    PARTS(PART) CAUSES(PART){"other", COLUMNS, COLUMNS}
#undef PART
};

#define PART(name, column, without) #name,
static const char *const part_names[] = {PARTS(PART) "other", NULL};
static const char *const cause_names[] = {CAUSES(PART) "other", NULL};
#undef PART

/* Returns the part of a step whose name is the i-th in the figure's option `y`. figure_resolve has
 * checked that such a part exists. */
static const struct part *part_at(const struct figure *figure, size_t i)
{
    size_t k = 0;
    while (strcmp(parts[k].name, figure_column(figure, i)) != 0)
        k++;
    return &parts[k];
}

/* Returns the time of a part of the step (ms); 0 for `other`, or if unknown. If the waiting time is
 * unknown, the time of part `comm` includes it. */
static double part_ms(const struct point_summary *p, const struct part *part)
{
    if (part->column == COLUMNS)
        return 0;
    double ms = known_ms(p, part->column);
    return part->without == COLUMNS ? ms : fmax(ms - known_ms(p, part->without), 0);
}

/* Writes the times of the parts of a step; `other` is the rest. Parts are means over ranks, but the
 * slowest rank sets the step time, so `other` includes imbalance. */
static void write_parts(FILE *out, const struct figure_data *d, size_t point)
{
    const struct figure *figure = d->figure;
    const struct point_summary *p = &d->s->points[point];
    double step = cell_number(p, COLUMN_step_ms_median), sum = 0;
    figure_write_number(out, step);
    for (size_t i = 0; figure_column(figure, i) != NULL; i++)
        sum += part_ms(p, part_at(figure, i));
    for (size_t i = 0; figure_column(figure, i) != NULL; i++) {
        const struct part *part = part_at(figure, i);
        double ms = part->column == COLUMNS ? fmax(step - sum, 0) : part_ms(p, part);
        figure_write_number(out, isfinite(step) ? ms : NAN);
    }
    figure_write_number(out, figure_data_published(d, point));
    figure_write_number(out, figure_data_model(d, d->quantity, point));
}

static enum status write_stacked(FILE *out, struct figure_data *d, struct error *e)
{
    const char *name;
    fputs("row,point,label,ranks,status,flags,step_ms", out);
    for (size_t i = 0; (name = figure_column(d->figure, i)) != NULL; i++)
        fprintf(out, ",%s_ms", name);
    fputs(",published,model_ms\n", out);
    return write_bars(out, d, write_parts);
}

const struct figure_shape shape_stacked = {
    .bars = true,
    .x = "point",
    .total = "step_ms",
    .parts = part_names,
    .method = "; parts are means over ranks, and other is the rest of the slowest rank's step.",
    .write = write_stacked};

const struct figure_shape shape_causes = {
    .bars = true,
    .only = OPT_CRITICAL_PATH,
    .x = "point",
    .total = "step_ms",
    .parts = cause_names,
    .method = "; parts are times on the critical path, and other is the rest of the step.",
    .write = write_stacked};

/* ---- Overlap ---- */

/* Writes exposed, waiting and hidden communication time per step (ms). If the waiting time is
 * unknown, exposed time includes it. Hidden time is overlap_share times comm_replay_ms; negative if
 * a step takes longer than compute plus communication. */
static void write_hidden(FILE *out, const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    double comm = d->measured[point].value.mid, alone = cell_number(p, COLUMN_comm_replay_ms);
    double wait = isfinite(comm) ? known_ms(p, COLUMN_wait_ms) : NAN;
    figure_write_number(out, comm - wait);
    figure_write_number(out, wait);
    figure_write_number(out, alone * cell_number(p, COLUMN_overlap_share));
    figure_write_number(out, alone * cell_number(p, COLUMN_overlap_share_lo));
    figure_write_number(out, alone * cell_number(p, COLUMN_overlap_share_hi));
    figure_write_number(out, alone);
    figure_write_number(out, figure_data_published(d, point));
}

static enum status write_overlap(FILE *out, struct figure_data *d, struct error *e)
{
    fputs("row,point,label,ranks,status,flags,exposed_ms,wait_ms,hidden_ms,hidden_lo_ms,"
          "hidden_hi_ms,alone_ms,published\n",
          out);
    return write_bars(out, d, write_hidden);
}

const struct figure_shape shape_overlap = {
    .bars = true,
    .x = "point",
    .total = "comm_exposed_ms",
    .only = OPT_STRATEGY,
    .whiskers = true,
    .method = "; exposed and wait (where known) are means over ranks, and hidden is overlap_share "
              "of the time of the same calls alone (tick)",
    .write = write_overlap};

/* ---- Memory ---- */

enum { BY_FORMULA, BY_FORECAST, MEASURED, MEMORY_SOURCES };

/* Kinds of memory that option y can list, and the columns of each kind. */
static const char *const memory_names[] = {"params", "grads", "state", NULL};
static const enum column_id memory_columns[][MEMORY_SOURCES] = {
    {COLUMN_params_formula_mib, COLUMN_params_forecast_mib, COLUMN_params_mib},
    {COLUMN_grads_formula_mib, COLUMN_grads_forecast_mib, COLUMN_grads_mib},
    {COLUMN_state_formula_mib, COLUMN_state_forecast_mib, COLUMN_state_mib}};

/* Returns the sum of the kinds of memory that the figure shows (MiB), according to `source`:
 * BY_FORMULA, BY_FORECAST or MEASURED. NAN if one kind is unknown. */
static double memory_mib(const struct figure *figure, const struct point_summary *p, int source)
{
    double sum = 0;
    for (size_t k = 0; memory_names[k] != NULL; k++)
        for (size_t i = 0; figure_column(figure, i) != NULL; i++)
            if (strcmp(memory_names[k], figure_column(figure, i)) == 0)
                sum += cell_number(p, memory_columns[k][source]);
    return sum;
}

static void write_memory_mib(FILE *out, const struct figure_data *d, size_t point)
{
    double mib[MEMORY_SOURCES];
    for (int source = 0; source < MEMORY_SOURCES; source++) {
        mib[source] = memory_mib(d->figure, &d->s->points[point], source);
        figure_write_number(out, mib[source]);
    }
    figure_write_number(out, 100 * (mib[MEASURED] / mib[BY_FORECAST] - 1));
    figure_write_number(out, figure_data_published(d, point));
}

static enum status write_memory(FILE *out, struct figure_data *d, struct error *e)
{
    fputs("row,point,label,ranks,status,flags,formula_mib,forecast_mib,measured_mib,error_pct,"
          "published\n",
          out);
    return write_bars(out, d, write_memory_mib);
}

const struct figure_shape shape_memory = {
    .bars = true,
    .x = "point",
    .total = "model_states_mib",
    .parts = memory_names,
    .lead = " Most of ",
    .method =
        "; the number beside a point's name is the excess of the measurement over the forecast.",
    .write = write_memory};
