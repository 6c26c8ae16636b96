/* Rejects axes and values that have no effect at any point. */
#include <math.h>

#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/points/readers.h"
#include "bench/spec/value.h"
#include "kernels/base/names.h"

static bool has_several_ranks(const struct config *config)
{
    return config_int(config, OPT_RANKS) > 1;
}

/* Returns the number of ranks that hold the same layers and sum their gradients. */
static double count_replicas(const struct config *config)
{
    return (double)config_replicas(config, config_int(config, OPT_RANKS));
}

static bool has_replicas(const struct config *config)
{
    return count_replicas(config) > 1;
}

/* Returns whether the images of some step cannot be divided equally among the replicas. Also true
 * for elastic runs, or if the number of images is unknown. */
static bool leaves_remainder(const struct config *config)
{
    double ranks = count_replicas(config);
    double batch = config_images_taken(config), asked = config_number(config, OPT_DATA_SAMPLES);
    double samples = asked > 0 ? asked : config_data_set(config)->train;
    return config_is_elastic(config) || samples == 0 || fmod(batch, ranks) > 0 ||
           fmod(fmod(samples, batch), ranks) > 0;
}

/* Returns whether ranks compute anything in timed launches, in the calibration for replay or in
 * accuracy runs. */
static bool computes(const struct config *config)
{
    return !config_replays(config) || config_number(config, OPT_COMPUTE_RATE) == 0 ||
           (config->values[OPT_ACCURACY_SEEDS].n > 0 && config_wants_accuracy(config));
}

static const char one_replica[] = "there is only one data-parallel replica";
static const char assumed[] = "compute.rate gives the times of ops";

/* Options from `first` to `last`, which a point reads only if `reads` returns true. The compressor
 * is not listed, since gradients are compressed on one rank too. Nor are train.optimizer and
 * train.momentum, since they affect memory even if nothing is computed. */
static const struct idle {
    enum option_id first, last, by;
    bool (*reads)(const struct config *config);
    const char *where;
    /* values, separated by blanks, that are equivalent at points for which `reads` returns false;
     * NULL: all values */
    const char *alike;
    /* whether to reject even a single value if it is not the default; otherwise only an axis with
     * several values is rejected */
    bool alone;
} idles[] = {
    {OPT_DATA_SHARD, OPT_DATA_SHARD, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, true},
    {OPT_SCALE, OPT_SCALE, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, true},
    {OPT_SCALE, OPT_SCALE, OPT_PIPELINE, has_replicas, one_replica, NULL, true},
    {OPT_STRATEGY, OPT_SCALE, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, false},
    {OPT_OVERLAP, OPT_OVERLAP, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, false},
    {OPT_STRATEGY, OPT_SCALE, OPT_PIPELINE, has_replicas, one_replica, NULL, false},
    {OPT_OVERLAP, OPT_OVERLAP, OPT_PIPELINE, has_replicas, one_replica, NULL, false},
    {OPT_ORDER, OPT_ORDER, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, false},
    {OPT_BROADCAST_INIT, OPT_BROADCAST_INIT, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, true},
    {OPT_BATCH_NORM, OPT_BATCH_NORM, OPT_RANKS, has_several_ranks, "ranks = 1", "local sync", true},
    {OPT_CHECK, OPT_CHECK, OPT_RANKS, has_several_ranks, "ranks = 1", "step end", false},
    {OPT_RESTART_WITH, OPT_RESTART_WITH, OPT_RANKS, has_several_ranks, "ranks = 1", NULL, true},
    {OPT_REMAINDER, OPT_REMAINDER, OPT_GLOBAL_BATCH, leaves_remainder, "ranks divide each batch",
     NULL, true},
    {OPT_LR_RULE, OPT_LR_RULE, OPT_PIPELINE, has_replicas, one_replica, NULL, true},
    {OPT_BATCH_NORM, OPT_BATCH_NORM, OPT_PIPELINE, has_replicas, one_replica, "local sync", true},
    {OPT_DATA_SHARD, OPT_DATA_SHARD, OPT_PIPELINE, has_replicas, one_replica, NULL, true},
    {OPT_DATA_SET, OPT_DATA_SET, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
    {OPT_AUGMENT, OPT_AUGMENT, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
    {OPT_DATA_SHARD, OPT_DATA_SHARD, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
    {OPT_NESTEROV, OPT_TRUST, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
    {OPT_CLIP_VALUE, OPT_CLIP_VALUE, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
    {OPT_CHECK, OPT_CHECK, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
    {OPT_TUNE, OPT_ISA, OPT_COMPUTE_RATE, computes, assumed, NULL, false},
};

static const char *remedy_of(const struct idle *idle)
{
    return idle->by == OPT_COMPUTE_RATE ? "no compute.rate" : "other numbers of ranks";
}

/* Returns whether any point reads the options of a row of `idles`. Also returns true if the spec
 * sets ranks_per_node and idle->by is not compute.rate: the numbers of ranks may then depend on
 * this machine's cores. */
static bool is_read(const struct idle *idle, const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        if ((idle->by != OPT_COMPUTE_RATE && config->values[OPT_RANKS_PER_NODE].mark.line > 0) ||
            idle->reads(config))
            return true;
    }
    return false;
}

/* Returns whether the user chose the value or axis. Values from --set or option `quick` count, but
 * values in an extended file do not. Other values count unless the machine, --set or option `quick`
 * determines the number of ranks or option idle->by. */
static bool is_chosen(const struct idle *idle, const struct spec *spec, struct mark mark)
{
    bool open = owned_is_open(spec, OPT_RANKS) || spec_option_is_open(spec, idle->by);
    return !owned_is_of_base(spec, mark) && (!open || mark_from_set(mark));
}

static bool is_alike(const struct idle *idle, const struct value *value)
{
    return idle->alike == NULL || name_is_word(idle->alike, value->text);
}

static enum status check_value(const struct idle *idle, enum option_id id,
                               const struct value *value, const struct spec *spec, struct error *e)
{
    if (!idle->alone || !is_alike(idle, value) || value_is_preset(option_get(id), value) ||
        !is_chosen(idle, spec, value->mark))
        return OK;
    return mark_error(e, ERR_SPEC, value->mark,
                      "%s = %s has no effect: %s at every point. Remove it, or use %s",
                      option_get(id)->key, value->text, idle->where, remedy_of(idle));
}

static enum status check_axis(const struct idle *idle, const struct axis *axis,
                              const struct spec *spec, struct error *e)
{
    const struct value *last = NULL;
    for (size_t i = 0; i < axis->n; i++) {
        const struct value *value = &axis->values[i];
        if (!is_alike(idle, value))
            continue;
        if (last != NULL && idle->alike != NULL && is_chosen(idle, spec, axis->mark))
            return mark_error(e, ERR_SPEC, value->mark,
                              "%s = %s does the same as %s: %s at every point. Leave one "
                              "of the two out, or use %s",
                              option_get(axis->id)->key, value->text, last->text, idle->where,
                              remedy_of(idle));
        if (last != NULL && is_chosen(idle, spec, axis->mark))
            return mark_error(e, ERR_SPEC, axis->mark,
                              "%s has no effect: %s at every point. Use one value, or %s",
                              option_get(axis->id)->key, idle->where, remedy_of(idle));
        last = value;
    }
    return axis->n == 1 ? check_value(idle, axis->id, &axis->values[0], spec, e) : OK;
}

static enum status check_matrix(const struct idle *idle, const struct matrix *of,
                                const struct config *single, const struct spec *spec,
                                struct error *e)
{
    for (size_t i = 0; i < of->n_axes; i++)
        if (of->axes[i].id >= idle->first && of->axes[i].id <= idle->last)
            TRY(check_axis(idle, &of->axes[i], spec, e));
    for (enum option_id id = idle->first; id <= idle->last; id++)
        if (single->values[id].set && single->values[id].mark.line > 0)
            TRY(check_value(idle, id, &single->values[id], spec, e));
    return OK;
}

enum status idle_check(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    for (size_t i = 0; i < sizeof idles / sizeof *idles && !spec->is_recorded; i++) {
        if (is_read(&idles[i], spec))
            continue;
        TRY(check_matrix(&idles[i], all, &spec->config, spec, e));
        for (size_t k = 0; k < all->n_cases; k++)
            TRY(check_matrix(&idles[i], &all->cases[k], &all->cases[k].own.config, spec, e));
    }
    return OK;
}
