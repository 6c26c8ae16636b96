#include "bench/runner/facts.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGEST_DIGITS 64
#define SHORT_DIGITS  12

static const struct {
    const char *kind, *text, *back;
} kinds[] = {
#define FACT(kind, text, back) {#kind, text, back},
#include "bench/runner/facts.def"
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

enum status facts_digest(char hex[65], const json_t *facts, struct error *e)
{
    char *text = json_dumps(facts, JSON_COMPACT | JSON_SORT_KEYS);
    if (text == NULL)
        return error_no_memory(e, "the facts of a run");
    SHA256Data((const uint8_t *)text, strlen(text), hex);
    free(text);
    return OK;
}

static bool is_other(const json_t *was, const char *name, const json_t *is)
{
    const json_t *before = json_object_get(was, name);
    return before != NULL && !json_equal(before, is);
}

const char *facts_differ(const json_t *was, const json_t *is, const char *last)
{
    json_t *all = (json_t *)is; /* jansson has no iterator over const objects */
    void *at = last != NULL ? json_object_iter_next(all, json_object_iter_at(all, last))
                            : json_object_iter(all);
    for (; at != NULL; at = json_object_iter_next(all, at))
        if (is_other(was, json_object_iter_key(at), json_object_iter_value(at)))
            return json_object_iter_key(at);
    return NULL;
}

size_t fact_kind(const char *name, const char **of)
{
    size_t length = strcspn(name, ":"), i = 0;
    while (i < N_KINDS &&
           (strncmp(kinds[i].kind, name, length) != 0 || kinds[i].kind[length] != '\0'))
        i++;
    *of = name[length] == ':' ? name + length + 1 : name + length;
    return i;
}

void fact_explain(char *text, size_t size, const char *name)
{
    const char *of;
    size_t kind = fact_kind(name, &of);
    const char *format = kind < N_KINDS ? kinds[kind].text : name, *at = strstr(format, "%s");
    if (at == NULL)
        snprintf(text, size, "%s", format);
    else
        snprintf(text, size, "%.*s%s%s", (int)(at - format), format, of, at + 2);
}

const char *fact_way_back(const char *name)
{
    const char *of;
    size_t kind = fact_kind(name, &of);
    return kind < N_KINDS ? kinds[kind].back : "with the earlier one";
}

void fact_shorten(char *text, size_t size, const char *value)
{
    bool digest =
        strlen(value) == DIGEST_DIGITS && strspn(value, "0123456789abcdef") == DIGEST_DIGITS;
    if (digest)
        snprintf(text, size, "SHA-256 %.*s", SHORT_DIGITS, value);
    else
        snprintf(text, size, "'%s'", value);
}
