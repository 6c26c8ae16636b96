#include "bench/record/launch_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

static int by_block(const void *a, const void *b)
{
    const struct launch_row *x = a, *y = b;
    int order = strcmp(x->point, y->point);
    return order != 0 ? order : (x->block > y->block) - (x->block < y->block);
}

static int by_launch(const void *a, const void *b)
{
    const struct launch_row *x = a, *y = b;
    int order = by_block(a, b);
    return order != 0 ? order : strcmp(x->launch, y->launch);
}

enum { POINT, LAUNCH, RUN, STATUS, BLOCK, VALUE, IMAGES, WANTED };

/* Reads a row of raw.csv. The value of a diverged launch is NAN. */
static enum status take_row(struct launch_row *own, const struct csv_table *raw, size_t row,
                            const size_t *at, struct error *e)
{
    bool ok = strcmp(csv_table_cell(raw, row, at[STATUS]), "ok") == 0;
    *own = (struct launch_row){.point = csv_table_cell(raw, row, at[POINT]),
                               .launch = csv_table_cell(raw, row, at[LAUNCH]),
                               .row = row,
                               .value = NAN};
    TRY(csv_table_number(raw, row, at[BLOCK], &own->block, e));
    TRY(csv_table_number(raw, row, at[IMAGES], &own->images, e));
    return ok ? csv_table_number(raw, row, at[VALUE], &own->value, e) : OK;
}

enum status launch_rows_read(struct launch_rows *l, const struct csv_table *raw, const char *run,
                             const char *column, bool diverged, struct error *e)
{
    size_t at[WANTED];
    const struct csv_wanted wanted[WANTED] = {
        {"point", &at[POINT]},        {"launch", &at[LAUNCH]}, {"run", &at[RUN]},
        {"status", &at[STATUS]},      {"block", &at[BLOCK]},   {column, &at[VALUE]},
        {"global_batch", &at[IMAGES]}};
    TRY(csv_table_columns(raw, wanted, WANTED, e));
    TRY(MEM_NEW(l->items, raw->rows, raw->path, e));
    for (size_t row = 0; row < raw->rows; row++) {
        const char *status = csv_table_cell(raw, row, at[STATUS]);
        if (strcmp(csv_table_cell(raw, row, at[RUN]), run) == 0 &&
            (strcmp(status, "ok") == 0 || (diverged && strcmp(status, "diverged") == 0)))
            TRY(take_row(&l->items[l->n++], raw, row, at, e));
    }
    qsort(l->items, l->n, sizeof *l->items, by_launch);
    return OK;
}

const struct launch_row *launch_rows_of(const struct launch_rows *l, const char *point, size_t *n)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(l->items[mid].point, point) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (hi = lo; hi < l->n && strcmp(l->items[hi].point, point) == 0;)
        hi++;
    *n = hi - lo;
    return l->items + lo;
}

const struct launch_row *launch_rows_in_block(const struct launch_rows *l, const char *point,
                                              double block)
{
    const struct launch_row wanted = {.point = point, .block = block};
    return l->n > 0 ? bsearch(&wanted, l->items, l->n, sizeof wanted, by_block) : NULL;
}
