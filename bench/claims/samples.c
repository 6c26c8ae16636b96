/* Computes intervals of values such as "a - b" and "a / b", whose operands a and b are cells of
 * tables. Uses the launches behind both cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/two_samples.h"
#include "bench/claims/tables.h"

static const char *const method_names[CLAIM_METHODS] = {
#define CLAIM_METHOD(id, name, meaning) name,
#include "bench/claims/methods.def"
};

const char *claim_method_name(const struct claim_value *value)
{
    bool shown = value->table == NULL && value->number.lo < value->number.hi &&
                 isfinite(value->number.lo) && isfinite(value->number.hi);
    return shown ? method_names[value->method] : NULL;
}

/* ---- Contrasts ---- */

static const struct claim_value *find_cell(const struct claim *claim, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        const struct claim_value *value = &claim->values[i];
        if (strcmp(value->name, name) == 0)
            return value->sampled && !value->withheld && value->table->run != NULL ? value : NULL;
    }
    return NULL;
}

bool claim_read_contrast(struct claim_contrast *k, const struct claim *claim, size_t i)
{
    char a[64], b[64], sign, more;
    if (sscanf(claim->values[i].text, " %63[a-zA-Z0-9_] %c %63[a-zA-Z0-9_] %c", a, &sign, b,
               &more) != 3 ||
        strchr("-/", sign) == NULL)
        return false;
    *k = (struct claim_contrast){{find_cell(claim, i, a), find_cell(claim, i, b)}, sign == '/'};
    return k->of[0] != NULL && k->of[1] != NULL;
}

/* ---- Samples ---- */

/* Sets *usable to whether all values of the sample are finite and its median equals the cell's
 * value to the precision of summary.csv. For a ratio, all values must also be positive, because
 * their logarithms are compared. An empty sample is not usable. */
static enum status check_sample(bool *usable, const struct claim_sample *s,
                                const struct claim_value *cell, bool ratio, struct error *e)
{
    const double rounding = 1e-6;
    *usable = s->n > 0;
    for (size_t i = 0; i < s->n; i++)
        *usable &= isfinite(s->x[i]) && (!ratio || s->x[i] > 0);
    if (!*usable)
        return OK;
    double median = stats_median(s->x, s->n);
    *usable = fabs(median - cell->number.mid) <= rounding * fabs(median);
    return isnan(median) ? error_no_memory(e, "the median of a sample") : OK;
}

/* Returns the number of launches that are in both samples. */
static size_t count_shared(const struct claim_sample *a, const struct claim_sample *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            n += strcmp(a->launches[i], b->launches[k]) == 0;
    return n;
}

/* Returns whether both samples have the same launches in the same order. */
static bool are_pairs(const struct claim_sample *a, const struct claim_sample *b)
{
    for (size_t i = 0; i < a->n && a->n == b->n; i++)
        if (strcmp(a->launches[i], b->launches[i]) != 0)
            return false;
    return a->n == b->n;
}

/* ---- Intervals ---- */

static struct interval exponential(struct interval i)
{
    return (struct interval){exp(i.lo), exp(i.mid), exp(i.hi), i.level, i.met};
}

/* Sets the interval of a - b or a / b: by METHOD_PAIRS if both samples list the same launches, by
 * METHOD_TWO_SAMPLES if they share none. Otherwise, or if launches are too few, keeps
 * METHOD_CORNERS. Overwrites s[].x. */
static enum status compare(struct claim_value *value, struct claim_sample s[2], bool ratio,
                           struct error *e)
{
    bool same_run = s[0].run == s[1].run;
    bool pairs = same_run && are_pairs(&s[0], &s[1]);
    if (!pairs && same_run && count_shared(&s[0], &s[1]) > 0)
        return OK;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < s[i].n && ratio; k++)
            s[i].x[k] = log(s[i].x[k]);
    for (size_t k = 0; k < s[0].n && pairs; k++)
        s[0].x[k] -= s[1].x[k];
    struct interval r = pairs ? claim_median_interval(s[0].x, s[0].n)
                              : two_samples_shift(s[1].x, s[1].n, s[0].x, s[0].n, CLAIM_LEVEL);
    if (isnan(r.mid) || (!r.met && r.level >= CLAIM_LEVEL))
        return error_no_memory(e, "the interval of two samples");
    bool known = isfinite(r.lo) && isfinite(r.hi) && r.met;
    if (known) {
        value->number = ratio ? exponential(r) : r;
        value->method = pairs ? METHOD_PAIRS : METHOD_TWO_SAMPLES;
    }
    for (size_t i = 0; i < 2 && (known || !pairs); i++)
        value->launches[i] = s[i].n;
    return OK;
}

static enum status compare_usable(struct claim_value *value, struct claim_sample s[2],
                                  const struct claim_contrast *k, struct error *e)
{
    bool usable[2];
    for (size_t i = 0; i < 2; i++)
        TRY(check_sample(&usable[i], &s[i], k->of[i], k->ratio, e));
    return usable[0] && usable[1] ? compare(value, s, k->ratio, e) : OK;
}

enum status claim_compare_samples(struct claim *claim, size_t i, struct claims *c, struct error *e)
{
    struct claim_value *value = &claim->values[i];
    struct claim_contrast k;
    struct claim_sample s[2] = {{.n = 0}, {.n = 0}};
    if (value->table != NULL || !(value->number.lo < value->number.hi) ||
        !claim_read_contrast(&k, claim, i))
        return OK;
    enum status status = claim_find_sample(&s[0], c, k.of[0], e);
    THEN(status, claim_find_sample(&s[1], c, k.of[1], e));
    THEN(status, compare_usable(value, s, &k, e));
    for (size_t n = 0; n < 2; n++) {
        free(s[n].x);
        free(s[n].launches);
    }
    return status;
}
