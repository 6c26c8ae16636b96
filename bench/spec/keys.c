#include "bench/spec/keys.h"

#include <stdio.h>
#include <string.h>

#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "kernels/base/names.h"

#define PATH_BYTES 256

static const struct spec_part parts[] = {
#define PART(name, kind, at_top, in_case, help) {#name, PART_##kind, at_top, in_case, help},
#include "bench/spec/parts.def"
};
#define N_PARTS   (sizeof parts / sizeof *parts)
#define WORDS_MAX (OPTION_ROWS + N_PARTS)
#define PATHS_MAX (OPTION_ROWS + WORDS_MAX + 1)

/* Keys of a spec that are not options, such as "matrix" and "cases.label". */
static const char *const part_paths[] = {
#define PART(name, kind, at_top, in_case, help) at_top ? #name : "cases." #name,
#include "bench/spec/parts.def"
};

const struct spec_part *spec_parts(size_t *n)
{
    *n = N_PARTS;
    return parts;
}

static bool is_beside(enum keys_beside beside, const struct spec_part *part)
{
    return (beside == BESIDE_AT_TOP && part->at_top) || (beside == BESIDE_IN_CASE && part->in_case);
}

static bool is_part(enum keys_beside beside, const char *key)
{
    for (size_t i = 0; i < N_PARTS; i++)
        if (is_beside(beside, &parts[i]) && strcmp(parts[i].name, key) == 0)
            return true;
    return false;
}

struct walk {
    const struct node *map;
    struct own_options *own;
    keys_visitor *visit;
    void *arg;
    enum keys_beside beside;
};

/* Lists in `known` the words that can follow a group (first `length` characters of `path`) in a
 * key. If `length` is 0, lists the words that can begin a key. Returns their number. */
static size_t known_words(const char *path, size_t length, enum keys_beside beside,
                          char words[WORDS_MAX][40], const char *known[WORDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        const char *key = option_get((enum option_id)i)->key;
        if (length > 0 && (strncmp(key, path, length) != 0 || key[length] != '.'))
            continue;
        const char *word = key + length + (length > 0);
        snprintf(words[n], sizeof words[n], "%.*s", (int)strcspn(word, "."), word);
        if (name_index(words[n], known, n) < 0) {
            known[n] = words[n];
            n++;
        }
    }
    for (size_t i = 0; length == 0 && i < N_PARTS; i++)
        if (is_beside(beside, &parts[i]))
            known[n++] = parts[i].name;
    return n;
}

/* Lists the groups of options inside another group, such as "measure.time", except groups that are
 * options themselves. Returns the number of listed groups. */
static size_t deep_groups(char groups[OPTION_ROWS][40], const char *paths[OPTION_ROWS])
{
    size_t n = 0;
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        const char *key = option_get((enum option_id)i)->key, *last = strrchr(key, '.');
        snprintf(groups[n], sizeof groups[n], "%.*s", last != NULL ? (int)(last - key) : 0, key);
        if (strchr(groups[n], '.') != NULL && option_find(groups[n]) == NULL &&
            name_index(groups[n], paths, n) < 0) {
            paths[n] = groups[n];
            n++;
        }
    }
    return n;
}

/* Lists in `paths` the groups inside groups ("measure.time") and all keys of a spec ("ranks",
 * "cases.label"). Returns the number of paths. */
static size_t all_paths(char groups[OPTION_ROWS][40], const char *paths[PATHS_MAX])
{
    size_t n = deep_groups(groups, paths);
    for (size_t i = 0; i < OPTION_ROWS; i++)
        paths[n++] = option_get((enum option_id)i)->key;
    for (size_t i = 0; i < N_PARTS; i++)
        paths[n++] = part_paths[i];
    return n;
}

/* Moves the keys below `group` whose last word is `word` to the front of `paths`. Returns the
 * number of moved keys; `n` if no key is moved. */
static size_t prefer_below(const char **paths, size_t n, const char *group, const char *word)
{
    size_t kept = 0, length = strlen(group);
    for (size_t i = 0; i < n && length > 0; i++) {
        const char *path = paths[i], *end = strrchr(path, '.');
        if (strncmp(path, group, length) == 0 && path[length] == '.' &&
            strcmp(end + 1, word) == 0) {
            paths[i] = paths[kept];
            paths[kept++] = path;
        }
    }
    return kept > 0 ? kept : n;
}

/* Returns the length of the longest group name that `path` begins with; 0 if there is none. */
static size_t group_length(const char *path)
{
    size_t length = 0;
    for (size_t end = strcspn(path, "."); path[end] == '.' && option_is_group(path, end);
         end += 1 + strcspn(path + end + 1, "."))
        length = end;
    return length;
}

/* Returns KEY for the message "move it beside 'KEY'" about the misplaced key `word`. A top-level
 * key that is no option (zip, x-notes), found in a map below the top, belongs beside this map: KEY
 * is the map's key, such as matrix. Otherwise KEY is `group`. NULL if the map has no key or `group`
 * is "": the message then says "to the top of the file". */
static const char *key_beside(const struct walk *walk, const char *group, const char *word)
{
    bool top = is_part(BESIDE_AT_TOP, word) || key_is_own(word);
    if (walk->beside != BESIDE_AT_TOP && top)
        return walk->map->key;
    return group[0] ? group : NULL;
}

/* Explains an unknown key below `group` ("" at the top). `rest` begins with the unknown word. */
static enum status explain_key(const struct walk *walk, const char *group, const char *rest,
                               const struct node *entry, struct error *e)
{
    char words[WORDS_MAX][40], groups[OPTION_ROWS][40], text[900], word[PATH_BYTES],
        top[PATH_BYTES];
    const char *known[WORDS_MAX], *paths[PATHS_MAX];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(rest, "."), rest);
    snprintf(top, sizeof top, "%.*s", (int)strcspn(group, "."), group);
    struct name_places places = {.elsewhere = paths, .n_elsewhere = all_paths(groups, paths)};
    struct name_nearest whole = name_nearest(rest, &places);
    places.n_elsewhere = prefer_below(paths, places.n_elsewhere, group, word);
    if (key_is_own(word))
        paths[places.n_elsewhere++] = word;
    places.here = known;
    places.n_here = known_words(group, strlen(group), walk->beside, words, known);
    places.beside = key_beside(walk, top, word);
    bool found = whole.names[0] != NULL && whole.distance == 0;
    return mark_error(e, ERR_SPEC, entry->key_mark, "%s%s%s", group, group[0] ? ": " : "",
                      name_explain_place(text, sizeof text, found ? rest : word, &places));
}

/* Returns the option to suggest for the unknown key `path`: the option that other tools call by the
 * key's last word, such as batch_size. NULL: none. */
static const struct spec_option *find_synonym(const char *path)
{
    static const struct {
        const char *word;
        enum option_id id;
    } rows[] = {
#define SYNONYM(word, option) {#word, OPT_##option},
#include "bench/spec/values/synonyms.def"
    };
    const char *dot = strrchr(path, '.'), *word = dot != NULL ? dot + 1 : path;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0)
            return option_get(rows[i].id);
    return NULL;
}

/* Rejects a key such as "site.kind". The kind is written as the value of `site`. */
static enum status refuse_kind(const struct spec_option *owner, const struct node *entry,
                               struct error *e)
{
    const char *between = mark_from_set(entry->key_mark) ? "=" : ": ";
    return mark_error(e, ERR_SPEC, entry->key_mark, "'%s.kind' is unknown. Use %s%s%s", owner->key,
                      owner->key, between, entry->kind == NODE_SCALAR ? entry->text : "KIND");
}

/* Returns the option before ".kind" in a key such as "site.kind"; NULL if there is none. */
static const struct spec_option *find_owner(const char *path)
{
    char owner[PATH_BYTES];
    const char *dot = strrchr(path, '.');
    if (dot == NULL || strcmp(dot, ".kind") != 0)
        return NULL;
    snprintf(owner, sizeof owner, "%.*s", (int)(dot - path), path);
    return option_find(owner);
}

/* Returns ERR_SPEC for an unknown key. `path`: full name of the key, such as "train.lrr". The
 * message usually suggests a known key. */
static enum status unknown_key(const struct walk *walk, const char *path, const struct node *entry,
                               struct error *e)
{
    size_t length = group_length(path);
    const char *rest = path + length + (length > 0);
    const struct spec_option *synonym = find_synonym(path), *owner = find_owner(path);
    char group[PATH_BYTES], head[PATH_BYTES];
    if (synonym != NULL)
        return mark_error(e, ERR_SPEC, entry->key_mark, "'%s' is unknown; use %s", path,
                          synonym->key);
    if (owner != NULL)
        return refuse_kind(owner, entry, e);
    snprintf(group, sizeof group, "%.*s", (int)length, path);
    snprintf(head, sizeof head, "%.*s", (int)(rest - path + (long)strcspn(rest, ".")), path);
    if (option_find(head) != NULL && !option_is_group(head, strlen(head)))
        return mark_error(e, ERR_SPEC, entry->key_mark,
                          "%s is not a group of options, so the key '%s' is unknown%s", head, path,
                          option_find(head)->type == TYPE_FIGURES
                              ? ". Give the whole list, such as figures=[{kind: time, where: ranks "
                                "= 2}]"
                              : "");
    return explain_key(walk, group, rest, entry, e);
}

static enum status not_a_group(const char *path, const struct node *entry, struct error *e)
{
    char words[WORDS_MAX][40], text[700] = "";
    const char *known[WORDS_MAX];
    if (strcmp(path, own_options_group) == 0)
        return mark_error(e, ERR_SPEC, entry->mark,
                          "%s: expected a map of the program's own options, such as {size: 1000}",
                          path);
    size_t n = known_words(path, strlen(path), NOTHING_BESIDE, words, known);
    for (size_t i = 0, used = 0; i < n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", known[i]);
    return mark_error(e, ERR_SPEC, entry->mark,
                      "%s is a group of options, not one value; options of the group:%s", path,
                      text);
}

static enum status walk_map(const struct walk *walk, const struct node *map, const char *prefix,
                            struct error *e);

/* Visits an option given as a map, and the options inside the map. The option's value is the map's
 * `kind`, or a key that is a possible value of the option, as in workload: {command: [./pi]}. Such
 * a key must have a non-empty list of scalars; with a list of lists it is an axis of a matrix. */
static enum status walk_choice(const struct walk *walk, const struct spec_option *option,
                               const struct node *map, struct error *e)
{
    for (size_t i = 0; i < map->n && option->names != NULL; i++) {
        const struct node *entry = &map->items[i];
        struct node chosen = {.kind = NODE_SCALAR,
                              .mark = entry->key_mark,
                              .key = map->key,
                              .key_mark = map->key_mark,
                              .text = entry->key};
        bool lists =
            entry->kind != NODE_LIST || entry->n == 0 || entry->items[0].kind != NODE_SCALAR;
        if (!lists && name_index(entry->key, option->names->names, option->names->n) >= 0)
            TRY(walk->visit(walk->arg, &(struct given){option, &chosen}, e));
    }
    return walk_map(walk, map, option->key, e);
}

static enum status walk_entry(const struct walk *walk, const struct node *entry, const char *prefix,
                              struct error *e)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s%s%s", prefix, prefix[0] ? "." : "", entry->key);
    const struct spec_option *option = option_find(path), *above = option_find(prefix);
    if (own_option_is_below(path)) {
        TRY(own_option_name(&option, walk->own, path, entry, e));
        return walk->visit(walk->arg, &(struct given){option, entry}, e);
    }
    if (option == NULL && above != NULL && strcmp(entry->key, "kind") == 0)
        return walk->visit(walk->arg, &(struct given){above, entry}, e);
    if (option != NULL && entry->kind == NODE_MAP && option_is_group(path, strlen(path)))
        return walk_choice(walk, option, entry, e);
    if (option != NULL)
        return walk->visit(walk->arg, &(struct given){option, entry}, e);
    if (!option_is_group(path, strlen(path)))
        return unknown_key(walk, path, entry, e);
    if (entry->kind != NODE_MAP)
        return not_a_group(path, entry, e);
    return walk_map(walk, entry, path, e);
}

static enum status walk_map(const struct walk *walk, const struct node *map, const char *prefix,
                            struct error *e)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct node *entry = &map->items[i];
        bool own = walk->beside == BESIDE_AT_TOP && key_is_own(entry->key);
        if (prefix[0] == '\0' && (own || is_part(walk->beside, entry->key)))
            continue;
        TRY(walk_entry(walk, entry, prefix, e));
    }
    return OK;
}

enum status keys_walk(const struct node *map, enum keys_beside beside, struct own_options *own,
                      keys_visitor *visit, void *arg, struct error *e)
{
    return walk_map(&(struct walk){map, own, visit, arg, beside}, map, "", e);
}
