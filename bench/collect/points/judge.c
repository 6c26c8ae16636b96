/* Determines the status of a point, such as ok or failed, and the reason. If several problems
 * exist, reports the first in the order of point_judge. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/collect/summary.h"

/* Sets the status of a point, and its reason from a printf format. Returns true. */
__attribute__((format(printf, 3, 4))) static bool
settle(struct point_summary *p, enum point_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->reason, sizeof p->reason, format, arguments);
    va_end(arguments);
    text_clean(p->reason);
    p->outcome = status;
    snprintf(p->status, sizeof p->status, "%s", point_status_names()[status]);
    return true;
}

static bool find_failure(struct point_summary *p, const struct summary *s)
{
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &s->journal->launches[i];
        if (s->launches[i].ok || s->launches[i].diverged || s->launches[i].replaced ||
            launch->status == LAUNCH_RUNNING)
            continue;
        return settle(p, launch->status == LAUNCH_TIMEOUT ? POINT_timeout : POINT_failed, "%s",
                      s->launches[i].reason);
    }
    return false;
}

static bool find_divergence(struct point_summary *p, const struct summary *s)
{
    for (size_t i = p->first_launch; i < s->n_launches; i = s->launches[i].next) {
        const struct journal_launch *launch = &s->journal->launches[i];
        char which[64] = "a timed launch";
        if (!s->launches[i].diverged)
            continue;
        if (launch->run == RUN_ACCURACY)
            snprintf(which, sizeof which, "seed %llu", (unsigned long long)launch->seed);
        return settle(p, POINT_diverged, "%.400s, %s", s->launches[i].reason, which);
    }
    return false;
}

static bool find_difference(struct point_summary *p, const struct samples *samples)
{
    if (!point_is_replicated(p->point))
        return false;
    for (size_t i = 0; i < samples->n; i++) {
        const struct launch_result *result = samples->items[i].result;
        if (!result->weights_checked || result->weights_equal)
            continue;
        p->by_design = config_has_flaw(&p->point->config);
        if (p->by_design)
            return false;
        return settle(p, POINT_unverified, "weights differ between ranks in %s%s%s",
                      samples->items[i].journal->launch, result->first_difference[0] ? ": " : "",
                      result->first_difference);
    }
    return false;
}

/* If launches of a point differ in a fact, such as their compiler, marks the point as unverified
 * and returns true, since such launches are not one sample. */
static bool find_mixture(struct point_summary *p, const struct samples *a, const struct samples *b)
{
    const struct sample *first = a->n ? &a->items[0] : b->n ? &b->items[0] : NULL;
    const char *was, *name;
    for (size_t i = 0; first != NULL && (was = launch_common(first->result, i, &name)) != NULL; i++)
        for (size_t k = 0; k < a->n + b->n; k++) {
            const struct sample *sample = k < a->n ? &a->items[k] : &b->items[k - a->n];
            const char *is = launch_common(sample->result, i, &name);
            if (!was[0] || !is[0] || strcmp(was, is) == 0)
                continue;
            return settle(p, POINT_unverified, "launches differ in %s: '%s' in %s, '%s' in %s",
                          name, was, first->journal->launch, is, sample->journal->launch);
        }
    return false;
}

/* Marks the point as unverified and returns true if a launch did not compare weights between ranks
 * because measure.check is none. Returns false if ranks need not hold equal weights. Ignores
 * replayed launches, which do not train. */
static bool find_unchecked(struct point_summary *p, const struct samples *samples)
{
    if (!point_is_replicated(p->point) || config_int(&p->point->config, OPT_RANKS) == 1)
        return false;
    for (size_t i = 0; i < samples->n; i++) {
        const struct launch_result *result = samples->items[i].result;
        if (strcmp(result->check, "none") != 0 || launch_is_replayed(result))
            continue;
        return settle(p, POINT_unverified, "weights were not compared (measure.check: none)");
    }
    return false;
}

/* Marks the point as unverified if gradients overflowed in most steps of a launch, since such steps
 * train nothing. Ignores elastic runs, whose all_steps counts only the last segment. */
static bool find_overflow(struct point_summary *p, const struct samples *samples)
{
    bool fixed = config_number(&p->point->config, OPT_LOSS_SCALE) > 0;
    bool judged = !config_is_elastic(&p->point->config);
    for (size_t i = 0; judged && i < samples->n; i++) {
        const struct launch_result *result = samples->items[i].result;
        if (result->skipped_steps > result->all_steps / 2)
            return settle(
                p, POINT_unverified,
                "%.0f of %.0f steps skipped in %s, since gradients overflowed fp16. Use %s",
                result->skipped_steps, result->all_steps, samples->items[i].journal->launch,
                fixed ? "train.loss_scale: 0, which adapts"
                      : "a smaller train.loss_scale_initial, or more steps");
    }
    return false;
}

/* Returns whether a test accuracy is below the spec's minimum; if so, the point becomes unverified.
 * Strategy none at several ranks has no minimum, since each rank trains alone. */
static bool find_inaccuracy(struct point_summary *p, const struct spec *spec,
                            const struct samples *accuracy)
{
    const struct value *wanted = &spec->config.values[OPT_ACCURACY_MIN];
    if (!wanted->text[0] || p->compute_only)
        return false;
    for (size_t i = 0; i < accuracy->n; i++) {
        double reached = accuracy->items[i].result->test_acc_pct;
        if (reached >= wanted->number)
            continue;
        char number[TEXT_NUMBER];
        return settle(p, POINT_unverified, "seed %llu: test accuracy %s %%, required %s",
                      (unsigned long long)accuracy->items[i].journal->seed,
                      text_fixed(number, reached, 2), wanted->text);
    }
    return false;
}

static bool find_missed_target(struct point_summary *p, const struct samples *accuracy)
{
    for (size_t i = 0; i < accuracy->n; i++) {
        const struct launch_result *result = accuracy->items[i].result;
        char number[TEXT_NUMBER];
        if (isnan(result->target_acc_pct) || !isnan(result->to_target_epochs))
            continue;
        return settle(p, POINT_unverified,
                      "seed %llu: test accuracy %s %% after %ld epochs, below train.target_acc_pct "
                      "= %g",
                      (unsigned long long)accuracy->items[i].journal->seed,
                      text_fixed(number, result->test_acc_pct, 2),
                      config_int(&p->point->config, OPT_EPOCHS), result->target_acc_pct);
    }
    return false;
}

static const char *why_skipped(const struct point_summary *p)
{
    if (p->skip_reason != NULL)
        return p->skip_reason;
    return p->timed || p->seeds > 0 ? "no launch finished" : "no launch was requested";
}

void point_judge(struct point_summary *p, const struct summary *s, const struct point_samples *all)
{
    const struct samples *time = &all->time, *accuracy = &all->accuracy;
    if (find_failure(p, s) || find_mixture(p, time, accuracy) || find_divergence(p, s) ||
        find_difference(p, time) || find_difference(p, accuracy) || find_unchecked(p, time) ||
        find_unchecked(p, accuracy) || find_overflow(p, time) || find_overflow(p, accuracy) ||
        find_inaccuracy(p, s->spec, accuracy) || find_missed_target(p, accuracy))
        return;
    if (time->n + accuracy->n > 0)
        settle(p, POINT_ok, "%s", "");
    else
        settle(p, POINT_skipped, "%s", why_skipped(p));
}
