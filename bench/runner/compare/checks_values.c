/* What a name in a condition stands for at a point of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/runner/compare/checks.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

static int find_column(const struct csv_table *summary, const char *name, const char *tail)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s", name, tail);
    return csv_table_find(summary, text);
}

static double number_of(const struct csv_table *summary, size_t row, const char *name,
                        const char *tail)
{
    double number;
    int column = find_column(summary, name, tail);
    return column >= 0 && number_parse(csv_table_cell(summary, row, (size_t)column), &number)
               ? number
               : NAN;
}

/* Of ranks that share cores the summary has these without their intervals: a bound on them is open. */
static bool is_withheld(const struct csv_table *summary, size_t row, const char *name)
{
    static const char *const claims[] = {"speedup", "images_per_s"};
    bool withheld = false;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        withheld |= strcmp(name, claims[i]) == 0;
    return withheld && find_column(summary, name, "_lo") >= 0 &&
           number_of(summary, row, "oversubscribed", "") == 1;
}

enum { STEM = 128 };

/* step_ms of step_ms_median, in `stem`; the name where it does not end so. */
static void cut_tail(char stem[STEM], const char *name, const char *tail)
{
    size_t length = strlen(name), cut = strlen(tail);
    bool ends_so = length > cut && strcmp(name + length - cut, tail) == 0;
    snprintf(stem, STEM, "%.*s", (int)(ends_so ? length - cut : length), name);
}

struct known_names {
    char (*stems)[STEM];
    const char **names;
    size_t n;
};

static enum status list_names(struct known_names *known, const struct config *config,
                              struct error *e)
{
    size_t n;
    const struct column *columns = columns_of("summary.csv", &n);
    TRY(MEM_NEW(known->stems, n, "the names of columns", e));
    TRY(MEM_NEW(known->names, n + OPTION_COUNT, "the names of columns", e));
    for (size_t i = 0; i < n; i++) {
        cut_tail(known->stems[i], columns[i].name, "_median");
        known->names[known->n++] = known->stems[i];
    }
    for (int id = 0; id < OPTION_COUNT; id++)
        known->names[known->n++] = (config != NULL ? config_option(config, (enum option_id)id)
                                                   : option_get((enum option_id)id))
                                       ->key;
    return OK;
}

enum status check_find_near(char near[NAME_NEAR_BYTES], const char *name,
                            const struct config *config, struct error *e)
{
    struct known_names known = {.n = 0};
    enum status status = list_names(&known, config, e);
    if (status == OK)
        name_near(near, name, known.names, known.n);
    free(known.names);
    free(known.stems);
    return status;
}

/* speedup_lo of speedup; test_acc_lo of test_acc_pct. */
static void find_interval(double *lo, double *hi, const struct csv_table *summary, size_t row,
                          const char *stem)
{
    char short_stem[STEM];
    cut_tail(short_stem, stem, "_pct");
    *lo = number_of(summary, row, stem, "_lo");
    *hi = number_of(summary, row, stem, "_hi");
    if (!isnan(*lo))
        return;
    *lo = number_of(summary, row, short_stem, "_lo");
    *hi = number_of(summary, row, short_stem, "_hi");
}

bool check_has_interval(const struct csv_table *table, const char *name)
{
    char stem[STEM], short_stem[STEM];
    cut_tail(stem, name, "_median");
    cut_tail(short_stem, stem, "_pct");
    return find_column(table, stem, "_lo") >= 0 || find_column(table, short_stem, "_lo") >= 0;
}

/* step_ms and step_ms_median are one; their interval is that of step_ms. */
static bool look_up_column(struct condition_value *value, double *lo, double *hi, const char *name,
                           const struct csv_table *summary, size_t row)
{
    char stem[STEM];
    cut_tail(stem, name, "_median");
    int column = find_column(summary, stem, "");
    column = column >= 0 ? column : find_column(summary, stem, "_median");
    if (column < 0)
        return false;
    value->text = csv_table_cell(summary, row, (size_t)column);
    if (!number_parse(value->text, &value->number))
        value->number = NAN;
    find_interval(lo, hi, summary, row, stem);
    if (isnan(*lo) && is_withheld(summary, row, stem)) {
        *lo = -INFINITY;
        *hi = INFINITY;
    }
    return true;
}

void check_look_up_option(struct condition_value *value, const struct config *config,
                          enum option_id option)
{
    value->text = config_text(config, option);
    value->number = config_number(config, option);
}

bool check_look_up(struct condition_value *value, double *lo, double *hi, const char *name,
                   const void *point)
{
    const struct check_point *p = point;
    if (look_up_column(value, lo, hi, name, &p->c->run.summary, p->point))
        return true;
    if (!p->c->has_spec)
        return false;
    const struct config *config = &p->c->spec.points[p->c->points[p->point]].config;
    const struct spec_option *option = config_option_find(config, name);
    if (option == NULL)
        return false;
    check_look_up_option(value, config, option->id);
    return true;
}
