/* What a strategy costs on paper: calls, messages, bytes, and time in the alpha-beta-gamma model
 * (Hockney; Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
 * MPICH", 2005). Plain functions, no MPI: the runner predicts with them, tests hold counters to
 * them. */
#ifndef SCALEBENCH_COMM_COST_COST_H
#define SCALEBENCH_COMM_COST_COST_H

#include <stddef.h>
#include <stdint.h>

enum strategy_kind {
#define STRATEGY(name, flags, source, summary) STRATEGY_##name,
#include "comm/cost/strategies.def"
#undef STRATEGY
    STRATEGIES
};

/* The variants of strategies that come in several. */
enum strategy_variant {
    VARIANT_usual, /* the only configuration of a strategy that has no other */
#define VARIANT(strategy, name, flags, summary) VARIANT_##strategy##_##name,
#include "comm/cost/strategy_variants.def"
#undef VARIANT
    VARIANTS
};

/* Who asks after messages while a rank computes; of strategies with STRATEGY_OVERLAPS. */
enum overlap_kind {
#define OVERLAP(name, summary) OVERLAP_##name,
#include "comm/cost/overlaps.def"
#undef OVERLAP
    OVERLAPS
};
const char *const *overlap_names(void);
const char *overlap_summary(enum overlap_kind kind);

/* By which of its algorithms the library sums, for strategies that let it. */
enum allreduce_algorithm {
#define ALGORITHM(name, blocking, nonblocking, summary) ALGORITHM_##name,
#include "comm/cost/algorithms.def"
#undef ALGORITHM
    ALGORITHMS
};

enum strategy_flag {
    STRATEGY_EXACT = 1,          /* p ranks compute what one rank would, up to rounding */
    STRATEGY_DETERMINISTIC = 2,  /* the same bits every time at the same p */
    STRATEGY_OVERLAPS = 4,       /* communicates during backward */
    STRATEGY_OWNS_OPTIMIZER = 8, /* runs the optimizer on a share of the parameters */
    STRATEGY_POWER_OF_TWO = 16,  /* p must be a power of two */
    STRATEGY_LOCAL_MEAN = 32, /* wants gradients divided by a rank's samples, not by all ranks' */
    STRATEGY_REPLICATED = 64, /* not exact, but replicas are equal to the bit after every step */
    STRATEGY_AVERAGED = 128, /* replicas differ; eval_begin makes one model of them, equal on all */
    STRATEGY_COMPRESSES = 256, /* a compressor can stand in for its sum */
    STRATEGY_ALGORITHMS = 512, /* sums by MPI_Allreduce or MPI_Iallreduce: sync.algorithm */
};

enum compressor_kind {
#define COMPRESSOR(name, flags, source, summary) COMPRESSOR_##name,
#include "comm/cost/compressors.def"
#undef COMPRESSOR
    COMPRESSORS
};

enum compressor_flag {
    COMPRESSOR_FEEDBACK = 1,   /* what was left out is added to the next step's gradients */
    COMPRESSOR_ALGORITHMS = 2, /* sums by MPI_Allreduce: sync.algorithm */
};

/* The messages of a step are a strategy's own, so that what is sent can be counted. */
#define WIRE_COUNTED "counted"

/* What `steps` steps cost one rank: one step or, of strategies that do not do the same in every
 * step, as many as they take to come round. Bytes count what the rank sends. */
struct cost {
    uint64_t steps;
    uint64_t calls;         /* at the MPI boundary */
    uint64_t bytes_payload; /* handed to those calls */
    uint64_t messages_wire, bytes_wire;
    double seconds;          /* of the model */
    const char *wire_source; /* "formula: ring", or WIRE_COUNTED, or "none" */
};

/* alpha: seconds a message; beta: seconds a byte sent; gamma: seconds a byte reduced. */
struct link_model {
    double alpha_s, beta_s, gamma_s;
};

/* What a strategy that has a choice is to do. */
struct strategy_config {
    enum strategy_variant variant; /* one that the strategy has */
    enum allreduce_algorithm algorithm;
    size_t segment_bytes;              /* of a message at most, where messages are our own */
    size_t cap_bytes, first_cap_bytes; /* at which a bucket is closed, and the first one */
    size_t fusion_bytes;               /* of a sum at most, where tensors are fused */
    int64_t cycle_ns;                  /* in which tensors are collected for it; 0: none are */
    /* Ranks that make a node, of strategies that know of nodes: the node of each (borrowed), or so
     * many at a time; all of them where neither is given. */
    const int *node_of; /* [ranks] or NULL */
    int node_ranks;
    int servers;                     /* ranks that serve parameters; 0: one */
    uint64_t staleness;              /* steps that a rank may be ahead of the slowest */
    uint64_t period;                 /* steps from one average to the next, >= 1 */
    uint64_t post_local;             /* the first so many steps are synchronised each */
    enum compressor_kind compressor; /* none, or the strategy has STRATEGY_COMPRESSES */
    double topk_share;               /* of the numbers that topk sends */
    int powersgd_rank;
    /* Of powersgd: rows of each tensor as a matrix; 0, or NULL for all of them: it is none. */
    const size_t *rows;
    double fp16_scale; /* power of two that gradients are multiplied by in fp16 */
};

/* Cost of `strategy` as `config` says for rank `rank` of `ranks`, tensors of counts[n] numbers of
 * `width` bytes. `model` may be NULL (seconds is then 0). */
struct cost strategy_cost(enum strategy_kind strategy, const struct strategy_config *config,
                          int rank, int ranks, const size_t *counts, size_t n, size_t width,
                          const struct link_model *model);

const char *const *strategy_names(void);              /* STRATEGIES names */
unsigned strategy_flags(enum strategy_kind strategy); /* those that all its variants have */
/* Those of one configuration, which is not the strategy's first when `variant` is VARIANT_usual. */
unsigned strategy_config_flags(enum strategy_kind strategy, enum strategy_variant variant);
const char *strategy_source(enum strategy_kind strategy);
const char *strategy_summary(enum strategy_kind strategy);

/* Lists the strategies that have all of `flags`; returns how many. */
size_t strategy_list(unsigned flags, const char *names[STRATEGIES]);

/* Numbers that topk sends of n: the share rounded, one at least if there is any. Bytes of k of them
 * with their places, and of the signs of n numbers in so many tensors; a multiple of 8. */
size_t topk_count(size_t n, double share);
size_t topk_packet_bytes(size_t k, size_t width);
size_t sign_packet_bytes(size_t tensors, size_t n, size_t width);

/* How PowerSGD sees a tensor: a matrix of `rows` rows that `rank` vectors P of the shorter side and
 * as many Q of the longer side stand for, [rank][side] and [rank][other]; rank 0: it is none. */
struct low_rank {
    size_t rows, columns, rank;
    size_t side, other; /* the shorter and the longer of the two */
};
struct low_rank low_rank_of(size_t count, size_t rows, int rank);
/* Numbers to sum for a tensor of `count`: with P (itself where it is no matrix), and with Q. */
size_t low_rank_p(const struct low_rank *shape, size_t count);
size_t low_rank_q(const struct low_rank *shape);

const char *const *compressor_names(void); /* COMPRESSORS names */
unsigned compressor_flags(enum compressor_kind compressor);
const char *compressor_source(enum compressor_kind compressor);
const char *const *algorithm_names(void); /* ALGORITHMS names */

/* The variant that a strategy calls `name`, "usual" being its first; VARIANTS when it has none. */
enum strategy_variant strategy_variant_find(enum strategy_kind strategy, const char *name);
/* Lists the names that a strategy knows, "usual" first; returns how many. */
size_t strategy_variant_list(enum strategy_kind strategy, const char *names[VARIANTS]);
const char *strategy_variant_name(enum strategy_variant variant);

/* What a pickled gradient begins each tensor with; how many bytes it takes in all. */
struct pickle_header {
    uint64_t tensor, count;
};
size_t pickle_bytes(const size_t *counts, size_t n, size_t width);

#endif
