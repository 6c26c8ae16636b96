#include "bench/collect/columns.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/spec/foreign.h"
#include "bench/spec/value.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* Defines constants for the type, unit and meaning of each metric. The PLACE rows of `columns` use
 * these constants. LAUNCHES_<reduction>: text appended to the meaning of a metric's column in
 * summary.csv. */
#define LAUNCHES_NONE   ""
#define LAUNCHES_FIRST  ""
#define LAUNCHES_MAX    ""
#define LAUNCHES_MEDIAN ". Median over launches"
#define LAUNCHES_EITHER ". Median over launches"
#define LAUNCHES_SEEDS  ". Median over seeds"
#define TEXTS(id, type, unit_text, own_text, summary_text)                                         \
    enum { TYPE_OF_##id = CSV_##type };                                                            \
    __attribute__((unused)) static const char unit_of_##id[] = unit_text,                          \
                                              own_of_##id[] = own_text,                            \
                                              summary_of_##id[] = summary_text;
#define METRIC(id, type, unit, line, field, kind, flags, ranks, launches, meaning)                 \
    TEXTS(id, type, unit, meaning, meaning OVER_##line("") LAUNCHES_##launches)
#define RESULT(id, type, unit, launches, meaning)                                                  \
    TEXTS(id, type, unit, meaning, meaning LAUNCHES_##launches)
#include "bench/record/metrics.def"

/* The rows of columns/<file>.def describe the columns of <file>.csv. Each .def file is included
 * with OWN defined as <file>. */
#define OF_FILE(file, id, name, type, unit, meaning)                                               \
    {#file ".csv", name, (enum csv_type)type, unit, meaning, offsetof(struct file##_row, id)},
#define OF(file, id, name, type, unit, meaning) OF_FILE(file, id, name, type, unit, meaning)
#define COLUMN(id, type, unit, meaning)         OF(OWN, id, #id, CSV_##type, unit, meaning)
#define PLACE_AS(id, meaning)                   OF(OWN, id, #id, TYPE_OF_##id, unit_of_##id, meaning)
#undef COLUMN_NAMED
#define COLUMN_NAMED(id, name, type, unit, meaning) OF(OWN, id, name, CSV_##type, unit, meaning)
static const struct column columns[] = {
/* summary.csv must be first: column_get indexes its columns */
#define PLACE(id) PLACE_AS(id, summary_of_##id)
#define OWN       summary
#include "bench/collect/columns/summary.def"
#undef OWN
#undef PLACE
#define PLACE(id) PLACE_AS(id, own_of_##id)
#define OWN       raw
#include "bench/collect/columns/raw.def"
#undef OWN
#define OWN epochs
#include "bench/collect/columns/epochs.def"
#undef OWN
#define OWN classes
#include "bench/collect/columns/classes.def"
#undef OWN
#define OWN segments
#include "bench/collect/columns/segments.def"
#undef OWN
#define OWN steps
#include "bench/collect/columns/steps.def"
#undef OWN
#define OWN timeline
#include "bench/collect/columns/timeline.def"
#undef OWN
#define OWN resources
#include "bench/collect/columns/resources.def"
#undef OWN
#define OWN metrics
#include "bench/collect/columns/metrics.def"
#undef OWN
#define OWN losses
#include "bench/collect/columns/losses.def"
#undef OWN
#define OWN fits
#include "bench/collect/columns/fits.def"
#undef OWN
#define OWN rules
#include "bench/collect/columns/rules.def"
#undef OWN
#define OWN layers
#include "bench/collect/columns/layers.def"
#undef OWN
#define OWN columns
#include "bench/collect/columns/columns.def"
#undef OWN
};
#undef COLUMN
#undef COLUMN_NAMED
#define COLUMN_NAMED(id, name, type, unit, meaning) COLUMN(id, type, unit, meaning)
#undef PLACE
#undef PLACE_AS

/* NEED_<reduction>: option that must be set to fill columns with this reduction over launches
 * (`launches` in metrics.def); OPTION_COUNT: no option is needed */
enum {
    NEED_NONE = OPTION_COUNT,
    NEED_FIRST = OPTION_COUNT,
    NEED_MAX = OPTION_COUNT,
    NEED_EITHER = OPTION_COUNT,
    NEED_MEDIAN = OPT_TIME_LAUNCHES,
    NEED_SEEDS = OPT_ACCURACY_SEEDS
};

static const struct {
    const char *columns;
    int option;
} needs[] = {
#define METRIC(id, type, unit, line, field, kind, flags, ranks, launches, meaning)                 \
    {#id, NEED_##launches},
#define RESULT(id, type, unit, launches, meaning) {#id, NEED_##launches},
#include "bench/record/metrics.def"
#define NEED(option, columns) {columns, OPT_##option},
#include "bench/collect/columns/needs.def"
};

static const struct {
    const char *file;
    enum option_id option;
    const char *within, *kind, *rows;
} files[] = {
#define CSV_FILE(name, option, within, kind, rows) {#name ".csv", option, within, kind, rows},
#include "bench/collect/columns/files.def"
};

enum { FILES = sizeof files / sizeof *files };

const char *const *csv_file_names(size_t *n)
{
    static const char *const names[] = {
#define CSV_FILE(name, ...) #name,
#include "bench/collect/columns/files.def"
    };
    *n = FILES;
    return names;
}

static size_t file_index(const char *file)
{
    size_t i = 0;
    while (i < FILES && strcmp(files[i].file, file) != 0)
        i++;
    return i;
}

static bool has_peer(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        for (size_t w = 0; w < WORKLOADS; w++)
            if (spec->points[i].peers[w] != i)
                return true;
    return false;
}

/* Returns whether the ranks of any point write records; also true for a spec without points. A
 * user's program may write none. */
static bool has_records(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (!config_is_foreign(&spec->points[i].config) ||
            foreign_writes_records(&spec->points[i].config))
            return true;
    return spec->n_points == 0;
}

static bool is_met(enum option_id need, const struct spec *spec)
{
    bool timed = spec->config.values[OPT_TIME_LAUNCHES].number_hi > 0;
    if (need == OPT_TIME_LAUNCHES || need == OPT_WORKLOAD)
        return need == OPT_WORKLOAD ? has_peer(spec) : timed;
    if (need == OPT_MODEL)
        return has_records(spec);
    bool is_elastic = need == OPT_ELASTIC || need == OPT_RESTARTS;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        if (is_elastic ? config_is_elastic(config)
                       : !value_is_preset(option_get(need), &config->values[need]))
            return true;
    }
    return false;
}

bool csv_file_is_wanted(size_t i, const struct spec *spec)
{
    return files[i].option == OPTION_COUNT || is_met(files[i].option, spec);
}

const char *csv_file_unwritten(const char *file, const struct spec *spec)
{
    size_t i = file_index(file);
    return i < FILES && !csv_file_is_wanted(i, spec) ? files[i].rows : NULL;
}

/* Returns whether `name` is the column's name or a bound of its interval. `name` may lack the
 * ending _median or _pct: step_ms and step_ms_lo refer to step_ms_median, test_acc_lo to
 * test_acc_pct. */
static bool is_column_of(const char *column, const char *name)
{
    size_t length = strlen(name);
    if (text_ends(name, "_lo") || text_ends(name, "_hi"))
        length -= strlen("_lo");
    const char *tail = column + length;
    return strncmp(column, name, length) == 0 &&
           (*tail == '\0' || strcmp(tail, "_median") == 0 || strcmp(tail, "_pct") == 0);
}

static bool is_one_of(const char *words, const char *name)
{
    char column[64];
    for (int length; sscanf(words, "%63s%n", column, &length) == 1; words += length)
        if (is_column_of(column, name))
            return true;
    return false;
}

enum option_id column_lack(const char *name, const struct spec *spec)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].option != OPTION_COUNT && is_one_of(needs[i].columns, name) &&
            !is_met((enum option_id)needs[i].option, spec))
            return (enum option_id)needs[i].option;
    return OPTION_COUNT;
}

bool column_range(const char *name, struct condition_range *range)
{
    static const struct {
        const char *columns;
        struct condition_range range;
    } ranges[] = {
#define RANGE(columns, least, most) {columns, {.lo = least, .hi = most}},
#define ABOVE(columns, least)       {columns, {.lo = least, .hi = INFINITY, .above = true}},
#define SHARE(columns)              {columns, {.hi = INFINITY, .above = true, .share = true}},
#include "bench/collect/columns/ranges.def"
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (is_one_of(ranges[i].columns, name)) {
            *range = ranges[i].range;
            return true;
        }
    return false;
}

void column_explain_lack(char why[LACK_BYTES], enum option_id lack, const struct spec *spec)
{
    const struct spec_option *option = option_get(lack);
    if (lack == OPT_ACCURACY_SEEDS)
        snprintf(why, LACK_BYTES,
                 "it needs accuracy runs, but measure.accuracy.seeds is []. Give one seed per run, "
                 "such as [1, 2, 3]");
    else if (lack == OPT_TIME_LAUNCHES)
        snprintf(
            why, LACK_BYTES,
            "it needs timed launches, but measure.time.launches is %s. Give a number, such as 6",
            config_text(&spec->config, lack));
    else if (lack == OPT_WORKLOAD)
        snprintf(why, LACK_BYTES,
                 "it compares with another program, but no point has a peer. Add points with "
                 "workload = peer_torch");
    else if (lack == OPT_MODEL)
        snprintf(why, LACK_BYTES,
                 "it needs records of ranks, which workload.command does not write. Use step_ms or "
                 "a metric of workload.metrics, or pass {record}");
    else
        snprintf(why, LACK_BYTES,
                 "it needs %s, which is %s at every point; see `scalebench explain %s`",
                 option->key, option->preset, option->key);
}

const char *summary_file(const struct spec *spec, size_t i)
{
    for (size_t file = 0; file < FILES; file++)
        if (csv_file_is_wanted(file, spec) && i-- == 0)
            return files[file].file;
    return NULL;
}

const char *csv_file_kind(const char *file)
{
    size_t i = file_index(file);
    return i < FILES ? files[i].kind : "";
}

bool csv_file_repeats(const char *file, const char *column)
{
    size_t i = file_index(file);
    return i < FILES && name_is_word(files[i].within, column);
}

const struct point_number *point_numbers(size_t *n)
{
    static const struct point_number numbers[] = {
#define COLUMN(id, type, unit, meaning)
#define PLACE(id)
#define PLACE_AS(id, meaning)
#define NUMBER(id, unit, member, meaning)                                                          \
    {COLUMN_##id, offsetof(struct point_summary, member), false, NAN},
#define COUNT(id, unit, member, none, meaning)                                                     \
    {COLUMN_##id, offsetof(struct point_summary, member), true, none},
#include "bench/collect/columns/summary.def"
#undef COLUMN
#undef PLACE
#undef PLACE_AS
    };
    *n = sizeof numbers / sizeof *numbers;
    return numbers;
}

const enum column_id *columns_exact(size_t *n)
{
    static const enum column_id exact[] = {
#define COLUMN(id, type, unit, meaning)
#define PLACE(id)
#define PLACE_AS(id, meaning)
#define EXACT(row)                              EXACT_##row
#define EXACT_PLACE(id)                         COLUMN_##id,
#define EXACT_PLACE_AS(id, meaning)             COLUMN_##id,
#define EXACT_NUMBER(id, unit, member, meaning) COLUMN_##id,
#include "bench/collect/columns/summary.def"
#undef COLUMN
#undef PLACE
#undef PLACE_AS
    };
    *n = sizeof exact / sizeof *exact;
    return exact;
}

const struct csv_file columns_all = {"", NULL, columns, sizeof columns / sizeof *columns};

struct csv_file columns_of(const char *file)
{
    struct csv_file own = {.name = file, .columns = columns};
    const struct column *end = columns + columns_all.n;
    while (own.columns < end && strcmp(own.columns->file, file) != 0)
        own.columns++;
    while (own.columns + own.n < end && strcmp(own.columns[own.n].file, file) == 0)
        own.n++;
    return own;
}

const struct column *column_of_file(const char *file, const char *name)
{
    const struct csv_file own = columns_of(file);
    for (size_t i = 0; i < own.n; i++)
        if (strcmp(own.columns[i].name, name) == 0)
            return &own.columns[i];
    return NULL;
}

const struct column *column_get(enum column_id id)
{
    return &columns[id];
}

enum column_id column_find(const char *name)
{
    const struct column *column = column_of_file("summary.csv", name);
    return column != NULL ? (enum column_id)(column - columns) : COLUMNS;
}

const char *key_end(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

void columns_print(FILE *out)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct csv_file file = columns_of(files[i].file);
        file.rows = files[i].rows;
        fputs(i ? "\n" : "", out);
        csv_print_columns(out, &file);
    }
}

static bool is_exact(const struct column *column)
{
    size_t n;
    const enum column_id *exact = columns_exact(&n);
    for (size_t i = 0; i < n; i++)
        if (column == column_get(exact[i]))
            return true;
    return false;
}

void column_explain(FILE *out, const struct column *column)
{
    fprintf(out, "%s in %s\n  %s\n", column->name, column->file, column->meaning);
    fprintf(out, "  type     %s\n", csv_type_name(column->type));
    if (column->unit[0])
        fprintf(out, "  unit     %s\n", column->unit);
    if (is_exact(column))
        fputs("  exact    equal on every machine; see `scalebench check --exact`\n", out);
}
