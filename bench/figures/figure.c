#include "bench/figures/figure.h"

#include <string.h>

static const struct figure figures[] = {
#define FIGURE(name, summary, replay, shape, quantity, columns, model, published)                  \
    {#name, &shape_##shape, QUANTITY_##quantity, columns, model, published},
#include "bench/spec/figures.def"
};

const struct figure *figure_get(const char *name)
{
    size_t i = 0;
    while (strcmp(figures[i].name, name) != 0)
        i++;
    return &figures[i];
}

bool figure_column(const struct figure *figure, size_t i, char column[FIGURE_COLUMN])
{
    const char *word = figure->columns;
    for (; i > 0 && *word != '\0'; i--) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    snprintf(column, FIGURE_COLUMN, "%.*s", (int)strcspn(word, " "), word);
    return *word != '\0';
}
