/* The figure epochs: accuracy and loss of every point by epoch, median over its seeds. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/record/csv_reader.h"

/* A row of epochs.csv. */
struct epoch_row {
    const char *point;
    double epoch, test_acc_pct, train_loss;
};

struct reading {
    struct csv_table table;
    struct epoch_row *rows; /* of runs that count, by point and epoch */
    size_t n;
    double *values; /* room for a number a row */
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

static enum status take_rows(struct reading *r, struct error *e)
{
    const struct csv_table *table = &r->table;
    size_t point, epoch, accuracy, loss;
    enum status status = csv_table_column(table, "point", &point, e);
    if (status == OK)
        status = csv_table_column(table, "epoch", &epoch, e);
    if (status == OK)
        status = csv_table_column(table, "test_acc_pct", &accuracy, e);
    if (status == OK)
        status = csv_table_column(table, "train_loss", &loss, e);
    for (size_t i = 0; i < table->rows && status == OK; i++) {
        struct epoch_row *row = &r->rows[r->n];
        if (!counts(table, i))
            continue;
        r->n++;
        row->point = csv_table_cell(table, i, point);
        status = csv_table_number(table, i, epoch, &row->epoch, e);
        if (status == OK && !(row->epoch >= 0 && row->epoch <= INT_MAX))
            return error_at(e, ERR_DATA, table->path, table->lines[i], 0,
                            "epoch: '%s' is not a number of 0 to %d",
                            csv_table_cell(table, i, epoch), INT_MAX);
        if (status == OK)
            status = csv_table_number(table, i, accuracy, &row->test_acc_pct, e);
        if (status == OK)
            status = csv_table_number(table, i, loss, &row->train_loss, e);
    }
    return status;
}

static enum status open_epochs(struct reading *r, const char *run_dir, struct error *e)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/epochs.csv", run_dir);
    enum status status = csv_table_read(&r->table, path, e);
    if (status != OK)
        return status;
    r->values = calloc(r->table.rows + 1, sizeof *r->values);
    r->rows = calloc(r->table.rows + 1, sizeof *r->rows);
    if (!r->values || !r->rows)
        return error_set(e, ERR_MEMORY, "no memory for %s", path);
    status = take_rows(r, e);
    if (status == OK)
        qsort(r->rows, r->n, sizeof *r->rows, by_point_and_epoch);
    return status;
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

/* Median over n rows of the number at `offset`. */
static struct measured measure(const struct reading *r, size_t row, size_t n, size_t offset)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        double x = *(const double *)((const char *)&r->rows[row + i] + offset);
        if (isfinite(x))
            r->values[known++] = x;
    }
    return measured_of(r->values, known);
}

static void write_row(FILE *out, const struct figure_data *d, size_t curve, size_t i, int epoch,
                      const struct measured *accuracy, const struct measured *loss)
{
    const struct point_summary *p = &d->s->points[i];
    fprintf(out, "%zu,", curve);
    text_write_field(out, p->point->label);
    fprintf(out, ",%s", p->cells[COLUMN_point]);
    figure_data_write_status(out, p);
    fprintf(out, ",%d", epoch);
    figure_data_write_number(out, (double)accuracy->n);
    const struct measured *both[] = {accuracy, loss};
    for (int k = 0; k < 2; k++) {
        figure_data_write_number(out, both[k]->value.mid);
        figure_data_write_number(out, both[k]->value.lo);
        figure_data_write_number(out, both[k]->value.hi);
    }
    fputc('\n', out);
}

/* Every epoch that the point has; false: none. */
static bool write_curve(FILE *out, struct figure_data *d, const struct reading *r, size_t curve,
                        size_t i)
{
    const char *point = d->s->points[i].cells[COLUMN_point];
    bool any = false;
    size_t n;
    for (size_t row = first_row(r, point); row < r->n && strcmp(r->rows[row].point, point) == 0;
         row += n) {
        int epoch = (int)r->rows[row].epoch;
        for (n = 1; row + n < r->n && by_point_and_epoch(&r->rows[row], &r->rows[row + n]) == 0;
             n++) {
        }
        struct measured accuracy = measure(r, row, n, offsetof(struct epoch_row, test_acc_pct));
        struct measured loss = measure(r, row, n, offsetof(struct epoch_row, train_loss));
        if (accuracy.n + loss.n == 0)
            continue;
        write_row(out, d, curve, i, epoch, &accuracy, &loss);
        d->accuracies += accuracy.n > 0;
        d->losses += loss.n > 0;
        d->epochs = epoch > d->epochs ? epoch : d->epochs;
        any = true;
    }
    return any;
}

/* One series a point: the legend names points, not strategies. */
static enum status make_series(struct series_list *list, const struct summary *s,
                               const size_t *points, size_t n, struct error *e)
{
    series_free(list);
    list->items = calloc(n + 1, sizeof *list->items);
    for (size_t k = 0; list->items && k < n; k++) {
        struct series *series = &list->items[k];
        series->points = calloc(1, sizeof *series->points);
        if (!series->points)
            return error_set(e, ERR_MEMORY, "no memory for a curve");
        series->points[0] = points[k];
        series->n = 1;
        snprintf(series->name, sizeof series->name, "%s", s->points[points[k]].point->label);
        list->n++;
    }
    return list->items ? OK : error_set(e, ERR_MEMORY, "no memory for %zu curves", n);
}

enum status figure_epochs_write(FILE *out, struct figure_data *d, struct error *e)
{
    struct reading r = {0};
    size_t *points = calloc(d->s->n + 1, sizeof *points), n = 0;
    enum status status = points ? open_epochs(&r, d->run_dir, e)
                                : error_set(e, ERR_MEMORY, "no memory for figure epochs");
    fputs("curve,name,point,ranks,status,flags,epoch,n,test_acc_pct,test_acc_lo,test_acc_hi,"
          "train_loss,train_loss_lo,train_loss_hi\n",
          out);
    d->published = 0; /* of whole runs */
    for (size_t i = 0; i < d->s->n && status == OK; i++)
        if (write_curve(out, d, &r, n + 1, i))
            points[n++] = i;
    d->values = d->accuracies + d->losses;
    d->curves = n < FIGURE_CURVES_MAX ? n : FIGURE_CURVES_MAX;
    d->left_out = n - d->curves;
    if (status == OK)
        status = make_series(&d->series, d->s, points, n, e);
    free(points);
    free(r.values);
    free(r.rows);
    csv_table_free(&r.table);
    return status;
}
