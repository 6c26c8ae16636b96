/* `scalebench plan`, `export` and `simulate`: list the points of a spec with a forecast, write the
 * points as traces for network simulators, and simulate launches of a run. */
#include <stdlib.h>

#include "bench/batch/job.h"
#include "bench/compare/checks.h"
#include "bench/compare/operand.h"
#include "bench/forecast/export.h"
#include "bench/forecast/forecast.h"
#include "bench/forecast/simulate.h"
#include "bench/runner/campaign.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/files.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

static enum status print_command(const struct campaign *c, size_t point, enum launch_run run,
                                 uint64_t seed, FILE *out, struct error *e)
{
    struct site_launch launch;
    TRY(campaign_prepare_launch(c, &c->spec.points[point], run, seed, "DIR", &launch, e));
    fputs("    ", out);
    campaign_print_command(out, &launch);
    site_launch_free(&launch);
    return OK;
}

static enum status print_commands(const struct forecast *f, size_t i, FILE *out, struct error *e)
{
    const struct campaign *c = f->c;
    const struct value *seeds = &c->spec.config.values[OPT_ACCURACY_SEEDS];
    if (c->spec.config.values[OPT_TIME_LAUNCHES].number_hi > 0)
        TRY(print_command(c, i, RUN_TIME, 0, out, e));
    if (f->points[i].least[RUN_ACCURACY] > 0)
        TRY(print_command(c, i, RUN_ACCURACY, (uint64_t)seeds->numbers[0], out, e));
    return OK;
}

static enum status print_point(const struct forecast *f, size_t i, bool commands, FILE *out,
                               struct error *e)
{
    const struct campaign *c = f->c;
    const struct point *point = &c->spec.points[i];
    fprintf(out, "%s  %s%s%s\n", point->id, point->label, point->base ? "  (base)" : "",
            point->requested ? "" : "  (added)");
    if (point->twin != i) {
        fprintf(out, "    shares the launches of %s\n", c->spec.points[point->twin].label);
        return OK;
    }
    if (c->refusals[i][0]) {
        fprintf(out, "    skipped: %s\n", c->refusals[i]);
        return OK;
    }
    return commands ? print_commands(f, i, out, e) : OK;
}

static enum status plan_write_text(FILE *out, const struct forecast *f, bool commands,
                                   struct error *e)
{
    const struct campaign *c = f->c;
    const struct value *launches = &c->spec.config.values[OPT_TIME_LAUNCHES];
    char points[TEXT_NUMBER], runs[TEXT_NUMBER];
    size_t able = 0, accuracy = 0;
    for (size_t i = 0; i < c->spec.n_points; i++) {
        TRY(print_point(f, i, commands, out, e));
        able += f->points[i].runs;
        accuracy += f->points[i].least[RUN_ACCURACY];
    }
    double least = (double)able * launches->number, most = (double)able * launches->number_hi;
    fprintf(out, "%s, %zu skipped; %.0f", text_plural(points, (long)c->spec.n_points, "point"),
            c->n_refused, least);
    if (most > least)
        fprintf(out, " to %.0f", most);
    fprintf(out, " timed launches, %s; ", text_plural(runs, (long)accuracy, "accuracy run"));
    fprintf(out, "budget %s\n", config_text(&c->spec.config, OPT_BUDGET));
    if (c->n_refused < c->spec.n_points)
        forecast_print(out, f);
    else
        fprintf(out, "no point can run here: `run` would end with exit status 3\n");
    return OK;
}

static enum status plan_write_csv(FILE *out, const struct forecast *f, bool commands,
                                  struct error *e)
{
    if (commands)
        return error_set(
            e, ERR_ARGUMENT,
            "plan: --commands works only with --format text. Leave --commands or --format out");
    forecast_write_csv(out, f);
    return OK;
}

typedef enum status plan_writer(FILE *out, const struct forecast *f, bool commands,
                                struct error *e);

static const struct {
    const char *name;
    plan_writer *writer;
} formats[] = {
#define PLAN_FORMAT(name, writer, meaning) {#name, writer},
#include "bench/runner/commands/plan_formats.def"
};
#define N_FORMATS (sizeof formats / sizeof *formats)

static enum status plan(const struct campaign *c, plan_writer *writer, bool commands, FILE *out,
                        struct error *e)
{
    struct forecast f;
    enum status status = forecast_make(&f, c, e);
    THEN(status, writer(out, &f, commands, e));
    forecast_free(&f);
    return status;
}

enum status command_plan(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct campaign_request request = {
        .spec = a->operand, .set = a->set, .out = a->out, .command = a->command};
    struct campaign c;
    const char *format = a->format != NULL ? a->format : formats[0].name;
    int index;
    TRY(option_row("format", format, formats, N_FORMATS, sizeof *formats, &index, e));
    TRY(job_move(a->tools, a->command, e));
    enum status status = campaign_prepare(&c, &request, a->tools, e);
    THEN(status, checks_check(&c.spec, e));
    THEN(status, plan(&c, formats[index].writer, a->commands, out, e));
    campaign_close(&c);
    return status;
}

/* ---- Export ---- */

static const struct {
    const char *name;
} traces[TRACES] = {
#define TRACE(name, summary) {#name},
#include "comm/cost/traces.def"
};

/* Reads an option's value as a number from 1 to `most`. If `text` is NULL, leaves *number
 * unchanged. */
static enum status read_number(int *number, const char *option, const char *text, int most,
                               struct error *e)
{
    char *rest;
    if (text == NULL)
        return OK;
    long value = strtol(text, &rest, 10);
    if (*rest != '\0' || value < 1 || value > most)
        return error_set(e, ERR_ARGUMENT, "export: --%s must be a number from 1 to %d, found '%s'",
                         option, most, text);
    *number = (int)value;
    return OK;
}

/* Reads the options that describe leaf switches. --oversubscription (hosts per uplink) must divide
 * --leaf-hosts (hosts per switch). */
static enum status read_leaves(struct export_options *options, const struct arguments *a,
                               struct error *e)
{
    options->oversubscription = 1;
    TRY(read_number(&options->leaf_hosts, "leaf-hosts", a->leaf_hosts, 65536, e));
    TRY(read_number(&options->oversubscription, "oversubscription", a->oversubscription, 65536, e));
    if (options->leaf_hosts % options->oversubscription == 0 &&
        (options->leaf_hosts > 0 || a->oversubscription == NULL))
        return OK;
    if (options->leaf_hosts == 0)
        return error_set(e, ERR_ARGUMENT,
                         "export: --oversubscription needs leaf switches. Add --leaf-hosts N");
    return error_set(e, ERR_ARGUMENT,
                     "export: --oversubscription = %d must divide --leaf-hosts, which is %d",
                     options->oversubscription, options->leaf_hosts);
}

/* Exports the point whose number is given by --point; without --point, exports all points. */
static enum status export_points(const struct arguments *a, const struct spec *spec,
                                 const struct export_options *options, FILE *out, struct error *e)
{
    char folder[PATH_BYTES], own[PATH_BYTES];
    int only = 0;
    TRY(read_number(&only, "point", a->point, (int)spec->n_points, e));
    TRY(path_format(folder, e, "%s/%s/traces/%s", a->out, config_text(&spec->config, OPT_NAME),
                    traces[options->kind].name));
    export_print_header(out);
    for (size_t i = 1; i <= spec->n_points; i++) {
        if (only != 0 && i != (size_t)only)
            continue;
        TRY(path_format(own, e, "%s/%zu", a->output != NULL ? a->output : folder, i));
        TRY(export_point(out, spec, i, options, own, e));
    }
    return OK;
}

enum status command_export(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct spec spec;
    const char *format = a->format != NULL ? a->format : traces[0].name;
    struct export_options options = {0};
    int kind;
    TRY(option_row("format", format, traces, TRACES, sizeof *traces, &kind, e));
    options.kind = (enum trace_kind)kind;
    TRY(read_leaves(&options, a, e));
    enum status status = spec_load_here(&spec, a->operand, a->set, e);
    THEN(status, export_points(a, &spec, &options, out, e));
    spec_free(&spec);
    return status;
}

/* ---- Simulate ---- */

enum status command_simulate(const struct arguments *a, FILE *out, int *exit_status,
                             struct error *e)
{
    char run[PATH_BYTES];
    if (a->again && (a->calibration != NULL || a->why))
        return error_set(e, ERR_ARGUMENT,
                         "simulate: %s has no effect with --again. Leave one of the two out",
                         a->why ? "--why" : "--calibration");
    if (!a->again && a->set != NULL)
        return error_set(e, ERR_ARGUMENT,
                         "simulate: --set works only with --again. To run a spec with other "
                         "options, use `scalebench run SPEC --set`");
    if (!a->again)
        return simulate_launch(out, a->operand, a->calibration, a->why, e);
    TRY(operand_find(run, a->operand, a->out, a->tools->home, e));
    return simulate_again_print(out, run, a->set, e);
}
