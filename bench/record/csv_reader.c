#include "bench/record/csv_reader.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* UTF-8 byte order mark, which spreadsheet programs put before the first column's name. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Position of the reader in the file's text. Cells are terminated in place. */
struct cursor {
    struct csv_table *table;
    char *at;
    int line;
    size_t n;     /* number of cells read so far, column names included */
    size_t width; /* number of cells read so far in the current row */
};

static enum status read_text(struct csv_table *table, struct error *e)
{
    size_t size = 0;
    const char *why;
    FILE *in = file_open_stream(table->path, &why);
    if (in == NULL)
        return error_at(e, ERR_DATA, table->path, 0, 0, "cannot be read: %s", why);
    ssize_t length = getdelim(&table->text, &size, '\0', in);
    bool failed = ferror(in);
    bool whole = feof(in);
    fclose(in);
    if (failed)
        return error_at(e, ERR_SYSTEM, table->path, 0, 0, "cannot be read: %s", strerror(errno));
    if (length <= 0)
        return error_at(e, ERR_DATA, table->path, 1, 0,
                        "the file is empty: expected a row of column names");
    if (!whole)
        return error_at(e, ERR_DATA, table->path, 0, 0, "expected a CSV file, found a zero byte");
    return OK;
}

/* Reads a quoted cell and replaces each "" by ". The cursor ends after the closing quote. */
static enum status read_quoted(struct cursor *c, char **text, struct error *e)
{
    int first = c->line;
    bool closed = false;
    char *to = *text = ++c->at;
    while (*c->at && !closed) {
        closed = *c->at == '"' && *++c->at != '"';
        if (closed)
            break;
        c->line += *c->at == '\n';
        *to++ = *c->at++;
    }
    if (!closed)
        return error_at(e, ERR_DATA, c->table->path, first, 0, "a quotation mark is not closed");
    if (*c->at && strchr(",\r\n", *c->at) == NULL)
        return error_at(
            e, ERR_DATA, c->table->path, c->line, 0,
            "expected a comma or the end of the line after a closing quotation mark, found '%c'",
            *c->at);
    *to = '\0';
    return OK;
}

/* Replaces the separator after a cell by a NUL and moves the cursor past it. *more: whether another
 * cell follows in this row. ERR_DATA for a \r without \n. */
static enum status take_end(struct cursor *c, bool *more, struct error *e)
{
    char end = *c->at;
    *more = end == ',';
    if (end == '\r' && c->at[1] != '\n')
        return error_at(e, ERR_DATA, c->table->path, c->line, 0,
                        "expected \\n or \\r\\n at the end of a line, found \\r alone");
    if (end) {
        *c->at++ = '\0';
        c->at += end == '\r';
        c->line += end != ',';
    }
    return OK;
}

static enum status read_cell(struct cursor *c, bool *more, struct error *e)
{
    char *text = c->at;
    if (*c->at == '"')
        TRY(read_quoted(c, &text, e));
    else
        c->at += strcspn(c->at, ",\r\n");
    TRY(take_end(c, more, e));
    TRY(MEM_GROW(c->table->names, c->n, c->table->path, e));
    c->table->names[c->n++] = text;
    c->width++;
    return OK;
}

static enum status read_row(struct cursor *c, struct error *e)
{
    c->width = 0;
    for (bool more = true; more;)
        TRY(read_cell(c, &more, e));
    return OK;
}

static enum status read_names(struct cursor *c, struct error *e)
{
    while (*c->at == '#') {
        c->at += strcspn(c->at, "\n");
        c->at += *c->at == '\n';
        c->line++;
    }
    struct csv_table *table = c->table;
    int line = table->names_line = c->line;
    TRY(read_row(c, e));
    table->columns = c->width;
    for (size_t i = 0; i < table->columns; i++) {
        const char *name = table->names[i];
        if (!name[0])
            return error_at(e, ERR_DATA, table->path, line, 0, "column %zu has no name", i + 1);
        if (name_index(name, (const char *const *)table->names, i) >= 0)
            return error_at(e, ERR_DATA, table->path, line, 0, "two columns are called '%s'", name);
    }
    return OK;
}

static enum status read_rows(struct cursor *c, struct error *e)
{
    struct csv_table *table = c->table;
    while (*c->at != '\0') {
        int line = c->line;
        TRY(read_row(c, e));
        if (c->width != table->columns)
            return error_at(e, ERR_DATA, table->path, line, 0,
                            "expected %zu cell%s as in the first row, found %zu%s", table->columns,
                            table->columns == 1 ? "" : "s", c->width,
                            strchr(table->names[0], ';') != NULL
                                ? "; cells are separated by commas, not ';', and decimals have a "
                                  "point"
                                : "");
        TRY(MEM_GROW(table->lines, table->rows, table->path, e));
        table->lines[table->rows++] = line;
    }
    return OK;
}

enum status csv_table_read(struct csv_table *table, const char *path, struct error *e)
{
    *table = (struct csv_table){0};
    snprintf(table->path, sizeof table->path, "%s", path);
    TRY(read_text(table, e));
    struct cursor c = {.table = table, .at = table->text, .line = 1};
    if (strncmp(c.at, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        c.at += strlen(BYTE_ORDER_MARK);
    TRY(read_names(&c, e));
    TRY(read_rows(&c, e));
    table->cells = table->names + table->columns;
    return OK;
}

enum status csv_table_read_run(struct csv_table *table, const char *run, const char *file,
                               struct error *e)
{
    char path[sizeof table->path];
    *table = (struct csv_table){0};
    snprintf(path, sizeof path, "%s/%s", run, file);
    if (access(path, F_OK) != 0)
        return error_at(e, ERR_ARGUMENT, path, 0, 0,
                        "table not found; a run writes tables when it ends. If this run has ended, "
                        "use `scalebench figures %s` to write its tables",
                        run);
    return csv_table_read(table, path, e);
}

void csv_table_free(struct csv_table *table)
{
    free(table->text);
    free(table->names);
    free(table->lines);
    *table = (struct csv_table){0};
}

int csv_table_find(const struct csv_table *table, const char *name)
{
    return name_index(name, (const char *const *)table->names, table->columns);
}

const char *csv_table_text(const struct csv_table *table, size_t row, const char *name)
{
    int column = csv_table_find(table, name);
    return column >= 0 ? csv_table_cell(table, row, (size_t)column) : "";
}

double csv_table_value(const struct csv_table *table, size_t row, const char *name)
{
    double number;
    return number_parse(csv_table_text(table, row, name), &number) ? number : NAN;
}

enum status csv_table_column(const struct csv_table *table, const char *name, size_t *column,
                             struct error *e)
{
    char text[800];
    int found = csv_table_find(table, name);
    if (found < 0)
        return error_at(e, ERR_DATA, table->path, table->names_line, 0, "column %s",
                        name_explain(text, sizeof text, name, (const char *const *)table->names,
                                     table->columns));
    *column = (size_t)found;
    return OK;
}

enum status csv_table_column_of_spec(const struct csv_table *table, const char *name,
                                     const char *key, struct mark mark, size_t *column,
                                     struct error *e)
{
    struct error inner;
    if (csv_table_column(table, name, column, &inner) == OK)
        return OK;
    return mark_error(e, ERR_SPEC, mark, "%s: %s:%d: %s", key, inner.file, inner.line, inner.text);
}

enum status csv_table_columns(const struct csv_table *table, const struct csv_wanted *wanted,
                              size_t n, struct error *e)
{
    char there[400] = "";
    for (size_t i = 0; i < table->columns; i++)
        text_join(there, sizeof there, " ", table->names[i]);
    for (size_t i = 0; i < n; i++) {
        int found = csv_table_find(table, wanted[i].name);
        if (found < 0)
            return error_at(e, ERR_DATA, table->path, table->names_line, 0,
                            "column '%s' is missing; columns of the file: %s", wanted[i].name,
                            there);
        *wanted[i].column = (size_t)found;
    }
    return OK;
}

const char *csv_table_cell(const struct csv_table *table, size_t row, size_t column)
{
    return table->cells[row * table->columns + column];
}

enum status csv_table_number(const struct csv_table *table, size_t row, size_t column,
                             double *number, struct error *e)
{
    const char *text = csv_table_cell(table, row, column);
    *number = NAN;
    if (!text[0] || number_parse(text, number))
        return OK;
    return error_at(e, ERR_DATA, table->path, table->lines[row], 0, "%s: '%s' is not a number",
                    table->names[column], text);
}
