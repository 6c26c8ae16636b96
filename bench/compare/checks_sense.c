/* Conditions that no run can decide. */
#include <string.h>

#include "bench/compare/checks.h"
#include "bench/spec/value.h"

static enum status refuse(const struct check *check, const char *why, struct error *e)
{
    return error_at(e, ERR_ARGUMENT, check->file, check->line, 0, "'%s': %s", check->text, why);
}

/* The words that a name may be compared with; none where any will do, as of columns, which programs write. */
static const char *const *find_words(const struct config *config, const char *name, size_t *n)
{
    const struct spec_option *option =
        config != NULL ? config_option_find(config, name) : option_find(name);
    bool is_status = strcmp(name, column_get(COLUMN_status)->name) == 0;
    bool is_choice = option != NULL && option->type == TYPE_ENUM;
    *n = is_status ? POINT_STATUSES : is_choice ? option->names->n : 0;
    return is_status ? point_status_names() : is_choice ? option->names->names : NULL;
}

static enum status check_words(const struct check *check, const struct condition *part,
                               const struct config *config, struct error *e)
{
    size_t n, n_words;
    char why[700];
    const struct condition_term *terms = condition_terms(part, &n);
    for (size_t i = 0; i < n; i++) {
        const char *const *words = find_words(config, terms[i].name, &n_words);
        if (n_words > 0 && terms[i].text != NULL && terms[i].text[0] &&
            name_index(terms[i].text, words, n_words) < 0)
            return error_at(e, ERR_ARGUMENT, check->file, check->line, 0, "'%s': %s: %s",
                            check->text, terms[i].name,
                            name_explain(why, sizeof why, terms[i].text, words, n_words));
    }
    return OK;
}

enum status check_known(const struct check *check, condition_lookup *known, const void *arg,
                        const struct spec *spec, struct error *e)
{
    const struct config *config = spec != NULL ? &spec->config : NULL;
    const struct condition *const parts[] = {check->demand, check->where};
    char near[NAME_NEAR_BYTES];
    for (size_t i = 0; i < 2; i++) {
        const char *name = parts[i] != NULL ? condition_unknown(parts[i], known, arg) : NULL;
        if (name == NULL)
            continue;
        TRY(check_find_near(near, name, config, e));
        return error_at(
            e, ERR_ARGUMENT, check->file, check->line, 0,
            "'%s': '%s' is neither a column of summary.csv nor a metric of the run nor an "
            "option%s",
            check->text, name, near);
    }
    TRY(check_words(check, check->demand, config, e));
    return check->where != NULL ? check_words(check, check->where, config, e) : OK;
}

enum status check_terms(const struct check *check, const struct spec *spec, bool open,
                        struct error *e)
{
    const struct condition *const parts[] = {check->demand, check->where};
    char why[CONDITION_WHY];
    for (size_t i = 0; i < 2 && parts[i] != NULL; i++) {
        size_t n;
        const struct condition_term *terms = condition_terms(parts[i], &n);
        for (size_t k = 0; k < n; k++) {
            const char *name = terms[k].name;
            enum option_id lack = config_option_find(&spec->config, name) == NULL
                                      ? column_lack(name, spec)
                                      : OPTION_COUNT;
            if (!condition_term_fits(why, &terms[k], check_kind(name, &spec->config)))
                return refuse(check, why, e);
            if (lack == OPTION_COUNT || (open && spec_option_is_open(spec, lack)))
                continue;
            column_explain_lack(why, lack, spec);
            return error_at(e, ERR_ARGUMENT, check->file, check->line, 0, "'%s': %s: %s",
                            check->text, name, why);
        }
    }
    return OK;
}

/* Accuracy that guessing reaches decides nothing. */
static void raise_to_chance(struct condition_range *range, const char *name,
                            const struct spec *spec)
{
    static const char *const accuracies[] = {"test_acc_pct", "train_acc_pct", "test_acc_lo"};
    int classes;
    double chance = spec_chance(spec, &classes);
    if (classes > 1 && name_index(name, accuracies, sizeof accuracies / sizeof *accuracies) >= 0) {
        range->lo = chance;
        range->classes = classes;
    }
}

enum status check_numbers(const struct check *check, const struct spec *spec, struct error *e)
{
    size_t n;
    struct condition_range range;
    char why[CONDITION_WHY];
    const struct condition_term *terms = condition_terms(check->demand, &n);
    for (size_t i = 0; i < n; i++) {
        if ((spec != NULL && config_option_find(&spec->config, terms[i].name) != NULL) ||
            !column_range(terms[i].name, &range))
            continue;
        if (spec != NULL)
            raise_to_chance(&range, terms[i].name, spec);
        if (!condition_term_decides(why, &terms[i], &range))
            return refuse(check, why, e);
    }
    return condition_decides(why, check->demand) ? OK : refuse(check, why, e);
}

enum status check_beside_bases(const struct check *check, struct error *e)
{
    size_t n;
    const struct condition_term *terms = condition_terms(check->demand, &n);
    for (size_t i = 0; i < n; i++)
        if (!check_is_relative(terms[i].name))
            return OK;
    return refuse(check,
                  "every point of it is its own base, whose speed-up and efficiency are always 1; "
                  "expected a condition on other points",
                  e);
}
