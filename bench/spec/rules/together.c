/* Checks rules over all points of a spec together. An option that has no effect at some points is
 * accepted if another point uses it. */
#include <math.h>
#include <string.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/points/readers.h"
#include "bench/spec/rules/injected.h"
#include "bench/spec/rules/rules.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "comm/cost/cost.h"

static enum status error_no_overlap(const struct config *config, struct error *e)
{
    const struct value *misplaced = &config->values[OPT_OVERLAP];
    char names[256] = "";
    if (config_compressor_waits(config) &&
        strategy_flags(config_strategy_kind(config)) & STRATEGY_OVERLAPS)
        return mark_error(e, ERR_SPEC, misplaced->mark,
                          "sync.overlap = %s is not supported by strategy %s with sync.compress = "
                          "%s, since the backward pass waits for each compressed sum. Use "
                          "sync.overlap: none",
                          misplaced->text, config_text(config, OPT_STRATEGY),
                          config_text(config, OPT_COMPRESS));
    for (int s = 0; s < STRATEGIES; s++)
        if (strategy_flags((enum strategy_kind)s) & STRATEGY_OVERLAPS)
            snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                     strategy_names()[s]);
    return mark_error(e, ERR_SPEC, misplaced->mark,
                      "sync.overlap = %s, but no point's strategy communicates during the backward "
                      "pass. Use one of the strategies%s",
                      misplaced->text, names);
}

/* Rejects values of sync.overlap other than none if no point overlaps communication with the
 * backward pass. Strategies that sum gradients after the backward pass ignore the option. */
static enum status check_overlap(const struct spec *spec, struct error *e)
{
    const struct config *misplaced = NULL;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        if (config_overlap(config) != OVERLAP_none)
            return OK;
        if (config_int(config, OPT_OVERLAP) != OVERLAP_none)
            misplaced = config;
    }
    return misplaced != NULL ? error_no_overlap(misplaced, e) : OK;
}

/* Rejects one checkpoint file for several runs, which would overwrite each other's checkpoints. */
static enum status check_checkpoints(const struct spec *spec, struct error *e)
{
    size_t runs = spec->n_points * spec->config.values[OPT_ACCURACY_SEEDS].n;
    for (size_t i = 0; i < spec->n_points && runs > 1; i++) {
        const struct config *config = &spec->points[i].config;
        const struct value *path = &config->values[OPT_CHECKPOINT_PATH];
        if (config_names_checkpoint(config) && config_writes_checkpoints(config))
            return mark_error(e, ERR_SPEC, path->mark,
                              "checkpoint.path: %s is one file, but this campaign has %zu accuracy "
                              "runs. Remove checkpoint.path to give each run its own file",
                              path->text, runs);
    }
    return OK;
}

static bool is_killed(const struct config *config)
{
    return config_int(config, OPT_INJECT_KIND) == INJECT_kill;
}

/* Returns whether a run can finish although a rank is killed. It can if it may be restarted, since
 * no rank is killed again after a restart. It also can if a retry resumes from a checkpoint, since
 * the retry may begin after the steps with kills (inject.steps). */
static bool survives(const struct config *config)
{
    bool resumes = strcmp(config_text(config, OPT_CHECKPOINT_RESUME), "auto") == 0;
    return config_int(config, OPT_RESTARTS) > 0 || (resumes && config_writes_checkpoints(config));
}

static enum status check_survival(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->n_points && !spec->is_recorded; i++) {
        const struct config *config = &spec->points[i].config;
        const struct value *kind = &config->values[OPT_INJECT_KIND];
        bool chosen = mark_from_set(kind->mark) || !spec_option_is_open(spec, OPT_RESTARTS);
        if (is_killed(config) && !survives(config) && chosen)
            return mark_error(e, ERR_SPEC, kind->mark,
                              "inject.kind = kill ends every accuracy run: restart.budget is 0. "
                              "Use restart.budget: 1 and checkpoint.every_epochs: 1");
    }
    return OK;
}

/* Rejects kills that end every accuracy run. Also rejects kills in campaigns with timed launches,
 * since only accuracy runs can be killed. */
static enum status check_kills(const struct spec *spec, struct error *e)
{
    bool times = spec->config.values[OPT_TIME_LAUNCHES].number_hi > 0;
    for (size_t i = 0; i < spec->n_points && times; i++) {
        const struct config *config = &spec->points[i].config;
        if (is_killed(config))
            return mark_error(e, ERR_SPEC, config->values[OPT_INJECT_KIND].mark,
                              "inject.kind = kill is supported in accuracy runs only, but "
                              "measure.time.launches is %s. Use measure.time.launches: 0",
                              config_text(&spec->config, OPT_TIME_LAUNCHES));
    }
    return check_survival(spec, e);
}

/* Rejects sync.check in timed launches: ranks compare each communication call before they make it,
 * which takes time. */
static enum status check_calls(const struct spec *spec, struct error *e)
{
    const struct value *launches = &spec->config.values[OPT_TIME_LAUNCHES];
    bool times = launches->number_hi > 0 && !spec->is_recorded;
    for (size_t i = 0; i < spec->n_points && times; i++) {
        const struct value *check = &spec->points[i].config.values[OPT_CALL_CHECK];
        bool chosen = !owned_is_of_base(spec, check->mark) &&
                      (mark_from_set(check->mark) || !mark_from_set(launches->mark));
        if (check->number != CALL_CHECK_none && chosen)
            return mark_error(e, ERR_SPEC, check->mark,
                              "sync.check = %s slows every communication call down, so it is "
                              "supported in accuracy runs only, but measure.time.launches is "
                              "%s. Use measure.time.launches: 0",
                              check->text, launches->text);
    }
    return OK;
}

/* Rejects points with equal identities if only one of them has accuracy runs, since they share
 * launches. A point added as a baseline may lack accuracy runs. */
static enum status check_twins(const struct spec *spec, struct error *e)
{
    bool runs = spec->config.values[OPT_ACCURACY_SEEDS].n > 0;
    for (size_t i = 0; i < spec->n_points && runs && !spec->is_recorded; i++) {
        const struct point *point = &spec->points[i], *first = &spec->points[point->twin];
        bool asks = config_wants_accuracy(&point->config);
        const struct point *without = asks ? first : point, *with = asks ? point : first;
        if (asks == config_wants_accuracy(&first->config) || (!asks && !point->requested))
            continue;
        return mark_error(e, ERR_SPEC, without->config.values[OPT_ACCURACY_RUN].mark,
                          "measure.accuracy.run is false at '%s' and true at '%s', but these "
                          "points share their launches. Use one value, or leave one of the two "
                          "points out",
                          without->label, with->label);
    }
    return OK;
}

/* Rejects measure.accuracy.seeds, measure.steps_csv and measure.start_limit if all points run
 * workload.command, where these options have no effect. */
static enum status check_foreign_runs(const struct spec *spec, struct error *e)
{
    static const enum option_id unread[] = {OPT_ACCURACY_SEEDS, OPT_STEPS_CSV, OPT_START_LIMIT};
    for (size_t i = 0; i < sizeof unread / sizeof *unread && spec_foreign(spec) != NULL; i++) {
        const struct value *value = &spec->config.values[unread[i]];
        if (!value_is_preset(option_get(unread[i]), value))
            return mark_error(e, ERR_SPEC, value->mark,
                              "%s has no effect with workload.command, which supports no accuracy "
                              "runs, steps.csv or start limit. Remove the option",
                              option_get(unread[i])->key);
    }
    return OK;
}

/* Rejects train.batch_norm if no point's model has batch norm. */
static enum status check_batch_norm(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (spec->points[i].net != NULL && spec->points[i].net->net.n_buffers > 0)
            return OK;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct value *value = &spec->points[i].config.values[OPT_BATCH_NORM];
        if (value->number != 0)
            return mark_error(e, ERR_SPEC, value->mark,
                              "train.batch_norm = %s has no effect: no point's model has batch "
                              "norm. Remove the option",
                              value->text);
    }
    return OK;
}

static bool is_used(const struct spec *spec, const struct spec_option *option)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (!value_is_preset(option, &spec->points[i].config.values[option->id]))
            return true;
    return false;
}

/* Rejects a figure whose data need an option that every point leaves at its default, for example a
 * timeline without measure.timeline. */
static enum status check_figures(const struct spec *spec, struct error *e)
{
    const struct value *figures = &spec->config.values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++) {
        int wants = figure_kind_get(&figures->figures[i])->wants;
        if (wants == OPTION_COUNT || is_used(spec, option_get((enum option_id)wants)))
            continue;
        const struct spec_option *option = option_get((enum option_id)wants);
        return mark_error(
            e, ERR_SPEC, figures->mark,
            "figures: %s needs %s, which is %s at every point. See `scalebench explain %s`",
            figures->texts[i], option->key, option->preset, option->key);
    }
    return OK;
}

/* Returns the largest min(rows, columns) of the matrices that powersgd forms from parameters. */
static double largest_side(const struct point *point)
{
    size_t most = 0;
    const struct net_desc *net = &point->net->net;
    for (int i = 0; i < net->n_tensors; i++) {
        const struct tensor_desc *t = &net->tensors[i];
        size_t rows = t->n_dims > 1 ? (size_t)t->dims[0] : 0;
        size_t side = low_rank_of(t->count, rows, 1).side;
        most = side > most ? side : most;
    }
    return (double)most;
}

/* Returns the largest sync.zero_persist at which a tensor is still sharded: one less than the size
 * of the largest tensor. */
static double largest_tensor(const struct point *point)
{
    size_t most = 1;
    const struct net_desc *net = &point->net->net;
    for (int i = 0; i < net->n_tensors; i++)
        most = net->tensors[i].count > most ? net->tensors[i].count : most;
    return (double)most - 1;
}

static double gradient_bytes(const struct point *point)
{
    return (double)point->net->net.n_params * sizeof(float);
}

/* Returns the size of the gradients in MiB, rounded up to 4 decimals to keep the message short. */
static double gradient_mib(const struct point *point)
{
    return ceil(gradient_bytes(point) / (1 << 20) * 1e4) / 1e4;
}

static double bucket_size(const struct point *point)
{
    return config_number(&point->config, OPT_sync_cap_mib);
}

static double target(const struct point *point)
{
    return config_number(&point->config, OPT_TARGET_ACC);
}

static double launch_limit(const struct point *point)
{
    return config_number(&point->config, OPT_POINT_LIMIT);
}

/* Returns whether runs of the point are restarted after ranks die. In such runs, an injected sleep
 * may exceed a time limit on purpose, to cause a restart. */
static bool is_begun_again(const struct point *point)
{
    return config_int(&point->config, OPT_RESTARTS) > 0;
}

/* Returns the longest sleep (s, a multiple of 1 ms) that ends before sync.deadline; 0 (no bound)
 * for one rank and for runs with restarts. */
static double deadline(const struct point *point)
{
    bool alone = config_int(&point->config, OPT_RANKS) == 1;
    double whole = ceil(config_number(&point->config, OPT_DEADLINE) * 1000) - 1;
    return alone || is_begun_again(point) ? 0 : whole / 1000;
}

/* Returns the longest sleep in a step (s) that keeps the launch within measure.limit, rounded down
 * to milliseconds. Returns 0 (no bound) for runs with restarts. */
static double limit_of_sleep(const struct point *point)
{
    double steps = fmax(1, reader_count_sleeps(&point->config));
    return is_begun_again(point) ? 0 : floor(launch_limit(point) * 1000 / steps) / 1000;
}

static double most_emulated(const struct point *point)
{
    return EMULATED_HOSTS_MAX;
}

/* Options whose values are rejected above a bound. `what` describes the bound and the reason. If
 * several points use the option, the largest of their bounds applies. */
static const struct bound {
    enum option_id id, by; /* `by`: option on which the bound of option `id` depends */
    double (*most)(const struct point *point);
    const char *what;
} bounds[] = {
    {OPT_sync_rank, OPT_MODEL, largest_side, "the shorter side of every matrix of the network"},
    {OPT_sync_zero_persist, OPT_MODEL, largest_tensor,
     "the size of every tensor, so that none would be sharded"},
    {OPT_sync_first_cap_mib, OPT_sync_cap_mib, bucket_size,
     "sync.cap_mib, but the first bucket must be the smaller one"},
    {OPT_START_LIMIT, OPT_POINT_LIMIT, launch_limit,
     "measure.limit, which ends the launch earlier"},
    {OPT_DEADLINE, OPT_POINT_LIMIT, launch_limit, "measure.limit, which ends the launch earlier"},
    {OPT_RESOURCES, OPT_POINT_LIMIT, launch_limit, "measure.limit, which ends the launch earlier"},
    {OPT_SITE_HOSTS, OPT_SITE, most_emulated, "the number of hosts that one machine can emulate"},
    {OPT_ACCURACY_MIN, OPT_TARGET_ACC, target, "train.target_acc_pct, at which every run ends"},
    {OPT_INJECT_SLEEP, OPT_DEADLINE, deadline,
     "the longest sleep before sync.deadline, when the other ranks give up"},
    {OPT_INJECT_SLEEP, OPT_POINT_LIMIT, limit_of_sleep,
     "measure.limit divided by the number of steps in which a rank sleeps"},
};

/* Options for which all values above a bound have the same effect, so a spec may use only one of
 * these values. `what`: unit of the bound. */
static const struct bound alike[] = {
    {OPT_sync_cap_mib, OPT_MODEL, gradient_mib, "MiB"},
    {OPT_sync_first_cap_mib, OPT_MODEL, gradient_mib, "MiB"},
    {OPT_sync_fusion_mib, OPT_MODEL, gradient_mib, "MiB"},
    {OPT_sync_segment, OPT_MODEL, gradient_bytes, "B"},
};

static bool is_bound(const struct bound *bound, const struct point *point)
{
    return config_uses(&point->config, bound->id) && (bound->by != OPT_MODEL || point->net != NULL);
}

static double most_of(const struct bound *bound, const struct spec *spec)
{
    double most = 0;
    for (size_t i = 0; i < spec->n_points; i++)
        if (is_bound(bound, &spec->points[i]))
            most = fmax(most, bound->most(&spec->points[i]));
    return most;
}

/* Returns whether the value counts as the user's own choice; other values are not rejected. Values
 * of --set or `quick` count. Values in the spec's own file count unless the machine, --set or
 * `quick` determines option `bound->by`. Defaults and values in an extended file do not count. */
static bool is_chosen(const struct value *value, const struct bound *bound, const struct spec *spec)
{
    return value->set && value->mark.line > 0 && !owned_is_of_base(spec, value->mark) &&
           (mark_from_set(value->mark) || !spec_option_is_open(spec, bound->by));
}

static enum status check_bound(const struct bound *bound, const struct spec *spec, struct error *e)
{
    double most = most_of(bound, spec);
    for (size_t i = 0; i < spec->n_points && most > 0; i++) {
        const struct value *value = &spec->points[i].config.values[bound->id];
        if (is_bound(bound, &spec->points[i]) && value->number > most &&
            is_chosen(value, bound, spec))
            return mark_error(e, ERR_SPEC, value->mark,
                              "%s = %s is above %s: expected at most %.15g%s",
                              option_get(bound->id)->key, value->text, bound->what, most,
                              option_get(bound->id)->type == TYPE_TIME ? "s" : "");
    }
    return OK;
}

static enum status refuse_alike(const struct bound *bound, const struct value *chosen,
                                const struct value *other, double most, struct error *e)
{
    return mark_error(
        e, ERR_SPEC, chosen->mark,
        "%s = %s does the same as %s: the gradients of the network are only %.10g %s. "
        "Leave one of the two out",
        option_get(bound->id)->key, chosen->text, other->text, most, bound->what);
}

static enum status check_alike(const struct bound *bound, const struct spec *spec, struct error *e)
{
    double most = most_of(bound, spec);
    const struct value *first = NULL;
    for (size_t i = 0; i < spec->n_points && most > 0; i++) {
        const struct value *value = &spec->points[i].config.values[bound->id];
        if (!is_bound(bound, &spec->points[i]) || value->number <= most ||
            spec_option_is_open(spec, bound->by))
            continue;
        bool differ = first != NULL && first->number != value->number;
        if (differ && is_chosen(value, bound, spec))
            return refuse_alike(bound, value, first, most, e);
        if (differ && is_chosen(first, bound, spec))
            return refuse_alike(bound, first, value, most, e);
        first = value;
    }
    return OK;
}

/* Returns the number of elements that topk selects from all gradients together; 0 without topk. */
static size_t topk_most(const struct point *point)
{
    const struct config *config = &point->config;
    bool sends = point->net != NULL && config_uses(config, OPT_sync_topk);
    double share = config_number(config, OPT_sync_topk) / 100;
    return sends ? topk_count(point->net->net.n_params, share) : 0;
}

/* Rejects different values of sync.topk if topk selects only one gradient element at every
 * point. */
static enum status check_topk(const struct spec *spec, struct error *e)
{
    const struct value *first = NULL;
    bool alone = !spec->is_recorded && !spec_option_is_open(spec, OPT_MODEL);
    for (size_t i = 0; i < spec->n_points && alone; i++)
        alone = topk_most(&spec->points[i]) <= 1;
    for (size_t i = 0; i < spec->n_points && alone; i++) {
        const struct value *share = &spec->points[i].config.values[OPT_sync_topk];
        if (topk_most(&spec->points[i]) == 0)
            continue;
        if (first != NULL && first->number != share->number)
            return mark_error(e, ERR_SPEC, share->mark,
                              "sync.topk = %s does the same as %s: each selects one gradient "
                              "element. Leave one of the two values out",
                              share->text, first->text);
        first = share;
    }
    return OK;
}

static enum status check_bounds(const struct spec *spec, struct error *e)
{
    TRY(check_topk(spec, e));
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds && !spec->is_recorded; i++)
        TRY(check_bound(&bounds[i], spec, e));
    for (size_t i = 0; i < sizeof alike / sizeof *alike && !spec->is_recorded; i++)
        TRY(check_alike(&alike[i], spec, e));
    return OK;
}

/* ---- Schedules, sites, accuracy ---- */

static bool keeps_steps(const struct config *config)
{
    return config_number(config, OPT_LR_GAMMA) == 1;
}

static bool keeps_cosine(const struct config *config)
{
    return config_number(config, OPT_LR_MIN) == config_number(config, OPT_LR);
}

/* Option values with which a schedule keeps the learning rate constant. */
static const struct constancy {
    enum option_id id;
    bool (*keeps)(const struct config *config);
    const char *same;
} constancies[] = {
    {OPT_LR_GAMMA, keeps_steps, ""},
    {OPT_LR_MIN, keeps_cosine, " equals train.lr and"},
};

/* Rejects a schedule that keeps the learning rate constant. Accepts it as a control if the same
 * kind of schedule changes the rate at another point. */
static enum status check_constancy(const struct constancy *row, const struct spec *spec,
                                   struct error *e)
{
    const struct value *same = NULL;
    for (size_t i = 0; i < spec->n_points && !spec->is_recorded; i++) {
        const struct config *config = &spec->points[i].config;
        if (!config_uses(config, row->id))
            continue;
        if (!row->keeps(config))
            return OK;
        same = &config->values[row->id];
    }
    return same == NULL
               ? OK
               : mark_error(e, ERR_SPEC, same->mark,
                            "%s = %s%s keeps the learning rate constant. Lower the value, or "
                            "use train.lr_schedule: constant",
                            option_get(row->id)->key, same->text, row->same);
}

static enum status check_schedules(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < sizeof constancies / sizeof *constancies; i++)
        TRY(check_constancy(&constancies[i], spec, e));
    return OK;
}

/* Rejects emulated hosts if every point has one node, because there is then no link. Accepts them
 * beside points of another site, since the comparison shows the time that emulation adds. */
static enum status check_hosts(const struct spec *spec, struct error *e)
{
    const struct value *site = NULL;
    for (size_t i = 0; i < spec->n_points && !spec->is_recorded; i++) {
        const struct config *config = &spec->points[i].config;
        if (config_int(config, OPT_SITE) != SITE_emulated || config_int(config, OPT_NODES) > 1)
            return OK;
        site = &config->values[OPT_SITE];
    }
    if (site == NULL || (owned_is_open(spec, OPT_NODES) && !mark_from_set(site->mark)))
        return OK;
    return mark_error(
        e, ERR_SPEC, site->mark,
        "site: %s has no effect: every point has one node. Use more nodes, or leave site out",
        site->text);
}

/* Rejects measure.time.precision if the maximum of measure.time.launches is below 6: fewer than 6
 * launches cannot give an interval of the required confidence level (bench/collect/timing.h). */
static enum status check_precision(const struct spec *spec, struct error *e)
{
    const struct value *precision = &spec->config.values[OPT_TIME_PRECISION];
    const struct value *launches = &spec->config.values[OPT_TIME_LAUNCHES];
    bool open = spec_option_is_open(spec, OPT_TIME_LAUNCHES) && !mark_from_set(precision->mark);
    if (!precision->set || spec->is_recorded || open || launches->number_hi >= 6)
        return OK;
    return mark_error(
        e, ERR_SPEC, precision->mark,
        "measure.time.precision = %s needs at least 6 launches, but measure.time.launches = %s. "
        "Use more launches, or leave measure.time.precision out",
        precision->text, launches->text);
}

double spec_chance(const struct spec *spec, int *classes)
{
    *classes = 1;
    for (size_t i = 0; i < spec->n_points; i++)
        if (spec->points[i].net != NULL && spec->points[i].net->net.classes > *classes)
            *classes = spec->points[i].net->net.classes;
    return 100.0 / *classes;
}

/* Rejects required and target accuracies that are not above chance (random guessing): the user
 * probably wrote a fraction in place of a percentage. Recorded specs are not checked. */
static enum status check_chance(const struct spec *spec, struct error *e)
{
    static const enum option_id accuracies[] = {OPT_ACCURACY_MIN, OPT_TARGET_ACC};
    int classes;
    double chance = spec_chance(spec, &classes);
    for (size_t i = 0; i < spec->n_points && classes > 1 && !spec->is_recorded; i++)
        for (size_t k = 0; k < sizeof accuracies / sizeof *accuracies; k++) {
            const struct spec_option *option = option_get(accuracies[k]);
            const struct value *value = &spec->points[i].config.values[option->id];
            if (!value_is_preset(option, value) && value->number <= chance)
                return mark_error(
                    e, ERR_SPEC, value->mark,
                    "%s: expected a percentage above chance, which is %.3g %% with %d classes, "
                    "found '%s'. For 97 %%, write %.*s97",
                    option->key, chance, classes, value->text,
                    (int)strcspn(value->text, "0123456789"), value->text);
        }
    return OK;
}

enum status rules_check_together(const struct spec *spec, struct error *e)
{
    TRY(own_options_check(spec, e));
    TRY(injected_check(spec, e));
    TRY(check_overlap(spec, e));
    TRY(owned_check(spec, e));
    TRY(check_precision(spec, e));
    TRY(check_checkpoints(spec, e));
    TRY(check_twins(spec, e));
    TRY(check_kills(spec, e));
    TRY(check_calls(spec, e));
    TRY(check_foreign_runs(spec, e));
    TRY(check_figures(spec, e));
    TRY(check_bounds(spec, e));
    TRY(untimed_check(spec, e));
    TRY(check_schedules(spec, e));
    TRY(check_hosts(spec, e));
    TRY(check_batch_norm(spec, e));
    TRY(idle_check(spec, e));
    TRY(unused_check(spec, e));
    return check_chance(spec, e);
}
