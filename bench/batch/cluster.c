#include "bench/batch/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/runner/files.h"
#include "kernels/base/names.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_LIST };

static const struct {
    const char *name;
    enum kind kind;
} keys[CLUSTER_KEYS] = {
#define CLUSTER_KEY(name, kind, help) {#name, KIND_##kind},
#include "bench/batch/cluster_keys.def"
};

static enum status find(struct cluster *c, const char *name, const char *home, struct error *e)
{
    bool path = strchr(name, '/') != NULL || (path_exists(name) && !path_is_folder(name));
    snprintf(c->path, sizeof c->path, path ? "%s" : "configs/sites/%s.yaml", name);
    if (access(c->path, R_OK) == 0)
        return OK;
    int n = snprintf(c->path, sizeof c->path, "%s/configs/sites/%s.yaml", home, name);
    if (!path && n < (int)sizeof c->path && access(c->path, R_OK) == 0)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "--site %s: no such file, nor configs/sites/%s.yaml; "
                     "configs/sites/example.yaml is one to copy",
                     name, name);
}

static long parse_count(const char *text)
{
    char *end;
    long count = strtol(text, &end, 10);
    return *end == '\0' && end != text && count >= 1 && count <= 65536 ? count : 0;
}

static enum status check_value(const struct node *entry, enum kind kind, struct error *e)
{
    if (kind == KIND_LIST && entry->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, entry->mark, "%s takes a list, as [one, other]", entry->key);
    if (kind != KIND_LIST && entry->kind != NODE_SCALAR)
        return mark_error(e, ERR_SPEC, entry->mark, "%s takes one value", entry->key);
    for (size_t i = 0; i < entry->n; i++)
        if (entry->items[i].kind != NODE_SCALAR)
            return mark_error(e, ERR_SPEC, entry->items[i].mark, "%s takes texts", entry->key);
    if (kind == KIND_COUNT && parse_count(entry->text) == 0)
        return mark_error(e, ERR_SPEC, entry->mark, "%s = '%s': a number from 1 to 65536 is wanted",
                          entry->key, entry->text);
    return OK;
}

static enum status check_entry(const struct node *entry, struct error *e)
{
    const char *names[CLUSTER_KEYS];
    char text[512];
    for (size_t i = 0; i < CLUSTER_KEYS; i++)
        names[i] = keys[i].name;
    int key = name_index(entry->key, names, CLUSTER_KEYS);
    if (key_is_own(entry->key))
        return OK;
    if (key >= 0)
        return check_value(entry, keys[key].kind, e);
    return mark_error(e, ERR_SPEC, entry->key_mark, "key %s",
                      name_explain(text, sizeof text, entry->key, names, CLUSTER_KEYS));
}

enum status cluster_read(struct cluster *c, const char *name, const char *home, struct error *e)
{
    memset(c, 0, sizeof *c);
    TRY(find(c, name, home, e));
    TRY(yaml_read_file(&c->root, c->path, e));
    if (c->root.kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, c->root.mark,
                          "a cluster is a map, as {nodes: 4, cores: 32}");
    for (size_t i = 0; i < c->root.n; i++)
        TRY(check_entry(&c->root.items[i], e));
    return OK;
}

void cluster_free(struct cluster *c)
{
    node_free(&c->root);
}

const char *cluster_text(const struct cluster *c, enum cluster_key key)
{
    const struct node *entry = node_find(&c->root, keys[key].name);
    return entry != NULL ? entry->text : "";
}

long cluster_count(const struct cluster *c, enum cluster_key key)
{
    const struct node *entry = node_find(&c->root, keys[key].name);
    return entry != NULL ? parse_count(entry->text) : 1;
}

const struct node *cluster_list(const struct cluster *c, enum cluster_key key, size_t *n)
{
    const struct node *entry = node_find(&c->root, keys[key].name);
    *n = entry != NULL ? entry->n : 0;
    return entry != NULL ? entry->items : NULL;
}

struct spec_machine cluster_machine(const struct cluster *c)
{
    return (struct spec_machine){.usable_cores = (int)cluster_count(c, CLUSTER_cores),
                                 .nodes = (int)cluster_count(c, CLUSTER_nodes)};
}
