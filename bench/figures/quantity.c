#include "bench/figures/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

static const struct quantity quantities[] = {
#define POINT_QUANTITY(name, title, most, column, unit, whole, lo, hi, relation)                   \
    {#name,           title, NULL,           most,        SOURCE_POINTS, NULL,                     \
     COLUMN_##column, unit,  COLUMN_##whole, COLUMN_##lo, COLUMN_##hi,   RELATION_##relation,      \
     {NULL},          0,     false},
#define RAW_QUANTITY(relation, complete, name, title, most, source, raw, column)                   \
    {#name, title, NULL, most,     SOURCE_##source, #raw, COLUMN_##column, 1,                      \
     0,     0,     0,    relation, {NULL},          0,    complete},
#define QUANTITY(...)          RAW_QUANTITY(RELATION_NONE, false, __VA_ARGS__)
#define CALLS_QUANTITY(...)    RAW_QUANTITY(RELATION_CALLS, false, __VA_ARGS__)
#define COMPLETE_QUANTITY(...) RAW_QUANTITY(RELATION_NONE, true, __VA_ARGS__)
#include "bench/spec/quantities.def"
#undef RAW_QUANTITY
};

enum { QUANTITIES = sizeof quantities / sizeof *quantities };

const struct quantity *quantity_find(const char *name)
{
    for (size_t i = 0; i < QUANTITIES; i++)
        if (strcmp(quantities[i].name, name) == 0)
            return &quantities[i];
    return NULL;
}

/* ---- Columns ---- */

#define RAW "raw.csv"

/* Returns whether a word of a column's name spells the unit (as "pct" spells "%") or equals the
 * unit except for case. Titles can leave such a word out. */
static bool says_unit(const char *word, const char *unit)
{
    static const struct {
        const char *word, *unit;
    } spelled[] = {{"pct", "%"}, {"seconds", "s"}};
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
        if (strcmp(word, spelled[i].word) == 0 && strcmp(unit, spelled[i].unit) == 0)
            return true;
    return strcasecmp(word, unit) == 0;
}

/* Returns where `unit` begins at the end of a column's name: "_ms" of wait_ms, "_mb_per_s" of
 * received_mb_per_s; NULL if the name does not end in the unit. */
static const char *find_unit(const char *name, const char *unit)
{
    char rate[64];
    const char *last = strrchr(name, '_'), *stroke = strchr(unit, '/');
    if (stroke == NULL)
        return !says_unit(last != NULL ? last + 1 : name, unit) ? NULL : last != NULL ? last : name;
    snprintf(rate, sizeof rate, "_%.*s_per_%s", (int)(stroke - unit), unit, stroke + 1);
    size_t length = strlen(name), own = strlen(rate);
    bool is_rate = length > own && strcasecmp(name + length - own, rate) == 0;
    return is_rate ? name + length - own : NULL;
}

/* Returns whether a name contains a word: "ranks" in ranks_per_node. */
static bool has_word(const char *name, const char *word)
{
    for (size_t n; *name; name += n + (name[n] == '_')) {
        n = strcspn(name, "_");
        if (n == strlen(word) && strncmp(name, word, n) == 0)
            return true;
    }
    return false;
}

/* Writes a title such as "wait (ms)" for wait_ms or "ranks per node" for ranks_per_node. If the
 * name only spells the unit ("seconds" for s), the title is the beginning of `meaning` and the
 * unit. If the unit begins with the name ("bytes"), the title is the unit alone. */
static void title_of(char title[QUANTITY_TITLE], const char *name, const char *unit,
                     const char *meaning)
{
    const char *suffix = find_unit(name, unit), *stem = name;
    size_t length = strlen(name), letters = length;
    length -= length > 1 && name[length - 1] == 's';
    bool named = strncmp(unit, name, length) == 0;
    if (suffix != NULL && suffix > name)
        letters = (size_t)(suffix - name);
    else if (suffix != NULL)
        letters = strcspn(stem = meaning, ",;(");
    while (letters > 0 && stem[letters - 1] == ' ')
        letters--;
    bool bare = unit[0] == '\0' || (suffix == NULL && has_word(name, unit));
    if (named)
        snprintf(title, QUANTITY_TITLE, "%s", unit);
    else
        snprintf(title, QUANTITY_TITLE, "%.*s%s%s%s", (int)letters, stem, bare ? "" : " (",
                 bare ? "" : unit, bare ? "" : ")");
    if (stem == meaning && islower((unsigned char)title[1]))
        title[0] = (char)tolower((unsigned char)title[0]);
    for (char *c = title; *c; c++)
        *c = *c == '_' ? ' ' : *c;
}

/* Returns the axis title of an option from axes.def, or NULL. */
static const char *axis_title(enum option_id id)
{
    static const struct {
        enum option_id id;
        const char *title;
    } axes[] = {
#define AXIS(option, title) {OPT_##option, title},
#include "bench/spec/figures/axes.def"
    };
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (axes[i].id == id)
            return axes[i].title;
    return NULL;
}

void quantity_column_title(char title[QUANTITY_TITLE], const struct column *column)
{
    const struct quantity *known = quantity_find(column->name);
    const char *words = known != NULL ? known->title : axis_title(column_option(column->name));
    if (words != NULL)
        snprintf(title, QUANTITY_TITLE, "%s", words);
    else
        title_of(title, column->name, column->unit, column->meaning);
}

void quantity_option_title(char title[QUANTITY_TITLE], const struct spec_option *option)
{
    const char *name = key_end(option->key), *words = axis_title(option->id);
    title_of(title, name, option->unit, option->help);
    if (option->id >= OPT_OWN)
        words = name;
    if (words != NULL)
        snprintf(title, QUANTITY_TITLE, "%s", words);
}

/* Returns the column with a bound ("lo" or "hi") of column `name`: speedup_lo for speedup,
 * step_ms_lo for step_ms_median, test_acc_lo for test_acc_pct. COLUMNS: none. Endings other than
 * _median and _pct are kept, so speedup_pairs has no bound. */
static enum column_id bound_of(const char *name, const char *bound)
{
    static const char *const tails[] = {"", "_median", "_pct"};
    char text[96];
    enum column_id id = COLUMNS;
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof tails / sizeof *tails && id == COLUMNS; i++) {
        if (!text_ends(name, tails[i]))
            continue;
        snprintf(text, sizeof text, "%.*s_%s", (int)(length - strlen(tails[i])), name, bound);
        id = column_find(text);
    }
    return id;
}

/* Infers from a file's columns whether its rows are timed launches, accuracy runs or points. */
static enum quantity_source source_of(const char *file)
{
    if (column_of_file(file, "block") != NULL)
        return SOURCE_TIMED;
    return column_of_file(file, "seed") != NULL ? SOURCE_RUNS : SOURCE_POINTS;
}

bool quantity_of_column(struct quantity *q, char title[QUANTITY_TITLE], const char *name,
                        const char *file, const char *x)
{
    size_t n = columns_all.n, i = 0;
    const struct column *columns = columns_all.columns;
    while (i < n && (strcmp(columns[i].name, name) != 0 || columns[i].type == CSV_TEXT ||
                     (file != NULL && strcmp(columns[i].file, file) != 0) ||
                     (x != NULL && column_of_file(columns[i].file, x) == NULL)))
        i++;
    if (i == n)
        return false;
    quantity_column_title(title, &columns[i]);
    *q = (struct quantity){.name = columns[i].name,
                           .title = title,
                           .most = strcmp(columns[i].unit, "%") == 0 ? 100 : INFINITY,
                           .column = column_find(name),
                           .unit = 1,
                           .whole = column_find(name),
                           .lo = bound_of(name, "lo"),
                           .hi = bound_of(name, "hi")};
    const struct quantity *known = quantity_find(name);
    if (known != NULL && known->relation == RELATION_CALLS)
        q->relation = RELATION_CALLS;
    /* A column of summary.csv without an interval is read from raw.csv if raw.csv has it and
     * neither `file` nor `x` is given. The values per launch give an interval. */
    bool summary = strcmp(columns[i].file, column_get((enum column_id)0)->file) == 0;
    if (summary &&
        (file != NULL || x != NULL || q->lo != COLUMNS || column_of_file(RAW, name) == NULL))
        return true;
    q->file = summary ? RAW : columns[i].file;
    q->raw = columns[i].name;
    q->source = source_of(q->file);
    return true;
}

/* ---- Sums of columns ---- */

bool quantity_is(const struct quantity *quantity, const char *text)
{
    const char *name = quantity->name;
    for (; *text; text++)
        if (*text != ' ' && *text != *name++)
            return false;
    return *name == '\0';
}

/* Appends the title of a sum's next term: "forward (ms)" and "backward (ms)" make "forward +
 * backward (ms)". Returns false if the units differ. */
static bool add_title(char title[QUANTITY_TITLE], const char *term)
{
    const char *unit = strstr(title, " ("), *own = strstr(term, " (");
    if (strcmp(unit != NULL ? unit : "", own != NULL ? own : "") != 0)
        return false;
    size_t used = unit != NULL ? (size_t)(unit - title) : strlen(title);
    snprintf(title + used, QUANTITY_TITLE - used, " + %s", term);
    return true;
}

/* Copies the next term of the sum at *rest to `term`, without surrounding blanks, and advances
 * *rest. Returns false at the end of the sum. */
static bool next_term(char term[QUANTITY_TITLE], const char **rest)
{
    if (*rest == NULL)
        return false;
    size_t length = strcspn(*rest, "+");
    snprintf(term, QUANTITY_TITLE, "%.*s", (int)length, *rest);
    text_trim(term);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return true;
}

/* Returns whether the column is already a term of the sum. */
static bool has_term(const struct quantity *q, const char *column)
{
    return strcmp(q->raw, column) == 0 || name_index(column, q->added, q->n_added) >= 0;
}

bool quantity_of_sum(struct quantity *q, char name[QUANTITY_TITLE], char title[QUANTITY_TITLE],
                     const char *text, const char *file, const char *x, char why[QUANTITY_WHY])
{
    char term[QUANTITY_TITLE], own[QUANTITY_TITLE];
    size_t n = 0, used = 0;
    for (struct quantity added; next_term(term, &text); n++) {
        if (n == QUANTITY_TERMS_MAX)
            return snprintf(why, QUANTITY_WHY, "more than %d terms", QUANTITY_TERMS_MAX), false;
        if (!quantity_of_column(&added, own, term, file, x) || added.file == NULL)
            return snprintf(why, QUANTITY_WHY,
                            "a sum takes columns of one file (raw, epochs or steps) and one unit, "
                            "and '%.40s' is not such a column; y: [a, b] draws two panels",
                            term),
                   false;
        used +=
            (size_t)snprintf(name + used, QUANTITY_TITLE - used, "%s%s", n > 0 ? "+" : "", term);
        if (used >= QUANTITY_TITLE)
            return snprintf(why, QUANTITY_WHY, "this sum is too long. Use fewer terms"), false;
        if (n == 0) {
            *q = added;
            snprintf(title, QUANTITY_TITLE, "%s", own);
            continue;
        }
        if (strcmp(q->file, added.file) != 0 || !add_title(title, own))
            return snprintf(why, QUANTITY_WHY,
                            "a sum takes columns of one file and unit, but '%.40s' is %.60s of "
                            "%s, and '%.40s' is %.60s of %s; y: [a, b] draws two panels",
                            q->raw, title, q->file, term, own, added.file),
                   false;
        if (has_term(q, added.raw))
            return snprintf(why, QUANTITY_WHY, "'%.40s' is added twice. Leave one out", term),
                   false;
        q->added[q->n_added++] = added.raw;
    }
    q->name = name;
    q->title = title;
    q->most = INFINITY;
    q->column = COLUMNS;
    return true;
}

enum status quantity_names(const char ***names, size_t *n, struct error *e)
{
    const struct column *columns = columns_all.columns;
    *n = 0;
    TRY(MEM_NEW(*names, QUANTITIES + columns_all.n, "the names of quantities", e));
    for (size_t i = 0; i < QUANTITIES; i++)
        (*names)[(*n)++] = quantities[i].name;
    for (size_t i = 0; i < columns_all.n; i++)
        if (columns[i].type != CSV_TEXT && name_index(columns[i].name, *names, *n) < 0)
            (*names)[(*n)++] = columns[i].name;
    return OK;
}

/* ---- Values of points ---- */

double quantity_published(const struct quantity *quantity, const struct summary *s, size_t point)
{
    return quantity->column != COLUMNS
               ? quantity->unit * published_value(s, point, quantity->column)
               : NAN;
}

struct measured measured_of(const double *values, size_t n)
{
    struct measured m = {stats_median_interval(values, n, SUMMARY_CONFIDENCE), n};
    if (n < 2)
        m.value.lo = m.value.hi = NAN;
    return m;
}

static struct interval point_interval(const struct point_summary *p, const struct quantity *q)
{
    double mid = q->unit * cell_number(p, q->column);
    if (q->lo == COLUMNS || q->hi == COLUMNS)
        return (struct interval){.lo = NAN, .mid = mid, .hi = NAN};
    double scale = mid / cell_number(p, q->whole);
    return (struct interval){
        .lo = scale * cell_number(p, q->lo), .mid = mid, .hi = scale * cell_number(p, q->hi)};
}

struct measured quantity_measure(const struct quantity *quantity, const struct point_summary *p)
{
    return (struct measured){point_interval(p, quantity), p->launches};
}
