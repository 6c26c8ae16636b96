#include "bench/compare/compared.h"

#include "kernels/base/names.h"

static const struct compared rows[] = {
#define COMPARED(name, better, good, bad, run, source, raw, clock, published, spread, margin,      \
                 title)                                                                            \
    {#name,           title, good, bad,           BETTER_##better,                                 \
     SOURCE_##source, #run,  #raw, CLOCK_##clock, COLUMN_##published,                              \
     spread,          margin},
#include "bench/compare/compared.def"
};
#define N_ROWS (sizeof rows / sizeof *rows)

enum status compared_find(const struct compared **row, const char *name, struct error *e)
{
    int index;
    TRY(option_row("quantity", name, rows, N_ROWS, sizeof *rows, &index, e));
    *row = &rows[index];
    return OK;
}
