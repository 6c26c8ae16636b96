#include "bench/collect/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

#define WORD 256

/* Limits of keys. A key assigns rows of the published file to points: a column of the file must
 * equal a product of at most FACTORS_MAX options. */
enum { FACTORS_MAX = 4, KEYS_MAX = 8 };

struct key {
    char ours[WORD], theirs[WORD];
    const struct spec_option *factors[FACTORS_MAX]; /* [n] options whose values are multiplied; a
                                                       NULL element means ranks_per_node */
    size_t n;
    size_t column; /* index in the file of the column whose name is the text in `theirs` */
};

struct reading {
    const struct spec *spec;
    struct csv_table table;
    struct key keys[KEYS_MAX];
    size_t n_keys;
    size_t columns[PUBLISHED_MAX]; /* [values] index of each value's column in the file */
    double factors[PUBLISHED_MAX];
};

/* ---- Options of the spec ---- */

static enum status refuse(const struct spec *spec, enum option_id id, const char *text,
                          const char *why, struct error *e)
{
    const struct value *value = &spec->config.values[id];
    return mark_error(e, ERR_SPEC, value->mark, "%s: '%s': %s", option_get(id)->key, text, why);
}

/* Finds a column of the published file. An error names the line of option `id` in the spec, or of
 * published.file if the spec does not set `id`. */
static enum status find_column(const struct reading *r, enum option_id id, const char *name,
                               size_t *column, struct error *e)
{
    const struct value *values = r->spec->config.values, *value = &values[id];
    struct mark mark = value->mark.line > 0 ? value->mark : values[OPT_PUBLISHED_FILE].mark;
    return csv_table_column_of_spec(&r->table, name, option_get(id)->key, mark, column, e);
}

/* Cuts `text` at the first `mark` and trims both parts. Returns the second part. NULL: there is no
 * mark, and all of `text` is trimmed. */
static char *split(char *text, char mark)
{
    char *rest = strchr(text, mark);
    if (rest != NULL) {
        *rest++ = '\0';
        text_trim(rest);
    }
    text_trim(text);
    return rest;
}

/* Splits "ours = theirs"; a single name is used for both. Returns false if a part is empty, or the
 * text is too long. */
static bool split_halves(const char *text, char ours[WORD], char theirs[WORD])
{
    if (strlen(text) >= WORD)
        return false;
    strcpy(ours, text);
    const char *second = split(ours, '=');
    strcpy(theirs, second != NULL ? second : ours);
    return ours[0] && theirs[0];
}

static enum status refuse_key(const struct spec *spec, const char *word, struct error *e)
{
    const char *known[OPTION_COUNT];
    char near[NAME_NEAR_BYTES], why[256];
    size_t n = config_list_point_options(&spec->config, known);
    snprintf(why, sizeof why, "neither ranks_per_node nor an option that points have%s",
             name_near(near, word, known, n));
    return refuse(spec, OPT_PUBLISHED_KEYS, word, why, e);
}

static enum status read_factors(struct key *key, const struct spec *spec, struct error *e)
{
    char text[WORD], *rest;
    strcpy(text, key->ours);
    for (char *word = text; word != NULL; word = rest) {
        rest = split(word, '*');
        const struct spec_option *option = config_option_find(&spec->config, word);
        bool on_node = strcmp(word, "ranks_per_node") == 0;
        if (key->n == FACTORS_MAX)
            return refuse(spec, OPT_PUBLISHED_KEYS, key->ours, "expected at most 4 factors", e);
        if (!on_node && (option == NULL || scope_is_campaign(option->scope)))
            return refuse_key(spec, word, e);
        key->factors[key->n++] = on_node ? NULL : option;
    }
    return OK;
}

static enum status read_keys(struct reading *r, struct error *e)
{
    const struct value *list = &r->spec->config.values[OPT_PUBLISHED_KEYS];
    if (list->n == 0 || list->n > KEYS_MAX)
        return refuse(r->spec, OPT_PUBLISHED_KEYS, list->text, "expected 1 to 8 keys", e);
    for (size_t i = 0; i < list->n; i++) {
        struct key *key = &r->keys[r->n_keys++];
        if (!split_halves(list->texts[i], key->ours, key->theirs))
            return refuse(r->spec, OPT_PUBLISHED_KEYS, list->texts[i],
                          "expected 'ours' or 'ours = theirs'", e);
        TRY(read_factors(key, r->spec, e));
        TRY(find_column(r, OPT_PUBLISHED_KEYS, key->theirs, &key->column, e));
    }
    return OK;
}

static enum status refuse_column(const struct spec *spec, const char *name, struct error *e)
{
    const char *known[COLUMNS];
    char near[NAME_NEAR_BYTES], why[256];
    size_t n = 0;
    for (enum column_id id = 0; id < COLUMNS; id++)
        if (column_get(id)->type == CSV_REAL)
            known[n++] = column_get(id)->name;
    snprintf(why, sizeof why, "not a column of summary.csv with measured numbers%s",
             name_near(near, name, known, n));
    return refuse(spec, OPT_PUBLISHED_VALUES, name, why, e);
}

static enum status read_value(struct published *p, struct reading *r, const char *text,
                              struct error *e)
{
    char ours[WORD], theirs[WORD];
    double *factor = &r->factors[p->n];
    *factor = 1;
    if (!split_halves(text, ours, theirs))
        return refuse(r->spec, OPT_PUBLISHED_VALUES, text,
                      "expected 'ours', 'ours = theirs' or 'ours = theirs * factor'", e);
    const char *star = split(theirs, '*');
    if (star != NULL && !number_parse(star, factor))
        return refuse(r->spec, OPT_PUBLISHED_VALUES, star, "not a number", e);
    if (*factor == 0 && !r->spec->is_recorded)
        return refuse(r->spec, OPT_PUBLISHED_VALUES, text,
                      "a factor of 0 makes every published value 0. Use another factor", e);
    enum column_id column = column_find(ours);
    if (column == COLUMNS || column_get(column)->type != CSV_REAL)
        return refuse_column(r->spec, ours, e);
    p->columns[p->n] = column;
    TRY(find_column(r, OPT_PUBLISHED_VALUES, theirs, &r->columns[p->n], e));
    for (size_t row = 0; row < r->table.rows; row++) {
        double number;
        TRY(csv_table_number(&r->table, row, r->columns[p->n], &number, e));
    }
    p->n++;
    return OK;
}

static enum status read_values(struct published *p, struct reading *r, struct error *e)
{
    const struct value *list = &r->spec->config.values[OPT_PUBLISHED_VALUES];
    if (list->n > PUBLISHED_MAX)
        return refuse(r->spec, OPT_PUBLISHED_VALUES, list->text, "expected at most 8 values", e);
    for (size_t i = 0; i < list->n; i++)
        TRY(read_value(p, r, list->texts[i], e));
    return OK;
}

/* ---- Rows of the file ---- */

/* Sets *number to the product of the point's values for the options of `key`. Option ranks_per_node
 * counts as ranks / nodes, rounded up. Returns false if a value is not a number. */
static bool key_number(const struct key *key, const struct point *point, double *number)
{
    *number = 1;
    for (size_t i = 0; i < key->n; i++) {
        double factor;
        if (key->factors[i] == NULL)
            factor = ceil(config_number(&point->config, OPT_RANKS) /
                          config_number(&point->config, OPT_NODES));
        else if (!number_parse(config_text(&point->config, key->factors[i]->id), &factor))
            return false;
        *number *= factor;
    }
    return true;
}

/* A number in the file matches a product of option values up to this relative difference. */
#define KEY_ROUNDING 1e-12

static enum status row_matches(const struct reading *r, size_t row, const struct point *point,
                               bool *matches, struct error *e)
{
    *matches = true;
    for (size_t i = 0; i < r->n_keys && *matches; i++) {
        const struct key *key = &r->keys[i];
        double ours, theirs;
        if (key_number(key, point, &ours)) {
            TRY(csv_table_number(&r->table, row, key->column, &theirs, e));
            *matches = fabs(ours - theirs) <= KEY_ROUNDING * fabs(theirs);
        } else {
            *matches = key->n == 1 && strcmp(config_text(&point->config, key->factors[0]->id),
                                             csv_table_cell(&r->table, row, key->column)) == 0;
        }
    }
    return OK;
}

static enum status take_row(struct published *p, const struct reading *r, size_t row, size_t point,
                            struct error *e)
{
    for (size_t k = 0; k < p->n; k++) {
        double *value = &p->values[point * p->n + k];
        TRY(csv_table_number(&r->table, row, r->columns[k], value, e));
        *value *= r->factors[k];
    }
    return OK;
}

/* Returns whether a point has no published counterpart, since it serves only our analysis: strategy
 * none at several ranks, or a calibration. */
static bool is_own(const struct point *point)
{
    return config_calibrates(&point->config) ||
           (config_int(&point->config, OPT_STRATEGY) == STRATEGY_none &&
            config_int(&point->config, OPT_RANKS) > 1);
}

/* Copies the published values from the row that matches point i. Two matching rows are an error. */
static enum status take_point(struct published *p, const struct reading *r, size_t i, bool *used,
                              struct error *e)
{
    const struct point *point = &r->spec->points[i];
    const struct csv_table *table = &r->table;
    int first = 0;
    for (size_t row = 0; row < table->rows; row++) {
        bool matches;
        TRY(row_matches(r, row, point, &matches, e));
        if (!matches || is_own(point))
            continue;
        if (first > 0)
            return error_at(e, ERR_DATA, table->path, table->lines[row], 0,
                            "this row and the row in line %d both match point '%s'. In "
                            "published.keys, add a key that distinguishes the two rows",
                            first, point->label);
        first = table->lines[row];
        p->matched += !used[row];
        used[row] = true;
        TRY(take_row(p, r, row, i, e));
    }
    return OK;
}

static enum status take_points(struct published *p, const struct reading *r, struct error *e)
{
    size_t n = r->spec->n_points;
    bool *used;
    TRY(MEM_NEW(p->values, n * p->n, r->table.path, e));
    for (size_t i = 0; i < n * p->n; i++)
        p->values[i] = NAN;
    enum status status = MEM_NEW(used, r->table.rows, r->table.path, e);
    for (size_t i = 0; i < n && status == OK; i++)
        status = take_point(p, r, i, used, e);
    free(used);
    return status;
}

/* ---- File ---- */

static enum status read_file(struct published *p, struct reading *r, const char *path,
                             struct error *e)
{
    snprintf(p->file, sizeof p->file, "%s", file_name(path));
    enum status status = csv_table_read(&r->table, path, e);
    if (status == ERR_DATA)
        return spec_input_refuse(r->spec, OPT_PUBLISHED_FILE,
                                 "a CSV file with a row of column names", e);
    TRY(status);
    p->rows = r->table.rows;
    if (p->rows == 0)
        return error_at(e, ERR_DATA, path, 0, 0, "expected rows below the header, found none");
    TRY(read_keys(r, e));
    TRY(read_values(p, r, e));
    return take_points(p, r, e);
}

enum status published_read(struct published *p, const struct spec *spec, struct error *e)
{
    struct reading r = {.spec = spec};
    const struct spec_input *file =
        spec_input_find(spec, OPT_PUBLISHED_FILE, config_text(&spec->config, OPT_PUBLISHED_FILE));
    *p = (struct published){0};
    if (file == NULL)
        return OK;
    enum status status = read_file(p, &r, file->path, e);
    csv_table_free(&r.table);
    return status;
}

void published_free(struct published *p)
{
    free(p->values);
    *p = (struct published){0};
}

enum status published_check(const struct spec *spec, struct error *e)
{
    struct published p;
    enum status status = published_read(&p, spec, e);
    published_free(&p);
    return status;
}

/* ---- Published values ---- */

/* Returns whether `name` is a column of measured losses or accuracies, in any CSV file. Bounds of
 * intervals, such as test_acc_lo, do not count. */
static bool is_learnt(const char *name)
{
    static const char *const learnt[] = {"train_loss", "train_acc_pct", "test_loss", "test_acc_pct",
                                         "loss"};
    return name_index(name, learnt, sizeof learnt / sizeof *learnt) >= 0;
}

static bool is_generated(const struct summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->points[i].cells[COLUMN_data_source], "generated") == 0)
            return true;
    return config_data_set(&s->spec->config)->source == DATA_GENERATED;
}

bool published_is_withheld(const struct summary *s, const char *name)
{
    return is_learnt(name) && is_generated(s);
}

double published_value(const struct summary *s, size_t point, enum column_id column)
{
    const struct published *p = s->published;
    for (size_t k = 0; p != NULL && k < p->n; k++)
        if (p->columns[k] == column && !published_is_withheld(s, column_get(column)->name))
            return p->values[point * p->n + k];
    return NAN;
}

bool published_withholds(const struct summary *s)
{
    for (size_t k = 0; s->published != NULL && k < s->published->n; k++)
        if (is_learnt(column_get(s->published->columns[k])->name))
            return is_generated(s);
    return false;
}
