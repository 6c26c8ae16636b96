/* Timelines: bars over time for each rank and phase of a step. For each point, the launch with the
 * median step time in timeline.csv is drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"

/* Largest number of ranks in the picture; the series file has all ranks. */
enum { LANES_MAX = 48 };

enum { POINT, LAUNCH, RANK, HOST, LANE, PHASE, NAME, BEGIN, END, WANTED };

/* The recorded step of one launch: rows [first, end) of timeline.csv. */
struct launch_step {
    size_t first, end;
    double begin_ms, end_ms;
};

struct timelines {
    struct csv_table table;
    size_t at[WANTED];
    struct launch_step *launches; /* [n] launches of the current point */
    size_t n;
    size_t lanes; /* number of ranks written so far, over all points */
};

static const char *cell(const struct timelines *t, size_t row, int column)
{
    return csv_table_cell(&t->table, row, t->at[column]);
}

static enum status read_timelines(struct timelines *t, const char *dir, struct error *e)
{
    char path[4200];
    const struct csv_wanted wanted[WANTED] = {
        {"point", &t->at[POINT]}, {"launch", &t->at[LAUNCH]},  {"rank", &t->at[RANK]},
        {"host", &t->at[HOST]},   {"lane", &t->at[LANE]},      {"phase", &t->at[PHASE]},
        {"name", &t->at[NAME]},   {"begin_ms", &t->at[BEGIN]}, {"end_ms", &t->at[END]}};
    snprintf(path, sizeof path, "%s/timeline.csv", dir);
    TRY(csv_table_read(&t->table, path, e));
    TRY(csv_table_columns(&t->table, wanted, WANTED, e));
    return MEM_NEW(t->launches, t->table.rows, path, e);
}

/* ---- Which launch ---- */

/* Finds the launches of a point in the table; rows of a launch are contiguous. */
static enum status find_launches(struct timelines *t, const char *point, struct error *e)
{
    struct launch_step *own = NULL;
    t->n = 0;
    for (size_t row = 0; row < t->table.rows; row++) {
        double begin_ms, end_ms;
        if (strcmp(cell(t, row, POINT), point) != 0)
            continue;
        if (own == NULL || strcmp(cell(t, row, LAUNCH), cell(t, own->first, LAUNCH)) != 0) {
            own = &t->launches[t->n++];
            *own = (struct launch_step){row, row, NAN, NAN};
        }
        own->end = row + 1;
        if (strcmp(cell(t, row, PHASE), "step") != 0)
            continue;
        TRY(csv_table_number(&t->table, row, t->at[BEGIN], &begin_ms, e));
        TRY(csv_table_number(&t->table, row, t->at[END], &end_ms, e));
        own->begin_ms = fmin(own->begin_ms, begin_ms);
        own->end_ms = fmax(own->end_ms, end_ms);
    }
    return OK;
}

static int by_time(const void *a, const void *b)
{
    const struct launch_step *x = a, *y = b;
    double p = x->end_ms - x->begin_ms, q = y->end_ms - y->begin_ms;
    return p < q ? -1 : p > q ? 1 : (x->first > y->first) - (x->first < y->first);
}

/* ---- Rows ---- */

/* Writes the rows of a launch. Numbers its ranks from the top of the picture down, after the ranks
 * of the launches written before. Ranks beyond LANES_MAX get no number, so the picture leaves them
 * out. */
static void write_launch(FILE *out, struct timelines *t, const struct launch_step *launch,
                         const struct point_summary *p, size_t bar)
{
    for (size_t row = launch->first; row < launch->end; row++) {
        t->lanes += row == launch->first || strcmp(cell(t, row, RANK), cell(t, row - 1, RANK)) != 0;
        figure_begin_bar(out, bar, p);
        fprintf(out, ",%s,%s,", cell(t, row, LAUNCH), cell(t, row, RANK));
        text_write_field(out, cell(t, row, HOST));
        fprintf(out, t->lanes <= LANES_MAX ? ",%zu," : ",,", t->lanes);
        fprintf(out, "%s,%s,", cell(t, row, LANE), cell(t, row, PHASE));
        text_write_field(out, cell(t, row, NAME));
        fprintf(out, ",%s,%s\n", cell(t, row, BEGIN), cell(t, row, END));
    }
}

static enum status write_points(FILE *out, struct timelines *t, const struct figure_data *d,
                                const struct figure_run *run, size_t *bar, struct error *e)
{
    for (size_t i = run->first; i < run->first + run->n; i++) {
        if (!figure_data_has_bar(d, i))
            continue;
        TRY(find_launches(t, d->s->points[i].cells[COLUMN_point], e));
        if (t->n == 0)
            continue;
        qsort(t->launches, t->n, sizeof *t->launches, by_time);
        write_launch(out, t, &t->launches[(t->n - 1) / 2], &d->s->points[i], ++*bar);
    }
    return OK;
}

static enum status write_run(FILE *out, const struct figure_data *d, const struct figure_run *run,
                             size_t *bar, size_t *lanes, struct error *e)
{
    struct timelines t = {.lanes = *lanes};
    enum status status = read_timelines(&t, run->dir, e);
    THEN(status, write_points(out, &t, d, run, bar, e));
    *lanes = t.lanes;
    csv_table_free(&t.table);
    free(t.launches);
    return status;
}

static enum status write_lanes(FILE *out, struct figure_data *d, struct error *e)
{
    size_t bar = 0, lanes = 0;
    fputs("row,point,label,ranks,status,flags,launch,rank,host,place,lane,phase,name,begin_ms,"
          "end_ms\n",
          out);
    for (size_t i = 0; i < d->n_runs; i++)
        TRY(write_run(out, d, &d->runs[i], &bar, &lanes, e));
    if (lanes == 0 && d->values > 0)
        return error_set(e, ERR_DATA,
                         "figure %s: timeline.csv has no rows for the points of the figure",
                         d->figure->name);
    if (lanes > LANES_MAX)
        log_print(LOG_NOTE, "figure %s leaves out %zu ranks; series_%s.csv contains all ranks",
                  d->figure->name, lanes - LANES_MAX, d->figure->name);
    return OK;
}

const struct figure_shape shape_lanes = {
    .bars = true,
    .x = "point",
    .total = "step_ms",
    .lead = " One step of each point: the median step of the median launch of ",
    .method = "; flight: a sum from its start until its completion was noticed, wait: until the "
              "last rank arrived, by the nodes' clocks.",
    .write = write_lanes};
