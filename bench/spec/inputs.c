#include "bench/spec/inputs.h"

#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/find.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/file.h"

/* Options whose values are files; where and with which ending a run keeps them; where those lie
 * that all may use, so that the tables of a run draw without its copies too. */
static const struct input_kind {
    enum option_id option;
    const char *folder, *ending, *shared[3];
} kinds[] = {
    {OPT_MODEL, "models", ".yaml", {"configs/"}},
    {OPT_PUBLISHED_FILE, "published", ".csv", {"results/published/", "results/"}},
    {OPT_LINK, "link", ".csv", {NULL}},
};

/* "" where an option must be given and is not; a preset is a word that stands for no file. */
static bool is_file(const struct spec_option *option, const struct value *value)
{
    bool word = option->preset != NULL &&
                (strcmp(value->text, option->preset) == 0 || strcmp(value->text, "none") == 0);
    return value->text[0] && !word;
}

/* What a spec says is meant from where it lies, what was typed from where that was done. */
static enum status find_input(char **path, const struct input_kind *kind, const struct value *value,
                              struct error *e)
{
    bool typed = mark_from_set(value->mark);
    char *beside = strdup(typed ? "" : value->mark.file),
         *slash = beside != NULL ? strrchr(beside, '/') : NULL;
    if (beside == NULL)
        return error_no_memory(e, "the files of a spec");
    if (slash != NULL)
        slash[1] = '\0';
    const char *own = slash != NULL ? beside : "";
    const char *const folders[] = {typed ? "" : own, typed || !own[0] ? NULL : "", NULL};
    bool name = kind->option == OPT_MODEL && !find_is_path(value->text);
    enum status status = name ? find_config(path, "configs/models", value->text, e)
                              : find_file(path, folders, kind->shared, value->text, e);
    free(beside);
    return status;
}

/* A network counts as it is read, any other file as its bytes. */
static enum status read_input(struct spec_input *input, struct error *e)
{
    if (input->option == OPT_MODEL) {
        TRY(model_load(&input->net, input->path, e));
        return model_sha256(&input->net, input->digest, e);
    }
    const char *why;
    int fd = file_open(input->path, &why);
    if (fd < 0)
        return error_at(e, ERR_SPEC, input->path, 0, 0, "cannot be opened: %s", why);
    close(fd);
    if (SHA256File(input->path, input->digest) != NULL)
        return OK;
    return error_at(e, ERR_SPEC, input->path, 0, 0, "cannot be read: %s", strerror(errno));
}

const struct spec_input *spec_input_find(const struct spec *spec, enum option_id option,
                                         const char *name)
{
    for (size_t i = 0; i < spec->n_inputs; i++)
        if (spec->inputs[i].option == option && strcmp(spec->inputs[i].name, name) == 0)
            return &spec->inputs[i];
    return NULL;
}

static const struct spec_input *find_equal(const struct spec *spec, const struct spec_input *input)
{
    for (size_t i = 0; i < spec->n_inputs; i++)
        if (spec->inputs[i].option == input->option &&
            strcmp(spec->inputs[i].digest, input->digest) == 0)
            return &spec->inputs[i];
    return NULL;
}

/* The file's name without folder and ending; "net-2" where another "net" was before. */
static enum status name_input(struct spec_input *input, const struct input_kind *kind,
                              const struct spec *spec, struct error *e)
{
    const char *stem;
    int length = (int)find_stem(&stem, input->path, kind->ending);
    int made = asprintf(&input->name, "%.*s", length, stem);
    for (int i = 2; made >= 0 && spec_input_find(spec, kind->option, input->name) != NULL; i++) {
        free(input->name);
        made = asprintf(&input->name, "%.*s-%d", length, stem, i);
    }
    if (made < 0)
        input->name = NULL;
    if (made < 0 || asprintf(&input->copy, "%s/%s%s", kind->folder, input->name, kind->ending) < 0)
        return error_no_memory(e, "the files of a spec");
    return OK;
}

static void free_input(struct spec_input *input)
{
    net_desc_free(&input->net);
    free(input->name);
    free(input->path);
    free(input->copy);
    *input = (struct spec_input){0};
}

/* Adds the file to the spec unless an equal one is there; *name is that by which it goes. */
static enum status add_input(struct spec *spec, struct spec_input *input,
                             const struct input_kind *kind, const char **name, struct error *e)
{
    const struct spec_input *equal = find_equal(spec, input);
    if (equal != NULL) {
        *name = equal->name;
        free_input(input);
        return OK;
    }
    struct spec_input *inputs =
        reallocarray(spec->inputs, spec->n_inputs + 1, sizeof *spec->inputs);
    if (inputs == NULL)
        return error_no_memory(e, "the files of a spec");
    spec->inputs = inputs;
    enum status status = name_input(input, kind, spec, e);
    *name = input->name;
    if (status == OK)
        spec->inputs[spec->n_inputs++] = *input;
    return status;
}

/* What is wrong inside a file has its place there; that there is none, at the value. */
static enum status place_error(const struct value *value, const struct spec_option *option,
                               const struct error *inner, struct error *e)
{
    if (inner->file[0])
        return error_at(e, inner->status, inner->file, inner->line, inner->column, "%s",
                        inner->text);
    return mark_error(e, inner->status, value->mark, "%s: %s", option->key, inner->text);
}

static enum status resolve_value(struct spec *spec, const struct input_kind *kind,
                                 struct value *value, struct error *e)
{
    const struct spec_option *option = option_get(kind->option);
    struct spec_input input = {.option = kind->option};
    struct error inner;
    const char *name = NULL;
    if (!value->set || !is_file(option, value))
        return OK;
    enum status status = find_input(&input.path, kind, value, &inner);
    THEN(status, read_input(&input, &inner));
    THEN(status, add_input(spec, &input, kind, &name, &inner));
    if (status != OK) {
        free_input(&input);
        return place_error(value, option, &inner, e);
    }
    char *text = strdup(name);
    if (text == NULL)
        return error_no_memory(e, "the files of a spec");
    free(value->text);
    value->text = text;
    return OK;
}

/* Two entries of a matrix that are one file would be one point twice. */
static enum status resolve_axis(struct spec *spec, const struct input_kind *kind, struct axis *axis,
                                struct error *e)
{
    for (size_t i = 0; i < axis->n; i++) {
        char *written = strdup(axis->values[i].text);
        enum status status = written != NULL ? resolve_value(spec, kind, &axis->values[i], e)
                                             : error_no_memory(e, "the files of a spec");
        for (size_t j = 0; j < i && status == OK && axis->zip == 0; j++)
            if (value_equal(&axis->values[i], &axis->values[j]))
                status = mark_error(e, ERR_SPEC, axis->values[i].mark,
                                    "%s: '%s' is the same as '%s', which is listed before",
                                    option_get(kind->option)->key, written, axis->values[j].text);
        free(written);
        TRY(status);
    }
    return OK;
}

static enum status resolve_matrix(struct spec *spec, const struct input_kind *kind,
                                  struct matrix *matrix, struct error *e)
{
    struct axis *axis = matrix_axis(matrix, kind->option);
    TRY(resolve_value(spec, kind, &matrix->own.config.values[kind->option], e));
    if (axis != NULL)
        TRY(resolve_axis(spec, kind, axis, e));
    TRY(resolve_value(spec, kind, &matrix->baseline.config.values[kind->option], e));
    for (size_t i = 0; i < matrix->n_excludes; i++)
        TRY(resolve_value(spec, kind, &matrix->excludes[i].config.values[kind->option], e));
    return OK;
}

static enum status resolve_kind(struct spec *spec, const struct input_kind *kind, struct error *e)
{
    TRY(resolve_value(spec, kind, &spec->config.values[kind->option], e));
    TRY(resolve_matrix(spec, kind, spec->matrix, e));
    for (size_t i = 0; i < spec->matrix->n_cases; i++)
        TRY(resolve_matrix(spec, kind, &spec->matrix->cases[i], e));
    return OK;
}

/* Figures have files of published values of their own; they go with the spec's. */
static enum status resolve_figures(struct spec *spec, const struct input_kind *kind,
                                   struct error *e)
{
    struct value *figures = &spec->config.values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++)
        for (size_t k = 0; k < figures->figures[i].n_sources; k++)
            TRY(resolve_value(spec, kind, &figures->figures[i].sources[k].options[PUBLISHED_FILE],
                              e));
    return OK;
}

enum status inputs_resolve(struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        TRY(resolve_kind(spec, &kinds[i], e));
        if (kinds[i].option == OPT_PUBLISHED_FILE)
            TRY(resolve_figures(spec, &kinds[i], e));
    }
    return OK;
}

void inputs_free(struct spec *spec)
{
    for (size_t i = 0; i < spec->n_inputs; i++)
        free_input(&spec->inputs[i]);
    free(spec->inputs);
}
