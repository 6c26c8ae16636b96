#include <math.h>
#include <string.h>

#include "bench/claims/claims.h"
#include "kernels/base/mem.h"

/* ---- Reasons ---- */

static bool has_no_interval(const struct claim *claim, const char *name)
{
    struct condition_value value;
    return claim_look_up(&value, name, claim) && isinf(value.lo) && isinf(value.hi);
}

static void add_name(struct claim *claim, const char *begin, const char *name)
{
    size_t length = strlen(claim->reason);
    snprintf(claim->reason + length, sizeof claim->reason - length, "%s%s",
             length > 0 ? ", " : begin, name);
}

/* Adds the names of cells without a bounded interval to the claim's reason, after the text `begin`.
 * `withheld`: adds cells whose ranks share cores; otherwise, cells with too few launches. */
static void name_cells(struct claim *claim, bool withheld, const char *begin)
{
    for (size_t i = 0; i < claim->n; i++)
        if (claim->values[i].rows != NULL && claim->values[i].rows[0] &&
            claim->values[i].withheld == withheld && has_no_interval(claim, claim->values[i].name))
            add_name(claim, begin, claim->values[i].name);
}

static void name_wide(struct claim *claim)
{
    size_t n;
    const struct condition_term *terms = condition_terms(claim->holds, &n);
    for (size_t i = 0; i < n; i++) {
        bool named = has_no_interval(claim, terms[i].name);
        for (size_t k = 0; k < i; k++)
            named |= strcmp(terms[k].name, terms[i].name) == 0;
        if (!named && claim_is_open(claim, terms[i].name))
            add_name(claim, "the 95 % interval contains the bound: ", terms[i].name);
    }
}

static void explain_open(struct claim *claim)
{
    name_cells(claim, false, "too few runs for a 95 % interval: ");
    if (!claim->reason[0])
        name_cells(claim, true, "ranks share cores, so scaling is undecided: ");
    if (!claim->reason[0])
        name_wide(claim);
}

/* ---- Verdicts ---- */

static enum status refuse_name(const struct claim *claim, const char *name, struct error *e)
{
    char text[700];
    TRY(claim_explain_name(text, sizeof text, claim, claim->n, name, e));
    return mark_error(e, ERR_SPEC, claim->holds_mark, "holds: %s", text);
}

/* Checks that `holds` compares numbers with numbers and texts with texts. */
static enum status check_kinds(const struct claim *claim, struct error *e)
{
    size_t n;
    char why[CONDITION_WHY];
    const struct condition_term *terms = condition_terms(claim->holds, &n);
    for (size_t i = 0; i < n; i++) {
        struct condition_value value;
        if (!claim_look_up(&value, terms[i].name, claim))
            continue;
        bool text = value.text != NULL;
        if (!condition_term_fits(why, &terms[i], text ? CONDITION_TEXT : CONDITION_NUMBER))
            return mark_error(e, ERR_SPEC, claim->holds_mark, "holds: %s", why);
        if (text && !isnan(terms[i].number))
            return mark_error(e, ERR_SPEC, claim->holds_mark,
                              "holds: %.100s is the text '%.100s', which cannot be compared with "
                              "the number '%.100s'",
                              terms[i].name, value.text, terms[i].text);
    }
    return OK;
}

/* Refuses a condition that is always or never true, or compares values of unlike units.
 * condition_match_units changes numbers, so the check works on a copy. */
static enum status check_holds(const struct claim *claim, struct error *e)
{
    char why[CONDITION_WHY];
    struct condition *copy;
    TRY(condition_parse(&copy, condition_text(claim->holds), e));
    bool decides =
        condition_match_units(why, copy, claim_unit_of, claim) && condition_decides(why, copy);
    condition_free(copy);
    return decides ? OK : mark_error(e, ERR_SPEC, claim->holds_mark, "holds: %s", why);
}

/* Refuses a condition that uses no table: the claim would judge numbers written in the claim
 * itself. */
static enum status check_tables(const struct claim *claim, struct error *e)
{
    size_t n;
    const struct condition_term *terms = condition_terms(claim->holds, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < claim->n; k++)
            if (claim->values[k].of_table && strcmp(claim->values[k].name, terms[i].name) == 0)
                return OK;
    return mark_error(e, ERR_SPEC, claim->holds_mark,
                      "holds: expected a value from a table, found only constants. Use a cell, "
                      "such as step_ms of RUN/summary.csv where ranks = 2");
}

static enum status judge(struct claim *claim, struct error *e)
{
    const char *unknown = condition_unknown(claim->holds, claim_look_up, claim);
    if (unknown != NULL)
        return refuse_name(claim, unknown, e);
    TRY(check_holds(claim, e));
    if (claim->reason[0]) {
        claim->verdict = CLAIM_NOT_TESTABLE;
        return OK;
    }
    TRY(check_kinds(claim, e));
    TRY(check_tables(claim, e));
    enum condition_truth holds = condition_holds_throughout(claim->holds, claim_look_up, claim);
    claim->verdict = holds == CONDITION_TRUE    ? CLAIM_SURVIVES
                     : holds == CONDITION_FALSE ? CLAIM_FAILS
                                                : CLAIM_UNDECIDED;
    if (claim->verdict == CLAIM_UNDECIDED)
        explain_open(claim);
    return OK;
}

static enum status judge_claim(struct claim *claim, struct claims *c, struct error *e)
{
    for (size_t i = 0; i < claim->n; i++) {
        TRY(claim_find_value(claim, i, c, e));
        TRY(claim_compare_samples(claim, i, c, e));
    }
    if (claim->untestable == NULL) {
        TRY(judge(claim, e));
        return claim->verdict == CLAIM_UNDECIDED ? claim_find_need(claim, c, e) : OK;
    }
    claim->verdict = CLAIM_NOT_TESTABLE;
    snprintf(claim->reason, sizeof claim->reason, "%s", claim->untestable);
    return OK;
}

enum status claims_judge(struct claims *c, const char *path, struct error *e)
{
    TRY(claims_read(c, path, e));
    for (size_t i = 0; i < c->n; i++) {
        TRY(judge_claim(&c->claims[i], c, e));
        c->verdicts[c->claims[i].verdict]++;
    }
    return OK;
}
