#include "bench/collect/columns.h"

#include "bench/collect/collect.h"

static const struct column columns[COLUMNS] = {
#define COLUMN(id, type, meaning) {#id, #type, meaning},
#include "bench/collect/columns.def"
#undef COLUMN
};

const struct column *column_get(enum column_id id)
{
    return &columns[id];
}

void columns_print(FILE *out)
{
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, "%-18s %-5s %s\n", columns[i].name, columns[i].type, columns[i].meaning);
}
