#include "bench/spec/points/readers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"
#include "kernels/base/names.h"

static bool is_timed(const struct config *config)
{
    return config->values[OPT_TIME_LAUNCHES].number_hi > 0;
}

static bool communicates(const struct config *config)
{
    return config_strategy_kind(config) != STRATEGY_none;
}

static bool writes_checkpoints(const struct config *config)
{
    return config_writes_checkpoints(config) || config_is_elastic(config);
}

/* Returns whether the point writes checkpoints or resumes from its own (checkpoint.resume =
 * auto). */
static bool has_checkpoint(const struct config *config)
{
    return writes_checkpoints(config) ||
           strcmp(config_text(config, OPT_CHECKPOINT_RESUME), "auto") == 0;
}

/* Returns false only if checkpoint.resume is auto and can find no checkpoint. That is so if the
 * point writes no checkpoints and the path is the default, to which no other run writes. */
static bool finds_checkpoint(const struct config *config)
{
    const struct value *path = &config->values[OPT_CHECKPOINT_PATH];
    return writes_checkpoints(config) || !value_is_preset(option_get(OPT_CHECKPOINT_PATH), path) ||
           strcmp(config_text(config, OPT_CHECKPOINT_RESUME), "auto") != 0;
}

static bool has_variant(const struct config *config)
{
    enum strategy_variant variant;
    struct error e;
    return config_variant(config, &variant, &e) == OK;
}

static unsigned flags_of(const struct config *config)
{
    return strategy_flags(config_strategy_kind(config));
}

static bool compresses(const struct config *config)
{
    return flags_of(config) & STRATEGY_COMPRESSES;
}

/* Returns whether ranks have the exact sum of all gradients in each step (in ZeRO strategies, each
 * rank its shard). False for param_server: even in variant sync, only servers have the sum. */
static bool sums_exactly(const struct config *config)
{
    return flags_of(config) & STRATEGY_EXACT;
}

static bool has_algorithms(const struct config *config)
{
    return flags_of(config) & STRATEGY_ALGORITHMS;
}

static bool overlaps(const struct config *config)
{
    return flags_of(config) & STRATEGY_OVERLAPS;
}

/* Returns whether train.epochs matters. A cosine schedule depends on it even in timed launches. */
static bool counts_epochs(const struct config *config)
{
    return config->values[OPT_ACCURACY_SEEDS].n > 0 ||
           config_int(config, OPT_LR_SCHEDULE) == LR_SCHEDULE_cosine;
}

/* Returns whether accuracy runs make sense. With strategy none, ranks train separate networks, so
 * accuracy means nothing. */
static bool trains_one_net(const struct config *config)
{
    return config_is_foreign(config) || communicates(config) || config_int(config, OPT_RANKS) == 1;
}

/* Returns whether there may be several ranks. Before nodes are resolved, `nodes` or ranks_per_node
 * may give more ranks than option `ranks`. */
static bool has_several_ranks(const struct config *config)
{
    return config_int(config, OPT_RANKS) > 1 || config->values[OPT_NODES].set ||
           config->values[OPT_RANKS_PER_NODE].set;
}

static bool shows_bars(const struct config *config)
{
    const struct value *figures = &config->values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++)
        if (figures->figures[i].options[FIGURE_Y].n == 0)
            return true;
    return false;
}

/* Returns whether a model of the links is used: for predicted curves in figures or for a simulated
 * point. */
static bool has_model(const struct config *config)
{
    if (config_is_simulated(config))
        return true;
    const struct value *figures = &config->values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++)
        if (figures->figures[i].options[FIGURE_MODEL].number != 0)
            return true;
    return false;
}

static bool reaches_evaluation(const struct config *config)
{
    return config_int(config, OPT_INJECT_PHASE) != INJECT_PHASE_evaluation ||
           config->values[OPT_ACCURACY_SEEDS].n > 0;
}

static bool reaches_checkpoint(const struct config *config)
{
    return config_int(config, OPT_INJECT_PHASE) != INJECT_PHASE_checkpoint ||
           writes_checkpoints(config);
}

/* ---- Length of launches and runs ---- */

static bool is_trained(const struct config *config)
{
    return config->values[OPT_ACCURACY_SEEDS].n > 0 && config_wants_accuracy(config);
}

static double trained_epochs(const struct config *config)
{
    return is_trained(config) ? config_number(config, OPT_EPOCHS) : 0;
}

/* Returns the number of steps of an accuracy run. 0: no accuracy runs. INFINITY: the number depends
 * on data not read yet, or on a changing number of ranks. */
static double trained_steps(const struct config *config)
{
    double steps = config_epoch_steps(config);
    if (!is_trained(config))
        return 0;
    bool changes = config_is_elastic(config) && config_number(config, OPT_GLOBAL_BATCH) == 0;
    return isnan(steps) || changes ? INFINITY : trained_epochs(config) * steps;
}

static double longest_steps(const struct config *config)
{
    return fmax(trained_steps(config), is_timed(config) ? config_launch_steps(config) : 0);
}

/* Returns the largest sync.post_local that leaves a whole sync.period: the number of steps of the
 * longest launch or accuracy run, minus sync.period. */
static double before_last_period(const struct config *config)
{
    return longest_steps(config) - config_number(config, OPT_sync_period);
}

bool reader_is_each_step(const struct config *config)
{
    long phase = config_int(config, OPT_INJECT_PHASE);
    return phase <= INJECT_PHASE_sync || phase == INJECT_PHASE_update;
}

/* Returns whether the last step of a timed launch or an accuracy run lies in inject.steps; true if
 * unknown. */
static bool reaches_end(const struct config *config)
{
    const struct value *steps = &config->values[OPT_INJECT_STEPS];
    double launch = is_timed(config) ? config_launch_steps(config) : 0;
    double run = trained_steps(config);
    return isinf(run) || (run >= steps->number && run <= steps->number_hi) ||
           (launch >= steps->number && launch <= steps->number_hi);
}

/* Returns the number of multiples of `every` in [first, last]; 0 if `every` is 0. */
static double count_multiples(double every, double first, double last)
{
    return every > 0 ? fmax(0, floor(last / every) - ceil(first / every) + 1) : 0;
}

/* Returns the number of checkpoints written after steps `first` to `last`. With option `elastic`,
 * returns 1 without counting, because segments write further checkpoints. If the point writes no
 * checkpoints, also returns 1: reaches_checkpoint rejects that case. */
static double count_checkpoints(const struct config *config, double first, double last)
{
    double epochs = config_number(config, OPT_CHECKPOINT_EPOCHS) * config_epoch_steps(config);
    bool by_steps = config_writes_checkpoints(config) && config->values[OPT_ELASTIC].n == 0;
    return !by_steps ? 1
                     : count_multiples(config_number(config, OPT_CHECKPOINT_STEPS), first, last) +
                           count_multiples(epochs, first, last);
}

double reader_count_sleeps(const struct config *config)
{
    const struct value *steps = &config->values[OPT_INJECT_STEPS];
    double all = longest_steps(config), epoch = config_epoch_steps(config);
    double last = fmin(all, steps->number_hi);
    switch (config_int(config, OPT_INJECT_PHASE)) {
    case INJECT_PHASE_start:
        return steps->number <= 1;
    case INJECT_PHASE_end:
        return reaches_end(config);
    case INJECT_PHASE_read:
        return isfinite(last) && !isnan(epoch)
                   ? floor((last - 1) / epoch) - ceil((steps->number - 1) / epoch) + 1
                   : 1;
    case INJECT_PHASE_evaluation:
        return is_trained(config) && isfinite(last) && !isnan(epoch)
                   ? count_multiples(epoch, steps->number, last)
                   : 1;
    case INJECT_PHASE_checkpoint:
        return isfinite(last) && !isnan(epoch) ? count_checkpoints(config, steps->number, last) : 1;
    default:
        return isfinite(all) ? last - steps->number + 1 : 1;
    }
}

/* Returns the number of epochs that end before the last step of the longest launch or accuracy run;
 * INFINITY if unknown. */
static double ended_epochs(const struct config *config)
{
    double steps = config_epoch_steps(config);
    double timed = is_timed(config) ? floor((config_launch_steps(config) - 1) / steps) : 0;
    return isnan(timed) ? INFINITY : fmax(trained_epochs(config) - 1, timed);
}

static double epochs_of_default(const struct config *config)
{
    bool steps = config_int(config, OPT_LR_SCHEDULE) == LR_SCHEDULE_step;
    return steps && !config->values[OPT_LR_STEP_EPOCHS].set ? ended_epochs(config) : INFINITY;
}

/* Returns whether the point needs the number of images per step. A user's program needs it only in
 * weak scaling, for the speed-up. */
static bool counts_images(const struct config *config)
{
    return !config_is_foreign(config) || config_int(config, OPT_SCALING) == SCALING_weak;
}

static double steps_of_default(const struct config *config)
{
    bool averages = config_strategy_kind(config) == STRATEGY_local_sgd;
    return averages && !config->values[OPT_sync_period].set ? longest_steps(config) : INFINITY;
}

/* ---- Number of ranks, also before nodes are resolved ---- */

static double given_each(const struct config *config)
{
    return config->values[OPT_RANKS_PER_NODE].set ? config_number(config, OPT_RANKS_PER_NODE) : 0;
}

static double most_ranks(const struct config *config)
{
    double nodes = config_number(config, OPT_NODES);
    return fmax(config_number(config, OPT_RANKS), nodes * given_each(config));
}

static double most_nodes(const struct config *config)
{
    double each = given_each(config);
    return fmax(config_number(config, OPT_NODES),
                each > 0 ? ceil(config_number(config, OPT_RANKS) / each) : 1);
}

static bool spans_nodes(const struct config *config)
{
    return most_nodes(config) > 1;
}

/* Returns the largest number of hosts per leaf switch that requires a second leaf switch: the
 * number of nodes minus 1. */
static double largest_leaf(const struct config *config)
{
    return most_nodes(config) - 1;
}

/* Returns whether replayed compute depends on the number of cores. With compute = auto, the cores
 * are compared with the ranks. Without compute.rate, the cores limit the ranks of the
 * calibration. */
static bool counts_cores(const struct config *config)
{
    return config_int(config, OPT_COMPUTE) == COMPUTE_auto ||
           config_number(config, OPT_COMPUTE_RATE) == 0;
}

static bool runs_somewhere(const struct config *config)
{
    return !config_is_simulated(config);
}

/* Returns whether some launch computes. A simulated point needs a calibration launch unless
 * compute.rate is given. */
static bool computes_somewhere(const struct config *config)
{
    return !config_is_simulated(config) || config_number(config, OPT_COMPUTE_RATE) == 0;
}

/* ---- Table of options and their readers ---- */

/* Sites where ranks really run: all except simulated. */
#define REAL_SITES "local emulated slurm ssh"

static const struct reader readers[] = {
    {OPT_COMMAND, OPT_WORKLOAD, "command", NULL},
    {OPT_METRICS, OPT_WORKLOAD, "command", NULL},
    {OPT_JUDGED, OPT_WORKLOAD, "command", NULL},
    {OPT_SITE_HOSTS, OPT_SITE, "emulated", NULL},
    {OPT_SITE_RATE, OPT_SITE, "emulated simulated", NULL},
    {OPT_SITE_RATE, OPT_SITE_LINK, "none", NULL},
    {OPT_SITE_RATE, OPT_NODES, NULL, spans_nodes},
    {OPT_SITE_DELAY, OPT_SITE, "emulated simulated", NULL},
    {OPT_SITE_DELAY, OPT_SITE_LINK, "none", NULL},
    {OPT_SITE_DELAY, OPT_NODES, NULL, spans_nodes},
    {OPT_SITE_LINK, OPT_SITE, "simulated", NULL},
    {OPT_SITE_LINK, OPT_RANKS, NULL, has_several_ranks},
    {OPT_SITE_LEAF_HOSTS, OPT_SITE, "simulated", NULL},
    {OPT_SITE_LEAF_HOSTS, OPT_NODES, NULL, spans_nodes},
    {OPT_SITE_OVERSUBSCRIPTION, OPT_SITE, "simulated", NULL},
    {OPT_SITE_OVERSUBSCRIPTION, OPT_SITE_LEAF_HOSTS, NULL, NULL},
    {OPT_SITE_MODEL, OPT_SITE, "simulated", NULL},
    {OPT_CRITICAL_PATH, OPT_SITE, "simulated", NULL},
    {OPT_SITE_MODEL, OPT_SITE_LINK, "none", NULL},
    {OPT_SITE_MODEL, OPT_NODES, NULL, spans_nodes},
    {OPT_SITE_LAUNCHER, OPT_SITE, "slurm", NULL},
    {OPT_SITE_INTERFACE, OPT_SITE, "slurm ssh", NULL},
    {OPT_SITE_MACHINES, OPT_SITE, "ssh", NULL},
    {OPT_COMPUTE_RATE, OPT_COMPUTE, "replay auto", NULL},
    {OPT_COMPUTE_CORES, OPT_COMPUTE, "replay auto", NULL},
    {OPT_COMPUTE_CORES, OPT_COMPUTE_RATE, NULL, counts_cores},
    {OPT_PEER_PYTHON, OPT_WORKLOAD, "peer_torch", NULL},
    {OPT_PEER_LAYOUT, OPT_WORKLOAD, "peer_torch", NULL},
    {OPT_DATA_PATH, OPT_DATA_SET, "mnist cifar10 idx npy", NULL},
    {OPT_GLOBAL_BATCH, OPT_WORKLOAD, NULL, counts_images},
    {OPT_BATCH_PER_RANK, OPT_WORKLOAD, NULL, counts_images},
    /* `command` never matches: foreign programs (workload: command) do not read the option, so
     * reader_find_lack returns `trainers` for them before it checks this row. */
    {OPT_KERNELS, OPT_WORKLOAD, "train_cnn command", NULL},
    {OPT_TUNE, OPT_WORKLOAD, "train_cnn command", NULL},
    {OPT_TUNE, OPT_KERNELS, "fast exact", NULL},
    {OPT_KERNELS, OPT_SITE, REAL_SITES, computes_somewhere},
    {OPT_TUNE, OPT_SITE, REAL_SITES, computes_somewhere},
    {OPT_ISA, OPT_SITE, REAL_SITES, computes_somewhere},
    {OPT_BIND, OPT_SITE, REAL_SITES, computes_somewhere},
    {OPT_ORDER, OPT_SITE, REAL_SITES, computes_somewhere},
    {OPT_OVERSUBSCRIBE, OPT_SITE, REAL_SITES, runs_somewhere},
    {OPT_ISA, OPT_WORKLOAD, "train_cnn command", NULL},
    {OPT_MOMENTUM, OPT_OPTIMIZER, "sgd lars", NULL},
    {OPT_NESTEROV, OPT_OPTIMIZER, "sgd", NULL},
    {OPT_NESTEROV, OPT_MOMENTUM, NULL, NULL},
    {OPT_DECOUPLED_DECAY, OPT_OPTIMIZER, "sgd", NULL},
    {OPT_DECOUPLED_DECAY, OPT_WEIGHT_DECAY, NULL, NULL},
    {OPT_BETA1, OPT_OPTIMIZER, "adam adamw lamb", NULL},
    {OPT_BETA2, OPT_OPTIMIZER, "adam adamw lamb", NULL},
    {OPT_EPSILON, OPT_OPTIMIZER, "adam adamw lamb", NULL},
    {OPT_TRUST, OPT_OPTIMIZER, "lars", NULL},
    {OPT_LR_RULE, OPT_RANKS, NULL, has_several_ranks},
    {OPT_LR_STEP_EPOCHS, OPT_LR_SCHEDULE, "step", NULL},
    {OPT_LR_GAMMA, OPT_LR_SCHEDULE, "step", NULL},
    {OPT_LR_MIN, OPT_LR_SCHEDULE, "cosine", NULL},
    {OPT_LR_WARMUP, OPT_WARMUP_STEPS, NULL, NULL},
    {OPT_LOSS_SCALE, OPT_PRECISION, "fp16", NULL},
    {OPT_LOSS_SCALE_INITIAL, OPT_PRECISION, "fp16", NULL},
    {OPT_LOSS_SCALE_INITIAL, OPT_LOSS_SCALE, "0", NULL},
    {OPT_LOSS_SCALE_WINDOW, OPT_PRECISION, "fp16", NULL},
    {OPT_LOSS_SCALE_WINDOW, OPT_LOSS_SCALE, "0", NULL},
    {OPT_LOSS_SCALE_HYSTERESIS, OPT_PRECISION, "fp16", NULL},
    {OPT_LOSS_SCALE_HYSTERESIS, OPT_LOSS_SCALE, "0", NULL},
    {OPT_LOSS_SCALE_MIN, OPT_PRECISION, "fp16", NULL},
    {OPT_LOSS_SCALE_MIN, OPT_LOSS_SCALE, "0", NULL},
    {OPT_VARIANT, OPT_STRATEGY, NULL, has_variant},
    {OPT_COMPRESS, OPT_STRATEGY, NULL, compresses},
    {OPT_ALGORITHM, OPT_STRATEGY, NULL, has_algorithms},
    {OPT_OVERLAP, OPT_STRATEGY, NULL, overlaps},
#define OWNED_anyone(key, owner)
#define OWNED_strategy(key, owner)                                      {OPT_sync_##key, OPT_STRATEGY, #owner, NULL},
#define OWNED_variant(key, owner)                                       {OPT_sync_##key, OPT_VARIANT, #owner, NULL},
#define OWNED_compress(key, owner)                                      {OPT_sync_##key, OPT_COMPRESS, #owner, NULL},
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) OWNED_##of(key, owner)
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) OWNED_##of(key, owner)
#include "comm/cost/compressors.def"
    {OPT_PIPELINE_SCHEDULE, OPT_PIPELINE, NULL, NULL},
    /* With one micro-batch, all pipeline schedules are equal. */
    {OPT_PIPELINE_SCHEDULE, OPT_ACCUMULATE, NULL, NULL},
    {OPT_PIPELINE_CUT, OPT_PIPELINE, NULL, NULL},
    {OPT_CALL_CHECK, OPT_RANKS, NULL, has_several_ranks},
    {OPT_EPOCHS, OPT_ACCURACY_SEEDS, NULL, counts_epochs},
    {OPT_TARGET_ACC, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_ELASTIC, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_RESTARTS, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_CHECKPOINT_EPOCHS, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_CHECKPOINT_STEPS, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_CHECKPOINT_DTYPE, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_CHECKPOINT_DTYPE, OPT_CHECKPOINT_EPOCHS, NULL, writes_checkpoints},
    {OPT_CHECKPOINT_PATH, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_CHECKPOINT_PATH, OPT_CHECKPOINT_EPOCHS, NULL, has_checkpoint},
    {OPT_CHECKPOINT_RESUME, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_CHECKPOINT_RESUME, OPT_CHECKPOINT_EPOCHS, NULL, finds_checkpoint},
    {OPT_ORDER, OPT_BIND, "hwthread core numa", NULL},
    {OPT_SEED, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_COMPUTE, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_TIME_WARMUP, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_TIME_STEPS, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_TIME_PRECISION, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_STEPS_CSV, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_BUDGET, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_TIMELINE, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_REPLAY, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_CRITICAL_PATH, OPT_TIME_LAUNCHES, NULL, is_timed},
    {OPT_REPLAY, OPT_STRATEGY, NULL, communicates},
    {OPT_REPLAY, OPT_RANKS, NULL, has_several_ranks},
    {OPT_ACCURACY_RUN, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_ACCURACY_SEEDS, OPT_ACCURACY_RUN, "true", NULL},
    {OPT_ACCURACY_SEEDS, OPT_SITE, REAL_SITES, runs_somewhere},
    {OPT_ACCURACY_SEEDS, OPT_STRATEGY, NULL, trains_one_net},
    {OPT_ACCURACY_MIN, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_ACCURACY_MIN, OPT_ACCURACY_RUN, "true", NULL},
    {OPT_NOISE_SCALE, OPT_STRATEGY, NULL, sums_exactly},
    {OPT_NOISE_SCALE, OPT_PRECISION, "fp32", NULL},
    {OPT_NOISE_SCALE, OPT_COMPRESS, "none", NULL},
    {OPT_NOISE_SCALE, OPT_PIPELINE, "1", NULL},
    {OPT_NOISE_SCALE, OPT_TENSOR, "1", NULL},
    /* The trainer does not receive the options in the conditions below, so it rejects NOISE_SCALE
     * only for the conditions above. Order matters: reader_find_lack returns only the first unmet
     * condition. */
    {OPT_NOISE_SCALE, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_NOISE_SCALE, OPT_ACCURACY_RUN, "true", NULL},
    {OPT_NOISE_SCALE, OPT_RANKS, NULL, has_several_ranks},
    {OPT_NOISE_SCALE, OPT_WORKLOAD, "train_cnn peer_onednn command", NULL},
    {OPT_PUBLISHED_KEYS, OPT_PUBLISHED_FILE, NULL, NULL},
    {OPT_BARS, OPT_FIGURES, NULL, shows_bars},
    {OPT_LINK, OPT_FIGURES, NULL, has_model},
    {OPT_RESTART_WITH, OPT_RESTARTS, NULL, NULL},
    {OPT_RESTART_LEAST, OPT_RESTART_WITH, "fewer", NULL},
    {OPT_INJECT_SLEEP, OPT_INJECT_KIND, "fixed exponential pareto", NULL},
    {OPT_INJECT_SHAPE, OPT_INJECT_KIND, "pareto", NULL},
    {OPT_INJECT_RANKS, OPT_INJECT_KIND, "fixed exponential pareto kill", NULL},
    {OPT_INJECT_STEPS, OPT_INJECT_KIND, "fixed exponential pareto kill", NULL},
    {OPT_INJECT_PHASE, OPT_INJECT_KIND, "fixed exponential pareto kill", NULL},
    {OPT_INJECT_PHASE, OPT_ACCURACY_SEEDS, NULL, reaches_evaluation},
    {OPT_INJECT_PHASE, OPT_CHECKPOINT_EPOCHS, NULL, reaches_checkpoint},
};
#define READERS (sizeof readers / sizeof *readers)

/* Options that determine the number of epochs (by_epochs), of ranks (by_ranks) or of steps
 * (by_steps). OPTION_COUNT ends each list. */
static const enum option_id by_epochs[] = {OPT_EPOCHS, OPT_ACCURACY_SEEDS, OPTION_COUNT};
static const enum option_id by_ranks[] = {OPT_RANKS, OPT_NODES, OPT_RANKS_PER_NODE, OPTION_COUNT};
static const enum option_id by_steps[] = {
    OPT_EPOCHS,     OPT_DATA_SAMPLES, OPT_GLOBAL_BATCH,  OPT_BATCH_PER_RANK, OPT_TIME_WARMUP,
    OPT_TIME_STEPS, OPT_RANKS,        OPT_TIME_LAUNCHES, OPT_ACCURACY_SEEDS, OPTION_COUNT};

static const enum option_id by_period[] = {
    OPT_sync_period,    OPT_EPOCHS,         OPT_DATA_SAMPLES, OPT_GLOBAL_BATCH,
    OPT_BATCH_PER_RANK, OPT_TIME_WARMUP,    OPT_TIME_STEPS,   OPT_RANKS,
    OPT_TIME_LAUNCHES,  OPT_ACCURACY_SEEDS, OPTION_COUNT};

static const struct length lengths[] = {
    {OPT_SITE_LEAF_HOSTS, OPT_SITE_LEAF_HOSTS, largest_leaf, by_ranks, NULL},
    {OPT_LR_SCHEDULE, OPT_LR_STEP_EPOCHS, epochs_of_default, by_steps, NULL},
    {OPT_LR_STEP_EPOCHS, OPT_LR_STEP_EPOCHS, ended_epochs, by_steps, NULL},
    {OPT_WARMUP_STEPS, OPT_WARMUP_STEPS, longest_steps, by_steps, "never reaches train.lr"},
    {OPT_sync_node_ranks, OPT_sync_node_ranks, most_ranks, by_ranks, NULL},
    {OPT_STRATEGY, OPT_sync_period, steps_of_default, by_steps, NULL},
    {OPT_sync_period, OPT_sync_period, longest_steps, by_steps, NULL},
    {OPT_sync_post_local, OPT_sync_post_local, before_last_period, by_period,
     "leaves no whole sync.period"},
    {OPT_CHECKPOINT_EPOCHS, OPT_CHECKPOINT_EPOCHS, trained_epochs, by_epochs, NULL},
    {OPT_CHECKPOINT_STEPS, OPT_CHECKPOINT_STEPS, trained_steps, by_steps, NULL},
    {OPT_INJECT_STEPS, OPT_INJECT_STEPS, longest_steps, by_steps, NULL},
};

/* Condition that reader_find_lack returns if a foreign program (workload: command) does not read
 * the option. It states that the option needs another workload. */
static const struct reader trainers = {.owner = OPT_WORKLOAD};

/* ---- Find out who reads an option ---- */

const char *reader_owner_text(const struct config *config, enum option_id owner)
{
    return owner == OPT_STRATEGY ? strategy_names()[config_strategy_kind(config)]
                                 : config_text(config, owner);
}

/* Returns whether slurm is among the sites that `reader` lists, and the spec sets no site. Such a
 * spec can run in a Slurm job. */
static bool may_be_slurm(const struct config *config, const struct reader *reader)
{
    return reader->owner == OPT_SITE && !config->values[OPT_SITE].set &&
           name_is_word(reader->names, names_sites->names[SITE_slurm]);
}

static bool holds(const struct reader *reader, const struct config *config)
{
    const struct value *owner = &config->values[reader->owner];
    if (reader->reads != NULL)
        return reader->reads(config);
    if (reader->names == NULL)
        return !value_is_preset(option_get(reader->owner), owner);
    return name_is_word(reader->names, reader_owner_text(config, reader->owner)) ||
           may_be_slurm(config, reader);
}

const struct reader *reader_find_lack(const struct config *config, enum option_id id)
{
    if (!config_reads(config, id))
        return &trainers;
    for (size_t i = 0; i < READERS; i++)
        if (readers[i].id == id && !holds(&readers[i], config))
            return &readers[i];
    return NULL;
}

const struct length *reader_find_late(const struct config *config, enum option_id id)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i].id == id &&
            config_number(config, lengths[i].counted) > lengths[i].most(config))
            return &lengths[i];
    return NULL;
}

/* Returns whether the point uses an option. The option must have a meaning at the point's site
 * (config_concerns), the point's program must read it (config_reads), and all conditions on the
 * option in `readers` must hold. Exception: if the first unmet condition has a function `reads`,
 * the option still counts as used. For example, a compressor counts as used with any strategy;
 * strategies without compression are rejected later. */
bool config_uses(const struct config *config, enum option_id id)
{
    const struct reader *lacks = id < OPT_OWN ? reader_find_lack(config, id) : NULL;
    return config_concerns(config, id) && (lacks == NULL || lacks->reads != NULL);
}

const struct spec_option *config_unread_by(const struct config *config, enum option_id id)
{
    const struct reader *lacks = reader_find_lack(config, id);
    return lacks != NULL ? option_get(lacks->owner) : NULL;
}

bool reader_has_row(enum option_id id)
{
    for (size_t i = 0; i < READERS; i++)
        if (readers[i].id == id)
            return true;
    return false;
}

/* ---- Messages ---- */

/* Writes the blank-separated words as a list for a message: "bucketed or zero2". */
static void join_words(char *text, size_t size, const char *words)
{
    size_t used = 0;
    for (; *words && used < size; words += words[strcspn(words, " ")] ? 1 : 0) {
        int length = (int)strcspn(words, " ");
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", used > 0 ? " or " : "", length,
                                 words);
        words += length;
    }
}

static const char *advice_of(char text[128], enum option_id id, const struct spec_option *owner)
{
    bool chosen = owner->type == TYPE_ENUM, drawn = owner->type == TYPE_FIGURES;
    if (drawn)
        return id == OPT_LINK ? "add model: true to a figure or simulate points"
                              : "add bars to figures";
    if (id == OPT_SEED)
        return "give measure.accuracy.seeds for accuracy runs";
    snprintf(text, 128, "%s %s", chosen ? "choose another" : "give", owner->key);
    return text;
}

void reader_explain_late(char why[READER_WHY], const struct length *late, const char *found,
                         double most)
{
    const struct spec_option *counted = option_get(late->counted);
    snprintf(why, READER_WHY,
             "%s = %s %s: every launch or run has too few %s; expected at most %.0f", counted->key,
             found, late->effect != NULL ? late->effect : "has no effect", counted->unit, most);
}

void reader_explain_lack(char why[READER_WHY], enum option_id id, const struct reader *lacks,
                         const char *found)
{
    const char *key = option_get(id)->key, *owner = option_get(lacks->owner)->key;
    const char *preset = option_get(lacks->owner)->preset;
    char names[256], advice[128];
    bool noise = id == OPT_NOISE_SCALE && scope_is_workload(option_get(lacks->owner)->scope);
    if (lacks == &trainers) {
        snprintf(why, READER_WHY,
                 "%s has no effect: workload.command receives only workload.options. Remove it",
                 key);
    } else if (lacks->names == NULL && strcmp(preset, "1") == 0) {
        bool nodes = lacks->owner == OPT_NODES;
        snprintf(why, READER_WHY, "%s has no effect where %s = %s: %s, or leave %s out", key, owner,
                 found, nodes ? "set ranks_per_node, such as 1" : "use a larger value", key);
    } else if (lacks->reads == sums_exactly) {
        snprintf(why, READER_WHY,
                 "%s is not supported with %s = %s; choose a strategy whose "
                 "ranks hold the exact sum, such as allreduce, or leave %s out",
                 key, owner, found, key);
    } else if (lacks->names == NULL && strcmp(preset, "0") == 0 && strcmp(found, "0") != 0) {
        snprintf(why, READER_WHY, "%s has no effect beside %s = %s: leave one of the two out", key,
                 owner, found);
    } else if (lacks->names == NULL) {
        snprintf(why, READER_WHY, "%s has no effect without %s, which is %s; %s, or leave %s out",
                 key, owner, found, advice_of(advice, id, option_get(lacks->owner)), key);
    } else {
        join_words(names, sizeof names, lacks->names);
        bool stages = lacks->owner == OPT_STRATEGY && name_is_word(lacks->names, "zero3");
        snprintf(why, READER_WHY, "%s has no effect where %s = %s: expected %s%s; leave it out",
                 key, owner, found, names, stages ? " (or sync.zero: 3)" : "");
    }
    if (noise)
        snprintf(why + strlen(why), READER_WHY - strlen(why),
                 ". The estimate needs each rank's whole gradient and the exact sum, in fp32");
}

enum status config_refuse_unread(const struct config *config, enum option_id id, struct error *e)
{
    const struct reader *lacks = reader_find_lack(config, id);
    char why[READER_WHY];
    reader_explain_lack(why, id, lacks, reader_owner_text(config, lacks->owner));
    return error_set(e, ERR_ARGUMENT, "--%s", why);
}

bool config_is_late(char why[], size_t size, const struct config *config, enum option_id id)
{
    const struct length *late = reader_find_late(config, id);
    char text[READER_WHY];
    if (late == NULL)
        return false;
    reader_explain_late(text, late, config_text(config, late->counted), late->most(config));
    snprintf(why, size, "%s", text);
    return true;
}
