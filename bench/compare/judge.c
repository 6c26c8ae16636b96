#include "bench/compare/judge.h"

#include <math.h>
#include <stdlib.h>

#include "bench/base/two_samples.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* ---- Launches ---- */

/* Logarithms of one side's values, one per launch. If the side has several campaigns, align() moves
 * each campaign's logarithms to a common trimmed mean. It also widens their spread by sqrt(n / (n -
 * 1)) if the campaign has n > 1 launches. */
struct aligned {
    double *logs;
    size_t n, disturbed, campaigns;
    double median; /* geometric mean of the medians of the campaigns */
    bool exact, positive;
};

static void move(double *logs, size_t n, double from, double to)
{
    double wider = n > 1 ? sqrt((double)n / (double)(n - 1)) : 1;
    for (size_t i = 0; i < n; i++)
        logs[i] = to + wider * (logs[i] - from);
}

static double mean_location(const struct aligned *a, const struct judge_sample *s)
{
    double sum = 0;
    const double *logs = a->logs;
    for (size_t c = 0; c < s->n; c++) {
        sum += s->campaigns[c].n > 0 ? stats_trimmed(logs, s->campaigns[c].n).mean : 0;
        logs += s->campaigns[c].n;
    }
    return sum / (double)a->campaigns;
}

static void align(struct aligned *a, const struct judge_sample *s)
{
    double mean = mean_location(a, s);
    double *logs = a->logs;
    for (size_t c = 0; c < s->n && a->campaigns > 1; c++) {
        size_t n = s->campaigns[c].n;
        if (n > 0)
            move(logs, n, stats_trimmed(logs, n).mean, mean);
        logs += n;
    }
}

static void count_launches(struct aligned *a, const struct judge_sample *s)
{
    *a = (struct aligned){.exact = s->exact, .positive = true, .median = NAN};
    double logs = 0, median;
    for (size_t c = 0; c < s->n; c++) {
        const struct judge_launches *l = &s->campaigns[c];
        if (l->n == 0)
            continue;
        median = stats_median(l->values, l->n);
        logs += log(median);
        a->median = ++a->campaigns > 1 ? exp(logs / (double)a->campaigns) : median;
        a->n += l->n;
        a->disturbed += l->disturbed;
        for (size_t i = 0; i < l->n; i++)
            a->positive = a->positive && l->values[i] > 0;
    }
    a->positive = a->positive && a->n > 0;
}

/* Sets a->logs to the logarithms of a sample's values. If there are several campaigns, shifts each
 * campaign's n logarithms to a common mean and scales their deviations by sqrt(n / (n - 1))
 * (align). `logs`: space for a->n numbers, borrowed by `a`. */
static void take_sample(struct aligned *a, double *logs, const struct judge_sample *s)
{
    a->logs = logs;
    for (size_t c = 0; c < s->n; c++)
        for (size_t i = 0; i < s->campaigns[c].n; i++)
            *logs++ = log(s->campaigns[c].values[i]);
    align(a, s);
}

/* ---- The ratio ---- */

/* Negates a shift: turns the shift from b to a into the shift from a to b. */
static struct interval turned(struct interval i)
{
    double lo = i.lo;
    i.lo = -i.hi;
    i.mid = -i.mid;
    i.hi = -lo;
    return i;
}

static struct interval log_ratio(const struct aligned *reference, const struct aligned *sample,
                                 double level)
{
    if (reference->exact)
        return one_sample_shift(reference->logs[0], sample->logs, sample->n, level);
    if (sample->exact)
        return turned(one_sample_shift(sample->logs[0], reference->logs, reference->n, level));
    return two_samples_shift(reference->logs, reference->n, sample->logs, sample->n, level);
}

static struct interval widened(struct interval i, double floor)
{
    i.lo = i.mid - hypot(i.mid - i.lo, floor);
    i.hi = i.mid + hypot(i.hi - i.mid, floor);
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
    if (logs->lo > 0 && logs->mid > margin)
        return lower ? VERDICT_BAD : VERDICT_GOOD;
    if (logs->hi < 0 && logs->mid < -margin)
        return lower ? VERDICT_GOOD : VERDICT_BAD;
    return VERDICT_UNDECIDED;
}

/* Returns whether the noise floor alone makes the verdict undecided, however many launches there
 * are. */
static bool is_hidden(const struct interval *logs, const struct judge_rules *rules, double floor)
{
    const struct interval point = {.lo = logs->mid, .mid = logs->mid, .hi = logs->mid};
    const struct interval wide = widened(point, floor);
    return decide(&wide, rules) == VERDICT_UNDECIDED;
}

static void explain_floor(struct judged *j, const struct judge_rules *rules)
{
    size_t wanted = floor_campaigns(rules->floor, rules->level, log1p(rules->margin) / 2);
    int used = snprintf(j->reason, sizeof j->reason,
                        "variation between campaigns hides a difference, no matter how many "
                        "launches a campaign has");
    if (wanted > 0)
        snprintf(j->reason + used, sizeof j->reason - (size_t)used,
                 " (about %zu campaigns on each side may decide it)", wanted);
}

static void explain(struct judged *j, const struct interval *logs, const struct judge_rules *rules,
                    bool both)
{
    char reached[TEXT_NUMBER], needed[TEXT_NUMBER];
    if (!logs->met)
        snprintf(j->reason, sizeof j->reason,
                 "too few launches: each ratio needs a level of %s %%, these reach %s %%; "
                 "%zu launches%s would suffice",
                 text_significant(needed, 100 * rules->level, 4),
                 text_significant(reached, 100 * logs->level, 4),
                 samples_needed(rules->level, both), both ? " on each side" : "");
    else if (j->ratio.lo > 1 || j->ratio.hi < 1)
        snprintf(j->reason, sizeof j->reason, "the sides differ, perhaps by less than the margin");
    else if (is_hidden(logs, rules, j->floor))
        explain_floor(j, rules);
    else
        snprintf(j->reason, sizeof j->reason,
                 "neither within the margin nor certainly different; more launches may decide it");
}

static void judge_logs(struct judged *j, const struct judge_rules *rules,
                       const struct interval *logs, bool both)
{
    struct interval wide = widened(*logs, j->floor);
    j->launches = exponential(*logs);
    j->ratio = exponential(wide);
    j->verdict = logs->met ? decide(&wide, rules) : VERDICT_UNDECIDED;
    if (j->verdict == VERDICT_UNDECIDED)
        explain(j, logs, rules, both);
}

static void doubt(struct judged *j, const struct judge_rules *rules)
{
    bool reference = 2 * j->reference_disturbed > j->reference_n;
    bool run = 2 * j->disturbed > j->n;
    if (rules->count_disturbed || rules->what->spread_pct == 0 || (!reference && !run))
        return;
    j->verdict = VERDICT_UNDECIDED;
    snprintf(j->reason, sizeof j->reason, "most launches of %s were disturbed",
             !run         ? "the reference"
             : !reference ? "the run"
                          : "the reference and of the run");
}

static struct judged nothing_judged(const struct aligned *reference, const struct aligned *sample)
{
    const struct interval unknown = {.lo = NAN, .mid = NAN, .hi = NAN};
    return (struct judged){.reference = reference->median,
                           .median = sample->median,
                           .launches = unknown,
                           .ratio = unknown,
                           .reference_n = reference->n,
                           .n = sample->n,
                           .reference_disturbed = reference->disturbed,
                           .disturbed = sample->disturbed,
                           .reference_campaigns = reference->campaigns,
                           .campaigns = sample->campaigns};
}

enum status judge(struct judged *j, const struct judge_rules *rules,
                  const struct judge_sample *reference, const struct judge_sample *sample,
                  struct error *e)
{
    double *logs;
    struct aligned left, right;
    count_launches(&left, reference);
    count_launches(&right, sample);
    *j = nothing_judged(&left, &right);
    if (!left.positive || !right.positive) {
        snprintf(j->reason, sizeof j->reason,
                 left.n > 0 && right.n > 0 ? "a value is not above 0: there is no ratio"
                                           : "one side has no value");
        return OK;
    }
    TRY(MEM_NEW(logs, left.n + right.n, "the launches of two runs", e));
    take_sample(&left, logs, reference);
    take_sample(&right, logs + left.n, sample);
    j->floor = floor_width(rules->floor, rules->level,
                           left.exact || reference->steady ? 0 : left.campaigns,
                           right.exact || sample->steady ? 0 : right.campaigns);
    struct interval shift = log_ratio(&left, &right, rules->level);
    judge_logs(j, rules, &shift, !left.exact && !right.exact);
    doubt(j, rules);
    free(logs);
    return OK;
}

void judge_itself(struct judged *j, const struct judge_sample *sample)
{
    struct aligned a;
    const struct interval one = {.lo = 1, .mid = 1, .hi = 1, .level = 1, .met = true};
    count_launches(&a, sample);
    *j = nothing_judged(&a, &a);
    j->launches = j->ratio = one;
    j->verdict = a.n > 0 ? VERDICT_SAME : VERDICT_NONE;
}

const char *verdict_name(enum verdict verdict, const struct compared *what)
{
    const char *const names[] = {"-", "same", what->good, what->bad, "undecided"};
    return names[verdict];
}
