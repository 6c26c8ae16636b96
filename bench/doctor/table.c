#include "bench/doctor/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

#define TABLE(name, row, def_columns)                                                              \
    const struct doctor_table doctor_##name##s = {                                                 \
        {#name "s.csv", "One row per " row ", written by `scalebench doctor`", def_columns,        \
         sizeof def_columns / sizeof *(def_columns)},                                              \
        sizeof(struct doctor_##name)}

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("nodes.csv", doctor_node, id, type, unit, meaning)
static const struct column node_columns[] = {
#include "bench/doctor/csv_nodes.def"
};
#undef COLUMN
TABLE(node, "node", node_columns);

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("bursts.csv", doctor_burst, id, type, unit, meaning)
static const struct column burst_columns[] = {
#include "bench/doctor/csv_bursts.def"
};
#undef COLUMN
TABLE(burst, "burst of work", burst_columns);

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("messages.csv", doctor_message, id, type, unit, meaning)
static const struct column message_columns[] = {
#include "bench/doctor/csv_messages.def"
};
#undef COLUMN
TABLE(message, "size of message", message_columns);

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("cores.csv", doctor_core, id, type, unit, meaning)
static const struct column core_columns[] = {
#include "bench/doctor/csv_cores.def"
};
#undef COLUMN
TABLE(core, "core", core_columns);

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("links.csv", doctor_link, id, type, unit, meaning)
static const struct column link_columns[] = {
#include "bench/doctor/csv_links.def"
};
#undef COLUMN
TABLE(link, "pair of nodes", link_columns);

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("findings.csv", doctor_finding, id, type, unit, meaning)
static const struct column finding_columns[] = {
#include "bench/doctor/csv_findings.def"
};
#undef COLUMN
TABLE(finding, "finding", finding_columns);

const struct doctor_table *const *doctor_tables(size_t *n)
{
    static const struct doctor_table *const all[] = {&doctor_nodes,    &doctor_bursts,
                                                     &doctor_messages, &doctor_cores,
                                                     &doctor_links,    &doctor_findings};
    *n = sizeof all / sizeof *all;
    return all;
}

static char *text_at(void *row, const struct column *c)
{
    return (char *)row + c->offset;
}

static double *number_at(void *row, const struct column *c)
{
    return (double *)((char *)row + c->offset);
}

void doctor_clear(const struct doctor_table *table, void *row)
{
    for (size_t i = 0; i < table->file.n; i++)
        if (table->file.columns[i].type == CSV_TEXT)
            memset(text_at(row, &table->file.columns[i]), 0, DOCTOR_TEXT);
        else
            *number_at(row, &table->file.columns[i]) = NAN;
}

static enum status path_of(char path[4096], const char *folder, const char *file, struct error *e)
{
    return snprintf(path, 4096, "%s/%s", folder, file) < 4096
               ? OK
               : error_set(e, ERR_ARGUMENT, "%.200s...: the path is too long", folder);
}

/* ---- Writing ---- */

static const char *cell_text(char text[TEXT_NUMBER], const struct column *c, const char *row)
{
    double number;
    if (c->type == CSV_TEXT)
        return row + c->offset;
    memcpy(&number, row + c->offset, sizeof number);
    if (isnan(number))
        return "";
    return c->type == CSV_REAL ? text_real(text, number) : text_whole(text, number);
}

static void write_row(FILE *out, const struct doctor_table *table, const char *row)
{
    char text[TEXT_NUMBER];
    for (size_t i = 0; i < table->file.n; i++) {
        if (i > 0)
            fputc(',', out);
        text_write_field(out, cell_text(text, &table->file.columns[i], row));
    }
    fputc('\n', out);
}

static enum status open_file(FILE **out, char path[4096], const char *folder, const char *file,
                             struct error *e)
{
    TRY(path_of(path, folder, file, e));
    *out = fopen(path, "we");
    return *out != NULL
               ? OK
               : error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(errno));
}

enum status doctor_write(const struct doctor_table *table, const char *folder, const void *rows,
                         size_t n, struct error *e)
{
    char path[4096];
    FILE *out;
    TRY(open_file(&out, path, folder, table->file.name, e));
    csv_write_header(out, &table->file);
    for (size_t i = 0; i < n; i++)
        write_row(out, table, (const char *)rows + i * table->row_bytes);
    return csv_close(out, path, e);
}

enum status doctor_write_dictionary(const char *folder, struct error *e)
{
    char path[4096];
    FILE *out;
    TRY(open_file(&out, path, folder, "columns.csv", e));
    csv_begin_dictionary(out);
    size_t n;
    const struct doctor_table *const *all = doctor_tables(&n);
    for (size_t i = 0; i < n; i++)
        csv_add_to_dictionary(out, all[i]->file.columns, all[i]->file.n);
    return csv_close(out, path, e);
}

/* ---- Reading ---- */

static enum status read_row(char *row, const struct doctor_table *table,
                            const struct csv_table *csv, size_t i, struct error *e)
{
    for (size_t k = 0; k < table->file.n; k++) {
        size_t column;
        const struct column *c = &table->file.columns[k];
        TRY(csv_table_column(csv, c->name, &column, e));
        if (c->type == CSV_TEXT)
            snprintf(text_at(row, c), DOCTOR_TEXT, "%s", csv_table_cell(csv, i, column));
        else
            TRY(csv_table_number(csv, i, column, number_at(row, c), e));
    }
    return OK;
}

static enum status read_rows(char **rows, const struct doctor_table *table,
                             const struct csv_table *csv, struct error *e)
{
    *rows = NULL;
    TRY(mem_new(rows, csv->rows, table->row_bytes, table->file.name, e));
    enum status status = OK;
    for (size_t i = 0; i < csv->rows && status == OK; i++)
        status = read_row(*rows + i * table->row_bytes, table, csv, i, e);
    if (status == OK)
        return OK;
    free(*rows);
    *rows = NULL;
    return status;
}

enum status doctor_read(const struct doctor_table *table, const char *folder, void *rows, size_t *n,
                        struct error *e)
{
    char path[4096], *read = NULL;
    struct csv_table csv;
    TRY(path_of(path, folder, table->file.name, e));
    enum status status = csv_table_read(&csv, path, e);
    THEN(status, read_rows(&read, table, &csv, e));
    *n = status == OK ? csv.rows : 0;
    csv_table_free(&csv);
    memcpy(rows, &read, sizeof read);
    return status;
}
