/* Sums each of sync.slices slices of the gradient, as equal as can be, by a call of the MPI
 * library. */
#include "comm/cost/description.h"
#include "comm/cost/library.h"
#include "kernels/base/pool.h"

static void sliced_program(const struct step *s, struct reader *to)
{
    size_t slices = (size_t)s->config->options[SYNC_slices];
    for (size_t i = 0; i < slices; i++) {
        size_t begin, end;
        pool_share(s->g->count, i, slices, &begin, &end);
        reader_give(to, library_allreduce(s->config->algorithm, CALL_BLOCKING, s->ranks,
                                          end - begin, s->g->width));
    }
}

const struct strategy_desc strategy_desc_sliced = {.program = sliced_program};
