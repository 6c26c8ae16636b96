#include "bench/spec/yaml/file_kind.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "kernels/base/text.h"

/* Kinds of YAML files. `keys`: top-level keys that only this kind has. */
static const struct {
    const char *name, *use, *keys[8];
} kinds[] = {
    [FILE_SPEC] = {"a spec",
                   "To use a spec, give its path to `scalebench run`",
                   {"title", "extends", "model", "data", "train", "matrix", "cases", NULL}},
    [FILE_MODEL] = {"a model",
                    "To use a model, write `model: PATH` in a spec",
                    {"input", "classes", "layers", "normalize", "initializer", NULL}},
    [FILE_SITE] = {"a site file",
                   "To use a site file, give its path to `scalebench submit --site`",
                   {"account", "partition", "sbatch", "modules", "cores", "launcher", NULL}},
};

/* Kinds of files that are not YAML, by the ending of their names. */
static const struct {
    const char *ending, *name;
} others[] = {{".csv", "a table"}, {".md", "a page"}, {".svg", "a picture"}};

enum status file_kind_check_path(const char *path, enum file_kind expected, struct error *e)
{
    char spec[PATH_MAX];
    snprintf(spec, sizeof spec, "%s/spec.yaml", path);
    if (expected == FILE_SPEC && access(spec, F_OK) == 0)
        return error_set(e, ERR_SPEC, "expected a spec, found the folder '%s'. Use '%s'", path,
                         spec);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_ends(path, others[i].ending) && access(path, F_OK) == 0)
            return error_set(e, ERR_SPEC, "'%s' is %s (%s), expected %s (.yaml)", path,
                             others[i].name, others[i].ending, kinds[expected].name);
    return OK;
}

static bool has_any(const struct node *map, const char *const *keys)
{
    while (*keys != NULL && node_find(map, *keys) == NULL)
        keys++;
    return *keys != NULL;
}

enum status file_kind_check(const struct node *root, enum file_kind expected, struct error *e)
{
    if (root->kind != NODE_MAP || has_any(root, kinds[expected].keys))
        return OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_any(root, kinds[i].keys))
            return mark_error(e, ERR_SPEC, root->mark, "this is %s, expected %s. %s", kinds[i].name,
                              kinds[expected].name, kinds[i].use);
    return OK;
}
