/* Reads the spec keys exclude and baseline. Both select points by option values; a condition of
 * exclude may also use the name of the case. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/keys.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

/* Largest number of combinations of values per entry of `exclude`. Each becomes a selection. */
#define EXCLUDES_MAX 4096

/* Name by which conditions refer to a point's case. */
static const char case_word[] = "case";

enum status option_given_twice(const struct given *g, struct mark first, struct error *e)
{
    char place[MARK_TEXT_BYTES];
    return mark_error(e, ERR_SPEC, g->node->key_mark, "%s is given twice: here and at %s",
                      g->option->key, mark_text(place, first));
}

enum status option_refuse_campaign(const struct given *g, struct error *e)
{
    return mark_error(e, ERR_SPEC, g->node->key_mark,
                      "%s applies to the whole campaign. Move it to the top of the file",
                      g->option->key);
}

enum status option_read(struct config *config, const struct given *g, struct error *e)
{
    struct value *value = &config->values[g->option->id];
    if (value->set && mark_same_layer(value->mark, g->node->mark))
        return option_given_twice(g, value->mark, e);
    return value_parse(value, g, e);
}

static enum status visit_selected(void *arg, const struct given *g, struct error *e)
{
    struct selection *selection = arg;
    if (scope_is_campaign(g->option->scope))
        return option_refuse_campaign(g, e);
    return option_read(&selection->config, g, e);
}

void selection_free(struct selection *selection)
{
    config_free(&selection->config);
    condition_free(selection->condition);
    *selection = (struct selection){.matches = 0};
}

/* ---- Conditions on the options of a point ---- */

struct condition_value option_as_condition(const struct spec_option *option,
                                           const struct value *value)
{
    enum option_type type = option->type;
    bool ordered = type == TYPE_INT || type == TYPE_REAL || type == TYPE_BOOL ||
                   type == TYPE_TIME || type == TYPE_SIZE || type == TYPE_PERCENT ||
                   type == TYPE_RANKS || type == TYPE_NODES || type == TYPE_NODE_RANKS ||
                   type == TYPE_OWN;
    return (struct condition_value){.number = ordered ? value->number : NAN, .text = value->text};
}

enum condition_kind option_kind(const struct spec_option *option)
{
    const struct value none = {.number = 0};
    double number;
    enum option_type type;
    bool numbers = !isnan(option_as_condition(option, &none).number);
    bool words = option->type == TYPE_BOOL || option->type == TYPE_OWN ||
                 option->type == TYPE_NODE_RANKS ||
                 (option->preset != NULL && !number_parse_unit(option->preset, &type, &number));
    return !numbers ? CONDITION_TEXT : words ? CONDITION_ANY : CONDITION_NUMBER;
}

bool point_look_up(struct condition_value *value, const char *name, const void *arg)
{
    const struct point *point = arg;
    const struct spec_option *option = config_option_find(&point->config, name);
    if (strcmp(name, case_word) == 0)
        *value = (struct condition_value){.number = NAN, .text = point->case_name};
    else if (option != NULL)
        *value = option_as_condition(option, &point->config.values[option->id]);
    return option != NULL || strcmp(name, case_word) == 0;
}

static enum status refuse_name(const struct config *config, const struct condition_term *term,
                               struct mark mark, struct error *e)
{
    const char *known[OPTION_COUNT + 1] = {case_word};
    size_t n = 1 + config_list_point_options(config, known + 1);
    char near[NAME_NEAR_BYTES];
    return mark_error(e, ERR_SPEC, mark, "exclude: '%s' is not an option of a point%s", term->name,
                      name_near(near, term->name, known, n));
}

/* Checks a term of a condition. Its name must be `case` or an option that applies to single points.
 * Its value must have the option's type. */
static enum status check_term(const struct config *config, const struct condition_term *term,
                              const struct node *node, struct error *e)
{
    const struct spec_option *option = config_option_find(config, term->name);
    struct mark begin = node_text_mark(node), name = mark_ahead(begin, term->name_column - 1),
                text = mark_ahead(begin, term->text_column - 1);
    char words[512], why[CONDITION_WHY];
    if (option == NULL && strcmp(term->name, case_word) != 0)
        return refuse_name(config, term, name, e);
    if (option == NULL)
        return OK;
    if (scope_is_campaign(option->scope))
        return mark_error(e, ERR_SPEC, name,
                          "exclude: %s applies to the whole campaign, not to single points",
                          option->key);
    if (!condition_term_fits(why, term, option_kind(option)))
        return mark_error(e, ERR_SPEC, name, "exclude: %s", why);
    if (term->text == NULL)
        return OK;
    const struct enumeration *names = option->names;
    bool yes;
    double number;
    if (option->type == TYPE_BOOL && !bool_parse(term->text, &yes) &&
        !number_parse(term->text, &number))
        return mark_error(e, ERR_SPEC, text, "exclude: %s: '%s' is neither true nor false",
                          option->key, term->text);
    if (option->type == TYPE_ENUM && name_index(term->text, names->names, names->n) < 0)
        return mark_error(e, ERR_SPEC, text, "exclude: %s: %s", option->key,
                          name_explain(words, sizeof words, term->text, names->names, names->n));
    return OK;
}

/* Replaces a boolean such as yes or on by its canonical spelling, true or false. */
static void spell_bool(struct condition *condition, size_t term, const struct spec_option *option)
{
    size_t n;
    bool yes;
    const char *text = condition_terms(condition, &n)[term].text;
    if (option != NULL && option->type == TYPE_BOOL && text != NULL && bool_parse(text, &yes))
        condition_set_text(condition, term, yes ? "true" : "false");
}

static enum status read_condition(struct selection *exclude, const struct config *config,
                                  const struct node *node, struct error *e)
{
    size_t n;
    TRY(condition_read(&exclude->condition, "exclude", node, e));
    const struct condition_term *terms = condition_terms(exclude->condition, &n);
    for (size_t i = 0; i < n; i++) {
        TRY(check_term(config, &terms[i], node, e));
        spell_bool(exclude->condition, i, config_option_find(config, terms[i].name));
    }
    return OK;
}

bool selection_matches(const struct selection *selection, const struct point *point)
{
    if (selection->condition != NULL)
        return condition_holds(selection->condition, point_look_up, point);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct value *wanted = &selection->config.values[i];
        if (wanted->set && !value_equal(wanted, &point->config.values[i]))
            return false;
    }
    return true;
}

bool spec_option_is_open(const struct spec *spec, enum option_id id)
{
    const struct axis *axis = matrix_axis(spec->matrix, id);
    if (axis != NULL ? axis->open : mark_from_set(spec->config.values[id].mark))
        return true;
    for (size_t i = 0; i < spec->matrix->n_cases; i++) {
        const struct matrix *of = &spec->matrix->cases[i];
        axis = matrix_axis(of, id);
        if (axis != NULL ? axis->open : mark_from_set(of->own.config.values[id].mark))
            return true;
    }
    return false;
}

bool spec_option_is_settled(const struct spec *spec, enum option_id id)
{
    enum option_type type = option_get(id)->type;
    return type != TYPE_NODES && type != TYPE_NODE_RANKS && id != OPT_SITE &&
           !spec_option_is_open(spec, id);
}

static bool condition_is_open(const struct condition *condition, const struct spec *spec)
{
    size_t n;
    const struct condition_term *terms = condition_terms(condition, &n);
    for (size_t i = 0; i < n; i++) {
        const struct spec_option *option = config_option_find(&spec->config, terms[i].name);
        if (option != NULL && spec_option_is_open(spec, option->id))
            return true;
    }
    return false;
}

bool selection_is_open(const struct selection *selection, const struct spec *spec)
{
    if (selection->condition != NULL)
        return condition_is_open(selection->condition, spec);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (selection->config.values[i].set && spec_option_is_open(spec, (enum option_id)i))
            return true;
    return false;
}

/* ---- Exclude ---- */

/* Entry of `exclude` that is being read. Its selections are matrix->excludes from index `first` on:
 * one per combination of the values in the entry's lists. */
struct entry_reading {
    struct matrix *matrix;
    size_t first;
};

static enum status repeat_entry(const struct entry_reading *entry, size_t n, struct error *e)
{
    struct matrix *m = entry->matrix;
    for (size_t i = 0; i < n; i++) {
        TRY(MEM_GROW(m->excludes, m->n_excludes, "the matrix", e));
        struct selection *to = &m->excludes[m->n_excludes], *from = &m->excludes[entry->first + i];
        *to = (struct selection){.mark = from->mark, .goes_on = true};
        TRY(config_copy(&to->config, &from->config, e));
        m->n_excludes++;
    }
    return OK;
}

/* Reads an option of an entry of `exclude`. If the option is given as a list of k alternative
 * values, each selection of the entry becomes k selections. */
static enum status visit_excluded(void *arg, const struct given *g, struct error *e)
{
    const struct entry_reading *entry = arg;
    struct matrix *m = entry->matrix;
    bool list = g->node->kind == NODE_LIST && !type_is_list(g->option->type);
    size_t n = m->n_excludes - entry->first, values = list ? g->node->n : 1;
    if (list && g->node->n == 0)
        return mark_error(e, ERR_SPEC, g->node->mark, "%s: an empty list excludes nothing",
                          g->option->key);
    if (n * values > EXCLUDES_MAX)
        return mark_error(e, ERR_SPEC, g->node->mark,
                          "exclude: expected at most %d combinations of values per entry. Use "
                          "fewer values, or several entries",
                          EXCLUDES_MAX);
    for (size_t k = 1; k < values; k++)
        TRY(repeat_entry(entry, n, e));
    for (size_t i = 0; i < n * values; i++)
        TRY(visit_selected(&m->excludes[entry->first + i],
                           &(struct given){g->option, list ? &g->node->items[i / n] : g->node}, e));
    return OK;
}

void excludes_clear(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->n_excludes; i++)
        selection_free(&matrix->excludes[i]);
    matrix->n_excludes = 0;
}

static enum status read_exclude(struct reading *reading, const struct node *node, struct error *e)
{
    struct matrix *matrix = reading->matrix;
    struct entry_reading entry = {matrix, matrix->n_excludes};
    TRY(MEM_GROW(matrix->excludes, matrix->n_excludes, "the matrix", e));
    struct selection *exclude = &matrix->excludes[matrix->n_excludes++];
    *exclude = (struct selection){.mark = node->mark};
    if (node->kind == NODE_SCALAR && !node_is_empty(node))
        return read_condition(exclude, &reading->spec->config, node, e);
    if (node->kind != NODE_MAP || node->n == 0)
        return mark_error(e, ERR_SPEC, node->mark,
                          "exclude: expected a map of options and values, such as {ranks: 1}, or a "
                          "condition, such as \"ranks > 1 and train.epochs > 1\"");
    return keys_walk(node, NOTHING_BESIDE, reading->spec->own, visit_excluded, &entry, e);
}

enum status excludes_read(struct reading *reading, const struct node *list, struct error *e)
{
    excludes_clear(reading->matrix);
    if (list->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, list->mark,
                          "exclude: expected a list of maps and conditions, such as [{ranks: 1}]");
    for (size_t i = 0; i < list->n; i++)
        TRY(read_exclude(reading, &list->items[i], e));
    return OK;
}

/* ---- Baseline ---- */

enum status baseline_read(struct reading *reading, const struct node *node, struct error *e)
{
    struct matrix *matrix = reading->matrix;
    struct selection *baseline = &matrix->baseline;
    if (matrix->has_baseline && mark_from_set(node->mark)) {
        if (mark_same_layer(baseline->mark, node->mark))
            return mark_error(e, ERR_SPEC, node->mark, "baseline is given twice");
        selection_free(baseline);
    }
    matrix->has_baseline = true;
    baseline->mark = node->mark;
    if (node->kind != NODE_MAP || node->n == 0)
        return mark_error(e, ERR_SPEC, node->mark,
                          "baseline: expected a map of options and values, such as {ranks: 1}");
    for (size_t i = 0; i < node->n; i++)
        if (strcmp(node->items[i].key, case_word) == 0 || strcmp(node->items[i].key, "label") == 0)
            return mark_error(e, ERR_SPEC, node->items[i].key_mark,
                              "baseline: expected options, found '%s'. Give the options of the "
                              "case, such as {sync.strategy: allreduce}",
                              node->items[i].key);
    return keys_walk(node, NOTHING_BESIDE, reading->spec->own, visit_selected, baseline, e);
}
