/* Checks injected sleeps and kills. Each rank of inject.ranks must exist in at least one point.
 * inject.phase must occur in a step of inject.steps (find_missed_step). This rule is not applied to
 * values of a spec file if --set, `quick` or the machine determines the steps (is_cut). */
#include "bench/spec/rules/injected.h"

#include <math.h>

#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/points/readers.h"
#include "bench/spec/yaml/yaml_reader.h"

static enum status check_stragglers(const struct spec *spec, struct error *e)
{
    long most = 0;
    for (size_t i = 0; i < spec->n_points; i++)
        if (config_int(&spec->points[i].config, OPT_RANKS) > most)
            most = config_int(&spec->points[i].config, OPT_RANKS);
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *c = &spec->points[i].config;
        const struct value *chosen = &c->values[OPT_INJECT_RANKS];
        if (chosen->n == 0 && config_int(c, OPT_INJECT_KIND) != INJECT_none)
            return mark_error(
                e, ERR_SPEC, chosen->mark,
                "inject.ranks = [] names no rank. Use ranks such as [0], or leave inject.kind out");
        for (size_t k = 0; k < chosen->n && config_int(c, OPT_INJECT_KIND) != INJECT_none; k++)
            if (chosen->numbers[k] >= (double)most)
                return mark_error(
                    e, ERR_SPEC, chosen->mark,
                    "inject.ranks names rank %.0f, but points have at most %ld ranks: expected "
                    "ranks 0..%ld",
                    chosen->numbers[k], most, most - 1);
    }
    return OK;
}

/* Returns whether --set, option `quick` or the machine determines at least one of these: epochs,
 * samples, batch, warm-up, steps, launches, ranks, seeds. The steps that run can then differ from
 * the steps in the spec file. */
static bool is_cut(const struct spec *spec)
{
    static const enum option_id lengths[] = {OPT_EPOCHS,      OPT_DATA_SAMPLES,  OPT_GLOBAL_BATCH,
                                             OPT_TIME_WARMUP, OPT_TIME_STEPS,    OPT_TIME_LAUNCHES,
                                             OPT_RANKS,       OPT_ACCURACY_SEEDS};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (spec_option_is_open(spec, lengths[i]))
            return true;
    return false;
}

/* Returns whether all steps of inject.steps in which inject.phase occurs are warm-up steps. Returns
 * false for phases start, end, evaluation and checkpoint, which are not checked. Returns false for
 * phase read if the number of steps per epoch is unknown. */
static bool is_in_warmup(const struct config *c)
{
    double warmup = config_number(c, OPT_TIME_WARMUP), epoch = config_epoch_steps(c);
    double last = fmin(config_launch_steps(c), c->values[OPT_INJECT_STEPS].number_hi);
    if (config_int(c, OPT_INJECT_PHASE) == INJECT_PHASE_read)
        return !isnan(epoch) && 1 + floor((last - 1) / epoch) * epoch <= warmup;
    return reader_is_each_step(c) && last <= warmup;
}

/* Returns why inject.phase occurs in no measured step of inject.steps; NULL if no reason is found.
 * Either the phase occurs in no step of inject.steps at all, or it occurs only in warm-up steps
 * (is_in_warmup). The second reason is not checked for points with accuracy runs. */
static const char *find_missed_step(const struct config *c)
{
    bool trained = c->values[OPT_ACCURACY_SEEDS].n > 0;
    if (!reader_is_each_step(c) && reader_count_sleeps(c) < 1)
        switch (config_int(c, OPT_INJECT_PHASE)) {
        case INJECT_PHASE_start:
            return "phase start counts as step 1. Include step 1";
        case INJECT_PHASE_end:
            return "phase end counts as the last step. Include the last step";
        case INJECT_PHASE_evaluation:
            return "phase evaluation follows the last step of an epoch. Include such a step";
        case INJECT_PHASE_checkpoint:
            return "no checkpoint follows these steps. Include a step after which one is written";
        default:
            return "phase read counts as the first step of an epoch. Include such a step, as step "
                   "1";
        }
    if (!trained && is_in_warmup(c))
        return "every sleep falls into measure.time.warmup_steps, which are not timed. Include a "
               "later step, or choose another inject.phase";
    return NULL;
}

/* Returns whether inject.phase is `update` but no rank of inject.ranks has this phase. In strategy
 * param_server, only the first sync.servers ranks have an optimizer. */
static bool misses_servers(const struct config *c)
{
    const struct value *ranks = &c->values[OPT_INJECT_RANKS];
    bool update = config_int(c, OPT_INJECT_PHASE) == INJECT_PHASE_update;
    if (!update || config_strategy_kind(c) != STRATEGY_param_server)
        return false;
    for (size_t k = 0; k < ranks->n; k++)
        if (ranks->numbers[k] < config_number(c, OPT_sync_servers))
            return false;
    return true;
}

static enum status check_point(const struct spec *spec, const struct config *c, struct error *e)
{
    if (config_int(c, OPT_INJECT_KIND) == INJECT_none)
        return OK;
    enum option_id at = c->values[OPT_INJECT_STEPS].set ? OPT_INJECT_STEPS : OPT_INJECT_PHASE;
    bool is_excused = is_cut(spec) && !mark_from_set(c->values[at].mark);
    const char *why = is_excused ? NULL : find_missed_step(c);
    if (why != NULL)
        return mark_error(e, ERR_SPEC, c->values[at].mark, "%s = %s has no effect: %s",
                          option_get(at)->key, c->values[at].text, why);
    if (misses_servers(c))
        return mark_error(e, ERR_SPEC, c->values[OPT_INJECT_RANKS].mark,
                          "inject.ranks names no server, but only servers (the first sync.servers "
                          "= %ld ranks) run inject.phase = update. Include rank 0",
                          config_int(c, OPT_sync_servers));
    return OK;
}

enum status injected_check(const struct spec *spec, struct error *e)
{
    TRY(check_stragglers(spec, e));
    for (size_t i = 0; i < spec->n_points; i++)
        TRY(check_point(spec, &spec->points[i].config, e));
    return OK;
}
