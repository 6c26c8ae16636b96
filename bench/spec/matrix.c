#include "bench/spec/matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/keys.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

#define LABEL_BYTES_MAX 60

static void axis_clear(struct axis *axis)
{
    for (size_t i = 0; i < axis->n; i++)
        value_free(&axis->values[i]);
    free(axis->values);
    *axis = (struct axis){.id = axis->id};
}

void matrix_remove_axis(struct matrix *matrix, struct axis *axis)
{
    axis_clear(axis);
    size_t i = (size_t)(axis - matrix->axes);
    memmove(axis, axis + 1, (matrix->n_axes - i - 1) * sizeof *axis);
    matrix->n_axes--;
}

/* ---- Options with one value ---- */

static bool every_case_gives(const struct matrix *all, enum option_id id)
{
    for (size_t i = 0; i < all->n_cases; i++)
        if (!matrix_gives(&all->cases[i], id))
            return false;
    return all->n_cases > 0;
}

/* Rejects an option that --set gives for the whole spec if every case gives it too: the value from
 * --set would have no effect. */
static enum status check_reaches(const struct reading *reading, const struct given *g,
                                 struct error *e)
{
    const struct matrix *m = reading->spec->matrix;
    if (!mark_from_set(g->node->mark) || reading->matrix != m ||
        !every_case_gives(m, g->option->id))
        return OK;
    const char *label = m->cases[0].label, *quote = strchr(label, ' ') != NULL ? "'" : "";
    return mark_error(e, ERR_SPEC, g->node->key_mark,
                      "%s: every case has its own value, so this value has no effect. Use "
                      "cases.%s%s%s.%s=... to set the value of one case",
                      g->option->key, quote, label, quote, g->option->key);
}

/* Removes an inherited train.batch_per_rank if this file sets train.global_batch, and vice
 * versa. */
static void displace_batch(const struct reading *reading, enum option_id id, struct mark mark)
{
    enum option_id other = id == OPT_GLOBAL_BATCH     ? OPT_BATCH_PER_RANK
                           : id == OPT_BATCH_PER_RANK ? OPT_GLOBAL_BATCH
                                                      : OPTION_COUNT;
    if (other == OPTION_COUNT || mark_from_set(mark))
        return;
    struct axis *axis = matrix_axis(reading->matrix, other);
    if (axis != NULL && !mark_same_layer(axis->mark, mark))
        matrix_remove_axis(reading->matrix, axis);
    struct value *value = &reading->config->values[other];
    if (value->set && !mark_same_layer(value->mark, mark)) {
        value->set = false;
        value->number = 0;
        strcpy(value->text, "0"); /* the default is 0; every `text` has room for one digit */
    }
}

static enum status refuse_list(const struct given *g, struct error *e)
{
    const char *key = g->option->key;
    const char *why =
        g->option->id == OPT_LR_STEP_EPOCHS ? ", the epochs between two changes of the rate" : "";
    if (mark_from_set(g->node->mark))
        return mark_error(e, ERR_SPEC, g->node->mark,
                          "%s: expected one value here%s. To vary the option, use matrix.%s=[...]",
                          key, why, key);
    return mark_error(e, ERR_SPEC, g->node->mark,
                      "%s: expected one value here%s. To vary the option, move the list below the "
                      "key `matrix`",
                      key, why);
}

static enum status visit_option(void *arg, const struct given *g, struct error *e)
{
    const struct reading *reading = arg;
    bool list = type_is_list(g->option->type);
    if (reading->matrix->label != NULL && scope_is_campaign(g->option->scope))
        return option_refuse_campaign(g, e);
    if (g->node->kind == NODE_LIST && !list && !scope_is_campaign(g->option->scope))
        return refuse_list(g, e);
    TRY(check_reaches(reading, g, e));
    struct axis *axis = matrix_axis(reading->matrix, g->option->id);
    if (axis != NULL && mark_same_layer(axis->mark, g->node->mark))
        return option_given_twice(g, axis->mark, e);
    if (axis != NULL)
        matrix_remove_axis(reading->matrix, axis);
    displace_batch(reading, g->option->id, g->node->mark);
    return option_read(reading->config, g, e);
}

/* ---- The matrix ---- */

/* Reads the values of an axis. In a zip a value may repeat, since it is combined with different
 * values of the other axes. */
static enum status read_axis_values(struct axis *axis, const struct given *g, struct error *e)
{
    TRY(MEM_NEW(axis->values, g->node->n, "the matrix", e));
    for (size_t i = 0; i < g->node->n; i++) {
        const struct given item = {g->option, &g->node->items[i]};
        TRY(value_parse(&axis->values[axis->n++], &item, e));
        for (size_t j = 0; j < i && axis->zip == 0; j++)
            if (value_equal(&axis->values[i], &axis->values[j]))
                return mark_error(e, ERR_SPEC, item.node->mark, "%s: '%s' is listed twice",
                                  g->option->key, item.node->text);
    }
    return OK;
}

static enum status read_axis(struct axis *axis, const struct given *g, struct error *e)
{
    bool scalar = g->node->kind == NODE_SCALAR;
    bool ranks = (g->option->type == TYPE_RANKS || g->option->type == TYPE_NODES) && axis->zip == 0;
    if (scalar && ranks && strcmp(g->node->text, "auto") == 0) {
        axis->open = axis->automatic = true;
        return OK;
    }
    if (g->node->kind == NODE_LIST && g->node->n == 0)
        return mark_error(e, ERR_SPEC, g->node->mark, "%s: the list is empty: expected a value%s",
                          g->option->key, ranks ? ", or auto in place of the list" : "");
    char text[200] = "...";
    if (scalar && g->node->text[0])
        value_as_list(text, g->option, g->node->text);
    if (g->node->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, g->node->mark, "%s: expected a list in a %s, such as [%s]%s",
                          g->option->key, axis->zip > 0 ? "zip" : "matrix", text,
                          ranks ? " or auto" : "");
    return read_axis_values(axis, g, e);
}

/* Rejects an option that one file, or one line of key=value words, gives twice: in the matrix, in a
 * zip or as a single value. */
static enum status check_axis_new(const struct reading *reading, const struct given *g, int zip,
                                  struct error *e)
{
    const struct axis *axis = matrix_axis(reading->matrix, g->option->id);
    const struct value *fixed = &reading->config->values[g->option->id];
    char place[MARK_TEXT_BYTES];
    if (axis != NULL && mark_same_layer(axis->mark, g->node->mark))
        return (axis->zip > 0) == (zip > 0)
                   ? option_given_twice(g, axis->mark, e)
                   : mark_error(
                         e, ERR_SPEC, g->node->key_mark,
                         "%s is in a zip and also in the matrix (%s). Leave one of the two out",
                         g->option->key, mark_text(place, axis->mark));
    if (fixed->set && mark_same_layer(fixed->mark, g->node->mark))
        return mark_error(e, ERR_SPEC, g->node->key_mark,
                          "%s is in %s and also has one value at %s. Leave one of the two out",
                          g->option->key, zip > 0 ? "a zip" : "the matrix",
                          mark_text(place, fixed->mark));
    return OK;
}

static enum status add_axis(struct reading *reading, const struct given *g, int zip,
                            struct error *e)
{
    struct matrix *matrix = reading->matrix;
    if (scope_is_campaign(g->option->scope))
        return option_refuse_campaign(g, e);
    TRY(check_reaches(reading, g, e));
    TRY(check_axis_new(reading, g, zip, e));
    displace_batch(reading, g->option->id, g->node->mark);
    struct axis *axis = matrix_axis(matrix, g->option->id);
    if (axis != NULL)
        axis_clear(axis);
    else
        axis = &matrix->axes[matrix->n_axes++];
    *axis = (struct axis){.id = g->option->id,
                          .mark = g->node->mark,
                          .zip = zip,
                          .open = mark_from_set(g->node->mark)};
    return read_axis(axis, g, e);
}

static enum status visit_axis(void *arg, const struct given *g, struct error *e)
{
    return add_axis(arg, g, 0, e);
}

enum status matrix_read_options(struct reading *reading, const struct node *map, struct error *e)
{
    return keys_walk(map, NOTHING_BESIDE, reading->spec->own, visit_option, reading, e);
}

enum status matrix_read_axes(struct reading *reading, const struct node *map, struct error *e)
{
    if (map->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, map->mark,
                          "matrix: expected a map of options and lists, such as {ranks: [1, 2]}");
    return keys_walk(map, NOTHING_BESIDE, reading->spec->own, visit_axis, reading, e);
}

/* ---- Zip ---- */

struct zip_reading {
    struct reading *reading;
    int zip;
};

static enum status visit_zipped(void *arg, const struct given *g, struct error *e)
{
    const struct zip_reading *zip = arg;
    return add_axis(zip->reading, g, zip->zip, e);
}

static void remove_zips(struct matrix *matrix)
{
    for (size_t i = matrix->n_axes; i-- > 0;)
        if (matrix->axes[i].zip > 0)
            matrix_remove_axis(matrix, &matrix->axes[i]);
}

static enum status check_lengths(const struct config *config, const struct axis *a,
                                 const struct axis *b, struct error *e)
{
    char place[MARK_TEXT_BYTES];
    if (a->n == b->n)
        return OK;
    return mark_error(
        e, ERR_SPEC, b->mark,
        "zip: %s has %zu value%s, %s (%s) has %zu: lists of a zip must have the same length",
        config_option(config, b->id)->key, b->n, b->n == 1 ? "" : "s",
        config_option(config, a->id)->key, mark_text(place, a->mark), a->n);
}

static bool are_same(const struct matrix *matrix, int zip, size_t a, size_t b)
{
    for (size_t i = 0; i < matrix->n_axes; i++)
        if (matrix->axes[i].zip == zip &&
            !value_equal(&matrix->axes[i].values[a], &matrix->axes[i].values[b]))
            return false;
    return true;
}

static enum status check_zip(const struct reading *reading, int zip, struct error *e)
{
    const struct matrix *matrix = reading->matrix;
    const struct axis *first = NULL;
    for (size_t i = 0; i < matrix->n_axes; i++) {
        const struct axis *axis = &matrix->axes[i];
        if (axis->zip != zip)
            continue;
        if (first == NULL)
            first = axis;
        TRY(check_lengths(&reading->spec->config, first, axis, e));
    }
    for (size_t b = 0; first != NULL && b < first->n; b++)
        for (size_t a = 0; a < b; a++)
            if (are_same(matrix, zip, a, b))
                return mark_error(
                    e, ERR_SPEC, first->values[b].mark,
                    "zip: entries %zu and %zu are equal in all lists. Leave one of the two out",
                    a + 1, b + 1);
    return OK;
}

static enum status read_zip_map(struct reading *reading, const struct node *map, int zip,
                                struct error *e)
{
    if (map->kind != NODE_MAP || map->n == 0)
        return mark_error(e, ERR_SPEC, map->mark,
                          "zip: expected a map of options and lists of equal length, such as "
                          "{ranks: [1, 2], train.epochs: [2, 4]}, or a list of such maps");
    TRY(keys_walk(map, NOTHING_BESIDE, reading->spec->own, visit_zipped,
                  &(struct zip_reading){reading, zip}, e));
    return check_zip(reading, zip, e);
}

enum status matrix_read_zip(struct reading *reading, const struct node *node, struct error *e)
{
    struct matrix *matrix = reading->matrix;
    if (node->kind != NODE_LIST && matrix_zips(matrix) <= 1)
        return read_zip_map(reading, node, 1, e);
    remove_zips(matrix);
    if (node->kind != NODE_LIST)
        return read_zip_map(reading, node, 1, e);
    for (size_t i = 0; i < node->n; i++)
        TRY(read_zip_map(reading, &node->items[i], (int)i + 1, e));
    return OK;
}

/* ---- Top level and cases ---- */

static enum status read_parts(struct reading *reading, const struct node *map, struct error *e)
{
    const struct node *node = node_find(map, "matrix");
    if (node != NULL)
        TRY(matrix_read_axes(reading, node, e));
    if ((node = node_find(map, "zip")) != NULL)
        TRY(matrix_read_zip(reading, node, e));
    if ((node = node_find(map, "exclude")) != NULL)
        TRY(excludes_read(reading, node, e));
    if ((node = node_find(map, "baseline")) != NULL)
        TRY(baseline_read(reading, node, e));
    return OK;
}

static enum status check_label(const struct matrix *matrix, const struct node *label,
                               struct error *e)
{
    if (label->kind != NODE_SCALAR || label->text[0] == '\0' ||
        strlen(label->text) > LABEL_BYTES_MAX)
        return mark_error(e, ERR_SPEC, label->mark, "label: expected a text of 1..%d bytes",
                          LABEL_BYTES_MAX);
    for (const char *c = label->text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return mark_error(e, ERR_SPEC, label->mark,
                              "label: expected a text without line breaks and control characters");
    for (size_t i = 0; i + 1 < matrix->n_cases; i++)
        if (strcmp(matrix->cases[i].label, label->text) == 0)
            return mark_error(e, ERR_SPEC, label->mark, "label: another case is called '%s'",
                              label->text);
    return OK;
}

static enum status read_case(struct reading *reading, struct matrix *of, const struct node *node,
                             struct error *e)
{
    static const struct node none = {.kind = NODE_LIST};
    const struct node *label = node->kind == NODE_MAP ? node_find(node, "label") : &none;
    struct reading own = {reading->spec, of, &of->own.config};
    if (label == NULL) /* if the key `label` is only misspelled, keys_walk reports that; otherwise
                          the error below reports that the label is missing */
        TRY(keys_walk(node, BESIDE_IN_CASE, reading->spec->own, visit_option, &own, e));
    if (label == &none || label == NULL)
        return mark_error(
            e, ERR_SPEC, node->mark,
            "cases: expected a map with a label, such as {label: corrected, ranks: 2}");
    TRY(check_label(reading->spec->matrix, label, e));
    TRY(node_copy_text(&of->label, label->text, "the cases", e));
    of->mark = node->mark;
    TRY(keys_walk(node, BESIDE_IN_CASE, reading->spec->own, visit_option, &own, e));
    return read_parts(&own, node, e);
}

static void clear_matrix(struct matrix *matrix)
{
    free(matrix->label);
    selection_free(&matrix->own);
    while (matrix->n_axes > 0)
        axis_clear(&matrix->axes[--matrix->n_axes]);
    excludes_clear(matrix);
    free(matrix->excludes);
    selection_free(&matrix->baseline);
}

static void clear_cases(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->n_cases; i++)
        clear_matrix(&matrix->cases[i]);
    free(matrix->cases);
    matrix->cases = NULL;
    matrix->n_cases = 0;
}

/* Reads the list of cases, which replaces the cases of other files. */
static enum status read_cases(struct reading *reading, const struct node *list, struct error *e)
{
    struct matrix *matrix = reading->spec->matrix;
    clear_cases(matrix);
    if (list->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, list->mark,
                          "cases: expected a list of maps, such as [{label: corrected, ranks: 2}]");
    TRY(MEM_NEW(matrix->cases, list->n, "the cases", e));
    for (size_t i = 0; i < list->n; i++) {
        struct matrix *of = &matrix->cases[matrix->n_cases++];
        TRY(read_case(reading, of, &list->items[i], e));
    }
    return OK;
}

/* Reads a factor such as x2 or x0.5. Returns false for any other text. */
static bool factor_parse(const char *text, double *factor)
{
    return text[0] == 'x' && number_parse(text + 1, factor) && *factor > 0;
}

/* Adds an empty case with this label. *added is valid until the next case is added. */
static enum status add_case(struct matrix **added, struct matrix *matrix, const char *label,
                            struct mark mark, struct error *e)
{
    TRY(MEM_GROW(matrix->cases, matrix->n_cases, "the cases", e));
    *added = &matrix->cases[matrix->n_cases++];
    **added = (struct matrix){.mark = mark};
    return node_copy_text(&(*added)->label, label, "the cases", e);
}

static enum status visit_change(void *arg, const struct given *g, struct error *e)
{
    const struct reading *reading = arg;
    const struct node *node = g->node;
    struct matrix *of;
    char label[LABEL_BYTES_MAX + 1];
    bool scalar = node->kind == NODE_SCALAR;
    snprintf(label, sizeof label, "%s%s%s", g->option->key, scalar ? " " : "",
             scalar ? node->text : "");
    if (scope_is_campaign(g->option->scope))
        return option_refuse_campaign(g, e);
    TRY(add_case(&of, reading->matrix, label, node->mark, e));
    of->changes = CHANGES_one;
    if (scalar && factor_parse(node->text, &of->factor)) {
        of->scaled = g->option->id;
        return OK;
    }
    return visit_option(&(struct reading){reading->spec, of, &of->own.config}, g, e);
}

/* Reads `what_if`, whose cases replace the cases of other files. */
static enum status read_what_if(struct reading *reading, const struct node *map, struct error *e)
{
    struct matrix *matrix = reading->spec->matrix, *added;
    clear_cases(matrix);
    if (map->kind != NODE_MAP || map->n == 0)
        return mark_error(e, ERR_SPEC, map->mark,
                          "what_if: expected a map of options and changed values, such as "
                          "{site.rate: x2, sync.cap_mib: 10}");
    TRY(add_case(&added, matrix, "as given", map->mark, e));
    added->changes = CHANGES_none;
    TRY(keys_walk(map, NOTHING_BESIDE, reading->spec->own, visit_change, reading, e));
    if (matrix->n_cases <= 2)
        return OK;
    TRY(add_case(&added, matrix, "all changes", map->mark, e));
    added->changes = CHANGES_all;
    return OK;
}

/* Rejects an axis if every case in the same file overrides it. If the axis comes from a file that
 * the spec extends, it is only a default, and cases may override it. */
static enum status check_axes_reach(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    for (size_t i = 0; i < all->n_axes && !spec->is_recorded; i++) {
        const struct axis *axis = &all->axes[i];
        if (every_case_gives(all, axis->id) && mark_same_layer(axis->mark, all->cases[0].mark))
            return mark_error(e, ERR_SPEC, axis->mark,
                              "%s: every case has its own value, so these values have no effect. "
                              "Remove these values, or the values in the cases",
                              config_option(&spec->config, axis->id)->key);
    }
    return OK;
}

enum status matrix_read(struct spec *spec, const struct node *root, struct error *e)
{
    if (root->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, root->mark,
                          "expected a map of keys and values, such as name: my_study");
    struct reading reading = {spec, spec->matrix, &spec->config};
    TRY(keys_walk(root, BESIDE_AT_TOP, spec->own, visit_option, &reading, e));
    TRY(read_parts(&reading, root, e));
    const struct node *cases = node_find(root, "cases"), *changes = node_find(root, "what_if");
    if (cases != NULL && changes != NULL)
        return mark_error(
            e, ERR_SPEC, changes->mark,
            "what_if creates cases, but the key `cases` is also given. Leave one of the two out");
    if (changes != NULL)
        return read_what_if(&reading, changes, e);
    if (cases == NULL)
        return OK;
    TRY(read_cases(&reading, cases, e));
    return check_axes_reach(spec, e);
}

void matrix_free(struct matrix *matrix)
{
    clear_cases(matrix);
    clear_matrix(matrix);
    free(matrix);
}

static const char *given_by_set(const struct spec *spec, const struct matrix *matrix,
                                const struct config *config)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = config_option(&spec->config, (enum option_id)i);
        const struct axis *axis = matrix_axis(matrix, (enum option_id)i);
        const struct value *value = &config->values[i];
        if ((axis != NULL && mark_from_set(axis->mark)) ||
            (value->set && mark_from_set(value->mark) && option->scope != SCOPE_FIGURE))
            return option->key;
    }
    return matrix->has_baseline && mark_from_set(matrix->baseline.mark) ? "baseline" : NULL;
}

const char *spec_set_beyond_figures(const struct spec *spec)
{
    const char *key = given_by_set(spec, spec->matrix, &spec->config);
    for (size_t i = 0; i < spec->matrix->n_cases && key == NULL; i++)
        key = given_by_set(spec, &spec->matrix->cases[i], &spec->matrix->cases[i].own.config);
    return key;
}
