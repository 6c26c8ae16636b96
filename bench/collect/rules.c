#include "bench/collect/rules.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/spec/figures/request.h"
#include "kernels/base/names.h"

/* fewest timed steps for a 95th percentile: one step in twenty is slower */
#define TAIL_STEPS 20

/* tolerance for comparing numbers of summary.csv, which has only ten significant digits: relative
 * for rates, absolute for confidence levels */
#define SAME 1e-6

typedef enum rule_grade grade_function(char *by, const struct summary *s);

/* ---- Text ---- */

enum { BY_BYTES = sizeof((struct rule_result *)0)->by };

__attribute__((format(printf, 3, 4))) static enum rule_grade graded(char *by, enum rule_grade grade,
                                                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(by, BY_BYTES, format, arguments);
    va_end(arguments);
    text_clean(by);
    return grade;
}

#define NOT_MET(...)        graded(by, RULE_NOT_MET, __VA_ARGS__)
#define MET(...)            graded(by, RULE_MET, __VA_ARGS__)
#define NOT_APPLICABLE(...) graded(by, RULE_NOT_APPLICABLE, __VA_ARGS__)

static const char *label_of(const struct point_summary *p)
{
    return p->point->label[0] ? p->point->label : "the point";
}

/* Writes a range as "6 to 12", or "6" if both ends are equal. Returns `text`. */
static char *range_text(char text[2 * TEXT_NUMBER], size_t least, size_t most)
{
    if (least < most)
        snprintf(text, (size_t)(2 * TEXT_NUMBER), "%zu to %zu", least, most);
    else
        snprintf(text, (size_t)(2 * TEXT_NUMBER), "%zu", most);
    return text;
}

/* ---- Contents of a run ---- */

static bool is_timed(const struct point_summary *p)
{
    return p->launches > 0 && isfinite(p->step_ms.mid) && p->outcome != POINT_diverged;
}

/* Returns whether the point runs a user's program that records no step times, so that each launch
 * has a single time. */
static bool is_whole(const struct point_summary *p)
{
    return config_is_foreign(&p->point->config) && isnan(cell_number(p, COLUMN_step_p95_ms));
}

static bool is_timed_whole(const struct point_summary *p)
{
    return is_timed(p) && is_whole(p);
}

static bool has_interval(const struct point_summary *p)
{
    return is_timed(p) && isfinite(p->step_ms.lo) && isfinite(p->step_ms.hi) &&
           p->step_ms.level >= SUMMARY_CONFIDENCE;
}

static const char *time_of(const struct summary *s)
{
    size_t timed = summary_count(s, is_timed), whole = summary_count(s, is_timed_whole);
    return whole == 0 ? "step time" : whole == timed ? "launch time" : "times";
}

/* Ratio of point `own` to point `other`, or share of overlap. `other` is the base or a peer of
 * `own`, or `own` without communication. */
struct ratio {
    const struct point_summary *own, *other;
    const struct interval *interval;
    size_t pairs;
    const char *name;
};

/* Sets *ratio to ratio k of point i; undefined ratios are NAN. Returns false if k is too large. */
static bool ratio_of(struct ratio *ratio, const struct summary *s, size_t i, int k)
{
    const struct point_summary *p = &s->points[i];
    const struct ratio all[] = {
        {p, &s->points[p->base], &p->scaling.speedup, p->scaling.pairs, "speed-up"},
        {p, &s->points[p->peer], &p->beside_peer.ratio, p->beside_peer.pairs, "ratio to its peer"},
        {p, &s->points[p->alone], &p->overlap.share, p->overlap.pairs, "share of overlap"}};
    const int n = sizeof all / sizeof *all;
    if (k >= n + WORKLOADS)
        return false;
    if (k < n) {
        *ratio = all[k];
        return true;
    }
    size_t peer = p->point->peers[k - n];
    const struct point_beside_peer *beside = &p->beside[k - n];
    *ratio = (struct ratio){p, peer == p->peer ? p : &s->points[peer], &beside->ratio,
                            beside->pairs, "ratio to a peer"};
    return true;
}

static bool next_ratio(struct ratio *ratio, const struct summary *s, size_t *i, int *k)
{
    for (; *i < s->n; ++*i, *k = 0)
        while (ratio_of(ratio, s, *i, (*k)++))
            if (ratio->own != ratio->other && isfinite(ratio->interval->mid))
                return true;
    return false;
}

/* ---- 1: the base ---- */

static enum rule_grade grade_base(char *by, const struct summary *s)
{
    const struct point_summary *base = NULL;
    char step[TEXT_INTERVAL], ranks[TEXT_NUMBER], n[TEXT_NUMBER];
    size_t speedups = 0;
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        if (&s->points[p->base] == p || !is_timed(p))
            continue;
        base = &s->points[p->base];
        speedups += isfinite(p->scaling.speedup.mid);
        if (!is_timed(base))
            return NOT_MET("%s, the base of %s, has no time: %s", label_of(base), label_of(p),
                           base->status);
    }
    if (base == NULL)
        return NOT_APPLICABLE("no speed-up is formed");
    text_interval(step, &base->step_ms, 4);
    text_plural(ranks, config_int(&base->point->config, OPT_RANKS), "rank");
    return MET("%s; the base %s (%s) takes %s ms%s", text_plural(n, (long)speedups, "speed-up"),
               label_of(base), ranks, step, is_whole(base) ? "" : " per step");
}

/* ---- 2: subsets ---- */

static enum rule_grade grade_subset(char *by, const struct summary *s)
{
    bool explained = s->spec->config.values[OPT_DIFFERS].n > 0;
    char points[TEXT_NUMBER], sentences[TEXT_NUMBER];
    size_t left_out = 0;
    int most = 0;
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        long samples = config_int(&p->point->config, OPT_DATA_SAMPLES);
        if (samples > 0 && !explained)
            return NOT_MET("data.samples: %ld leaves out images without a reason in `differs`",
                           samples);
        if (!point_was_measured(p) && !p->reason[0])
            return NOT_MET("%s was not measured and has no reason", label_of(p));
        left_out += !point_was_measured(p);
        int used = point_cores_of_node(p->point);
        most = used > most ? used : most;
    }
    if (most < s->usable_cores && !explained)
        return NOT_MET("%d of %d usable cores are used, without a reason in `differs`", most,
                       s->usable_cores);
    text_plural(points, (long)s->n, "point");
    text_plural(sentences, (long)s->spec->config.values[OPT_DIFFERS].n, "sentence");
    return MET("%zu of %s not measured, each with its reason; up to %d of %d cores; "
               "`differs` has %s",
               left_out, points, most, s->usable_cores, sentences);
}

/* ---- 3 and 4: means and ratios ---- */

static enum rule_grade grade_means(char *by, const struct summary *s)
{
    char rates[TEXT_NUMBER];
    size_t n = 0;
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        double rate = 1e3 * cell_number(p, COLUMN_global_batch) / p->step_ms.mid;
        if (!is_timed(p) || config_is_foreign(&p->point->config))
            continue;
        n++;
        if (!(fabs(p->rates.images_per_s.mid / rate - 1) <= SAME))
            return NOT_MET("images_per_s of %s is %g, but its images over its median time are %g",
                           label_of(p), p->rates.images_per_s.mid, rate);
    }
    if (n == 0)
        return NOT_APPLICABLE("no rate is formed");
    return MET("%s, images over the median time of a step", text_plural(rates, (long)n, "rate"));
}

static enum rule_grade grade_ratios(char *by, const struct summary *s)
{
    struct ratio r;
    size_t n = 0, least = SIZE_MAX, most = 0;
    char pairs[2 * TEXT_NUMBER], ratios[TEXT_NUMBER];
    int k = 0;
    for (size_t i = 0; next_ratio(&r, s, &i, &k);) {
        if (r.pairs == 0 || !is_timed(r.own) || !is_timed(r.other))
            return NOT_MET("the %s of %s has no %s", r.name, label_of(r.own),
                           r.pairs == 0 ? "number of pairs" : "times");
        n++;
        least = r.pairs < least ? r.pairs : least;
        most = r.pairs > most ? r.pairs : most;
    }
    if (n == 0)
        return NOT_APPLICABLE("no ratio is formed");
    return MET("%s, each a median over %s block%s, with both times",
               text_plural(ratios, (long)n, "ratio"), range_text(pairs, least, most),
               most == 1 ? "" : "s");
}

/* ---- 5 to 8: statistics ---- */

static enum rule_grade grade_accuracies(char *by, const struct summary *s)
{
    size_t n = 0;
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        if (!isfinite(p->accuracy.test_acc_pct.mid))
            continue;
        n++;
        if (!isfinite(p->accuracy.test_acc_pct.lo) || !isfinite(p->accuracy.test_acc_pct.level))
            return NOT_MET("the accuracy of %s rests on one seed", label_of(p));
    }
    if (n == 0)
        return NOT_APPLICABLE("nothing was measured");
    return MET("%zu accuracies have intervals over seeds, at the level that the seeds allow", n);
}

static enum rule_grade grade_intervals(char *by, const struct summary *s)
{
    size_t timed = summary_count(s, is_timed), met = summary_count(s, has_interval);
    char medians[TEXT_NUMBER];
    if (timed == 0)
        return grade_accuracies(by, s);
    if (met < timed)
        return NOT_MET("%zu of %s of %s without a 95 %% interval", timed - met,
                       text_plural(medians, (long)timed, "median"), time_of(s));
    return MET("%s of %s, %swith an interval of at least 95 %%",
               text_plural(medians, (long)met, "median"), time_of(s), met > 1 ? "each " : "");
}

static enum rule_grade grade_normality(char *by, const struct summary *s)
{
    char intervals[TEXT_NUMBER];
    size_t n = 0;
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        double level = timing_level(p->launches, false), added = timing_level(p->launches, true);
        if (!has_interval(p))
            continue;
        n++;
        if (fabs(p->step_ms.level - level) > SAME && fabs(p->step_ms.level - added) > SAME)
            return NOT_MET("the interval of %s has a level of %g %%, but order statistics of "
                           "%zu launches have %g %%",
                           label_of(p), 100 * p->step_ms.level, p->launches, 100 * level);
    }
    if (n == 0)
        return NOT_APPLICABLE("no interval is formed");
    return MET(
        "%s from order statistics, valid for any distribution; outliers are flagged by a test and "
        "kept",
        text_plural(intervals, (long)n, "interval"));
}

/* Returns whether ranks of the point share cores. Its ratios then have no interval, however many
 * launches there are. */
static bool shares_cores(const struct point_summary *p, const struct summary *s)
{
    return point_is_oversubscribed(p->point, s->usable_cores) == 1;
}

static enum rule_grade grade_comparisons(char *by, const struct summary *s)
{
    struct ratio r;
    char pairs[TEXT_NUMBER], ratios[TEXT_NUMBER];
    size_t n = 0, doubted = 0;
    int k = 0;
    for (size_t i = 0; next_ratio(&r, s, &i, &k);) {
        bool usable = r.pairs > 0 && has_interval(r.own) && has_interval(r.other) &&
                      !shares_cores(r.own, s) && !shares_cores(r.other, s);
        doubted += !usable;
        n += usable;
        if (usable && (!isfinite(r.interval->lo) || !isfinite(r.interval->hi) ||
                       timing_level(r.pairs, false) < SUMMARY_CONFIDENCE))
            return NOT_MET("the %s of %s has %s and no 95 %% interval", r.name, label_of(r.own),
                           text_plural(pairs, (long)r.pairs, "pair"));
    }
    if (n == 0)
        return NOT_APPLICABLE("%s", doubted > 0 ? "no compared value has an interval"
                                                : "nothing is compared");
    return MET(
        "%s with intervals of at least 95 %%, paired by block; causes are named only if a test "
        "supports them",
        text_plural(ratios, (long)n, "ratio"));
}

/* Writes why a point has no tail (95th percentile and maximum); "": it has one. `n`: number of step
 * times, or of launch times if the program records no step times. Returns `text`. */
static const char *lacks_tail(char text[160], const struct point_summary *p, double n)
{
    bool whole = is_whole(p), has_tail = !isnan(cell_number(p, COLUMN_step_p95_ms)) &&
                                         !isnan(cell_number(p, COLUMN_step_max_ms));
    text[0] = '\0';
    if (!whole && !has_tail)
        snprintf(text, 160, "no step_p95_ms or step_max_ms");
    else if (n < TAIL_STEPS)
        snprintf(text, 160, "%.0f %s in all, but a tail needs %d", n,
                 whole ? "single times" : "timed steps", TAIL_STEPS);
    return text;
}

static enum rule_grade grade_tails(char *by, const struct summary *s)
{
    char lacking[160];
    bool few = false;
    /* smallest number of measurements at any point: [0] of step times, [1] of launch times */
    double least[2] = {INFINITY, INFINITY};
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        double n = (double)p->launches * cell_number(p, COLUMN_steps);
        if (!is_timed(p))
            continue;
        if (is_whole(p) && !has_interval(p)) { /* skipped here, since rule 5 already reports the
                                                  missing interval */
            few = true;
            continue;
        }
        if (lacks_tail(lacking, p, n)[0])
            return NOT_MET("%s has %s", label_of(p), lacking);
        least[is_whole(p)] = fmin(least[is_whole(p)], n);
    }
    if (isinf(least[0]) && isinf(least[1]))
        return NOT_APPLICABLE("%s", few ? "single times have a tail from 20 launches on; see rule 5"
                                        : "no time is reported");
    if (isinf(least[0]))
        return MET("raw.csv has each time, of at least %.0f launches per point", least[1]);
    return MET("step_p95_ms and step_max_ms of each point%s, from at least %.0f timed steps",
               isinf(least[1]) ? "" : " with steps", least[0]);
}

/* ---- 9 and 10: setup and method ---- */

static bool lacks_binding(const struct point_summary *p)
{
    return config_is_foreign(&p->point->config) && !p->cells[COLUMN_bound][0];
}

static const char *binding_text(const struct summary *s)
{
    size_t silent = summary_count(s, lacks_binding);
    return silent == 0     ? "was read back"
           : silent < s->n ? "was read back except from workload.command"
                           : "was requested; workload.command does not report it";
}

static enum rule_grade grade_setup(char *by, const struct summary *s)
{
    char factors[160] = "";
    if (s->undocumented[0])
        return NOT_MET("manifest.json lacks %s", s->undocumented);
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        bool bound = config_int(&p->point->config, OPT_BIND) != BIND_none &&
                     !config_is_simulated(&p->point->config);
        if (point_was_measured(p) && bound && !p->cells[COLUMN_bound][0] && !lacks_binding(p))
            return NOT_MET("the binding of %s was not read back", label_of(p));
    }
    for (size_t i = 0; i < s->spec->n_varying; i++)
        text_join(factors, sizeof factors - strlen(": "), ", ",
                  config_option(&s->spec->config, s->spec->varying[i])->key);
    return MET("spec.yaml has every option, of which %zu vary%s%s; manifest.json has machine, "
               "software and "
               "command; binding %s",
               s->spec->n_varying, factors[0] ? ": " : "", factors, binding_text(s));
}

static const char *whole_time(const struct summary *s)
{
    size_t i = 0;
    while (!is_timed_whole(&s->points[i]))
        i++;
    const char *time = config_text(&s->points[i].point->config, OPT_JUDGED);
    return strcmp(time, option_get(OPT_JUDGED)->preset) == 0 ? "from exec to exit" : time;
}

static void method_text(char *text, size_t size, const struct summary *s)
{
    char steps[128] = "";
    size_t timed = summary_count(s, is_timed), whole = summary_count(s, is_timed_whole), used = 0;
    summary_distinct(steps, sizeof steps, s, COLUMN_steps);
    if (whole < timed)
        used += (size_t)snprintf(
            text, size,
            "step time of a launch: from the first to the last boundary of its%s%s "
            "timed steps after warm-up, slowest rank; ",
            whole == 0 ? " " : "", whole == 0 ? steps : "");
    if (whole > 0)
        snprintf(text + used, size - used, "time of a launch of workload.command: %s; ",
                 whole_time(s));
}

static enum rule_grade grade_method(char *by, const struct summary *s)
{
    size_t least = SIZE_MAX, most = 0;
    char launches[2 * TEXT_NUMBER], method[BY_BYTES];
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        if (!is_timed(p))
            continue;
        if (!(cell_number(p, COLUMN_steps) > 0))
            return NOT_MET("%s does not report its number of timed steps", label_of(p));
        least = p->launches < least ? p->launches : least;
        most = p->launches > most ? p->launches : most;
    }
    if (most == 0)
        return NOT_APPLICABLE("no time is reported");
    method_text(method, sizeof method, s);
    return MET("%sper point: median of %s launches in random blocks", method,
               range_text(launches, least, most));
}

/* ---- 11 and 12: bounds and figures ---- */

/* Returns whether a figure certainly shows a bound: an ideal line, or the model of a named link.
 * With link = auto, a model does not count, since it may be missing. */
static bool shows_bound(const struct summary *s, const struct figure_request *figure)
{
    const char *link = config_text(&s->spec->config, OPT_LINK);
    return name_is_word("time speedup efficiency", figure_kind_get(figure)->name) ||
           (figure->options[FIGURE_MODEL].number != 0 && strcmp(link, "auto") != 0 &&
            strcmp(link, "none") != 0);
}

/* Lists the figures that the spec requests, or with `with_bounds` only the figures that show a
 * bound. Returns the number of figures listed. */
static size_t list_figures(char *text, size_t size, const struct summary *s, bool with_bounds)
{
    const struct value *figures = &s->spec->config.values[OPT_FIGURES];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < figures->n; i++)
        if (!with_bounds || shows_bound(s, &figures->figures[i])) {
            text_join(text, size, ", ", figures->texts[i]);
            n++;
        }
    return n;
}

static bool is_bound(const struct point_summary *p)
{
    return p->compute_only && is_timed(p);
}

static bool has_more_cores(const struct summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_timed(&s->points[i]) && s->points[i].cores > s->points[s->points[i].base].cores)
            return true;
    return false;
}

static enum rule_grade grade_bounds(char *by, const struct summary *s)
{
    char names[160], drawn[TEXT_NUMBER], alone[TEXT_NUMBER];
    size_t figures = list_figures(names, sizeof names, s, true),
           points = summary_count(s, is_bound);
    if (!has_more_cores(s))
        return NOT_APPLICABLE("no speed-up over cores is formed");
    if (figures + points == 0)
        return NOT_MET("no figure shows an ideal line or the model of a named link, and no point "
                       "computes alone");
    text_plural(drawn, (long)figures, "figure");
    text_plural(alone, (long)points, "point");
    if (figures == 0)
        return MET("computing alone at %s", alone);
    return MET("ideal line or model in %s: %s%s%s", drawn, names,
               points > 0 ? "; computing alone at " : "", points > 0 ? alone : "");
}

static enum rule_grade grade_figures(char *by, const struct summary *s)
{
    char names[160];
    size_t points = summary_count(s, point_was_measured);
    bool few = summary_count(s, is_timed) > 0 && summary_count(s, has_interval) == 0;
    if (points < 2)
        return NOT_APPLICABLE("fewer than two points were measured");
    if (list_figures(names, sizeof names, s, false) == 0)
        return NOT_MET("no figure shows the %zu points that were measured", points);
    return MET("%s: medians %s, launches as dots, lines over numbers only", names,
               few ? "without intervals, see rule 5" : "with intervals");
}

/* ---- All rules ---- */

static const struct {
    const char *title, *remedy;
    grade_function *grade;
} rules[] = {
#define RULE(name, title, remedy) {title, remedy, grade_##name},
#include "bench/collect/rules.def"
};

size_t rules_grade(struct rule_result results[RULES], const struct summary *s)
{
    static const char *const verdicts[] = {"not met", "met", "not applicable"};
    size_t met = 0;
    for (size_t i = 0; i < RULES; i++) {
        struct rule_result *r = &results[i];
        r->grade = rules[i].grade(r->by, s);
        r->title = rules[i].title;
        r->remedy = rules[i].remedy;
        r->verdict = verdicts[r->grade];
        met += r->grade != RULE_NOT_MET;
    }
    return met;
}
