/* The files that a run leaves. CSV files are RFC 4180 with line feeds, one row of names, an unknown
 * value empty. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/collect.h"
#include "bench/collect/losses.h"
#include "bench/collect/metric.h"
#include "bench/collect/resources.h"
#include "bench/collect/rules.h"
#include "bench/collect/stage.h"
#include "bench/collect/summary.h"
#include "bench/collect/timelines.h"
#include "bench/record/records.h"
#include "bench/record/segments.h"
#include "bench/spec/foreign.h"
#include "kernels/base/mem.h"

/* A file being written, and what its rows are made of. */
struct csv {
    FILE *out;
    size_t file;                  /* of columns/files.def */
    const struct column *columns; /* [n_columns] of this file */
    size_t n_columns;
    const struct summary *s;
    const char *run_dir;
    const struct journal *journal;
};

static void write_header(struct csv *csv, const char *file)
{
    csv->columns = columns_of(file, &csv->n_columns);
    csv_write_header(csv->out, csv->columns, csv->n_columns);
}

static void write_row(struct csv *csv, const void *row)
{
    csv_write_row(csv->out, csv->columns, csv->n_columns, row);
}

/* ---- raw.csv ---- */

static const char *status_text(const struct journal_launch *journal,
                               const struct summary_launch *launch)
{
    if (launch_is_done(journal))
        return launch->ok ? "ok" : launch->diverged ? "diverged" : "failed";
    if (journal->status == LAUNCH_RUNNING)
        return "interrupted";
    return journal->status == LAUNCH_TIMEOUT ? "timeout" : "failed";
}

static const char *label_of(const struct spec *spec, const char *id)
{
    size_t i = spec_find_point(spec, id);
    return i < spec->n_points ? spec->points[i].label : "";
}

static const char *case_of(const struct spec *spec, const char *id)
{
    size_t i = spec_find_point(spec, id);
    return i < spec->n_points ? spec->points[i].case_name : "";
}

static struct raw_row raw_row_of(const struct csv *csv, const struct journal_launch *journal,
                                 const struct summary_launch *launch)
{
    bool timed = journal->run == RUN_TIME;
    return (struct raw_row){
        .launch = journal->launch,
        .point = journal->point,
        .label = label_of(csv->s->spec, journal->point),
        .case_name = case_of(csv->s->spec, journal->point),
        .run = timed ? "time" : "accuracy",
        .block = timed ? journal->block : NAN,
        .seed = (double)journal->seed,
        .status = status_text(journal, launch),
        .reason = launch->reason,
        .wall_s = journal->status != LAUNCH_RUNNING ? journal->wall_s : NAN,
        .key = journal->key,
    };
}

/* NULL: nothing is known. */
static void take_result(struct raw_row *row, const struct launch_result *result)
{
#define UNKNOWN_TEXT NULL
#define UNKNOWN_INT  NAN
#define UNKNOWN_REAL NAN
#define UNKNOWN_BOOL (-1)
#define FIELD(line, field, kind, flags)
#define METRIC(id, type, unit, ...) RESULT(id, type, unit, NONE, "")
#define RESULT(id, type, unit, launches, meaning)                                                  \
    row->id = result != NULL ? result->id : UNKNOWN_##type;
#include "bench/record/metrics.def"
#undef METRIC
#undef RESULT
}

static enum status write_raw(struct csv *csv, struct error *e)
{
    write_header(csv, "raw.csv");
    for (size_t i = 0; i < csv->s->n_launches; i++) {
        const struct summary_launch *launch = &csv->s->launches[i];
        if (launch->unasked)
            continue;
        struct raw_row row = raw_row_of(csv, &csv->journal->launches[i], launch);
        take_result(&row, launch->ok || launch->diverged ? &launch->result : NULL);
        write_row(csv, &row);
    }
    return OK;
}

/* ---- Files of rows inside launches ---- */

typedef enum status write_records(struct csv *csv, const struct journal_launch *journal,
                                  const struct rank_record *records, int ranks, const char *dir,
                                  struct error *e);

/* Calls `write` with the records of every launch of this kind that counts, or that `diverged`. They
 * are read again, one launch at a time: all steps of a campaign need not fit into memory. */
static enum status for_each_launch(struct csv *csv, enum launch_run run, bool diverged,
                                   write_records *write, struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; i < csv->s->n_launches && status == OK; i++) {
        const struct journal_launch *journal = &csv->journal->launches[i];
        const struct summary_launch *launch = &csv->s->launches[i];
        if (!(launch->ok || (diverged && launch->diverged)) || journal->run != run)
            continue;
        char dir[4096];
        size_t point = spec_find_point(csv->s->spec, journal->point);
        struct rank_record *records;
        int ranks = (int)launch->result.ranks;
        snprintf(dir, sizeof dir, "%s/%s", csv->run_dir, journal->launch);
        if (!launch_has_records(dir, &csv->s->spec->points[point]))
            continue;
        status = records_read(&records, dir, ranks, e);
        THEN(status, write(csv, journal, records, ranks, dir, e));
        records_free(records, ranks);
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

/* In a file: what it has of metrics, taken from `lines`. */
#define PLACE(id)             row->id = metric_number(METRIC_##id, lines);
#define PLACE_AS(id, meaning) PLACE(id)
#define COLUMN(id, type, unit, meaning)

/* Losses and accuracies are the same on every rank, times are the slowest's. */
static void take_epoch(struct epochs_row *row, const struct rank_record *records, int ranks,
                       int64_t number)
{
    const void *lines[RECORD_LINES] = {NULL};
    row->lr = row->seconds = row->eval_seconds = NAN;
    for (int i = ranks - 1; i >= 0; i--) {
        const struct record_epoch *epoch = epoch_of(&records[i], number);
        const struct record_eval *eval = eval_of(&records[i], number);
        if (epoch != NULL) {
            lines[RECORD_epoch] = epoch;
            row->ranks = epoch->ranks > 0 ? (double)epoch->ranks : ranks;
            if (epoch->global_batch > 0)
                row->global_batch = (double)epoch->global_batch;
            row->lr = epoch->lr;
            row->seconds = fmax(row->seconds, epoch->seconds);
        }
        if (eval != NULL) {
            lines[RECORD_eval] = eval;
            row->eval_seconds = fmax(row->eval_seconds, eval->seconds);
        }
    }
#include "bench/collect/columns/epochs.def"
}

/* The first rank that wrote epochs: ranks may leave them to rank 0. */
static const struct rank_record *first_with_epochs(const struct rank_record *records, int ranks)
{
    for (int i = 0; i < ranks; i++)
        if (records[i].epochs.n > 0)
            return &records[i];
    return &records[0];
}

static enum status write_launch_epochs(struct csv *csv, const struct journal_launch *journal,
                                       const struct rank_record *records, int ranks,
                                       const char *dir, struct error *e)
{
    const struct list *list = &first_with_epochs(records, ranks)->epochs;
    const struct record_epoch *epochs = list->items;
    struct epochs_row row = {.point = journal->point,
                             .label = label_of(csv->s->spec, journal->point),
                             .case_name = case_of(csv->s->spec, journal->point),
                             .launch = journal->launch,
                             .seed = (double)journal->seed,
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
        write_row(csv, &row);
    }
    return OK;
}

static enum status write_epochs(struct csv *csv, struct error *e)
{
    write_header(csv, "epochs.csv");
    return for_each_launch(csv, RUN_ACCURACY, true, write_launch_epochs, e);
}

/* ---- classes.csv ---- */

/* Records from before classes were counted have none. */
static enum status write_launch_classes(struct csv *csv, const struct journal_launch *journal,
                                        const struct rank_record *records, int ranks,
                                        const char *dir, struct error *e)
{
    const struct list *list = &records[0].classes;
    for (int i = 1; i < ranks && list->n == 0; i++)
        list = &records[i].classes;
    const struct class_count *counts = list->items;
    struct classes_row row = {.point = journal->point,
                              .label = label_of(csv->s->spec, journal->point),
                              .case_name = case_of(csv->s->spec, journal->point),
                              .launch = journal->launch,
                              .seed = (double)journal->seed};
    for (size_t i = 0; i < list->n; i++) {
        row.class = (double)i;
        row.samples = (double)counts[i].samples;
        row.correct = (double)counts[i].correct;
        row.test_acc_pct = row.samples > 0 ? 100 * row.correct / row.samples : NAN;
        write_row(csv, &row);
    }
    return OK;
}

static enum status write_classes(struct csv *csv, struct error *e)
{
    write_header(csv, "classes.csv");
    return for_each_launch(csv, RUN_ACCURACY, false, write_launch_classes, e);
}

/* ---- segments.csv ---- */

static struct segments_row segments_row_of(const struct csv *csv, const struct segments *s,
                                           size_t i, const struct journal_launch *journal)
{
    const struct attempt *a = &s->attempts[i];
    return (struct segments_row){.point = journal->point,
                                 .label = label_of(csv->s->spec, journal->point),
                                 .case_name = case_of(csv->s->spec, journal->point),
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

static enum status write_run_segments(struct csv *csv, const struct journal_launch *journal,
                                      struct error *e)
{
    char dir[4096], path[4096];
    struct segments s;
    snprintf(dir, sizeof dir, "%s/%s", csv->run_dir, journal->launch);
    TRY(segments_path(path, sizeof path, dir, e));
    TRY(segments_read(&s, path, e));
    for (size_t i = 0; i < s.n; i++) {
        struct segments_row row = segments_row_of(csv, &s, i, journal);
        write_row(csv, &row);
    }
    segments_free(&s);
    return OK;
}

/* Whether a later launch goes on with the same run. */
static bool is_gone_on_with(const struct csv *csv, size_t i)
{
    const struct journal_launch *own = &csv->journal->launches[i];
    for (size_t k = i + 1; k < csv->journal->n_launches; k++) {
        const struct journal_launch *other = &csv->journal->launches[k];
        if (other->run == own->run && other->seed == own->seed &&
            strcmp(other->point, own->point) == 0)
            return true;
    }
    return false;
}

static enum status write_segments(struct csv *csv, struct error *e)
{
    write_header(csv, "segments.csv");
    for (size_t i = 0; i < csv->s->n_launches; i++) {
        const struct journal_launch *journal = &csv->journal->launches[i];
        size_t point = spec_find_point(csv->s->spec, journal->point);
        if (!csv->s->launches[i].unasked && journal->run == RUN_ACCURACY &&
            config_is_elastic(&csv->s->spec->points[point].config) && !is_gone_on_with(csv, i))
            TRY(write_run_segments(csv, journal, e));
    }
    return OK;
}

/* ---- steps.csv ---- */

/* A workload that takes no hash writes zeros. */
static const char *hash_of(const struct record_step *step)
{
    return step->hash[strspn(step->hash, "0")] ? step->hash : "";
}

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
    row->hash = hash_of(step);
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
            write_row(csv, row);
        }
    }
}

/* Warm-up comes first. */
static enum status write_launch_steps(struct csv *csv, const struct journal_launch *journal,
                                      const struct rank_record *records, int ranks, const char *dir,
                                      struct error *e)
{
    struct steps_row row = {.point = journal->point,
                            .label = label_of(csv->s->spec, journal->point),
                            .case_name = case_of(csv->s->spec, journal->point),
                            .launch = journal->launch,
                            .block = journal->block};
    write_rows_of_steps(csv, &row, records, ranks, false);
    write_rows_of_steps(csv, &row, records, ranks, true);
    return OK;
}

static enum status write_steps(struct csv *csv, struct error *e)
{
    write_header(csv, "steps.csv");
    return for_each_launch(csv, RUN_TIME, true, write_launch_steps, e);
}

/* ---- timeline.csv ---- */

static void write_timeline_row(void *csv, const struct timeline_row *row)
{
    write_row(csv, row);
}

static enum status write_launch_timeline(struct csv *csv, const struct journal_launch *journal,
                                         const struct rank_record *records, int ranks,
                                         const char *dir, struct error *e)
{
    const struct timeline_row of = {.point = journal->point,
                                    .label = label_of(csv->s->spec, journal->point),
                                    .case_name = case_of(csv->s->spec, journal->point),
                                    .launch = journal->launch,
                                    .block = journal->block};
    return timeline_write(dir, records, ranks, &of, write_timeline_row, csv, e);
}

static enum status write_timeline(struct csv *csv, struct error *e)
{
    write_header(csv, "timeline.csv");
    return for_each_launch(csv, RUN_TIME, false, write_launch_timeline, e);
}

/* ---- resources.csv ---- */

static void write_resources_row(void *csv, const struct resources_row *row)
{
    write_row(csv, row);
}

static enum status write_launch_resources(struct csv *csv, const struct journal_launch *journal,
                                          const struct summary_launch *launch,
                                          const struct point *point, struct error *e)
{
    bool timed = journal->run == RUN_TIME;
    struct resources_row of = {.point = journal->point,
                               .label = label_of(csv->s->spec, journal->point),
                               .case_name = case_of(csv->s->spec, journal->point),
                               .launch = journal->launch,
                               .run = timed ? "time" : "accuracy",
                               .block = timed ? journal->block : NAN,
                               .seed = (double)journal->seed};
    char dir[4096];
    int ranks = (int)launch->result.ranks;
    struct rank_record *records = NULL;
    enum status status = OK;
    snprintf(dir, sizeof dir, "%s/%s", csv->run_dir, journal->launch);
    if (launch_has_records(dir, point))
        status = records_read(&records, dir, ranks, e);
    THEN(status,
         resources_write(dir, point, journal->run, records, &of, write_resources_row, csv, e));
    records_free(records, ranks);
    return status;
}

static enum status write_resources(struct csv *csv, struct error *e)
{
    write_header(csv, "resources.csv");
    for (size_t i = 0; i < csv->s->n_launches; i++) {
        const struct journal_launch *journal = &csv->journal->launches[i];
        size_t point = spec_find_point(csv->s->spec, journal->point);
        if (csv->s->launches[i].ok)
            TRY(write_launch_resources(csv, journal, &csv->s->launches[i],
                                       &csv->s->spec->points[point], e));
    }
    return OK;
}

/* ---- metrics.csv ---- */

static void write_metrics_of(struct csv *csv, const struct journal_launch *journal,
                             const struct config *config, const double *values)
{
    struct metrics_row row = {.point = journal->point,
                              .label = label_of(csv->s->spec, journal->point),
                              .case_name = case_of(csv->s->spec, journal->point),
                              .launch = journal->launch};
    for (size_t i = 0; i < config->values[OPT_METRICS].n; i++) {
        char name[FOREIGN_NAME];
        foreign_metric_name(name, config, i);
        row.metric = name;
        row.value = values[i];
        write_row(csv, &row);
    }
}

static enum status write_metrics(struct csv *csv, struct error *e)
{
    enum status status = OK;
    write_header(csv, "metrics.csv");
    for (size_t i = 0; i < csv->s->n_launches && status == OK; i++) {
        const struct journal_launch *journal = &csv->journal->launches[i];
        size_t point = spec_find_point(csv->s->spec, journal->point);
        char dir[4096];
        double *values;
        snprintf(dir, sizeof dir, "%s/%s", csv->run_dir, journal->launch);
        if (!csv->s->launches[i].ok || launch_has_records(dir, &csv->s->spec->points[point]))
            continue;
        const struct config *config = &csv->s->spec->points[point].config;
        TRY(MEM_NEW(values, config->values[OPT_METRICS].n, "the metrics of a launch", e));
        status = launch_metrics(dir, config, values, e);
        if (status == OK)
            write_metrics_of(csv, journal, config, values);
        free(values);
    }
    return status;
}

/* ---- losses.csv ---- */

static enum status write_losses(struct csv *csv, struct error *e)
{
    struct losses losses;
    write_header(csv, "losses.csv");
    enum status status = losses_collect(&losses, csv->s, e);
    for (size_t i = 0; status == OK && i < losses.n; i++)
        write_row(csv, &losses.rows[i]);
    losses_free(&losses);
    return status;
}

/* ---- rules.csv ---- */

static enum status write_rules(struct csv *csv, struct error *e)
{
    struct rule_result results[RULES];
    write_header(csv, "rules.csv");
    rules_grade(results, csv->s);
    for (size_t i = 0; i < RULES; i++) {
        struct rules_row row = {.rule = (double)i + 1,
                                .title = rule_title(i),
                                .grade = rule_grade_name(results[i].grade),
                                .by = results[i].by,
                                .remedy = results[i].grade == RULE_NOT_MET ? rule_remedy(i) : ""};
        write_row(csv, &row);
    }
    return OK;
}

/* ---- layers.csv ---- */

static void write_net(struct csv *csv, const struct net_desc *net)
{
    char shape[40];
    for (int i = 0; i < net->n_layers; i++) {
        const struct layer_desc *layer = &net->layers[i];
        struct layers_row row = {.model = net->name,
                                 .layer = layer->name,
                                 .layer_kind = layer_names()[layer->kind],
                                 .output = shape_text(shape, layer->out),
                                 .params = (double)net_layer_params(net, layer),
                                 .flops_forward = (double)layer->flops_forward,
                                 .flops_backward = (double)layer->flops_backward};
        write_row(csv, &row);
    }
    struct layers_row total = {.model = net->name,
                               .layer = "total",
                               .params = (double)net->n_params,
                               .flops_forward = (double)net->flops_forward,
                               .flops_backward = (double)net->flops_backward};
    write_row(csv, &total);
}

static enum status write_layers(struct csv *csv, struct error *e)
{
    write_header(csv, "layers.csv");
    for (size_t i = 0; i < csv->s->spec->n_inputs; i++)
        if (csv->s->spec->inputs[i].option == OPT_MODEL)
            write_net(csv, &csv->s->spec->inputs[i].net);
    return OK;
}

/* ---- columns.csv and summary.csv ---- */

static enum status write_columns(struct csv *csv, struct error *e)
{
    size_t n;
    const struct column *columns = columns_all(&n);
    csv_write_dictionary(csv->out, columns, n);
    return OK;
}

static enum status write_summary(struct csv *csv, struct error *e)
{
    write_header(csv, "summary.csv");
    for (size_t k = 0; k < csv->s->n; k++)
        csv_write_texts(csv->out, (const char *const *)csv->s->points[k].cells, COLUMNS);
    return OK;
}

/* ---- Files ---- */

typedef enum status write_rows(struct csv *csv, struct error *e);

static const struct {
    const char *name;
    write_rows *write;
} files[] = {
#define CSV_FILE(name, within, rows) {#name ".csv", write_##name},
#include "bench/collect/columns/files.def"
#undef CSV_FILE
};

#define FILES (sizeof files / sizeof files[0])

static enum status write_file(FILE *out, void *what, struct error *e)
{
    struct csv *csv = what;
    csv->out = out;
    return files[csv->file].write(csv, e);
}

/* A table of an earlier analysis, which this one has no rows for, would be taken for its own. */
static void remove_stale(const char *run_dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", run_dir, name);
    unlink(path);
}

static enum status write_files(struct csv *csv, const struct stage *stage, struct error *e)
{
    for (size_t i = 0; i < FILES; i++) {
        csv->file = i;
        if (!csv_file_is_wanted(i, csv->s->spec)) {
            remove_stale(csv->run_dir, files[i].name);
            continue;
        }
        TRY(stage_write(stage, files[i].name, write_file, csv, e));
        TRY(stage_keep(stage, files[i].name, e));
    }
    return OK;
}

enum status summary_write(const struct summary *s, const char *run_dir,
                          const struct journal *journal, struct error *e)
{
    if (journal->n_launches != s->n_launches)
        return error_set(e, ERR_ARGUMENT, "a summary of %zu launches for a journal of %zu",
                         s->n_launches, journal->n_launches);
    struct csv csv = {.s = s, .run_dir = run_dir, .journal = journal};
    struct stage stage;
    enum status status = stage_open(&stage, run_dir, e);
    THEN(status, write_files(&csv, &stage, e));
    stage_close(&stage);
    return status;
}
