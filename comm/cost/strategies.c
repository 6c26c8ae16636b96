#include <stdbool.h>
#include <string.h>

#include "comm/cost/cost.h"

static const unsigned FLAGS[STRATEGIES] = {
#define STRATEGY(name, flags, source, summary) flags,
#include "comm/cost/strategies.def"
};

static const char *const NAMES[STRATEGIES] = {
#define STRATEGY(name, flags, source, summary) #name,
#include "comm/cost/strategies.def"
};

static const struct {
    unsigned flags;
    const char *source;
} COMPRESSOR_TABLE[COMPRESSORS] = {
#define COMPRESSOR(name, flags, source, summary) {flags, source},
#include "comm/cost/compressors.def"
};

static const char *const COMPRESSOR_NAMES[COMPRESSORS] = {
#define COMPRESSOR(name, flags, source, summary) #name,
#include "comm/cost/compressors.def"
};

static const struct {
    enum strategy_kind strategy;
    enum strategy_variant variant;
    unsigned flags;
    const char *name;
} VARIANT_TABLE[] = {
#define VARIANT(strategy, name, flags, summary)                                                    \
    {STRATEGY_##strategy, VARIANT_##strategy##_##name, flags, #name},
#include "comm/cost/strategies.def"
};
#define VARIANT_ROWS (sizeof VARIANT_TABLE / sizeof *VARIANT_TABLE)

static const struct {
    enum strategy_kind strategy;
    int stage;
    enum strategy_kind by;
} STAGE_TABLE[] = {
#define ZERO_STAGE(strategy, stage, by) {STRATEGY_##strategy, stage, STRATEGY_##by},
#include "comm/cost/strategies.def"
};
#define STAGE_ROWS (sizeof STAGE_TABLE / sizeof *STAGE_TABLE)

static const char *const OVERLAP_NAMES[OVERLAPS] = {
#define OVERLAP(name, summary) #name,
#include "comm/cost/overlaps.def"
};

const char *const *overlap_names(void)
{
    return OVERLAP_NAMES;
}

const char *const *strategy_names(void)
{
    return NAMES;
}

unsigned strategy_flags(enum strategy_kind strategy)
{
    return FLAGS[strategy];
}

unsigned strategy_config_flags(enum strategy_kind strategy, enum strategy_variant variant)
{
    unsigned flags = strategy_flags(strategy);
    for (size_t i = 0; i < VARIANT_ROWS; i++)
        if (VARIANT_TABLE[i].variant == variant)
            flags |= VARIANT_TABLE[i].flags;
    return flags;
}

enum strategy_kind strategy_of_stage(enum strategy_kind strategy, int stage)
{
    for (size_t i = 0; i < STAGE_ROWS; i++)
        if (STAGE_TABLE[i].strategy == strategy && STAGE_TABLE[i].stage == stage)
            return STAGE_TABLE[i].by;
    return stage == 0 ? strategy : STRATEGIES;
}

int strategy_stage(enum strategy_kind strategy)
{
    for (size_t i = 0; i < STAGE_ROWS; i++)
        if (STAGE_TABLE[i].by == strategy)
            return STAGE_TABLE[i].stage;
    return 0;
}

size_t strategy_stage_list(int stage, const char *names[STRATEGIES])
{
    size_t n = 0;
    for (size_t i = 0; i < STAGE_ROWS; i++)
        if (STAGE_TABLE[i].stage == stage)
            names[n++] = NAMES[STAGE_TABLE[i].strategy];
    return n;
}

size_t strategy_list(unsigned flags, const char *names[STRATEGIES])
{
    size_t n = 0;
    for (int s = 0; s < STRATEGIES; s++)
        if ((FLAGS[s] & flags) == flags)
            names[n++] = NAMES[s];
    return n;
}

const char *const *compressor_names(void)
{
    return COMPRESSOR_NAMES;
}

unsigned compressor_flags(enum compressor_kind compressor)
{
    return COMPRESSOR_TABLE[compressor].flags;
}

const char *compressor_source(enum compressor_kind compressor)
{
    return COMPRESSOR_TABLE[compressor].source;
}

const char *const *algorithm_names(void)
{
    static const char *const names[] = {
#define ALGORITHM(name, blocking, nonblocking, summary) #name,
#include "comm/cost/algorithms.def"
    };
    return names;
}

enum strategy_variant strategy_variant_find(enum strategy_kind strategy, const char *name)
{
    bool usual = strcmp(name, "usual") == 0, several = false;
    for (size_t i = 0; i < VARIANT_ROWS; i++) {
        if (VARIANT_TABLE[i].strategy != strategy)
            continue;
        several = true;
        if (usual || strcmp(VARIANT_TABLE[i].name, name) == 0)
            return VARIANT_TABLE[i].variant;
    }
    return usual && !several ? VARIANT_usual : VARIANTS;
}

size_t strategy_variant_list(enum strategy_kind strategy, const char *names[VARIANTS])
{
    size_t n = 0;
    names[n++] = "usual";
    for (size_t i = 0; i < VARIANT_ROWS; i++)
        if (VARIANT_TABLE[i].strategy == strategy)
            names[n++] = VARIANT_TABLE[i].name;
    return n;
}

const char *strategy_variant_name(enum strategy_variant variant)
{
    for (size_t i = 0; i < VARIANT_ROWS; i++)
        if (VARIANT_TABLE[i].variant == variant)
            return VARIANT_TABLE[i].name;
    return "usual";
}
