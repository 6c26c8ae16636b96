#include "bench/collect/csv/fill.h"

#include <unistd.h>

static const char *key_of(const struct csv *csv, enum option_id option)
{
    return config_option(&csv->s->spec->config, option)->key;
}

bool csv_has_option(const struct csv *csv, const char *file, enum option_id option)
{
    return column_of_file(file, "point") != NULL &&
           column_of_file(file, key_of(csv, option)) == NULL;
}

void csv_begin(struct csv *csv, const char *file)
{
    csv->rows = 0;
    csv->own = columns_of(file);
    csv->point = column_of_file(file, "point");
    csv->label = column_of_file(file, "label");
    csv->case_name = column_of_file(file, "case");
    csv_put_header(csv->out, &csv->own);
    for (size_t i = 0; i < csv->s->spec->n_varying; i++)
        if (csv_has_option(csv, file, csv->s->spec->varying[i]))
            csv_put_more(csv->out, key_of(csv, csv->s->spec->varying[i]));
    fputc('\n', csv->out);
}

/* Ends the row with the cells of varying options for which the file has an extra column
 * (csv_has_option). If `point` is NULL, the spec lacks the point and these cells are empty. */
static void end_row(struct csv *csv, const struct point *point)
{
    const struct spec *spec = csv->s->spec;
    for (size_t k = 0; k < spec->n_varying; k++) {
        enum option_id option = spec->varying[k];
        bool has = point != NULL && point_has_option(point, option);
        if (csv_has_option(csv, csv->own.name, option))
            csv_put_more(csv->out, has ? config_text(&point->config, option) : "");
    }
    fputc('\n', csv->out);
    csv->rows++;
}

static const struct point *find_point(const struct csv *csv, const char *id)
{
    size_t i = spec_find_point(csv->s->spec, id);
    return i < csv->s->spec->n_points ? &csv->s->spec->points[i] : NULL;
}

static CSV_CELL_TEXT *text_of(void *row, const struct column *column)
{
    return (CSV_CELL_TEXT *)((char *)row + column->offset);
}

/* Sets the row's cell in `column` to `text`. Does nothing if the cell is set already, or `column`
 * is NULL (the file lacks the column). */
static void set_text(void *row, const struct column *column, const char *text)
{
    if (column != NULL && *text_of(row, column) == NULL)
        *text_of(row, column) = text;
}

void csv_add(struct csv *csv, void *row)
{
    const struct point *point =
        csv->point != NULL ? find_point(csv, *text_of(row, csv->point)) : NULL;
    set_text(row, csv->label, point != NULL ? point->label : "");
    set_text(row, csv->case_name, point != NULL ? point->case_name : "");
    csv_put_row(csv->out, &csv->own, row);
    end_row(csv, point);
}

void csv_add_texts(struct csv *csv, const char *const *cells, const char *point)
{
    csv_put_texts(csv->out, cells, csv->own.n);
    end_row(csv, find_point(csv, point));
}

void csv_remove_stale(const char *run_dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", run_dir, name);
    unlink(path);
}
