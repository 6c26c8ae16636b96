/* Finds disturbed launches by comparison with other launches of the campaign or point. Ignores
 * disturbances below about 1 % of a launch's time. A disturbance that all launches share is flagged
 * only if other programs or a hypervisor use more than SUMMARY_BUSY_PCT. */
#include "bench/collect/points/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/homogeneity.h"
#include "kernels/base/mem.h"

/* A launch is disturbed if foreign_pct (other programs, interrupts and hypervisor) or steal_pct
 * (hypervisor alone) is above its limit. The limit is the median over all valid launches plus these
 * percentage points, but at most SUMMARY_BUSY_PCT. The rounding error (TICKS) is added to the
 * limit. */
#define FOREIGN_EXCESS_PCT 5.0
#define STEAL_EXCESS_PCT   2.0

/* rounding error (ticks) of a processor time that is the difference of two counters */
#define TICKS 2.0

/* A fixed computation is slow if it takes this many standard deviations longer than the median over
 * launches on equally many cores. */
#define WORK_DEVIATIONS 5.0
/* The fixed computation counts as slow only if its time also exceeds the median by at least this
 * share of the median, because clock rates vary by a few per cent. */
#define WORK_LEAST 0.05
/* standard deviation / median absolute deviation of a normal distribution */
#define DEVIATION_PER_MAD 1.4826
/* fewest timings of the fixed computation that are compared; each launch has two */
#define WORK_VALUES_MIN 6

/* upper bounds for the time of one minor and one major page fault (s) */
#define FAULT_MINOR_S 1e-6
#define FAULT_MAJOR_S 1e-4
/* Limit of page-fault time, as a share of the duration of a launch's timed steps. The point's
 * median share raises the limit (see TIMES_MEDIAN). */
#define FAULTS_SHARE 0.01

/* Limit of involuntary context switches per second. After each switch, another program runs for 1
 * ms or more, so 20 switches per second take at least 2 % of the time. */
#define SWITCHES_PER_S 20.0
/* A launch is flagged for involuntary context switches only if its timed steps had more than this
 * number in total. */
#define SWITCHES_FEW 4.0

/* The limits of page-fault time (FAULTS_SHARE) and of context switches per second (SWITCHES_PER_S)
 * are each raised by this factor times the quantity's median over the point's launches. */
#define TIMES_MEDIAN 3.0

/* probability that a point without outliers is reported to have some */
#define NOISE_ALPHA 0.01
/* smallest relative distance between an outlier and the median, or between two modes */
#define NOISE_LEAST 0.01
/* probability that any trend is reported in a campaign without trends */
#define TREND_ALPHA 0.05
/* A smaller change of the step time from the first to the last timed step (%) is not a trend. */
#define TREND_LEAST_PCT 1.0
/* fewest launches of a point for a test of its trend */
#define TREND_LAUNCHES 3

/* ---- Text ---- */

enum { FOREIGN, STEAL, WORK, FAULTS, SWITCHES, KINDS };
static const struct {
    const char *name, *unit;
} kinds[KINDS] = {[FOREIGN] = {"foreign", "%"},
                  [STEAL] = {"steal", "%"},
                  [WORK] = {"work", "% slower"},
                  [FAULTS] = {"faults", "% of its steps"},
                  [SWITCHES] = {"switches", "a second"}};

/* If the amount of a disturbance exceeds its limit, appends its kind, amount and limit to
 * r->disturbed, such as "foreign 12 % (limit 6)". The text includes the limit, since limits differ
 * between campaigns. */
static void judge_amount(struct launch_result *r, int kind, double amount, double limit)
{
    char number[TEXT_NUMBER], most[TEXT_NUMBER];
    size_t used = strlen(r->disturbed);
    if (amount > limit)
        snprintf(r->disturbed + used, sizeof r->disturbed - used, "%s%s %s %s (limit %s)",
                 used > 0 ? ", " : "", kinds[kind].name, text_significant(number, amount, 3),
                 kinds[kind].unit, text_significant(most, limit, 3));
}

void noise_join(char *to, size_t size, const char *by)
{
    for (int k = 0; k < KINDS; k++)
        if (strstr(by, kinds[k].name) != NULL && strstr(to, kinds[k].name) == NULL)
            text_join(to, size, " ", kinds[k].name);
}

/* ---- Comparison with all launches of the campaign ---- */

/* State of noise_judge_launches. `values` is scratch space for two numbers per launch. */
struct judge {
    struct summary *s;
    double *values;
    double foreign_pct, steal_pct; /* shares of processor time (%), medians over the valid launches
                                      of the campaign. foreign_pct: used by other programs,
                                      interrupts and a hypervisor; steal_pct: taken by a
                                      hypervisor */
};

static double window_s(const struct launch_result *r)
{
    return 1e-3 * r->step_ms * r->steps;
}

static double median_of(const struct judge *j, size_t offset)
{
    size_t n = 0;
    for (size_t i = 0; i < j->s->n_launches; i++) {
        double x = *(const double *)((const char *)&j->s->launches[i].result + offset);
        if (j->s->launches[i].ok && isfinite(x))
            j->values[n++] = x;
    }
    return stats_median(j->values, n);
}

/* Flags a launch during which other programs, or a hypervisor, used clearly more processor time
 * than in the campaign's median launch, or more than SUMMARY_BUSY_PCT. */
static void judge_load(const struct judge *j, struct summary_launch *launch, double wall_s)
{
    struct launch_result *r = &launch->result;
    double ticks_pct = 100 * TICKS / (double)sysconf(_SC_CLK_TCK) / wall_s;
    double foreign = fmin(SUMMARY_BUSY_PCT, j->foreign_pct + FOREIGN_EXCESS_PCT) + ticks_pct;
    double steal = fmin(SUMMARY_BUSY_PCT, j->steal_pct + STEAL_EXCESS_PCT) + ticks_pct;
    judge_amount(r, FOREIGN, r->foreign_pct, foreign);
    judge_amount(r, STEAL, r->steal_pct, steal);
}

static bool is_on_cores(const struct summary *s, const struct summary_launch *launch, int cores)
{
    return launch->ok && point_cores(&s->spec->points[launch->point]) == cores;
}

/* Flags launches in which a fixed computation was slow both before and after the steps. If the
 * computation was slow only once, the disturbance may have missed the steps. Compares launches on
 * equally many cores, since more busy cores may lower the clock rate. */
static void judge_cores(struct judge *j, int cores)
{
    struct summary *s = j->s;
    size_t n = 0;
    for (size_t i = 0; i < 2 * s->n_launches; i++) {
        const struct launch_result *r = &s->launches[i / 2].result;
        double work_us = i % 2 == 0 ? r->work_before_us : r->work_after_us;
        if (is_on_cores(s, &s->launches[i / 2], cores) && work_us > 0)
            j->values[n++] = work_us;
    }
    if (n < WORK_VALUES_MIN)
        return;
    double median = stats_median(j->values, n);
    for (size_t i = 0; i < n; i++)
        j->values[i] = fabs(j->values[i] - median);
    double spread = WORK_DEVIATIONS * DEVIATION_PER_MAD * stats_median(j->values, n);
    double limit_pct = 100 * fmax(spread, WORK_LEAST * median) / median;
    for (size_t i = 0; i < s->n_launches; i++) {
        struct launch_result *r = &s->launches[i].result;
        double lesser_us = fmin(r->work_before_us, r->work_after_us);
        if (is_on_cores(s, &s->launches[i], cores))
            judge_amount(r, WORK, 100 * (lesser_us / median - 1), limit_pct);
    }
}

static bool is_first_with_cores(const struct summary *s, size_t point)
{
    int cores = point_cores(&s->spec->points[point]);
    for (size_t i = 0; i < point; i++)
        if (point_cores(&s->spec->points[i]) == cores)
            return false;
    return true;
}

/* ---- Comparison with launches of the same point ---- */

static double fault_share(const struct launch_result *r)
{
    return (FAULT_MINOR_S * r->faults_minor + FAULT_MAJOR_S * r->faults_major) / window_s(r);
}

static double switch_rate(const struct launch_result *r)
{
    return r->switches_involuntary / window_s(r);
}

static double median_over(const struct judge *j, const struct point_summary *p,
                          double (*number)(const struct launch_result *))
{
    size_t n = 0;
    for (size_t i = p->first_launch; i < j->s->n_launches; i = j->s->launches[i].next) {
        double x = number(&j->s->launches[i].result);
        if (j->s->launches[i].ok && isfinite(x))
            j->values[n++] = x;
    }
    return stats_median(j->values, n);
}

static void judge_interruptions(struct judge *j, const struct point_summary *p)
{
    double faults = median_over(j, p, fault_share), switches = median_over(j, p, switch_rate);
    for (size_t i = p->first_launch; i < j->s->n_launches; i = j->s->launches[i].next) {
        struct launch_result *r = &j->s->launches[i].result;
        if (!j->s->launches[i].ok)
            continue;
        double turns = fmax(SWITCHES_PER_S + TIMES_MEDIAN * switches, SWITCHES_FEW / window_s(r));
        judge_amount(r, FAULTS, 100 * fault_share(r), 100 * (FAULTS_SHARE + TIMES_MEDIAN * faults));
        judge_amount(r, SWITCHES, switch_rate(r), turns);
    }
}

enum status noise_judge_launches(struct summary *s, struct error *e)
{
    struct judge j = {.s = s};
    TRY(MEM_NEW(j.values, 2 * s->n_launches, "the noise of launches", e));
    j.foreign_pct = median_of(&j, offsetof(struct launch_result, foreign_pct));
    j.steal_pct = median_of(&j, offsetof(struct launch_result, steal_pct));
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].ok)
            judge_load(&j, &s->launches[i], s->journal->launches[i].wall_s);
    for (size_t p = 0; p < s->n; p++) {
        if (is_first_with_cores(s, p))
            judge_cores(&j, point_cores(&s->spec->points[p]));
        if (s->spec->points[p].twin == p)
            judge_interruptions(&j, &s->points[p]);
    }
    free(j.values);
    return OK;
}

/* ---- Points ---- */

size_t noise_points_tested(const struct summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->spec->points[i].twin == i && s->points[i].n_launches >= TREND_LAUNCHES;
    return n;
}

/* Returns -1 if steps get shorter during a launch, 1 if longer, 0 without a significant trend of
 * more than TREND_LEAST_PCT. Tests one value per launch, since steps of one launch are
 * correlated. */
static int trend_direction(const struct samples *time, double trend_pct, size_t tested)
{
    size_t n = 0;
    double sum = 0;
    for (size_t i = 0; i < time->n; i++) {
        double tau = time->items[i].result->trend_tau;
        if (isnan(tau))
            continue;
        time->values[n++] = tau;
        sum += tau;
    }
    bool clear =
        homogeneity_mean_differs(time->values, n, TREND_ALPHA / (double)(tested + !tested));
    if (!clear || !(fabs(trend_pct) > TREND_LEAST_PCT))
        return 0;
    return sum < 0 ? -1 : 1;
}

void noise_judge_point(struct point_noise *noise, const struct samples *time, size_t tested)
{
    for (size_t i = 0; i < time->n; i++) {
        const char *by = time->items[i].result->disturbed;
        noise->disturbed += by[0] != '\0';
        noise_join(noise->disturbed_by, sizeof noise->disturbed_by, by);
        time->values[i] = time->items[i].result->step_ms;
    }
    noise->outliers = homogeneity_outliers(NULL, time->values, time->n, NOISE_ALPHA, NOISE_LEAST);
    noise->modes = time->n > 0 ? (size_t)homogeneity_modes(time->values, time->n, NOISE_LEAST) : 0;
    noise->trend_pct = samples_median(time, offsetof(struct launch_result, trend_pct));
    noise->trend = trend_direction(time, noise->trend_pct, tested);
}
