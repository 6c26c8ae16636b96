#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/claims/claims.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

const char *const claim_verdict_names[CLAIM_VERDICTS] = {
#define CLAIM_VERDICT(id, name, count, meaning) name,
#include "bench/claims/verdicts.def"
};

const char *const claim_evidence_names[CLAIM_EVIDENCES] = {
#define CLAIM_EVIDENCE(name, meaning) #name,
#include "bench/claims/evidence.def"
};

enum claim_key {
#define CLAIM_KEY(name, kind, needed) KEY_##name,
#include "bench/claims/claim_keys.def"
    KEYS
};

static const char *const key_names[] = {
#define CLAIM_KEY(name, kind, needed) #name,
#include "bench/claims/claim_keys.def"
};

static const struct {
    enum node_kind kind;
    bool needed;
} key_rows[] = {
#define CLAIM_KEY(name, kind, needed) {NODE_##kind, needed},
#include "bench/claims/claim_keys.def"
};

static const char *const kinds[] = {
#define CLAIM_KIND(name) name,
#include "bench/claims/kinds.def"
};

/* ---- Claims ---- */

static enum status refuse_name(const char *what, const char *name, struct mark mark,
                               const char *const *known, size_t n, struct error *e)
{
    char text[512];
    return mark_error(e, ERR_SPEC, mark, "%s%s", what,
                      name_explain(text, sizeof text, name, known, n));
}

static enum status check_keys(const struct node *entry, struct error *e)
{
    for (size_t i = 0; i < entry->n; i++) {
        const struct node *item = &entry->items[i];
        int key = name_index(item->key, key_names, KEYS);
        if (key < 0)
            return refuse_name("key ", item->key, item->key_mark, key_names, KEYS, e);
        if (item->kind != key_rows[key].kind || node_is_empty(item))
            return mark_error(e, ERR_SPEC, item->mark, "%s must be %s", item->key,
                              key_rows[key].kind == NODE_MAP ? "a map of names and values"
                                                             : "a text");
    }
    for (int key = 0; key < KEYS; key++)
        if (key_rows[key].needed && node_find(entry, key_names[key]) == NULL)
            return mark_error(e, ERR_SPEC, entry->mark, "%s is missing from this claim",
                              key_names[key]);
    return OK;
}

static const char *text_of(const struct node *entry, enum claim_key key)
{
    const struct node *item = node_find(entry, key_names[key]);
    return item != NULL ? item->text : NULL;
}

static enum status check_id(const struct claims *c, const struct node *item, struct error *e)
{
    const char *slash = strchr(item->text, '/');
    if (slash == NULL || slash == item->text || slash[1] == '\0')
        return mark_error(e, ERR_SPEC, item->mark,
                          "id: expected the form report/name, such as kota/one_sum, found '%s'",
                          item->text);
    for (size_t i = 0; i + 1 < c->n; i++)
        if (strcmp(c->claims[i].id, item->text) == 0)
            return mark_error(e, ERR_SPEC, item->mark, "id: '%s' is given twice", item->text);
    return OK;
}

/* Checks an item "NAME: TEXT" of a claim's `values`. The name must begin with a letter, contain
 * only letters, digits and _, and have at most 63 characters. The text must be a scalar that is not
 * empty. */
static enum status check_value_name(const struct node *item, struct error *e)
{
    bool good = isalpha((unsigned char)item->key[0]);
    for (const char *at = item->key; *at; at++)
        good = good && (isalnum((unsigned char)*at) || *at == '_');
    if (!good || strlen(item->key) >= 64)
        return mark_error(e, ERR_SPEC, item->key_mark,
                          "values: expected a name of up to 63 letters, digits and _, beginning "
                          "with a letter, found '%s'",
                          item->key);
    if (item->kind != NODE_SCALAR || node_is_empty(item))
        return mark_error(e, ERR_SPEC, item->mark,
                          "values: %s must be a cell of a table or an arithmetic expression",
                          item->key);
    return OK;
}

static enum status read_values(struct claim *claim, const struct node *values, struct error *e)
{
    TRY(MEM_NEW(claim->values, values->n, "a claim", e));
    for (; claim->n < values->n; claim->n++) {
        const struct node *item = &values->items[claim->n];
        TRY(check_value_name(item, e));
        claim->values[claim->n] = (struct claim_value){
            .name = item->key, .text = item->text, .mark = node_text_mark(item)};
    }
    return OK;
}

static enum status read_condition(struct claim *claim, const struct node *entry, struct error *e)
{
    const struct node *holds = node_find(entry, key_names[KEY_holds]);
    claim->untestable = text_of(entry, KEY_untestable);
    if ((holds == NULL) == (claim->untestable == NULL))
        return mark_error(e, ERR_SPEC, entry->mark,
                          "expected either `holds: CONDITION` or `untestable: REASON`, found %s",
                          holds == NULL ? "neither" : "both");
    if (holds == NULL)
        return OK;
    claim->holds_mark = holds->mark;
    return condition_read(&claim->holds, key_names[KEY_holds], holds, e);
}

static enum status read_claim(struct claims *c, const struct node *entry, struct error *e)
{
    struct claim *claim = &c->claims[c->n++];
    if (entry->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, entry->mark,
                          "expected a claim as a map, such as {id: report/name, ...}");
    TRY(check_keys(entry, e));
    const struct node *kind = node_find(entry, key_names[KEY_kind]);
    const struct node *values = node_find(entry, key_names[KEY_values]);
    claim->id = text_of(entry, KEY_id);
    claim->kind = kind->text;
    claim->place = text_of(entry, KEY_place);
    claim->says = text_of(entry, KEY_says);
    TRY(check_id(c, node_find(entry, key_names[KEY_id]), e));
    if (name_index(kind->text, kinds, sizeof kinds / sizeof *kinds) < 0)
        return refuse_name("kind: ", kind->text, kind->mark, kinds, sizeof kinds / sizeof *kinds,
                           e);
    if (values != NULL)
        TRY(read_values(claim, values, e));
    return read_condition(claim, entry, e);
}

/* ---- The file ---- */

static enum status check_runs(const struct node *runs, struct error *e)
{
    if (runs->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, runs->mark, "runs must be a map of names and commands");
    for (size_t i = 0; i < runs->n; i++)
        if (runs->items[i].kind != NODE_SCALAR || node_is_empty(&runs->items[i]))
            return mark_error(
                e, ERR_SPEC, runs->items[i].mark,
                "runs: %s: expected a command on one line, found an empty value, a list or a map",
                runs->items[i].key);
    return OK;
}

static enum status read_root(struct claims *c, struct error *e)
{
    static const char *const known[] = {"runs", "claims"};
    const struct node *list = node_find(&c->root, "claims"), *runs = node_find(&c->root, "runs");
    for (size_t i = 0; c->root.kind == NODE_MAP && i < c->root.n; i++)
        if (!key_is_own(c->root.items[i].key) && name_index(c->root.items[i].key, known, 2) < 0)
            return refuse_name("expected a file of claims, as results/claims.yaml; key ",
                               c->root.items[i].key, c->root.items[i].key_mark, known, 2, e);
    if (c->root.kind != NODE_MAP || list == NULL || list->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, c->root.mark,
                          "expected the key `claims` with a list of claims");
    if (runs != NULL)
        TRY(check_runs(runs, e));
    TRY(MEM_NEW(c->claims, list->n, "the claims", e));
    for (size_t i = 0; i < list->n; i++)
        TRY(read_claim(c, &list->items[i], e));
    return OK;
}

enum status claims_read(struct claims *c, const char *path, struct error *e)
{
    *c = (struct claims){.n = 0};
    TRY(path_format(c->path, e, "%s", path));
    const char *slash = strrchr(c->path, '/');
    if (slash != NULL)
        TRY(path_format(c->folder, e, "%.*s", (int)(slash - c->path), c->path));
    else
        TRY(path_format(c->folder, e, "."));
    if (!text_ends(path, ".yaml") && !text_ends(path, ".yml"))
        return error_set(e, ERR_ARGUMENT,
                         "claims: expected a YAML file of claims, such as results/claims.yaml, "
                         "found '%s'",
                         path);
    TRY(yaml_read_file(&c->root, c->path, e));
    return read_root(c, e);
}

void claims_free(struct claims *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct claim *claim = &c->claims[i];
        for (size_t k = 0; k < claim->n; k++) {
            free(claim->values[k].word);
            free(claim->values[k].rows);
            free(claim->values[k].found);
        }
        free(claim->values);
        free(claim->command);
        free(claim->need.used);
        condition_free(claim->holds);
    }
    free(c->claims);
    claim_tables_free(c);
    node_free(&c->root);
    *c = (struct claims){.n = 0};
}
