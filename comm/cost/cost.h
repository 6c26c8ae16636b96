/* Calls, messages and bytes per step of each strategy, and the names, properties and limits of
 * strategies. Plain functions without MPI, since the runner uses them too. */
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

/* Variants of the strategies that have several variants. */
enum strategy_variant {
    VARIANT_usual, /* for strategies without variants */
#define VARIANT(strategy, name, flags, summary) VARIANT_##strategy##_##name,
#include "comm/cost/strategies.def"
    VARIANTS
};

/* Way in which MPI progresses messages while a rank computes, for strategies with
 * STRATEGY_OVERLAPS. */
enum overlap_kind {
#define OVERLAP(name, summary) OVERLAP_##name,
#include "comm/cost/overlaps.def"
    OVERLAPS
};
const char *const *overlap_names(void);

/* Place in a step at which gradients are divided, so that their sum becomes a mean. */
enum gradient_scale {
#define GRADIENT_SCALE(name, summary) GRADIENT_SCALE_##name,
#include "comm/cost/gradient_scales.def"
    GRADIENT_SCALES
};

/* Algorithm of the MPI library's allreduce (sync.algorithm). */
enum allreduce_algorithm {
#define ALGORITHM(name, blocking, nonblocking, summary) ALGORITHM_##name,
#include "comm/cost/algorithms.def"
    ALGORITHMS
};

/* Call for a sum whose result a rank needs at once: MPI_Allreduce, or MPI_Iallreduce tested until
 * the sum is complete. MPICH switches algorithms at different sizes for the two calls. */
enum call_kind { CALL_BLOCKING, CALL_NONBLOCKING };

enum strategy_flag {
    STRATEGY_EXACT = 1,          /* training on p ranks equals serial training, up to rounding */
    STRATEGY_DETERMINISTIC = 2,  /* repeated runs on equally many ranks get the same bits */
    STRATEGY_OVERLAPS = 4,       /* communicates during backward */
    STRATEGY_OWNS_OPTIMIZER = 8, /* optimizer state is sharded; `save` collects it on rank 0 only */
    STRATEGY_LOCAL_MEAN = 32,    /* expects gradients divided by (global batch / replicas);
                                    STRATEGY_OWN_MEAN takes precedence */
    STRATEGY_REPLICATED = 64,    /* after each step, all ranks have equal weights, but not the
                                    weights of serial training */
    /* weights differ between ranks or are sharded; eval_begin writes one model for evaluation */
    STRATEGY_AVERAGED = 128,
    STRATEGY_COMPRESSES = 256,      /* gradient sums can be compressed (sync.compress) */
    STRATEGY_SHARES_WEIGHTS = 1024, /* in each step a rank gets updated weights from others */
    STRATEGY_OWN_MEAN = 2048,       /* expects gradients divided by the rank's sample count */
    STRATEGY_ONE_NODE = 4096,       /* all ranks must share memory */
    STRATEGY_ALGORITHMS = 512, /* calls MPI_Allreduce or MPI_Iallreduce and reads sync.algorithm */
};

enum compressor_kind {
#define COMPRESSOR(name, flags, source, summary) COMPRESSOR_##name,
#include "comm/cost/compressors.def"
    COMPRESSORS
};

/* Options sync.* in the order of their rows in strategies.def, then in compressors.def. */
enum sync_option {
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) SYNC_##key,
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) SYNC_##key,
#include "comm/cost/compressors.def"
    SYNC_OPTIONS
};

enum compressor_flag {
    COMPRESSOR_FEEDBACK = 1,   /* adds a step's compression error to the next step's gradients */
    COMPRESSOR_ALGORITHMS = 2, /* calls MPI_Allreduce and reads sync.algorithm */
    COMPRESSOR_OVERFLOWS = 4,  /* counts the numbers that overflowed to infinity */
    COMPRESSOR_OVERLAPS = 8,   /* can sum during backward */
};

/* Value of wire_source if the strategy sends its own messages, which are counted. */
#define WIRE_COUNTED "counted"

/* Communication of one rank in a period of `steps` steps, after which the strategy's messages
 * repeat. messages_wire and bytes_wire count sent messages only. */
struct cost {
    uint64_t steps;
    uint64_t calls;         /* MPI calls */
    uint64_t bytes_payload; /* bytes given to MPI calls */
    uint64_t messages_wire, bytes_wire;
    unsigned algorithms; /* allreduce algorithms that the MPI library runs, one bit each */
    /* origin of bytes_wire: "formula: ring" (for example), WIRE_COUNTED or "none" */
    const char *wire_source;
};

/* Options of a strategy. Pointers are borrowed. */
struct strategy_config {
    enum strategy_variant variant; /* VARIANT_usual: the strategy has no variants */
    enum allreduce_algorithm algorithm;
    enum call_kind calls;            /* MPI call for sums that a rank immediately waits for */
    enum compressor_kind compressor; /* COMPRESSOR_none if the strategy lacks STRATEGY_COMPRESSES */
    /* training precision; bf16 or fp16 needs the compressor of the same name, unless the strategy
     * sends nothing */
    enum precision precision;
    enum gradient_scale scale; /* must be GRADIENT_SCALE_loss if the strategy has
                                  STRATEGY_LOCAL_MEAN */
    size_t micro_batches;      /* number of micro-batches per step; 0 means 1 */
    /* values of the sync.* options, in the units of strategies.def and compressors.def */
    double options[SYNC_OPTIONS];
    const int *node_of; /* [ranks] node of each rank; NULL: node_map_of chooses nodes */
    const size_t *rows; /* [tensors] rows of each matrix, 0 for other tensors; NULL: all 0 */
    const int *ops;     /* [tensors] index of the tensor's op, ascending; NULL: one op per tensor */
    size_t page_bytes;  /* size of a page, the unit in which memory is freed; 0: one byte */
};

/* Converts an option in MiB to bytes. */
static inline size_t sync_option_bytes(const struct strategy_config *config,
                                       enum sync_option option)
{
    return (size_t)(config->options[option] * 0x1p20);
}

/* Returns the communication of `rank`. Tensor i has counts[i] numbers of `width` bytes, 0 <= i <
 * n. */
struct cost strategy_cost(enum strategy_kind strategy, const struct strategy_config *config,
                          int rank, int ranks, const size_t *counts, size_t n, size_t width);

/* Adds one allreduce of `count` numbers to *c, and updates c->wire_source, which names the
 * algorithms. config->calls and config->algorithm choose the algorithm of this allreduce. */
void cost_add_sum(struct cost *c, const struct strategy_config *config, int rank, int ranks,
                  size_t count, size_t width);

/* Returns the factor that scales *cost to the communication of steps [first, first + n) of a run.
 * Steps count from 1, and *cost covers cost->steps steps. */
double strategy_times(enum strategy_kind strategy, const struct strategy_config *config,
                      const struct cost *cost, uint64_t first, uint64_t n);

/* Peak memory of one rank in a step (bytes): parameters, gradients, optimizer state, and ZeRO's
 * buffers for messages in transit (0 without ZeRO). */
struct sync_memory {
    size_t params, grads, state, buffers;
};
/* Returns the peak memory of `rank` (bytes): parameters, gradients and optimizer state, rounded up
 * to pages, and ZeRO's message buffers. The optimizer keeps `slots` numbers of state per parameter.
 * Other arguments are as in strategy_cost. */
struct sync_memory strategy_memory(enum strategy_kind strategy,
                                   const struct strategy_config *config, int rank, int ranks,
                                   const size_t *counts, size_t n, size_t width, int slots);
/* Returns the memory of a rank by DeepSpeed's formulas (Rajbhandari et al. 2020, section 5) for
 * `count` parameters, without buffers. With a precision of 16 bits, weights and gradients have half
 * the width, and the state includes a copy of the weights in full precision. */
struct sync_memory strategy_memory_formula(enum strategy_kind strategy, enum precision precision,
                                           int ranks, size_t count, size_t width, int slots);

/* A spec's option that requires a property of the strategy: the option's key, and its value as
 * text. If `key` is NULL, no option requires the property. */
struct sync_demand {
    const char *key, *text;
};
struct sync_demands {
    int ranks;
    struct sync_demand layer_norms; /* option that requires the norm of each layer's whole gradient
                                    (key NULL: none) */
    struct sync_demand clipping;    /* option that requires the norm of the whole gradient, for
                                    clipping (key NULL: none) */
    struct sync_demand lockstep; /* option that makes ranks communicate within a step, so that the
                                    strategy must keep all ranks in the same step at the same time
                                    (key NULL: none) */
};

/* Check whether the strategy or the compressor supports its options. If not, return ERR_ARGUMENT
 * and set *key to the option to change. */
enum status strategy_check(enum strategy_kind strategy, const struct strategy_config *config,
                           const struct sync_demands *demands, const char **key, struct error *e);
enum status compressor_check(const struct strategy_config *config, const char **key,
                             struct error *e);

/* Returns the minimum communication time that backward cannot hide; NAN if strategy_desc.overlaps
 * is false. `ready` [n]: time from the start of backward until each gradient is ready. `backward`:
 * duration of backward. `comm`: total time of all sums. All times have the same unit. */
double strategy_exposed(enum strategy_kind strategy, const struct strategy_config *config,
                        const size_t *counts, const double *ready, size_t n, size_t width,
                        double backward, double comm);

const char *const *strategy_names(void);              /* [STRATEGIES] names by enum strategy_kind */
unsigned strategy_flags(enum strategy_kind strategy); /* returns the flags that all variants of the
                                                         strategy have */
/* Returns the flags of a strategy and its variant. VARIANT_usual adds none. */
unsigned strategy_config_flags(enum strategy_kind strategy, enum strategy_variant variant);
/* Returns the strategy that implements sync.zero = `stage` for sync.strategy = `strategy`. For
 * stage 0, this is `strategy` itself. Returns STRATEGIES if no strategy implements the stage. */
enum strategy_kind strategy_of_stage(enum strategy_kind strategy, int stage);
/* Lists the strategies that support ZeRO stage `stage` (1 to 3). Returns their number. */
size_t strategy_stage_list(int stage, const char *names[STRATEGIES]);
/* Returns the stage of ZeRO that a strategy implements, or 0. */
int strategy_stage(enum strategy_kind strategy);

/* Lists the strategies that have all `flags`. Returns their number. */
size_t strategy_list(unsigned flags, const char *names[STRATEGIES]);

/* Returns how many of n numbers topk sends: n * share, rounded, but at least 1 if n > 0. */
size_t topk_count(size_t n, double share);
/* Returns the bytes of a packet of k numbers with their indices, a multiple of 8. */
size_t topk_packet_bytes(size_t k, size_t width);
/* Returns the bytes of a packet of n signs and one magnitude per tensor, a multiple of 8. */
size_t sign_packet_bytes(size_t tensors, size_t n, size_t width);

/* Low-rank factors of a tensor in PowerSGD: P [rank][side] and Q [rank][other]. rank = 0: the
 * tensor is not a matrix and is not factored. */
struct low_rank {
    size_t rows, columns, rank;
    size_t side, other; /* shorter and longer side of the matrix */
};
struct low_rank low_rank_of(size_t count, size_t rows, int rank);
/* Return how many numbers a tensor contributes to the allreduce of the factors P (low_rank_p) or of
 * the factors Q (low_rank_q). A tensor that is not a matrix is summed whole, together with the
 * factors P. It contributes nothing to Q. */
size_t low_rank_p(const struct low_rank *shape, size_t count);
size_t low_rank_q(const struct low_rank *shape);

const char *const *compressor_names(void); /* [COMPRESSORS] names by enum compressor_kind */
unsigned compressor_flags(enum compressor_kind compressor);
const char *compressor_source(enum compressor_kind compressor);
/* compressor_title writes the option that determines the size of a compressor's saved state, such
 * as " of rank 2", to `text` (COMPRESSOR_TITLE bytes); "" if there is none. Returns `text`. */
#define COMPRESSOR_TITLE 32
const char *compressor_title(const struct strategy_config *config, char text[COMPRESSOR_TITLE]);
const char *const *algorithm_names(void); /* [ALGORITHMS] names by enum allreduce_algorithm */

/* Returns a strategy's variant by name; VARIANTS: the strategy has no such variant. "usual" gives
 * the first variant, or VARIANT_usual if the strategy has no variants. */
enum strategy_variant strategy_variant_find(enum strategy_kind strategy, const char *name);
/* Lists "usual" and the names of the strategy's variants. Returns how many names are listed,
 * "usual" included. */
size_t strategy_variant_list(enum strategy_kind strategy, const char *names[VARIANTS]);
const char *strategy_variant_name(enum strategy_variant variant);

/* Header of each tensor in a pickled gradient. */
struct pickle_header {
    uint64_t tensor, count;
};
/* Returns the size in bytes of a gradient in scalebench's own pickle format: n tensors, each a
 * struct pickle_header and counts[i] numbers of `width` bytes. */
size_t pickle_bytes(const size_t *counts, size_t n, size_t width);
