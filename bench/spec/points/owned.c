/* Options that only some points read, and what becomes of values that no point reads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml_reader.h"
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

/* Reads a checkpoint again, or writes one under this name. */
static bool has_checkpoint(const struct config *config)
{
    return writes_checkpoints(config) ||
           strcmp(config_text(config, OPT_CHECKPOINT_RESUME), "auto") == 0;
}

/* A run's own file is there only where the run has written it. */
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

static bool has_algorithms(const struct config *config)
{
    return flags_of(config) & STRATEGY_ALGORITHMS;
}

static bool overlaps(const struct config *config)
{
    return flags_of(config) & STRATEGY_OVERLAPS;
}

/* A run that is timed follows the schedule of the rate that epochs stretch. */
static bool counts_epochs(const struct config *config)
{
    return config->values[OPT_ACCURACY_SEEDS].n > 0 ||
           config_int(config, OPT_LR_SCHEDULE) == LR_SCHEDULE_cosine;
}

/* Ranks of strategy none train apart: no run says how well. */
static bool trains_one_net(const struct config *config)
{
    return config_is_foreign(config) || communicates(config) || config_int(config, OPT_RANKS) == 1;
}

/* Before nodes are resolved, too. */
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

static bool shows_model(const struct config *config)
{
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

/* ---- How long launches and runs are ---- */

static bool is_trained(const struct config *config)
{
    return config->values[OPT_ACCURACY_SEEDS].n > 0 && config_wants_accuracy(config);
}

static double trained_epochs(const struct config *config)
{
    return is_trained(config) ? config_number(config, OPT_EPOCHS) : 0;
}

/* INFINITY: not known before the data are read, or before ranks change. */
static double trained_steps(const struct config *config)
{
    double steps = config_epoch_steps(config);
    if (!is_trained(config))
        return 0;
    return isnan(steps) || config_is_elastic(config) ? INFINITY : trained_epochs(config) * steps;
}

static double longest_steps(const struct config *config)
{
    return fmax(trained_steps(config), is_timed(config) ? config_launch_steps(config) : 0);
}

static double longest_but_one(const struct config *config)
{
    return longest_steps(config) - 1;
}

/* Epochs that end before the last step. */
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

/* ---- How large points are, also before nodes are resolved ---- */

static double given_each(const struct config *config)
{
    return config->values[OPT_RANKS_PER_NODE].set ? config_number(config, OPT_RANKS_PER_NODE) : 0;
}

static double most_ranks(const struct config *config)
{
    double nodes = config_number(config, OPT_NODES);
    return fmax(config_number(config, OPT_RANKS), nodes * given_each(config));
}

static bool spans_nodes(const struct config *config)
{
    double each = given_each(config);
    return config_int(config, OPT_NODES) > 1 ||
           (each > 0 && config_number(config, OPT_RANKS) > each);
}

/* ---- Rows ---- */

/* Which points read an option: those where option `owner` has one of the names. Without names: those that `reads`
 * holds for or, without that, where the owner is not at its preset. Several rows of an option hold together. All points
 * read an option without a row. */
struct reader {
    enum option_id id, owner;
    const char *names; /* with blanks between them, or NULL */
    bool (*reads)(const struct config *config);
};

static const struct reader readers[] = {
    {OPT_COMMAND, OPT_WORKLOAD, "command", NULL},
    {OPT_METRICS, OPT_WORKLOAD, "command", NULL},
    {OPT_JUDGED, OPT_WORKLOAD, "command", NULL},
    {OPT_SITE_HOSTS, OPT_SITE, "emulated", NULL},
    {OPT_SITE_RATE, OPT_SITE, "emulated", NULL},
    {OPT_SITE_RATE, OPT_NODES, NULL, spans_nodes},
    {OPT_SITE_DELAY, OPT_SITE, "emulated", NULL},
    {OPT_SITE_DELAY, OPT_NODES, NULL, spans_nodes},
    {OPT_SITE_LAUNCHER, OPT_SITE, "slurm", NULL},
    {OPT_SITE_INTERFACE, OPT_SITE, "slurm ssh", NULL},
    {OPT_SITE_MACHINES, OPT_SITE, "ssh", NULL},
    {OPT_COMPUTE_RATE, OPT_COMPUTE, "replay auto", NULL},
    {OPT_COMPUTE_CORES, OPT_COMPUTE, "replay auto", NULL},
    {OPT_PEER_PYTHON, OPT_WORKLOAD, "peer_torch", NULL},
    {OPT_PEER_LAYOUT, OPT_WORKLOAD, "peer_torch", NULL},
    {OPT_DATA_PATH, OPT_DATA_SET, "mnist cifar10 idx npy", NULL},
    {OPT_KERNELS, OPT_WORKLOAD, "train_cnn command", NULL}, /* of the latter see `trainers` */
    {OPT_TUNE, OPT_WORKLOAD, "train_cnn command", NULL},
    {OPT_TUNE, OPT_KERNELS, "fast exact", NULL},
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
    {OPT_PIPELINE_SCHEDULE, OPT_ACCUMULATE, NULL,
     NULL}, /* of one micro-batch all schedules are one */
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
    {OPT_REPLAY, OPT_STRATEGY, NULL, communicates},
    {OPT_REPLAY, OPT_RANKS, NULL, has_several_ranks},
    {OPT_ACCURACY_RUN, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_ACCURACY_SEEDS, OPT_ACCURACY_RUN, "true", NULL},
    {OPT_ACCURACY_SEEDS, OPT_STRATEGY, NULL, trains_one_net},
    {OPT_ACCURACY_MIN, OPT_ACCURACY_SEEDS, NULL, NULL},
    {OPT_ACCURACY_MIN, OPT_ACCURACY_RUN, "true", NULL},
    {OPT_PUBLISHED_KEYS, OPT_PUBLISHED_FILE, NULL, NULL},
    {OPT_BARS, OPT_FIGURES, NULL, shows_bars},
    {OPT_LINK, OPT_FIGURES, NULL, shows_model},
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

/* Options that come to pass only where option `counted` is at most `most`, in steps or epochs. */
static const struct length {
    enum option_id id, counted;
    double (*most)(const struct config *config);
} lengths[] = {
    {OPT_LR_SCHEDULE, OPT_LR_STEP_EPOCHS, epochs_of_default},
    {OPT_LR_STEP_EPOCHS, OPT_LR_STEP_EPOCHS, ended_epochs},
    {OPT_WARMUP_STEPS, OPT_WARMUP_STEPS, longest_steps},
    {OPT_sync_node_ranks, OPT_sync_node_ranks, most_ranks},
    {OPT_sync_period, OPT_sync_period, longest_steps},
    {OPT_sync_post_local, OPT_sync_post_local, longest_but_one},
    {OPT_CHECKPOINT_EPOCHS, OPT_CHECKPOINT_EPOCHS, trained_epochs},
    {OPT_CHECKPOINT_STEPS, OPT_CHECKPOINT_STEPS, trained_steps},
    {OPT_INJECT_STEPS, OPT_INJECT_STEPS, longest_steps},
};

/* Programs of other makers see no option of a trainer. */
static const struct reader trainers = {.owner = OPT_WORKLOAD};

/* A value that the spec writes, by its place. */
struct written_value {
    enum option_id id;
    struct mark mark;
    const struct reader *lacks; /* what the first point lacks to read it */
    const char *found;          /* the owner's value there; borrowed */
    const struct length *late;  /* what is too late at points that read it */
    double most;                /* of `late`, over the points */
    bool read;                  /* by some point */
};

/* ---- Who reads what ---- */

static const char *owner_text(const struct config *config, enum option_id owner)
{
    return owner == OPT_STRATEGY ? strategy_names()[config_strategy_kind(config)]
                                 : config_text(config, owner);
}

/* A spec that names no site may run in a Slurm job. */
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
    return name_is_word(reader->names, owner_text(config, reader->owner)) ||
           may_be_slurm(config, reader);
}

/* What the point lacks to read the option; NULL: it reads it. */
static const struct reader *find_lack(const struct config *config, enum option_id id)
{
    for (size_t i = 0; i < READERS; i++)
        if (readers[i].id == id && !holds(&readers[i], config))
            return &readers[i];
    return config_reads(config, id) ? NULL : &trainers;
}

static const struct length *find_late(const struct config *config, enum option_id id)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i].id == id &&
            config_number(config, lengths[i].counted) > lengths[i].most(config))
            return &lengths[i];
    return NULL;
}

/* A compressor with a strategy that takes none is a mistake, which is named later: it counts as used. */
bool config_uses(const struct config *config, enum option_id id)
{
    const struct reader *lacks = id < OPT_OWN ? find_lack(config, id) : NULL;
    return config_concerns(config, id) && (lacks == NULL || lacks->reads != NULL);
}

/* ---- Values as the spec writes them ---- */

static bool is_same_place(struct mark a, struct mark b)
{
    return a.line == b.line && a.column == b.column && a.anchor_line == b.anchor_line &&
           a.anchor_column == b.anchor_column && strcmp(a.file, b.file) == 0;
}

/* NULL: no memory. */
static struct written_value *find_written(struct spec *spec, enum option_id id, struct mark mark)
{
    for (size_t i = 0; i < spec->n_written; i++)
        if (spec->written[i].id == id && is_same_place(spec->written[i].mark, mark))
            return &spec->written[i];
    struct written_value *grown = reallocarray(spec->written, spec->n_written + 1, sizeof *grown);
    if (grown == NULL)
        return NULL;
    spec->written = grown;
    grown[spec->n_written] = (struct written_value){.id = id, .mark = mark};
    return &grown[spec->n_written++];
}

static enum status note_value(struct spec *spec, const struct config *config, enum option_id id,
                              struct error *e)
{
    const struct reader *lacks = find_lack(config, id);
    const struct length *late = lacks == NULL ? find_late(config, id) : NULL;
    struct written_value *written = find_written(spec, id, config->values[id].mark);
    if (written == NULL)
        return error_no_memory(e, "a spec");
    written->read = written->read || (lacks == NULL && late == NULL);
    if (late != NULL) {
        written->late = late;
        written->found = config_text(config, late->counted);
        written->most = fmax(written->most, late->most(config));
    }
    if (written->lacks == NULL && written->late == NULL && lacks != NULL) {
        written->lacks = lacks;
        written->found = owner_text(config, lacks->owner);
    }
    return OK;
}

/* Some have none. */
static bool is_preset(const struct spec_option *option, const struct value *value)
{
    return option->preset != NULL && value_is_preset(option, value);
}

/* What a campaign says once is read by whoever runs it, unless a row says more. */
static bool is_owned(const struct spec_option *option)
{
    for (size_t i = 0; i < READERS && scope_is_campaign(option->scope); i++)
        if (readers[i].id == option->id)
            return true;
    return !scope_is_campaign(option->scope);
}

static bool is_on_axis(const struct matrix *of, enum option_id id)
{
    const struct axis *axis = matrix_axis(of, id);
    return axis != NULL && axis->n > 1;
}

/* A baseline undoes values of points by presets, and axes have them beside other values. */
static bool may_be_preset(const struct spec *spec, const struct matrix *of, enum option_id id)
{
    return of == NULL || is_on_axis(of, id) || is_on_axis(spec->matrix, id);
}

enum status owned_note(struct spec *spec, const struct config *config, const struct matrix *of,
                       struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        const struct spec_option *option = option_get(id);
        const struct value *value = &config->values[id];
        bool recorded = spec->is_recorded && !mark_from_set(value->mark);
        if (value->set && value->mark.line > 0 && !recorded && is_owned(option) &&
            !(is_preset(option, value) && may_be_preset(spec, of, id)))
            TRY(note_value(spec, config, id, e));
    }
    return OK;
}

/* ---- Values that no point reads ---- */

/* Words of a command line, as those of a quick form, say how long launches or runs are. */
static bool is_cut(const struct spec *spec)
{
    static const enum option_id deciding[] = {
        OPT_EPOCHS,     OPT_DATA_SAMPLES, OPT_GLOBAL_BATCH,  OPT_BATCH_PER_RANK, OPT_TIME_WARMUP,
        OPT_TIME_STEPS, OPT_RANKS,        OPT_TIME_LAUNCHES, OPT_ACCURACY_SEEDS};
    for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++)
        if (spec_option_is_open(spec, deciding[i]))
            return true;
    return false;
}

/* Of ranks, nodes and ranks_per_node each follows from the others. */
static bool owner_is_open(const struct spec *spec, enum option_id owner)
{
    static const enum option_id sizes[] = {OPT_RANKS, OPT_NODES, OPT_RANKS_PER_NODE};
    for (size_t i = 0; i < 3 && (owner == OPT_RANKS || owner == OPT_NODES); i++)
        if (spec_option_is_open(spec, sizes[i]))
            return true;
    return spec_option_is_open(spec, owner);
}

/* Those of a base, and those below words of a command line that choose another owner. */
static bool is_excused(const struct spec *spec, const struct written_value *written)
{
    for (size_t i = 0; i < spec->n_bases; i++)
        if (strcmp(spec->bases[i], written->mark.file) == 0)
            return true;
    return !mark_from_set(written->mark) &&
           (written->late != NULL ? is_cut(spec) : owner_is_open(spec, written->lacks->owner));
}

/* Changes nothing of what runs, where it stays: points keep their identities. */
static bool is_kept(const struct written_value *written)
{
    static const enum option_id kept[] = {OPT_EPOCHS, OPT_LR_RULE, OPT_CALL_CHECK, OPT_SITE_RATE,
                                          OPT_SITE_DELAY};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (written->id == kept[i])
            return true;
    return written->late != NULL;
}

static bool is_unread(const struct spec *spec, enum option_id id, struct mark mark)
{
    for (size_t i = 0; i < spec->n_written; i++) {
        const struct written_value *w = &spec->written[i];
        if (w->id == id && !w->read && is_same_place(w->mark, mark))
            return !is_kept(w) && is_excused(spec, w);
    }
    return false;
}

/* No value of it but the preset is read. */
static bool axis_is_unread(const struct axis *axis, const struct spec *spec)
{
    size_t presets = 0, unread = 0;
    for (size_t i = 0; i < axis->n; i++) {
        presets += axis->n > 1 && is_preset(option_get(axis->id), &axis->values[i]);
        unread += is_unread(spec, axis->id, axis->values[i].mark);
    }
    return unread > 0 && presets + unread == axis->n;
}

static enum status leave_out_of(struct matrix *of, struct config *config, const struct spec *spec,
                                bool *some, struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        struct value *value = &config->values[id];
        struct axis *axis = matrix_axis(of, id);
        if (axis != NULL && axis_is_unread(axis, spec)) {
            matrix_remove_axis(of, axis);
            *some = true;
        }
        if (!value->set || !is_unread(spec, id, value->mark))
            continue;
        *some = true;
        value_free(value);
        TRY(value_copy(value, &spec->presets.values[id], e));
    }
    return OK;
}

enum status owned_leave_out(struct spec *spec, bool *some, struct error *e)
{
    struct matrix *all = spec->matrix;
    *some = false;
    TRY(leave_out_of(all, &spec->config, spec, some, e));
    for (size_t i = 0; i < all->n_cases; i++)
        TRY(leave_out_of(&all->cases[i], &all->cases[i].own.config, spec, some, e));
    return OK;
}

/* "bucketed or zero2" */
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

static enum status refuse_length(const struct written_value *written, struct error *e)
{
    const struct spec_option *counted = option_get(written->late->counted);
    return mark_error(e, ERR_SPEC, written->mark,
                      "%s = %s never comes to pass: no launch or run has so many %s; expected at "
                      "most %.0f",
                      counted->key, written->found, counted->unit, written->most);
}

static enum status refuse(const struct written_value *written, struct error *e)
{
    const struct reader *lacks = written->lacks;
    const char *key = option_get(written->id)->key, *owner = option_get(lacks->owner)->key;
    char names[256];
    if (lacks == &trainers)
        return mark_error(e, ERR_SPEC, written->mark,
                          "%s has no effect: workload.command sees the options below "
                          "workload.options alone; leave it out",
                          key);
    if (lacks->names == NULL)
        return mark_error(e, ERR_SPEC, written->mark,
                          "%s has no effect without %s, which is %s; give %s, or leave %s out", key,
                          owner, written->found, owner, key);
    join_words(names, sizeof names, lacks->names);
    return mark_error(e, ERR_SPEC, written->mark,
                      "%s has no effect: expected %s = %s, found %s; leave it out", key, owner,
                      names, written->found);
}

enum status owned_check(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->n_written; i++)
        if (!spec->written[i].read && !is_excused(spec, &spec->written[i]))
            return spec->written[i].late != NULL ? refuse_length(&spec->written[i], e)
                                                 : refuse(&spec->written[i], e);
    return OK;
}
