/* Fills the CSV files whose rows come from files of launches: epochs.csv, steps.csv, ... */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/collect/csv/fill.h"
#include "bench/collect/csv/timelines.h"
#include "bench/collect/metric.h"
#include "bench/collect/resources.h"
#include "bench/record/records.h"
#include "bench/record/segments.h"
#include "bench/spec/pattern.h"
#include "kernels/base/mem.h"

/* ---- Launches ---- */

/* A launch and the records that its ranks have written. */
struct left {
    const struct journal_launch *journal;
    const struct point *point;
    char dir[4096];
    struct rank_record *records; /* [ranks] records; NULL: the CSV file uses none, or the program
                                    wrote none */
    int ranks;
};

/* Launches that a CSV file covers. `time`: valid timed launches. `accuracy`: valid accuracy runs.
 * `diverged`: also diverged launches of the kinds chosen. `records`: whether the ranks' records are
 * required, optional or not read. */
struct chosen {
    bool time, accuracy, diverged;
    enum { RECORDS_NEEDED, RECORDS_IF_THERE, RECORDS_IGNORED } records;
};

typedef enum status write_left(struct csv *csv, const struct left *left, struct error *e);

static bool is_chosen(const struct chosen *chosen, const struct journal_launch *journal,
                      const struct summary_launch *launch)
{
    return (launch->ok || (chosen->diverged && launch->diverged)) &&
           (journal->run == RUN_TIME ? chosen->time : chosen->accuracy);
}

static struct left left_of(const struct csv *csv, size_t i)
{
    const struct summary_launch *launch = &csv->s->launches[i];
    struct left left = {.journal = &csv->s->journal->launches[i],
                        .point = &csv->s->spec->points[launch->point],
                        .ranks = (int)launch->result.ranks};
    snprintf(left.dir, sizeof left.dir, "%s/%s", csv->run_dir, left.journal->launch);
    return left;
}

/* Calls `write` for every launch that `chosen` selects and that has the required records. Reads
 * records one launch at a time, to bound the memory. */
static enum status for_each_launch(struct csv *csv, struct chosen chosen, write_left *write,
                                   struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; i < csv->s->n_launches && status == OK; i++) {
        if (!is_chosen(&chosen, &csv->s->journal->launches[i], &csv->s->launches[i]))
            continue;
        struct left left = left_of(csv, i);
        bool has_records = launch_has_records(left.dir, left.point);
        if (!has_records && chosen.records == RECORDS_NEEDED)
            continue;
        if (has_records && chosen.records != RECORDS_IGNORED)
            status = records_read(&left.records, left.dir, left.ranks, e);
        THEN(status, write(csv, &left, e));
        records_free(left.records, left.ranks);
    }
    return status;
}

/* ---- epochs.csv ---- */

static const struct record_eval *eval_of(const struct rank_record *r, int64_t epoch)
{
    const struct record_eval *evals = r->evals.items;
    for (size_t i = 0; i < r->evals.n; i++)
        if (evals[i].epoch == epoch)
            return &evals[i];
    return NULL;
}

static const struct record_epoch *epoch_of(const struct rank_record *r, int64_t epoch)
{
    const struct record_epoch *epochs = r->epochs.items;
    for (size_t i = 0; i < r->epochs.n; i++)
        if (epochs[i].epoch == epoch)
            return &epochs[i];
    return NULL;
}

/* fills a column of the row from `lines`, the record lines of the row's epoch or step */
#define PLACE(id)             row->id = metric_number(METRIC_##id, lines);
#define PLACE_AS(id, meaning) PLACE(id)
#define COLUMN(id, type, unit, meaning)

/* Fills the row of one epoch. Times are of the slowest rank; losses and accuracies are equal on all
 * ranks. */
static void take_epoch(struct epochs_row *row, const struct rank_record *records, int ranks,
                       int64_t number)
{
    const void *lines[RECORD_LINES] = {NULL};
    row->lr = row->seconds = row->eval_seconds = row->noise_scale = NAN;
    for (int i = ranks - 1; i >= 0; i--) {
        const struct record_epoch *epoch = epoch_of(&records[i], number);
        const struct record_eval *eval = eval_of(&records[i], number);
        if (epoch != NULL) {
            lines[RECORD_epoch] = epoch;
            row->ranks = epoch->ranks > 0 ? (double)epoch->ranks : ranks;
            if (epoch->global_batch > 0)
                row->global_batch = (double)epoch->global_batch;
            row->lr = epoch->lr;
            row->noise_scale = launch_noise_scale(epoch->grad_variance, epoch->grad_norm2);
            row->seconds = fmax(row->seconds, epoch->seconds);
        }
        if (eval != NULL) {
            lines[RECORD_eval] = eval;
            row->eval_seconds = fmax(row->eval_seconds, eval->seconds);
        }
    }
#include "bench/collect/columns/epochs.def"
}

/* Returns the first rank that recorded epochs; rank 0 if no rank did. In some workloads only one
 * rank records epochs. */
static const struct rank_record *first_with_epochs(const struct rank_record *records, int ranks)
{
    for (int i = 0; i < ranks; i++)
        if (records[i].epochs.n > 0)
            return &records[i];
    return &records[0];
}

static enum status write_launch_epochs(struct csv *csv, const struct left *left, struct error *e)
{
    const struct rank_record *records = left->records;
    int ranks = left->ranks;
    const struct list *list = &first_with_epochs(records, ranks)->epochs;
    const struct record_epoch *epochs = list->items;
    struct epochs_row row = {.point = left->journal->point,
                             .launch = left->journal->launch,
                             .seed = (double)left->journal->seed,
                             .ranks = ranks,
                             .strategy = records[0].hello.strategy,
                             .global_batch = (double)records[0].hello.global_batch,
                             .status = "ok"};
    for (int i = 0; i < ranks; i++)
        if (records[i].end.diverged[0])
            row.status = "diverged";
    for (size_t i = 0; i < list->n; i++) {
        row.epoch = (double)epochs[i].epoch + 1;
        take_epoch(&row, records, ranks, epochs[i].epoch);
        csv_add(csv, &row);
    }
    return OK;
}

enum status csv_fill_epochs(struct csv *csv, struct error *e)
{
    return for_each_launch(csv, (struct chosen){.accuracy = true, .diverged = true},
                           write_launch_epochs, e);
}

/* ---- classes.csv ---- */

/* Writes one row per image class of the data set. Runs of older versions did not count images per
 * class and have no rows. */
static enum status write_launch_classes(struct csv *csv, const struct left *left, struct error *e)
{
    const struct list *list = &left->records[0].classes;
    for (int i = 1; i < left->ranks && list->n == 0; i++)
        list = &left->records[i].classes;
    const struct class_count *counts = list->items;
    struct classes_row row = {.point = left->journal->point,
                              .launch = left->journal->launch,
                              .seed = (double)left->journal->seed};
    for (size_t i = 0; i < list->n; i++) {
        row.class = (double)i;
        row.samples = (double)counts[i].samples;
        row.correct = (double)counts[i].correct;
        row.test_acc_pct = row.samples > 0 ? 100 * row.correct / row.samples : NAN;
        csv_add(csv, &row);
    }
    return OK;
}

enum status csv_fill_classes(struct csv *csv, struct error *e)
{
    return for_each_launch(csv, (struct chosen){.accuracy = true}, write_launch_classes, e);
}

/* ---- segments.csv ---- */

static struct segments_row segments_row_of(const struct segments *s, size_t i,
                                           const struct journal_launch *journal)
{
    const struct attempt *a = &s->attempts[i];
    return (struct segments_row){.point = journal->point,
                                 .seed = (double)journal->seed,
                                 .launch = a->launch,
                                 .segment = a->segment + 1,
                                 .ranks = a->ranks,
                                 .nodes = a->nodes,
                                 .begin_s = a->begin_s - s->attempts[0].begin_s,
                                 .wall_s = a->end_s - a->begin_s,
                                 .end = attempt_ends[a->end],
                                 .reason = a->reason,
                                 .epochs = a->progress.epoch,
                                 .resumed_steps = a->progress.resumed,
                                 .steps_done = a->progress.steps,
                                 .lost_steps = attempt_lost_steps(s, i),
                                 .pause_s = i > 0 ? attempt_pause_s(s, i) : NAN};
}

static enum status write_run_segments(struct csv *csv, const struct left *left, struct error *e)
{
    char path[4096];
    struct segments s;
    TRY(segments_path(path, sizeof path, left->dir, e));
    TRY(segments_read(&s, path, e));
    for (size_t i = 0; i < s.n; i++) {
        struct segments_row row = segments_row_of(&s, i, left->journal);
        csv_add(csv, &row);
    }
    segments_free(&s);
    return OK;
}

static bool is_resumed_later(const struct csv *csv, size_t i)
{
    const struct journal_launch *all = csv->s->journal->launches;
    for (size_t k = csv->s->launches[i].next; k < csv->s->n_launches; k = csv->s->launches[k].next)
        if (all[k].run == all[i].run && all[k].seed == all[i].seed)
            return true;
    return false;
}

enum status csv_fill_segments(struct csv *csv, struct error *e)
{
    for (size_t i = 0; i < csv->s->n_launches; i++) {
        if (csv->s->launches[i].unasked || csv->s->journal->launches[i].run != RUN_ACCURACY)
            continue;
        struct left left = left_of(csv, i);
        if (config_is_elastic(&left.point->config) && !is_resumed_later(csv, i))
            TRY(write_run_segments(csv, &left, e));
    }
    return OK;
}

/* ---- steps.csv ---- */

/* Fills the row of a step. A hash of zeros becomes an empty cell: the workload computed no hash of
 * the weights. */
static void take_step(struct steps_row *row, const struct record_step *step)
{
    const void *lines[RECORD_LINES] = {[RECORD_step] = step};
#include "bench/collect/columns/steps.def"
    row->epoch = (double)step->epoch + 1;
    row->step = (double)step->step + 1;
    row->timed = step->timed == VERDICT_TRUE;
    row->samples = (double)step->samples;
    row->step_ms = (double)(step->end_ns - step->begin_ns) / 1e6;
    row->poll_ms = (double)step->poll_ns / 1e6;
    row->loss = step->samples > 0 ? step->loss_sum : NAN;
    if (isfinite(row->loss))
        row->loss /= (double)step->samples;
    row->hash = step->hash[strspn(step->hash, "0")] ? step->hash : "";
}

#undef PLACE
#undef PLACE_AS
#undef COLUMN

static void write_rows_of_steps(struct csv *csv, struct steps_row *row,
                                const struct rank_record *records, int ranks, bool timed)
{
    size_t n = timed ? records[0].steps.n : records[0].warmup.n;
    double error_ns = records_clock_error_ns(records, ranks);
    for (size_t k = 0; k < n; k++) {
        struct arrivals a = records_arrivals(records, ranks, timed, k);
        bool tells = !(a.known && (double)(a.last_ns - a.first_ns) < error_ns);
        for (int rank = 0; rank < ranks; rank++) {
            take_step(row, records_step(&records[rank], timed, k));
            row->rank = rank;
            row->wait_ms = tells ? arrivals_wait_ns(&a, rank) / 1e6 : NAN;
            csv_add(csv, row);
        }
    }
}

static enum status write_launch_steps(struct csv *csv, const struct left *left, struct error *e)
{
    struct steps_row row = {.point = left->journal->point,
                            .launch = left->journal->launch,
                            .block = left->journal->block};
    write_rows_of_steps(csv, &row, left->records, left->ranks, false);
    write_rows_of_steps(csv, &row, left->records, left->ranks, true);
    return OK;
}

enum status csv_fill_steps(struct csv *csv, struct error *e)
{
    return for_each_launch(csv, (struct chosen){.time = true, .diverged = true}, write_launch_steps,
                           e);
}

/* ---- timeline.csv ---- */

static enum status write_launch_timeline(struct csv *csv, const struct left *left, struct error *e)
{
    const struct timeline_row of = {.point = left->journal->point,
                                    .label = left->point->label,
                                    .launch = left->journal->launch,
                                    .block = left->journal->block};
    return timeline_write(left->dir, left->records, left->ranks, &of, csv_add, csv, e);
}

enum status csv_fill_timeline(struct csv *csv, struct error *e)
{
    return for_each_launch(csv, (struct chosen){.time = true}, write_launch_timeline, e);
}

/* ---- resources.csv ---- */

static enum status write_launch_resources(struct csv *csv, const struct left *left, struct error *e)
{
    const struct journal_launch *journal = left->journal;
    bool timed = journal->run == RUN_TIME;
    struct resources_row of = {.point = journal->point,
                               .launch = journal->launch,
                               .run = timed ? "time" : "accuracy",
                               .block = timed ? journal->block : NAN,
                               .seed = (double)journal->seed};
    return resources_write(left->dir, left->point, timed, left->records, left->ranks, &of, csv_add,
                           csv, e);
}

/* Prints why resources.csv has no rows although a launch requested samples. */
static void note_no_samples(const struct csv *csv)
{
    for (size_t i = 0; i < csv->s->n_launches; i++) {
        const struct config *config = &csv->s->spec->points[csv->s->launches[i].point].config;
        if (!csv->s->launches[i].ok || config_number(config, OPT_RESOURCES) == 0)
            continue;
        log_print(LOG_NOTE,
                  "resources.csv has no rows: every launch was shorter than measure.resources = "
                  "%s. Use a shorter interval",
                  config_text(config, OPT_RESOURCES));
        return;
    }
}

enum status csv_fill_resources(struct csv *csv, struct error *e)
{
    struct chosen all = {.time = true, .accuracy = true, .records = RECORDS_IF_THERE};
    TRY(for_each_launch(csv, all, write_launch_resources, e));
    if (csv->rows == 0)
        note_no_samples(csv);
    return OK;
}

/* ---- metrics.csv ---- */

static enum status write_launch_metrics(struct csv *csv, const struct left *left, struct error *e)
{
    const struct value *metrics = &left->point->config.values[OPT_METRICS];
    struct metrics_row row = {.point = left->journal->point, .launch = left->journal->launch};
    double *values;
    if (launch_has_records(left->dir, left->point))
        return OK;
    TRY(MEM_NEW(values, metrics->n, "the metrics of a launch", e));
    enum status status = launch_metrics(left->dir, &left->point->config, values, e);
    for (size_t i = 0; i < metrics->n && status == OK; i++) {
        char name[PATTERN_NAME];
        pattern_split(name, metrics->texts[i]);
        row.metric = name;
        row.value = values[i];
        csv_add(csv, &row);
    }
    free(values);
    return status;
}

enum status csv_fill_metrics(struct csv *csv, struct error *e)
{
    struct chosen all = {.time = true, .accuracy = true, .records = RECORDS_IGNORED};
    return for_each_launch(csv, all, write_launch_metrics, e);
}
