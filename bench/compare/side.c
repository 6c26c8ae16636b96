#include "bench/compare/side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/record/launch_rows.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"

/* ---- Launches ---- */

/* Returns the mean of a launch's work_before_us and work_after_us, a measure of the processor's
 * speed. NAN if either is missing, as in short or simulated launches, at site ssh, and in runs of
 * earlier versions. */
static double work_us_of(const struct side *side, const struct launch_row *launch)
{
    return (csv_table_value(&side->raw, launch->row, "work_before_us") +
            csv_table_value(&side->raw, launch->row, "work_after_us")) /
           2;
}

static bool is_disturbed(const struct side *side, const struct launch_row *launch)
{
    return csv_table_text(&side->raw, launch->row, "disturbed")[0] != '\0';
}

/* If a launch of a user's program reports no images, sets its `images` to the work of one step
 * (point_work). The speed-ups in summary.csv use the same work. */
static enum status take_work_of_commands(struct launch_rows *launches, const struct side *side,
                                         struct error *e)
{
    struct spec spec = {.n_points = 0};
    size_t first = 0;
    while (first < launches->n && !isnan(launches->items[first].images))
        first++;
    if (first == launches->n)
        return OK;
    enum status status = run_spec_load(&spec, side->path, NULL, e);
    for (size_t i = first; i < launches->n && status == OK; i++) {
        struct launch_row *launch = &launches->items[i];
        size_t point = spec_find_point(&spec, launch->point);
        if (isnan(launch->images) && point < spec.n_points)
            launch->images = point_work(&spec, &spec.points[point], NAN);
    }
    spec_free(&spec);
    return status;
}

static double rate_of(const struct launch_row *launch)
{
    return 1e3 * launch->images / launch->value;
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
        .simulated = strcmp(csv_table_text(summary, row, "kind"), "simulated") == 0,
        .cores =
            csv_table_value(summary, row, "speedup") / csv_table_value(summary, row, "efficiency"),
    };
}

/* Returns the launch's value, its rate, or the ratio of its rate to the partner's rate, as `source`
 * states. SOURCE_CORES: the ratio is divided by p->cores. `partner`: for ratios, launch of the base
 * or peer in the same block; NULL: the ratio is NAN. */
static double value_of(const struct side_point *p, const struct launch_row *launch,
                       const struct launch_row *partner, enum compared_source source)
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

/* Returns whether the value is 1 by definition and not measured: the speed-up or efficiency of a
 * base relative to itself. */
static bool is_trivial(const struct side_point *p, enum compared_source source)
{
    return (source == SOURCE_BASE || source == SOURCE_CORES) && strcmp(p->id, p->base) == 0;
}

/* Returns the label of point i from raw.csv; if the point was never launched, from summary.csv. "":
 * summary.csv has no labels (earlier versions). */
static const char *find_label(const struct side *side, size_t i)
{
    for (size_t row = 0; row < side->raw.rows; row++)
        if (strcmp(csv_table_text(&side->raw, row, "point"), side->points[i].id) == 0)
            return csv_table_text(&side->raw, row, "label");
    return csv_table_text(&side->summary, i, "label");
}

/* Sets the point's label. If several cases share launches, raw.csv has only the first case's label.
 * The label of each other case is then set to "CASE (label in raw.csv)". */
static void take_label(struct side_point *p, const char *label)
{
    bool is_own = !label[0] || strncmp(label, p->case_name, strlen(p->case_name)) == 0;
    snprintf(p->label, sizeof p->label, is_own ? "%s" : "%s (%s)", is_own ? label : p->case_name,
             label);
}

/* Writes the known values of the point's launches to `values`, and the time of the fixed
 * computation in each of these launches (us) to `work_us`. Returns the number of values. */
static size_t take_values(const struct side *side, struct side_point *p, double *values,
                          double *work_us, const struct launch_rows *launches,
                          enum compared_source source)
{
    size_t own;
    const struct launch_row *first = launch_rows_of(launches, p->id, &own);
    p->values = values;
    p->work_us = work_us;
    for (size_t i = 0; i < own && !is_trivial(p, source); i++) {
        const struct launch_row *partner =
            launch_rows_in_block(launches, partner_point(p, source), first[i].block);
        double value = value_of(p, &first[i], partner, source);
        if (!isfinite(value))
            continue;
        values[p->n] = value;
        p->work_us[p->n++] = work_us_of(side, &first[i]);
        p->disturbed +=
            is_disturbed(side, &first[i]) || (partner != NULL && is_disturbed(side, partner));
    }
    return p->n;
}

/* Returns the number of launches of all points, an upper bound on the number of values. A launch
 * that several cases share counts once for each case. */
static size_t count_values(const struct side *side, const struct launch_rows *launches)
{
    size_t sum = 0, own;
    for (size_t i = 0; i < side->n; i++) {
        launch_rows_of(launches, side->points[i].id, &own);
        sum += own;
    }
    return sum;
}

/* Returns ERR_DATA if raw.csv has fewer launches of a point than summary.csv states. Rows of
 * raw.csv are then missing. */
static enum status check_launches(const struct side *side, const struct launch_rows *launches,
                                  struct error *e)
{
    for (size_t i = 0; i < side->n; i++) {
        size_t own;
        double counted = csv_table_value(&side->summary, i, "launches");
        launch_rows_of(launches, side->points[i].id, &own);
        if (counted > (double)own)
            return error_at(e, ERR_DATA, side->raw.path, 0, 0,
                            "expected %.0f launches of point %s as in summary.csv, found %zu",
                            counted, side->points[i].id, own);
    }
    return OK;
}

static enum status take_points(struct side *side, const struct launch_rows *launches,
                               const struct compared *what, struct error *e)
{
    size_t used = 0;
    TRY(MEM_NEW(side->points, side->summary.rows, "the points of a run", e));
    side->n = side->summary.rows;
    for (size_t i = 0; i < side->n; i++) {
        take_point(&side->points[i], &side->summary, i);
        take_label(&side->points[i], find_label(side, i));
    }
    size_t all = count_values(side, launches);
    TRY(MEM_NEW(side->values, 2 * all, "the launches of a run", e));
    for (size_t i = 0; i < side->n; i++)
        used += take_values(side, &side->points[i], side->values + used, side->values + all + used,
                            launches, what->source);
    return OK;
}

static enum status take_work(struct side *side, const struct launch_rows *launches, struct error *e)
{
    double *work;
    bool known = launches->n > 0;
    TRY(MEM_NEW(work, launches->n, "the launches of a run", e));
    for (size_t i = 0; i < launches->n; i++) {
        work[i] = work_us_of(side, &launches->items[i]);
        known = known && work[i] > 0;
    }
    if (known)
        side->work_us = stats_median(work, launches->n);
    free(work);
    return OK;
}

static enum status read_tables(struct side *side, const struct compared *what, struct error *e)
{
    size_t id;
    struct launch_rows launches = {.items = NULL};
    TRY(csv_table_read_run(&side->summary, side->path, "summary.csv", e));
    TRY(csv_table_column(&side->summary, "point", &id, e));
    TRY(csv_table_read_run(&side->raw, side->path, "raw.csv", e));
    TRY(csv_table_column(&side->raw, "label", &id, e));
    enum status status = launch_rows_read(&launches, &side->raw, what->run, what->raw, false, e);
    if (what->source != SOURCE_COLUMN)
        THEN(status, take_work_of_commands(&launches, side, e));
    THEN(status, take_points(side, &launches, what, e));
    if (strcmp(what->run, "time") == 0)
        THEN(status, check_launches(side, &launches, e));
    THEN(status, take_work(side, &launches, e));
    free(launches.items);
    return status;
}

/* Reads the class of hardware from the run's manifest; "" if the folder has no manifest. */
static void take_machine(struct side *side)
{
    struct run run;
    const char *machine = NULL;
    if (run_read(&run, side->path))
        machine = json_string_value(json_object_get(run.facts, "machine"));
    snprintf(side->machine, sizeof side->machine, "%s", machine != NULL ? machine : "");
    run_free(&run);
}

void side_use_clocks(struct side *side, enum compared_clock clock)
{
    for (struct side_point *p = side->points; p < side->points + side->n; p++)
        for (size_t i = 0; i < p->n; i++)
            p->values[i] *=
                clock == CLOCK_TIME ? p->clock_us / p->work_us[i] : p->work_us[i] / p->clock_us;
}

enum status side_read(struct side *side, const char *name, const char *path,
                      const struct compared *what, struct error *e)
{
    *side = (struct side){.name = name, .work_us = NAN};
    char *absolute = realpath(path, NULL);
    if (absolute == NULL)
        return error_at(e, ERR_ARGUMENT, path, 0, 0, "folder not found");
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
