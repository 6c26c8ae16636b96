/* Curves over epochs: columns of epochs.csv of every point, median over its seeds. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"

/* A row of epochs.csv, as far as the figure shows it. */
struct epoch_row {
    const char *point;
    double epoch, values[FIGURE_COLUMNS_MAX];
};

struct reading {
    char names[FIGURE_COLUMNS_MAX][FIGURE_COLUMN]; /* of the columns that are shown */
    size_t columns;
    struct csv_table table;
    struct epoch_row *rows; /* of runs that count, by point and epoch */
    size_t n;
    double *values; /* room for a number a row */
    size_t *points; /* those that have a curve */
    size_t curves;
};

static int by_point_and_epoch(const void *a, const void *b)
{
    const struct epoch_row *x = a, *y = b;
    int order = strcmp(x->point, y->point);
    return order ? order : (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

/* Runs that diverged count in no median. A file of before may lack the column. */
static bool counts(const struct csv_table *table, size_t row)
{
    int status = csv_table_find(table, "status");
    return status < 0 ||
           strcmp(csv_table_cell(table, row, (size_t)status), point_status_names()[POINT_ok]) == 0;
}

static enum status take_row(struct epoch_row *row, const struct reading *r, size_t i,
                            const size_t *at, struct error *e)
{
    const struct csv_table *table = &r->table;
    row->point = csv_table_cell(table, i, at[0]);
    TRY(csv_table_number(table, i, at[1], &row->epoch, e));
    if (!(row->epoch >= 0 && row->epoch <= INT_MAX))
        return error_at(e, ERR_DATA, table->path, table->lines[i], 0,
                        "epoch: '%s' is not a number of 0 to %d", csv_table_cell(table, i, at[1]),
                        INT_MAX);
    for (size_t k = 0; k < r->columns; k++)
        TRY(csv_table_number(table, i, at[2 + k], &row->values[k], e));
    return OK;
}

static enum status read_epochs(struct reading *r, const char *run_dir, struct error *e)
{
    char path[4096];
    size_t at[2 + FIGURE_COLUMNS_MAX];
    struct csv_wanted wanted[2 + FIGURE_COLUMNS_MAX] = {{"point", &at[0]}, {"epoch", &at[1]}};
    for (size_t k = 0; k < r->columns; k++)
        wanted[2 + k] = (struct csv_wanted){r->names[k], &at[2 + k]};
    snprintf(path, sizeof path, "%s/epochs.csv", run_dir);
    TRY(csv_table_read(&r->table, path, e));
    TRY(csv_table_columns(&r->table, wanted, 2 + r->columns, e));
    TRY(MEM_NEW(r->values, r->table.rows, path, e));
    TRY(MEM_NEW(r->rows, r->table.rows, path, e));
    for (size_t i = 0; i < r->table.rows; i++)
        if (counts(&r->table, i))
            TRY(take_row(&r->rows[r->n++], r, i, at, e));
    qsort(r->rows, r->n, sizeof *r->rows, by_point_and_epoch);
    return OK;
}

/* The first row of a point, or where it would stand. */
static size_t first_row(const struct reading *r, const char *point)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(r->rows[middle].point, point) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Median over n rows of the k-th column. */
static struct measured measure(const struct reading *r, size_t row, size_t n, size_t k)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(r->rows[row + i].values[k]))
            r->values[known++] = r->rows[row + i].values[k];
    return measured_of(r->values, known);
}

static void write_row(FILE *out, const struct reading *r, const struct point_summary *p, int epoch,
                      const struct measured *values)
{
    fprintf(out, "%zu,", r->curves + 1);
    text_write_field(out, p->point->label);
    fprintf(out, ",%s", p->cells[COLUMN_point]);
    figure_write_status(out, p);
    fprintf(out, ",%d", epoch);
    figure_write_number(out, (double)values[0].n);
    for (size_t k = 0; k < r->columns; k++) {
        figure_write_number(out, values[k].value.mid);
        figure_write_number(out, values[k].value.lo);
        figure_write_number(out, values[k].value.hi);
    }
    fputc('\n', out);
}

/* Every epoch that the point has; false: none. */
static bool write_curve(FILE *out, struct figure_data *d, const struct reading *r,
                        const struct point_summary *p)
{
    const char *point = p->cells[COLUMN_point];
    bool any = false;
    size_t n;
    for (size_t row = first_row(r, point); row < r->n && strcmp(r->rows[row].point, point) == 0;
         row += n) {
        int epoch = (int)r->rows[row].epoch;
        struct measured values[FIGURE_COLUMNS_MAX];
        size_t known = 0;
        for (n = 1; row + n < r->n && by_point_and_epoch(&r->rows[row], &r->rows[row + n]) == 0;
             n++) {
        }
        for (size_t k = 0; k < r->columns; k++) {
            values[k] = measure(r, row, n, k);
            d->known[k] += values[k].n > 0;
            known += values[k].n;
        }
        if (known == 0)
            continue;
        write_row(out, r, p, epoch, values);
        d->epochs = epoch > d->epochs ? epoch : d->epochs;
        any = true;
    }
    return any;
}

/* One series a point: the legend names points, not strategies. */
static enum status make_series(struct series_list *list, const struct summary *s,
                               const struct reading *r, struct error *e)
{
    series_free(list);
    TRY(MEM_NEW(list->items, r->curves, "the curves of a figure", e));
    for (size_t k = 0; k < r->curves; k++) {
        struct series *series = &list->items[k];
        TRY(MEM_NEW(series->points, 1, "the curves of a figure", e));
        series->points[0] = r->points[k];
        series->n = 1;
        snprintf(series->name, sizeof series->name, "%s", s->points[r->points[k]].point->label);
        list->n++;
    }
    return OK;
}

static enum status write_curves(FILE *out, struct figure_data *d, struct reading *r,
                                struct error *e)
{
    while (r->columns < FIGURE_COLUMNS_MAX &&
           figure_column(d->figure, r->columns, r->names[r->columns]))
        r->columns++;
    TRY(MEM_NEW(r->points, d->s->n, "the curves of a figure", e));
    TRY(read_epochs(r, d->run_dir, e));
    fputs("curve,name,point,ranks,status,flags,epoch,n", out);
    for (size_t k = 0; k < r->columns; k++) {
        const char *name = r->names[k], *unit = strstr(name, "_pct");
        int stem = (int)(unit != NULL ? (size_t)(unit - name) : strlen(name));
        fprintf(out, ",%s,%.*s_lo,%.*s_hi", name, stem, name, stem, name);
    }
    fputc('\n', out);
    for (size_t i = 0; i < d->s->n; i++)
        if (write_curve(out, d, r, &d->s->points[i]))
            r->points[r->curves++] = i;
    d->values = 0;
    for (size_t k = 0; k < r->columns; k++)
        d->values += d->known[k];
    d->curves = r->curves < FIGURE_CURVES_MAX ? r->curves : FIGURE_CURVES_MAX;
    d->left_out = r->curves - d->curves;
    return make_series(&d->series, d->s, r, e);
}

static enum status write_over_epochs(FILE *out, struct figure_data *d, struct error *e)
{
    struct reading r = {0};
    enum status status = write_curves(out, d, &r, e);
    free(r.points);
    free(r.values);
    free(r.rows);
    csv_table_free(&r.table);
    return status;
}

const struct figure_shape shape_over_epochs = {
    .whiskers = true, .method = "", .write = write_over_epochs};
