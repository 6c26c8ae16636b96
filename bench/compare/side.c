#include "bench/compare/side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"

/* A launch that counts. `value` is the column asked for, `work_us` what the fixed piece of work took beside it. */
struct launch {
    const char *point;
    double block, value, batch, work_us;
    bool disturbed;
};

struct raw_columns {
    size_t point, label, run, block, status, value, batch;
    int disturbed, work_before, work_after; /* negative: the tables of earlier versions have none */
};

static int by_point_and_block(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    int order = strcmp(x->point, y->point);
    return order != 0 ? order : (x->block > y->block) - (x->block < y->block);
}

/* ---- Launches ---- */

static enum status find_columns(struct raw_columns *c, const struct csv_table *raw,
                                const struct compared *what, struct error *e)
{
    const struct csv_wanted wanted[] = {
        {"point", &c->point},        {"label", &c->label},   {"run", &c->run},
        {"block", &c->block},        {"status", &c->status}, {what->raw, &c->value},
        {"global_batch", &c->batch},
    };
    c->disturbed = csv_table_find(raw, "disturbed");
    c->work_before = csv_table_find(raw, "work_before_us");
    c->work_after = csv_table_find(raw, "work_after_us");
    return csv_table_columns(raw, wanted, sizeof wanted / sizeof *wanted, e);
}

/* NAN where the table has no such column, or an empty cell. */
static enum status take_optional(double *number, const struct csv_table *raw, size_t row,
                                 int column, struct error *e)
{
    *number = NAN;
    return column >= 0 ? csv_table_number(raw, row, (size_t)column, number, e) : OK;
}

static enum status take_launch(struct launch *launch, const struct csv_table *raw, size_t row,
                               const struct raw_columns *c, struct error *e)
{
    launch->point = csv_table_cell(raw, row, c->point);
    launch->disturbed =
        c->disturbed >= 0 && csv_table_cell(raw, row, (size_t)c->disturbed)[0] != '\0';
    TRY(csv_table_number(raw, row, c->block, &launch->block, e));
    TRY(csv_table_number(raw, row, c->value, &launch->value, e));
    TRY(csv_table_number(raw, row, c->batch, &launch->batch, e));
    double before, after;
    TRY(take_optional(&before, raw, row, c->work_before, e));
    TRY(take_optional(&after, raw, row, c->work_after, e));
    launch->work_us = (before + after) / 2;
    launch->block = isnan(launch->block) ? -1 : launch->block; /* of an accuracy run */
    return OK;
}

static enum status take_launches(struct launch *launches, size_t *n, const struct csv_table *raw,
                                 const struct compared *what, struct error *e)
{
    struct raw_columns c;
    *n = 0;
    TRY(find_columns(&c, raw, what, e));
    for (size_t row = 0; row < raw->rows; row++)
        if (strcmp(csv_table_cell(raw, row, c.run), what->run) == 0 &&
            strcmp(csv_table_cell(raw, row, c.status), "ok") == 0)
            TRY(take_launch(&launches[(*n)++], raw, row, &c, e));
    qsort(launches, *n, sizeof *launches, by_point_and_block);
    return OK;
}

/* A launch of somebody else's program has no images: what it has done is what the run's own speed-ups go by. */
static enum status take_work_of_commands(struct launch *launches, size_t n, const struct side *side,
                                         struct error *e)
{
    struct spec spec = {.n_points = 0};
    size_t first = 0;
    while (first < n && !isnan(launches[first].batch))
        first++;
    if (first == n)
        return OK;
    enum status status = run_spec_load(&spec, side->path, NULL, e);
    for (size_t i = first; i < n && status == OK; i++) {
        size_t point = spec_find_point(&spec, launches[i].point);
        if (isnan(launches[i].batch) && point < spec.n_points)
            launches[i].batch = point_work(&spec, &spec.points[point], NAN);
    }
    spec_free(&spec);
    return status;
}

/* The first of a point, and how many it has. */
static const struct launch *launches_of(const struct launch *launches, size_t n, const char *point,
                                        size_t *found)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(launches[mid].point, point) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (hi = lo; hi < n && strcmp(launches[hi].point, point) == 0;)
        hi++;
    *found = hi - lo;
    return &launches[lo];
}

static double rate_of(const struct launch *launch)
{
    return 1e3 * launch->batch / launch->value;
}

/* Launches of one block ran under like conditions: a ratio is one of a block. NULL: there is none. */
static const struct launch *launch_in_block(const struct launch *launches, size_t n,
                                            const char *point, double block)
{
    const struct launch wanted = {.point = point, .block = block};
    return *point ? bsearch(&wanted, launches, n, sizeof wanted, by_point_and_block) : NULL;
}

/* ---- Points ---- */

static void take_point(struct side_point *p, const struct csv_table *summary, size_t row)
{
    *p = (struct side_point){
        .id = csv_table_text(summary, row, "point"),
        .case_name = csv_table_text(summary, row, "case"),
        .status = csv_table_text(summary, row, "status"),
        .base = csv_table_text(summary, row, "base_point"),
        .peer = csv_table_text(summary, row, "peer_point"),
        .cores =
            csv_table_value(summary, row, "speedup") / csv_table_value(summary, row, "efficiency"),
    };
}

/* `partner`: what a ratio is to, or NULL. */
static double value_of(const struct side_point *p, const struct launch *launch,
                       const struct launch *partner, enum compared_source source)
{
    double rate = partner != NULL ? rate_of(partner) : NAN;
    switch (source) {
    case SOURCE_COLUMN:
        return launch->value;
    case SOURCE_RATE:
        return rate_of(launch);
    case SOURCE_BASE:
    case SOURCE_PEER:
        return rate_of(launch) / rate;
    case SOURCE_CORES:
        return rate_of(launch) / rate / p->cores;
    }
    return NAN;
}

static const char *partner_point(const struct side_point *p, enum compared_source source)
{
    return source == SOURCE_PEER                             ? p->peer
           : source == SOURCE_BASE || source == SOURCE_CORES ? p->base
                                                             : "";
}

/* A base is 1 times itself in every block, which tells nothing. */
static bool is_trivial(const struct side_point *p, enum compared_source source)
{
    return (source == SOURCE_BASE || source == SOURCE_CORES) && strcmp(p->id, p->base) == 0;
}

/* The label of a point's launches, failed ones included; of a point without any the label in summary.csv, which tables of
 * earlier versions lack. */
static const char *find_label(const struct side *side, size_t i)
{
    for (size_t row = 0; row < side->raw.rows; row++)
        if (strcmp(csv_table_text(&side->raw, row, "point"), side->points[i].id) == 0)
            return csv_table_text(&side->raw, row, "label");
    return csv_table_text(&side->summary, i, "label");
}

/* Launches that several cases share bear the label of the first, which begins with its case. */
static void take_label(struct side_point *p, const char *label)
{
    bool is_own = !label[0] || strncmp(label, p->case_name, strlen(p->case_name)) == 0;
    snprintf(p->label, sizeof p->label, is_own ? "%s" : "%s (%s)", is_own ? label : p->case_name,
             label);
}

/* Writes at `values`; returns how many. */
static size_t take_values(struct side_point *p, double *values, double *work_us,
                          const struct launch *launches, size_t n, enum compared_source source)
{
    size_t own;
    const struct launch *first = launches_of(launches, n, p->id, &own);
    p->values = values;
    p->work_us = work_us;
    for (size_t i = 0; i < own && !is_trivial(p, source); i++) {
        const struct launch *partner =
            launch_in_block(launches, n, partner_point(p, source), first[i].block);
        double value = value_of(p, &first[i], partner, source);
        if (!isfinite(value))
            continue;
        values[p->n] = value;
        p->work_us[p->n++] = first[i].work_us;
        p->disturbed += first[i].disturbed || (partner != NULL && partner->disturbed);
    }
    return p->n;
}

/* Rows of several cases may show the same launches. */
static size_t count_values(const struct side *side, const struct launch *launches, size_t n)
{
    size_t sum = 0, own;
    for (size_t i = 0; i < side->n; i++) {
        launches_of(launches, n, side->points[i].id, &own);
        sum += own;
    }
    return sum;
}

/* raw.csv has each launch that the summary counts: a table that was cut off would be judged by what is left. */
static enum status check_launches(const struct side *side, const struct launch *launches, size_t n,
                                  struct error *e)
{
    for (size_t i = 0; i < side->n; i++) {
        size_t own;
        double counted = csv_table_value(&side->summary, i, "launches");
        launches_of(launches, n, side->points[i].id, &own);
        if (counted > (double)own)
            return error_at(e, ERR_DATA, side->raw.path, 0, 0,
                            "%zu launches of point %s, of which summary.csv counts %.0f: rows are "
                            "missing",
                            own, side->points[i].id, counted);
    }
    return OK;
}

static enum status take_points(struct side *side, const struct launch *launches, size_t n,
                               const struct compared *what, struct error *e)
{
    size_t used = 0;
    TRY(MEM_NEW(side->points, side->summary.rows, "the points of a run", e));
    side->n = side->summary.rows;
    for (size_t i = 0; i < side->n; i++) {
        take_point(&side->points[i], &side->summary, i);
        take_label(&side->points[i], find_label(side, i));
    }
    size_t all = count_values(side, launches, n);
    TRY(MEM_NEW(side->values, 2 * all, "the launches of a run", e));
    for (size_t i = 0; i < side->n; i++)
        used += take_values(&side->points[i], side->values + used, side->values + all + used,
                            launches, n, what->source);
    return OK;
}

static enum status read_table(struct csv_table *table, const struct side *side, const char *file,
                              struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/%s", side->path, file));
    if (!path_exists(path))
        return error_at(e, ERR_ARGUMENT, path, 0, 0,
                        "not there: a run has it once it has ended; `scalebench figures %s` writes "
                        "it from the records",
                        side->path);
    return csv_table_read(table, path, e);
}

static enum status take_work(struct side *side, const struct launch *launches, size_t n,
                             struct error *e)
{
    double *work;
    bool known = n > 0;
    TRY(MEM_NEW(work, n, "the launches of a run", e));
    for (size_t i = 0; i < n; i++) {
        work[i] = launches[i].work_us;
        known = known && work[i] > 0;
    }
    if (known)
        side->work_us = stats_median(work, n);
    free(work);
    return OK;
}

static enum status read_tables(struct side *side, const struct compared *what, struct error *e)
{
    size_t n, id;
    struct launch *launches = NULL;
    TRY(read_table(&side->summary, side, "summary.csv", e));
    TRY(csv_table_column(&side->summary, "point", &id, e));
    TRY(read_table(&side->raw, side, "raw.csv", e));
    enum status status = MEM_NEW(launches, side->raw.rows, "the launches of a run", e);
    THEN(status, take_launches(launches, &n, &side->raw, what, e));
    if (what->source != SOURCE_COLUMN)
        THEN(status, take_work_of_commands(launches, n, side, e));
    THEN(status, take_points(side, launches, n, what, e));
    if (strcmp(what->run, "time") == 0)
        THEN(status, check_launches(side, launches, n, e));
    THEN(status, take_work(side, launches, n, e));
    free(launches);
    return status;
}

/* Empty where a copy has its tables alone. */
static void take_machine(struct side *side)
{
    struct run run;
    const char *machine = NULL;
    if (run_read(&run, side->path))
        machine = json_string_value(json_object_get(run.facts, "machine"));
    snprintf(side->machine, sizeof side->machine, "%s", machine != NULL ? machine : "");
    run_free(&run);
}

static void use_clock(struct side_point *p, enum compared_clock clock)
{
    for (size_t i = 0; i < p->n; i++)
        p->values[i] *=
            clock == CLOCK_TIME ? p->clock_us / p->work_us[i] : p->work_us[i] / p->clock_us;
}

void side_use_clocks(struct side *side, enum compared_clock clock)
{
    for (size_t i = 0; i < side->n; i++)
        use_clock(&side->points[i], clock);
}

enum status side_read(struct side *side, const char *name, const char *path,
                      const struct compared *what, struct error *e)
{
    *side = (struct side){.name = name, .work_us = NAN};
    char *absolute = realpath(path, NULL);
    if (absolute == NULL)
        return error_at(e, ERR_ARGUMENT, path, 0, 0, "no such folder");
    enum status status = path_format(side->path, e, "%s", absolute);
    free(absolute);
    THEN(status, read_tables(side, what, e));
    if (status == OK)
        take_machine(side);
    return status;
}

bool side_point_failed(const struct side_point *p)
{
    static const enum point_status bad[] = {POINT_failed, POINT_timeout, POINT_diverged};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!p->exact && strcmp(p->status, point_status_names()[bad[i]]) == 0)
            return true;
    return false;
}

void side_free(struct side *side)
{
    csv_table_free(&side->summary);
    csv_table_free(&side->raw);
    for (size_t r = 0; r < side->n_repeats; r++)
        side_free(&side->repeats[r]);
    free(side->repeats);
    free(side->points);
    free(side->values);
    *side = (struct side){.n = 0};
}
