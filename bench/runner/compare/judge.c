#include "bench/runner/compare/judge.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "kernels/base/text.h"
#include "kernels/base/two_samples.h"

/* ---- The ratio ---- */

static bool are_positive(const struct judge_sample *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!(s->values[i] > 0))
            return false;
    return s->n > 0;
}

static void take_logs(double *logs, const struct judge_sample *s)
{
    for (size_t i = 0; i < s->n; i++)
        logs[i] = log(s->values[i]);
}

/* What changes sign is the shift as seen from the other side. */
static struct interval turned(struct interval i)
{
    double lo = i.lo;
    i.lo = -i.hi;
    i.mid = -i.mid;
    i.hi = -lo;
    return i;
}

static struct interval log_ratio(const double *x, const struct judge_sample *reference,
                                 const double *y, const struct judge_sample *sample, double level)
{
    if (reference->exact)
        return one_sample_shift(x[0], y, sample->n, level);
    if (sample->exact)
        return turned(one_sample_shift(y[0], x, reference->n, level));
    return two_samples_shift(x, reference->n, y, sample->n, level);
}

static struct interval widened(struct interval i, double floor)
{
    i.lo = fmin(i.lo, i.mid - floor);
    i.hi = fmax(i.hi, i.mid + floor);
    return i;
}

static struct interval exponential(struct interval i)
{
    i.lo = exp(i.lo);
    i.mid = exp(i.mid);
    i.hi = exp(i.hi);
    return i;
}

/* ---- The verdict ---- */

static enum verdict decide(const struct interval *logs, const struct judge_rules *rules)
{
    double margin = log1p(rules->margin);
    bool lower = rules->what->better == BETTER_LOWER;
    if (logs->lo >= -margin && logs->hi <= margin)
        return VERDICT_SAME;
    if (logs->lo > margin)
        return lower ? VERDICT_BAD : VERDICT_GOOD;
    if (logs->hi < -margin)
        return lower ? VERDICT_GOOD : VERDICT_BAD;
    return VERDICT_UNDECIDED;
}

/* Whether the floor alone, however many launches there were, leaves it open. */
static bool is_hidden(const struct interval *logs, const struct judge_rules *rules)
{
    const struct interval point = {.lo = logs->mid, .mid = logs->mid, .hi = logs->mid};
    const struct interval wide = widened(point, rules->floor);
    return decide(&wide, rules) == VERDICT_UNDECIDED;
}

/* What would decide it. */
static void explain(struct judged *j, const struct interval *logs, const struct judge_rules *rules,
                    bool both)
{
    char reached[TEXT_NUMBER], wanted[TEXT_NUMBER];
    if (!logs->met)
        snprintf(j->reason, sizeof j->reason,
                 "too few launches: they reach %s %% of the %s %% that every ratio needs, %zu%s "
                 "would",
                 text_significant(reached, 100 * logs->level, 4),
                 text_significant(wanted, 100 * rules->level, 4),
                 samples_wanted(rules->level, both), both ? " on each side" : "");
    else if (is_hidden(logs, rules))
        snprintf(j->reason, sizeof j->reason,
                 "what may change between campaigns hides it however many launches there are");
    else
        snprintf(j->reason, sizeof j->reason,
                 "neither within nor beyond the margin, more launches may tell");
}

static void judge_logs(struct judged *j, const struct judge_rules *rules,
                       const struct interval *logs, bool both)
{
    struct interval wide = widened(*logs, rules->floor);
    j->launches = exponential(*logs);
    j->ratio = exponential(wide);
    j->verdict = logs->met ? decide(&wide, rules) : VERDICT_UNDECIDED;
    if (j->verdict == VERDICT_UNDECIDED)
        explain(j, logs, rules, both);
}

enum status judge(struct judged *j, const struct judge_rules *rules,
                  const struct judge_sample *reference, const struct judge_sample *sample,
                  struct error *e)
{
    const struct interval unknown = {.lo = NAN, .mid = NAN, .hi = NAN};
    *j = (struct judged){.reference = stats_median(reference->values, reference->n),
                         .median = stats_median(sample->values, sample->n),
                         .launches = unknown,
                         .ratio = unknown,
                         .reference_n = reference->n,
                         .n = sample->n};
    if (!are_positive(reference) || !are_positive(sample)) {
        snprintf(j->reason, sizeof j->reason,
                 reference->n > 0 && sample->n > 0 ? "a value is not above 0: there is no ratio"
                                                   : "one side has no value");
        return OK;
    }
    double *logs;
    TRY(MEM_NEW(logs, reference->n + sample->n, "the launches of two runs", e));
    take_logs(logs, reference);
    take_logs(logs + reference->n, sample);
    struct interval shift = log_ratio(logs, reference, logs + reference->n, sample, rules->level);
    judge_logs(j, rules, &shift, !reference->exact && !sample->exact);
    free(logs);
    return OK;
}

void judge_itself(struct judged *j, const struct judge_sample *sample)
{
    const struct interval one = {.lo = 1, .mid = 1, .hi = 1, .level = 1, .met = true};
    double median = stats_median(sample->values, sample->n);
    *j = (struct judged){.reference = median,
                         .median = median,
                         .launches = one,
                         .ratio = one,
                         .reference_n = sample->n,
                         .n = sample->n,
                         .verdict = sample->n > 0 ? VERDICT_SAME : VERDICT_NONE};
}

const char *verdict_name(enum verdict verdict, const struct compared *what)
{
    const char *const names[] = {"-", "same", what->good, what->bad, "undecided"};
    return names[verdict];
}
