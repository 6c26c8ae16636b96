/* Two sums by the library in place of one: the factors P of all matrices, with what is no matrix,
 * then the factors Q. */
#include "comm/cost/description.h"

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

/* The library's sum; none of what is empty. */
static void add_factors(struct cost *c, const struct strategy_config *config,
                        const struct participant *p, size_t count, size_t width)
{
    if (count > 0)
        add_allreduce_call(c, p, config->calls, config->algorithm, count, width);
}

static void powersgd_add(struct cost *c, const struct strategy_config *config,
                         const struct participant *p, const struct gradient *g)
{
    size_t count_p = 0, count_q = 0;
    for (size_t i = 0; i < g->n; i++) {
        struct low_rank shape = low_rank_of(g->counts[i], g->rows != NULL ? g->rows[i] : 0,
                                            (int)config->options[SYNC_rank]);
        count_p += low_rank_p(&shape, g->counts[i]);
        count_q += low_rank_q(&shape);
    }
    add_factors(c, config, p, count_p, g->width);
    add_factors(c, config, p, count_q, g->width);
}

const struct compressor_desc compressor_desc_powersgd = {
    .add = powersgd_add,
    .title = " of rank %.0f",
    .title_option = SYNC_rank,
};
