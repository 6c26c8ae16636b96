#include "bench/spec/nodes/compute.h"

#include <string.h>

/* ---- Cores for replay ---- */

static bool may_replay(const struct value *value)
{
    return value->number == COMPUTE_replay || value->number == COMPUTE_auto;
}

static bool matrix_may_simulate(const struct matrix *of, const struct config *config)
{
    const struct axis *axis = matrix_axis(of, OPT_SITE);
    for (size_t i = 0; axis != NULL && i < axis->n; i++)
        if (axis->values[i].number == SITE_simulated)
            return true;
    return config_is_simulated(config);
}

static bool matrix_may_replay(const struct matrix *of, const struct config *config)
{
    const struct axis *axis = matrix_axis(of, OPT_COMPUTE);
    for (size_t i = 0; axis != NULL && i < axis->n; i++)
        if (may_replay(&axis->values[i]))
            return true;
    return (config->values[OPT_COMPUTE].set && may_replay(&config->values[OPT_COMPUTE])) ||
           (of->has_baseline && of->baseline.config.values[OPT_COMPUTE].set &&
            may_replay(&of->baseline.config.values[OPT_COMPUTE]));
}

enum status compute_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e)
{
    const struct matrix *all = spec->matrix;
    bool some = matrix_may_replay(all, &spec->config) || matrix_may_simulate(all, &spec->config);
    for (size_t i = 0; i < all->n_cases; i++)
        some = some || matrix_may_replay(&all->cases[i], &all->cases[i].own.config) ||
               matrix_may_simulate(&all->cases[i], &all->cases[i].own.config);
    if (!some || config_int(&spec->config, OPT_COMPUTE_CORES) > 0)
        return OK;
    return config_set_number(&spec->config, OPT_COMPUTE_CORES,
                             machine->usable_cores > 0 ? machine->usable_cores : 1, e);
}

/* ---- Real or replayed compute of a point ---- */

/* Returns whether ranks can really compute: the cores of a machine suffice for its ranks. All
 * emulated hosts share one machine. False for simulated ranks, which never compute. */
static bool fits_cores(const struct config *config)
{
    if (config_is_simulated(config))
        return false;
    long together = config_site(config)->shares_cores ? config_int(config, OPT_RANKS)
                                                      : config_node_ranks(config, 0);
    return together * config_cores_per_rank(config) <= config_int(config, OPT_COMPUTE_CORES);
}

/* Returns whether a point must replay: its site is simulated and `compute` is not set. In a
 * recorded spec, every option is set, so the site decides. */
static bool must_replay(const struct config *config, const struct spec *spec)
{
    return config_is_simulated(config) && (spec->is_recorded || !config->values[OPT_COMPUTE].set);
}

enum status compute_resolve_point(struct config *config, const struct spec *spec, struct error *e)
{
    static const enum option_id of_replay[] = {OPT_COMPUTE_RATE, OPT_COMPUTE_CORES};
    if (config_int(config, OPT_COMPUTE) == COMPUTE_auto || must_replay(config, spec))
        TRY(config_set_text(
            config, OPT_COMPUTE,
            names_computes->names[fits_cores(config) ? COMPUTE_real : COMPUTE_replay], e));
    for (size_t i = 0; i < 2 && !config_replays(config); i++)
        config_put(config, of_replay[i], &spec->presets.values[of_replay[i]]);
    return OK;
}

static bool gives_compute(const struct matrix *of, const struct config *config,
                          enum compute_kind kind)
{
    bool given = config->values[OPT_COMPUTE].set && config_int(config, OPT_COMPUTE) == (long)kind;
    const struct axis *axis = matrix_axis(of, OPT_COMPUTE);
    for (size_t i = 0; axis != NULL && i < axis->n; i++)
        given = given || axis->values[i].number == kind;
    return given;
}

enum status compute_resolve_base(struct config *config, const struct selection *baseline,
                                 const struct spec *spec, const struct matrix *of, struct error *e)
{
    bool own = of != spec->matrix && matrix_gives(of, OPT_COMPUTE);
    const struct matrix *by = own ? of : spec->matrix;
    const struct config *values = own ? &of->own.config : &spec->config;
    if (config_replays(config) && !baseline->config.values[OPT_COMPUTE].set &&
        gives_compute(by, values, COMPUTE_auto) && !gives_compute(by, values, COMPUTE_replay))
        TRY(config_set_text(config, OPT_COMPUTE, names_computes->names[COMPUTE_auto], e));
    return compute_resolve_point(config, spec, e);
}

/* ---- Calibration ---- */

bool compute_is_calibrated(const struct config *config)
{
    return config_replays(config) && config_number(config, OPT_COMPUTE_RATE) == 0;
}

/* Returns the number of ranks of a calibration: the ranks of a node, limited so that each rank has
 * its own cores. */
static long calibrated_ranks(const struct config *config)
{
    long room = config_int(config, OPT_COMPUTE_CORES) / config_int(config, OPT_THREADS);
    long together = config_node_ranks(config, 0);
    if (room < 1)
        return 1;
    return together < room ? together : room;
}

static long largest_batch(const struct config *config)
{
    long images = (long)config_images(config);
    long ranks = config_replicas(config, config_int(config, OPT_RANKS));
    return (images + ranks - 1) / ranks;
}

/* Returns the number of images in a rank's largest micro-batch. If compute is calibrated and a step
 * has several micro-batches, rules.c requires that all have the same size. */
static long micro_batch(const struct config *config)
{
    long accumulate = config_int(config, OPT_ACCUMULATE);
    return (largest_batch(config) + accumulate - 1) / accumulate;
}

/* Returns whether calibrations ignore an option. `on_hosts`: the points have emulated or simulated
 * hosts, so calibrations also ignore site options. */
bool compute_leaves_out(const struct spec_option *option, bool on_hosts)
{
    return strncmp(option->key, "sync.", 5) == 0 || strncmp(option->key, "inject.", 7) == 0 ||
           strncmp(option->key, "parallel.", 9) == 0 ||
           (on_hosts && strncmp(option->key, "site", 4) == 0) || option->id == OPT_COMPUTE_CORES ||
           option->id == OPT_OVERSUBSCRIBE || option->id == OPT_REPLAY ||
           option->id == OPT_BROADCAST_INIT;
}

static enum status take_batch(struct config *config, const struct spec *spec, struct error *e)
{
    if (config_int(config, OPT_GLOBAL_BATCH) == 0)
        return OK;
    long batch = micro_batch(config);
    config_put(config, OPT_GLOBAL_BATCH, &spec->presets.values[OPT_GLOBAL_BATCH]);
    return config_set_number(config, OPT_BATCH_PER_RANK, batch, e);
}

enum status compute_calibrate(struct config *config, const struct spec *spec, struct error *e)
{
    long ranks = calibrated_ranks(config);
    bool on_hosts = config_site(config)->shares_cores;
    TRY(take_batch(config, spec, e));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (i < OPT_OWN && compute_leaves_out(option_get((enum option_id)i), on_hosts))
            config_put(config, (enum option_id)i, &spec->presets.values[i]);
    TRY(config_set_text(config, OPT_COMPUTE, names_computes->names[COMPUTE_calibrate], e));
    TRY(config_set_text(config, OPT_STRATEGY, names_strategies->names[STRATEGY_none], e));
    TRY(config_set_number(config, OPT_RANKS, ranks, e));
    TRY(config_set_number(config, OPT_NODES, 1, e));
    return config_set_number(config, OPT_RANKS_PER_NODE, ranks, e);
}
