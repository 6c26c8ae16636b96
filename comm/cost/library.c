/* Collective calls as MPICH runs them, and the sizes at which MPICH changes its algorithms. */
#include "comm/cost/library.h"

#include "comm/cost/description.h"
#include "comm/cost/library_rules.h"

/* Sizes and numbers of ranks at which MPICH 4.0.2 changes its algorithm
 * (maint/tuning/coll/mpir/generic.json). A size equal to a limit counts as short: in that file,
 * "avg_msg_size<=12288" selects the binomial algorithm. */
#define REDUCE_SHORT_BYTES     2048
#define BCAST_SHORT_BYTES      12288
#define BCAST_MIDDLE_BYTES     524288 /* used only if the number of ranks is a power of two */
#define BCAST_MIN_RANKS        8
#define ALLREDUCE_SHORT_BYTES  8
#define IALLREDUCE_SHORT_BYTES 2048

/* Returns a call of the MPI library with `count` numbers. `cut`: how numbers are cut into blocks.
 * Each transfer is one message, even if it is empty. */
static struct operation call_of(const struct schedule_rule *rule, enum cut cut, size_t count,
                                size_t width)
{
    return (struct operation){
        .rule = rule, .count = count, .width = width, .single = true, .cut = cut, .is_call = true};
}

/* ---- Allreduce ---- */

enum allreduce_algorithm allreduce_algorithm(enum allreduce_algorithm asked, enum call_kind call,
                                             int ranks, size_t count, size_t width)
{
    size_t limit = call == CALL_BLOCKING ? ALLREDUCE_SHORT_BYTES : IALLREDUCE_SHORT_BYTES;
    bool cuttable = count >= (size_t)fold_of(ranks).blocks;
    if (asked == ALGORITHM_auto)
        asked = count * width <= limit ? ALGORITHM_recursive_doubling
                                       : ALGORITHM_reduce_scatter_allgather;
    return asked == ALGORITHM_reduce_scatter_allgather && !cuttable ? ALGORITHM_recursive_doubling
                                                                    : asked;
}

/* Returns an allreduce call that runs `algorithm`. A tree is binary, as in the strategy `tree` and,
 * by default, in MPICH. */
static struct operation allreduce_call(enum allreduce_algorithm algorithm, size_t count,
                                       size_t width)
{
    switch (algorithm) {
    case ALGORITHM_recursive_doubling:
        return call_of(strategy_desc_recursive_doubling.schedule, CUT_EVENLY, count, width);
    case ALGORITHM_ring:
        return call_of(&rule_library_ring, CUT_ROUNDED_UP, count, width);
    case ALGORITHM_tree:
        return call_of(strategy_desc_tree.schedule, CUT_EVENLY, count, width);
    case ALGORITHM_auto:
    case ALGORITHM_reduce_scatter_allgather:
    case ALGORITHMS:
        break;
    }
    return call_of(strategy_desc_rabenseifner.schedule, CUT_REST_LAST, count, width);
}

struct operation library_allreduce(enum allreduce_algorithm asked, enum call_kind call, int ranks,
                                   size_t count, size_t width)
{
    enum allreduce_algorithm algorithm = allreduce_algorithm(asked, call, ranks, count, width);
    struct operation op = allreduce_call(algorithm, count, width);
    op.algorithm = count > 0 ? 1u << algorithm : 0;
    if (ranks == 1 || count == 0)
        op.rule = NULL;
    return op;
}

const char *allreduce_source(unsigned algorithms)
{
    bool doubling = algorithms & 1u << ALGORITHM_recursive_doubling;
    if (algorithms & 1u << ALGORITHM_ring)
        return "formula: ring";
    if (algorithms & 1u << ALGORITHM_tree)
        return "formula: tree";
    if (algorithms & 1u << ALGORITHM_reduce_scatter_allgather)
        return doubling ? "formula: recursive_doubling, reduce_scatter_allgather"
                        : "formula: reduce_scatter_allgather";
    return doubling ? "formula: recursive_doubling" : "none";
}

/* ---- Through the root ---- */

bool reduce_is_long(int ranks, size_t count, size_t width)
{
    return count * width > REDUCE_SHORT_BYTES && count >= (size_t)fold_of(ranks).blocks;
}

struct operation library_reduce(int ranks, size_t count, size_t width)
{
    bool is_long = reduce_is_long(ranks, count, width);
    return call_of(is_long ? &rule_reduce_scatter_gather : &rule_binomial_reduce, CUT_REST_LAST,
                   count, width);
}

enum bcast_algorithm bcast_algorithm(int ranks, size_t bytes)
{
    if (bytes <= BCAST_SHORT_BYTES || ranks < BCAST_MIN_RANKS)
        return BCAST_BINOMIAL;
    bool power_of_two = fold_of(ranks).folded == 0;
    return power_of_two && bytes <= BCAST_MIDDLE_BYTES ? BCAST_SCATTER_DOUBLING
                                                       : BCAST_SCATTER_RING;
}

struct operation library_bcast(int ranks, size_t bytes)
{
    static const struct schedule_rule *const rules[] = {
        [BCAST_BINOMIAL] = &rule_binomial_bcast,
        [BCAST_SCATTER_DOUBLING] = &rule_scatter_doubling,
        [BCAST_SCATTER_RING] = &rule_scatter_ring,
    };
    return call_of(rules[bcast_algorithm(ranks, bytes)], CUT_ROUNDED_UP, bytes, 1);
}

struct operation library_gather(size_t bytes)
{
    return call_of(&rule_binomial_gather, CUT_EVENLY, bytes, 1);
}

struct operation library_scatter(size_t bytes)
{
    return call_of(&rule_binomial_scatter, CUT_EVENLY, bytes, 1);
}
