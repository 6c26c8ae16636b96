#include "bench/collect/columns.h"

#include <string.h>

static const struct column columns[] = {
/* First: column_get counts on it. */
#define COLUMN(id, type, unit, meaning) {"summary.csv", #id, CSV_##type, unit, meaning, 0},
#include "bench/collect/csv_summary.def"
#undef COLUMN
#define COLUMN(id, type, unit, meaning) CSV_COLUMN("raw.csv", raw_row, id, type, unit, meaning)
#include "bench/collect/csv_raw.def"
#undef COLUMN
#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("epochs.csv", epochs_row, id, type, unit, meaning)
#include "bench/collect/csv_epochs.def"
#undef COLUMN
#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("classes.csv", classes_row, id, type, unit, meaning)
#include "bench/collect/csv_classes.def"
#undef COLUMN
#define COLUMN(id, type, unit, meaning) CSV_COLUMN("steps.csv", steps_row, id, type, unit, meaning)
#include "bench/collect/csv_steps.def"
#undef COLUMN
#define COLUMN(id, type, unit, meaning) {"columns.csv", #id, CSV_##type, unit, meaning, 0},
#include "bench/collect/csv_columns.def"
#undef COLUMN
};

static const struct {
    const char *file, *rows;
} files[] = {
#define CSV_FILE(name, rows) {#name ".csv", rows},
#include "bench/collect/csv_files.def"
#undef CSV_FILE
};

enum {
#define CSV_FILE(name, rows) FILE_##name,
#include "bench/collect/csv_files.def"
#undef CSV_FILE
    FILES
};

bool csv_file_is_wanted(size_t i, const struct spec *spec)
{
    return i != FILE_steps || config_int(&spec->config, OPT_STEPS_CSV);
}

const char *summary_file(const struct spec *spec, size_t i)
{
    for (size_t file = 0; file < FILES; file++)
        if (csv_file_is_wanted(file, spec) && i-- == 0)
            return files[file].file;
    return NULL;
}

const struct column *columns_all(size_t *n)
{
    *n = sizeof columns / sizeof columns[0];
    return columns;
}

const struct column *columns_of(const char *file, size_t *n)
{
    size_t first = 0, all = sizeof columns / sizeof columns[0];
    while (first < all && strcmp(columns[first].file, file) != 0)
        first++;
    *n = 0;
    while (first + *n < all && strcmp(columns[first + *n].file, file) == 0)
        ++*n;
    return columns + first;
}

const struct column *column_get(enum column_id id)
{
    return &columns[id];
}

enum column_id column_find(const char *name)
{
    int i = 0;
    while (i < COLUMNS && strcmp(columns[i].name, name) != 0)
        i++;
    return (enum column_id)i;
}

void columns_print(FILE *out)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        fprintf(out, "%s%s: %s\n", i ? "\n" : "", files[i].file, files[i].rows);
        size_t n;
        const struct column *own = columns_of(files[i].file, &n);
        csv_print_columns(out, own, n);
    }
}

void column_explain(FILE *out, const struct column *column)
{
    fprintf(out, "%s in %s\n  %s\n", column->name, column->file, column->meaning);
    fprintf(out, "  type     %s\n", csv_type_name(column->type));
    if (column->unit[0])
        fprintf(out, "  unit     %s\n", column->unit);
}
