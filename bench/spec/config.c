#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/rules/rules.h"
#include "bench/spec/spec.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/names.h"

enum status config_set(struct config *config, const struct spec_option *option, const char *text,
                       struct mark mark, struct error *e)
{
    struct value *value = &config->values[option->id];
    if (type_is_list(option->type)) {
        struct node list;
        enum status status = yaml_read_text(&list, text, mark, e);
        THEN(status, value_parse(value, &(struct given){option, &list}, e));
        node_free(&list);
        return status;
    }
    struct node scalar = {.kind = NODE_SCALAR, .mark = mark, .text = (char *)text};
    return value_parse(value, &(struct given){option, &scalar}, e);
}

enum status config_set_text(struct config *config, enum option_id id, const char *text,
                            struct error *e)
{
    return config_set(config, option_get(id), text, config->values[id].mark, e);
}

enum status config_set_number(struct config *config, enum option_id id, long number,
                              struct error *e)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", number);
    return config_set_text(config, id, text, e);
}

void config_put(struct config *config, enum option_id id, const struct value *value)
{
    value_free(&config->values[id]);
    value_borrow(&config->values[id], value);
}

/* Sets an option to its default. An option without a default gets an empty text. */
static enum status set_preset(struct config *config, enum option_id id, struct error *e)
{
    const struct spec_option *option = option_get(id);
    struct value *value = &config->values[id];
    const struct mark mark = {.file = "preset"};
    if (option->preset != NULL) {
        TRY(config_set(config, option, option->preset, mark, e));
        value->set = false;
        return OK;
    }
    value->mark = mark;
    value->number = option->type == TYPE_OWN ? NAN : 0;
    return node_copy_text(&value->text, "", "the options", e);
}

enum status config_init(struct config *config, struct error *e)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum status status = set_preset(config, (enum option_id)i, e);
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
    to->own = from->own;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum status status = value_copy(&to->values[i], &from->values[i], e);
        if (status != OK) {
            config_free(to);
            return status;
        }
    }
    return OK;
}

void config_borrow(struct config *to, const struct config *from)
{
    to->own = from->own;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        value_borrow(&to->values[i], &from->values[i]);
}

enum strategy_kind config_strategy_kind(const struct config *config)
{
    enum strategy_kind named = (enum strategy_kind)config_int(config, OPT_STRATEGY);
    enum strategy_kind kind = strategy_of_stage(named, (int)config_int(config, OPT_sync_zero));
    return kind != STRATEGIES ? kind : named;
}

enum status config_variant(const struct config *config, enum strategy_variant *variant,
                           struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    const char *name = config_text(config, OPT_VARIANT), *known[VARIANTS];
    char text[256];
    *variant = strategy_variant_find(strategy, name);
    if (*variant != VARIANTS)
        return OK;
    size_t n = strategy_variant_list(strategy, known);
    return error_set(e, ERR_ARGUMENT, "sync.variant of strategy %s: %s%s",
                     config_text(config, OPT_STRATEGY),
                     name_explain(text, sizeof text, name, known, n),
                     n > 1 ? ""
                           : ". Set sync.variant only in `cases` whose strategy has several "
                             "variants");
}

/* Joins names, each after a blank: " ring tree". */
static void join_names(const char *const *names, size_t n, char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < n && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s", names[i]);
}

static void list_strategies(unsigned flags, char *text, size_t bytes)
{
    const char *names[STRATEGIES];
    join_names(names, strategy_list(flags, names), text, bytes);
}

static enum status check_stage(const struct config *config, enum option_id *at, struct error *e)
{
    enum strategy_kind named = (enum strategy_kind)config_int(config, OPT_STRATEGY);
    int stage = (int)config_int(config, OPT_sync_zero);
    const char *names[STRATEGIES];
    char text[512];
    if (strategy_of_stage(named, stage) != STRATEGIES)
        return OK;
    join_names(names, strategy_stage_list(stage, names), text, sizeof text);
    REFUSE(OPT_sync_zero,
           "sync.zero = %d, but strategy %s does not have this stage; strategies that do:%s", stage,
           config_text(config, OPT_STRATEGY), text);
}

/* Returns the end of an error message about an option that the strategy does not support. For
 * strategy none: advice to leave the option at its default, also for baseline points. Other
 * strategies: "". */
static const char *advice_of(enum strategy_kind strategy)
{
    return strategy == STRATEGY_none
               ? ". Give points of strategy none, also of a baseline, the default of this option"
               : "";
}

static enum status check_compressor(const struct config *config, enum compressor_kind *compressor,
                                    enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    char text[512];
    *compressor = (enum compressor_kind)config_int(config, OPT_COMPRESS);
    if (*compressor == COMPRESSOR_none || (strategy_flags(strategy) & STRATEGY_COMPRESSES))
        return OK;
    list_strategies(STRATEGY_COMPRESSES, text, sizeof text);
    REFUSE(OPT_COMPRESS,
           "sync.compress: %s is not supported by strategy %s; strategies that compress:%s%s",
           config_text(config, OPT_COMPRESS), config_text(config, OPT_STRATEGY), text,
           advice_of(strategy));
}

bool config_names_checkpoint(const struct config *config)
{
    return !value_is_preset(option_get(OPT_CHECKPOINT_PATH), &config->values[OPT_CHECKPOINT_PATH]);
}

enum compressor_kind config_compressor(const struct config *config)
{
    static const enum compressor_kind of[PRECISIONS] = {
        [PRECISION_bf16] = COMPRESSOR_bf16,
        [PRECISION_fp16] = COMPRESSOR_fp16,
    };
    long precision = config_int(config, OPT_PRECISION);
    if (precision == PRECISION_fp32)
        return (enum compressor_kind)config_int(config, OPT_COMPRESS);
    return config_int(config, OPT_STRATEGY) == STRATEGY_none ? COMPRESSOR_none : of[precision];
}

/* Checks train.precision; sets to->precision and, for 16 bits, to->compressor. Rejects 16 bits if
 * sync.compress is not none, or if the strategy sends only 32 bits. */
static enum status check_precision(const struct config *config, struct strategy_config *to,
                                   enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    const char *precision = config_text(config, OPT_PRECISION);
    char text[512];
    to->precision = (enum precision)config_int(config, OPT_PRECISION);
    if (to->precision == PRECISION_fp32)
        return OK;
    if (to->compressor != COMPRESSOR_none)
        REFUSE(OPT_PRECISION,
               "train.precision: %s sends gradients as %s, so sync.compress: %s is not supported "
               "with it. Use sync.compress: none",
               precision, precision, config_text(config, OPT_COMPRESS));
    to->compressor = config_compressor(config);
    to->options[SYNC_fp16_scale] = 1;
    if (strategy == STRATEGY_none || (strategy_flags(strategy) & STRATEGY_COMPRESSES))
        return OK;
    list_strategies(STRATEGY_COMPRESSES, text, sizeof text);
    REFUSE(OPT_PRECISION,
           "train.precision: %s is not supported by strategy %s, which sends 32 bits; strategies "
           "that send 16 bits: none%s",
           precision, strategy_names()[strategy], text);
}

static enum status check_algorithm(const struct config *config, enum allreduce_algorithm *algorithm,
                                   enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    enum compressor_kind compressor = config_compressor(config);
    char text[512];
    *algorithm = (enum allreduce_algorithm)config_int(config, OPT_ALGORITHM);
    if (*algorithm == ALGORITHM_auto)
        return OK;
    if (!(compressor_flags(compressor) & COMPRESSOR_ALGORITHMS))
        REFUSE(OPT_ALGORITHM,
               "sync.algorithm = %s, but compressor %s does not sum by MPI_Allreduce",
               config_text(config, OPT_ALGORITHM), compressor_names()[compressor]);
    if (strategy_flags(strategy) & STRATEGY_ALGORITHMS)
        return OK;
    list_strategies(STRATEGY_ALGORITHMS, text, sizeof text);
    REFUSE(OPT_ALGORITHM,
           "sync.algorithm = %s, but strategy %s does not sum by MPI_Allreduce; strategies that "
           "do:%s%s",
           config_text(config, OPT_ALGORITHM), config_text(config, OPT_STRATEGY), text,
           advice_of(strategy));
}

/* Checks sync.scale. Strategies that need the mean gradient over each rank's own images
 * (STRATEGY_LOCAL_MEAN) accept only sync.scale: loss. */
static enum status check_scale(const struct config *config, enum strategy_variant variant,
                               enum gradient_scale *scale, enum option_id *at, struct error *e)
{
    enum strategy_kind strategy = config_strategy_kind(config);
    *scale = (enum gradient_scale)config_int(config, OPT_SCALE);
    if (*scale == GRADIENT_SCALE_loss ||
        !(strategy_config_flags(strategy, variant) & STRATEGY_LOCAL_MEAN))
        return OK;
    REFUSE(OPT_SCALE,
           "sync.scale: %s is not supported by strategy %s, which needs the mean over each rank's "
           "own images. Use sync.scale: loss",
           config_text(config, OPT_SCALE), config_text(config, OPT_STRATEGY));
}

/* Option id of each SYNC_OPTION row of strategies.def, then of compressors.def. */
static const enum option_id SYNC_IDS[SYNC_OPTIONS] = {
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) OPT_sync_##key,
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) OPT_sync_##key,
#include "comm/cost/compressors.def"
};

static enum status mark_at(enum status status, const char *key, enum option_id *at)
{
    if (status != OK)
        *at = option_find(key)->id;
    return status;
}

enum status config_strategy(const struct config *config, struct strategy_config *strategy,
                            enum option_id *at, struct error *e)
{
    const char *key = NULL;
    *strategy = (struct strategy_config){.variant = VARIANT_usual};
    for (int i = 0; i < SYNC_OPTIONS; i++)
        strategy->options[i] = config_number(config, SYNC_IDS[i]);
    strategy->micro_batches = (size_t)config_int(config, OPT_ACCUMULATE);
    TRY(check_stage(config, at, e));
    *at = OPT_VARIANT;
    TRY(config_variant(config, &strategy->variant, e));
    TRY(check_compressor(config, &strategy->compressor, at, e));
    TRY(check_precision(config, strategy, at, e));
    TRY(check_scale(config, strategy->variant, &strategy->scale, at, e));
    TRY(check_algorithm(config, &strategy->algorithm, at, e));
    enum status status = compressor_check(strategy, &key, e);
    return mark_at(status, key, at);
}

long config_replicas(const struct config *config, long ranks)
{
    long replicas = ranks / (config_int(config, OPT_PIPELINE) * config_int(config, OPT_TENSOR));
    return replicas > 0 ? replicas : 1;
}

double config_global_batch(const struct config *config, long ranks)
{
    double all = config_number(config, OPT_GLOBAL_BATCH);
    double each = config_number(config, OPT_BATCH_PER_RANK) * config_number(config, OPT_ACCUMULATE);
    return all > 0 ? all : each * (double)config_replicas(config, ranks);
}

double config_trained_batch(const struct config *config, long ranks)
{
    double all = config_global_batch(config, ranks);
    bool drops = config_int(config, OPT_REMAINDER) == REMAINDER_drop;
    return drops ? all - fmod(all, (double)config_replicas(config, ranks)) : all;
}

/* Checks that the product train.batch_per_rank * train.accumulate * ranks is within the limit of
 * images per step. If train.global_batch and train.batch_per_rank are both set, the product must
 * equal train.global_batch. */
static enum status check_rank_batch(const struct config *config, long ranks, enum option_id *at,
                                    struct error *e)
{
    double all = config_number(config, OPT_GLOBAL_BATCH);
    double most = option_get(OPT_GLOBAL_BATCH)->max;
    double product = config_number(config, OPT_BATCH_PER_RANK) *
                     config_number(config, OPT_ACCUMULATE) * (double)ranks;
    if (product > most)
        REFUSE(OPT_BATCH_PER_RANK,
               "train.batch_per_rank = %s times train.accumulate = %s on %ld ranks is more than "
               "%.0f images per step",
               config_text(config, OPT_BATCH_PER_RANK), config_text(config, OPT_ACCUMULATE), ranks,
               most);
    if (product == 0 || all == 0 || product == all)
        return OK;
    REFUSE(OPT_BATCH_PER_RANK,
           "train.batch_per_rank = %s times train.accumulate = %s times ranks = %ld is "
           "%.0f images, but train.global_batch = %s: leave one out",
           config_text(config, OPT_BATCH_PER_RANK), config_text(config, OPT_ACCUMULATE), ranks,
           product, config_text(config, OPT_GLOBAL_BATCH));
}

enum status config_check_batch(const struct config *config, long ranks, enum option_id *at,
                               struct error *e)
{
    double all = config_global_batch(config, ranks), trained = config_trained_batch(config, ranks);
    ranks = config_replicas(config, ranks);
    double most = ceil(trained / (double)ranks);
    TRY(check_rank_batch(config, ranks, at, e));
    if (config_int(config, OPT_ACCUMULATE) == 1)
        return OK;
    if (all == 0)
        REFUSE(OPT_ACCUMULATE,
               "train.accumulate = %s needs train.batch_per_rank or train.global_batch",
               config_text(config, OPT_ACCUMULATE));
    if (config_number(config, OPT_ACCUMULATE) <= most)
        return OK;
    REFUSE(OPT_ACCUMULATE,
           "train.accumulate = %s, but with train.global_batch = %.0f each of %ld ranks "
           "has %.0f images at most: allowed 1..%.0f",
           config_text(config, OPT_ACCUMULATE), all, ranks, most, most);
}

bool config_compressor_waits(const struct config *config)
{
    enum compressor_kind compressor = config_compressor(config);
    return compressor != COMPRESSOR_none && !(compressor_flags(compressor) & COMPRESSOR_OVERLAPS);
}

enum overlap_kind config_overlap(const struct config *config)
{
    unsigned flags = strategy_flags(config_strategy_kind(config));
    bool overlaps = (flags & STRATEGY_OVERLAPS) && !config_compressor_waits(config);
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

static struct sync_demand demand_of(const struct config *config, enum option_id id, bool asks)
{
    return (struct sync_demand){asks ? option_get(id)->key : NULL, config_text(config, id)};
}

static enum status check_clipping(const struct config *config, enum option_id *at, struct error *e)
{
    if (config_number(config, OPT_CLIP_VALUE) == 0 || config_number(config, OPT_CLIP_NORM) == 0)
        return OK;
    REFUSE(OPT_CLIP_VALUE,
           "train.clip_value = %s and train.clip_norm = %s are both given: leave one out",
           config_text(config, OPT_CLIP_VALUE), config_text(config, OPT_CLIP_NORM));
}

static enum status check_power(const struct config *config, enum option_id id, enum option_id *at,
                               struct error *e)
{
    int exponent;
    double scale = config_number(config, id);
    if (scale == 0 || frexp(scale, &exponent) == 0.5)
        return OK;
    REFUSE(id, "%s = %s is no power of two; nearest %.0f and %.0f", option_get(id)->key,
           config_text(config, id), ldexp(0.5, exponent), ldexp(1, exponent));
}

static enum status check_loss_scale(const struct config *config, enum option_id *at,
                                    struct error *e)
{
    TRY(check_power(config, OPT_LOSS_SCALE, at, e));
    TRY(check_power(config, OPT_LOSS_SCALE_INITIAL, at, e));
    TRY(check_power(config, OPT_LOSS_SCALE_MIN, at, e));
    if (config_number(config, OPT_LOSS_SCALE_MIN) <= config_number(config, OPT_LOSS_SCALE_INITIAL))
        return OK;
    REFUSE(OPT_LOSS_SCALE_MIN, "train.loss_scale_min = %s is above train.loss_scale_initial = %s",
           config_text(config, OPT_LOSS_SCALE_MIN), config_text(config, OPT_LOSS_SCALE_INITIAL));
}

/* Checks train.broadcast_init = false (each rank keeps its own initial weights). Rejects strategies
 * that copy weights between ranks. Also rejects checkpoints, whose model is the replica of a single
 * rank. */
static enum status check_initial_weights(const struct config *config, enum option_id *at,
                                         struct error *e)
{
    unsigned flags = strategy_flags(config_strategy_kind(config));
    if (config_int(config, OPT_BROADCAST_INIT))
        return OK;
    if (flags & STRATEGY_SHARES_WEIGHTS)
        REFUSE(OPT_BROADCAST_INIT,
               "train.broadcast_init = false, but strategy %s copies weights between ranks, which "
               "makes them equal after one step",
               config_text(config, OPT_STRATEGY));
    if (config_writes_checkpoints(config) || !has_text(config, OPT_CHECKPOINT_RESUME, "no") ||
        !has_text(config, OPT_CHECKPOINT_START, "no"))
        REFUSE(OPT_BROADCAST_INIT,
               "train.broadcast_init = false, but a checkpoint holds the weights of one "
               "rank: leave checkpoint.* out");
    return OK;
}

enum status config_check_strategy(const struct config *config, int ranks, enum option_id *at,
                                  struct error *e)
{
    enum strategy_kind kind = config_strategy_kind(config);
    bool sums = config_int(config, OPT_BATCH_NORM) == BATCH_NORM_sync;
    const char *key = NULL;
    struct strategy_config strategy;
    const struct sync_demands demands = {
        .ranks = (int)config_replicas(config, ranks),
        .layer_norms = demand_of(config, OPT_OPTIMIZER, config_takes_norms(config)),
        .clipping = demand_of(config, OPT_CLIP_NORM, config_number(config, OPT_CLIP_NORM) > 0),
        .lockstep = sums ? demand_of(config, OPT_BATCH_NORM, true)
                         : demand_of(config, OPT_DATA_READ, config_reads_in_step(config)),
    };
    TRY(config_strategy(config, &strategy, at, e));
    TRY(check_initial_weights(config, at, e));
    TRY(check_clipping(config, at, e));
    TRY(check_loss_scale(config, at, e));
    enum status status = strategy_check(kind, &strategy, &demands, &key, e);
    return mark_at(status, key, at);
}

enum status model_check_data(const struct net_desc *net, const char *set, struct shape shape,
                             int classes, struct error *e)
{
    const struct shape want = net->input;
    char a[40], b[40];
    if (want.c != shape.c || want.h != shape.h || want.w != shape.w)
        return error_set(e, ERR_SHAPE,
                         "model %s expects images of %s, but data set %s has images of %s",
                         net->name, shape_text(a, want), set, shape_text(b, shape));
    if (net->classes < classes)
        return error_set(e, ERR_SHAPE,
                         "model %s has %d classes, but data set %s has %d. Use a model with at "
                         "least as many classes as the data set",
                         net->name, net->classes, set, classes);
    return OK;
}

/* Appends to the error the names of the data sets that fit the network. Always includes those for
 * the user's own images (idx, npy). */
static enum status name_fitting_sets(const struct net_desc *net, struct error *e)
{
    struct error none;
    char text[256] = "";
    const struct enumeration *sets = names_data_sets;
    for (size_t i = 0; i < sets->n; i++) {
        const struct data_set_row *set = data_set_find(sets->names[i]);
        bool own = set->source == DATA_OWN;
        if (own || model_check_data(net, set->name, set->shape, set->classes, &none) == OK)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s", set->name);
    }
    return error_set(e, e->status, "%s; expected data.set to be one of:%s", e->text, text);
}

enum status config_check_data(const struct config *config, const struct net_desc *net,
                              enum option_id *at, struct error *e)
{
    const struct data_set_row *set = config_data_set(config);
    const char *name = config_text(config, OPT_DATA_SET);
    bool own = set->source == DATA_OWN;
    if (own && has_text(config, OPT_DATA_PATH, "auto"))
        REFUSE(OPT_DATA_SET, "data.set = %s needs the folder of your files: data.path is missing",
               name);
    if (!own && !has_text(config, OPT_DATA_NAME, "auto"))
        REFUSE(OPT_DATA_NAME, "data.name = %s has no effect, since data.set = %s has a name",
               config_text(config, OPT_DATA_NAME), name);
    *at = OPT_MODEL;
    if (!own && net->classes != set->classes)
        return error_set(e, ERR_SHAPE,
                         "model %s has %d classes, but data set %s has %d: set `classes` and the "
                         "outputs of the last layer to %d",
                         net->name, net->classes, name, set->classes, set->classes);
    return own || model_check_data(net, name, set->shape, set->classes, e) == OK
               ? OK
               : name_fitting_sets(net, e);
}

bool config_has_flaw(const struct config *config)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        if (option->flaw && strcmp(config->values[i].text, option->preset) != 0)
            return true;
    }
    return false;
}

void config_free(struct config *config)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        value_free(&config->values[i]);
}

double config_launch_steps(const struct config *config)
{
    return config_number(config, OPT_TIME_WARMUP) + config_number(config, OPT_TIME_STEPS);
}

double config_epoch_steps(const struct config *config)
{
    double asked = config_number(config, OPT_DATA_SAMPLES);
    double train = asked > 0 ? asked : config_data_set(config)->train;
    return train > 0 ? ceil(train / config_images_taken(config)) : NAN;
}

double config_run_steps(const struct config *config)
{
    const struct data_set_row *set = config_data_set(config);
    double asked = config_number(config, OPT_DATA_SAMPLES), images = config_images(config);
    double test = fmin(asked > 0 ? asked : set->train, set->test) / images / 3;
    return set->train > 0 ? config_number(config, OPT_EPOCHS) * (config_epoch_steps(config) + test)
                          : NAN;
}
