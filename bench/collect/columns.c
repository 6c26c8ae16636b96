#include "bench/collect/columns.h"

#include <string.h>

#define COLUMN(id, type, unit, meaning) {CSV_NAME, #id, #type, unit, meaning},
static const struct column columns[] = {
/* First: column_get counts on it. */
#define CSV_NAME "summary.csv"
#include "bench/collect/csv_summary.def"
#undef CSV_NAME
#define CSV_NAME "raw.csv"
#include "bench/collect/csv_raw.def"
#undef CSV_NAME
#define CSV_NAME "epochs.csv"
#include "bench/collect/csv_epochs.def"
#undef CSV_NAME
#define CSV_NAME "classes.csv"
#include "bench/collect/csv_classes.def"
#undef CSV_NAME
#define CSV_NAME "steps.csv"
#include "bench/collect/csv_steps.def"
#undef CSV_NAME
#define CSV_NAME "columns.csv"
#include "bench/collect/csv_columns.def"
#undef CSV_NAME
};
#undef COLUMN

static const struct {
    const char *file, *rows;
} files[] = {
#define CSV_FILE(name, rows) {#name ".csv", rows},
#include "bench/collect/csv_files.def"
#undef CSV_FILE
};

const struct column *columns_all(size_t *n)
{
    *n = sizeof columns / sizeof columns[0];
    return columns;
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

static void print_file(FILE *out, const char *file)
{
    size_t n;
    const struct column *all = columns_all(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].file, file) == 0)
            fprintf(out, "  %-18s %-5s %-10s %s\n", all[i].name, all[i].type, all[i].unit,
                    all[i].meaning);
}

void columns_print(FILE *out)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        fprintf(out, "%s%s: %s\n", i ? "\n" : "", files[i].file, files[i].rows);
        print_file(out, files[i].file);
    }
}

void column_explain(FILE *out, const struct column *column)
{
    fprintf(out, "%s in %s\n  %s\n", column->name, column->file, column->meaning);
    fprintf(out, "  type     %s\n", column->type);
    if (column->unit[0])
        fprintf(out, "  unit     %s\n", column->unit);
}
