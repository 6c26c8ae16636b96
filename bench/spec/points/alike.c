#include "bench/spec/points/alike.h"

#include <search.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"

/* Bytes of a key in the hash table: half of a SHA-256 in hexadecimal. Point identities, which also
 * serve as keys, are shorter. */
#define KEY_BYTES 33

struct alike {
    struct hsearch_data table; /* maps a key to its element of `kinds` */
    bool by_identity, by_case;
    /* chosen options that differ between points; their values form the key of a point's group */
    enum option_id options[OPTION_COUNT];
    size_t n_options, n_kinds;
    struct kind {
        char key[KEY_BYTES];
        size_t number;
    } kinds[]; /* groups of points; the hash table uses their keys */
};

/* Returns whether `differs` compares an option's value at this point. Returns false if the option
 * does not apply to the point's site (config_concerns). Also returns false for calibration points,
 * since their values follow from the points that replay their times. */
static bool counts(const struct spec *spec, size_t point, enum option_id id)
{
    const struct config *config = &spec->points[point].config;
    return !config_calibrates(config) && config_concerns(config, id);
}

/* Returns whether an option differs between points. Ignores points at which the option is not
 * compared (`counts`). `requested_only`: also ignores points that the spec does not request. `of`:
 * compares only points of this case; NULL: all points. */
static bool differs(const struct spec *spec, const struct matrix *of, bool requested_only,
                    enum option_id id)
{
    const struct value *first = NULL;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct point *point = &spec->points[i];
        if ((requested_only && !point->requested) || (of != NULL && point->of != of) ||
            !counts(spec, i, id))
            continue;
        if (first != NULL && !value_equal(first, &point->config.values[id]))
            return true;
        first = &point->config.values[id];
    }
    return false;
}

bool option_differs(const struct spec *spec, enum option_id id, bool requested_only)
{
    return differs(spec, NULL, requested_only, id);
}

bool option_differs_in(const struct spec *spec, const struct matrix *of, enum option_id id)
{
    return differs(spec, of, false, id);
}

void alike_by_case(struct alike *alike)
{
    alike->by_case = true;
}

enum status alike_make(struct alike **alike, const struct spec *spec,
                       bool (*chosen)(const struct spec_option *option), size_t most,
                       struct error *e)
{
    struct alike *a = calloc(1, sizeof *a + (most + 1) * sizeof *a->kinds);
    *alike = NULL;
    if (a == NULL || !hcreate_r(2 * most + 1, &a->table)) {
        free(a);
        return error_no_memory(e, "points");
    }
    a->by_identity = chosen == NULL;
    for (size_t i = 0; chosen != NULL && i < OPTION_COUNT; i++)
        if (chosen(option_get((enum option_id)i)) && !option_is_derived((enum option_id)i) &&
            option_differs(spec, (enum option_id)i, false))
            a->options[a->n_options++] = (enum option_id)i;
    *alike = a;
    return OK;
}

void alike_free(struct alike *alike)
{
    if (alike != NULL)
        hdestroy_r(&alike->table);
    free(alike);
}

static void add_text(SHA2_CTX *context, const char *text)
{
    SHA256Update(context, (const uint8_t *)text, strlen(text) + 1);
}

/* Writes the key of the point's group: a hash of the compared values. Each value is hashed with its
 * terminating NUL, which separates it from the next value. */
static void make_key(char key[KEY_BYTES], const struct alike *alike, const struct point *point)
{
    SHA2_CTX context;
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA256Init(&context);
    for (size_t i = 0; i < alike->n_options; i++)
        add_text(&context, point->config.values[alike->options[i]].text);
    add_text(&context, alike->by_case ? point->case_name : "");
    add_text(&context, alike->by_identity ? point->id : "");
    SHA256End(&context, digest);
    snprintf(key, KEY_BYTES, "%.*s", KEY_BYTES - 1, digest);
}

size_t *alike_of(struct alike *alike, const struct point *point)
{
    struct kind *next = &alike->kinds[alike->n_kinds];
    ENTRY *entry;
    if (alike->by_identity && !alike->by_case)
        snprintf(next->key, sizeof next->key, "%s", point->id);
    else
        make_key(next->key, alike, point);
    /* ENTER cannot fail: the table has room for twice the points. */
    hsearch_r((ENTRY){.key = next->key, .data = next}, ENTER, &entry, &alike->table);
    struct kind *kind = entry->data;
    if (kind == next) {
        kind->number = ALIKE_NONE;
        alike->n_kinds++;
    }
    return &kind->number;
}

void alike_note_first(struct alike *alike, const struct point *point, size_t i)
{
    size_t *first = alike_of(alike, point);
    if (*first == ALIKE_NONE)
        *first = i;
}

size_t alike_find(const struct alike *alike, const char *id)
{
    ENTRY *entry;
    struct hsearch_data table = alike->table;
    if (!hsearch_r((ENTRY){.key = (char *)id}, FIND, &entry, &table))
        return ALIKE_NONE;
    return ((const struct kind *)entry->data)->number;
}
