/* Every variant of every exact strategy, with small message sizes so that messages are cut. */
#pragma once

#include "comm/tests/sync_fixture.h"

#define SEGMENT_BYTES 1024
#define CAP_BYTES     4096
#define CYCLE_NS      200000

struct exact_config {
    enum strategy_kind strategy;
    enum strategy_variant variant;
};

static struct exact_config configs[STRATEGIES + VARIANTS];
static int n_configs;

static inline void list_configs(void)
{
    const char *names[VARIANTS];
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        size_t n = strategy_variant_list(kind, names);
        for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
            enum strategy_variant variant = strategy_variant_find(kind, names[i]);
            if (strategy_config_flags(kind, variant) & STRATEGY_EXACT)
                configs[n_configs++] = (struct exact_config){kind, variant};
        }
    }
}

static inline void setup(struct fixture *f)
{
    fixture_init(f);
    f->config.options[SYNC_segment] = SEGMENT_BYTES;
    f->config.options[SYNC_cap_mib] = CAP_BYTES / 0x1p20;
    f->config.options[SYNC_first_cap_mib] = 0;
    f->config.options[SYNC_zero_persist] = 200;
    f->config.options[SYNC_fusion_mib] = CAP_BYTES / 0x1p20;
    f->config.options[SYNC_cycle_ms] = CYCLE_NS / 1e6;
}

static inline bool open_config(struct fixture *f, struct exact_config config, size_t n)
{
    fixture_cut(f, n);
    f->config.variant = config.variant;
    return fixture_open(f, config.strategy);
}

/* Runs two steps, which must give twice the sums: state left by the first step would show in the
 * second. */
static inline bool sums_exactly(struct fixture *f)
{
    bool good = true;
    for (int again = 1; again <= 2; again++) {
        fixture_fill(f);
        good = fixture_step(f, 1) && good;
        good = good && fixture_has_summed(f, again);
    }
    return good;
}
