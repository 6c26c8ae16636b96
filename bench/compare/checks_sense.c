/* Refuses conditions that make no sense: unknown names or words, comparisons that are always true
 * or always false, equality with a measured number, columns that stay empty. */
#include <math.h>
#include <string.h>

#include "bench/compare/checks.h"

static enum status refuse(const struct check *check, const char *what, const char *why,
                          struct error *e)
{
    return error_at(e, ERR_ARGUMENT, check->file, check->line, 0, "'%s': %s%s%s", check->text, what,
                    what[0] ? ": " : "", why);
}

/* Returns the *n words that are possible values of a name: statuses, or values of an enumeration.
 * NULL with *n = 0: any word is possible. */
static const char *const *find_words(const struct config *config, const char *name, size_t *n)
{
    const struct spec_option *option =
        config != NULL ? config_option_find(config, name) : option_find(name);
    bool is_status = strcmp(name, column_get(COLUMN_status)->name) == 0;
    bool is_choice = option != NULL && option->type == TYPE_ENUM;
    *n = is_status ? POINT_STATUSES : is_choice ? option->names->n : 0;
    return is_status ? point_status_names() : is_choice ? option->names->names : NULL;
}

static enum status refuse_name(const struct check *check, const char *name,
                               const struct config *config, struct error *e)
{
    char near[NAME_NEAR_BYTES];
    TRY(check_find_near(near, name, config, e));
    return error_at(e, ERR_ARGUMENT, check->file, check->line, 0,
                    "'%s': '%s' is neither a column of summary.csv nor a metric of the run nor an "
                    "option%s",
                    check->text, name, near);
}

/* Refuses a comparison that makes no sense for the spec's points: the column stays empty, a number
 * is compared with a word, texts are compared by < or >, or a text is in a sum. */
static enum status check_spec_term(const struct check *check, const struct condition_term *term,
                                   const struct check_names *names, struct error *e)
{
    char why[CONDITION_WHY];
    const struct config *config = &names->spec->config;
    enum option_id lack = config_option_find(config, term->name) == NULL
                              ? column_lack(term->name, names->spec)
                              : OPTION_COUNT;
    if (!condition_term_fits(why, term, check_kind(term->name, config)))
        return refuse(check, "", why, e);
    if (lack == OPTION_COUNT || (names->open && spec_option_is_open(names->spec, lack)))
        return OK;
    column_explain_lack(why, lack, names->spec);
    return refuse(check, term->name, why, e);
}

/* Raises the lower end of an accuracy's range to the accuracy of random guessing: with 10 classes,
 * test_acc_pct > 5 then counts as always true. */
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

/* Lowers range->hi of column `launches` to the largest number of launches in the spec. Does nothing
 * for a recorded spec. Also does nothing if names->open is set and --set, `quick` or the machine
 * determines that number. */
static void lower_to_asked(struct condition_range *range, const char *name,
                           const struct check_names *names)
{
    const struct value *launches = &names->spec->config.values[OPT_TIME_LAUNCHES];
    bool open = names->open && spec_option_is_open(names->spec, OPT_TIME_LAUNCHES);
    if (column_find(name) == COLUMN_launches && !open && !names->spec->is_recorded)
        range->hi = launches->number_hi;
}

/* Refuses a comparison that is always true, or always false, for numbers in the column's range. */
static enum status check_number(const struct check *check, const struct condition_term *term,
                                const struct check_names *names, struct error *e)
{
    char why[CONDITION_WHY];
    struct condition_range range;
    bool is_option = names->spec != NULL && config_option_find(&names->spec->config, term->name);
    if (!names->ranges || is_option || !column_range(term->name, &range))
        return OK;
    if (names->spec != NULL) {
        raise_to_chance(&range, term->name, names->spec);
        lower_to_asked(&range, term->name, names);
    }
    return condition_term_decides(why, term, &range) ? OK : refuse(check, "", why, e);
}

/* Refuses to compare a measured number for equality, since its interval never shrinks to one
 * number. */
static enum status check_measured(const struct check *check, const struct condition_term *term,
                                  struct error *e)
{
    char bound[96];
    bool equality = term->relation == RELATION_EQUAL || term->relation == RELATION_UNEQUAL;
    snprintf(bound, sizeof bound, "%s_lo", term->name);
    if (!equality || isnan(term->number) || column_find(bound) == COLUMNS)
        return OK;
    return refuse(check, term->name,
                  "a measured value equals no number. Use >= or <=, or two bounds joined by `and`",
                  e);
}

static enum status check_term(const struct check *check, const struct condition_term *term,
                              bool is_demand, const struct check_names *names, struct error *e)
{
    size_t n;
    char why[700];
    struct condition_value value = {.number = NAN};
    const struct config *config = names->spec != NULL ? &names->spec->config : NULL;
    const char *const *words = find_words(config, term->name, &n);
    if (!names->known(&value, term->name, names->arg))
        return refuse_name(check, term->name, config, e);
    if (n > 0 && term->text != NULL && term->text[0] && name_index(term->text, words, n) < 0)
        return refuse(check, term->name, name_explain(why, sizeof why, term->text, words, n), e);
    if (is_demand) {
        TRY(check_number(check, term, names, e));
        TRY(check_measured(check, term, e));
    }
    return names->spec != NULL ? check_spec_term(check, term, names, e) : OK;
}

/* Refuses conditions that make no sense, such as a comparison that every number satisfies. Accepts
 * such a comparison after `where`, since there it still excludes points without a number. */
enum status check_terms(const struct check *check, const struct check_names *names, struct error *e)
{
    struct condition *const parts[] = {check->demand, check->where};
    const struct config *config = names->spec != NULL ? &names->spec->config : NULL;
    char why[CONDITION_WHY];
    for (size_t i = 0; i < 2 && parts[i] != NULL; i++) {
        size_t n;
        const struct condition_term *terms = condition_terms(parts[i], &n);
        for (size_t k = 0; k < n; k++)
            TRY(check_term(check, &terms[k], i == 0, names, e));
        if (!check_convert(why, parts[i], config))
            return refuse(check, "", why, e);
    }
    return !names->ranges || condition_decides(why, check->demand) ? OK : refuse(check, "", why, e);
}

enum status check_beside_bases(const struct check *check, struct error *e)
{
    size_t n;
    const struct condition_term *terms = condition_terms(check->demand, &n);
    for (size_t i = 0; i < n; i++)
        if (!check_is_relative(terms[i].name))
            return OK;
    return refuse(check, "",
                  "every matching point is its own base, whose speed-up and efficiency are always "
                  "1; use a condition on other points",
                  e);
}
