#include "bench/collect/sheet.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"
#include "kernels/base/file.h"
#include "kernels/base/names.h"

/* Where reading is. Cells are cut out of the text in place. */
struct cursor {
    struct sheet *sheet;
    char *at;
    int line;
    size_t n, room;   /* cells so far, names included */
    size_t width;     /* cells of the row that is being read */
    size_t rows_room; /* of sheet->lines */
};

static enum status read_text(struct sheet *sheet, struct error *e)
{
    size_t size = 0;
    const char *why;
    FILE *in = file_open_stream(sheet->path, &why);
    if (!in)
        return error_at(e, ERR_DATA, sheet->path, 0, 0, "cannot read: %s", why);
    ssize_t length = getdelim(&sheet->text, &size, '\0', in);
    bool failed = ferror(in);
    bool whole = feof(in);
    fclose(in);
    if (failed)
        return error_at(e, ERR_SYSTEM, sheet->path, 0, 0, "cannot read: %s", strerror(errno));
    if (length <= 0)
        return error_at(e, ERR_DATA, sheet->path, 1, 0, "empty: a row of names is missing");
    if (!whole)
        return error_at(e, ERR_DATA, sheet->path, 0, 0, "a zero byte: this is no CSV file");
    return OK;
}

static enum status add_cell(struct cursor *c, char *text, struct error *e)
{
    if (c->n == c->room) {
        size_t room = c->room ? 2 * c->room : 256;
        char **cells = realloc(c->sheet->names, room * sizeof *cells);
        if (!cells)
            return error_set(e, ERR_MEMORY, "no memory for %s", c->sheet->path);
        c->sheet->names = cells;
        c->room = room;
    }
    c->sheet->names[c->n++] = text;
    c->width++;
    return OK;
}

/* A quoted cell, its doubled quotes halved; the cursor ends behind the closing one. */
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
        return error_at(e, ERR_DATA, c->sheet->path, first, 0, "a quotation mark is not closed");
    if (*c->at && !strchr(",\r\n", *c->at))
        return error_at(e, ERR_DATA, c->sheet->path, c->line, 0,
                        "'%c' after a closing quotation mark: a comma or the end of the line "
                        "belongs there",
                        *c->at);
    *to = '\0';
    return OK;
}

/* Takes what ends a cell: a comma, \n, \r\n or the end of the text; *more: another cell follows. */
static enum status take_end(struct cursor *c, bool *more, struct error *e)
{
    char end = *c->at;
    *more = end == ',';
    if (end == '\r' && c->at[1] != '\n')
        return error_at(e, ERR_DATA, c->sheet->path, c->line, 0,
                        "a carriage return without a line feed: lines end with \\n or \\r\\n");
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
    enum status status = OK;
    if (*c->at == '"')
        status = read_quoted(c, &text, e);
    else
        c->at += strcspn(c->at, ",\r\n");
    if (status == OK)
        status = take_end(c, more, e);
    return status == OK ? add_cell(c, text, e) : status;
}

static enum status read_row(struct cursor *c, struct error *e)
{
    bool more = true;
    enum status status = OK;
    c->width = 0;
    while (more && status == OK)
        status = read_cell(c, &more, e);
    return status;
}

static enum status read_names(struct cursor *c, struct error *e)
{
    while (*c->at == '#') {
        c->at += strcspn(c->at, "\n");
        c->at += *c->at == '\n';
        c->line++;
    }
    struct sheet *sheet = c->sheet;
    int line = sheet->names_line = c->line;
    TRY(read_row(c, e));
    sheet->columns = c->width;
    for (size_t i = 0; i < sheet->columns; i++) {
        const char *name = sheet->names[i];
        if (!name[0])
            return error_at(e, ERR_DATA, sheet->path, line, 0, "column %zu has no name", i + 1);
        if (name_index(name, (const char *const *)sheet->names, i) >= 0)
            return error_at(e, ERR_DATA, sheet->path, line, 0, "two columns are called '%s'", name);
    }
    return OK;
}

static enum status add_row(struct cursor *c, int line, struct error *e)
{
    struct sheet *sheet = c->sheet;
    if (sheet->rows == c->rows_room) {
        size_t room = c->rows_room ? 2 * c->rows_room : 64;
        int *lines = realloc(sheet->lines, room * sizeof *lines);
        if (!lines)
            return error_set(e, ERR_MEMORY, "no memory for %s", sheet->path);
        sheet->lines = lines;
        c->rows_room = room;
    }
    sheet->lines[sheet->rows++] = line;
    return OK;
}

static enum status read_rows(struct cursor *c, struct error *e)
{
    struct sheet *sheet = c->sheet;
    enum status status = OK;
    while (*c->at && status == OK) {
        int line = c->line;
        status = read_row(c, e);
        if (status == OK && c->width != sheet->columns)
            return error_at(e, ERR_DATA, sheet->path, line, 0, "%zu cells, but %zu names", c->width,
                            sheet->columns);
        if (status == OK)
            status = add_row(c, line, e);
    }
    return status;
}

enum status sheet_read(struct sheet *sheet, const char *path, struct error *e)
{
    *sheet = (struct sheet){0};
    snprintf(sheet->path, sizeof sheet->path, "%s", path);
    enum status status = read_text(sheet, e);
    struct cursor c = {.sheet = sheet, .at = sheet->text, .line = 1};
    if (status == OK)
        status = read_names(&c, e);
    if (status == OK)
        status = read_rows(&c, e);
    if (status == OK)
        sheet->cells = sheet->names + sheet->columns;
    return status;
}

void sheet_free(struct sheet *sheet)
{
    free(sheet->text);
    free(sheet->names);
    free(sheet->lines);
    *sheet = (struct sheet){0};
}

int sheet_find(const struct sheet *sheet, const char *name)
{
    return name_index(name, (const char *const *)sheet->names, sheet->columns);
}

enum status sheet_column(const struct sheet *sheet, const char *name, size_t *column,
                         struct error *e)
{
    char text[800];
    int found = sheet_find(sheet, name);
    if (found < 0)
        return error_at(e, ERR_DATA, sheet->path, sheet->names_line, 0, "column %s",
                        name_explain(text, sizeof text, name, (const char *const *)sheet->names,
                                     sheet->columns));
    *column = (size_t)found;
    return OK;
}

const char *sheet_cell(const struct sheet *sheet, size_t row, size_t column)
{
    return sheet->cells[row * sheet->columns + column];
}

enum status sheet_number(const struct sheet *sheet, size_t row, size_t column, double *number,
                         struct error *e)
{
    const char *text = sheet_cell(sheet, row, column);
    *number = NAN;
    if (!text[0] || number_parse(text, number))
        return OK;
    return error_at(e, ERR_DATA, sheet->path, sheet->lines[row], 0, "%s: '%s' is not a number",
                    sheet->names[column], text);
}
