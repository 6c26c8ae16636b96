#include "bench/spec/spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/spec/find.h"
#include "bench/spec/foreign.h"
#include "bench/spec/inputs/inputs.h"
#include "bench/spec/matrix.h"
#include "bench/spec/nodes/compute.h"
#include "bench/spec/nodes/resolve.h"
#include "bench/spec/points/alike.h"
#include "bench/spec/points/expand.h"
#include "bench/spec/points/points.h"
#include "bench/spec/rules/rules.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/file_kind.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/mem.h"

static enum status find_spec(struct spec *spec, const char *path, struct error *e)
{
    if (!find_is_there(path) && path[0] != '/')
        return find_config(&spec->path, "configs", path, e);
    return node_copy_text(&spec->path, path, "a path", e);
}

bool spec_is_meant(const char *name)
{
    struct spec spec = {.path = NULL};
    struct error none;
    const char *stem;
    bool ends = find_stem(&stem, name, ".yaml") < strlen(stem);
    bool meant = ends || (find_spec(&spec, name, &none) == OK && access(spec.path, R_OK) == 0);
    free(spec.path);
    return meant;
}

/* ---- Files that a spec extends ---- */

/* Largest number of files that a spec extends, directly or through other files. */
#define BASES_MAX 64
/* Largest number of levels in a chain of files, each of which extends the next. */
#define DEPTH_MAX 16

/* File being read, and the file that extends it. */
struct layer {
    const char *path;
    const struct layer *above;
    int depth;
};

static enum status check_layer(const struct spec *spec, const struct layer *layer, const char *path,
                               struct mark mark, struct error *e)
{
    for (const struct layer *l = layer; l != NULL; l = l->above)
        if (find_is_same(l->path, path))
            return mark_error(e, ERR_SPEC, mark, "extends: %s extends itself through this file",
                              path);
    if (layer->depth >= DEPTH_MAX || spec->n_bases >= BASES_MAX)
        return mark_error(e, ERR_SPEC, mark,
                          "extends: expected at most %d files, nested at most %d levels deep",
                          BASES_MAX, DEPTH_MAX);
    return OK;
}

/* Finds file `text`, named by key `extends` of file `from`. Tries `text` relative to the folder of
 * `from`, then to configs/. An absolute path is used as it is. The spec owns *path. */
static enum status find_base(struct spec *spec, const char *from, const char *text, char **path,
                             struct error *e)
{
    char *folder = NULL;
    enum status status = MEM_GROW(spec->bases, spec->n_bases, "the files of a spec", e);
    THEN(status, find_folder(&folder, from, e));
    const char *const folders[] = {folder, NULL}, *const shared[] = {"configs/", NULL};
    THEN(status, find_file(path, folders, shared, text, e));
    if (status == OK)
        spec->bases[spec->n_bases++] = *path;
    free(folder);
    return status;
}

static enum status read_layer(struct spec *spec, const struct layer *layer, struct error *e);

static enum status read_base(struct spec *spec, const struct layer *above, const struct node *node,
                             struct error *e)
{
    struct error inner;
    char *path = NULL;
    if (node->kind != NODE_SCALAR || node->text[0] == '\0')
        return mark_error(e, ERR_SPEC, node->mark, "extends: expected a file, or a list of files");
    if (spec->n_bases < BASES_MAX && find_base(spec, above->path, node->text, &path, &inner) != OK)
        return mark_error(e, inner.status, node->mark, "extends: %s", inner.text);
    TRY(check_layer(spec, above, path != NULL ? path : "", node->mark, e));
    return read_layer(spec, &(struct layer){path, above, above->depth + 1}, e);
}

static enum status read_bases(struct spec *spec, const struct layer *above,
                              const struct node *extends, struct error *e)
{
    if (extends->kind != NODE_LIST)
        return read_base(spec, above, extends, e);
    for (size_t i = 0; i < extends->n; i++)
        TRY(read_base(spec, above, &extends->items[i], e));
    return OK;
}

/* Moves a recorded spec's list of folders from the YAML tree into the spec, since the tree is
 * freed. */
static enum status keep_folders(struct spec *spec, struct node *root, struct error *e)
{
    struct node *list = (struct node *)node_find(root, spec_folders_key);
    for (size_t i = 0; list != NULL && i < list->n; i++)
        if (list->items[i].kind != NODE_SCALAR)
            return OK;
    if (list == NULL || list->kind != NODE_LIST)
        return OK;
    TRY(MEM_NEW(spec->folders, 1, "a spec", e));
    spec->folders->items = list->items;
    spec->folders->n = list->n;
    list->items = NULL;
    list->n = 0;
    return OK;
}

static enum status read_layer(struct spec *spec, const struct layer *layer, struct error *e)
{
    struct node root;
    TRY(file_kind_check_path(layer->path, FILE_SPEC, e));
    enum status status = yaml_read_file(&root, layer->path, e);
    if (status == OK && layer->above == NULL && spec->is_recorded)
        status = keep_folders(spec, &root, e);
    THEN(status, file_kind_check(&root, FILE_SPEC, e));
    const struct node *extends = status == OK ? node_find(&root, "extends") : NULL;
    if (extends != NULL)
        status = read_bases(spec, layer, extends, e);
    THEN(status, matrix_read(spec, &root, e));
    node_free(&root);
    return status;
}

/* ---- Load a spec ---- */

/* If the spec has no `name`, names it after its file. */
static enum status name_by_file(struct spec *spec, struct error *e)
{
    char name[PATH_MAX];
    const char *stem;
    struct value *value = &spec->config.values[OPT_NAME];
    if (value->set)
        return OK;
    int length = (int)find_stem(&stem, spec->path, ".yaml");
    snprintf(name, sizeof name, "%.*s", length, stem);
    return config_set(&spec->config, option_get(OPT_NAME), name, mark_in(spec->path, 1, 1), e);
}

/* Appends _quick to the spec's name, as in "kota_parts_quick", unless option `quick` itself gives
 * the name. */
static enum status name_quick_form(struct spec *spec, struct error *e)
{
    char *name;
    struct value *value = &spec->config.values[OPT_NAME];
    struct mark mark = value->mark;
    if (!value->set || mark_from_set(mark)) /* _quick is not appended: the spec has no name yet, or
                                               option `quick` sets the name */
        return OK;
    if (asprintf(&name, "%s_quick", value->text) < 0)
        return error_no_memory(e, "a name");
    enum status status = config_set(&spec->config, option_get(OPT_NAME), name, mark, e);
    free(name);
    return status;
}

/* Applies the words of option `quick` to the spec. A recorded spec has these changes already.
 * `asked`: column of form=quick in the text of --set, from 1; 0 if absent. */
static enum status apply_quick(struct spec *spec, int asked, struct error *e)
{
    const struct spec_option *option = option_get(OPT_QUICK);
    const struct value *quick = &spec->config.values[OPT_QUICK];
    struct mark mark = quick->mark;
    struct error inner;
    if (strcmp(quick->text, option->preset) == 0)
        return !asked && spec->is_recorded
                   ? OK
                   : mark_error(
                         e, ERR_SPEC,
                         asked ? mark_in(words_files[WORDS_SET], 1, asked)
                               : spec->config.values[OPT_FORM].mark,
                         "this spec has no quick form. Define one with a line such as 'quick: "
                         "data.samples=2000', or leave out form=quick");
    if (matrix_set_column(quick->text, "form=quick") > 0)
        return mark_error(e, ERR_SPEC, mark,
                          "quick: form=quick has no effect within this option. Leave out "
                          "form=quick");
    if (matrix_apply_words(spec, WORDS_QUICK, quick->text, &inner) != OK)
        return mark_error(e, inner.status, mark, "quick: %s", inner.text);
    TRY(config_set(&spec->config, option, option->preset, mark, e));
    return name_quick_form(spec, e);
}

static enum status begin_spec(struct spec *spec, struct error *e)
{
    memset(spec, 0, sizeof *spec);
    TRY(MEM_NEW(spec->matrix, 1, "a spec", e));
    TRY(MEM_NEW(spec->own, 1, "a spec", e));
    TRY(config_init(&spec->config, e));
    TRY(config_init(&spec->presets, e));
    spec->config.own = spec->presets.own = spec->own;
    return OK;
}

/* Returns whether a key=value word of the spec's option `quick` gives option `id` the value or axis
 * that `id` already has without `quick`. */
static bool is_repeated(const struct spec *quick, const struct spec *spec, enum option_id id)
{
    const struct axis *axis = matrix_axis(quick->matrix, id);
    const struct axis *before = matrix_axis(spec->matrix, id);
    const struct value *value = &quick->config.values[id];
    if (before == NULL)
        return axis == NULL && value->set && mark_from_set(value->mark) &&
               value_equal(value, &spec->config.values[id]);
    size_t same = 0;
    while (axis != NULL && same < axis->n && same < before->n &&
           value_equal(&axis->values[same], &before->values[same]))
        same++;
    return axis != NULL && mark_from_set(axis->mark) && same == axis->n && same == before->n;
}

static enum status refuse_repeated(const struct spec *quick, const struct spec *spec,
                                   struct error *e)
{
    const struct mark mark = spec->config.values[OPT_QUICK].mark;
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (id != OPT_NAME && id != OPT_QUICK && is_repeated(quick, spec, id) &&
            !owned_is_of_base(spec, mark))
            return mark_error(e, ERR_SPEC, mark,
                              "quick: %s already has this value without quick. Leave out the "
                              "option, or use another value",
                              config_option(&spec->config, id)->key);
    return OK;
}

/* Checks the words of option `quick` by applying them to a trial spec, even if the quick form is
 * not requested. */
static enum status try_quick(const struct spec *spec, struct error *e)
{
    struct spec trial;
    const struct spec_option *option = option_get(OPT_QUICK);
    if (spec->is_recorded || value_is_preset(option, &spec->config.values[OPT_QUICK]))
        return OK;
    enum status status = begin_spec(&trial, e);
    THEN(status, find_spec(&trial, spec->path, e));
    THEN(status, read_layer(&trial, &(struct layer){trial.path, NULL, 0}, e));
    THEN(status, apply_quick(&trial, 1, e));
    THEN(status, refuse_repeated(&trial, spec, e));
    spec_free(&trial);
    return status;
}

static enum status read_values(struct spec *spec, const char *set, struct error *e)
{
    TRY(read_layer(spec, &(struct layer){spec->path, NULL, 0}, e));
    TRY(name_by_file(spec, e));
    int asked = set != NULL ? matrix_set_column(set, "form=quick") : 0;
    TRY(try_quick(spec, e));
    if (asked > 0 || spec->config.values[OPT_FORM].number == FORM_quick)
        TRY(apply_quick(spec, asked, e));
    if (set != NULL)
        TRY(matrix_apply_words(spec, WORDS_SET, set, e));
    return what_if_resolve(spec, e);
}

/* Makes [accuracy] the default of `figures` if there are no timed launches: figures of time would
 * be empty. */
static enum status choose_figures(struct spec *spec, struct error *e)
{
    const struct value *figures = &spec->config.values[OPT_FIGURES];
    if (figures->set || spec->config.values[OPT_TIME_LAUNCHES].number_hi > 0)
        return OK;
    return config_set(&spec->config, option_get(OPT_FIGURES), "[accuracy]", figures->mark, e);
}

enum status spec_load(struct spec *spec, const char *path, const char *set,
                      const struct spec_machine *machine, struct error *e)
{
    TRY(begin_spec(spec, e));
    TRY(find_spec(spec, path, e));
    spec->is_recorded = spec_is_recorded(spec->path);
    TRY(read_values(spec, set, e));
    TRY(choose_figures(spec, e));
    own_options_sort(spec);
    TRY(rules_check_spec(spec, e));
    TRY(inputs_resolve(spec, e));
    TRY(nodes_resolve(spec, machine, e));
    TRY(compute_resolve(spec, machine, e));
    TRY(expand_points(spec, e));
    TRY(rules_check_points(spec, e));
    return inputs_check_weights(spec, e);
}

void spec_free(struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        config_free(&spec->points[i].config);
    free(spec->points);
    free(spec->varying);
    free(spec->written);
    if (spec->folders != NULL)
        node_free(spec->folders);
    free(spec->folders);
    config_free(&spec->config);
    config_free(&spec->presets);
    for (size_t i = 0; i < spec->n_bases; i++)
        free(spec->bases[i]);
    free(spec->bases);
    inputs_free(spec);
    alike_free(spec->identities);
    if (spec->matrix != NULL)
        matrix_free(spec->matrix);
    free(spec->path);
    free(spec->own);
    memset(spec, 0, sizeof *spec);
}
