/* The names behind ENUM and TEXTS options. Those that other parts own are read from their lists;
 * the plain ones stand here. */
#include "bench/spec/spec.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define NAMES_DEFINE(list, ...)                                                                    \
    const char *const *names_##list(size_t *n)                                                     \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        *n = COUNT(names);                                                                         \
        return names;                                                                              \
    }

NAMES_DEFINE(scaling, "none", "strong", "weak", "epoch")
NAMES_DEFINE(captions, "short", "full", "none")
NAMES_DEFINE(lr_rules, "constant", "linear", "sqrt")
NAMES_DEFINE(lr_schedules, "constant", "step", "cosine")
NAMES_DEFINE(lr_warmups, "linear", "log")
NAMES_DEFINE(augments, "none", "crop_flip")
NAMES_DEFINE(batch_norms, "local", "sync", "frozen")
NAMES_DEFINE(remainders, "uneven", "drop", "pad")
NAMES_DEFINE(shards, "global", "contiguous")
NAMES_DEFINE(call_checks, "none", "calls")
NAMES_DEFINE(injects, "none", "fixed", "exponential", "pareto")
NAMES_DEFINE(inject_phases, "backward", "load", "forward", "sync", "evaluation", "checkpoint",
             "start", "read", "update", "end")
NAMES_DEFINE(plans, "fast", "reference", "exact")
NAMES_DEFINE(tunes, "fixed", "start")
NAMES_DEFINE(binds, "none", "hwthread", "core", "numa")
NAMES_DEFINE(orders, "compact", "scatter")
NAMES_DEFINE(oversubscribe, "refuse", "allow")
NAMES_DEFINE(checks, "step", "end", "none")
NAMES_DEFINE(peer_layouts, "auto", "contiguous", "channels_last")

const char *const *names_workloads(size_t *n)
{
    static const char *const names[] = {
#define WORKLOAD(name, helper, summary) #name,
#include "bench/spec/workloads.def"
#undef WORKLOAD
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_sites(size_t *n)
{
    static const char *const names[] = {
#define SITE(name, summary) #name,
#include "bench/spec/sites.def"
#undef SITE
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_figures(size_t *n)
{
    static const char *const names[] = {
#define FIGURE(name, kind, model, quantity, summary) #name,
#include "bench/spec/figures.def"
#undef FIGURE
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_quantities(size_t *n)
{
    static const char *const names[] = {
#define QUANTITY(name, source, raw, column, most, title) #name,
#include "bench/spec/quantities.def"
#undef QUANTITY
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_data_sets(size_t *n)
{
    static const char *const names[] = {
#define DATA_SET(name, c, h, w, classes, summary) #name,
#include "bench/spec/data_sets.def"
#undef DATA_SET
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_data_reads(size_t *n)
{
    static const char *const names[] = {
#define DATA_READ(name, summary) #name,
#include "bench/spec/data_reads.def"
#undef DATA_READ
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_optimizers(size_t *n)
{
    static const char *const names[] = {
#define OPTIMIZER(name, summary) #name,
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_overlaps(size_t *n)
{
    *n = OVERLAPS;
    return overlap_names();
}

/* Of all strategies; config_variant says which of them the chosen one knows. */
const char *const *names_variants(size_t *n)
{
    static const char *const names[] = {
        "usual",
#define VARIANT(strategy, name, flags, summary) #name,
#include "comm/cost/strategy_variants.def"
#undef VARIANT
    };
    *n = COUNT(names);
    return names;
}

const char *const *names_compressors(size_t *n)
{
    *n = COMPRESSORS;
    return compressor_names();
}

const char *const *names_algorithms(size_t *n)
{
    *n = ALGORITHMS;
    return algorithm_names();
}

const char *const *names_strategies(size_t *n)
{
    static const char *const names[] = {
#define STRATEGY(name, flags, source, summary) #name,
#include "comm/cost/strategies.def"
#undef STRATEGY
    };
    *n = COUNT(names);
    return names;
}
