/* Evaluates conditions and sums. A sum is an arithmetic expression of numbers and names, such as
 * forward_ms + backward_ms. */
#include <math.h>
#include <string.h>

#include "bench/spec/conditions/steps.h"
#include "bench/spec/value.h"
#include "kernels/base/names.h"

/* ---- Intervals ---- */

static struct interval span(double lo, double mid, double hi)
{
    return (struct interval){.lo = lo, .mid = mid, .hi = hi};
}

static struct interval add(struct interval a, struct interval b)
{
    return span(a.lo + b.lo, a.mid + b.mid, a.hi + b.hi);
}

static struct interval negate(struct interval a)
{
    return span(-a.hi, -a.mid, -a.lo);
}

/* Multiplies two ends of intervals. 0 times infinity counts as 0. */
static double product_of_ends(double x, double y)
{
    return x == 0 || y == 0 ? 0 : x * y;
}

static struct interval multiply(struct interval a, struct interval b)
{
    double ll = product_of_ends(a.lo, b.lo), lh = product_of_ends(a.lo, b.hi),
           hl = product_of_ends(a.hi, b.lo), hh = product_of_ends(a.hi, b.hi);
    return span(fmin(fmin(ll, lh), fmin(hl, hh)), a.mid * b.mid, fmax(fmax(ll, lh), fmax(hl, hh)));
}

/* Divides intervals. If the divisor may be 0, the quotient is unbounded. */
static struct interval divide(struct interval a, struct interval b)
{
    struct interval r = span(-INFINITY, 0, INFINITY);
    if (b.lo > 0 || b.hi < 0)
        r = multiply(a, span(1 / b.hi, 1 / b.mid, 1 / b.lo));
    r.mid = a.mid / b.mid;
    return r;
}

/* ---- Comparisons ---- */

/* Returns a truth value as an interval. `lo` is `must`: whether the comparison holds for all values
 * of its operands. `hi` is `may`: whether it holds for some values. */
static struct interval truth(bool must, bool may)
{
    return span(must, must, may);
}

static bool order_holds(double a, enum condition_relation relation, double b)
{
    const bool holds[] = {
        [RELATION_EQUAL] = (a == b),  [RELATION_UNEQUAL] = (a != b),
        [RELATION_LESS] = (a < b),    [RELATION_LESS_EQUAL] = (a <= b),
        [RELATION_GREATER] = (a > b), [RELATION_GREATER_EQUAL] = (a >= b),
    };
    return holds[relation];
}

/* Returns the truth (see `truth`) of a comparison of two intervals. An order (< <= > >=) holds for
 * all values if it holds for the least favourable ends. */
static struct interval relate(struct interval a, enum condition_relation relation,
                              struct interval b)
{
    if (isnan(a.mid) || isnan(b.mid))
        return truth(false, false);
    if (relation > RELATION_UNEQUAL) {
        bool low = order_holds(a.lo, relation, b.hi), high = order_holds(a.hi, relation, b.lo);
        return truth(low && high, low || high);
    }
    bool may = a.lo <= b.hi && b.lo <= a.hi, must = may && a.lo == a.hi && b.lo == b.hi;
    return relation == RELATION_EQUAL ? truth(must, may) : truth(!may, !must);
}

/* Two names that the condition compares, and an assumed order: -1, 0 or 1 if the left value is
 * less, equal or greater. */
struct pair {
    const char *left, *right;
    int order;
};

struct values {
    condition_lookup *lookup;
    const void *arg;
    bool throughout; /* true: use the interval of each value; false: only its number */
    bool bounds;     /* whether to decide only two kinds of comparison: a name with a number, and
                        the two names of `pair` */
    /* two names and the assumed order of their values. If `bounds` is set, this order decides
     * comparisons of the two names. NULL: no order is assumed */
    const struct pair *pair;
};

static struct condition_value look_up(const struct values *values, const char *name)
{
    struct condition_value value = {.number = NAN};
    return values->lookup(&value, name, values->arg) ? value
                                                     : (struct condition_value){.number = NAN};
}

static struct interval number_of(const struct values *values, const struct condition_value *value)
{
    return values->throughout && value->spread ? span(value->lo, value->number, value->hi)
                                               : span(value->number, value->number, value->number);
}

static struct interval compare(const struct values *values, const struct condition_term *term)
{
    if (values->bounds && isnan(term->number))
        return truth(false, true);
    struct condition_value value = look_up(values, term->name);
    bool has_text = value.text != NULL && value.text[0] != '\0';
    if (!isnan(value.number) && (!isnan(term->number) || !has_text))
        return relate(number_of(values, &value), term->relation,
                      span(term->number, term->number, term->number));
    bool holds = has_text && term->relation <= RELATION_UNEQUAL &&
                 (strcmp(value.text, term->text) == 0) == (term->relation == RELATION_EQUAL);
    return truth(holds, holds);
}

/* ---- Evaluate a condition ---- */

static struct interval join(enum condition_action action, struct interval a, struct interval b)
{
    switch (action) {
    case ACTION_ADD:
        return add(a, b);
    case ACTION_SUBTRACT:
        return add(a, negate(b));
    case ACTION_MULTIPLY:
        return multiply(a, b);
    case ACTION_DIVIDE:
        return divide(a, b);
    case ACTION_AND:
        return truth(a.lo && b.lo, a.hi && b.hi);
    default:
        return truth(a.lo || b.lo, a.hi || b.hi);
    }
}

static struct interval operand(const struct condition *c, const struct condition_step *step,
                               const struct values *values)
{
    const struct condition_term *term = &c->terms[step->term];
    if (step->action == ACTION_NUMBER)
        return span(step->number, step->number, step->number);
    if (step->action == ACTION_COMPARE)
        return compare(values, term);
    struct condition_value value = look_up(values, term->name);
    return multiply(number_of(values, &value), span(term->scale, term->scale, term->scale));
}

/* Finds the two names that step `relate` compares. Returns false if it compares anything other than
 * two names. */
static bool find_pair(struct pair *pair, const struct condition *c, size_t relate)
{
    bool found = relate >= 2 && c->steps[relate].action == ACTION_RELATE &&
                 c->steps[relate - 1].action == ACTION_NAME &&
                 c->steps[relate - 2].action == ACTION_NAME;
    if (found)
        *pair = (struct pair){c->terms[c->steps[relate - 2].term].name,
                              c->terms[c->steps[relate - 1].term].name, 0};
    return found;
}

/* Decides the comparison at step `relate` if it compares the two names of `known`, whose values
 * have a known order. Returns an open result (`lo` 0, `hi` 1) for every other comparison, and if
 * `known` is NULL. */
static struct interval relate_pair(const struct condition *c, size_t relate,
                                   const struct pair *known)
{
    struct pair own;
    if (known == NULL || !find_pair(&own, c, relate))
        return truth(false, true);
    bool same = strcmp(own.left, known->left) == 0 && strcmp(own.right, known->right) == 0;
    bool turned = strcmp(own.left, known->right) == 0 && strcmp(own.right, known->left) == 0;
    bool holds = order_holds(turned ? -known->order : known->order, c->steps[relate].relation, 0);
    return same || turned ? truth(holds, holds) : truth(false, true);
}

static struct interval evaluate(const struct condition *c, const struct values *values)
{
    struct interval stack[CONDITION_STACK], *top = stack; /* stack[0] is unused */
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct condition_step *step = &c->steps[i];
        switch (step->action) {
        case ACTION_NUMBER:
        case ACTION_NAME:
        case ACTION_COMPARE:
            *++top = operand(c, step, values);
            break;
        case ACTION_NEGATE:
            *top = negate(*top);
            break;
        case ACTION_NOT:
            *top = truth(!top->hi, !top->lo);
            break;
        case ACTION_RELATE:
            top--;
            *top = values->bounds ? relate_pair(c, i, values->pair)
                                  : relate(top[0], step->relation, top[1]);
            break;
        default:
            top--;
            *top = join(step->action, top[0], top[1]);
        }
    }
    return *top;
}

bool condition_holds(const struct condition *c, condition_lookup *lookup, const void *arg)
{
    return evaluate(c, &(struct values){lookup, arg, false, false, NULL}).lo != 0;
}

enum condition_truth condition_holds_throughout(const struct condition *c, condition_lookup *lookup,
                                                const void *arg)
{
    struct interval r = evaluate(c, &(struct values){lookup, arg, true, false, NULL});
    return r.lo != 0 ? CONDITION_TRUE : r.hi != 0 ? CONDITION_OPEN : CONDITION_FALSE;
}

struct interval condition_sum(const struct condition *c, condition_lookup *lookup, const void *arg)
{
    return evaluate(c, &(struct values){lookup, arg, true, false, NULL});
}

const char *condition_unknown(const struct condition *c, condition_lookup *lookup, const void *arg)
{
    for (size_t i = 0; i < c->n_terms; i++) {
        struct condition_value value = {.number = NAN};
        if (!lookup(&value, c->terms[i].name, arg))
            return c->terms[i].name;
    }
    return NULL;
}

struct condition_value condition_value_of(const char *text)
{
    struct condition_value value = {.text = text};
    if (!number_parse(text, &value.number))
        value.number = NAN;
    return value;
}

/* ---- Comparisons that no value or every value satisfies ---- */

/* Returns whether a text is a number, or NaN, Inf or -Inf, which diverged training can give. */
static bool is_numeric(const char *text)
{
    static const char *const words[] = {"NaN", "Inf", "-Inf"};
    double number;
    return number_parse(text, &number) ||
           name_index(text, words, sizeof words / sizeof *words) >= 0;
}

bool condition_term_fits(char why[CONDITION_WHY], const struct condition_term *term,
                         enum condition_kind kind)
{
    bool in_sum = term->text == NULL;
    bool word =
        kind == CONDITION_NUMBER && !in_sum && isnan(term->number) && !is_numeric(term->text);
    bool order = kind == CONDITION_TEXT && !in_sum && term->relation > RELATION_UNEQUAL;
    bool sum = kind == CONDITION_TEXT && in_sum;
    if (word)
        snprintf(why, CONDITION_WHY, "%.100s is a number: expected a number, found '%.100s'",
                 term->name, term->text);
    if (order)
        snprintf(why, CONDITION_WHY, "%.100s has no order. Use = or !=", term->name);
    if (sum)
        snprintf(why, CONDITION_WHY, "%.100s is a text: expected a number", term->name);
    return !word && !order && !sum;
}

/* Smallest number that is certainly a percentage where a fraction of 1 is expected. Even
 * efficiencies above 1 stay far below it. */
#define SHARE_BOUND 20

static void explain_range(char why[CONDITION_WHY], const char *name,
                          const struct condition_range *range, bool always)
{
    int length = range->classes > 0
                     ? snprintf(why, CONDITION_WHY, "%.100s is %.3g by chance with %d classes",
                                name, range->lo, range->classes)
                     : snprintf(why, CONDITION_WHY, "%.100s is %s %g", name,
                                range->above ? "always above" : "never below", range->lo);
    if (!isinf(range->hi))
        length += snprintf(why + length, CONDITION_WHY - (size_t)length, "%s above %g",
                           range->classes > 0 ? " and never" : " nor", range->hi);
    snprintf(why + length, CONDITION_WHY - (size_t)length, ": this %s holds; expected %s",
             always ? "always" : "never",
             range->classes > 0 ? "a number in between, in percent" : "another number");
}

bool condition_term_decides(char why[CONDITION_WHY], const struct condition_term *term,
                            const struct condition_range *range)
{
    double number = term->number, first = range->above ? nextafter(range->lo, 1) : range->lo;
    bool low = order_holds(first, term->relation, number);
    bool high = order_holds(range->hi, term->relation, number);
    bool inside = first <= number && number <= range->hi;
    bool decides = term->relation > RELATION_UNEQUAL ? low != high : inside;
    if (isnan(number) || (decides && !(range->share && number >= SHARE_BOUND)))
        return true;
    explain_range(why, term->name, range, low);
    if (range->share && number >= SHARE_BOUND)
        snprintf(why, CONDITION_WHY, "%.100s is a share of 1: for %g %% write %g or %g%%",
                 term->name, number, number / 100, number);
    return false;
}

/* A name and the number that is assumed for it. All other names get unbounded intervals. */
struct name_value {
    const char *name;
    double number;
};

static bool look_up_name(struct condition_value *value, const char *name, const void *arg)
{
    const struct name_value *known = arg;
    *value = strcmp(name, known->name) == 0
                 ? (struct condition_value){.number = known->number}
                 : (struct condition_value){.spread = true, .lo = -INFINITY, .hi = INFINITY};
    return true;
}

static bool has_bound(const struct condition_term *term, const char *name)
{
    return !isnan(term->number) && strcmp(term->name, name) == 0;
}

/* Evaluates the condition with `name` just below, at and just above each number compared with
 * `name`. Other values of `name` give the same results. All other names may have any value. Returns
 * in `lo` whether the condition always holds, in `hi` whether it ever holds. */
static struct interval judge_bounds(const struct condition *c, const char *name)
{
    struct interval all = truth(true, false);
    for (size_t i = 0; i < c->n_terms; i++) {
        double bound = c->terms[i].number;
        const double numbers[] = {nextafter(bound, -INFINITY), bound, nextafter(bound, INFINITY)};
        for (size_t k = 0; k < 3 && has_bound(&c->terms[i], name); k++) {
            const struct name_value value = {name, numbers[k]};
            struct interval r =
                evaluate(c, &(struct values){look_up_name, &value, true, true, NULL});
            all = truth(all.lo != 0 && r.lo != 0, all.hi != 0 || r.hi != 0);
        }
    }
    return all;
}

static bool is_second_bound(const struct condition *c, size_t term)
{
    size_t before = 0;
    for (size_t i = 0; i < term; i++)
        before += has_bound(&c->terms[i], c->terms[term].name);
    return before == 1 && has_bound(&c->terms[term], c->terms[term].name);
}

/* Evaluates the condition three times: with pair.left less than, equal to and greater than
 * pair.right. Returns in `lo` whether the condition always holds, in `hi` whether it ever holds. */
static struct interval judge_orders(const struct condition *c, struct pair pair)
{
    const struct name_value none = {"", NAN};
    struct interval all = truth(true, false);
    for (pair.order = -1; pair.order <= 1; pair.order++) {
        struct interval r = evaluate(c, &(struct values){look_up_name, &none, true, true, &pair});
        all = truth(all.lo != 0 && r.lo != 0, all.hi != 0 || r.hi != 0);
    }
    return all;
}

static bool is_decided(const struct interval *all)
{
    return all->lo != 0 || all->hi == 0;
}

static void explain_decided(char why[CONDITION_WHY], const struct interval *all, const char *left,
                            const char *right)
{
    snprintf(why, CONDITION_WHY,
             "this %s holds for any %.80s%s%.80s; expected a condition that some numbers satisfy "
             "and others do not",
             all->lo != 0 ? "always" : "never", left, right[0] ? " and " : "", right);
}

static bool orders_decide(char why[CONDITION_WHY], const struct condition *c)
{
    for (size_t i = 0; i < c->n_steps; i++) {
        struct pair pair;
        if (!find_pair(&pair, c, i))
            continue;
        struct interval all = judge_orders(c, pair);
        if (!is_decided(&all))
            continue;
        explain_decided(why, &all, pair.left, pair.right);
        return false;
    }
    return true;
}

bool condition_decides(char why[CONDITION_WHY], const struct condition *c)
{
    for (size_t i = 0; i < c->n_terms; i++) {
        const char *name = c->terms[i].name;
        if (!is_second_bound(c, i))
            continue;
        struct interval all = judge_bounds(c, name);
        if (!is_decided(&all))
            continue;
        explain_decided(why, &all, name, "");
        return false;
    }
    return orders_decide(why, c);
}
