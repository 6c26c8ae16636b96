#include <stdlib.h>
#include <string.h>

#include "bench/record/journal.h"
#include "kernels/base/mem.h"

static int compare_places(const void *a, const void *b)
{
    const struct journal_launch *x = *(const struct journal_launch *const *)a;
    const struct journal_launch *y = *(const struct journal_launch *const *)b;
    int order = strcmp(x->point, y->point);
    if (order == 0)
        order = (x->run > y->run) - (x->run < y->run);
    if (order == 0)
        order = (x->block > y->block) - (x->block < y->block);
    return order != 0 ? order : (x->seed > y->seed) - (x->seed < y->seed);
}

enum status journal_places_open(struct journal_places *places, const struct journal *j,
                                struct error *e)
{
    TRY(MEM_NEW(places->done, j->n_launches, "the launches of a run", e));
    places->n = 0;
    for (size_t i = 0; i < j->n_launches; i++)
        if (launch_is_done(&j->launches[i]))
            places->done[places->n++] = &j->launches[i];
    qsort(places->done, places->n, sizeof *places->done, compare_places);
    return OK;
}

bool journal_place_is_filled(const struct journal_places *places,
                             const struct journal_launch *launch)
{
    return bsearch(&launch, places->done, places->n, sizeof *places->done, compare_places) != NULL;
}

void journal_places_close(struct journal_places *places)
{
    free(places->done);
    *places = (struct journal_places){.n = 0};
}
