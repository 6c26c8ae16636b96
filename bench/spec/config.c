#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/spec.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/names.h"

enum status config_set(struct config *config, const struct spec_option *option, const char *text,
                       struct mark mark, struct error *e)
{
    struct value *value = &config->values[option->id];
    if (type_is_list(option->type)) {
        struct node list;
        enum status status = yaml_read_text(&list, text, mark, e);
        if (status == OK)
            status = value_parse(value, option, &list, e);
        node_free(&list);
        return status;
    }
    struct node scalar = {.kind = NODE_SCALAR, .mark = mark, .text = (char *)text};
    return value_parse(value, option, &scalar, e);
}

/* An option without a preset starts as an empty text. */
static enum status set_preset(struct config *config, const struct spec_option *option,
                              struct error *e)
{
    struct value *value = &config->values[option->id];
    const struct mark mark = {"preset", 0, 0};
    if (option->preset != NULL) {
        enum status status = config_set(config, option, option->preset, mark, e);
        value->set = false;
        return status;
    }
    value->mark = mark;
    value->text = strdup("");
    return value->text != NULL ? OK : error_no_memory(e, "the options");
}

enum status config_init(struct config *config, struct error *e)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum status status = set_preset(config, option_get((enum option_id)i), e);
        if (status != OK) {
            config_free(config);
            return status;
        }
    }
    return OK;
}

enum status config_copy(struct config *to, const struct config *from, struct error *e)
{
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum status status = value_copy(&to->values[i], &from->values[i], e);
        if (status != OK) {
            config_free(to);
            return status;
        }
    }
    return OK;
}

enum status config_variant(const struct config *config, enum strategy_variant *variant,
                           struct error *e)
{
    enum strategy_kind strategy = (enum strategy_kind)config_int(config, OPT_STRATEGY);
    const char *name = config_text(config, OPT_VARIANT), *known[VARIANTS];
    char text[256];
    *variant = strategy_variant_find(strategy, name);
    if (*variant != VARIANTS)
        return OK;
    size_t n = strategy_variant_list(strategy, known);
    return error_set(e, ERR_ARGUMENT, "sync.variant of strategy %s: %s",
                     config_text(config, OPT_STRATEGY),
                     name_explain(text, sizeof text, name, known, n));
}

static enum status check_compressor(const struct config *config, enum compressor_kind *compressor,
                                    struct error *e)
{
    enum strategy_kind strategy = (enum strategy_kind)config_int(config, OPT_STRATEGY);
    const char *takers[STRATEGIES];
    char text[256] = "";
    *compressor = (enum compressor_kind)config_int(config, OPT_COMPRESS);
    if (*compressor == COMPRESSOR_none || (strategy_flags(strategy) & STRATEGY_COMPRESSES))
        return OK;
    size_t n = strategy_list(STRATEGY_COMPRESSES, takers);
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s", takers[i]);
    return error_set(e, ERR_ARGUMENT,
                     "sync.compress: %s does not go with strategy %s; strategies that compress:%s",
                     config_text(config, OPT_COMPRESS), config_text(config, OPT_STRATEGY), text);
}

/* Other factors would be rounded twice more. */
static enum status check_scale(const struct config *config, struct error *e)
{
    int exponent;
    double scale = config_number(config, OPT_FP16_SCALE);
    if (frexp(scale, &exponent) == 0.5)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "sync.fp16_scale = %s is no power of two; nearest %.0f and %.0f",
                     config_text(config, OPT_FP16_SCALE), ldexp(0.5, exponent), ldexp(1, exponent));
}

static enum status check_algorithm(const struct config *config, enum allreduce_algorithm *algorithm,
                                   struct error *e)
{
    enum strategy_kind strategy = (enum strategy_kind)config_int(config, OPT_STRATEGY);
    enum compressor_kind compressor = (enum compressor_kind)config_int(config, OPT_COMPRESS);
    const char *takers[STRATEGIES];
    char text[512] = "";
    *algorithm = (enum allreduce_algorithm)config_int(config, OPT_ALGORITHM);
    if (*algorithm == ALGORITHM_auto)
        return OK;
    if (!(compressor_flags(compressor) & COMPRESSOR_ALGORITHMS))
        return error_set(e, ERR_ARGUMENT,
                         "sync.algorithm = %s, but compressor %s does not sum by MPI_Allreduce",
                         config_text(config, OPT_ALGORITHM), config_text(config, OPT_COMPRESS));
    if (strategy_flags(strategy) & STRATEGY_ALGORITHMS)
        return OK;
    size_t n = strategy_list(STRATEGY_ALGORITHMS, takers);
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s", takers[i]);
    return error_set(e, ERR_ARGUMENT,
                     "sync.algorithm = %s, but strategy %s does not sum by MPI_Allreduce; those "
                     "that do:%s",
                     config_text(config, OPT_ALGORITHM), config_text(config, OPT_STRATEGY), text);
}

enum status config_strategy(const struct config *config, struct strategy_config *strategy,
                            enum option_id *at, struct error *e)
{
    *strategy = (struct strategy_config){
        .segment_bytes = (size_t)config_number(config, OPT_SEGMENT),
        .cap_bytes = (size_t)(config_number(config, OPT_CAP) * 0x1p20),
        .first_cap_bytes = (size_t)(config_number(config, OPT_FIRST_CAP) * 0x1p20),
        .fusion_bytes = (size_t)(config_number(config, OPT_FUSION) * 0x1p20),
        .cycle_ns = (int64_t)(config_number(config, OPT_CYCLE) * 1e6),
        .node_ranks = (int)config_int(config, OPT_NODE_RANKS),
        .servers = (int)config_int(config, OPT_SERVERS),
        .staleness = (uint64_t)config_int(config, OPT_STALENESS),
        .period = (uint64_t)config_int(config, OPT_PERIOD),
        .post_local = (uint64_t)config_int(config, OPT_POST_LOCAL),
        .topk_share = 0.01 * config_number(config, OPT_TOPK),
        .powersgd_rank = (int)config_int(config, OPT_POWERSGD_RANK),
        .fp16_scale = config_number(config, OPT_FP16_SCALE),
    };
    *at = OPT_VARIANT;
    TRY(config_variant(config, &strategy->variant, e));
    *at = OPT_COMPRESS;
    TRY(check_compressor(config, &strategy->compressor, e));
    *at = OPT_ALGORITHM;
    TRY(check_algorithm(config, &strategy->algorithm, e));
    *at = OPT_FP16_SCALE;
    return check_scale(config, e);
}

enum overlap_kind config_overlap(const struct config *config)
{
    unsigned flags = strategy_flags((enum strategy_kind)config_int(config, OPT_STRATEGY));
    bool overlaps = (flags & STRATEGY_OVERLAPS) != 0;
    return overlaps ? (enum overlap_kind)config_int(config, OPT_OVERLAP) : OVERLAP_none;
}

int config_cores_per_rank(const struct config *config)
{
    return (int)config_int(config, OPT_THREADS) + (config_overlap(config) == OVERLAP_thread);
}

static bool has_text(const struct config *config, enum option_id id, const char *text)
{
    return strcmp(config_text(config, id), text) == 0;
}

/* Clipping of a sum of gradients, and layer-wise rates, go by norms of the whole. */
static bool needs_norms(const struct config *config, enum option_id *at)
{
    *at = OPT_OPTIMIZER;
    if (has_text(config, OPT_OPTIMIZER, "lars") || has_text(config, OPT_OPTIMIZER, "lamb"))
        return true;
    *at = OPT_CLIP_NORM;
    return config_number(config, OPT_CLIP_NORM) > 0 && !has_text(config, OPT_VARIANT, "async");
}

/* Ranks that do not keep step with each other cannot take part in anything collective within a step
 * or between two. */
static bool needs_lockstep(const struct config *config, enum option_id *at)
{
    *at = OPT_BATCH_NORM;
    if (config_int(config, OPT_BATCH_NORM) == BATCH_NORM_sync)
        return true;
    *at = OPT_DATA_READ;
    return config_reads_in_step(config);
}

enum status config_check_servers(const struct config *config, int ranks, enum option_id *at,
                                 struct error *e)
{
    long servers = config_int(config, OPT_SERVERS);
    bool free_running =
        has_text(config, OPT_VARIANT, "stale") || has_text(config, OPT_VARIANT, "async");
    *at = OPT_SERVERS;
    if (!has_text(config, OPT_STRATEGY, "param_server"))
        return OK;
    if (servers > ranks)
        return error_set(e, ERR_ARGUMENT, "sync.servers = %ld, but ranks = %d: servers are ranks",
                         servers, ranks);
    if (servers > 1 && needs_norms(config, at))
        return error_set(e, ERR_ARGUMENT,
                         "%s = %s needs norms of the whole gradient, which one server alone has: "
                         "sync.servers = %ld, allowed 1",
                         option_get(*at)->key, config_text(config, *at), servers);
    if (free_running && needs_lockstep(config, at))
        return error_set(
            e, ERR_ARGUMENT,
            "%s = %s makes all ranks wait for each other, which sync.variant = %s does "
            "not allow",
            option_get(*at)->key, config_text(config, *at), config_text(config, OPT_VARIANT));
    return OK;
}

enum status model_check_data(const struct net_desc *net, const char *set, struct shape shape,
                             int classes, struct error *e)
{
    const struct shape want = net->input;
    char a[40], b[40];
    if (want.c != shape.c || want.h != shape.h || want.w != shape.w)
        return error_set(e, ERR_SHAPE, "model %s takes images of %s, data set %s has %s", net->name,
                         shape_text(a, want), set, shape_text(b, shape));
    if (net->classes < classes)
        return error_set(e, ERR_SHAPE, "model %s tells %d classes apart, data set %s has %d",
                         net->name, net->classes, set, classes);
    return OK;
}

enum status config_check_data(const struct config *config, const struct net_desc *net,
                              enum option_id *at, struct error *e)
{
    const struct data_set_row *set = config_data_set(config);
    bool own = set->source == DATA_OWN;
    *at = OPT_DATA_SET;
    if (own && has_text(config, OPT_DATA_PATH, "auto"))
        return error_set(e, ERR_ARGUMENT,
                         "data.set = %s has its files in a folder of yours: data.path is missing",
                         config_text(config, OPT_DATA_SET));
    *at = OPT_DATA_NAME;
    if (!own && !has_text(config, OPT_DATA_NAME, "auto"))
        return error_set(e, ERR_ARGUMENT, "data.name = %s, but data.set = %s has a name",
                         config_text(config, OPT_DATA_NAME), config_text(config, OPT_DATA_SET));
    *at = OPT_MODEL;
    return own ? OK
               : model_check_data(net, config_text(config, OPT_DATA_SET), set->shape, set->classes,
                                  e);
}

void config_free(struct config *config)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        value_free(&config->values[i]);
}
