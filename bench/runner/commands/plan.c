#include <stdlib.h>
#include <string.h>

#include "bench/runner/batch/job.h"
#include "bench/runner/campaign.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/compare/checks.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Seconds that a campaign's least launches took, launch by launch, in an earlier run. */
struct forecast {
    double seconds;
    size_t known, unknown; /* points */
};

/* Of a point's launches, by their kind. */
struct walls {
    double sum_s[2];
    size_t n[2];
};

static double mean_wall_s(const struct walls *w, enum launch_run run)
{
    bool timed = run == RUN_TIME;
    return w->n[timed] > 0 ? w->sum_s[timed] / (double)w->n[timed] : 0;
}

/* [n_points + 1]: the last are of points that the spec does not have. */
static void add_walls(struct walls *walls, const struct spec *spec, const struct journal *journal)
{
    for (size_t i = 0; i < journal->n_launches; i++) {
        const struct journal_launch *l = &journal->launches[i];
        struct walls *w = &walls[spec_find_point(spec, l->point)];
        bool timed = l->run == RUN_TIME;
        if (l->status != LAUNCH_OK)
            continue;
        w->sum_s[timed] += l->wall_s;
        w->n[timed]++;
    }
}

static size_t accuracy_runs(const struct campaign *c, size_t point)
{
    bool wanted = point_wants_accuracy(&c->spec.points[point]);
    return wanted ? c->spec.config.values[OPT_ACCURACY_SEEDS].n : 0;
}

static struct forecast forecast(const struct campaign *c, const struct walls *walls)
{
    struct forecast f = {0};
    double least = config_number(&c->spec.config, OPT_TIME_LAUNCHES);
    for (size_t i = 0; i < c->spec.n_points; i++) {
        if (c->refusals[i][0] || c->spec.points[i].twin != i)
            continue;
        double timed = mean_wall_s(&walls[i], RUN_TIME);
        double accuracy = mean_wall_s(&walls[i], RUN_ACCURACY);
        bool known = (timed > 0 || least == 0) && (accuracy > 0 || accuracy_runs(c, i) == 0);
        f.known += known;
        f.unknown += !known;
        f.seconds += least * timed + (double)accuracy_runs(c, i) * accuracy;
    }
    return f;
}

/* Mean times of the campaign's latest run; [n_points + 1], freed by the caller. */
static enum status read_walls(struct walls **walls, const struct campaign *c, struct error *e)
{
    char latest[PATH_BYTES];
    struct journal earlier;
    TRY(path_format(latest, e, "%s/%s/latest", c->request->out,
                    config_text(&c->spec.config, OPT_NAME)));
    TRY(journal_open(&earlier, latest, false, e));
    enum status status = MEM_NEW(*walls, c->spec.n_points + 1, "a forecast", e);
    if (status == OK)
        add_walls(*walls, &c->spec, &earlier);
    journal_close(&earlier);
    return status;
}

static enum status print_forecast(const struct campaign *c, FILE *out, struct error *e)
{
    char text[TEXT_NUMBER], points[TEXT_NUMBER];
    struct walls *walls;
    TRY(read_walls(&walls, c, e));
    struct forecast f = forecast(c, walls);
    free(walls);
    if (f.known == 0)
        fprintf(out, "forecast: none, no point has been run yet\n");
    else
        fprintf(out, "forecast: %s for the least launches of %s%s\n",
                text_duration(text, f.seconds), text_plural(points, (long)f.known, "point"),
                f.unknown > 0 ? "; the others have not been run yet" : "");
    return OK;
}

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

static enum status print_point(const struct campaign *c, size_t i, FILE *out, struct error *e)
{
    const struct point *point = &c->spec.points[i];
    const struct value *seeds = &c->spec.config.values[OPT_ACCURACY_SEEDS];
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
    if (c->spec.config.values[OPT_TIME_LAUNCHES].number_hi > 0)
        TRY(print_command(c, i, RUN_TIME, 0, out, e));
    if (accuracy_runs(c, i) > 0)
        TRY(print_command(c, i, RUN_ACCURACY, (uint64_t)seeds->numbers[0], out, e));
    return OK;
}

static enum status print_plan(const struct campaign *c, FILE *out, struct error *e)
{
    const struct value *launches = &c->spec.config.values[OPT_TIME_LAUNCHES];
    char points[TEXT_NUMBER], runs[TEXT_NUMBER];
    size_t able = 0, accuracy = 0;
    for (size_t i = 0; i < c->spec.n_points; i++) {
        TRY(print_point(c, i, out, e));
        if (c->refusals[i][0] != '\0' || c->spec.points[i].twin != i)
            continue;
        accuracy += accuracy_runs(c, i);
        able++;
    }
    fprintf(out, "%s, %zu skipped; %.0f to %.0f timed launches, %s; ",
            text_plural(points, (long)c->spec.n_points, "point"), c->n_refused,
            (double)able * launches->number, (double)able * launches->number_hi,
            text_plural(runs, (long)accuracy, "accuracy run"));
    fprintf(out, "budget %s\n", config_text(&c->spec.config, OPT_BUDGET));
    if (c->n_refused < c->spec.n_points)
        return print_forecast(c, out, e);
    fprintf(out, "no point can run here: `run` would end with exit status 3\n");
    return OK;
}

enum status command_plan(const struct arguments *arguments, const struct tools *tools, FILE *out,
                         int *exit_status, struct error *e)
{
    struct campaign_request request = {.spec = arguments->operand,
                                       .set = arguments->set,
                                       .out = arguments->out,
                                       .command = arguments->command};
    struct campaign c;
    TRY(job_move(tools, arguments->command, e));
    enum status status = campaign_prepare(&c, &request, tools, e);
    THEN(status, checks_check(&c.spec, e));
    THEN(status, print_plan(&c, out, e));
    campaign_close(&c);
    return status;
}
