/* Sums all gradients in one call, by the MPI library or a compressor. */
#include "comm/cost/description.h"

static void allreduce_program(const struct step *s, struct reader *to)
{
    give_sum(s, s->g, to);
}

const struct strategy_desc strategy_desc_allreduce = {.program = allreduce_program};
