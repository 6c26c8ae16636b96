#include "bench/claims/arithmetic.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/spec/value.h"
#include "kernels/base/names.h"

#define DEPTH_MAX 30

struct parser {
    const char *text, *at;
    const char *const *names;
    const struct interval *values;
    size_t n;
    int depth;
};

/* ---- Intervals ---- */

static struct interval exact(double x)
{
    return (struct interval){.lo = x, .mid = x, .hi = x};
}

static struct interval add(struct interval a, struct interval b)
{
    return (struct interval){.lo = a.lo + b.lo, .mid = a.mid + b.mid, .hi = a.hi + b.hi};
}

static struct interval negate(struct interval a)
{
    return (struct interval){.lo = -a.hi, .mid = -a.mid, .hi = -a.lo};
}

/* Products of ends; one of 0 with an end at infinity is 0. */
static double product_of_ends(double x, double y)
{
    return x == 0 || y == 0 ? 0 : x * y;
}

static struct interval multiply(struct interval a, struct interval b)
{
    const double ends[] = {product_of_ends(a.lo, b.lo), product_of_ends(a.lo, b.hi),
                           product_of_ends(a.hi, b.lo), product_of_ends(a.hi, b.hi)};
    struct interval r = {.lo = ends[0], .mid = a.mid * b.mid, .hi = ends[0]};
    for (size_t i = 1; i < 4; i++) {
        r.lo = fmin(r.lo, ends[i]);
        r.hi = fmax(r.hi, ends[i]);
    }
    return r;
}

/* Where the divisor may be 0 the quotient may be anything. */
static struct interval divide(struct interval a, struct interval b)
{
    if (b.lo <= 0 && b.hi >= 0)
        return (struct interval){.lo = -INFINITY, .mid = a.mid / b.mid, .hi = INFINITY};
    struct interval inverse = {.lo = 1 / b.hi, .mid = 1 / b.mid, .hi = 1 / b.lo};
    struct interval r = multiply(a, inverse);
    r.mid = a.mid / b.mid;
    return r;
}

/* ---- Text ---- */

static int column_of(const struct parser *p)
{
    return (int)(p->at - p->text) + 1;
}

static enum status refuse(const struct parser *p, struct error *e, const char *what)
{
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p), "%s", what);
}

static char next_sign(struct parser *p)
{
    p->at += strspn(p->at, " \t\n\r");
    return *p->at;
}

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The length of the name or number that begins here; an exponent may have a sign. */
static size_t word_length(const char *text)
{
    size_t n = 0;
    bool number = isdigit((unsigned char)text[0]) || text[0] == '.';
    while (is_part(text[n]) || (number && n > 0 && strchr("+-", text[n]) != NULL &&
                                text[n] != '\0' && strchr("eE", text[n - 1]) != NULL))
        n++;
    return n;
}

static enum status parse_word(struct interval *result, struct parser *p, struct error *e)
{
    char word[64], text[800];
    double number;
    size_t length = word_length(p->at);
    if (length == 0 || length >= sizeof word)
        return refuse(p, e, "a number, a name, - or ( is expected");
    snprintf(word, sizeof word, "%.*s", (int)length, p->at);
    int index = name_index(word, p->names, p->n);
    if (index < 0 && !number_parse(word, &number))
        return refuse(p, e, name_explain(text, sizeof text, word, p->names, p->n));
    if (index >= 0 && isnan(p->values[index].mid))
        return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p), "'%s' is no number", word);
    *result = index >= 0 ? p->values[index] : exact(number);
    p->at += length;
    return OK;
}

static enum status parse_sum(struct interval *result, struct parser *p, struct error *e);

static enum status parse_factor(struct interval *result, struct parser *p, struct error *e)
{
    char sign = next_sign(p);
    if (sign != '-' && sign != '(')
        return parse_word(result, p, e);
    if (++p->depth > DEPTH_MAX)
        return refuse(p, e, "nested more than 30 levels deep");
    p->at++;
    if (sign == '-') {
        TRY(parse_factor(result, p, e));
        *result = negate(*result);
    } else {
        TRY(parse_sum(result, p, e));
        if (next_sign(p) != ')')
            return refuse(p, e, "+ - * / or ) is expected");
        p->at++;
    }
    p->depth--;
    return OK;
}

static enum status parse_product(struct interval *result, struct parser *p, struct error *e)
{
    TRY(parse_factor(result, p, e));
    for (char sign = next_sign(p); sign == '*' || sign == '/'; sign = next_sign(p)) {
        struct interval factor;
        p->at++;
        TRY(parse_factor(&factor, p, e));
        *result = sign == '*' ? multiply(*result, factor) : divide(*result, factor);
    }
    return OK;
}

static enum status parse_sum(struct interval *result, struct parser *p, struct error *e)
{
    TRY(parse_product(result, p, e));
    for (char sign = next_sign(p); sign == '+' || sign == '-'; sign = next_sign(p)) {
        struct interval term;
        p->at++;
        TRY(parse_product(&term, p, e));
        *result = add(*result, sign == '+' ? term : negate(term));
    }
    return OK;
}

enum status arithmetic_evaluate(struct interval *result, const char *text, const char *const *names,
                                const struct interval *values, size_t n, struct error *e)
{
    struct parser p = {.text = text, .at = text, .names = names, .values = values, .n = n};
    TRY(parse_sum(result, &p, e));
    return next_sign(&p) == '\0' ? OK : refuse(&p, e, "+ - * or / is expected");
}
