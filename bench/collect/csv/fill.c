#include "bench/collect/csv/fill.h"

void csv_begin(struct csv *csv, const char *file)
{
    csv->columns = columns_of(file, &csv->n_columns);
    csv_write_header(csv->out, csv->columns, csv->n_columns);
}

void csv_add(struct csv *csv, const void *row)
{
    csv_write_row(csv->out, csv->columns, csv->n_columns, row);
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
