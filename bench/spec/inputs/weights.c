/* Checks before a run that a file of weights belongs to the network of the spec. */
#include <string.h>

#include "bench/base/safetensors.h"
#include "bench/spec/inputs/inputs.h"
#include "bench/spec/yaml/yaml_reader.h"

/* Returns whether `name` is `wanted`, or ends in it after a prefix such as "module.". */
static bool is_named(const char *name, const char *wanted)
{
    size_t n = strlen(name), end = strlen(wanted);
    return n >= end && strcmp(name + n - end, wanted) == 0 &&
           (n == end || name[n - end - 1] == '.');
}

/* Returns whether a tensor is part of a checkpoint but not of its network. */
static bool is_state(const char *name)
{
    return strncmp(name, "optimizer.", 10) == 0 || strncmp(name, "rank.", 5) == 0;
}

static bool has_shape(const struct safetensors_tensor *found, const struct tensor_desc *wanted)
{
    bool same = found->n_dims == wanted->n_dims;
    for (int i = 0; i < wanted->n_dims && same; i++)
        same = found->dims[i] == (size_t)wanted->dims[i];
    return same;
}

/* Returns the file's tensor with the name and shape of a parameter; otherwise the first tensor with
 * the parameter's name; NULL if there is none. */
static const struct safetensors_tensor *find_parameter(const struct safetensors *file,
                                                       const struct tensor_desc *wanted)
{
    const struct safetensors_tensor *named = NULL;
    for (const struct safetensors_tensor *t = file->tensors; t < file->tensors + file->n; t++) {
        if (is_state(t->name) || !is_named(t->name, wanted->name))
            continue;
        if (has_shape(t, wanted))
            return t;
        named = named != NULL ? named : t;
    }
    return named;
}

/* Returns whether a tensor belongs to a layer of the network or is state of a checkpoint. */
static bool is_known(const char *name, const struct net_desc *net)
{
    char layer[256];
    const char *part = strrchr(name, '.');
    snprintf(layer, sizeof layer, "%.*s", part != NULL ? (int)(part - name) : 0, name);
    for (int i = 0; i < net->n_layers; i++)
        if (is_named(layer, net->layers[i].name))
            return true;
    return is_state(name);
}

enum { WHY_BYTES = 500 };

/* Returns whether the file's tensors fit the network. If not, `why` names the first missing,
 * misshapen or unknown tensor. */
static bool fits(char why[WHY_BYTES], const struct safetensors *file, const struct net_desc *net)
{
    char shape[128], other[128];
    for (const struct tensor_desc *t = net->tensors; t < net->tensors + net->n_tensors; t++) {
        const struct safetensors_tensor *found = find_parameter(file, t);
        struct safetensors_tensor expected = {.dtype = "shape", .n_dims = t->n_dims};
        if (found != NULL && has_shape(found, t))
            continue;
        for (int i = 0; i < t->n_dims; i++)
            expected.dims[i] = (size_t)t->dims[i];
        snprintf(why, WHY_BYTES, "expected tensor '%s' of %s, found %s", t->name,
                 safetensors_type_text(shape, &expected),
                 found != NULL ? safetensors_type_text(other, found) : "none");
        return false;
    }
    for (size_t i = 0; i < file->n; i++)
        if (!is_known(file->tensors[i].name, net)) {
            snprintf(why, WHY_BYTES, "tensor '%.200s' is of no layer", file->tensors[i].name);
            return false;
        }
    return true;
}

static enum status check_file(const struct point *point, enum option_id id, struct error *e)
{
    const struct value *value = &point->config.values[id];
    const char *key = option_get(id)->key, *model = point->net->net.name;
    struct safetensors file;
    struct error inner;
    char why[WHY_BYTES];
    enum status status = OK;
    if (safetensors_open(&file, value->path, &inner) != OK)
        status = mark_error(e, ERR_SPEC, value->mark, "%s: %s: %s", key, value->text, inner.text);
    else if (!fits(why, &file, &point->net->net)) {
        const char *found = safetensors_text(&file, "model");
        status = mark_error(e, ERR_SPEC, value->mark,
                            "%s: %s has weights of %s%s, which do not fit model %s: %s. Use a file "
                            "whose tensors fit %s, or change option model",
                            key, value->text, found != NULL ? "model " : "another model",
                            found != NULL ? found : "", model, why, model);
    }
    safetensors_close(&file);
    return status;
}

/* Returns whether option `id` of the previous point names the same file, for the same network. The
 * file is then not checked again. */
static bool is_checked(const struct spec *spec, size_t point, enum option_id id)
{
    if (point == 0 || spec->points[point - 1].net != spec->points[point].net)
        return false;
    const char *before = spec->points[point - 1].config.values[id].path;
    return before != NULL && strcmp(before, spec->points[point].config.values[id].path) == 0;
}

enum status inputs_check_weights(const struct spec *spec, struct error *e)
{
    static const enum option_id files[] = {OPT_CHECKPOINT_START, OPT_CHECKPOINT_RESUME};
    for (size_t i = 0; i < spec->n_points && !spec->is_recorded; i++)
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            const struct point *p = &spec->points[i];
            if (p->net != NULL && config_uses(&p->config, files[k]) &&
                p->config.values[files[k]].path != NULL && !is_checked(spec, i, files[k]))
                TRY(check_file(p, files[k], e));
        }
    return OK;
}
