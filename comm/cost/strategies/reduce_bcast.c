/* Sums gradients at rank 0, then broadcasts the sum, both by calls of the MPI library. Variant
 * pickled sends pickled arrays instead, as mpi4py's lower-case calls do. */
#include "comm/cost/description.h"
#include "comm/cost/library.h"
#include "comm/cost/library_rules.h"

static bool is_pickled(const struct step *s)
{
    return s->config->variant == VARIANT_reduce_bcast_pickled;
}

static size_t bytes_of(const struct step *s)
{
    const struct gradient *g = s->g;
    return is_pickled(s) ? pickle_bytes(g->counts, g->n, g->width) : g->count * g->width;
}

static const char *reduce_bcast_source(const struct step *s)
{
    static const char *const sources[2][3] = {
        {"formula: binomial, binomial", "formula: binomial, scatter_recursive_doubling_allgather",
         "formula: binomial, scatter_ring_allgather"},
        {"formula: reduce_scatter_gather, binomial",
         "formula: reduce_scatter_gather, scatter_recursive_doubling_allgather",
         "formula: reduce_scatter_gather, scatter_ring_allgather"},
    };
    bool is_long = !is_pickled(s) && reduce_is_long(s->ranks, s->g->count, s->g->width);
    return sources[is_long][bcast_algorithm(s->ranks, bytes_of(s))];
}

size_t pickle_bytes(const size_t *counts, size_t n, size_t width)
{
    size_t bytes = n * sizeof(struct pickle_header);
    for (size_t i = 0; i < n; i++)
        bytes += counts[i] * width;
    return bytes;
}

static void give_pickles(const struct step *s, struct reader *to)
{
    size_t bytes = bytes_of(s);
    reader_give(to, (struct operation){
                        .rule = &rule_binomial_ascent, .count = sizeof(uint64_t), .width = 1});
    reader_give(to, (struct operation){.rule = &rule_binomial_reduce, .count = bytes, .width = 1});
    reader_give(to, library_bcast(s->ranks, sizeof(uint64_t)));
    reader_give(to, library_bcast(s->ranks, bytes));
}

/* Variant pickled: a message with the length of the pickle precedes each pickle, both in the
 * reduction and in the broadcast. */
static void reduce_bcast_program(const struct step *s, struct reader *to)
{
    if (is_pickled(s)) {
        give_pickles(s, to);
        return;
    }
    reader_give(to, library_reduce(s->ranks, s->g->count, s->g->width));
    reader_give(to, library_bcast(s->ranks, bytes_of(s)));
}

const struct strategy_desc strategy_desc_reduce_bcast = {.program = reduce_bcast_program,
                                                         .source = reduce_bcast_source};
