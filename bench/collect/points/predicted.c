/* Compares measured step times with the step times of simulated points of the same run that have
 * the same compute and messages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/spec/value.h"

/* Returns whether an option sets only where or how a point runs, and so changes neither the
 * operations nor the messages of its ranks. */
static bool is_of_place(const struct spec_option *option)
{
    return strncmp(option->key, "site", 4) == 0 || strncmp(option->key, "compute", 7) == 0 ||
           option->id == OPT_BIND || option->id == OPT_ORDER || option->id == OPT_OVERSUBSCRIBE;
}

static bool is_of_link(enum option_id id)
{
    return id == OPT_SITE_RATE || id == OPT_SITE_DELAY || id == OPT_SITE_LINK;
}

/* Returns whether both points have the same compute and messages, over the same link if there are
 * several nodes. */
static bool are_twins(const struct config *a, const struct config *b)
{
    bool linked = config_int(a, OPT_NODES) > 1;
    for (int i = 0; i < OPT_OWN; i++) {
        enum option_id id = (enum option_id)i;
        const struct spec_option *option = option_get(id);
        bool counts = is_of_place(option)
                          ? linked && is_of_link(id)
                          : option->scope == SCOPE_POINT || scope_is_workload(option->scope);
        if (counts && !value_equal(&a->values[i], &b->values[i]))
            return false;
    }
    return true;
}

/* Returns whether a simulated point can be compared with point p. */
static bool can_be_compared(const struct point_summary *p)
{
    const struct config *c = &p->point->config;
    return !config_is_simulated(c) && !config_is_foreign(c) && !config_calibrates(c) &&
           !p->compute_only && config_int(c, OPT_RANKS) > 1 && p->step_ms.mid > 0;
}

void predicted_find(struct point_summary *p, const struct summary *s)
{
    p->predicted = (struct point_predicted){NAN, NAN};
    if (!can_be_compared(p))
        return;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *other = &s->points[i];
        if (!config_is_simulated(&other->point->config) || !(other->step_ms.mid > 0) ||
            !are_twins(&p->point->config, &other->point->config))
            continue;
        p->predicted.step_ms = other->step_ms.mid;
        p->predicted.error_pct = 100 * (other->step_ms.mid / p->step_ms.mid - 1);
        return;
    }
}

struct validation summary_validation(const struct summary *s)
{
    struct validation v = {.median_pct = NAN, .p90_pct = NAN};
    double *errors = calloc(s->n + 1, sizeof *errors);
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        v.simulated += config_is_simulated(&p->point->config);
        if (isnan(p->predicted.error_pct) || errors == NULL)
            continue;
        errors[v.n++] = fabs(p->predicted.error_pct);
        v.ranks = fmax(v.ranks, config_number(&p->point->config, OPT_RANKS));
    }
    v.median_pct = stats_median(errors, v.n);
    v.p90_pct = stats_quantile(errors, v.n, 0.9);
    free(errors);
    return v;
}

void validation_write(FILE *out, const struct validation *v)
{
    char points[TEXT_NUMBER], median[TEXT_NUMBER], p90[TEXT_NUMBER];
    if (v->n == 0)
        fputs("not validated: no other point of this run has the same options, ranks and nodes",
              out);
    else
        fprintf(
            out,
            "validated to %.0f ranks: errors of %s %% (median) and %s %% (90th percentile) at %s",
            v->ranks, text_significant(median, v->median_pct, 2),
            text_significant(p90, v->p90_pct, 2), text_plural(points, (long)v->n, "point"));
}
