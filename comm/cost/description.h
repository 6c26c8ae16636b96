/* Descriptions of strategies and compressors: one const table each, in a file of its own in strategies/ or
 * compressors/, found by its row of strategies.def or compressors.def. A description holds the program, the memory and
 * the limits of a strategy, without MPI: the runner lists, checks and predicts with it. Internal to comm/cost. */
#pragma once

#include "comm/cost/program.h"

/* The gradient of a step: n tensors, counts[n] numbers of `width` bytes, `count` in all. */
struct gradient {
    const size_t *counts;
    const size_t *rows; /* [n] as in struct strategy_config, or NULL */
    size_t n, width, count;
    int stage; /* of ZeRO, by which ranks share it out */
};

/* A step of all ranks. */
struct step {
    const struct strategy_config *config;
    const struct gradient *g;
    int ranks;
};

static inline size_t page_of(const struct strategy_config *config)
{
    return config->page_bytes > 0 ? config->page_bytes : 1;
}

/* `bytes` rounded up to pages. */
static inline size_t whole_pages(const struct strategy_config *config, size_t bytes)
{
    size_t page = page_of(config);
    return (bytes + page - 1) / page * page;
}

/* Tensors [first, first + n) of a gradient. */
struct gradient gradient_part(const struct gradient *g, size_t first, size_t n);

struct strategy_desc {
    /* Gives the operations of a step to the reader; of strategies with `steps`, of that many. */
    void (*program)(const struct step *s, struct reader *to);
    /* Steps after which the program begins again; NULL: one. */
    uint64_t (*steps)(const struct step *s);
    /* Names the formula that bytes on the wire come from; NULL: the algorithms of the library's sums, or WIRE_COUNTED. */
    const char *(*source)(const struct step *s);
    /* Instead of a program: the rule of its only operation, messages of its own. */
    const struct schedule_rule *schedule;
    /* As strategy_exposed; NULL: it does not sum during backward, or nobody has said. */
    double (*exposed)(const struct strategy_config *config, const struct gradient *g,
                      const double *ready, double backward, double comm);
    /* How many of the steps [first, first + n) pay the cost, each the whole of it; NULL: each pays its share. */
    uint64_t (*times)(const struct strategy_config *config, uint64_t first, uint64_t n);
    /* As strategy_memory, of arenas that are whole so far; NULL: they stay so. */
    void (*memory)(struct sync_memory *m, const struct step *s, int rank, int slots);
    /* As strategy_check; NULL: it goes with everything. */
    enum status (*check)(const struct strategy_config *config, const struct sync_demands *demands,
                         const char **key, struct error *e);
};

struct compressor_desc {
    /* Gives the operations of a compressed sum of the gradient. */
    void (*program)(const struct step *s, struct reader *to);
    /* As compressor_check; NULL: every value that its options take will do. */
    enum status (*check)(const struct strategy_config *config, const char **key, struct error *e);
    /* " of rank %.0f" and the option that stands there; NULL: the net alone says how large its
     * memory is. */
    const char *title;
    enum sync_option title_option;
};

#define STRATEGY(name, flags, source, summary)                                                     \
    extern const struct strategy_desc strategy_desc_##name;
#include "comm/cost/strategies.def"

#define COMPRESSOR(name, flags, source, summary)                                                   \
    extern const struct compressor_desc compressor_desc_##name;
#include "comm/cost/compressors.def"

/* The source "none", for strategies that send nothing. */
const char *source_none(const struct step *s);

/* Gives the sum of `g` as strategies flagged STRATEGY_COMPRESSES make it: by the configuration's compressor, or by the
 * library. */
void give_sum(const struct step *s, const struct gradient *g, struct reader *to);
