#include "bench/record/csv.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/base/text.h"

/* Cell of a column in a row. */
#define CELL(type, row, column) (*(CSV_CELL_##type const *)((const char *)(row) + (column)->offset))

const char *csv_type_name(enum csv_type type)
{
    static const char *const names[] = {"TEXT", "INT", "REAL", "BOOL"};
    return names[type];
}

void csv_clear_row(const struct csv_file *file, void *row)
{
    static const char *const no_text = NULL;
    static const double no_number = NAN;
    static const int no_truth = -1;
    for (size_t i = 0; i < file->n; i++) {
        char *cell = (char *)row + file->columns[i].offset;
        if (file->columns[i].type == CSV_TEXT)
            memcpy(cell, &no_text, sizeof no_text);
        else if (file->columns[i].type == CSV_BOOL)
            memcpy(cell, &no_truth, sizeof no_truth);
        else
            memcpy(cell, &no_number, sizeof no_number);
    }
}

static const char *cell_text(char text[TEXT_NUMBER], const struct column *c, const void *row)
{
    switch (c->type) {
    case CSV_TEXT:
        return CELL(TEXT, row, c);
    case CSV_INT:
        return text_whole(text, CELL(INT, row, c));
    case CSV_REAL:
        return text_real(text, CELL(REAL, row, c));
    default:
        return CELL(BOOL, row, c) < 0 ? "" : CELL(BOOL, row, c) ? "1" : "0";
    }
}

static void write_field(FILE *out, bool first, const char *text)
{
    if (!first)
        fputc(',', out);
    text_write_field(out, text != NULL ? text : "");
}

void csv_put_header(FILE *out, const struct csv_file *file)
{
    for (size_t i = 0; i < file->n; i++)
        write_field(out, i == 0, file->columns[i].name);
}

void csv_put_row(FILE *out, const struct csv_file *file, const void *row)
{
    char text[TEXT_NUMBER];
    for (size_t i = 0; i < file->n; i++)
        write_field(out, i == 0, cell_text(text, &file->columns[i], row));
}

void csv_put_texts(FILE *out, const char *const *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        write_field(out, i == 0, cells[i]);
}

void csv_put_more(FILE *out, const char *text)
{
    write_field(out, false, text);
}

void csv_write_header(FILE *out, const struct csv_file *file)
{
    csv_put_header(out, file);
    fputc('\n', out);
}

void csv_write_row(FILE *out, const struct csv_file *file, const void *row)
{
    csv_put_row(out, file, row);
    fputc('\n', out);
}

void csv_add_to_dictionary(FILE *out, const struct column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct column *c = &columns[i];
        const char *const cells[] = {c->file, c->name, csv_type_name(c->type), c->unit, c->meaning};
        csv_put_texts(out, cells, sizeof cells / sizeof *cells);
        fputc('\n', out);
    }
}

void csv_begin_dictionary(FILE *out)
{
    fputs("file,column,type,unit,meaning\n", out);
}

void csv_print_columns(FILE *out, const struct csv_file *file)
{
    fprintf(out, "%s: %s\n", file->name, file->rows);
    for (const struct column *c = file->columns; c < file->columns + file->n; c++)
        fprintf(out, "  %-18s %-5s %-10s %s\n", c->name, csv_type_name(c->type), c->unit,
                c->meaning);
}

enum status csv_close(FILE *out, const char *path, struct error *e)
{
    bool failed = ferror(out) != 0;
    failed = fclose(out) != 0 || failed;
    return failed ? error_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno)) : OK;
}
