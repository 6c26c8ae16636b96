/* Describes the columns of series_NAME.csv and dots_NAME.csv, which are written with figures.
 * Rejects user-defined options and metrics that have the name of a column. */
#include <string.h>

#include "bench/collect/columns.h"
#include "bench/figures/figures.h"
#include "bench/spec/foreign.h"
#include "bench/spec/pattern.h"
#include "kernels/base/text.h"

#define SERIES_COLUMN(name, type, unit, meaning)                                                   \
    {"series_NAME.csv", name, CSV_##type, unit, meaning, 0},
#define DOTS_COLUMN(name, type, unit, meaning)
static const struct column series[] = {
#include "bench/figures/csv_figures.def"
};
#define SERIES_COLUMN(name, type, unit, meaning)
#define DOTS_COLUMN(name, type, unit, meaning)                                                     \
    {"dots_NAME.csv", name, CSV_##type, unit, meaning, 0},
static const struct column dots[] = {
#include "bench/figures/csv_figures.def"
};

const struct csv_file figures_series = {
    "series_NAME.csv", "One row per value of a figure, in a file beside its picture", series,
    sizeof series / sizeof *series};
const struct csv_file figures_dots = {
    "dots_NAME.csv", "One row per launch behind a value of a figure, in a file beside its picture",
    dots, sizeof dots / sizeof *dots};

/* ---- Names chosen by the user ---- */

/* Returns whether `name` means this column in a condition: "step_ms" is short for
 * step_ms_median. */
static bool is_column(const struct column *column, const char *name)
{
    size_t length = strlen(name);
    return strncmp(column->name, name, length) == 0 &&
           (!column->name[length] || strcmp(column->name + length, "_median") == 0);
}

/* Returns the column of summary.csv that `name` means in a condition; NULL: none. `is_option`:
 * whether `name` is a user-defined option. If so, also searches the columns of dots_NAME.csv and of
 * series_NAME.csv, whose x column can be named after the option. */
static const struct column *find_column(const char *name, bool is_option)
{
    const struct csv_file files[] = {columns_of("summary.csv"), figures_series, figures_dots};
    for (size_t i = 0; i < (is_option ? 3 : 1); i++)
        for (size_t k = 0; k < files[i].n; k++)
            if (is_column(&files[i].columns[k], name))
                return &files[i].columns[k];
    return NULL;
}

static enum status check_own_name(const char *what, const char *name, const struct column *column,
                                  struct mark mark, struct error *e)
{
    if (column == NULL)
        return OK;
    return mark_error(e, ERR_SPEC, mark,
                      "%s: '%s' already names column %s of %s. Choose another name, such as my_%s",
                      what, name, column->name, column->file, name);
}

/* Rejects a metric with the name of a user-defined option, since a condition could not distinguish
 * them. */
static enum status check_metric_name(const struct config *config, const char *name, struct error *e)
{
    char key[FIGURES_STEM];
    snprintf(key, sizeof key, "%s.%s", own_options_group, name);
    const struct spec_option *own = config_option_find(config, key);
    if (own == NULL || !config->values[own->id].set)
        return OK;
    return mark_error(e, ERR_SPEC, config->values[OPT_METRICS].mark,
                      "%s: '%s' is the name of %s. Choose another name, such as my_%s",
                      option_get(OPT_METRICS)->key, name, key, name);
}

static enum status check_point_names(const struct config *config, struct error *e)
{
    const struct value *metrics = &config->values[OPT_METRICS];
    char name[PATTERN_NAME];
    for (size_t i = 0; i < metrics->n; i++)
        if (pattern_split(name, metrics->texts[i]) != NULL) {
            TRY(check_own_name(option_get(OPT_METRICS)->key, name, find_column(name, false),
                               metrics->mark, e));
            TRY(check_metric_name(config, name, e));
        }
    for (size_t i = 0; config->own != NULL && i < config->own->n; i++) {
        const char *own = key_end(config->own->keys[i]);
        if (config->values[OPT_OWN + i].set)
            TRY(check_own_name(own_options_group, own, find_column(own, true),
                               config->values[OPT_OWN + i].mark, e));
    }
    return OK;
}

enum status figures_check_names(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->n_points; i++)
        TRY(check_point_names(&spec->points[i].config, e));
    return OK;
}

/* ---- Endings ---- */

const char *figures_explain_ending(char stem[FIGURES_STEM], const char *column)
{
    static const char *const endings[][2] = {
        {"_lo", "Lower bound of the confidence interval of the value."},
        {"_hi", "Upper bound of the confidence interval of the value."},
        {"_published", "Published value, from published.file of the spec."},
        {"_model", "Value that the figure's model predicts."}};
    size_t length = strlen(column);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t tail = strlen(endings[i][0]);
        if (!text_ends(column, endings[i][0]) || length - tail >= FIGURES_STEM)
            continue;
        snprintf(stem, FIGURES_STEM, "%.*s", (int)(length - tail), column);
        return endings[i][1];
    }
    return NULL;
}
