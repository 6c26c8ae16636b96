/* Strategies and compressors, described without MPI: operations, memory and limits. Each is a
 * constant in a file of strategies/ or compressors/. Internal to comm/cost; the functions of cost.h
 * read them. */
#pragma once

#include "comm/cost/program.h"

/* The gradient of a step: n tensors. Tensor i has counts[i] numbers of `width` bytes; all tensors
 * together have `count` numbers. */
struct gradient {
    const size_t *counts;
    const size_t *rows; /* [n] rows of each matrix, 0 for other tensors; NULL: all 0 */
    size_t n, width, count;
    int stage; /* stage of ZeRO; 0: nothing is sharded */
};

/* Strategy options, gradient and number of ranks: argument `s` of the functions in struct
 * strategy_desc and struct compressor_desc. All pointers are borrowed. */
struct step {
    const struct strategy_config *config;
    const struct gradient *g;
    int ranks;
};

static inline size_t page_of(const struct strategy_config *config)
{
    return config->page_bytes > 0 ? config->page_bytes : 1;
}

/* Rounds `bytes` up to whole pages. */
static inline size_t whole_pages(const struct strategy_config *config, size_t bytes)
{
    size_t page = page_of(config);
    return (bytes + page - 1) / page * page;
}

/* Returns tensors [first, first + n) as a gradient that borrows the arrays of `g`. */
struct gradient gradient_part(const struct gradient *g, size_t first, size_t n);

struct strategy_desc {
    /* Passes the operations of one period (see `steps`) to the reader. */
    void (*program)(const struct step *s, struct reader *to);
    /* Returns the number of steps in a period, after which the operations repeat; NULL: 1. */
    uint64_t (*steps)(const struct step *s);
    /* Returns cost.wire_source. If the function is NULL, wire_source names the algorithms of the
     * MPI allreduces in `program`, or is WIRE_COUNTED if there are none. */
    const char *(*source)(const struct step *s);
    /* Rule of the strategy's only operation. Used if `program` is NULL. */
    const struct schedule_rule *schedule;
    /* Whether operations begin as soon as backward has produced their gradients
     * (strategy_exposed). */
    bool overlaps;
    /* Returns how many of the steps [first, first + n) communicate. NULL: each step has an equal
     * part of its period's communication. */
    uint64_t (*times)(const struct strategy_config *config, uint64_t first, uint64_t n);
    /* Changes *m from the memory of a rank that shards nothing to the memory of `rank`, including
     * buffers. NULL: no rank shards anything. */
    void (*memory)(struct sync_memory *m, const struct step *s, int rank, int slots);
    /* Implements strategy_check for this strategy. NULL: all options are supported. */
    enum status (*check)(const struct strategy_config *config, const struct sync_demands *demands,
                         const char **key, struct error *e);
};

struct compressor_desc {
    /* Passes to the reader the operations that sum the gradient in compressed form. */
    void (*program)(const struct step *s, struct reader *to);
    /* Implements compressor_check for this compressor. NULL: all options are supported. */
    enum status (*check)(const struct strategy_config *config, const char **key, struct error *e);
    /* printf format of compressor_title, such as " of rank %.0f", for the value of title_option.
     * NULL: the title is "". */
    const char *title;
    enum sync_option title_option;
};

#define STRATEGY(name, flags, source, summary)                                                     \
    extern const struct strategy_desc strategy_desc_##name;
#include "comm/cost/strategies.def"

#define COMPRESSOR(name, flags, source, summary)                                                   \
    extern const struct compressor_desc compressor_desc_##name;
#include "comm/cost/compressors.def"

/* Returns "none", the wire_source of strategies that send nothing. wire_source states how sent
 * bytes are determined. */
const char *source_none(const struct step *s);

/* Passes to the reader the operations that sum `g` over all ranks: the operations of the configured
 * compressor, or one MPI allreduce if no compressor is configured. */
void give_sum(const struct step *s, const struct gradient *g, struct reader *to);
