/* Rejects axes, cases, seeds and local SGD periods that change no measured number. Untimed options
 * do not affect step times, so a campaign that measures only times must not vary them. */
#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "bench/spec/points/alike.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"

/* Returns whether launches record losses or accuracies, or every point runs workload.command, whose
 * program may use the seed. */
static bool shows_training(const struct spec *spec)
{
    bool runs = false;
    for (size_t i = 0; i < spec->n_points; i++)
        runs = runs || config_wants_accuracy(&spec->points[i].config);
    return (runs && spec->config.values[OPT_ACCURACY_SEEDS].n > 0) ||
           config_int(&spec->config, OPT_STEPS_CSV) || spec_foreign(spec) != NULL;
}

/* ---- Axes ---- */

/* Returns whether a step takes the same time with all values of the option except 0. */
static bool is_switch(enum option_id id)
{
    return id == OPT_MOMENTUM || id == OPT_WEIGHT_DECAY;
}

static size_t count_beside_default(const struct axis *axis)
{
    size_t n = 0;
    for (size_t i = 0; i < axis->n; i++)
        n += !value_is_preset(option_get(axis->id), &axis->values[i]);
    return n;
}

static enum status check_axis(const struct axis *axis, struct error *e)
{
    const struct spec_option *option = option_get(axis->id);
    if (option->scope == SCOPE_UNTIMED && axis->n > 1)
        return mark_error(e, ERR_SPEC, axis->mark,
                          "%s does not affect the time of a step. Use one value, or add accuracy "
                          "runs by measure.accuracy.seeds%s",
                          option->key, axis->id == OPT_SEED ? ", which lists the seeds" : "");
    if (is_switch(axis->id) && count_beside_default(axis) > 1)
        return mark_error(e, ERR_SPEC, axis->mark,
                          "a step takes the same time with all values of %s except 0. Use 0 and "
                          "one other value, or add accuracy runs by measure.accuracy.seeds",
                          option->key);
    return OK;
}

/* Rejects an axis with several values of sync.deadline, since the option does not affect the
 * results of a launch that succeeds. */
static enum status check_deadlines(const struct matrix *of, struct error *e)
{
    const struct axis *axis = matrix_axis(of, OPT_DEADLINE);
    return axis == NULL || axis->n < 2 ? OK
                                       : mark_error(e, ERR_SPEC, axis->mark,
                                                    "sync.deadline does not affect the results of "
                                                    "a launch that succeeds. Use one value");
}

static enum status check_axes(const struct spec *spec, const struct matrix *of, struct error *e)
{
    for (size_t i = 0; i < of->n_axes; i++)
        if (of->axes[i].open || !spec_option_is_open(spec, OPT_ACCURACY_SEEDS))
            TRY(check_axis(&of->axes[i], e));
    return OK;
}

/* ---- Cases ---- */

static bool is_timed(const struct spec_option *option)
{
    return option->scope != SCOPE_UNTIMED &&
           !is_switch((enum option_id)(option - option_get((enum option_id)0)));
}

/* Returns whether the points agree on the options for which is_switch returns true: each such
 * option is 0 at both points, or non-zero at both. */
static bool switches_agree(const struct config *a, const struct config *b)
{
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (is_switch(id) && (a->values[id].number == 0) != (b->values[id].number == 0))
            return false;
    return true;
}

/* Rejects two points of different cases that differ only in options without effect on step time.
 * Accepts such a difference if the option's value at `point` is a default or comes from a file that
 * the spec extends. Also accepts different values of options with `flaw`, since these decide
 * whether unequal replicas are flagged by_design. */
static enum status check_pair(const struct point *first, const struct point *point,
                              const struct spec *spec, struct error *e)
{
    if (first->of == point->of || !switches_agree(&first->config, &point->config))
        return OK;
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        const struct spec_option *option = option_get(id);
        const struct value *value = &point->config.values[id];
        if (!is_timed(option) && !option->flaw && config_uses(&point->config, id) &&
            !value_equal(value, &first->config.values[id]) && value->mark.line > 0 &&
            !owned_is_of_base(spec, value->mark))
            return mark_error(
                e, ERR_SPEC, value->mark,
                "%s = %s and %s give equal step times, so points '%s' and '%s' repeat one "
                "measurement. Leave one of the two points out, or add accuracy runs by "
                "measure.accuracy.seeds",
                option->key, first->config.values[id].text, value->text, point->label,
                first->label);
    }
    return OK;
}

static enum status check_cases(const struct spec *spec, struct error *e)
{
    struct alike *alike;
    if (spec->matrix->n_cases < 2 || spec_option_is_open(spec, OPT_ACCURACY_SEEDS))
        return OK;
    TRY(alike_make(&alike, spec, is_timed, spec->n_points, e));
    enum status status = OK;
    for (size_t i = 0; i < spec->n_points && status == OK; i++) {
        const struct point *point = &spec->points[i];
        if (!point->requested)
            continue;
        alike_note_first(alike, point, i);
        size_t first = *alike_of(alike, point);
        for (size_t k = first; k < i && status == OK; k++)
            if (spec->points[k].requested && *alike_of(alike, &spec->points[k]) == first)
                status = check_pair(&spec->points[k], point, spec, e);
    }
    alike_free(alike);
    return status;
}

/* ---- Seeds ---- */

/* Rejects a spec if two points with accuracy runs differ in option `seed`, since accuracy runs
 * ignore it. Other differences between the points do not matter. */
static enum status check_seeds(const struct spec *spec, struct error *e)
{
    const struct value *seeds = &spec->config.values[OPT_ACCURACY_SEEDS], *first = NULL;
    for (size_t i = 0; i < spec->n_points && seeds->n > 0; i++) {
        const struct config *config = &spec->points[i].config;
        const struct value *seed = &config->values[OPT_SEED];
        if (!config_wants_accuracy(config))
            continue;
        if (first != NULL && seed->number != first->number)
            return mark_error(
                e, ERR_SPEC, seed->mark.line > 0 ? seed->mark : first->mark,
                "seed has no effect on accuracy runs, which use measure.accuracy.seeds. "
                "Leave seed out, and use measure.accuracy.seeds: [%s, %s]",
                first->text, seed->text);
        first = seed;
    }
    return OK;
}

/* Returns whether local SGD sends nothing in the timed steps. The first sync.post_local steps sum
 * gradients; after them, every sync.period-th step averages weights. */
static bool is_silent(const struct config *c)
{
    int64_t period = config_int(c, OPT_sync_period);
    int64_t before = config_int(c, OPT_TIME_WARMUP) - config_int(c, OPT_sync_post_local);
    int64_t last = before + config_int(c, OPT_TIME_STEPS);
    return config_uses(c, OPT_sync_period) && c->values[OPT_TIME_LAUNCHES].number_hi > 0 &&
           config_int(c, OPT_RANKS) > 1 && !config_is_simulated(c) && before >= 0 &&
           last / period == before / period;
}

/* Rejects points of local SGD that send nothing in the timed steps (is_silent). Accepts them if
 * --set or `quick` changes the number of timed or warm-up steps, but not sync.period. */
static enum status check_periods(const struct spec *spec, struct error *e)
{
    bool is_cut =
        spec_option_is_open(spec, OPT_TIME_STEPS) || spec_option_is_open(spec, OPT_TIME_WARMUP);
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *c = &spec->points[i].config;
        const struct value *period = &c->values[OPT_sync_period];
        if (!is_silent(c) || (is_cut && !mark_from_set(period->mark)))
            continue;
        return mark_error(e, ERR_SPEC, period->set ? period->mark : c->values[OPT_TIME_STEPS].mark,
                          "sync.period = %s: weights are not averaged in the %ld timed steps after "
                          "%ld warm-up steps. Use a shorter period, or measure.time.steps = %ld",
                          period->text, config_int(c, OPT_TIME_STEPS),
                          config_int(c, OPT_TIME_WARMUP), config_int(c, OPT_sync_period));
    }
    return OK;
}

enum status untimed_check(const struct spec *spec, struct error *e)
{
    if (spec->is_recorded)
        return OK;
    TRY(check_periods(spec, e));
    TRY(check_deadlines(spec->matrix, e));
    TRY(check_seeds(spec, e));
    if (shows_training(spec))
        return OK;
    TRY(check_axes(spec, spec->matrix, e));
    for (size_t i = 0; i < spec->matrix->n_cases; i++)
        TRY(check_axes(spec, &spec->matrix->cases[i], e));
    return check_cases(spec, e);
}
