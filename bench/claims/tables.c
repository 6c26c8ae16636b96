/* Finds and reads the tables that claims use, each table once. */
#include "bench/claims/tables.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

void claim_tables_free(struct claims *c)
{
    for (size_t i = 0; i < c->n_tables; i++) {
        check_free(&c->tables[i]->rows);
        free(c->tables[i]);
    }
    free(c->tables);
}

static enum status refuse_file(struct mark mark, const char *file, const char *why, struct error *e)
{
    return mark_error(e, ERR_SPEC, mark, "%s: %s", file, why);
}

/* Finds the run of a table in `runs` of the claims file: `overlap` for "overlap/summary.csv". */
static enum status find_run(struct claim_table *table, const struct claims *c, struct mark mark,
                            struct error *e)
{
    const struct node *runs = node_find(&c->root, "runs");
    size_t length = strcspn(table->file, "/");
    for (size_t i = 0; runs != NULL && i < runs->n; i++)
        if (strlen(runs->items[i].key) == length &&
            strncmp(runs->items[i].key, table->file, length) == 0)
            table->run = &runs->items[i];
    return table->run != NULL
               ? OK
               : refuse_file(mark, table->file, "not found under runs; list its run there", e);
}

static enum status open_table(struct claim_table *table, const struct claims *c, struct mark mark,
                              struct error *e)
{
    char path[PATH_BYTES];
    bool published = strchr(table->file, '/') == NULL;
    const char *dot = strrchr(table->file, '.');
    if (dot == NULL || strcmp(dot, ".csv") != 0 || strstr(table->file, "..") != NULL)
        return refuse_file(mark, table->file, "expected run/file.csv, or a file.csv in published/",
                           e);
    if (!published)
        TRY(find_run(table, c, mark, e));
    snprintf(table->link, sizeof table->link, "%s/%s", published ? "published" : "reference",
             table->file);
    TRY(path_format(path, e, "%s/%s", c->folder, table->link));
    table->there = path_exists(path);
    if (!table->there && published)
        return refuse_file(mark, table->file, "not found in published/", e);
    return table->there ? check_read_table(&table->rows, path, e) : OK;
}

enum status claim_tables_find(const struct claim_table **found, struct claims *c, const char *file,
                              struct mark mark, struct error *e)
{
    struct claim_table *table;
    for (size_t i = 0; i < c->n_tables; i++)
        if (strcmp(c->tables[i]->file, file) == 0) {
            *found = c->tables[i];
            return OK;
        }
    TRY(MEM_GROW(c->tables, c->n_tables, "the tables of claims", e));
    TRY(MEM_NEW(table, 1, "the tables of claims", e));
    c->tables[c->n_tables++] = table;
    snprintf(table->file, sizeof table->file, "%s", file);
    *found = table;
    return open_table(table, c, mark, e);
}
