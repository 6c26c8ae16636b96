#include "bench/spec/matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/keys.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

const char matrix_set_file[] = "SET";

/* Selections that the lists of an exclude may come to. */
#define EXCLUDES_MAX 4096

/* What is being read: the file itself, or a SET that overrides what the file says. */
struct reading {
    struct spec *spec;
    const struct spec_machine *machine;
    bool override;
};

static bool from_set(struct mark mark)
{
    return mark.file == matrix_set_file;
}

struct axis *matrix_axis(const struct matrix *matrix, enum option_id id)
{
    for (size_t i = 0; i < matrix->n_axes; i++)
        if (matrix->axes[i].id == id)
            return (struct axis *)&matrix->axes[i];
    return NULL;
}

static void axis_clear(struct axis *axis)
{
    for (size_t i = 0; i < axis->n; i++)
        value_free(&axis->values[i]);
    free(axis->values);
    axis->values = NULL;
    axis->n = 0;
}

static void remove_axis(struct matrix *matrix, struct axis *axis)
{
    axis_clear(axis);
    size_t i = (size_t)(axis - matrix->axes);
    memmove(axis, axis + 1, (matrix->n_axes - i - 1) * sizeof *axis);
    matrix->n_axes--;
}

static enum status given_twice(const struct spec_option *option, const struct node *entry,
                               struct mark first, struct error *e)
{
    char place[MARK_TEXT_BYTES];
    return mark_error(e, ERR_SPEC, entry->key_mark, "%s is given twice: here and at %s",
                      option->key, mark_text(place, first));
}

/* ---- Single values: the top of a spec, an exclude, a baseline ---- */

static enum status set_value(struct config *config, const struct spec_option *option,
                             const struct node *entry, struct error *e)
{
    struct value *value = &config->values[option->id];
    if (value->set)
        return given_twice(option, entry, value->mark, e);
    return value_parse(value, option, entry, e);
}

static enum status list_outside_matrix(const struct spec_option *option, const struct node *entry,
                                       struct error *e)
{
    return mark_error(
        e, ERR_SPEC, entry->mark,
        "%s: takes one value here; to vary it, move the list below matrix:", option->key);
}

static enum status visit_fixed(void *arg, const struct spec_option *option,
                               const struct node *entry, struct error *e)
{
    const struct reading *reading = arg;
    struct value *value = &reading->spec->config.values[option->id];
    bool list = type_is_list(option->type);
    if (entry->kind == NODE_LIST && !list && !scope_is_campaign(option->scope))
        return list_outside_matrix(option, entry, e);
    if (reading->override) {
        struct axis *axis = matrix_axis(reading->spec->matrix, option->id);
        if (axis != NULL && from_set(axis->mark))
            return given_twice(option, entry, axis->mark, e);
        if (axis != NULL)
            remove_axis(reading->spec->matrix, axis);
        value->set = value->set && from_set(value->mark);
    }
    return set_value(&reading->spec->config, option, entry, e);
}

static enum status refuse_campaign(const struct spec_option *option, const struct node *entry,
                                   struct error *e)
{
    return mark_error(e, ERR_SPEC, entry->key_mark,
                      "%s holds for the whole campaign: it stands at the top of the file only",
                      option->key);
}

static enum status visit_selected(void *arg, const struct spec_option *option,
                                  const struct node *entry, struct error *e)
{
    struct selection *selection = arg;
    if (scope_is_campaign(option->scope))
        return refuse_campaign(option, entry, e);
    return set_value(&selection->config, option, entry, e);
}

static enum status read_selection(const char *what, const struct node *node, keys_visitor *visit,
                                  void *arg, struct error *e)
{
    if (node->kind != NODE_MAP || node->n == 0)
        return mark_error(e, ERR_SPEC, node->mark,
                          "%s takes a map of options and values, as {ranks: 1}", what);
    return keys_walk(node, visit, arg, e);
}

bool selection_matches(const struct selection *selection, const struct config *config)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct value *wanted = &selection->config.values[i];
        if (wanted->set && !value_equal(wanted, &config->values[i]))
            return false;
    }
    return true;
}

/* The selections of one entry of exclude: several where it has lists. */
struct entry_reading {
    struct matrix *matrix;
    size_t first;
};

/* Another copy of an entry's selections at the end. */
static enum status repeat_entry(const struct entry_reading *entry, size_t n, struct error *e)
{
    struct matrix *m = entry->matrix;
    struct selection *grown = reallocarray(m->excludes, m->n_excludes + n, sizeof *grown);
    if (grown == NULL)
        return error_no_memory(e, "the matrix");
    m->excludes = grown;
    for (size_t i = 0; i < n; i++) {
        struct selection *to = &grown[m->n_excludes], *from = &grown[entry->first + i];
        *to = (struct selection){.mark = from->mark, .goes_on = true};
        TRY(config_copy(&to->config, &from->config, e));
        m->n_excludes++;
    }
    return OK;
}

/* A list stands for each of its values: the entry's selections are repeated for each. */
static enum status visit_excluded(void *arg, const struct spec_option *option,
                                  const struct node *node, struct error *e)
{
    const struct entry_reading *entry = arg;
    struct matrix *m = entry->matrix;
    bool list = node->kind == NODE_LIST && !type_is_list(option->type);
    size_t n = m->n_excludes - entry->first, values = list ? node->n : 1;
    if (list && node->n == 0)
        return mark_error(e, ERR_SPEC, node->mark, "%s: an empty list excludes nothing",
                          option->key);
    if (n * values > EXCLUDES_MAX)
        return mark_error(e, ERR_SPEC, node->mark, "this exclude stands for more than %d",
                          EXCLUDES_MAX);
    for (size_t k = 1; k < values; k++)
        TRY(repeat_entry(entry, n, e));
    for (size_t i = 0; i < n * values; i++)
        TRY(visit_selected(&m->excludes[entry->first + i], option,
                           list ? &node->items[i / n] : node, e));
    return OK;
}

static enum status read_excludes(struct matrix *matrix, const struct node *list, struct error *e)
{
    if (list->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, list->mark, "exclude takes a list of maps, as [{ranks: 1}]");
    for (size_t i = 0; i < list->n; i++) {
        struct entry_reading entry = {matrix, matrix->n_excludes};
        struct selection *grown =
            reallocarray(matrix->excludes, matrix->n_excludes + 1, sizeof *grown);
        if (grown == NULL)
            return error_no_memory(e, "the matrix");
        matrix->excludes = grown;
        grown[matrix->n_excludes++] = (struct selection){.mark = list->items[i].mark};
        TRY(read_selection("an entry of exclude", &list->items[i], visit_excluded, &entry, e));
    }
    return OK;
}

static enum status read_baseline(struct matrix *matrix, const struct node *node, struct error *e)
{
    if (matrix->has_baseline && from_set(matrix->baseline.mark))
        return mark_error(e, ERR_SPEC, node->mark, "baseline is given twice");
    config_free(&matrix->baseline.config);
    matrix->has_baseline = true;
    matrix->baseline.mark = node->mark;
    return read_selection("baseline", node, visit_selected, &matrix->baseline, e);
}

/* ---- The matrix ---- */

/* Adds a number of ranks that `auto` stands for. */
static enum status add_ranks(struct axis *axis, int ranks, struct error *e)
{
    char text[16];
    snprintf(text, sizeof text, "%d", ranks);
    struct node node = {.kind = NODE_SCALAR, .mark = axis->mark, .text = text};
    return value_parse(&axis->values[axis->n++], option_get(OPT_RANKS), &node, e);
}

/* 1 2 3 4 6 8 12 16 24 ... up to the usable cores, and these themselves. */
static enum status read_auto(struct axis *axis, int cores, struct error *e)
{
    enum { MOST = 64 }; /* twice the bits of an int */
    axis->open = true;
    TRY(MEM_NEW(axis->values, MOST, "the matrix", e));
    TRY(add_ranks(axis, 1, e));
    long last = 1;
    for (long power = 2; power <= cores; power *= 2) {
        TRY(add_ranks(axis, (int)(last = power), e));
        if (power + power / 2 <= cores)
            TRY(add_ranks(axis, (int)(last = power + power / 2), e));
    }
    return last < cores ? add_ranks(axis, cores, e) : OK;
}

static enum status read_axis_values(struct axis *axis, const struct spec_option *option,
                                    const struct node *list, struct error *e)
{
    TRY(MEM_NEW(axis->values, list->n, "the matrix", e));
    for (size_t i = 0; i < list->n; i++) {
        TRY(value_parse(&axis->values[axis->n++], option, &list->items[i], e));
        for (size_t j = 0; j < i; j++)
            if (value_equal(&axis->values[i], &axis->values[j]))
                return mark_error(e, ERR_SPEC, list->items[i].mark, "%s: '%s' is listed twice",
                                  option->key, list->items[i].text);
    }
    return OK;
}

static enum status read_axis(struct axis *axis, const struct spec_option *option,
                             const struct node *entry, const struct spec_machine *machine,
                             struct error *e)
{
    bool scalar = entry->kind == NODE_SCALAR;
    axis->id = option->id;
    axis->mark = entry->mark;
    axis->open = from_set(entry->mark);
    if (scalar && option->type == TYPE_RANKS && strcmp(entry->text, "auto") == 0)
        return read_auto(axis, machine->usable_cores, e);
    if (entry->kind != NODE_LIST || entry->n == 0)
        return mark_error(e, ERR_SPEC, entry->mark, "%s: a matrix takes a list: [%s]%s",
                          option->key, scalar && entry->text[0] ? entry->text : "...",
                          option->type == TYPE_RANKS ? " or auto" : "");
    return read_axis_values(axis, option, entry, e);
}

/* A SET may replace what the file says, but not another SET. */
static enum status check_axis_new(const struct reading *reading, const struct spec_option *option,
                                  const struct node *entry, struct error *e)
{
    const struct axis *axis = matrix_axis(reading->spec->matrix, option->id);
    if (axis != NULL && (!reading->override || from_set(axis->mark)))
        return given_twice(option, entry, axis->mark, e);
    const struct value *fixed = &reading->spec->config.values[option->id];
    char place[MARK_TEXT_BYTES];
    if (fixed->set && (!reading->override || from_set(fixed->mark)))
        return mark_error(e, ERR_SPEC, entry->key_mark,
                          "%s is in the matrix and has one value at %s too: leave one of them out",
                          option->key, mark_text(place, fixed->mark));
    return OK;
}

static enum status visit_axis(void *arg, const struct spec_option *option, const struct node *entry,
                              struct error *e)
{
    const struct reading *reading = arg;
    struct matrix *matrix = reading->spec->matrix;
    if (scope_is_campaign(option->scope))
        return refuse_campaign(option, entry, e);
    TRY(check_axis_new(reading, option, entry, e));
    struct axis *axis = matrix_axis(matrix, option->id);
    if (axis != NULL)
        axis_clear(axis);
    else
        axis = &matrix->axes[matrix->n_axes++];
    return read_axis(axis, option, entry, reading->machine, e);
}

static enum status read_axes(struct reading *reading, const struct node *map, struct error *e)
{
    if (map->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, map->mark,
                          "matrix takes a map of options and lists, as {ranks: [1, 2]}");
    return keys_walk(map, visit_axis, reading, e);
}

bool selection_is_open(const struct selection *selection, const struct spec *spec)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!selection->config.values[i].set)
            continue;
        const struct axis *axis = matrix_axis(spec->matrix, (enum option_id)i);
        if (axis != NULL ? axis->open : from_set(spec->config.values[i].mark))
            return true;
    }
    return false;
}

const char *spec_set_beyond_figures(const struct spec *spec)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        const struct axis *axis = matrix_axis(spec->matrix, option->id);
        const struct value *value = &spec->config.values[i];
        if ((axis != NULL && from_set(axis->mark)) ||
            (value->set && from_set(value->mark) && option->scope != SCOPE_FIGURE))
            return option->key;
    }
    return spec->matrix->has_baseline && from_set(spec->matrix->baseline.mark) ? "baseline" : NULL;
}

/* ---- A whole spec ---- */

enum status matrix_read(struct spec *spec, const struct node *root,
                        const struct spec_machine *machine, struct error *e)
{
    if (root->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, root->mark,
                          "a spec is a map: keys and values, as name: try");
    struct reading reading = {spec, machine, false};
    TRY(keys_walk_top(root, visit_fixed, &reading, e));
    const struct node *matrix = node_find(root, "matrix");
    if (matrix != NULL)
        TRY(read_axes(&reading, matrix, e));
    const struct node *exclude = node_find(root, "exclude");
    if (exclude != NULL)
        TRY(read_excludes(spec->matrix, exclude, e));
    const struct node *baseline = node_find(root, "baseline");
    return baseline != NULL ? read_baseline(spec->matrix, baseline, e) : OK;
}

void matrix_free(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->n_axes; i++)
        axis_clear(&matrix->axes[i]);
    for (size_t i = 0; i < matrix->n_excludes; i++)
        config_free(&matrix->excludes[i].config);
    free(matrix->excludes);
    config_free(&matrix->baseline.config);
    free(matrix);
}

/* ---- SET ---- */

/* Length of one word of a SET: up to a blank outside brackets and quotes. */
static size_t word_length(const char *text)
{
    int depth = 0;
    char quote = '\0';
    size_t i = 0;
    for (; text[i] && (depth > 0 || quote || !isspace((unsigned char)text[i])); i++) {
        if (quote)
            quote = text[i] == quote ? '\0' : quote;
        else if (text[i] == '"' || text[i] == '\'')
            quote = text[i];
        else
            depth += (strchr("[{", text[i]) != NULL) - (strchr("]}", text[i]) != NULL);
    }
    return i;
}

/* A word of a SET is an entry of a spec: "matrix.ranks=[1,2]" is matrix: {ranks: [1, 2]}. */
static enum status apply_entry(struct reading *reading, struct node *entry, struct error *e)
{
    static const char prefix[] = "matrix.";
    struct node map = {.kind = NODE_MAP, .mark = entry->key_mark, .items = entry, .n = 1};
    if (strcmp(entry->key, "baseline") == 0)
        return read_baseline(reading->spec->matrix, entry, e);
    if (strcmp(entry->key, "matrix") == 0)
        return read_axes(reading, entry, e);
    if (strcmp(entry->key, "exclude") == 0)
        return mark_error(e, ERR_SPEC, entry->key_mark,
                          "exclude cannot be set here; options, matrix and baseline can");
    if (strncmp(entry->key, prefix, strlen(prefix)) != 0)
        return keys_walk(&map, visit_fixed, reading, e);
    char *key = entry->key;
    entry->key = key + strlen(prefix);
    enum status status = keys_walk(&map, visit_axis, reading, e);
    entry->key = key;
    return status;
}

static enum status apply_word(struct reading *reading, char *word, int column, struct error *e)
{
    struct mark mark = {matrix_set_file, 1, column};
    char *equals = strchr(word, '=');
    if (equals == NULL || equals == word)
        return mark_error(e, ERR_SPEC, mark, "'%s' is not of the form key=value", word);
    *equals = '\0';
    struct node entry;
    struct mark value_mark = {matrix_set_file, 1, column + (int)(equals + 1 - word)};
    enum status status = yaml_read_text(&entry, equals + 1, value_mark, e);
    entry.key = strdup(word);
    entry.key_mark = mark;
    if (status == OK && entry.key == NULL)
        status = error_no_memory(e, "SET");
    THEN(status, apply_entry(reading, &entry, e));
    node_free(&entry);
    return status;
}

enum status matrix_apply_set(struct spec *spec, const char *set, const struct spec_machine *machine,
                             struct error *e)
{
    struct reading reading = {spec, machine, true};
    const char *text = set;
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        size_t length = word_length(text);
        char *word = strndup(text, length);
        if (word == NULL)
            return error_no_memory(e, "SET");
        enum status status = apply_word(&reading, word, (int)(text - set) + 1, e);
        free(word);
        TRY(status);
        text += length;
    }
    return OK;
}
