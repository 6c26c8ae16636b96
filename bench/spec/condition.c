/* What conditions say of values. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "bench/spec/value.h"
#include "bench/spec/values/condition_parts.h"
#include "kernels/base/names.h"

const char *condition_unknown(const struct condition *c, condition_lookup *lookup, const void *arg)
{
    for (size_t i = 0; i < c->n_terms; i++) {
        struct condition_value value = {NAN, NULL};
        if (!lookup(&value, c->terms[i].name, arg))
            return c->terms[i].name;
    }
    return NULL;
}

static bool order_holds(double a, enum relation relation, double b)
{
    switch (relation) {
    case EQUAL:
        return a == b;
    case UNEQUAL:
        return a != b;
    case LESS:
        return a < b;
    case LESS_EQUAL:
        return a <= b;
    case GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

static bool comparison_holds(const struct comparison *comparison, const struct condition_term *term,
                             const struct condition_value *value)
{
    bool has_text = value->text != NULL && value->text[0] != '\0';
    if (!isnan(value->number) && (!isnan(comparison->number) || !has_text))
        return order_holds(value->number, comparison->relation, comparison->number) &&
               !isnan(comparison->number);
    if (!has_text || term->ordered)
        return false;
    return (strcmp(value->text, term->text) == 0) == (comparison->relation == EQUAL);
}

/* What a term may come to and what it must come to, which differ where a value is not known to a
 * point. */
struct truth {
    bool must, may;
};
typedef struct truth term_judge(const struct condition *c, size_t term, const void *arg);

/* Two stacks of bits, lowest on top; what must not hold is what `not` makes of what may. */
static struct truth evaluate(const struct condition *c, term_judge *judge, const void *arg)
{
    uint64_t must = 0, may = 0, swap;
    size_t term = 0;
    for (size_t i = 0; i < c->n_actions; i++) {
        struct truth truth;
        switch (c->actions[i]) {
        case ACTION_COMPARE:
            truth = judge(c, term++, arg);
            must = must << 1 | truth.must;
            may = may << 1 | truth.may;
            break;
        case ACTION_NOT:
            swap = must;
            must = (must & ~UINT64_C(1)) | (~may & 1);
            may = (may & ~UINT64_C(1)) | (~swap & 1);
            break;
        case ACTION_AND:
            must = must & 1 ? must >> 1 : must >> 1 & ~UINT64_C(1);
            may = may & 1 ? may >> 1 : may >> 1 & ~UINT64_C(1);
            break;
        case ACTION_OR:
            must = must >> 1 | (must & 1);
            may = may >> 1 | (may & 1);
            break;
        }
    }
    return (struct truth){must & 1, may & 1};
}

struct point_values {
    condition_lookup *lookup;
    const void *arg;
};

static struct truth judge_value(const struct condition *c, size_t term, const void *arg)
{
    const struct point_values *values = arg;
    struct condition_value value = {NAN, NULL};
    if (!values->lookup(&value, c->terms[term].name, values->arg))
        value = (struct condition_value){NAN, NULL};
    bool holds = comparison_holds(&c->comparisons[term], &c->terms[term], &value);
    return (struct truth){holds, holds};
}

bool condition_holds(const struct condition *c, condition_lookup *lookup, const void *arg)
{
    return evaluate(c, judge_value, &(struct point_values){lookup, arg}).must;
}

struct interval_values {
    condition_interval_lookup *lookup;
    const void *arg;
};

/* Orders change at one place: they hold in the whole interval where they do at both ends. */
static struct truth judge_interval(const struct condition *c, size_t term, const void *arg)
{
    const struct interval_values *values = arg;
    const struct comparison *comparison = &c->comparisons[term];
    struct condition_value value = {NAN, NULL};
    double lo = NAN, hi = NAN;
    if (!values->lookup(&value, &lo, &hi, c->terms[term].name, values->arg))
        value = (struct condition_value){NAN, NULL};
    bool holds = comparison_holds(comparison, &c->terms[term], &value);
    if (isnan(value.number) || isnan(comparison->number) || isnan(lo) || isnan(hi))
        return (struct truth){holds, holds};
    if (comparison->relation == EQUAL || comparison->relation == UNEQUAL) {
        bool may = lo <= comparison->number && comparison->number <= hi, must = may && lo == hi;
        return comparison->relation == EQUAL ? (struct truth){must, may}
                                             : (struct truth){!may, !must};
    }
    bool low = order_holds(lo, comparison->relation, comparison->number);
    bool high = order_holds(hi, comparison->relation, comparison->number);
    return (struct truth){low && high, low || high};
}

enum condition_truth condition_holds_throughout(const struct condition *c,
                                                condition_interval_lookup *lookup, const void *arg)
{
    struct truth truth = evaluate(c, judge_interval, &(struct interval_values){lookup, arg});
    return truth.must ? CONDITION_TRUE : truth.may ? CONDITION_OPEN : CONDITION_FALSE;
}

const struct condition_term *condition_terms(const struct condition *c, size_t *n)
{
    *n = c->n_terms;
    return c->terms;
}

/* Between quotation marks too, or as what training that diverges comes to is written. */
static bool is_of_numbers(const char *text)
{
    static const char *const words[] = {"NaN", "Inf", "-Inf"};
    double number;
    return number_parse(text, &number) ||
           name_index(text, words, sizeof words / sizeof *words) >= 0;
}

bool condition_term_fits(char why[CONDITION_WHY], const struct condition_term *term,
                         enum condition_kind kind)
{
    bool word = kind == CONDITION_NUMBER && !term->number && !is_of_numbers(term->text);
    bool order = kind == CONDITION_TEXT && term->ordered;
    if (word)
        snprintf(why, CONDITION_WHY, "%.100s is a number: expected a number, found '%.100s'",
                 term->name, term->text);
    if (order)
        snprintf(why, CONDITION_WHY, "%.100s has no order: = or != are for it", term->name);
    return !word && !order;
}

/* A bound of a share that no share is near, and an efficiency above 1 neither. */
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

bool condition_term_decides(char why[CONDITION_WHY], const struct condition *c, size_t term,
                            const struct condition_range *range)
{
    const struct comparison *comparison = &c->comparisons[term];
    double number = comparison->number, first = range->above ? nextafter(range->lo, 1) : range->lo;
    bool least = order_holds(range->lo, comparison->relation, number);
    bool low = order_holds(first, comparison->relation, number);
    bool high = order_holds(range->hi, comparison->relation, number);
    bool inside = first <= number && number <= range->hi;
    bool decides = c->terms[term].ordered ? low != high || (low && !least) : inside;
    if (isnan(number) || (decides && !(range->share && number >= SHARE_BOUND)))
        return true;
    explain_range(why, c->terms[term].name, range, low);
    if (range->share && number >= SHARE_BOUND)
        snprintf(why, CONDITION_WHY, "%.100s is a share of 1: for %g %% write %g or %g%%",
                 c->terms[term].name, number, number / 100, number);
    return false;
}

/* One name at a number, all others anywhere. */
struct name_value {
    const char *name;
    double number;
};

static struct truth judge_name(const struct condition *c, size_t term, const void *arg)
{
    const struct name_value *value = arg;
    const struct comparison *comparison = &c->comparisons[term];
    if (isnan(comparison->number) || strcmp(c->terms[term].name, value->name) != 0)
        return (struct truth){false, true};
    bool holds = order_holds(value->number, comparison->relation, comparison->number);
    return (struct truth){holds, holds};
}

/* What the name makes of the condition at each bound of it and beside it, between which nothing changes. */
static struct truth judge_bounds(const struct condition *c, const char *name)
{
    struct truth all = {true, false};
    for (size_t i = 0; i < c->n_terms; i++) {
        double bound = c->comparisons[i].number;
        const double numbers[] = {nextafter(bound, -INFINITY), bound, nextafter(bound, INFINITY)};
        for (size_t k = 0; k < 3 && strcmp(c->terms[i].name, name) == 0; k++) {
            struct truth truth = evaluate(c, judge_name, &(struct name_value){name, numbers[k]});
            all.must = all.must && truth.must;
            all.may = all.may || truth.may;
        }
    }
    return all;
}

static bool is_second(const struct condition *c, size_t term)
{
    size_t before = 0;
    for (size_t i = 0; i < term; i++)
        before += strcmp(c->terms[i].name, c->terms[term].name) == 0;
    return before == 1;
}

bool condition_decides(char why[CONDITION_WHY], const struct condition *c)
{
    for (size_t i = 0; i < c->n_terms; i++) {
        const char *name = c->terms[i].name;
        if (!is_second(c, i))
            continue;
        struct truth all = judge_bounds(c, name);
        if (!all.must && all.may)
            continue;
        snprintf(why, CONDITION_WHY,
                 "this %s holds, whatever %.100s is; expected a condition that some numbers meet "
                 "and others do not",
                 all.must ? "always" : "never", name);
        return false;
    }
    return true;
}

void condition_set_text(struct condition *c, size_t term, const char *text)
{
    c->terms[term].text = text;
}

const char *condition_text(const struct condition *c)
{
    return c->text;
}
