#include "bench/batch/cluster.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/runner/files.h"
#include "bench/spec/pattern.h"
#include "bench/spec/yaml/file_kind.h"
#include "kernels/base/names.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_LIST };

static const struct key {
    const char *name;
    enum kind kind;
    const struct enumeration *names; /* the allowed texts; NULL: any text */
    const char *form;                /* regular expression of allowed texts, as "NAME = PATTERN" */
    const char *expected;
} keys[CLUSTER_KEYS] = {
#define CLUSTER_KEY(name, kind, names, form, expected, help)                                       \
    {#name, KIND_##kind, names, #name " = ^(?:" form ")\\z", expected},
#include "bench/batch/cluster_keys.def"
};

static const struct {
    const char *pattern, *instead;
} refused[] = {
#define SBATCH_OPTION(pattern, instead) {pattern, instead},
#include "bench/batch/sbatch_options.def"
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
                     "--site %s: found neither a file of this name nor configs/sites/%s.yaml. Copy "
                     "configs/sites/example.yaml to describe a cluster",
                     name, name);
}

static long parse_count(const char *text)
{
    char *end;
    long count = strtol(text, &end, 10);
    return *end == '\0' && end != text && count >= 1 && count <= 65536 ? count : 0;
}

static enum status check_form(const struct key *key, const struct node *value, struct error *e)
{
    size_t at;
    struct pattern *pattern;
    struct pattern_value found = {0};
    clock_t until = clock() + CLOCKS_PER_SEC;
    enum status status = pattern_open(&pattern, key->form, &at, e);
    THEN(status, pattern_find(pattern, value->text, strlen(value->text), until, &found, e));
    pattern_free(pattern);
    if (status != OK || found.text != NULL)
        return status;
    return mark_error(e, ERR_SPEC, value->mark, "%s = '%s': expected %s", key->name, value->text,
                      key->expected);
}

static enum status check_name(const struct key *key, const struct node *value, struct error *e)
{
    char text[512];
    const struct enumeration *names = key->names;
    if (names == NULL || name_index(value->text, names->names, names->n) >= 0)
        return OK;
    return mark_error(e, ERR_SPEC, value->mark, "%s: %s", key->name,
                      name_explain(text, sizeof text, value->text, names->names, names->n));
}

static enum status check_text(const struct key *key, const struct node *value, struct error *e)
{
    if (value->text[0] == '\0' && key->kind == KIND_TEXT)
        return OK;
    TRY(check_name(key, value, e));
    return check_form(key, value, e);
}

/* Rejects sbatch options that scalebench does not support (sbatch_options.def). `name`: the option
 * without dashes. */
static enum status refuse_sbatch_option(const char *name, struct mark mark, struct error *e)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (fnmatch(refused[i].pattern, name, 0) == 0)
            return mark_error(e, ERR_SPEC, mark, "sbatch: --%s is not supported; %s", name,
                              refused[i].instead);
    return OK;
}

static enum status check_sbatch_option(const struct node *option, struct error *e)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(option->text + 2, "= "), option->text + 2);
    return refuse_sbatch_option(name, option->mark, e);
}

static enum status check_kind(const struct node *entry, enum kind kind, struct error *e)
{
    if (kind == KIND_LIST && entry->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, entry->mark, "%s must be a list, for example [one, other]",
                          entry->key);
    if (kind != KIND_LIST && entry->kind != NODE_SCALAR)
        return mark_error(e, ERR_SPEC, entry->mark, "%s must be one value, not a list or map",
                          entry->key);
    for (size_t i = 0; i < entry->n; i++)
        if (entry->items[i].kind != NODE_SCALAR)
            return mark_error(e, ERR_SPEC, entry->items[i].mark,
                              "%s must be a list of strings, for example [one, other]", entry->key);
    if (kind == KIND_COUNT && parse_count(entry->text) == 0)
        return mark_error(e, ERR_SPEC, entry->mark,
                          "%s = '%s': expected a whole number from 1 to 65536", entry->key,
                          entry->text);
    return OK;
}

static enum status check_value(const struct node *entry, const struct key *key, struct error *e)
{
    TRY(check_kind(entry, key->kind, e));
    if (key->kind != KIND_LIST)
        return check_text(key, entry, e);
    for (size_t i = 0; i < entry->n; i++) {
        TRY(check_text(key, &entry->items[i], e));
        if (key == &keys[CLUSTER_sbatch])
            TRY(check_sbatch_option(&entry->items[i], e));
    }
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
        return check_value(entry, &keys[key], e);
    TRY(refuse_sbatch_option(entry->key, entry->key_mark, e));
    return mark_error(e, ERR_SPEC, entry->key_mark,
                      "key %s. Options of sbatch belong in the list `sbatch`",
                      name_explain(text, sizeof text, entry->key, names, CLUSTER_KEYS));
}

enum status cluster_read(struct cluster *c, const char *name, const char *home, struct error *e)
{
    memset(c, 0, sizeof *c);
    TRY(find(c, name, home, e));
    enum status status = yaml_read_file(&c->root, c->path, e);
    if (status == ERR_SPEC)
        return error_at(e, status, e->file, e->line, e->column,
                        "%s. --site expects a description of a cluster, such as "
                        "configs/sites/example.yaml",
                        e->text);
    TRY(status);
    if (c->root.kind != NODE_MAP)
        return mark_error(
            e, ERR_SPEC, c->root.mark,
            "expected a map that describes a cluster, for example {nodes: 4, cores: 32}");
    TRY(file_kind_check(&c->root, FILE_SITE, e));
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
