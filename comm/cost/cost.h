/* Calls, messages and bytes of a step of each strategy, and what the strategies are called, can do and need. Plain
 * functions, no MPI: the runner lists strategies with them, and tests compare them with counted messages. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"
#include "kernels/base/precision.h"

enum strategy_kind {
#define STRATEGY(name, flags, source, summary) STRATEGY_##name,
#include "comm/cost/strategies.def"
    STRATEGIES
};

/* The variants of strategies that come in several. */
enum strategy_variant {
    VARIANT_usual, /* the only configuration of a strategy that has no other */
#define VARIANT(strategy, name, flags, summary) VARIANT_##strategy##_##name,
#include "comm/cost/strategies.def"
    VARIANTS
};

/* When messages under way get attention while a rank computes; of strategies with STRATEGY_OVERLAPS. */
enum overlap_kind {
#define OVERLAP(name, summary) OVERLAP_##name,
#include "comm/cost/overlaps.def"
    OVERLAPS
};
const char *const *overlap_names(void);

/* Where the gradient of all ranks becomes a mean. */
enum gradient_scale {
#define GRADIENT_SCALE(name, summary) GRADIENT_SCALE_##name,
#include "comm/cost/gradient_scales.def"
    GRADIENT_SCALES
};

/* By which of its algorithms the library sums, for strategies that let it. */
enum allreduce_algorithm {
#define ALGORITHM(name, blocking, nonblocking, summary) ALGORITHM_##name,
#include "comm/cost/algorithms.def"
    ALGORITHMS
};

/* How a rank calls the library's allreduce where it waits for the sum at once: the call that waits, or the other one and
 * tests of it. MPICH chooses algorithms for them at different sizes. */
enum call_kind { CALL_BLOCKING, CALL_NONBLOCKING };

enum strategy_flag {
    STRATEGY_EXACT = 1,          /* p ranks compute what one rank would, up to rounding */
    STRATEGY_DETERMINISTIC = 2,  /* the same bits every time at the same p */
    STRATEGY_OVERLAPS = 4,       /* communicates during backward */
    STRATEGY_OWNS_OPTIMIZER = 8, /* runs the optimizer on a share of the parameters */
    STRATEGY_LOCAL_MEAN = 32, /* wants gradients divided by a rank's samples, not by all ranks' */
    STRATEGY_REPLICATED = 64, /* not exact, but replicas are equal to the bit after every step */
    STRATEGY_AVERAGED =
        128, /* replicas differ or lack parts; eval_begin makes one model of them, equal on all */
    STRATEGY_COMPRESSES = 256,      /* a compressor can stand in for its sum */
    STRATEGY_SHARES_WEIGHTS = 1024, /* ranks take their weights from others after every step */
    STRATEGY_OWN_MEAN =
        2048, /* a local mean that no mean over ranks follows: of a rank's own images */
    STRATEGY_ONE_NODE = 4096,  /* ranks share memory */
    STRATEGY_ALGORITHMS = 512, /* sums by MPI_Allreduce or MPI_Iallreduce: sync.algorithm */
};

enum compressor_kind {
#define COMPRESSOR(name, flags, source, summary) COMPRESSOR_##name,
#include "comm/cost/compressors.def"
    COMPRESSORS
};

/* The options that strategies and compressors bring, in the order of their rows. */
enum sync_option {
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) SYNC_##key,
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) SYNC_##key,
#include "comm/cost/compressors.def"
    SYNC_OPTIONS
};

enum compressor_flag {
    COMPRESSOR_FEEDBACK = 1,   /* what was left out is added to the next step's gradients */
    COMPRESSOR_ALGORITHMS = 2, /* sums by MPI_Allreduce: sync.algorithm */
    COMPRESSOR_OVERFLOWS = 4,  /* counts what became infinite */
    COMPRESSOR_OVERLAPS = 8,   /* its sums are on their way while backward goes on */
};

/* The messages of a step are a strategy's own, so that what is sent can be counted. */
#define WIRE_COUNTED "counted"

/* What one rank does in `steps` steps: as many as the strategy takes until it begins again. Messages and bytes on the wire
 * are those that the rank sends. */
struct cost {
    uint64_t steps;
    uint64_t calls;         /* at the MPI boundary */
    uint64_t bytes_payload; /* handed to those calls */
    uint64_t messages_wire, bytes_wire;
    unsigned algorithms;     /* that the library sums by, a bit each */
    const char *wire_source; /* "formula: ring", or WIRE_COUNTED, or "none" */
};

/* What a strategy that has a choice is to do. */
struct strategy_config {
    enum strategy_variant variant; /* one that the strategy has */
    enum allreduce_algorithm algorithm;
    enum call_kind calls;            /* of sums that a rank waits for at once */
    enum compressor_kind compressor; /* none, or the strategy has STRATEGY_COMPRESSES */
    enum precision
        precision; /* of 16 bits the compressor is that of the same name, or nothing is sent */
    enum gradient_scale scale;    /* loss, or the strategy has not STRATEGY_LOCAL_MEAN */
    size_t micro_batches;         /* of a step; 0: one */
    double options[SYNC_OPTIONS]; /* numbers in the units of their rows; of sizes bytes */
    /* What a strategy learns of where it runs, borrowed. */
    const int *node_of; /* [ranks] the node of each, of strategies that know of nodes; or NULL */
    const size_t *rows; /* of each tensor as a matrix, 0: it is none; NULL: none is */
    const int *ops;     /* of each tensor the op that reads it, numbers that rise; NULL: its own */
    size_t
        page_bytes; /* of a page, which is in memory as a whole or not at all; 0: any byte may be */
};

/* An option in MiB as bytes. */
static inline size_t sync_option_bytes(const struct strategy_config *config,
                                       enum sync_option option)
{
    return (size_t)(config->options[option] * 0x1p20);
}

/* Counts of `strategy` for rank `rank` of `ranks`, with tensors of counts[n] numbers of `width` bytes. */
struct cost strategy_cost(enum strategy_kind strategy, const struct strategy_config *config,
                          int rank, int ranks, const size_t *counts, size_t n, size_t width);

/* Adds an allreduce of `count` numbers that the library makes besides the operations of a strategy, by the algorithm of
 * config->calls and config->algorithm, which becomes part of the source. */
void cost_add_sum(struct cost *c, const struct strategy_config *config, int rank, int ranks,
                  size_t count, size_t width);

/* How often steps [first, first + n) of a run, numbered from 1, pay `cost`, which is that of cost->steps of them. */
double strategy_times(enum strategy_kind strategy, const struct strategy_config *config,
                      const struct cost *cost, uint64_t first, uint64_t n);

/* Bytes that one rank has of each arena at the most within a step, in pages of config->page_bytes, and of what stages of ZeRO keep beside them
 * for messages that are on their way (0 of other strategies). */
struct sync_memory {
    size_t params, grads, state, buffers;
};
/* Of an optimizer with so many numbers of state a parameter; the rest as of strategy_cost. */
struct sync_memory strategy_memory(enum strategy_kind strategy,
                                   const struct strategy_config *config, int rank, int ranks,
                                   const size_t *counts, size_t n, size_t width, int slots);
/* The same of `count` numbers by DeepSpeed's formulas (Rajbhandari et al. 2020, section 5), without what is on its
 * way: state, from stage 2 on gradients, at stage 3 parameters too are shared out in equal parts. Where weights have
 * 16 bits, so have gradients, and the state has a copy of the weights in full besides. */
struct sync_memory strategy_memory_formula(enum strategy_kind strategy, enum precision precision,
                                           int ranks, size_t count, size_t width, int slots);

/* What other options ask of a strategy, by the key and the text of the one that does; key NULL:
 * none does. */
struct sync_demand {
    const char *key, *text;
};
struct sync_demands {
    int ranks;
    struct sync_demand layer_norms; /* of the whole gradient, for the optimizer */
    struct sync_demand clipping;    /* a norm of the whole gradient */
    struct sync_demand lockstep;    /* ranks wait for each other within a step or between two */
};

/* Whether a strategy and its compressor can do what they are configured to; ERR_ARGUMENT says what
 * does not go together, and *key names the option to change. */
enum status strategy_check(enum strategy_kind strategy, const struct strategy_config *config,
                           const struct sync_demands *demands, const char **key, struct error *e);
enum status compressor_check(const struct strategy_config *config, const char **key,
                             struct error *e);

/* What stays exposed at best, in the unit of the times, of a strategy that sums while backward
 * runs; NAN of others. ready[n]: when backward has finished each tensor, from its begin; backward:
 * when it ends; comm: all sums together. */
double strategy_exposed(enum strategy_kind strategy, const struct strategy_config *config,
                        const size_t *counts, const double *ready, size_t n, size_t width,
                        double backward, double comm);

const char *const *strategy_names(void);              /* STRATEGIES names */
unsigned strategy_flags(enum strategy_kind strategy); /* those that all its variants have */
/* Those of one configuration, which is not the strategy's first when `variant` is VARIANT_usual. */
unsigned strategy_config_flags(enum strategy_kind strategy, enum strategy_variant variant);
/* What does stage `stage` of ZeRO in place of `strategy`, which itself is stage 0; STRATEGIES: nothing
 * does. And the names of those that have it; returns how many. */
enum strategy_kind strategy_of_stage(enum strategy_kind strategy, int stage);
size_t strategy_stage_list(int stage, const char *names[STRATEGIES]);
/* The stage of ZeRO that a strategy does; 0: none. */
int strategy_stage(enum strategy_kind strategy);

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
/* What its memory in a checkpoint depends on besides the net: " of rank 2", or "". */
#define COMPRESSOR_TITLE 32
const char *compressor_title(const struct strategy_config *config, char text[COMPRESSOR_TITLE]);
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
