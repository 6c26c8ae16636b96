/* Writes the files of a run. CSV files follow RFC 4180, but lines end with a line feed alone. They
 * have one header row; unknown values are empty. */
#include <math.h>
#include <unistd.h>

#include "bench/collect/csv/fill.h"
#include "bench/collect/fits.h"
#include "bench/collect/losses.h"
#include "bench/collect/rules.h"
#include "bench/record/sweep_files.h"

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

static struct raw_row raw_row_of(const struct journal_launch *journal,
                                 const struct summary_launch *launch)
{
    bool timed = journal->run == RUN_TIME;
    return (struct raw_row){
        .launch = journal->launch,
        .point = journal->point,
        .run = timed ? "time" : "accuracy",
        .block = timed ? journal->block : NAN,
        .seed = (double)journal->seed,
        .status = status_text(journal, launch),
        .reason = launch->reason,
        .wall_s = launch_wall_s(journal, &launch->result),
        .key = journal->key,
    };
}

static void take_result(struct raw_row *row, const struct launch_result *result)
{
#define METRIC(id, ...) row->id = result->id;
#define RESULT(id, ...) row->id = result->id;
#include "bench/record/metrics.def"
}

enum status csv_fill_raw(struct csv *csv, struct error *e)
{
    struct launch_result unknown;
    launch_clear(&unknown);
    for (size_t i = 0; i < csv->s->n_launches; i++) {
        const struct summary_launch *launch = &csv->s->launches[i];
        if (launch->unasked)
            continue;
        struct raw_row row = raw_row_of(&csv->s->journal->launches[i], launch);
        take_result(&row, launch->ok || launch->diverged ? &launch->result : &unknown);
        csv_add(csv, &row);
    }
    return OK;
}

/* ---- losses.csv ---- */

enum status csv_fill_losses(struct csv *csv, struct error *e)
{
    struct losses losses;
    enum status status = losses_collect(&losses, csv->s, e);
    for (size_t i = 0; status == OK && i < losses.n; i++)
        csv_add(csv, &losses.rows[i]);
    losses_free(&losses);
    return status;
}

/* ---- fits.csv ---- */

enum status csv_fill_fits(struct csv *csv, struct error *e)
{
    for (size_t i = 0; i < csv->s->fits->n; i++)
        csv_add(csv, &csv->s->fits->rows[i]);
    return OK;
}

/* ---- rules.csv ---- */

enum status csv_fill_rules(struct csv *csv, struct error *e)
{
    struct rule_result results[RULES];
    rules_grade(results, csv->s);
    for (size_t i = 0; i < RULES; i++) {
        struct rules_row row = {.rule = (double)i + 1,
                                .title = results[i].title,
                                .grade = results[i].verdict,
                                .by = results[i].by,
                                .remedy =
                                    results[i].grade == RULE_NOT_MET ? results[i].remedy : ""};
        csv_add(csv, &row);
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
        csv_add(csv, &row);
    }
    struct layers_row total = {.model = net->name,
                               .layer = "total",
                               .params = (double)net->n_params,
                               .flops_forward = (double)net->flops_forward,
                               .flops_backward = (double)net->flops_backward};
    csv_add(csv, &total);
}

enum status csv_fill_layers(struct csv *csv, struct error *e)
{
    for (size_t i = 0; i < csv->s->spec->n_inputs; i++)
        if (csv->s->spec->inputs[i].option == OPT_MODEL)
            write_net(csv, &csv->s->spec->inputs[i].net);
    return OK;
}

/* ---- columns.csv and summary.csv ---- */

static enum csv_type type_of(enum option_type type)
{
    bool whole =
        type == TYPE_INT || type == TYPE_RANKS || type == TYPE_NODES || type == TYPE_NODE_RANKS;
    return whole ? CSV_INT : type == TYPE_REAL ? CSV_REAL : CSV_TEXT;
}

/* Adds the row of an option's column to columns.csv. The unit is empty if the column contains
 * texts, because texts such as "10 ms" include their unit. */
static void add_option(struct csv *csv, const char *file, const struct spec_option *option)
{
    enum csv_type type = type_of(option->type);
    const struct column column = {.file = file,
                                  .name = option->key,
                                  .type = type,
                                  .unit = type != CSV_TEXT ? option->unit : "",
                                  .meaning = option->help};
    csv_add_to_dictionary(csv->out, &column, 1);
}

static void add_sweeps(struct csv *csv)
{
    for (const struct csv_file *file = sweep_files; file < sweep_files + SWEEP_FILES; file++) {
        char path[4500];
        snprintf(path, sizeof path, "%s/%s", csv->run_dir, file->name);
        if (access(path, F_OK) == 0)
            csv_add_to_dictionary(csv->out, file->columns, file->n);
    }
}

enum status csv_fill_columns(struct csv *csv, struct error *e)
{
    const struct spec *spec = csv->s->spec;
    const char *file;
    csv_add_to_dictionary(csv->out, columns_all.columns, columns_all.n);
    for (size_t i = 0; (file = summary_file(spec, i)) != NULL; i++)
        for (size_t k = 0; k < spec->n_varying; k++)
            if (csv_has_option(csv, file, spec->varying[k]))
                add_option(csv, file, config_option(&spec->config, spec->varying[k]));
    add_sweeps(csv);
    return OK;
}

enum status csv_fill_summary(struct csv *csv, struct error *e)
{
    for (size_t k = 0; k < csv->s->n; k++)
        csv_add_texts(csv, (const char *const *)csv->s->points[k].cells,
                      csv->s->points[k].point->id);
    return OK;
}

/* ---- Files ---- */

typedef enum status write_rows(struct csv *csv, struct error *e);

static const struct {
    const char *name;
    write_rows *write;
} files[] = {
#define CSV_FILE(name, ...) {#name ".csv", csv_fill_##name},
#include "bench/collect/columns/files.def"
};

#define FILES (sizeof files / sizeof files[0])

static enum status write_file(FILE *out, void *what, struct error *e)
{
    struct csv *csv = what;
    csv->out = out;
    csv_begin(csv, files[csv->file].name);
    return files[csv->file].write(csv, e);
}

/* Returns whether files[i] is written. fits.csv is not written if no curve has enough rank counts
 * for a fit, because plotting programs refuse files without rows. */
static bool is_written(size_t i, const struct summary *s)
{
    return csv_file_is_wanted(i, s->spec) && (files[i].write != csv_fill_fits || s->fits->n > 0);
}

static enum status write_files(struct csv *csv, const struct stage *stage, struct error *e)
{
    for (size_t i = 0; i < FILES; i++) {
        csv->file = i;
        if (!is_written(i, csv->s)) {
            csv_remove_stale(csv->run_dir, files[i].name);
            continue;
        }
        TRY(stage_write(stage, files[i].name, write_file, csv, e));
        TRY(stage_keep(stage, files[i].name, e));
    }
    return OK;
}

enum status summary_write_fits(const struct summary *s, const char *run_dir, struct error *e)
{
    struct csv csv = {.s = s, .run_dir = run_dir};
    struct stage stage;
    if (s->fits->n == 0)
        return OK;
    while (files[csv.file].write != csv_fill_fits)
        csv.file++;
    enum status status = stage_open(&stage, run_dir, e);
    THEN(status, stage_write(&stage, files[csv.file].name, write_file, &csv, e));
    THEN(status, stage_keep(&stage, files[csv.file].name, e));
    stage_close(&stage);
    return status;
}

enum status summary_write(const struct summary *s, const char *run_dir, struct error *e)
{
    struct csv csv = {.s = s, .run_dir = run_dir};
    struct stage stage;
    enum status status = stage_open(&stage, run_dir, e);
    THEN(status, csv_join_tables(&csv, &stage, e));
    THEN(status, write_files(&csv, &stage, e));
    stage_close(&stage);
    return status;
}
