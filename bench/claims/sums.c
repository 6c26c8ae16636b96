/* Computes values of claims that are arithmetic over earlier values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/claims/claims.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

enum status claim_refuse_value(const struct claim_value *value, struct error *e, const char *why)
{
    return mark_error(e, ERR_SPEC, value->mark, "%s: '%s': %s", value->name, value->text, why);
}

static const struct claim_value *find_value(const struct claim *claim, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(claim->values[i].name, name) == 0)
            return &claim->values[i];
    return NULL;
}

bool claim_look_up(struct condition_value *value, const char *name, const void *arg)
{
    const struct claim *claim = arg;
    const struct claim_value *own = find_value(claim, claim->n, name);
    if (own != NULL)
        *value = (struct condition_value){own->number.mid, own->word, own->word == NULL,
                                          own->number.lo, own->number.hi};
    return own != NULL;
}

struct condition_unit claim_unit_of(const char *name, const void *arg)
{
    const struct claim *claim = arg;
    const struct claim_value *own = find_value(claim, claim->n, name);
    struct condition_unit unit = own != NULL ? own->unit : (struct condition_unit){.factor = 1};
    unit.kind = 1000 * unit.kind + ilogb(unit.factor);
    return unit;
}

/* Argument of look_up_one_open, a condition_lookup callback that treats every value except `name`
 * as exact. */
struct one_open {
    const struct claim *claim;
    const char *name;
};

static bool look_up_one_open(struct condition_value *value, const char *name, const void *arg)
{
    const struct one_open *one = arg;
    bool known = claim_look_up(value, name, one->claim);
    value->spread = value->spread && strcmp(name, one->name) == 0;
    return known;
}

bool claim_is_open(const struct claim *claim, const char *name)
{
    struct one_open one = {claim, name};
    return condition_holds_throughout(claim->holds, look_up_one_open, &one) == CONDITION_OPEN;
}

enum status claim_explain_name(char *text, size_t size, const struct claim *claim, size_t n,
                               const char *name, struct error *e)
{
    const char **known;
    TRY(MEM_NEW(known, n, "the values of a claim", e));
    for (size_t i = 0; i < n; i++)
        known[i] = claim->values[i].name;
    name_explain(text, size, name, known, n);
    free(known);
    return OK;
}

static enum status refuse_at(const struct claim_value *value, int column, struct error *e,
                             const char *why)
{
    return mark_error(e, ERR_SPEC, mark_ahead(value->mark, column - 1), "%s: %s", value->name, why);
}

/* Checks that the arithmetic of the i-th value names only earlier values that are numbers. If one
 * of these is a table cell or arithmetic over a cell (of_table), sets of_table of the i-th value
 * too. */
static enum status check_names_before(const struct claim *claim, size_t i,
                                      const struct condition *sum, struct error *e)
{
    size_t n;
    char why[700];
    const struct condition_term *terms = condition_terms(sum, &n);
    for (size_t k = 0; k < n; k++) {
        const char *name = terms[k].name;
        const struct claim_value *own = find_value(claim, i, name);
        if (own != NULL && !isnan(own->number.mid)) {
            claim->values[i].of_table |= own->of_table;
            continue;
        }
        if (own != NULL)
            snprintf(why, sizeof why, "'%s' is not a number", name);
        else
            TRY(claim_explain_name(why, sizeof why, claim, i, name, e));
        return refuse_at(&claim->values[i], terms[k].name_column, e, why);
    }
    return OK;
}

/* Gives value i the common unit of its terms; refuses to add or subtract values of unlike units.
 * Products and quotients get no unit, so that `seconds * 1000` can be compared with
 * milliseconds. */
static enum status find_unit(struct claim *claim, size_t i, struct condition *sum, struct error *e)
{
    size_t n;
    char why[CONDITION_WHY];
    struct claim_value *value = &claim->values[i];
    const struct condition_term *terms = condition_terms(sum, &n);
    if (!condition_match_units(why, sum, claim_unit_of, claim))
        return claim_refuse_value(value, e, why);
    for (size_t k = 0; k < n && value->unit.text == NULL && !strpbrk(value->text, "*/"); k++)
        value->unit = find_value(claim, i, terms[k].name)->unit;
    return OK;
}

static enum status evaluate(struct claim *claim, size_t i, struct condition *sum, struct error *e)
{
    struct claim_value *value = &claim->values[i];
    TRY(check_names_before(claim, i, sum, e));
    TRY(find_unit(claim, i, sum, e));
    value->number = condition_sum(sum, claim_look_up, claim);
    if (isfinite(value->number.mid))
        return OK;
    if ((claim->evidence & ~(1u << EVIDENCE_published)) == 0)
        return claim_refuse_value(value, e, "division by 0");
    value->number.mid = NAN;
    snprintf(claim->reason, sizeof claim->reason, "%.100s: division by 0", value->name);
    return OK;
}

enum status claim_find_sum(struct claim *claim, size_t i, struct error *e)
{
    struct claim_value *value = &claim->values[i];
    struct condition *sum;
    struct error inner;
    value->number.mid = NAN;
    if (claim->reason[0])
        return OK;
    if (condition_parse_sum(&sum, value->text, &inner) != OK)
        return refuse_at(value, inner.column, e, inner.text);
    enum status status = evaluate(claim, i, sum, e);
    condition_free(sum);
    return status;
}
