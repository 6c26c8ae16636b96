/* Sums all gradients together: in one call of the MPI library or, with a compressor, in the
 * compressor's operations. */
#include "comm/cost/description.h"

static void allreduce_program(const struct step *s, struct reader *to)
{
    give_sum(s, s->g, to);
}

const struct strategy_desc strategy_desc_allreduce = {.program = allreduce_program};
