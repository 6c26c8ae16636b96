/* The columns of summary.csv as a table, from columns.def. Internal to bench/collect. */
#ifndef SCALEBENCH_COLLECT_COLUMNS_H
#define SCALEBENCH_COLLECT_COLUMNS_H

enum column_id {
#define COLUMN(id, type, meaning) COLUMN_##id,
#include "bench/collect/columns.def"
#undef COLUMN
    COLUMNS
};

struct column {
    const char *name, *type, *meaning;
};

const struct column *column_get(enum column_id id);

#endif
