/* Writes predictions of a cross-validation as text and as CSV. */
#include <math.h>
#include <stdlib.h>

#include "bench/collect/summary.h"
#include "bench/forecast/columns.h"
#include "bench/forecast/cross_validation.h"
#include "bench/forecast/forecast.h"

/* ---- Text ---- */

/* Writes median and 90th percentile of the absolute relative errors (%) of step times predicted for
 * a link, and the number of points. `link`: index; c->n_links: all links without bursts. `kind`:
 * row of left_outs.def, which states the points left out of the fit; LEFT_OUTS: assumed
 * coefficients, without a fit. `errors` [c->n_points]: scratch space. */
static void write_errors(FILE *out, const struct cross_validation *c, size_t link, int kind,
                         double *errors)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_points; i++) {
        const struct validated_point *v = &c->points[i];
        double ms = kind == LEFT_OUTS ? v->assumed_ms : v->without_ms[kind];
        if (!isnan(ms) && (link == c->n_links ? !c->links[v->link].bursts : v->link == link))
            errors[n++] = 100 * fabs(ms / v->measured_ms - 1);
    }
    if (n == 0)
        fprintf(out, "  %15s", "-");
    else
        fprintf(out, "  %5.1f %5.1f %3zu", stats_median(errors, n), stats_quantile(errors, n, 0.9),
                n);
}

static void write_line(FILE *out, const struct cross_validation *c, size_t link, double *errors)
{
    static const struct fitted_link all = {.run = "all without bursts", .name = ""};
    const struct fitted_link *l = link < c->n_links ? &c->links[link] : &all;
    fprintf(out, "%-20s %-17s %-6s", l->run, l->name, l->bursts ? "bursts" : "");
    write_errors(out, c, link, LEFT_OUTS, errors);
    for (int kind = 0; kind < LEFT_OUTS; kind++)
        write_errors(out, c, link, kind, errors);
    fputc('\n', out);
}

void cross_validation_write_text(FILE *out, const struct cross_validation *c)
{
    static const char *const titles[] = {
#define LEFT_OUT(name, column, title) title,
#include "bench/forecast/left_outs.def"
    };
    double *errors = calloc(c->n_points + 1, sizeof *errors);
    if (errors == NULL)
        return;
    fprintf(out,
            "Errors of predicted step times (%%): median, 90th percentile, number of points\n"
            "%-45s  %15s",
            "run and link", "not fitted");
    for (int kind = 0; kind < LEFT_OUTS; kind++)
        fprintf(out, "  %15s", titles[kind]);
    fputc('\n', out);
    for (size_t link = 0; link <= c->n_links; link++)
        write_line(out, c, link, errors);
    fputs("Not fitted: assumed coefficients of the link. Without ...: fitted without the points "
          "that have the strategy,\n"
          "network or number of ranks of the predicted point. -: too few other points. Bursts: "
          "gradients that an emulated\n"
          "link sends at once. Computing is never fitted: its time comes from strategy none or a "
          "calibration with the point's\n"
          "network and ranks, so the errors come from messages.\n",
          out);
    free(errors);
}

/* ---- CSV ---- */

#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct predict_row {
#include "bench/forecast/csv_predict.def"
};
struct links_row {
#include "bench/forecast/csv_links.def"
};
#undef COLUMN

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("predict.csv", predict_row, id, type, unit, meaning)
static const struct column columns[] = {
#include "bench/forecast/csv_predict.def"
};
#undef COLUMN
#define COLUMN(id, type, unit, meaning) CSV_COLUMN("links.csv", links_row, id, type, unit, meaning)
static const struct column links[] = {
#include "bench/forecast/csv_links.def"
};
#undef COLUMN

const struct csv_file predict_file = {
    "predict.csv", "One row per predicted point, printed by `scalebench predict --format csv`",
    columns, sizeof columns / sizeof *columns};
const struct csv_file links_file = {
    "links.csv", "One row per fitted coefficient, printed by `scalebench predict --format links`",
    links, sizeof links / sizeof *links};

void cross_validation_write_csv(FILE *out, const struct cross_validation *c)
{
    csv_write_header(out, &predict_file);
    for (size_t i = 0; i < c->n_points; i++) {
        const struct validated_point *v = &c->points[i];
        struct predict_row row = {
            .run = c->links[v->link].run,
            .point = v->p->point->id,
            .model = v->p->cells[COLUMN_model],
            .strategy = v->p->cells[COLUMN_strategy],
            .ranks = config_number(&v->p->point->config, OPT_RANKS),
            .nodes = config_number(&v->p->point->config, OPT_NODES),
            .link = c->links[v->link].name,
            .compute_ms = v->compute_ms,
            .measured_ms = v->measured_ms,
            .assumed_ms = v->assumed_ms,
#define LEFT_OUT(name, column, title) .name##_ms = v->without_ms[LEFT_OUT_##name],
#include "bench/forecast/left_outs.def"
        };
        csv_write_row(out, &predict_file, &row);
    }
}

/* Sets the assumed coefficients of a link, in the units of links.csv. */
static void take_assumed(double assumed[LINK_COEFFICIENTS], const struct cross_validation *c,
                         size_t link)
{
    size_t i = 0;
    while (c->points[i].link != link)
        i++;
    const struct config *config = &c->points[i].p->point->config;
    struct sweep_machine machine = forecast_machine(config);
    if (config_int(config, OPT_SITE) == SITE_emulated)
        forecast_emulate(&machine, config);
    const struct link_model *model =
        config_int(config, OPT_NODES) == 1 ? &machine.memory : &machine.network;
    assumed[LINK_ALPHA] = 1e6 * model->alpha_s;
    assumed[LINK_BETA] = 1e9 * model->beta_s;
    assumed[LINK_GAMMA] = 1e9 * machine.memory.gamma_s;
}

void cross_validation_write_links(FILE *out, const struct cross_validation *c)
{
    static const char *const names[] = {"alpha_us", "beta_ns_per_byte", "gamma_ns_per_byte"};
    csv_write_header(out, &links_file);
    for (size_t link = 0; link < c->n_links; link++) {
        const struct fitted_link *l = &c->links[link];
        double assumed[LINK_COEFFICIENTS];
        take_assumed(assumed, c, link);
        for (int k = 0; k < LINK_COEFFICIENTS && !isnan(l->fitted[k]) && !l->bursts; k++) {
            double margin = 1.96 * l->error[k];
            struct links_row row = {
                .run = l->run,
                .link = l->name,
                .points = (double)l->n,
                .coefficient = names[k],
                .value = assumed[k] * l->fitted[k],
                .lo = isnan(margin) ? NAN : assumed[k] * fmax(l->fitted[k] - margin, 0),
                .hi = assumed[k] * (l->fitted[k] + margin)};
            csv_write_row(out, &links_file, &row);
        }
    }
}
