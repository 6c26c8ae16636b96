#include "bench/spec/inputs/inputs.h"

#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/spec/figures/request.h"
#include "bench/spec/find.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

/* Options whose values are files or folders. `folder`, `ending`: folder and file ending of the copy
 * that a run keeps; NULL: no copy. `shared`: folders searched last, in the current folder and
 * $SCALEBENCH_HOME. */
static const struct input_kind {
    enum option_id option;
    const char *folder, *ending, *shared[3];
    bool is_read;    /* the file must exist, since the spec or launches read it */
    bool is_tensors; /* the file must be in safetensors format if it exists */
    /* words accepted in place of a file, for messages; NULL: only the option's default */
    const char *words;
    const char *expected; /* text added to the message about a missing file; or NULL */
} kinds[] = {
    {OPT_MODEL, "models", ".yaml", {"configs/", "configs/models/"}, true, false, NULL, NULL},
    {OPT_PUBLISHED_FILE,
     "published",
     ".csv",
     {"results/published/", "results/"},
     true,
     false,
     NULL,
     NULL},
    {.option = OPT_LINK,
     .folder = "link",
     .ending = ".csv",
     .is_read = true,
     .expected = "expected a link.csv as make bench-comm writes it, auto or none; site.rate gives "
                 "the rate of emulated and simulated hosts"},
    {.option = OPT_CHECKPOINT_START, .is_read = true, .is_tensors = true},
    {.option = OPT_CHECKPOINT_RESUME, .is_read = true, .is_tensors = true, .words = "auto or no"},
    {.option = OPT_CHECKPOINT_PATH, .is_tensors = true},
    {.option = OPT_DATA_PATH},
    {.option = OPT_PEER_PYTHON},
};

/* Returns whether a value names a file. Empty texts and defaults name no file. If the option has a
 * default, the words none and auto name no file either. A Python interpreter without '/' is a
 * command on PATH, not a file. */
static bool is_file(const struct spec_option *option, const struct value *value)
{
    static const char *const words[] = {"none", "auto"};
    bool word = option->preset != NULL && (strcmp(value->text, option->preset) == 0 ||
                                           name_index(value->text, words, 2) >= 0);
    bool on_path = option->id == OPT_PEER_PYTHON && strchr(value->text, '/') == NULL;
    return value->text[0] && !word && !on_path;
}

/* ---- Search for files ---- */

enum status seen_from_open(struct seen_from *from, const struct spec *spec, struct mark mark,
                           struct error *e)
{
    bool typed = mark_from_set(mark);
    size_t n = 0;
    *from = (struct seen_from){.beside = NULL};
    TRY(find_folder(&from->beside, typed || mark.file == NULL ? spec->path : mark.file, e));
    if (typed)
        from->folders[n++] = "";
    if (from->beside[0] != '\0')
        from->folders[n++] = from->beside;
    for (size_t i = 0; spec->folders != NULL && i < spec->folders->n && n + 1 < SEEN_FROM_MAX; i++)
        from->folders[n++] = spec->folders->items[i].text;
    if (!typed)
        from->folders[n++] = "";
    return OK;
}

void seen_from_close(struct seen_from *from)
{
    free(from->beside);
}

static enum status find_input(char **path, const struct spec *spec, const struct input_kind *kind,
                              const struct value *value, const char *text, struct error *e)
{
    struct seen_from from;
    *path = NULL;
    if (kind->option == OPT_MODEL && !find_is_path(text) && strchr(text, '.') != NULL)
        return error_set(e, ERR_SPEC,
                         "'%s' is not a model file: expected a YAML file whose name ends in "
                         ".yaml (configs/README.md), or a name in configs/models",
                         text);
    if (kind->option == OPT_MODEL && !find_is_path(text))
        return find_config(path, "configs/models", text, e);
    TRY(seen_from_open(&from, spec, value->mark, e));
    enum status status = find_file(path, from.folders, kind->shared, text, e);
    seen_from_close(&from);
    if (status != OK && kind->expected != NULL)
        return error_set(e, status, "%s; %s", e->text, kind->expected);
    return status;
}

/* ---- Files that a run does not copy ---- */

/* Sets value->path of a file that does not exist yet. The path lies below the first search folder
 * that contains the folder part of value->text. If none contains it, returns ERR_SPEC, or in a
 * recorded spec leaves value->path NULL. */
static enum status place_new(struct value *value, const struct spec *spec,
                             const struct input_kind *kind, struct error *e)
{
    struct error none;
    struct seen_from from;
    char *folder = NULL, *found = NULL;
    TRY(find_folder(&folder, value->text, e));
    const char *name = value->text + strlen(folder);
    enum status status = seen_from_open(&from, spec, value->mark, e);
    if (status == OK && folder[0] == '\0')
        status = find_absolute(&value->path, from.folders[0], name, e);
    else if (status == OK && find_input(&found, spec, kind, value, folder, &none) == OK)
        status = find_absolute(&value->path, found, name, e);
    else if (status == OK && !spec->is_recorded)
        status =
            mark_error(e, ERR_SPEC, value->mark, "%s: folder %s not found, so %s cannot be written",
                       option_get(kind->option)->key, folder, value->text);
    seen_from_close(&from);
    free(folder);
    free(found);
    return status;
}

static enum status error_missing(const struct value *value, const struct input_kind *kind,
                                 const char *why, struct error *e)
{
    const struct spec_option *option = option_get(kind->option);
    return mark_error(e, ERR_SPEC, value->mark, "%s: %s; expected a file%s%s", option->key, why,
                      kind->words != NULL ? ", " : ", or ",
                      kind->words != NULL ? kind->words : option->preset);
}

/* Checks the beginning of a safetensors file: 8 bytes with the length of the header, then the { of
 * a JSON object. */
static enum status check_tensors(const struct value *value, const char *key, struct error *e)
{
    enum { LENGTH_BYTES = 8 };
    char head[FILE_HEAD_BYTES];
    const char *why;
    struct error inner;
    FILE *in = file_open_stream(value->path, &why);
    if (in == NULL)
        return mark_error(e, ERR_SPEC, value->mark, "%s: %s: cannot be opened: %s", key,
                          value->text, why);
    size_t n = fread(head, 1, sizeof head, in);
    fclose(in);
    if (n > LENGTH_BYTES && head[LENGTH_BYTES] == '{')
        return OK;
    if (file_check_head(value->path, head, n, "safetensors", &inner) != OK)
        return mark_error(e, ERR_SPEC, value->mark, "%s: %s: %s", key, value->text, inner.text);
    return mark_error(e, ERR_SPEC, value->mark,
                      "%s: %s is not a checkpoint: expected a safetensors file, whose header "
                      "begins with { at byte offset %d",
                      key, value->text, LENGTH_BYTES);
}

/* Rejects a folder in place of a file, except for data.path. For checkpoint options, also rejects a
 * file that is not in safetensors format. */
static enum status check_file(const struct value *value, const struct input_kind *kind,
                              struct error *e)
{
    struct stat info;
    const char *key = option_get(kind->option)->key;
    if (stat(value->path, &info) != 0 || kind->option == OPT_DATA_PATH)
        return OK;
    if (S_ISDIR(info.st_mode))
        return mark_error(e, ERR_SPEC, value->mark, "%s: %s is a folder; expected a file", key,
                          value->text);
    return kind->is_tensors ? check_tensors(value, key, e) : OK;
}

/* Sets value->path to the absolute path of a file or folder; NULL if it is missing. A missing file
 * is an error only if the spec or a launch reads it, and never in a recorded spec. If the file of
 * checkpoint.path is missing, place_new sets value->path. */
static enum status find_path(struct value *value, const struct spec *spec,
                             const struct input_kind *kind, struct error *e)
{
    struct error inner;
    char *found;
    enum status status = find_input(&found, spec, kind, value, value->text, &inner);
    free(value->path);
    value->path = NULL;
    if (status == OK)
        status = find_absolute(&value->path, found, "", e);
    else if (inner.status == ERR_SPEC && kind->is_read && !spec->is_recorded)
        status = error_missing(value, kind, inner.text, e);
    else if (inner.status == ERR_SPEC)
        status = kind->option == OPT_CHECKPOINT_PATH ? place_new(value, spec, kind, e) : OK;
    else
        *e = inner;
    free(found);
    if (status == OK && value->path != NULL && !spec->is_recorded)
        status = check_file(value, kind, e);
    return status;
}

/* ---- Files that a run copies ---- */

/* Computes the digest of a file's bytes. For a model file, loads input->net and computes the
 * network's digest instead. */
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

enum status spec_input_refuse(const struct spec *spec, enum option_id option, const char *expected,
                              struct error *e)
{
    const struct value *value = &spec->config.values[option];
    struct error why = *e;
    const char *slash = strrchr(why.file, '/');
    char line[32] = "";
    if (why.line > 0)
        snprintf(line, sizeof line, "line %d: ", why.line);
    return mark_error(e, ERR_SPEC, value->mark, "%s: expected %s, found %.100s: %s%.200s",
                      option_get(option)->key, expected, slash != NULL ? slash + 1 : why.file, line,
                      why.text);
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

/* Sets the name of an input and the path of its copy. The name is the file name without folder and
 * ending ("net", or "net-2" if "net" is taken). */
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

/* Adds a file to spec->inputs unless a file with equal contents is there. Sets *name to the name of
 * the added or the equal file. */
static enum status add_input(struct spec *spec, struct spec_input *input,
                             const struct input_kind *kind, const char **name, struct error *e)
{
    const struct spec_input *equal = find_equal(spec, input);
    if (equal != NULL) {
        *name = equal->name;
        free_input(input);
        return OK;
    }
    TRY(MEM_GROW(spec->inputs, spec->n_inputs, "the files of a spec", e));
    enum status status = name_input(input, kind, spec, e);
    *name = input->name;
    if (status == OK)
        spec->inputs[spec->n_inputs++] = *input;
    return status;
}

/* Adds a position to an error: the position inside the file if known, else the position of the
 * value in the spec. */
static enum status place_error(const struct value *value, const struct spec_option *option,
                               const struct error *inner, struct error *e)
{
    if (inner->line > 0)
        return error_at(e, inner->status, inner->file, inner->line, inner->column, "%s",
                        inner->text);
    return mark_error(e, inner->status, value->mark, "%s: %s%s%s", option->key, inner->file,
                      inner->file[0] ? ": " : "", inner->text);
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
    if (kind->folder == NULL)
        return find_path(value, spec, kind, e);
    enum status status = find_input(&input.path, spec, kind, value, value->text, &inner);
    THEN(status, read_input(&input, &inner));
    THEN(status, add_input(spec, &input, kind, &name, &inner));
    if (status != OK) {
        free_input(&input);
        return place_error(value, option, &inner, e);
    }
    char *text;
    TRY(node_copy_text(&text, name, "the files of a spec", e));
    free(value->text);
    value->text = text;
    return OK;
}

/* Finds an axis's files. Unless the axis belongs to `zip`, rejects two values whose files are
 * equal, since they would give one point twice. */
static enum status resolve_axis(struct spec *spec, const struct input_kind *kind, struct axis *axis,
                                struct error *e)
{
    for (size_t i = 0; i < axis->n; i++) {
        char *written;
        TRY(node_copy_text(&written, axis->values[i].text, "the files of a spec", e));
        enum status status = resolve_value(spec, kind, &axis->values[i], e);
        for (size_t j = 0; j < i && status == OK && axis->zip == 0; j++)
            if (value_equal(&axis->values[i], &axis->values[j]))
                status = mark_error(e, ERR_SPEC, axis->values[i].mark,
                                    "%s: '%s' is the same file as '%s'. Leave one of them out",
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

/* Finds the files that the spec's figures name as sources of published values. */
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
