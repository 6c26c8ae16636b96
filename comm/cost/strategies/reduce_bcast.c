/* A sum at rank 0, then a broadcast: by MPICH's own algorithms, or as mpi4py's lower-case calls. */
#include "comm/cost/description.h"

static struct cost cost_plain(const struct participant *p, const struct gradient *g)
{
    static const char *const sources[2][3] = {
        {"formula: binomial, binomial", "formula: binomial, scatter_recursive_doubling_allgather",
         "formula: binomial, scatter_ring_allgather"},
        {"formula: reduce_scatter_gather, binomial",
         "formula: reduce_scatter_gather, scatter_recursive_doubling_allgather",
         "formula: reduce_scatter_gather, scatter_ring_allgather"},
    };
    size_t bytes = g->count * g->width;
    struct cost c = {.wire_source = sources[reduce_is_long(p->ranks, g->count, g->width)]
                                           [bcast_algorithm(p->ranks, bytes)]};
    add_calls(&c, 2, bytes);
    if (p->ranks > 1) {
        add_reduce(&c, p, g->count, g->width);
        add_bcast(&c, p, bytes);
    }
    return c;
}

size_t pickle_bytes(const size_t *counts, size_t n, size_t width)
{
    size_t bytes = n * sizeof(struct pickle_header);
    for (size_t i = 0; i < n; i++)
        bytes += counts[i] * width;
    return bytes;
}

/* Each message goes with one that says how long it is, up the tree as in the broadcast. */
static struct cost cost_pickled(const struct participant *p, const struct gradient *g)
{
    static const char *const sources[] = {"formula: binomial, binomial",
                                          "formula: binomial, scatter_recursive_doubling_allgather",
                                          "formula: binomial, scatter_ring_allgather"};
    size_t bytes = pickle_bytes(g->counts, g->n, g->width);
    struct cost c = {.wire_source = sources[bcast_algorithm(p->ranks, bytes)]};
    size_t calls = (size_t)tree_edges(p->rank, p->ranks) + 1;
    add_calls(&c, calls, sizeof(uint64_t));
    add_calls(&c, calls, bytes);
    add_ascent(&c, p, sizeof(uint64_t));
    add_reduce_binomial(&c, p, bytes);
    add_bcast(&c, p, sizeof(uint64_t));
    add_bcast(&c, p, bytes);
    return c;
}

static struct cost reduce_bcast_cost(const struct strategy_config *config,
                                     const struct participant *p, const struct gradient *g)
{
    return config->variant == VARIANT_reduce_bcast_pickled ? cost_pickled(p, g) : cost_plain(p, g);
}

const struct strategy_desc strategy_desc_reduce_bcast = {.cost = reduce_bcast_cost};
