/* The figure epochs: accuracy and loss of every point by epoch, median over its seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/figure_data.h"
#include "bench/collect/sheet.h"
#include "bench/collect/summary.h"

struct reading {
    struct sheet sheet;
    size_t point, epoch, test_acc_pct, train_loss; /* columns */
    int status;                                    /* likewise; -1 in a file of before it had one */
    double *values;                                /* room for a number a row */
};

static enum status open_epochs(struct reading *r, const char *run_dir, struct error *e)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/epochs.csv", run_dir);
    enum status status = sheet_read(&r->sheet, path, e);
    if (status == OK)
        status = sheet_column(&r->sheet, "point", &r->point, e);
    if (status == OK)
        status = sheet_column(&r->sheet, "epoch", &r->epoch, e);
    if (status == OK)
        status = sheet_column(&r->sheet, "test_acc_pct", &r->test_acc_pct, e);
    if (status == OK)
        status = sheet_column(&r->sheet, "train_loss", &r->train_loss, e);
    r->status = sheet_find(&r->sheet, "status");
    r->values = calloc(r->sheet.rows + 1, sizeof *r->values);
    if (status == OK && !r->values)
        status = error_set(e, ERR_MEMORY, "no memory for %s", path);
    return status;
}

/* Runs that diverged count in no median. */
static bool counts(const struct reading *r, size_t row)
{
    return r->status < 0 || strcmp(sheet_cell(&r->sheet, row, (size_t)r->status),
                                   point_status_names()[POINT_ok]) == 0;
}

/* Median over the runs of a point that have this epoch. */
static enum status measure(struct measured *m, const struct reading *r, const char *point,
                           int epoch, size_t column, struct error *e)
{
    size_t n = 0;
    enum status status = OK;
    for (size_t row = 0; row < r->sheet.rows && status == OK; row++) {
        double number;
        if (strcmp(sheet_cell(&r->sheet, row, r->point), point) != 0 || !counts(r, row))
            continue;
        status = sheet_number(&r->sheet, row, r->epoch, &number, e);
        if (status != OK || number != epoch)
            continue;
        status = sheet_number(&r->sheet, row, column, &r->values[n], e);
        n += isfinite(r->values[n]);
    }
    *m = measured_of(r->values, n);
    return status;
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

/* Every epoch that the point has; *epochs: how many. */
static enum status write_curve(FILE *out, const struct figure_data *d, const struct reading *r,
                               size_t curve, size_t i, int *epochs, struct error *e)
{
    const char *point = d->s->points[i].cells[COLUMN_point];
    enum status status = OK;
    for (*epochs = 0; status == OK; (*epochs)++) {
        struct measured accuracy, loss;
        status = measure(&accuracy, r, point, *epochs + 1, r->test_acc_pct, e);
        if (status == OK)
            status = measure(&loss, r, point, *epochs + 1, r->train_loss, e);
        if (status != OK || (accuracy.n == 0 && loss.n == 0))
            break;
        write_row(out, d, curve, i, *epochs + 1, &accuracy, &loss);
    }
    return status;
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
    for (size_t i = 0; i < d->s->n && status == OK; i++) {
        int epochs;
        status = write_curve(out, d, &r, n + 1, i, &epochs, e);
        if (epochs > 0)
            points[n++] = i;
        d->epochs = epochs > d->epochs ? epochs : d->epochs;
    }
    if (status == OK)
        status = make_series(&d->series, d->s, points, n, e);
    free(points);
    free(r.values);
    sheet_free(&r.sheet);
    return status;
}
