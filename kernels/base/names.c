#include "kernels/base/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/base/mem.h"

/* Longest name for which similar names are searched. Longer names are unlikely to be typing
 * errors. */
#define LENGTH_MAX 127
#define FAR        ((size_t)-1)

/* Costs of suggesting a known name; the cheapest name is suggested. EDIT: one mistyped letter.
 * ENDING, WORDS, FIRST_WORD: names that share words (words_distance). PATH_OF_TOP: surcharge for a
 * top-level key that is not valid here. PATH_OF_GROUP: surcharge for a key of another group. */
enum { EDIT = 4, ENDING = 3, WORDS = 7, FIRST_WORD = 13, PATH_OF_TOP = 4, PATH_OF_GROUP = 6 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance (Damerau 1964; Levenshtein 1966). rows[i % 3] holds the
 * distances between the first i letters of `a` and every prefix of `b`. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][LENGTH_MAX + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LENGTH_MAX || m > LENGTH_MAX)
        return FAR;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = smaller(above[j], row[j - 1]) + 1;
            row[j] = smaller(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

static const char between_words[] = "._";

static const char *next_word(const char *name)
{
    name += strcspn(name, between_words);
    return *name ? name + 1 : NULL;
}

/* Returns whether the first `length` letters of `name` are one or more consecutive words of
 * `known`, or are a prefix of `known` of at least 3 letters. */
static bool has_words(const char *known, const char *name, size_t length)
{
    for (const char *at = known; at != NULL; at = next_word(at))
        if (strncmp(at, name, length) == 0 &&
            (strcspn(at + length, between_words) == 0 || (at == known && length > 2)))
            return true;
    return false;
}

static bool has_each_word(const char *known, const char *name)
{
    for (const char *at = name; at != NULL; at = next_word(at))
        if (!has_words(known, at, strcspn(at, between_words)))
            return false;
    return true;
}

static bool has_word_near(const char *known, const char *name)
{
    char word[LENGTH_MAX + 1];
    for (const char *at = known; at != NULL; at = next_word(at)) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, between_words), at);
        if (edit_distance(name, word) == 1)
            return true;
    }
    return false;
}

static bool is_plural(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && name[length - 1] == 's';
}

/* Returns the distance between `name` and `known` by shared words. A part of `name` matches if it
 * is one or more whole words of `known`, or a prefix of `known` of at least 3 letters. FAR unless
 * one of three conditions holds: (1) `name` without a plural s matches, or each word of `name`
 * does, as in lenet and lenet_21k. (2) The first word of `name` matches and has at least 4 letters,
 * as in batch_size and global_batch. (3) `name` has at least 4 letters, not counting a plural s,
 * and is one edit away from a word of `known`. */
static size_t words_distance(const char *name, const char *known)
{
    size_t length = strlen(name) - is_plural(name), first = strcspn(name, "_");
    if (length > 1 && has_words(known, name, length))
        return strlen(known) <= length + 2 ? ENDING : WORDS;
    if (has_each_word(known, name))
        return WORDS + 1;
    if (length > 3 && has_word_near(known, name))
        return WORDS + EDIT;
    return first > 3 && has_words(known, name, first) ? FIRST_WORD : FAR;
}

/* Skips the groups that both paths begin with ("train." in train.lr), so that only the rest is
 * compared. */
static void skip_group(const char **name, const char **known)
{
    for (const char *a = *name, *b = *known; *a != '\0' && *a == *b; a++, b++)
        if (*a == '.') {
            *name = a + 1;
            *known = b + 1;
        }
}

/* Returns how many mistyped letters to accept: about one per three letters, plus one for a missing
 * plural s; at least one if the group ("train.") is correct. */
static size_t edits_allowed(const char *name, const char *known, bool in_group)
{
    size_t length = strlen(name);
    size_t edits = (length + 1) / 3 + (length > 3 && is_plural(known) && !is_plural(name));
    return edits == 0 && in_group ? 1 : edits;
}

/* Returns the distance between two names: 0 if they are equal, FAR if they are not similar. One
 * edit (a mistyped letter) adds EDIT. A difference in case alone counts as one edit. */
static size_t distance_of(const char *name, const char *known)
{
    const char *whole = name;
    skip_group(&name, &known);
    bool other_case = strcmp(name, known) != 0 && strcasecmp(name, known) == 0;
    size_t edits = other_case ? 1 : edit_distance(name, known);
    size_t by_edits = edits <= edits_allowed(name, known, name != whole) ? EDIT * edits : FAR;
    return edits == 0 ? 0 : smaller(by_edits, words_distance(name, known));
}

/* Returns the end of `path` that has as many dots as `name`. If `name` has one dot, the end of
 * "measure.time.steps" is "time.steps". NULL if `path` has no more dots than `name`. */
static const char *path_end(const char *path, const char *name)
{
    size_t dots = 1;
    for (const char *c = name; *c; c++)
        dots += *c == '.';
    for (const char *c = path + strlen(path); c > path; c--)
        if (c[-1] == '.' && --dots == 0)
            return c;
    return NULL;
}

/* Returns the cost of suggesting a name: its distance from the unknown name, plus a surcharge if
 * the name is valid only elsewhere in the file. */
static size_t cost_of(const struct name_nearest *near)
{
    bool of_top = strchr(near->names[0], '.') == NULL;
    return near->distance + (!near->elsewhere ? 0 : of_top ? PATH_OF_TOP : PATH_OF_GROUP);
}

static void consider(struct name_nearest *best, const struct name_nearest *other)
{
    if (other->distance == FAR)
        return;
    if (best->names[0] == NULL || cost_of(other) < cost_of(best))
        *best = *other;
    else if (cost_of(other) == cost_of(best) && other->elsewhere == best->elsewhere &&
             best->names[1] == NULL && strcmp(other->names[0], best->names[0]) != 0)
        best->names[1] = other->names[0];
}

struct name_nearest name_nearest(const char *name, const struct name_places *places)
{
    struct name_nearest best = {.distance = 0};
    /* If both lists are the same, whole names are compared in the first loop only. */
    bool own = places->elsewhere == places->here;
    for (size_t i = 0; i < places->n_here; i++) {
        const char *known = places->here[i];
        struct name_nearest other = {{known, NULL}, distance_of(name, known), false};
        consider(&best, &other);
    }
    for (size_t i = 0; i < places->n_elsewhere; i++) {
        const char *path = places->elsewhere[i], *end = path_end(path, name);
        size_t by_end = end != NULL ? distance_of(name, end) : FAR;
        size_t whole = own ? FAR : distance_of(name, path);
        consider(&best, &(struct name_nearest){{path, NULL}, smaller(by_end, whole), true});
    }
    return best;
}

/* Searches one list for the name nearest to `name`, comparing whole names and ends of paths. */
static struct name_nearest nearest_of(const char *name, const char *const *known, size_t n)
{
    return name_nearest(name, &(struct name_places){known, n, known, n, NULL});
}

static char *print_near(char text[NAME_NEAR_BYTES], const char *const names[2], const char *before)
{
    text[0] = '\0';
    if (names[0] != NULL)
        snprintf(text, NAME_NEAR_BYTES,
                 names[1] != NULL ? "; nearest '%s%s' or '%s%s'" : "; nearest '%s%s'", before,
                 names[0], before, names[1]);
    return text;
}

char *name_near(char text[NAME_NEAR_BYTES], const char *name, const char *const *known, size_t n)
{
    return print_near(text, nearest_of(name, known, n).names, "");
}

char *option_near(char text[NAME_NEAR_BYTES], const char *argument, const char *const *names,
                  size_t n)
{
    char name[LENGTH_MAX + 1];
    argument += strspn(argument, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    return print_near(text, nearest_of(name, names, n).names, "--");
}

int name_index(const char *name, const char *const *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, known[i]) == 0)
            return (int)i;
    return -1;
}

/* Appends the formatted value to `text`. If the result does not fit, `text` is unchanged and false
 * is returned. */
static bool append(char *text, size_t size, const char *format, const char *value)
{
    size_t used = strlen(text);
    bool fits =
        used < size && (size_t)snprintf(text + used, size - used, format, value) < size - used;
    if (!fits)
        text[used] = '\0';
    return fits;
}

bool name_is_word(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(words, name); at != NULL; at = strstr(at + 1, name))
        if ((at == words || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

char *name_explain(char *text, size_t size, const char *name, const char *const *known, size_t n)
{
    static const char more[] = " ...";
    if (size == 0)
        return text;
    text[0] = '\0';
    append(text, size, "'%s' is unknown", name);
    char near[NAME_NEAR_BYTES];
    append(text, size, "%s", name_near(near, name, known, n));
    append(text, size, "; known:%s", n == 0 ? " nothing" : "");
    size_t room = size > strlen(more) ? size - strlen(more) : 0, i = 0;
    while (i < n && append(text, i + 1 < n ? room : size, " %s", known[i]))
        i++;
    if (i < n)
        append(text, size, "%s", more);
    return text;
}

/* Writes a path and its group: "'train.lr', a key of 'train:'"; for a path without a dot: "'seed',
 * a top-level key". */
static void describe_path(char text[NAME_NEAR_BYTES], const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot != NULL)
        snprintf(text, NAME_NEAR_BYTES, "'%s', a key of '%.*s:'", path, (int)(dot - path), path);
    else
        snprintf(text, NAME_NEAR_BYTES, "'%s', a top-level key", path);
}

static void explain_elsewhere(char *text, size_t size, const char *name,
                              const struct name_nearest *near, const char *beside)
{
    char first[NAME_NEAR_BYTES], second[NAME_NEAR_BYTES] = "";
    describe_path(first, near->names[0]);
    if (near->names[1] != NULL)
        describe_path(second, near->names[1]);
    if (near->distance == 0 && strchr(near->names[0], '.') == NULL)
        snprintf(text, size, "'%s' is a top-level key; move it %s%s%s", name,
                 beside != NULL ? "beside '" : "to the top of the file",
                 beside != NULL ? beside : "", beside != NULL ? "'" : "");
    else
        snprintf(text, size, "'%s' is unknown here; nearest %s%s%s", name, first,
                 second[0] ? ", or " : "", second);
}

char *name_explain_place(char *text, size_t size, const char *name,
                         const struct name_places *places)
{
    struct name_nearest near = name_nearest(name, places);
    if (!near.elsewhere)
        return name_explain(text, size, name, places->here, places->n_here);
    explain_elsewhere(text, size, name, &near, places->beside);
    return text;
}

enum status option_name(const char *option, const char *text, const char *const *names, size_t n,
                        int *index, struct error *e)
{
    char why[1024];
    *index = name_index(text, names, n);
    if (*index >= 0)
        return OK;
    return error_set(e, ERR_ARGUMENT, "--%s: %s", option,
                     name_explain(why, sizeof why, text, names, n));
}

enum status option_row(const char *option, const char *text, const void *rows, size_t n,
                       size_t size, int *index, struct error *e)
{
    const char **names;
    TRY(MEM_NEW(names, n, "the names of a table", e));
    for (size_t i = 0; i < n; i++)
        names[i] = *(const char *const *)((const char *)rows + i * size);
    enum status status = option_name(option, text, names, n, index, e);
    free(names);
    return status;
}
