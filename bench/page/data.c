#include "bench/page/data.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/record/csv.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"

/* Copies one character and returns its length in `from` (bytes). ASCII controls except \n and \t
 * become spaces; other controls and invalid UTF-8 become escapes. */
static size_t write_clean(char *to, const char *from)
{
    size_t bytes = terminal_show(to, from);
    if ((unsigned char)*from < 0x80)
        snprintf(to, 2, "%c", isprint((unsigned char)*from) || strchr("\n\t", *from) ? *from : ' ');
    return bytes;
}

json_t *data_text(const char *text)
{
    char *clean = malloc(4 * strlen(text) + TERMINAL_SHOWN), *to = clean;
    if (clean == NULL)
        return NULL;
    *to = '\0';
    for (; *text; to += strlen(to))
        text += write_clean(to, text);
    json_t *string = json_string(clean);
    free(clean);
    return string;
}

json_t *data_print(data_printer *print, const void *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return NULL;
    print(memory, what);
    json_t *string = fclose(memory) == 0 ? data_text(text) : NULL;
    free(text);
    return string;
}

void data_id(char *id, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        id[n++] = isalnum((unsigned char)*text) || *text == '_' ? *text : '-';
    id[n] = '\0';
}

enum status data_read(char **text, const char *path, struct error *e)
{
    const char *why;
    size_t size = 0;
    FILE *in = file_open_stream(path, &why);
    *text = NULL;
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %s", why);
    bool read = getdelim(text, &size, '\0', in) >= 0;
    fclose(in);
    return read ? OK : error_at(e, ERR_SYSTEM, path, 0, 0, "this file cannot be read, or is empty");
}

enum status data_add_file(json_t *object, const char *key, const char *path, struct error *e)
{
    char *text;
    enum status status = data_read(&text, path, e);
    if (status == OK && json_object_set_new(object, key, data_text(text)) != 0)
        status = error_no_memory(e, "a page");
    free(text);
    return status;
}

enum status data_add(json_t *object, const char *list, json_t *element, struct error *e)
{
    if (json_object_get(object, list) == NULL)
        json_object_set_new(object, list, json_array());
    return json_array_append_new(json_object_get(object, list), element) == 0
               ? OK
               : error_no_memory(e, "a page");
}

static bool has_cells(const struct csv_table *table, size_t column)
{
    for (size_t row = 0; row < table->rows; row++)
        if (csv_table_cell(table, row, column)[0] != '\0')
            return true;
    return false;
}

struct filled_table {
    struct csv_table csv;
    bool *has_cells; /* [columns] whether the column has a value in some row */
};

static void print_filled(FILE *out, const void *what)
{
    const struct filled_table *t = what;
    for (size_t row = 0; row <= t->csv.rows; row++) {
        bool first = true;
        for (size_t i = 0; i < t->csv.columns; i++) {
            const char *cell = row == 0 ? t->csv.names[i] : csv_table_cell(&t->csv, row - 1, i);
            if (!t->has_cells[i])
                continue;
            if (first)
                csv_put_texts(out, &cell, 1);
            else
                csv_put_more(out, cell);
            first = false;
        }
        fputc('\n', out);
    }
}

static enum status fill(json_t *table, struct filled_table *t, struct error *e)
{
    TRY(MEM_NEW(t->has_cells, t->csv.columns, "a page", e));
    for (size_t i = 0; i < t->csv.columns; i++)
        t->has_cells[i] = has_cells(&t->csv, i);
    return json_object_set_new(table, "csv", data_print(print_filled, t)) == 0
               ? OK
               : error_no_memory(e, "a page");
}

enum status data_add_csv(json_t *object, const char *id, const char *name, const char *path,
                         struct error *e)
{
    struct filled_table t = {.has_cells = NULL};
    json_t *table = json_pack("{s:s, s:o}", "id", id, "name", data_text(name));
    TRY(data_add(object, "tables", table, e));
    enum status status = csv_table_read(&t.csv, path, e);
    THEN(status, fill(table, &t, e));
    csv_table_free(&t.csv);
    free(t.has_cells);
    return status;
}
