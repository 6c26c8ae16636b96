/* Options that belong to what another option names, and what becomes of them where nothing does. */
#include <stdio.h>
#include <string.h>

#include "bench/spec/points/points.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml_reader.h"

/* An option of an optimizer, a schedule, a strategy or a compressor, which have it where option `owner` is one of these;
 * or, where none is named, where it is not as by itself. */
static const struct owned {
    enum option_id id, owner;
    const char *names[4];
} owned_options[] = {
    {OPT_COMMAND, OPT_WORKLOAD, {"command"}},
    {OPT_METRICS, OPT_WORKLOAD, {"command"}},
    {OPT_JUDGED, OPT_WORKLOAD, {"command"}},
    {OPT_TUNE, OPT_KERNELS, {"fast", "exact"}},
    {OPT_MOMENTUM, OPT_OPTIMIZER, {"sgd", "lars"}},
    {OPT_NESTEROV, OPT_OPTIMIZER, {"sgd"}},
    {OPT_DECOUPLED_DECAY, OPT_OPTIMIZER, {"sgd"}},
    {OPT_BETA1, OPT_OPTIMIZER, {"adam", "adamw", "lamb"}},
    {OPT_BETA2, OPT_OPTIMIZER, {"adam", "adamw", "lamb"}},
    {OPT_EPSILON, OPT_OPTIMIZER, {"adam", "adamw", "lamb"}},
    {OPT_TRUST, OPT_OPTIMIZER, {"lars"}},
    {OPT_LR_STEP_EPOCHS, OPT_LR_SCHEDULE, {"step"}},
    {OPT_LR_GAMMA, OPT_LR_SCHEDULE, {"step"}},
    {OPT_LR_MIN, OPT_LR_SCHEDULE, {"cosine"}},
    {OPT_LOSS_SCALE, OPT_PRECISION, {"fp16"}},
    {OPT_LOSS_SCALE_INITIAL, OPT_PRECISION, {"fp16"}},
    {OPT_LOSS_SCALE_WINDOW, OPT_PRECISION, {"fp16"}},
    {OPT_LOSS_SCALE_HYSTERESIS, OPT_PRECISION, {"fp16"}},
    {OPT_LOSS_SCALE_MIN, OPT_PRECISION, {"fp16"}},
#define OWNED_anyone(key, owner)
#define OWNED_strategy(key, owner)                                      {OPT_sync_##key, OPT_STRATEGY, {#owner}},
#define OWNED_variant(key, owner)                                       {OPT_sync_##key, OPT_VARIANT, {#owner}},
#define OWNED_compress(key, owner)                                      {OPT_sync_##key, OPT_COMPRESS, {#owner}},
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) OWNED_##of(key, owner)
#include "comm/cost/strategies.def"
#define SYNC_OPTION(key, of, owner, type, unit, min, max, preset, help) OWNED_##of(key, owner)
#include "comm/cost/compressors.def"
    {OPT_PIPELINE_SCHEDULE, OPT_PIPELINE, {NULL}},
    {OPT_PIPELINE_CUT, OPT_PIPELINE, {NULL}},
    {OPT_RESTART_WITH, OPT_RESTARTS, {NULL}},
    {OPT_RESTART_LEAST, OPT_RESTART_WITH, {"fewer"}},
    {OPT_INJECT_SLEEP, OPT_INJECT_KIND, {"fixed", "exponential", "pareto"}},
    {OPT_INJECT_SHAPE, OPT_INJECT_KIND, {"pareto"}},
    {OPT_INJECT_RANKS, OPT_INJECT_KIND, {"fixed", "exponential", "pareto", "kill"}},
    {OPT_INJECT_STEPS, OPT_INJECT_KIND, {"fixed", "exponential", "pareto", "kill"}},
    {OPT_INJECT_PHASE, OPT_INJECT_KIND, {"fixed", "exponential", "pareto", "kill"}},
};

static bool has_owner(const struct owned *owned, const struct config *config)
{
    const struct value *owner = &config->values[owned->owner];
    for (int i = 0; i < 4 && owned->names[i] != NULL; i++)
        if (strcmp(owned->names[i], config_text(config, owned->owner)) == 0)
            return true;
    return owned->names[0] == NULL && owner->set &&
           !value_is_preset(option_get(owned->owner), owner);
}

static enum status error_no_owner(const struct owned *owned, const struct value *value,
                                  struct error *e)
{
    char names[64] = "";
    for (int i = 0; i < 4 && owned->names[i] != NULL; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                 owned->names[i]);
    return mark_error(e, ERR_SPEC, value->mark, "%s is an option of %s, which no point uses",
                      option_get(owned->id)->key,
                      names[0] != '\0' ? names : option_get(owned->owner)->key);
}

/* NULL: no point has the option, or one that uses it does. */
static const struct value *find_unused(const struct spec *spec, const struct owned *owned)
{
    const struct spec_option *option = option_get(owned->id);
    const struct value *unused = NULL;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        const struct value *value = &config->values[owned->id];
        if (has_owner(owned, config))
            return NULL;
        if (value->set && !value_is_preset(option, value))
            unused = value;
    }
    return unused;
}

enum status owned_check(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < sizeof owned_options / sizeof *owned_options; i++) {
        const struct value *unused = find_unused(spec, &owned_options[i]);
        if (unused != NULL)
            return error_no_owner(&owned_options[i], unused, e);
    }
    return OK;
}
