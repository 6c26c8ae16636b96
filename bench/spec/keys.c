#include "bench/spec/keys.h"

#include <stdio.h>
#include <string.h>

#include "bench/spec/foreign.h"
#include "kernels/base/names.h"

#define PATH_BYTES 256

/* Words that may stand beside options and are none. */
enum beside { NOTHING_BESIDE, BESIDE_AT_TOP, BESIDE_IN_CASE };

static const struct spec_part parts[] = {
#define PART(name, kind, at_top, in_case, help) {#name, PART_##kind, at_top, in_case, help},
#include "bench/spec/parts.def"
};
#define N_PARTS   (sizeof parts / sizeof *parts)
#define WORDS_MAX (OPTION_ROWS + N_PARTS)

const struct spec_part *spec_parts(size_t *n)
{
    *n = N_PARTS;
    return parts;
}

static bool is_beside(enum beside beside, const struct spec_part *part)
{
    return (beside == BESIDE_AT_TOP && part->at_top) || (beside == BESIDE_IN_CASE && part->in_case);
}

static bool is_part(enum beside beside, const char *key)
{
    for (size_t i = 0; i < N_PARTS; i++)
        if (is_beside(beside, &parts[i]) && strcmp(parts[i].name, key) == 0)
            return true;
    return false;
}

struct walk {
    struct own_options *own;
    keys_visitor *visit;
    void *arg;
    enum beside beside;
};

/* Whether options lie below `path` ("train"), its first `length` characters. */
static bool is_group(const char *path, size_t length)
{
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        const char *key = option_get((enum option_id)i)->key;
        if (strncmp(key, path, length) == 0 && key[length] == '.')
            return true;
    }
    return false;
}

/* Words that may follow the first `length` characters of `path` (0: that may begin a key), cut out
 * of the option table; returns how many. */
static size_t known_words(const char *path, size_t length, enum beside beside,
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

/* The option whose key ends with ".word": what somebody meant who forgot the group. */
static const struct spec_option *find_by_tail(const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        size_t key_length = strlen(option->key);
        if (key_length > length && option->key[key_length - length - 1] == '.' &&
            strcmp(option->key + key_length - length, word) == 0)
            return option;
    }
    return NULL;
}

/* Length of the part of `path`, up to a dot, that is a group; 0 if there is none. */
static size_t group_length(const char *path)
{
    size_t length = 0;
    for (size_t end = strcspn(path, "."); path[end] == '.' && is_group(path, end);
         end += 1 + strcspn(path + end + 1, "."))
        length = end;
    return length;
}

/* Names the first word of `path` that leads nowhere, and what could stand in its place. */
static enum status unknown_key(const char *path, const struct node *entry, enum beside beside,
                               struct error *e)
{
    size_t length = group_length(path);
    const char *rest = path + length + (length > 0);
    char word[PATH_BYTES], head[PATH_BYTES];
    snprintf(word, sizeof word, "%s", rest);
    word[strcspn(word, ".")] = '\0';
    snprintf(head, sizeof head, "%s", path);
    head[length + (length > 0) + strlen(word)] = '\0';
    if (option_find(head) != NULL && !is_group(head, strlen(head)))
        return mark_error(e, ERR_SPEC, entry->key_mark, "%s takes one value; '%s' is below it",
                          head, path);
    const struct spec_option *meant = find_by_tail(rest);
    if (meant != NULL)
        return mark_error(e, ERR_SPEC, entry->key_mark, "'%s' is unknown here; nearest '%s'", path,
                          meant->key);
    char words[WORDS_MAX][40], text[900];
    const char *known[WORDS_MAX];
    size_t n = known_words(path, length, beside, words, known);
    name_explain(text, sizeof text, word, known, n);
    return mark_error(e, ERR_SPEC, entry->key_mark, "%.*s%s%s", (int)length, path,
                      length > 0 ? ": " : "", text);
}

static enum status not_a_group(const char *path, const struct node *entry, struct error *e)
{
    char words[WORDS_MAX][40], text[700] = "";
    const char *known[WORDS_MAX];
    if (strcmp(path, own_options_group) == 0)
        return mark_error(e, ERR_SPEC, entry->mark,
                          "%s takes a map of the program's own options, as {size: 1000}", path);
    size_t n = known_words(path, strlen(path), NOTHING_BESIDE, words, known);
    for (size_t i = 0, used = 0; i < n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", known[i]);
    return mark_error(e, ERR_SPEC, entry->mark,
                      "%s is a group of options, not one value; it has:%s", path, text);
}

static enum status walk_map(const struct walk *walk, const struct node *map, const char *prefix,
                            struct error *e);

/* A map in place of a name: the entry that goes by one of the names chooses it, as
 * workload: {command: [./pi]} chooses workload: command, or its entry `kind` says it, as in
 * site: {kind: emulated, hosts: 4}. In a matrix, where it holds lists, none does. */
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
            TRY(walk->visit(walk->arg, option, &chosen, e));
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
        return walk->visit(walk->arg, option, entry, e);
    }
    if (option == NULL && above != NULL && strcmp(entry->key, "kind") == 0)
        return walk->visit(walk->arg, above, entry, e);
    if (option != NULL && entry->kind == NODE_MAP && is_group(path, strlen(path)))
        return walk_choice(walk, option, entry, e);
    if (option != NULL)
        return walk->visit(walk->arg, option, entry, e);
    if (!is_group(path, strlen(path)))
        return unknown_key(path, entry, walk->beside, e);
    if (entry->kind != NODE_MAP)
        return not_a_group(path, entry, e);
    return walk_map(walk, entry, path, e);
}

static enum status walk_map(const struct walk *walk, const struct node *map, const char *prefix,
                            struct error *e)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct node *entry = &map->items[i];
        if (prefix[0] == '\0' && is_part(walk->beside, entry->key))
            continue;
        TRY(walk_entry(walk, entry, prefix, e));
    }
    return OK;
}

enum status keys_walk(const struct node *map, struct own_options *own, keys_visitor *visit,
                      void *arg, struct error *e)
{
    return walk_map(&(struct walk){own, visit, arg, NOTHING_BESIDE}, map, "", e);
}

enum status keys_walk_top(const struct node *map, struct own_options *own, keys_visitor *visit,
                          void *arg, struct error *e)
{
    return walk_map(&(struct walk){own, visit, arg, BESIDE_AT_TOP}, map, "", e);
}

enum status keys_walk_case(const struct node *map, struct own_options *own, keys_visitor *visit,
                           void *arg, struct error *e)
{
    return walk_map(&(struct walk){own, visit, arg, BESIDE_IN_CASE}, map, "", e);
}
