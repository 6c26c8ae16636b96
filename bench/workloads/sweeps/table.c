#include "bench/workloads/sweeps/table.h"

#include <math.h>
#include <string.h>

static const char *const *text_of(const struct table_column *c, const void *row)
{
    return (const char *const *)((const char *)row + c->offset);
}

static const double *number_of(const struct table_column *c, const void *row)
{
    return (const double *)((const char *)row + c->offset);
}

void table_empty_row(const struct table_column *columns, size_t n, void *row)
{
    static const char *const no_text = NULL;
    static const double no_number = NAN;
    for (size_t i = 0; i < n; i++) {
        void *cell = (char *)row + columns[i].offset;
        if (columns[i].type == CELL_TYPE_TEXT)
            memcpy(cell, &no_text, sizeof no_text);
        else
            memcpy(cell, &no_number, sizeof no_number);
    }
}

void table_print_header(FILE *out, const struct table_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", columns[i].name);
    fputc('\n', out);
}

void table_print_meanings(FILE *out, const struct table_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  %-18s %-9s %s\n", columns[i].name, columns[i].unit, columns[i].meaning);
}

/* No text of a sweep holds a quotation mark. */
static void print_text(FILE *out, const char *text)
{
    const char *quote = text != NULL && strchr(text, ',') != NULL ? "\"" : "";
    fprintf(out, "%s%s%s", quote, text != NULL ? text : "", quote);
}

static void print_cell(FILE *out, const struct table_column *c, const void *row)
{
    if (c->type == CELL_TYPE_TEXT)
        print_text(out, *text_of(c, row));
    else if (isfinite(*number_of(c, row)))
        fprintf(out, c->type == CELL_TYPE_INT ? "%.0f" : "%.6g", *number_of(c, row));
}

void table_print_row(FILE *out, const struct table_column *columns, size_t n, const void *row)
{
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", out);
        print_cell(out, &columns[i], row);
    }
    fputc('\n', out);
    fflush(out);
}
