/* Looks up the quantities, x and conditions that a figure's options name. Names are checked here,
 * before anything is run or read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/fits.h"
#include "bench/collect/summary.h"
#include "bench/figures/figure_data.h"
#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

static enum status refuse(const struct figure_data *d, enum figure_option_id id, const char *text,
                          const char *why, struct error *e)
{
    const struct value *value = &d->figure->request->options[id];
    struct mark mark = value->set ? value->mark : d->figure->request->mark;
    return mark_error(e, ERR_SPEC, mark, "%s = %s: %s", figure_option_at((size_t)id)->key, text,
                      why);
}

/* Finds a user-defined option by the last part of its key: workload.options.size for "size". */
static const struct spec_option *find_own(const struct figure_data *d, const char *name)
{
    char key[256];
    snprintf(key, sizeof key, "%s.%s", own_options_group, name);
    return config_option_find(&d->spec->config, key);
}

/* Writes to `near` a suggestion for the unknown `name`: the user-defined option whose key ends in
 * `name`, otherwise the most similar option or column. A column called exactly `name` is never
 * suggested, since the figure's file lacks it. */
static enum status find_near(char near[NAME_NEAR_BYTES], const struct figure_data *d,
                             const char *name, struct error *e)
{
    size_t n = columns_all.n, known_n;
    const struct column *columns = columns_all.columns;
    const struct spec_option *own = find_own(d, name);
    const char **known;
    if (own != NULL) {
        snprintf(near, NAME_NEAR_BYTES, "; nearest '%s'", own->key);
        return OK;
    }
    TRY(MEM_NEW(known, n + OPTION_COUNT, "the names of options", e));
    known_n = config_list_point_options(&d->spec->config, known);
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) != 0 && name_index(columns[i].name, known, known_n) < 0)
            known[known_n++] = columns[i].name;
    name_near(near, name, known, known_n);
    free(known);
    return OK;
}

/* ---- x ---- */

static enum status unknown_x(const struct figure_data *d, const char *name, struct error *e)
{
    char text[256], near[NAME_NEAR_BYTES];
    TRY(find_near(near, d, name, e));
    snprintf(text, sizeof text, "neither an option that points have nor a column%s", near);
    return refuse(d, FIGURE_X, name, text, e);
}

/* Returns whether a user-defined option (workload.options.*) has only numbers as values. */
static bool has_numbers(const struct spec *spec, enum option_id own)
{
    bool numbers = true;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct value *value = &spec->points[i].config.values[own];
        numbers = numbers && (!value->set || isfinite(value->number));
    }
    return numbers;
}

static enum status resolve_option(struct figure_data *d, const struct spec_option *option,
                                  struct error *e)
{
    d->x.by_option = true;
    d->x.option = option->id;
    d->table.by_name = option->type == TYPE_ENUM || option->type == TYPE_TEXT ||
                       option->type == TYPE_RANGE || type_is_list(option->type) ||
                       (option->type == TYPE_OWN && !has_numbers(d->spec, option->id));
    return scope_is_campaign(option->scope)
               ? refuse(d, FIGURE_X, option->key, "holds for the whole campaign", e)
               : OK;
}

static enum status resolve_x(struct figure_data *d, struct error *e)
{
    const char *name = figure_text(d->figure, FIGURE_X), *fixed = d->figure->shape->x;
    const struct spec_option *option = config_option_find(&d->spec->config, name);
    d->x.name = name;
    if (fixed != NULL && d->figure->request->options[FIGURE_X].set && strcmp(fixed, name) != 0)
        return refuse(d, FIGURE_X, name, "this kind has a fixed x. Use kind: line for any x", e);
    if (fixed != NULL)
        return OK;
    if (option != NULL)
        return resolve_option(d, option, e);
    d->x.by_case = strcmp(name, FIGURE_CASE) == 0;
    d->x.by_run = d->several && strcmp(name, FIGURE_RUN) == 0;
    d->table.by_name = d->x.by_case || d->x.by_run;
    if (d->table.by_name)
        return OK;
    size_t n = columns_all.n, i = 0;
    const struct column *columns = columns_all.columns;
    while (i < n && strcmp(columns[i].name, name) != 0)
        i++;
    if (i == n)
        return unknown_x(d, name, e);
    d->x.by_column = true;
    d->x.column = &columns[i];
    d->table.by_name = columns[i].type == CSV_TEXT;
    return OK;
}

/* ---- y ---- */

static enum status unknown_y(const struct figure_data *d, const char *name, struct error *e)
{
    const char **names, *file = figure_text(d->figure, FIGURE_FILE);
    char text[320], near[NAME_NEAR_BYTES];
    size_t n;
    bool any = strcmp(file, "auto") == 0;
    TRY(quantity_names(&names, &n, e));
    name_near(near, name, names, n);
    bool known = name_index(name, names, n) >= 0;
    free(names);
    if (known)
        snprintf(
            text, sizeof text,
            "no CSV file%s%s has numbers of both it and %s. Use another figures.x, such as ranks",
            any ? "" : " ", any ? "" : file, d->x.by_column ? d->x.name : "points");
    else if (foreign_has_metric(d->spec, name))
        snprintf(text, sizeof text,
                 "a metric of workload.command. Use y: value, file: metrics, where: metric = %s",
                 name);
    else
        snprintf(text, sizeof text,
                 "neither a quantity nor a column of numbers%s. See `scalebench list quantities` "
                 "and `list columns`",
                 near);
    return refuse(d, FIGURE_Y, name, text, e);
}

static bool has_foreign(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (config_is_foreign(&spec->points[i].config))
            return true;
    return false;
}

/* Sets the axis title of step time if some points run a user's program, which has no steps. */
static void title_time(struct figure_data *d)
{
    const struct spec *spec = d->spec;
    struct quantity *q = &d->quantities[d->n_quantities];
    const struct config *first = spec->n_points > 0 ? &spec->points[0].config : &spec->config;
    const char *time = config_text(first, OPT_JUDGED);
    bool wall = strcmp(time, option_get(OPT_JUDGED)->preset) == 0;
    if (q->relation != RELATION_STEP || !has_foreign(spec))
        return;
    snprintf(d->titles[d->n_quantities], QUANTITY_TITLE, "%s (ms)",
             spec_foreign(spec) == NULL ? "time of a step or a program"
             : wall                     ? "time of a run, exec to exit"
                                        : time);
    q->title = d->titles[d->n_quantities];
}

static enum status check_file(const struct figure_data *d, struct error *e)
{
    const char *wanted = figure_text(d->figure, FIGURE_FILE);
    char text[512];
    size_t n;
    const char *const *names = csv_file_names(&n);
    if (strcmp(wanted, "auto") == 0 || name_index(wanted, names, n) >= 0)
        return OK;
    return refuse(d, FIGURE_FILE, wanted, name_explain(text, sizeof text, wanted, names, n), e);
}

static enum status resolve_quantity(struct figure_data *d, const char *name, struct error *e)
{
    struct quantity *q = &d->quantities[d->n_quantities];
    const char *wanted = figure_text(d->figure, FIGURE_FILE);
    const char *x = d->x.by_column ? d->x.name : NULL;
    bool any = strcmp(wanted, "auto") == 0;
    const struct quantity *known = any && x == NULL ? quantity_find(name) : NULL;
    char why[QUANTITY_WHY], text[64], *title = d->titles[d->n_quantities];
    snprintf(text, sizeof text, "%s.csv", wanted);
    const char *file = any ? NULL : text;
    if (strchr(name, '+') != NULL) {
        if (!quantity_of_sum(q, d->names[d->n_quantities], title, name, file, x, why))
            return refuse(d, FIGURE_Y, name, why, e);
    } else if (known != NULL)
        *q = *known;
    else if (!quantity_of_column(q, title, name, file, x))
        return unknown_y(d, name, e);
    title_time(d);
    d->n_quantities++;
    return OK;
}

static enum status check_parts(const struct figure_data *d, struct error *e)
{
    const struct value *y = &d->figure->request->options[FIGURE_Y];
    const char *const *known = d->figure->shape->parts;
    char text[256];
    size_t n = 0;
    if (known == NULL)
        return !y->set ? OK
                       : refuse(d, FIGURE_Y, y->text,
                                "this kind has a fixed y. Use kind: bars or line for any y", e);
    while (known[n] != NULL)
        n++;
    if (y->n == 0)
        return refuse(d, FIGURE_Y, y->text, "expected at least one part of the bars", e);
    for (size_t i = 0; i < y->n; i++) {
        if (name_index(y->texts[i], known, n) < 0)
            return refuse(d, FIGURE_Y, y->text,
                          name_explain(text, sizeof text, y->texts[i], known, n), e);
    }
    return OK;
}

static enum status resolve_y(struct figure_data *d, struct error *e)
{
    const struct figure_shape *shape = d->figure->shape;
    const struct value *y = &d->figure->request->options[FIGURE_Y];
    size_t most = shape->any_x ? FIGURE_COLUMNS_MAX : 1;
    d->quantity = &d->quantities[0];
    TRY(check_file(d, e));
    if (shape->total != NULL) {
        TRY(check_parts(d, e));
        return resolve_quantity(d, shape->total, e);
    }
    if (y->n == 0)
        return resolve_quantity(d, config_text(&d->spec->config, OPT_BARS), e);
    if (y->n > most)
        return refuse(d, FIGURE_Y, y->text,
                      shape->any_x ? "expected at most 4 quantities"
                                   : "this kind shows one quantity. Use kind: line for several",
                      e);
    for (size_t i = 0; i < y->n; i++)
        TRY(resolve_quantity(d, y->texts[i], e));
    return OK;
}

/* ---- Values that a campaign will not have ---- */

static bool has_epochs(const struct quantity *q)
{
    return q->file != NULL &&
           (strcmp(q->file, "epochs.csv") == 0 || strcmp(q->file, "classes.csv") == 0);
}

/* Returns whether to reject a figure that has no values because of option `id`. A figure of the
 * spec file may stay empty if the machine, --set or `quick` sets the option
 * (spec_option_is_open). */
static bool is_chosen(const struct figure_data *d, enum option_id id)
{
    return mark_from_set(d->figure->request->mark) || !spec_option_is_open(d->spec, id);
}

/* Returns the option that must be set before the quantity can have values; OPTION_COUNT if none is
 * missing. */
static enum option_id find_lack(const struct figure_data *d, const struct quantity *q)
{
    const struct config *c = &d->spec->config;
    bool trained = has_epochs(q) || (q->file == NULL && q->source == SOURCE_RUNS);
    bool timed = q->file == NULL && (q->source == SOURCE_TIMED || q->relation != RELATION_NONE);
    const char *column = q->raw != NULL         ? q->raw
                         : q->column != COLUMNS ? column_get(q->column)->name
                                                : "";
    if (trained && c->values[OPT_ACCURACY_SEEDS].n == 0)
        return OPT_ACCURACY_SEEDS;
    if (timed && c->values[OPT_TIME_LAUNCHES].number_hi == 0)
        return OPT_TIME_LAUNCHES;
    return has_epochs(q) ? OPTION_COUNT : column_lack(column, d->spec);
}

/* Writes to `why` that the figure's values need option `lack`. Returns false if `lack` is
 * OPTION_COUNT (none missing), or if the figure may stay empty (is_chosen is false). */
static bool explain_option(char why[LACK_BYTES], const struct figure_data *d, enum option_id lack)
{
    bool lacks = lack != OPTION_COUNT && is_chosen(d, lack);
    if (lacks)
        column_explain_lack(why, lack, d->spec);
    return lacks;
}

/* Writes why a campaign will have no value of a quantity: the quantity's CSV file will not be
 * written, or a required option is not set. Returns false if neither is the case, or if the figure
 * may stay empty without the option. */
static bool explain_lack(char why[LACK_BYTES], const struct figure_data *d,
                         const struct quantity *q)
{
    const char *rows = q->file != NULL ? csv_file_unwritten(q->file, d->spec) : NULL;
    if (rows != NULL)
        snprintf(why, LACK_BYTES, "this campaign has no %s. %s", q->file, rows);
    return rows != NULL || explain_option(why, d, find_lack(d, q));
}

/* Returns whether to check, before files are read, that a figure will have values and that its
 * options have an effect. False for figures of several runs, for figures with published files of
 * their own, and for figures recorded with a run unless --set gave them. */
static bool is_to_run(const struct figure_data *d)
{
    const struct figure_request *request = d->figure->request;
    return !d->several && request->n_sources == 0 &&
           (!d->spec->is_recorded || mark_from_set(request->mark));
}

static enum status check_lack(const struct figure_data *d, struct error *e)
{
    char why[LACK_BYTES];
    if (!is_to_run(d))
        return OK;
    if (d->figure->shape->parts != NULL &&
        explain_option(why, d, column_lack(column_get(COLUMN_forward_ms)->name, d->spec)))
        return refuse(d, FIGURE_Y, d->figure->request->options[FIGURE_Y].text, why, e);
    for (size_t i = 0; i < d->n_quantities; i++)
        if (explain_lack(why, d, &d->quantities[i]))
            return refuse(d, FIGURE_Y, d->quantities[i].name, why, e);
    return d->x.by_column && explain_option(why, d, column_lack(d->x.name, d->spec))
               ? refuse(d, FIGURE_X, d->x.name, why, e)
               : OK;
}

/* ---- Conditions, series ---- */

bool figure_is_of_points(const struct figure_data *d, const char *name)
{
    return strcmp(name, FIGURE_CASE) == 0 || (d->several && strcmp(name, FIGURE_RUN) == 0);
}

bool figure_point_value(struct condition_value *value, const char *name, const void *point)
{
    const struct point_summary *p = point;
    enum column_id column = column_find(name);
    bool is_run = strcmp(name, FIGURE_RUN) == 0 && p->run != NULL;
    if (!is_run && point_look_up(value, name, p->point))
        return true;
    if (!is_run && column == COLUMNS)
        return false;
    *value = is_run ? (struct condition_value){.number = NAN, .text = p->run}
                    : condition_value_of(p->cells[column]);
    return true;
}

static bool points_have(const struct figure_data *d, const char *name)
{
    return config_option_find(&d->spec->config, name) != NULL || figure_is_of_points(d, name) ||
           column_find(name) != COLUMNS;
}

/* Returns the column `name` in the quantity's file, or NULL. */
static const struct column *column_behind(const struct quantity *q, const char *name)
{
    return q->file != NULL ? column_of_file(q->file, name) : NULL;
}

static size_t columns_behind(const struct figure_data *d, const char *name)
{
    size_t n = 0;
    for (size_t k = 0; k < d->n_quantities; k++)
        n += column_behind(&d->quantities[k], name) != NULL;
    return n;
}

/* Returns whether option `where` may use `name`: an option, a column of summary.csv, another
 * property of points such as `case`, or a column that the files of all quantities have. Sets *value
 * to NAN, since only the name is checked. */
static bool check_lookup(struct condition_value *value, const char *name, const void *arg)
{
    const struct figure_data *d = arg;
    *value = (struct condition_value){.number = NAN};
    return columns_behind(d, name) == d->n_quantities || points_have(d, name);
}

static enum condition_kind kind_of(const struct figure_data *d, const char *name)
{
    const struct spec_option *option = config_option_find(&d->spec->config, name);
    const struct column *column = column_behind(&d->quantities[0], name);
    if (column == NULL && column_find(name) != COLUMNS)
        column = column_get(column_find(name));
    return option != NULL   ? option_kind(option)
           : column != NULL ? column_kind(column)
                            : CONDITION_TEXT;
}

/* Rejects terms of `where` that no row can satisfy: a text compared with a number, < or > between
 * texts, a column that stays empty in this campaign. */
static enum status check_terms(const struct figure_data *d, struct error *e)
{
    char why[LACK_BYTES];
    size_t n;
    const struct condition_term *terms = condition_terms(d->where, &n);
    const char *text = figure_text(d->figure, FIGURE_WHERE);
    for (size_t i = 0; i < n; i++) {
        const char *name = terms[i].name;
        if (!condition_term_fits(why, &terms[i], kind_of(d, name)))
            return refuse(d, FIGURE_WHERE, text, why, e);
        bool of_points = column_behind(&d->quantities[0], name) == NULL &&
                         config_option_find(&d->spec->config, name) == NULL;
        if (of_points && explain_option(why, d, column_lack(name, d->spec)))
            return refuse(d, FIGURE_WHERE, text, why, e);
    }
    return OK;
}

/* Returns whether no point can satisfy the condition: none of the spec's points does, and the
 * condition names only `case` and options whose values the spec file alone determines. */
static bool holds_of_none(const struct condition *where, const struct spec *spec)
{
    size_t n;
    const struct condition_term *terms = condition_terms(where, &n);
    for (size_t i = 0; i < n; i++) {
        const struct spec_option *option = config_option_find(&spec->config, terms[i].name);
        bool settled = option != NULL ? spec_option_is_settled(spec, option->id)
                                      : strcmp(terms[i].name, FIGURE_CASE) == 0;
        if (!settled)
            return false;
    }
    for (size_t i = 0; i < spec->n_points; i++)
        if (condition_holds(where, point_look_up, &spec->points[i]))
            return false;
    return true;
}

static enum status resolve_where(struct figure_data *d, struct error *e)
{
    const struct value *where = &d->figure->request->options[FIGURE_WHERE];
    const struct node node = {.kind = NODE_SCALAR, .mark = where->mark, .text = where->text};
    char text[512], near[NAME_NEAR_BYTES];
    if (!where->text[0])
        return OK;
    TRY(condition_read(&d->where, figure_option_at(FIGURE_WHERE)->key, &node, e));
    const char *unknown = condition_unknown(d->where, check_lookup, d);
    if (unknown == NULL && is_to_run(d))
        TRY(check_terms(d, e));
    if (unknown == NULL)
        return is_to_run(d) && holds_of_none(d->where, d->spec)
                   ? refuse(d, FIGURE_WHERE, where->text,
                            "no point of the spec matches; `scalebench plan` lists the points", e)
                   : OK;
    TRY(find_near(near, d, unknown, e));
    snprintf(text, sizeof text, "'%.200s' is unknown%s", unknown, near);
    return refuse(d, FIGURE_WHERE, where->text, text, e);
}

static enum status resolve_series(const struct figure_data *d, struct error *e)
{
    const struct value *series = &d->figure->request->options[FIGURE_SERIES];
    for (size_t i = 0; i < series->n; i++)
        if (!points_have(d, series->texts[i]) && columns_behind(d, series->texts[i]) == 0 &&
            strcmp(series->texts[i], FIGURE_RUN) != 0)
            return refuse(d, FIGURE_SERIES, series->texts[i],
                          "neither an option nor a column of the file", e);
    if (series->n > 0 && d->figure->shape->bars)
        return refuse(d, FIGURE_SERIES, series->text,
                      "this kind has one bar per point. Use kind: line for series", e);
    return OK;
}

/* ---- Options without effect ---- */

static bool x_differs(const struct figure_data *d)
{
    const struct spec *spec = d->spec;
    bool differs =
        !d->x.by_option || spec->n_points < 2 || !spec_option_is_settled(spec, d->x.option);
    for (size_t i = 1; i < spec->n_points && !differs; i++)
        differs = !value_equal(&spec->points[0].config.values[d->x.option],
                               &spec->points[i].config.values[d->x.option]);
    return differs;
}

static bool x_is_no_y(const struct figure_data *d)
{
    for (size_t i = 0; i < d->n_quantities; i++)
        if (strcmp(d->quantities[i].name, d->x.name) == 0)
            return false;
    return true;
}

/* Returns whether launches measure all quantities of the figure's y. The spec's options and the
 * seed are set, not measured. */
static bool y_is_measured(const struct figure_data *d)
{
    for (size_t i = 0; i < d->n_quantities; i++) {
        const char *name = d->quantities[i].name, *file = d->quantities[i].file;
        bool of_launches = file == NULL || strcmp(file, "raw.csv") == 0;
        if (of_launches && (column_option(name) != OPTION_COUNT || strcmp(name, "seed") == 0))
            return false;
    }
    return true;
}

static bool series_join_points(const struct figure_data *d)
{
    const struct value *series = &d->figure->request->options[FIGURE_SERIES];
    return name_index(d->x.name, (const char *const *)series->texts, series->n) < 0;
}

static bool has_shape(const struct figure_data *d)
{
    return d->figure->shape->any_x;
}

/* Returns whether option x_scale has an effect. The option has none if the figure draws bars, or if
 * the values of x are names. */
static bool has_x_scale(const struct figure_data *d)
{
    bool side_by_side =
        d->table.by_name || strcmp(figure_text(d->figure, FIGURE_SHAPE), "bars") == 0;
    return d->figure->shape->any_x ? !side_by_side : !d->figure->shape->bars;
}

static bool has_model(const struct figure_data *d)
{
    bool modelled = d->figure->shape->total != NULL;
    for (size_t i = 0; i < d->n_quantities; i++)
        modelled = modelled || d->quantities[i].relation != RELATION_NONE;
    return modelled;
}

static bool has_law(const struct figure_data *d)
{
    return d->n_quantities > 0 && relation_is_ratio(d->quantities[0].relation);
}

/* Returns whether the figure's kind fits its first quantity. A kind with an ideal line supports
 * only the quantity of that line. Kind `fits` supports only speed-up and efficiency. */
static bool kind_has_y(const struct figure_data *d)
{
    static const struct {
        const char *kind;
        enum quantity_relation relation;
    } ideals[] = {{"time", RELATION_STEP},
                  {"speedup", RELATION_SPEEDUP},
                  {"efficiency", RELATION_EFFICIENCY}};
    const char *kind = figure_text(d->figure, FIGURE_KIND);
    if (d->n_quantities == 0 || strcmp(kind, "fits") == 0)
        return d->n_quantities == 0 || relation_is_ratio(d->quantities[0].relation);
    for (size_t i = 0; i < sizeof ideals / sizeof *ideals; i++)
        if (strcmp(kind, ideals[i].kind) == 0)
            return d->quantities[0].relation == ideals[i].relation;
    return true;
}

static bool has_rank_counts(const struct figure_data *d)
{
    const struct spec *spec = d->spec;
    size_t n = 0;
    if (d->figure->law == NULL || spec_option_is_open(spec, OPT_RANKS))
        return true;
    for (size_t i = 0; i < spec->n_points; i++) {
        double ranks = config_number(&spec->points[i].config, OPT_RANKS);
        size_t k = 0;
        while (k < i && config_number(&spec->points[k].config, OPT_RANKS) != ranks)
            k++;
        n += k == i;
    }
    return n >= FITS_RANK_COUNTS;
}

static const struct {
    enum figure_option_id id;
    bool (*acts)(const struct figure_data *d);
    const char *why;
} effects[] = {
    {FIGURE_X, x_differs, "all points have one value; expected an option that points differ in"},
    {FIGURE_Y, y_is_measured,
     "is set by the spec; expected measured quantities. Use y: step_ms, or another of `scalebench "
     "list quantities`"},
    {FIGURE_X, x_is_no_y, "is y itself; expected an option that points differ in, such as ranks"},
    {FIGURE_Y, x_is_no_y, "is x itself; expected a measured quantity, such as step_ms"},
    {FIGURE_Y, kind_has_y,
     "is not the quantity whose ideal line this kind draws. Use kind: line, or leave y out"},
    {FIGURE_SERIES, series_join_points,
     "x is among the series, so each curve would have one point. Leave x out of `series`"},
    {FIGURE_SHAPE, has_shape, "has no effect on this kind; use kind: line, or leave shape out"},
    {FIGURE_X_SCALE, has_x_scale, "has no effect on bars and names; leave x_scale out"},
    {FIGURE_MODEL, has_model,
     "has no effect: the model has no such quantity; use y: step_ms, images_per_s, speedup, "
     "efficiency or comm_replay_ms"},
    {FIGURE_LAW, has_law, "has no effect: laws describe speedup and efficiency; use y: speedup"},
    {FIGURE_LAW, has_rank_counts, "has no effect: a law is fitted to at least 4 numbers of ranks"},
    {FIGURE_KIND, has_rank_counts, "stays empty: a law is fitted to at least 4 numbers of ranks"},
};

static enum status check_effects(const struct figure_data *d, struct error *e)
{
    const struct value *options = d->figure->request->options;
    for (size_t i = 0; i < sizeof effects / sizeof *effects && is_to_run(d); i++)
        if (options[effects[i].id].set && !effects[i].acts(d))
            return refuse(d, effects[i].id, options[effects[i].id].text, effects[i].why, e);
    return OK;
}

static enum status check_published(const struct figure_data *d, struct error *e)
{
    const struct figure_request *r = d->figure->request;
    if (r->n_sources == 0 || d->figure->shape->any_x)
        return OK;
    return mark_error(e, ERR_SPEC, r->sources[0].options[PUBLISHED_FILE].mark,
                      "figures.published is not supported by a figure of kind %s, which shows only "
                      "the spec's published.file. Use kind: line",
                      r->options[FIGURE_KIND].text);
}

enum status figure_resolve(struct figure_data *d, const struct figure_request *request,
                           const struct spec *spec, bool several, struct error *e)
{
    *d = (struct figure_data){.own = figure_of(request), .spec = spec, .several = several};
    d->figure = &d->own;
    TRY(resolve_x(d, e));
    TRY(resolve_y(d, e));
    TRY(check_lack(d, e));
    TRY(resolve_where(d, e));
    TRY(resolve_series(d, e));
    TRY(check_effects(d, e));
    TRY(check_published(d, e));
    return figure_check_sources(d, e);
}
