/* Finds the number of launches that would decide an undecided claim, and their wall time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/two_samples.h"
#include "bench/claims/tables.h"
#include "kernels/base/mem.h"

/* smallest number of launches whose median has an exact 95 % interval */
#define LAUNCHES_MIN 6
/* Above this number of launches, a median's interval is assumed to shrink as 1 / sqrt(launches). */
#define RANKS_MAX 200
/* If both samples have more launches than this, the half width of a two-sample interval is assumed
 * to shrink as 1 / sqrt(launches). */
#define PAIRS_MAX 50

/* ---- Expected widths ---- */

double claim_expected_width(size_t n)
{
    double ranks[RANKS_MAX];
    size_t m = n < RANKS_MAX ? n : RANKS_MAX;
    if (n < 2)
        return INFINITY;
    if (n < LAUNCHES_MIN)
        return student_quantile((1 + CLAIM_LEVEL) / 2, (double)(n - 1)) / sqrt((double)n);
    for (size_t i = 0; i < m; i++)
        ranks[i] = (double)(i + 1);
    double rank = stats_median_interval(ranks, m, CLAIM_LEVEL).hi;
    /* Expected value of the normal order statistic, by Blom, "Statistical estimates and transformed
     * beta-variables", 1958. Student's t with 1000 degrees of freedom is normal to three digits. */
    double score = student_quantile((rank - 0.375) / ((double)m + 0.25), 1000);
    return score * sqrt((double)m / (double)n);
}

double claim_expected_shift(size_t n, size_t m)
{
    double tail;
    if (n > PAIRS_MAX && m > PAIRS_MAX)
        return claim_expected_shift(PAIRS_MAX, PAIRS_MAX) *
               sqrt(PAIRS_MAX * (1 / (double)n + 1 / (double)m) / 2);
    size_t critical = rank_sum_critical(n, m, (1 - CLAIM_LEVEL) / 2, &tail);
    if (critical == 0)
        return INFINITY;
    /* Blom's formula, applied to the n x m differences between launches. A difference has sqrt(2)
     * times the standard deviation of a launch. Differences are not independent: the result is 6 %
     * too large for two samples of 6 launches, and 2 % for two samples of 20. */
    double share = ((double)critical - 0.375) / ((double)(n * m) + 0.25);
    return sqrt(2) * student_quantile(1 - share, 1000);
}

/* Returns the time (s) for one launch of every point behind the claim: the mean wall time of a
 * launch, summed over points and kinds of launch (timed, accuracy). */
static double find_seconds(const struct claim_need *need)
{
    double seconds = 0;
    for (size_t i = 0; i < need->n_used; i++) {
        const struct claim_launch *own = &need->used[i];
        double wall_s = csv_table_value(claim_csv_of(own->raw), own->row, "wall_s");
        size_t alike = 0;
        for (size_t k = 0; k < need->n_used; k++) {
            const struct claim_launch *other = &need->used[k];
            alike +=
                other->raw == own->raw &&
                claim_has_text(own->raw, own->row, "point",
                               csv_table_text(claim_csv_of(other->raw), other->row, "point")) &&
                claim_has_text(own->raw, own->row, "run",
                               csv_table_text(claim_csv_of(other->raw), other->row, "run"));
        }
        seconds += isnan(wall_s) ? 0 : wall_s / (double)alike;
    }
    return seconds;
}

static bool are_seeds(const struct claim_need *need)
{
    for (size_t i = 0; i < need->n_used; i++)
        if (!claim_has_text(need->used[i].raw, need->used[i].row, "run", "accuracy"))
            return false;
    return true;
}

/* ---- Cells that decide ---- */

/* Sets deciding[i], i < n, if the condition or arithmetic `c` uses value i of the claim. */
static void mark_names(bool *deciding, const struct claim *claim, size_t n,
                       const struct condition *c)
{
    size_t terms;
    const struct condition_term *term = condition_terms(c, &terms);
    for (size_t k = 0; k < terms; k++)
        for (size_t i = 0; i < n; i++)
            deciding[i] |= strcmp(term[k].name, claim->values[i].name) == 0;
}

static enum status mark_deciding(bool *deciding, const struct claim *claim, struct error *e)
{
    mark_names(deciding, claim, claim->n, claim->holds);
    for (size_t i = claim->n; i-- > 0;) {
        struct condition *sum;
        if (!deciding[i] || claim->values[i].table != NULL)
            continue;
        TRY(condition_parse_sum(&sum, claim->values[i].text, e));
        mark_names(deciding, claim, i, sum);
        condition_free(sum);
    }
    return OK;
}

static bool varies(const struct interval *number)
{
    return number->lo < number->hi;
}

/* Sets deciding[i] if claim->holds uses value i, directly or through arithmetic. Appends to
 * need->used the launches of each deciding cell that is not exact (lo < hi). Sets widths[i] to the
 * expected half width of the cell's interval, in standard deviations of a launch. Other widths stay
 * 0. need->known: false if there is no such cell, or if one has unknown launches or ranks that
 * share cores. */
static enum status count_launches(double *widths, bool *deciding, struct claim *claim,
                                  struct claims *c, struct error *e)
{
    struct claim_need *need = &claim->need;
    TRY(mark_deciding(deciding, claim, e));
    need->known = true;
    for (size_t i = 0; i < claim->n && need->known; i++) {
        const struct claim_value *value = &claim->values[i];
        const struct claim_table *raw;
        char name[256];
        size_t n = 0;
        if (!deciding[i] || value->table == NULL || !varies(&value->number))
            continue;
        snprintf(name, sizeof name, "%.200s/raw.csv", value->table->run->key);
        TRY(claim_tables_find(&raw, c, name, value->mark, e));
        if (raw->there)
            TRY(claim_use_cell(need, &n, raw, value, e));
        need->known = n > 0 && !value->withheld;
        need->at_least |= isinf(value->number.lo) || isinf(value->number.hi);
        need->now = need->now == 0 || n < need->now ? n : need->now;
        widths[i] = claim_expected_width(n);
    }
    need->known &= need->now > 0;
    return OK;
}

/* ---- The number of launches ---- */

/* Scales an interval's half widths by then / now, but never widens the interval. `now`, `then`:
 * expected half widths with the present launches and with more launches. An unbounded interval
 * becomes its middle value without width, since its spread is unknown. */
static struct interval narrow(struct interval number, double now, double then)
{
    double by = fmin(1, then / now);
    if (isinf(number.lo) || isinf(number.hi))
        by = number.lo = number.hi = 0;
    if (by == 0)
        return (struct interval){number.mid, number.mid, number.mid, 0, false};
    number.lo = number.mid - (number.mid - number.lo) * by;
    number.hi = number.mid + (number.hi - number.mid) * by;
    return number;
}

/* Estimates the standard deviation of a cell's launches from the cell's interval `number`; 0:
 * unknown. `width`: expected half width of this interval, in standard deviations of one launch. */
static double find_spread(const struct interval *number, double width)
{
    return isinf(number->lo) || isinf(number->hi) || width == 0
               ? 0
               : (number->hi - number->lo) / 2 / width;
}

/* Returns the two-sample interval that a value is expected to have with more launches. Used if the
 * value has no two-sample interval yet, because it has too few launches. `then`: expected half
 * width of the interval, in standard deviations of a launch. */
static struct interval expect_first(const struct claim_value *value, const struct claim *claim,
                                    const struct claim_contrast *k, const double *widths,
                                    double then)
{
    double squares = 0, mid = value->number.mid;
    for (size_t i = 0; i < 2; i++) {
        double spread = find_spread(&k->of[i]->number, widths[k->of[i] - claim->values]);
        squares += pow(k->ratio ? spread / k->of[i]->number.mid * mid : spread, 2);
    }
    double half = then * sqrt(squares / 2);
    return (struct interval){mid - half, mid, mid + half, CLAIM_LEVEL, true};
}

/* Sets at->number of a difference or quotient to the interval expected from `launches` launches.
 * The interval is paired if value->method is METHOD_PAIRS, otherwise two-sample. Leaves at->number
 * unchanged if value->launches[0] is 0: such a value is assumed to keep METHOD_CORNERS with any
 * number of launches. */
static void expect_samples(struct claim_value *at, const struct claim_value *value,
                           const struct claim *claim, const double *widths, size_t launches)
{
    struct claim_contrast k;
    double then = claim_expected_shift(launches, launches);
    const size_t *now = value->launches;
    if (value->method == METHOD_PAIRS)
        at->number =
            narrow(value->number, claim_expected_width(now[0]), claim_expected_width(launches));
    else if (value->method == METHOD_TWO_SAMPLES)
        at->number = narrow(value->number, claim_expected_shift(now[0], now[1]), then);
    else if (now[0] > 0 && claim_read_contrast(&k, claim, (size_t)(value - claim->values)))
        at->number = expect_first(value, claim, &k, widths, then);
}

/* Evaluates the condition with the intervals expected after `launches` launches. *at: a copy of the
 * claim, whose values this function overwrites. */
static enum status judge_at(enum condition_truth *holds, struct claim *at,
                            const struct claim *claim, const double *widths, size_t launches,
                            struct error *e)
{
    double then = claim_expected_width(launches);
    for (size_t i = 0; i < claim->n; i++)
        if (claim->values[i].table == NULL) {
            TRY(claim_find_sum(at, i, e));
            expect_samples(&at->values[i], &claim->values[i], claim, widths, launches);
        } else if (widths[i] > 0)
            at->values[i].number = narrow(claim->values[i].number, widths[i], then);
    *holds = condition_holds_throughout(claim->holds, claim_look_up, at);
    return OK;
}

/* Rounds up numbers of 100 or more to two significant digits, since the numbers are estimates. */
static size_t round_up(size_t n)
{
    size_t step = 1;
    while (n / step >= 100)
        step *= 10;
    return (n + step - 1) / step * step;
}

static enum status search(struct claim *at, struct claim *claim, const double *widths,
                          struct error *e)
{
    struct claim_need *need = &claim->need;
    enum condition_truth holds = CONDITION_OPEN;
    size_t launches = LAUNCHES_MIN;
    for (; launches <= CLAIM_LAUNCHES_MAX; launches += launches < RANKS_MAX ? 1 : launches / 100) {
        TRY(judge_at(&holds, at, claim, widths, launches, e));
        if (holds != CONDITION_OPEN)
            break;
    }
    if (holds == CONDITION_OPEN)
        return OK;
    need->launches = round_up(launches);
    need->expected = holds == CONDITION_TRUE ? CLAIM_SURVIVES : CLAIM_FAILS;
    need->seconds = (double)need->launches * find_seconds(need);
    return judge_at(&holds, at, claim, widths, need->launches, e);
}

/* Sets need->value to the first value whose interval alone leaves the claim undecided, and
 * need->width to this value's expected interval after more launches. *at: copy of the claim with
 * the expected intervals. */
static void find_widths(struct claim_need *need, const struct claim *claim, const struct claim *at)
{
    size_t terms;
    const struct condition_term *term = condition_terms(claim->holds, &terms);
    for (size_t k = 0; k < terms; k++)
        for (size_t i = 0; i < claim->n && need->value == NULL; i++)
            if (strcmp(claim->values[i].name, term[k].name) == 0 &&
                claim_is_open(claim, term[k].name)) {
                need->value = &claim->values[i];
                need->width = at->values[i].number;
            }
}

static void add_reason(struct claim *claim)
{
    const struct claim_need *need = &claim->need;
    const char *what = need->seeds ? "seeds" : "launches";
    size_t length = strlen(claim->reason);
    char *end = claim->reason + length;
    size_t room = sizeof claim->reason - length;
    if (need->launches == 0)
        snprintf(end, room, "; the estimate is too close to the bound for any number of %s", what);
    else
        snprintf(end, room, "; needs %s%zu %s%s", need->at_least ? "at least " : "", need->launches,
                 what, need->seconds > CLAIM_DAY_S ? ", more than a day" : "");
}

static enum status find_launches(struct claim *claim, struct claim_value *values,
                                 const double *widths, struct error *e)
{
    struct claim at = *claim;
    at.values = memcpy(values, claim->values, claim->n * sizeof *values);
    at.reason[0] = '\0';
    claim->need.seeds = are_seeds(&claim->need);
    TRY(search(&at, claim, widths, e));
    find_widths(&claim->need, claim, &at);
    add_reason(claim);
    return OK;
}

enum status claim_find_need(struct claim *claim, struct claims *c, struct error *e)
{
    double *widths = NULL;
    bool *deciding = NULL;
    struct claim_value *values = NULL;
    enum status status = MEM_NEW(widths, claim->n, "the launches of a claim", e);
    THEN(status, MEM_NEW(deciding, claim->n, "the launches of a claim", e));
    THEN(status, MEM_NEW(values, claim->n, "the launches of a claim", e));
    THEN(status, count_launches(widths, deciding, claim, c, e));
    if (status == OK && claim->need.known)
        status = find_launches(claim, values, widths, e);
    free(values);
    free(deciding);
    free(widths);
    return status;
}
