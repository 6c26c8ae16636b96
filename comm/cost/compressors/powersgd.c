/* PowerSGD makes two sums: first the factors P of all matrices together with all tensors that are
 * not matrices, then the factors Q. */
#include "comm/cost/description.h"
#include "comm/cost/library.h"

struct low_rank low_rank_of(size_t count, size_t rows, int rank)
{
    size_t columns = rows > 0 ? count / rows : 0;
    if (rows < 2 || columns < 2)
        return (struct low_rank){0};
    size_t side = rows < columns ? rows : columns, other = rows < columns ? columns : rows;
    return (struct low_rank){.rows = rows,
                             .columns = columns,
                             .rank = (size_t)rank < side ? (size_t)rank : side,
                             .side = side,
                             .other = other};
}

size_t low_rank_p(const struct low_rank *shape, size_t count)
{
    return shape->rank > 0 ? shape->rank * shape->side : count;
}

size_t low_rank_q(const struct low_rank *shape)
{
    return shape->rank * shape->other;
}

static void give_factors(const struct step *s, struct reader *to, size_t count)
{
    const struct strategy_config *config = s->config;
    if (count > 0)
        reader_give(
            to, library_allreduce(config->algorithm, config->calls, s->ranks, count, s->g->width));
}

static void powersgd_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    size_t count_p = 0, count_q = 0;
    for (size_t i = 0; i < g->n; i++) {
        struct low_rank shape = low_rank_of(g->counts[i], g->rows != NULL ? g->rows[i] : 0,
                                            (int)s->config->options[SYNC_rank]);
        count_p += low_rank_p(&shape, g->counts[i]);
        count_q += low_rank_q(&shape);
    }
    give_factors(s, to, count_p);
    give_factors(s, to, count_q);
}

const struct compressor_desc compressor_desc_powersgd = {
    .program = powersgd_program,
    .title = " of rank %.0f",
    .title_option = SYNC_rank,
};
