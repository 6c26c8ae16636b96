#include "comm/cost/cost.h"

#include <stdbool.h>

static size_t sum_counts(const size_t *counts, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += counts[i];
    return total;
}

static int floor_power_of_two(int n)
{
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

/* Numbers in blocks [first, last) when `count` is cut into `blocks` of equal size, the last of
 * which takes the rest: how MPICH cuts. */
static size_t block_count(size_t count, int blocks, int first, int last)
{
    size_t block = count / (size_t)blocks;
    size_t numbers = block * (size_t)(last - first);
    return last == blocks ? numbers + count % (size_t)blocks : numbers;
}

static void add_message(struct cost *c, size_t bytes, const struct link_model *model)
{
    c->messages_wire++;
    c->bytes_wire += bytes;
    if (model != NULL)
        c->seconds += model->alpha_s + (double)bytes * model->beta_s;
}

static void add_reduction(struct cost *c, size_t bytes, const struct link_model *model)
{
    if (model != NULL)
        c->seconds += (double)bytes * model->gamma_s;
}

/* Reduce-scatter by recursive halving among `blocks` ranks (a power of two), then allgather by
 * recursive doubling, which sends back the same blocks in reverse. */
static void add_halving_doubling(struct cost *c, int rank, int blocks, size_t count, size_t width,
                                 const struct link_model *model)
{
    int first = 0, last = blocks;
    for (int distance = blocks / 2; distance >= 1; distance /= 2) {
        int middle = (first + last) / 2;
        bool upper = (rank & distance) != 0;
        size_t lower_bytes = block_count(count, blocks, first, middle) * width;
        size_t upper_bytes = block_count(count, blocks, middle, last) * width;
        size_t kept = upper ? upper_bytes : lower_bytes;
        add_message(c, upper ? lower_bytes : upper_bytes, model);
        add_reduction(c, kept, model);
        add_message(c, kept, model);
        if (upper)
            first = middle;
        else
            last = middle;
    }
}

/* Rabenseifner's allreduce as MPICH runs it: beyond a power of two, pairs of ranks fold into one
 * first, and the one that stood aside gets the result at the end. */
static void add_reduce_scatter_allgather(struct cost *c, int rank, int ranks, size_t count,
                                         size_t width, const struct link_model *model)
{
    int blocks = floor_power_of_two(ranks);
    int folded = ranks - blocks;
    size_t bytes = count * width;
    if (rank < 2 * folded && rank % 2 == 0) {
        add_message(c, bytes, model);
        return;
    }
    if (rank < 2 * folded) {
        add_reduction(c, bytes, model);
        add_message(c, bytes, model);
    }
    int position = rank < 2 * folded ? rank / 2 : rank - folded;
    add_halving_doubling(c, position, blocks, count, width, model);
}

static struct cost cost_none(void)
{
    return (struct cost){.wire_source = "none"};
}

static struct cost cost_allreduce(int rank, int ranks, size_t count, size_t width,
                                  const struct link_model *model)
{
    struct cost c = {.calls = 1, .bytes_payload = count * width};
    c.wire_source = "formula: reduce_scatter_allgather";
    if (ranks > 1)
        add_reduce_scatter_allgather(&c, rank, ranks, count, width, model);
    return c;
}

struct cost strategy_cost(enum strategy_kind strategy, int rank, int ranks, const size_t *counts,
                          size_t n, size_t width, const struct link_model *model)
{
    switch (strategy) {
    case STRATEGY_allreduce:
        return cost_allreduce(rank, ranks, sum_counts(counts, n), width, model);
    case STRATEGY_none:
    case STRATEGIES:
        break;
    }
    return cost_none();
}
