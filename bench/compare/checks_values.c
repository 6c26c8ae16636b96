/* Looks up the values of names in conditions, at a point of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/timing.h"
#include "bench/compare/checks.h"
#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

static int find_column(const struct csv_table *summary, const char *name, const char *tail)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s", name, tail);
    return csv_table_find(summary, text);
}

static double number_of(const struct csv_table *summary, size_t row, const char *name,
                        const char *tail)
{
    int column = find_column(summary, name, tail);
    return column >= 0 ? csv_table_value(summary, row, summary->names[column]) : NAN;
}

/* Returns whether ranks share cores at the point. If `of_base`, also returns true if they share
 * cores at the base of its speed-up. */
static bool shares_cores(const struct csv_table *summary, size_t row, bool of_base)
{
    const char *base = csv_table_text(summary, row, "base_point");
    if (csv_table_value(summary, row, "oversubscribed") == 1 || !of_base)
        return csv_table_value(summary, row, "oversubscribed") == 1;
    for (size_t i = 0; i < summary->rows; i++)
        if (strcmp(csv_table_text(summary, i, "point"), base) == 0)
            return csv_table_value(summary, i, "oversubscribed") == 1;
    return false;
}

/* Returns whether the summary withholds this value or its interval, because ranks share cores. A
 * condition on a withheld value is undecided, whereas other empty values violate a condition. */
static bool is_withheld(const struct csv_table *summary, size_t row, const char *name)
{
    static const char *const claims[] = {"images_per_s", "speedup", "efficiency", "karp_flatt"};
    int claim = name_index(name, claims, sizeof claims / sizeof *claims);
    return claim >= 0 && find_column(summary, name, "_lo") >= 0 &&
           shares_cores(summary, row, claim > 0);
}

enum { STEM = 128 };

/* Copies a name to `stem` without the ending `tail`: step_ms for step_ms_median. A name without
 * this ending is copied whole. */
static void cut_tail(char stem[STEM], const char *name, const char *tail)
{
    size_t cut = text_ends(name, tail) ? strlen(tail) : 0;
    snprintf(stem, STEM, "%.*s", (int)(strlen(name) - cut), name);
}

enum status check_find_near(char near[NAME_NEAR_BYTES], const char *name,
                            const struct config *config, struct error *e)
{
    char(*stems)[STEM];
    const struct csv_file own = columns_of("summary.csv");
    const size_t n = own.n;
    TRY(MEM_NEW(stems, n, "the names of columns", e));
    const char **names = NULL;
    enum status status = MEM_NEW(names, n + OPTION_COUNT, "the names of columns", e);
    for (size_t i = 0; i < n + OPTION_COUNT && status == OK; i++) {
        enum option_id id = i < n ? 0 : (enum option_id)(i - n);
        if (i < n)
            cut_tail(stems[i], own.columns[i].name, "_median");
        names[i] = i < n            ? stems[i]
                   : config != NULL ? config_option(config, id)->key
                                    : option_get(id)->key;
    }
    if (status == OK)
        name_near(near, name, names, n + OPTION_COUNT);
    free(names);
    free(stems);
    return status;
}

static void set_interval(struct condition_value *value, double lo, double hi)
{
    value->spread = !isnan(lo) && !isnan(hi);
    value->lo = lo;
    value->hi = hi;
}

/* Reads the interval of a value from the columns that belong to its name: speedup_lo for speedup,
 * but test_acc_lo for test_acc_pct. */
static void find_interval(struct condition_value *value, const struct csv_table *summary,
                          size_t row, const char *stem)
{
    char short_stem[STEM];
    cut_tail(short_stem, stem, "_pct");
    set_interval(value, number_of(summary, row, stem, "_lo"), number_of(summary, row, stem, "_hi"));
    if (!value->spread)
        set_interval(value, number_of(summary, row, short_stem, "_lo"),
                     number_of(summary, row, short_stem, "_hi"));
}

struct condition_value check_anywhere(const struct condition_value *value)
{
    return (struct condition_value){value->number, value->text, true, -INFINITY, INFINITY};
}

bool check_has_interval(const struct csv_table *table, const char *name)
{
    char stem[STEM], short_stem[STEM];
    cut_tail(stem, name, "_median");
    cut_tail(short_stem, stem, "_pct");
    return find_column(table, stem, "_lo") >= 0 || find_column(table, short_stem, "_lo") >= 0;
}

static int find_summary_column(const struct csv_table *summary, const char *name)
{
    char stem[STEM];
    cut_tail(stem, name, "_median");
    int column = find_column(summary, stem, "");
    return column >= 0 ? column : find_column(summary, stem, "_median");
}

/* Looks up a column of summary.csv. step_ms and step_ms_median name the same column, with the
 * interval step_ms_lo to step_ms_hi. */
static bool look_up_column(struct condition_value *value, const char *name,
                           const struct csv_table *summary, size_t row)
{
    char stem[STEM];
    int column = find_summary_column(summary, name);
    cut_tail(stem, name, "_median");
    if (column < 0)
        return false;
    *value = condition_value_of(csv_table_cell(summary, row, (size_t)column));
    find_interval(value, summary, row, stem);
    if (!value->spread && is_withheld(summary, row, stem))
        *value = check_anywhere(value);
    return true;
}

/* ---- Metrics of user programs ---- */

static bool is_cell(const struct csv_table *table, size_t row, const char *column, const char *text)
{
    return strcmp(csv_table_text(table, row, column), text) == 0;
}

static bool is_metric(const struct csv_table *metrics, const char *name)
{
    for (size_t row = 0; row < metrics->rows; row++)
        if (is_cell(metrics, row, "metric", name))
            return true;
    return false;
}

static bool is_timed(const struct csv_table *raw, const char *launch)
{
    for (size_t row = 0; row < raw->rows; row++)
        if (is_cell(raw, row, "launch", launch))
            return is_cell(raw, row, "run", "time");
    return false;
}

/* Copies a metric's values at point `p` to p->c->values: from timed launches if `timed`, otherwise
 * from accuracy runs. Returns the number of values. */
static size_t take_metric(const struct check_point *p, const char *name, bool timed)
{
    size_t n = 0;
    const struct csv_table *metrics = &p->c->metrics;
    for (size_t row = 0; row < metrics->rows; row++) {
        double value = csv_table_value(metrics, row, "value");
        if (!isnan(value) && is_cell(metrics, row, "metric", name) &&
            is_cell(metrics, row, "point", p->c->run.points[p->point].id) &&
            is_timed(&p->c->run.raw, csv_table_text(metrics, row, "launch")) == timed)
            p->c->values[n++] = value;
    }
    return n;
}

/* Looks up a metric of a user's program: its median over launches, with an interval computed as for
 * step times. */
static bool look_up_metric(struct condition_value *value, const char *name,
                           const struct check_point *p)
{
    if (!is_metric(&p->c->metrics, name))
        return false;
    size_t n = take_metric(p, name, true);
    n = n > 0 ? n : take_metric(p, name, false);
    struct interval i = timing_interval(p->c->values, n, true);
    *value = (struct condition_value){.number = i.mid};
    set_interval(value, i.lo, i.hi);
    return true;
}

/* ---- Any name ---- */

bool check_is_number(const struct check_point *p, const char *name)
{
    int index = find_summary_column(&p->c->run.summary, name);
    if (index < 0)
        return is_metric(&p->c->metrics, name);
    enum column_id column = column_find(p->c->run.summary.names[index]);
    return column < COLUMNS && column_get(column)->type != CSV_TEXT;
}

/* columns of type REAL in summary.csv that are counted, not measured: each has nearly the same
 * value in all launches, so checks need no interval */
static const char *const counted[] = {
    "calls",      "bytes_payload", "bytes_wire", "messages_wire",    "bytes_ratio",
    "params_mib", "grads_mib",     "state_mib",  "model_states_mib", "model_states_error_pct"};

bool check_is_measured(const char *column)
{
    enum column_id id = column_find(column);
    return id < COLUMNS && column_get(id)->type == CSV_REAL &&
           column_option(column) == OPTION_COUNT &&
           name_index(column, counted, sizeof counted / sizeof *counted) < 0;
}

/* Returns whether the values of a row come from at most one launch and one accuracy run. False if
 * the table has no column `launches`. */
static bool has_one_launch(const struct csv_table *summary, size_t row)
{
    double launches = csv_table_value(summary, row, "launches");
    double runs = csv_table_value(summary, row, "accuracy_runs");
    return launches <= 1 && !(runs > 1);
}

bool check_is_relative(const char *name)
{
    static const char *const relative[] = {"speedup", "efficiency"};
    return name_index(name, relative, sizeof relative / sizeof *relative) >= 0;
}

bool check_is_single(const struct check_point *p, const char *name)
{
    const struct csv_table *summary = &p->c->run.summary;
    const struct side_point *row = &p->c->run.points[p->point];
    int column = find_summary_column(summary, name);
    if (column < 0)
        return is_metric(&p->c->metrics, name);
    return !(check_is_base(row) && check_is_relative(name)) &&
           (check_has_interval(summary, summary->names[column]) ||
            (check_is_measured(summary->names[column]) && has_one_launch(summary, p->point)));
}

const struct column *check_column(const char *name)
{
    char text[STEM + sizeof "_median"], stem[STEM];
    const struct column *column = column_of_file("summary.csv", name);
    cut_tail(stem, name, "_median");
    snprintf(text, sizeof text, "%s_median", stem);
    return column != NULL ? column : column_of_file("summary.csv", text);
}

enum condition_kind check_kind(const char *name, const struct config *config)
{
    const struct spec_option *option =
        config != NULL ? config_option_find(config, name) : option_find(name);
    const struct column *column = check_column(name);
    if (option != NULL && (column == NULL || strchr(name, '.') != NULL))
        return option_kind(option);
    return column != NULL ? column_kind(column) : CONDITION_ANY;
}

/* Looks up option `name` in the spec from the folder of summary.csv. Returns the point's options,
 * and sets *option; NULL if there is no such spec or option. */
static const struct config *find_option(const struct spec_option **option,
                                        const struct check_point *p, const char *name)
{
    if (!p->c->has_spec)
        return NULL;
    const struct config *config = &p->c->spec.points[p->c->points[p->point]].config;
    *option = config_option_find(config, name);
    return *option != NULL ? config : NULL;
}

/* If a name with a dot is both an option and a column, uses the option, since a text such as 64KiB
 * is a number only as the value of an option. */
bool check_look_up(struct condition_value *value, const char *name, const void *point)
{
    const struct check_point *p = point;
    const struct spec_option *option;
    const struct config *config = find_option(&option, p, name);
    bool dotted = strchr(name, '.') != NULL;
    if (!(dotted && config != NULL) && (look_up_column(value, name, &p->c->run.summary, p->point) ||
                                        look_up_metric(value, name, p)))
        return true;
    if (config != NULL)
        *value = option_as_condition(option, &config->values[option->id]);
    return config != NULL || (p->c->has_spec && foreign_has_metric(&p->c->spec, name));
}
