#include "comm/cost/cost.h"

static const struct {
    const char *name;
    unsigned flags;
    const char *source, *summary;
} TABLE[STRATEGIES] = {
#define STRATEGY(name, flags, source, summary) {#name, flags, source, summary},
#include "comm/cost/strategies.def"
#undef STRATEGY
};

static const char *const NAMES[STRATEGIES] = {
#define STRATEGY(name, flags, source, summary) #name,
#include "comm/cost/strategies.def"
#undef STRATEGY
};

const char *const *strategy_names(void)
{
    return NAMES;
}

unsigned strategy_flags(enum strategy_kind strategy)
{
    return TABLE[strategy].flags;
}

const char *strategy_source(enum strategy_kind strategy)
{
    return TABLE[strategy].source;
}

const char *strategy_summary(enum strategy_kind strategy)
{
    return TABLE[strategy].summary;
}
