/* Judges undecided claims by exact intervals of two samples, which are narrower than the difference
 * of two intervals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/two_samples.h"
#include "bench/claims/tables.h"

/* A value "a - b" or "a / b" of two cells of runs that are medians over launches. */
struct contrast {
    const struct claim_value *of[2]; /* a, b */
    bool ratio;
};

static const struct claim_value *find_cell(const struct claim *claim, const char *name)
{
    for (size_t i = 0; i < claim->n; i++) {
        const struct claim_value *value = &claim->values[i];
        if (strcmp(value->name, name) == 0)
            return value->sampled && value->table->run != NULL ? value : NULL;
    }
    return NULL;
}

static bool read_contrast(struct contrast *k, const struct claim *claim, const char *text)
{
    char a[64], b[64], sign, more;
    if (sscanf(text, " %63[a-zA-Z0-9_] %c %63[a-zA-Z0-9_] %c", a, &sign, b, &more) != 3 ||
        strchr("-/", sign) == NULL)
        return false;
    *k = (struct contrast){{find_cell(claim, a), find_cell(claim, b)}, sign == '/'};
    return k->of[0] != NULL && k->of[1] != NULL;
}

static enum status find_sample(double **x, size_t *n, const struct claim_value *value,
                               struct claims *c, struct error *e)
{
    const struct claim_table *raw;
    char name[256];
    snprintf(name, sizeof name, "%.200s/raw.csv", value->table->run->key);
    TRY(claim_tables_find(&raw, c, name, value->mark, e));
    return claim_sample(x, n, raw, value, e);
}

static void take_logarithms(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = log(x[i]);
}

/* Returns the interval of a - b or a / b; `met` is false if the samples are too small, or if values
 * are unknown. */
static struct interval compare(const struct contrast *k, double *const x[2], const size_t n[2])
{
    for (size_t i = 0; i < 2 && k->ratio; i++)
        take_logarithms(x[i], n[i]);
    struct interval r = two_samples_shift(x[1], n[1], x[0], n[0], CLAIM_LEVEL);
    if (k->ratio)
        r = (struct interval){exp(r.lo), exp(r.mid), exp(r.hi), r.level, r.met};
    r.met = r.met && isfinite(r.lo) && isfinite(r.hi);
    return r;
}

static enum status judge_contrast(struct interval *r, const struct contrast *k, struct claims *c,
                                  struct error *e)
{
    double *x[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    enum status status = find_sample(&x[0], &n[0], k->of[0], c, e);
    THEN(status, find_sample(&x[1], &n[1], k->of[1], c, e));
    if (status == OK)
        *r = compare(k, x, n);
    free(x[0]);
    free(x[1]);
    return status;
}

enum status claim_judge_samples(struct claim *at, struct claim *claim, struct claims *c,
                                struct error *e)
{
    size_t changed = 0;
    for (size_t i = 0; i < claim->n; i++) {
        struct contrast k;
        struct interval r;
        at->values[i].number = claim->values[i].number;
        if (claim->values[i].table != NULL || !read_contrast(&k, claim, claim->values[i].text))
            continue;
        TRY(judge_contrast(&r, &k, c, e));
        if (r.met)
            at->values[i].number = r;
        changed += r.met;
    }
    enum condition_truth holds = condition_holds_throughout(claim->holds, claim_look_up, at);
    claim->need.two_samples = changed == 0 || holds == CONDITION_OPEN ? CLAIM_UNDECIDED
                              : holds == CONDITION_TRUE               ? CLAIM_SURVIVES
                                                                      : CLAIM_FAILS;
    return OK;
}
