#include "bench/page/csv_table.h"

#include <stdlib.h>
#include <string.h>

#include "bench/page/html.h"
#include "kernels/base/mem.h"

enum column_look { LOOK_EMPTY, LOOK_SAME, LOOK_NUMBER, LOOK_TEXT };

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

static bool is_whole(const struct csv_table *table, size_t column)
{
    for (size_t row = 0; row < table->rows; row++)
        if (*csv_table_cell(table, row, column) == '\0')
            return false;
    return true;
}

/* What programs tell rows apart by, and remarks, stand behind the values; so does a name where labels
 * say more. */
static bool is_last(const struct csv_table *table, size_t column)
{
    static const char *const names[] = {"n", "status", "flags", "curve", "row", "point", "x", NULL};
    int label = csv_table_find(table, "label");
    if (strcmp(table->names[column], "name") == 0)
        return label >= 0 && is_whole(table, (size_t)label);
    return is_one_of(table->names[column], names);
}

/* Identities of points may look like numbers. A row alone has nothing to share. */
static enum column_look look_of(const struct csv_table *table, size_t column)
{
    bool number = strcmp(table->names[column], "point") != 0, same = table->rows > 1, any = false;
    for (size_t row = 0; row < table->rows; row++) {
        const char *cell = csv_table_cell(table, row, column);
        any = any || *cell;
        number = number && html_is_number(cell);
        same = same && strcmp(cell, csv_table_cell(table, 0, column)) == 0;
    }
    return !any ? LOOK_EMPTY : same ? LOOK_SAME : number ? LOOK_NUMBER : LOOK_TEXT;
}

/* A column below the heading, in its place. */
struct shown_column {
    size_t column;
    bool number;
};

static size_t find_shown(struct shown_column *shown, const struct csv_table *table)
{
    size_t n = 0;
    for (int last = 0; last <= 1; last++)
        for (size_t c = 0; c < table->columns; c++) {
            enum column_look look = look_of(table, c);
            if (look > LOOK_SAME && is_last(table, c) == last)
                shown[n++] = (struct shown_column){.column = c, .number = look == LOOK_NUMBER};
        }
    return n;
}

static void write_shared(FILE *out, const struct csv_table *table)
{
    size_t n = 0;
    for (size_t c = 0; c < table->columns; c++) {
        if (look_of(table, c) != LOOK_SAME)
            continue;
        fputs(n++ == 0 ? "<p class=\"file\">All rows: " : ", ", out);
        html_text(out, table->names[c]);
        fputc(' ', out);
        html_text(out, csv_table_cell(table, 0, c));
    }
    fputs(n > 0 ? "</p>\n" : "", out);
}

static void write_names(FILE *out, const struct csv_table *table, const struct shown_column *shown,
                        size_t n)
{
    fputs("<tr><th class=\"n\">row</th>", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<th%s>", shown[i].number ? " class=\"n\"" : "");
        html_text(out, table->names[shown[i].column]);
        fputs("</th>", out);
    }
    fputs("</tr>", out);
}

static void write_row(FILE *out, const struct csv_table *table, const char *id, size_t row,
                      const struct shown_column *shown, size_t n)
{
    fprintf(out, "<tr id=\"%s-%zu\"><th scope=\"row\"><a href=\"#%s-%zu\">%zu</a></th>", id,
            row + 1, id, row + 1, row + 1);
    for (size_t i = 0; i < n; i++)
        html_cell(out, csv_table_cell(table, row, shown[i].column), shown[i].number);
    fputs("</tr>\n", out);
}

enum status csv_table_write(FILE *out, const struct csv_table *table, const char *id,
                            struct error *e)
{
    struct shown_column *shown;
    TRY(MEM_NEW(shown, table->columns, "the columns of a table", e));
    size_t n = find_shown(shown, table);
    write_shared(out, table);
    fputs("<div class=\"scroll\"><table><thead>", out);
    write_names(out, table, shown, n);
    fputs("</thead><tbody>\n", out);
    for (size_t row = 0; row < table->rows; row++)
        write_row(out, table, id, row, shown, n);
    fputs("</tbody></table></div>\n", out);
    free(shown);
    return OK;
}

enum status csv_table_write_link(FILE *out, const char *path, const char *name, struct error *e)
{
    char *text;
    enum status status = html_read(&text, path, e);
    if (status == OK) {
        fputs("<p class=\"file\"><a download=\"", out);
        html_text(out, name);
        fputs("\" href=\"data:text/csv;charset=utf-8,", out);
        html_address(out, text);
        fputs("\">Save ", out);
        html_text(out, name);
        fputs("</a></p>\n", out);
    }
    free(text);
    return status;
}
