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
    csv->columns = columns_of(file, &csv->n_columns);
    csv_put_header(csv->out, csv->columns, csv->n_columns);
    for (size_t i = 0; i < csv->s->spec->n_varying; i++)
        if (csv_has_option(csv, file, csv->s->spec->varying[i]))
            csv_put_more(csv->out, key_of(csv, csv->s->spec->varying[i]));
    fputc('\n', csv->out);
}

/* The options that differ between points, as the row's point has them, and the end of the row. */
static void end_row(struct csv *csv, const char *id)
{
    const struct spec *spec = csv->s->spec;
    const char *file = csv->columns[0].file;
    size_t i = spec_find_point(spec, id);
    for (size_t k = 0; k < spec->n_varying; k++) {
        enum option_id option = spec->varying[k];
        bool has = i < spec->n_points && point_has_option(&spec->points[i], option);
        if (csv_has_option(csv, file, option))
            csv_put_more(csv->out, has ? config_text(&spec->points[i].config, option) : "");
    }
    fputc('\n', csv->out);
}

void csv_add(struct csv *csv, const void *row)
{
    const struct column *point = column_of_file(csv->columns[0].file, "point");
    csv_put_row(csv->out, csv->columns, csv->n_columns, row);
    end_row(csv, point != NULL ? *(CSV_CELL_TEXT const *)((const char *)row + point->offset) : "");
}

void csv_add_texts(struct csv *csv, const char *const *cells, const char *point)
{
    csv_put_texts(csv->out, cells, csv->n_columns);
    end_row(csv, point);
}

const char *csv_label_of(const struct csv *csv, const char *id)
{
    const struct spec *spec = csv->s->spec;
    size_t i = spec_find_point(spec, id);
    return i < spec->n_points ? spec->points[i].label : "";
}

const char *csv_case_of(const struct csv *csv, const char *id)
{
    const struct spec *spec = csv->s->spec;
    size_t i = spec_find_point(spec, id);
    return i < spec->n_points ? spec->points[i].case_name : "";
}

void csv_remove_stale(const char *run_dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", run_dir, name);
    unlink(path);
}
