/* Reads published values from the CSV files that a figure names. Rows whose options match a series
 * of this run are drawn beside that series. All other rows form series of their own. */
#include <math.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/record/csv_reader.h"
#include "bench/spec/value.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

enum { WORD = 128, PAIRS_MAX = 16 };

/* A pair "ours = theirs * factor + shift" that maps a published column, or a constant text, to an
 * option, x or quantity of the figure. */
struct pair {
    char ours[WORD], theirs[WORD];
    bool constant; /* whether `theirs` is a constant text, not a column */
    double factor, shift;
    size_t column;
    const struct spec_option *option; /* the option named by `ours`, or NULL */
    size_t k; /* if `ours` names a quantity: its index among the figure's quantities */
};

struct reading {
    struct figure_data *d;
    const struct figure_source *source;
    struct csv_table table;
    struct condition *where;
    struct pair keys[PAIRS_MAX], values[PAIRS_MAX];
    size_t n_keys, n_values;
    const struct pair *x; /* the pair that gives the figure's x; NULL: not found yet */
    size_t row;
};

/* ---- Options of the spec ---- */

static enum status refuse(const struct figure_source *source, enum published_option_id id,
                          const char *text, const char *why, struct error *e)
{
    return mark_error(e, ERR_SPEC, source->options[id].mark, "%s: '%s': %s",
                      figure_option_at(FIGURE_OPTIONS + (size_t)id)->key, text, why);
}

/* If `text` contains `sign`, removes the last `sign` and the number after it, such as "+ 1", and
 * sets *number. Returns false if no number follows the sign. */
static bool cut_number(char *text, char sign, double *number)
{
    char *at = strrchr(text, sign);
    if (at == NULL)
        return true;
    *at = '\0';
    text_trim(at + 1);
    text_trim(text);
    return number_parse(at + 1, number);
}

static bool parse_pair(struct pair *pair, const char *text)
{
    const char *equals = strchr(text, '=');
    *pair = (struct pair){.factor = 1};
    if (strlen(text) >= WORD)
        return false;
    snprintf(pair->ours, WORD, "%.*s", equals != NULL ? (int)(equals - text) : WORD - 1, text);
    snprintf(pair->theirs, WORD, "%s", equals != NULL ? equals + 1 : text);
    text_trim(pair->ours);
    text_trim(pair->theirs);
    size_t length = strlen(pair->theirs);
    if (length > 1 && strchr("'\"", pair->theirs[0]) != NULL &&
        pair->theirs[length - 1] == pair->theirs[0]) {
        pair->constant = true;
        memmove(pair->theirs, pair->theirs + 1, length);
        pair->theirs[length - 2] = '\0';
        return pair->ours[0] != '\0';
    }
    return cut_number(pair->theirs, '+', &pair->shift) &&
           cut_number(pair->theirs, '*', &pair->factor) && pair->ours[0] && pair->theirs[0];
}

static bool is_x(const struct figure_data *d, const char *ours)
{
    return strcmp(ours, d->x.name) == 0;
}

static enum status refuse_key(const struct pair *key, const struct figure_data *d,
                              const struct figure_source *source, struct error *e)
{
    const char *known[OPTION_COUNT];
    char near[NAME_NEAR_BYTES], why[256];
    size_t n = config_list_point_options(&d->spec->config, known);
    snprintf(why, sizeof why, "neither x of the figure nor an option that points have%s",
             name_near(near, key->ours, known, n));
    return refuse(source, PUBLISHED_KEYS, key->ours, why, e);
}

static enum status check_key(struct pair *key, const struct figure_data *d,
                             const struct figure_source *source, struct error *e)
{
    key->option = config_option_find(&d->spec->config, key->ours);
    if (is_x(d, key->ours))
        return OK;
    if (key->option == NULL || scope_is_campaign(key->option->scope))
        return refuse_key(key, d, source, e);
    return OK;
}

static enum status check_value(struct pair *value, const struct figure_data *d,
                               const struct figure_source *source, struct error *e)
{
    while (value->k < d->n_quantities && !quantity_is(&d->quantities[value->k], value->ours))
        value->k++;
    return value->k < d->n_quantities
               ? OK
               : refuse(source, PUBLISHED_VALUES, value->ours, "not found in y of the figure", e);
}

static enum status read_pairs(struct reading *r, enum published_option_id id, struct pair *pairs,
                              size_t *n, struct error *e)
{
    const struct value *list = &r->source->options[id];
    if (list->n > PAIRS_MAX)
        return refuse(r->source, id, list->text, "expected at most 16 columns", e);
    for (size_t i = 0; i < list->n; i++) {
        struct pair *pair = &pairs[(*n)++];
        if (!parse_pair(pair, list->texts[i]))
            return refuse(r->source, id, list->texts[i],
                          "expected 'ours', 'ours = theirs' or 'ours = theirs * 2 + 1'", e);
        TRY((id == PUBLISHED_KEYS ? check_key : check_value)(pair, r->d, r->source, e));
    }
    return OK;
}

static enum status read_source(struct reading *r, struct error *e)
{
    const struct value *where = &r->source->options[PUBLISHED_WHERE];
    const struct node node = {.kind = NODE_SCALAR, .mark = where->mark, .text = where->text};
    TRY(read_pairs(r, PUBLISHED_KEYS, r->keys, &r->n_keys, e));
    TRY(read_pairs(r, PUBLISHED_VALUES, r->values, &r->n_values, e));
    for (size_t i = 0; i < r->n_keys; i++)
        if (is_x(r->d, r->keys[i].ours))
            r->x = &r->keys[i];
    if (r->x == NULL)
        return refuse(r->source, PUBLISHED_KEYS, r->source->options[PUBLISHED_KEYS].text,
                      "x of the figure is missing", e);
    return where->text[0]
               ? condition_read(&r->where, figure_option_at(FIGURE_OPTIONS + PUBLISHED_WHERE)->key,
                                &node, e)
               : OK;
}

/* ---- Content of the file ---- */

static bool look_up(struct condition_value *value, const char *name, const void *arg)
{
    const struct reading *r = arg;
    int column = csv_table_find(&r->table, name);
    if (column >= 0 && r->row < r->table.rows)
        *value = condition_value_of(csv_table_cell(&r->table, r->row, (size_t)column));
    return column >= 0;
}

static enum status find_column(const struct reading *r, enum published_option_id id,
                               struct pair *pair, struct error *e)
{
    return csv_table_column_of_spec(&r->table, pair->theirs,
                                    figure_option_at(FIGURE_OPTIONS + (size_t)id)->key,
                                    r->source->options[id].mark, &pair->column, e);
}

static enum status find_columns(struct reading *r, struct error *e)
{
    for (size_t i = 0; i < r->n_keys; i++)
        if (!r->keys[i].constant)
            TRY(find_column(r, PUBLISHED_KEYS, &r->keys[i], e));
    for (size_t i = 0; i < r->n_values; i++)
        TRY(find_column(r, PUBLISHED_VALUES, &r->values[i], e));
    if (r->where == NULL)
        return OK;
    char text[900];
    const char *unknown = condition_unknown(r->where, look_up, r);
    if (unknown == NULL)
        return OK;
    name_explain(text, sizeof text, unknown, (const char *const *)r->table.names, r->table.columns);
    return refuse(r->source, PUBLISHED_WHERE, r->source->options[PUBLISHED_WHERE].text, text, e);
}

static const char *text_of(const struct reading *r, const struct pair *pair)
{
    return pair->constant ? pair->theirs : csv_table_cell(&r->table, r->row, pair->column);
}

static bool same_option(const struct reading *r, const struct pair *key, size_t point)
{
    const struct value *ours = &r->d->s->points[point].point->config.values[key->option->id];
    const char *theirs = text_of(r, key);
    double number, own;
    if (number_parse(theirs, &number) && number_parse(ours->text, &own))
        return own == number * key->factor + key->shift;
    return strcmp(ours->text, theirs) == 0;
}

/* Returns the series of the first shown point with the current row's option values, ignoring the x
 * axis. Returns NO_POINT if there is no such point, or if the row gives no option other than the x
 * axis. */
static size_t series_of(const struct reading *r)
{
    const struct figure_data *d = r->d;
    size_t keys = 0;
    for (size_t k = 0; k < r->n_keys; k++)
        keys += &r->keys[k] != r->x;
    for (size_t i = 0; i < d->s->n && keys > 0; i++) {
        bool same = d->series_of[i] != NO_POINT && d->shown[i];
        for (size_t k = 0; k < r->n_keys && same; k++)
            same = &r->keys[k] == r->x || same_option(r, &r->keys[k], i);
        if (same)
            return d->series_of[i];
    }
    return NO_POINT;
}

/* Names a series of published values by its source ("Wang and Yang") or file. If several columns
 * map to the same quantity, appends the name of the published column. Then appends the name and
 * value of each key, except the key that gives x. */
static void name_series(char *name, size_t size, const struct reading *r, const struct pair *value)
{
    size_t same = 0;
    for (size_t i = 0; i < r->n_values; i++)
        same += r->values[i].k == value->k;
    const char *own = r->source->options[PUBLISHED_NAME].text;
    snprintf(name, size, "%s", own[0] ? own : r->source->options[PUBLISHED_FILE].text);
    if (same > 1)
        text_join(name, size, ", ", value->theirs);
    for (size_t i = 0; i < r->n_keys; i++) {
        if (&r->keys[i] == r->x)
            continue;
        text_join(name, size, ", ", key_end(r->keys[i].ours));
        text_join(name, size, " ", text_of(r, &r->keys[i]));
    }
}

static enum status own_series(size_t *series, const struct reading *r, const struct pair *value,
                              struct error *e)
{
    struct figure_table *t = &r->d->table;
    struct table_series own = {.point = NO_POINT, .base = NO_POINT};
    name_series(own.name, sizeof own.name, r, value);
    for (*series = 0; *series < t->n_series; ++*series)
        if (t->series[*series].point == NO_POINT && strcmp(t->series[*series].name, own.name) == 0)
            return OK;
    return table_add_series(t, &own, e);
}

static enum status x_of(double *x, const struct reading *r, struct error *e)
{
    struct figure_table *t = &r->d->table;
    const char *text = text_of(r, r->x);
    TRY(table_x_of_text(x, t, text, e));
    if (t->by_name)
        return OK;
    if (isnan(*x))
        return error_at(e, ERR_DATA, r->table.path, r->table.lines[r->row], 0,
                        "%s: '%s' is not a number", r->x->theirs, text);
    *x = *x * r->x->factor + r->x->shift;
    return OK;
}

static enum status take_value(const struct reading *r, const struct pair *value, struct error *e)
{
    struct table_row own = table_empty_row(series_of(r), NO_POINT, NAN);
    double number;
    TRY(csv_table_number(&r->table, r->row, value->column, &number, e));
    TRY(x_of(&own.x, r, e));
    if (!isfinite(number) ||
        (own.series != NO_POINT && published_is_withheld(r->d->s, r->d->quantities[value->k].name)))
        return OK;
    if (own.series == NO_POINT)
        TRY(own_series(&own.series, r, value, e));
    own.published[value->k] =
        r->d->quantities[value->k].unit * (number * value->factor + value->shift);
    return table_add_row(&r->d->table, &own, e);
}

static enum status take_row(const struct reading *r, struct error *e)
{
    for (size_t i = 0; i < r->n_values; i++)
        TRY(take_value(r, &r->values[i], e));
    return OK;
}

static enum status check_row(const struct reading *r, struct error *e)
{
    double x;
    for (size_t i = 0; i < r->n_values; i++)
        TRY(csv_table_number(&r->table, r->row, r->values[i].column, &x, e));
    return r->d->table.by_name ? OK : x_of(&x, r, e);
}

typedef enum status row_reader(const struct reading *r, struct error *e);

static enum status read_rows(struct reading *r, row_reader *read, struct error *e)
{
    TRY(find_columns(r, e));
    for (r->row = 0; r->row < r->table.rows; r->row++)
        if (r->where == NULL || condition_holds(r->where, look_up, r))
            TRY(read(r, e));
    return OK;
}

static enum status read_sources(struct figure_data *d, row_reader *read, struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; i < d->figure->request->n_sources && status == OK; i++) {
        struct reading r = {.d = d, .source = &d->figure->request->sources[i]};
        const char *text = r.source->options[PUBLISHED_FILE].text;
        const struct spec_input *input = spec_input_find(d->spec, OPT_PUBLISHED_FILE, text);
        status = read_source(&r, e);
        THEN(status, csv_table_read(&r.table, input != NULL ? input->path : text, e));
        THEN(status, read_rows(&r, read, e));
        condition_free(r.where);
        csv_table_free(&r.table);
    }
    return status;
}

enum status figure_check_sources(struct figure_data *d, struct error *e)
{
    return read_sources(d, check_row, e);
}

enum status table_add_sources(struct figure_data *d, struct error *e)
{
    return read_sources(d, take_row, e);
}
