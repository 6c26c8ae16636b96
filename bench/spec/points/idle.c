/* Rejects axes that have no effect at any point. */
#include <math.h>

#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"

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

/* Returns whether ranks have unequal batches in some step. */
static bool leaves_remainder(const struct config *config)
{
    double ranks = count_replicas(config);
    double batch = config_images(config), asked = config_number(config, OPT_DATA_SAMPLES);
    double samples = asked > 0 ? asked : config_data_set(config)->train;
    return config_is_elastic(config) || samples == 0 || fmod(batch, ranks) > 0 ||
           fmod(fmod(samples, batch), ranks) > 0;
}

static const char one_replica[] = "no two ranks sum gradients";

/* Options from `first` to `last`, and the condition under which a point reads them. The compressor
 * is not listed, since gradients are compressed on one rank too. */
static const struct idle {
    enum option_id first, last, by;
    bool (*reads)(const struct config *config);
    const char *where;
} idles[] = {
    {OPT_DATA_SHARD, OPT_DATA_SHARD, OPT_RANKS, has_several_ranks, "ranks = 1"},
    {OPT_STRATEGY, OPT_SCALE, OPT_RANKS, has_several_ranks, "ranks = 1"},
    {OPT_OVERLAP, OPT_OVERLAP, OPT_RANKS, has_several_ranks, "ranks = 1"},
    {OPT_STRATEGY, OPT_SCALE, OPT_PIPELINE, has_replicas, one_replica},
    {OPT_OVERLAP, OPT_OVERLAP, OPT_PIPELINE, has_replicas, one_replica},
    {OPT_ORDER, OPT_ORDER, OPT_RANKS, has_several_ranks, "ranks = 1"},
    {OPT_REMAINDER, OPT_REMAINDER, OPT_GLOBAL_BATCH, leaves_remainder, "ranks divide each batch"},
};

/* Returns whether any point reads the options. With ranks_per_node in the spec, the ranks may
 * depend on this machine's cores, so the answer is yes. */
static bool is_read(const struct idle *idle, const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        if (config->values[OPT_RANKS_PER_NODE].mark.line > 0 || idle->reads(config))
            return true;
    }
    return false;
}

static enum status check_axes(const struct idle *idle, const struct matrix *of,
                              const struct spec *spec, struct error *e)
{
    bool open = owned_is_open(spec, OPT_RANKS) || spec_option_is_open(spec, idle->by);
    for (size_t i = 0; i < of->n_axes; i++) {
        const struct axis *axis = &of->axes[i];
        const char *key = config_option(&spec->config, axis->id)->key;
        if (axis->id >= idle->first && axis->id <= idle->last && axis->n > 1 &&
            !owned_is_of_base(spec, axis->mark) && (!open || mark_from_set(axis->mark)))
            return mark_error(
                e, ERR_SPEC, axis->mark,
                "%s has no effect where %s, as at every point. Use one value, or other ranks", key,
                idle->where);
    }
    return OK;
}

enum status idle_check(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    for (size_t i = 0; i < sizeof idles / sizeof *idles && !spec->is_recorded; i++) {
        if (is_read(&idles[i], spec))
            continue;
        TRY(check_axes(&idles[i], all, spec, e));
        for (size_t k = 0; k < all->n_cases; k++)
            TRY(check_axes(&idles[i], &all->cases[k], spec, e));
    }
    return OK;
}
