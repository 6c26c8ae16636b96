#include "kernels/base/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

/* Longer names are never called near: nobody mistypes those by a letter or two. */
#define LENGTH_MAX 127
#define FAR        ((size_t)-1)

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance (Damerau 1964; Levenshtein 1966): rows[i % 3] holds the
 * distances of the first i letters of `a` to every beginning of `b`. */
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

const char *name_nearest(const char *name, const char *const *known, size_t n)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 2 + 1;
    for (size_t i = 0; i < n; i++) {
        size_t distance = edit_distance(name, known[i]);
        if (distance < best) {
            best = distance;
            nearest = known[i];
        }
    }
    return nearest;
}

char *name_near(char text[NAME_NEAR_BYTES], const char *name, const char *const *known, size_t n)
{
    const char *nearest = name_nearest(name, known, n);
    text[0] = '\0';
    if (nearest != NULL)
        snprintf(text, NAME_NEAR_BYTES, "; nearest '%s'", nearest);
    return text;
}

int name_index(const char *name, const char *const *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, known[i]) == 0)
            return (int)i;
    return -1;
}

/* Appends to text, or leaves it as it was where that does not fit. */
static bool append(char *text, size_t size, const char *format, const char *value)
{
    size_t used = strlen(text);
    bool fits =
        used < size && (size_t)snprintf(text + used, size - used, format, value) < size - used;
    if (!fits)
        text[used] = '\0';
    return fits;
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
