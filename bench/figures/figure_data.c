#include "bench/figures/figure_data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "bench/spec/value.h"

/* ---- Rows ---- */

void figure_data_write_number(FILE *out, double x)
{
    char text[TEXT_NUMBER];
    fprintf(out, ",%s", text_real(text, x));
}

void figure_data_write_status(FILE *out, const struct point_summary *p)
{
    fprintf(out, ",%ld,%s,%s", config_int(&p->point->config, OPT_RANKS), p->status, p->flags);
}

double figure_data_model(const struct figure_data *d, size_t point)
{
    return d->prediction.n > 0 ? prediction_value(&d->prediction, d->s, point, d->quantity) : NAN;
}

/* Which curve or bar, from 1; nothing where it is not drawn. */
static void write_place(FILE *out, size_t place)
{
    if (place > 0)
        fprintf(out, "%zu", place);
    fputc(',', out);
}

static void write_point(FILE *out, const struct figure_data *d, size_t curve, const char *name,
                        size_t i)
{
    const struct point_summary *p = &d->s->points[i];
    const struct measured *m = &d->measured[i];
    write_place(out, curve);
    text_write_field(out, name);
    fprintf(out, ",%s,", p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    figure_data_write_status(out, p);
    figure_data_write_number(out, (double)m->n);
    figure_data_write_number(out, m->value.mid);
    figure_data_write_number(out, m->value.lo);
    figure_data_write_number(out, m->value.hi);
    figure_data_write_number(out, published_value(d->s, i, d->quantity->column));
    figure_data_write_number(out, figure_data_model(d, i));
    fputc('\n', out);
}

static const char point_header[] =
    "curve,name,point,label,ranks,status,flags,n,value,lo,hi,published,model\n";

static void write_over_ranks(FILE *out, const struct figure_data *d)
{
    fputs(point_header, out);
    for (size_t k = 0; k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            write_point(out, d, k < d->curves ? k + 1 : 0, d->series.items[k].name,
                        d->series.items[k].points[i]);
}

static bool has_bars(const struct figure_data *d)
{
    return d->kind == FIGURE_BARS || d->kind == FIGURE_BREAKDOWN || d->kind == FIGURE_OVERLAP;
}

/* Whether a bar may stand for this point. */
static bool has_row(const struct figure_data *d, size_t point)
{
    if (d->kind == FIGURE_OVERLAP)
        return strcmp(config_text(&d->s->points[point].point->config, OPT_STRATEGY), "none") != 0;
    return d->quantity->source != SOURCE_RUNS || !d->s->points[point].compute_only;
}

static void write_by_point(FILE *out, const struct figure_data *d)
{
    size_t row = 0;
    fputs(point_header, out);
    for (size_t i = 0; i < d->s->n; i++)
        if (has_row(d, i))
            write_point(out, d, d->bars[i] ? ++row : 0, d->s->points[i].point->label, i);
}

/* ---- Breakdown ---- */

static const char *const parts[] = {"load", "forward", "backward",  "pack",
                                    "comm", "wait",    "optimizer", "other"};
enum { PARTS = sizeof parts / sizeof *parts };

const char *breakdown_part(size_t i)
{
    return i < PARTS ? parts[i] : NULL;
}

/* 0 where the column is unknown: what is not known belongs to the rest. */
static double part_ms(const struct point_summary *p, enum column_id column)
{
    double x = cell_number(p, column);
    return isnan(x) ? 0 : x;
}

/* Parts are means over ranks, the step is the slowest rank's: imbalance is part of the rest. Where
 * waiting is unknown, it is part of communication. */
static void write_parts(FILE *out, const struct point_summary *p)
{
    double wait = part_ms(p, COLUMN_wait_ms), sum = 0;
    double ms[PARTS] = {part_ms(p, COLUMN_load_ms),
                        part_ms(p, COLUMN_forward_ms),
                        part_ms(p, COLUMN_backward_ms),
                        part_ms(p, COLUMN_pack_ms),
                        fmax(part_ms(p, COLUMN_comm_exposed_ms) - wait, 0),
                        wait,
                        part_ms(p, COLUMN_optimizer_ms),
                        0};
    double step = cell_number(p, COLUMN_step_ms_median);
    for (int i = 0; i < PARTS; i++)
        sum += ms[i];
    ms[PARTS - 1] = fmax(step - sum, 0);
    for (int i = 0; i < PARTS; i++)
        figure_data_write_number(out, isfinite(step) ? ms[i] : NAN);
}

static void begin_bar(FILE *out, size_t row, const struct point_summary *p)
{
    write_place(out, row);
    fprintf(out, "%s,", p->cells[COLUMN_point]);
    text_write_field(out, p->point->label);
    figure_data_write_status(out, p);
}

static void write_breakdown(FILE *out, const struct figure_data *d)
{
    size_t row = 0;
    fputs("row,point,label,ranks,status,flags,step_ms", out);
    for (int i = 0; i < PARTS; i++)
        fprintf(out, ",%s_ms", parts[i]);
    fputs(",published,model_ms\n", out);
    for (size_t i = 0; i < d->s->n; i++) {
        const struct point_summary *p = &d->s->points[i];
        begin_bar(out, d->bars[i] ? ++row : 0, p);
        figure_data_write_number(out, cell_number(p, COLUMN_step_ms_median));
        write_parts(out, p);
        figure_data_write_number(out, published_value(d->s, i, d->quantity->column));
        figure_data_write_number(out, figure_data_model(d, i));
        fputc('\n', out);
    }
}

/* ---- Overlap ---- */

/* Exposed and wait are parts of a step, means over ranks. Hidden is a share of what the same calls
 * take alone; it is negative where communication cost more than that. Where waiting is unknown, it
 * is part of exposed. */
static void write_overlap(FILE *out, const struct figure_data *d)
{
    size_t row = 0;
    fputs("row,point,label,ranks,status,flags,exposed_ms,wait_ms,hidden_ms,hidden_lo_ms,"
          "hidden_hi_ms,alone_ms,published\n",
          out);
    for (size_t i = 0; i < d->s->n; i++) {
        const struct point_summary *p = &d->s->points[i];
        double comm = d->measured[i].value.mid, alone = cell_number(p, COLUMN_comm_replay_ms);
        double wait = isfinite(comm) ? part_ms(p, COLUMN_wait_ms) : NAN;
        if (!has_row(d, i))
            continue;
        begin_bar(out, d->bars[i] ? ++row : 0, p);
        figure_data_write_number(out, comm - wait);
        figure_data_write_number(out, wait);
        figure_data_write_number(out, alone * cell_number(p, COLUMN_overlap_share));
        figure_data_write_number(out, alone * cell_number(p, COLUMN_overlap_share_lo));
        figure_data_write_number(out, alone * cell_number(p, COLUMN_overlap_share_hi));
        figure_data_write_number(out, alone);
        figure_data_write_number(out, published_value(d->s, i, d->quantity->column));
        fputc('\n', out);
    }
}

/* ---- What a figure shows ---- */

static bool is_valued(const struct figure_data *d, size_t point)
{
    return isfinite(d->measured[point].value.mid) ||
           isfinite(published_value(d->s, point, d->quantity->column));
}

/* Ranks that train apart have no accuracy runs. What is left of their series has another name. */
static void drop_compute_only(struct series_list *list, const struct summary *s)
{
    size_t kept = 0;
    for (size_t k = 0; k < list->n; k++) {
        struct series *series = &list->items[k];
        size_t n = series->n;
        series->n = 0;
        for (size_t i = 0; i < n; i++)
            if (!s->points[series->points[i]].compute_only)
                series->points[series->n++] = series->points[i];
        if (series->n == 0) {
            free(series->points);
            continue;
        }
        char *lead = strstr(series->name, "compute only (none)");
        if (series->n < n && lead == series->name)
            memmove(lead, "none", 4), memmove(lead + 4, lead + 19, strlen(lead + 19) + 1);
        list->items[kept++] = *series;
    }
    list->n = kept;
}

/* Brings the curves that are drawn to the front: those with a value, as many as fit. Where there is
 * none at all, the legend still says what was asked for. */
static enum status choose_curves(struct figure_data *d, struct error *e)
{
    struct series_list *list = &d->series;
    struct series *items = calloc(list->n + 1, sizeof *items);
    bool any = figure_data_lack(d) == NULL;
    size_t rest = 0;
    if (!items)
        return error_set(e, ERR_MEMORY, "no memory for figure %s", d->figure);
    for (size_t k = 0; k < list->n; k++) {
        bool drawn = !any;
        for (size_t i = 0; i < list->items[k].n; i++)
            drawn |= is_valued(d, list->items[k].points[i]);
        d->left_out += drawn && d->curves == FIGURE_CURVES_MAX;
        if (drawn && d->curves < FIGURE_CURVES_MAX)
            list->items[d->curves++] = list->items[k];
        else
            items[rest++] = list->items[k];
    }
    memcpy(list->items + d->curves, items, rest * sizeof *items);
    free(items);
    return OK;
}

/* Every point has a bar where they fit, else those with a value, as many as fit. */
static enum status choose_bars(struct figure_data *d, struct error *e)
{
    size_t n = 0, valued = 0;
    d->bars = calloc(d->s->n + 1, sizeof *d->bars);
    if (!d->bars)
        return error_set(e, ERR_MEMORY, "no memory for figure %s", d->figure);
    for (size_t i = 0; i < d->s->n; i++)
        n += has_row(d, i);
    for (size_t i = 0; i < d->s->n; i++) {
        if (!has_row(d, i) || (n > FIGURE_BARS_MAX && !is_valued(d, i)))
            continue;
        valued++;
        d->bars[i] = valued <= FIGURE_BARS_MAX;
        d->rows += d->bars[i];
    }
    d->left_out = has_bars(d) && valued > d->rows ? valued - d->rows : 0;
    return OK;
}

/* fmin and fmax pass over NAN. */
static void widen(struct figure_data *d, double x)
{
    if (!(x > 0))
        return;
    d->least = fmin(d->least, x);
    d->most = fmax(d->most, x);
}

static void count(struct figure_data *d)
{
    d->least = d->most = d->lowest = NAN;
    for (size_t i = 0; i < d->s->n; i++) {
        const struct point_summary *p = &d->s->points[i];
        bool value = isfinite(d->measured[i].value.mid);
        if (d->kind == FIGURE_OVERLAP && !has_row(d, i))
            continue;
        d->values += value;
        d->doubtful += value && strcmp(p->status, "ok") != 0;
        d->oversubscribed += value && strstr(p->flags, "oversubscribed");
        double published = published_value(d->s, i, d->quantity->column);
        d->published += isfinite(published);
        d->predicted += isfinite(figure_data_model(d, i));
        widen(d, published);
        widen(d, d->measured[i].value.mid);
        d->lowest = fmin(d->lowest,
                         fmin(fmin(published, d->measured[i].value.mid), d->measured[i].value.lo));
    }
}

bool figure_data_misses(const struct figure_data *d, size_t point)
{
    return !isfinite(d->measured[point].value.mid) && strcmp(d->s->points[point].status, "ok") != 0;
}

const char *figure_data_lack(const struct figure_data *d)
{
    if (d->values + d->published > 0)
        return NULL;
    if (d->quantity->source == SOURCE_RUNS)
        return "no accuracy run has a value";
    if (d->quantity->source == SOURCE_TIMED)
        return "no timed launch has a value";
    for (size_t i = 0; i < d->s->n; i++)
        if (isfinite(d->s->points[i].step_ms.mid))
            return "the base was not measured";
    return "no point was measured";
}

enum status figure_data_read(struct figure_data *d, const char *figure, const struct summary *s,
                             const char *run_dir, struct error *e)
{
    const struct figure *row = figure_get(figure);
    *d = (struct figure_data){.s = s,
                              .figure = figure,
                              .run_dir = run_dir,
                              .kind = row->kind,
                              .quantity = quantity_of_figure(row, s->spec)};
    d->measured = calloc(s->n + 1, sizeof *d->measured);
    if (!d->measured)
        return error_set(e, ERR_MEMORY, "no memory for figure %s", figure);
    enum status status = quantity_measure(d->measured, d->quantity, s, run_dir, e);
    if (status == OK && row->model)
        status = prediction_make(&d->prediction, s, run_dir, e);
    if (status == OK)
        status = series_collect(&d->series, s, e);
    if (status != OK)
        return status;
    if (d->quantity->source == SOURCE_RUNS)
        drop_compute_only(&d->series, s);
    count(d);
    return has_bars(d) ? choose_bars(d, e) : choose_curves(d, e);
}

void figure_data_free(struct figure_data *d)
{
    series_free(&d->series);
    prediction_free(&d->prediction);
    free(d->measured);
    free(d->bars);
    *d = (struct figure_data){0};
}

static enum status write_rows(FILE *out, struct figure_data *d, struct error *e)
{
    switch (d->kind) {
    case FIGURE_EPOCHS:
        return figure_epochs_write(out, d, e);
    case FIGURE_BREAKDOWN:
        write_breakdown(out, d);
        break;
    case FIGURE_OVERLAP:
        write_overlap(out, d);
        break;
    case FIGURE_BARS:
        write_by_point(out, d);
        break;
    case FIGURE_OVER_RANKS:
        write_over_ranks(out, d);
        break;
    }
    return OK;
}

enum status figure_data_write(struct figure_data *d, const char *path, struct error *e)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return error_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    enum status status = write_rows(out, d, e);
    bool failed = ferror(out);
    failed = fclose(out) != 0 || failed;
    if (status == OK && failed)
        status = error_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    return status;
}
