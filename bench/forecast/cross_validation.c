#include "bench/forecast/cross_validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/prediction.h"
#include "bench/forecast/forecast.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/mem.h"

/* Number of fitting rounds. More than one is needed, because the model is linear in the
 * coefficients only as long as the critical path stays the same. */
enum { ROUNDS = 5 };
/* Largest burst that an emulated link sends without delay after a pause (ci/netns.sh), divided by
 * the rate of the link (s). Valid for links of at least 250 Mbit/s. Slower links have a burst of 64
 * KiB, which takes them longer than 2.1 ms. */
#define BURST_S 2.1e-3

/* ---- Points ---- */

static const char *cell(const struct validated_point *v, enum column_id column)
{
    return v->p->cells[column];
}

/* Returns whether the model applies to the point: a measurement of train_cnn on several ranks, with
 * at most one computing thread per core. sync.overlap must be none, and the strategy must be exact
 * and send messages. Points with compression, a precision other than fp32, pipeline or tensor
 * parallelism, or injected faults are not modelled. */
static bool is_modelled(const struct point_summary *p)
{
    const struct config *c = &p->point->config;
    unsigned flags = strategy_config_flags(config_strategy_kind(c), VARIANT_usual);
    return !config_is_simulated(c) && !config_is_foreign(c) && !config_is_peer(c) &&
           config_int(c, OPT_RANKS) > 1 && (flags & STRATEGY_EXACT) &&
           !(flags & STRATEGY_ONE_NODE) && !p->compute_only &&
           config_int(c, OPT_OVERLAP) == OVERLAP_none && config_int(c, OPT_PIPELINE) == 1 &&
           config_int(c, OPT_TENSOR) == 1 && config_int(c, OPT_INJECT_KIND) == INJECT_none &&
           strcmp(config_text(c, OPT_COMPRESS), "none") == 0 &&
           strcmp(config_text(c, OPT_PRECISION), "fp32") == 0 &&
           strcmp(p->cells[COLUMN_oversubscribed], "1") != 0;
}

/* Returns the compute time of a step (ms): the step time of strategy none on the same number of
 * ranks, otherwise the calibrated time. NAN if the run has neither. If optimizer state is sharded,
 * counts only 1 / ranks of the time of the update. */
static double compute_ms(const struct summary *s, size_t i)
{
    const struct point_summary *p = &s->points[i];
    const struct config *c = &p->point->config;
    bool has_none = p->alone != i;
    size_t from = has_none ? p->alone : p->point->calibration_index;
    const struct point_summary *source = &s->points[from];
    double update_ms = cell_number(source, COLUMN_optimizer_ms);
    double part = strategy_stage(config_strategy_kind(c)) > 0 ? 1 / config_number(c, OPT_RANKS) : 1;
    double all_ms = cell_number(source, COLUMN_load_ms) + cell_number(source, COLUMN_forward_ms) +
                    cell_number(source, COLUMN_backward_ms) + update_ms;
    if (from == i)
        return NAN;
    return (has_none ? source->step_ms.mid : all_ms) - (1 - part) * update_ms;
}

/* Returns whether an emulated link may send all gradients of the point in one burst. */
static bool bursts(const struct point *point)
{
    double bytes = sizeof(float) * (double)point->net->net.n_params;
    return config_int(&point->config, OPT_SITE) == SITE_emulated &&
           bytes * config_link_s_per_byte(&point->config) <= BURST_S;
}

static enum status find_link(struct cross_validation *c, struct validated_point *v, const char *run,
                             struct error *e)
{
    bool one_host = config_int(&v->p->point->config, OPT_NODES) == 1;
    const char *name = one_host ? "within a host" : cell(v, COLUMN_link);
    bool in_bursts = bursts(v->p->point);
    for (v->link = 0; v->link < c->n_links; v->link++)
        if (c->links[v->link].run == run && c->links[v->link].bursts == in_bursts &&
            strcmp(c->links[v->link].name, name) == 0)
            break;
    if (v->link == c->n_links) {
        TRY(MEM_GROW(c->links, c->n_links, "fitted links", e));
        c->links[c->n_links++] =
            (struct fitted_link){.run = run, .name = name, .bursts = in_bursts};
    }
    c->links[v->link].n++;
    return OK;
}

static enum status take_run(struct cross_validation *c, const struct validated_run *run,
                            struct error *e)
{
    for (size_t i = 0; i < run->s.n; i++) {
        struct validated_point v = {.p = &run->s.points[i]};
        v.measured_ms = v.p->step_ms.mid;
        if (strcmp(v.p->status, "ok") != 0 || !(v.measured_ms > 0) || !is_modelled(v.p))
            continue;
        v.compute_ms = compute_ms(&run->s, i);
        if (!(v.compute_ms > 0))
            continue;
        TRY(find_link(c, &v, run->name, e));
        TRY(MEM_GROW(c->points, c->n_points, "predicted points", e));
        c->points[c->n_points++] = v;
    }
    return OK;
}

static enum status read_run(struct validated_run *run, const char *folder, struct error *e)
{
    const char *slash = strrchr(folder, '/');
    snprintf(run->name, sizeof run->name, "%s", slash != NULL ? slash + 1 : folder);
    TRY(run_spec_load(&run->spec, folder, NULL, e));
    return summary_read(&run->s, &run->spec, folder, e);
}

/* ---- Predictions ---- */

/* Predicts the time of a step (ms). `at`: coefficients of the link, as multiples of the assumed
 * coefficients. */
static enum status predict(double *ms, const struct validated_point *v,
                           const double at[LINK_COEFFICIENTS], struct error *e)
{
    struct sweep_machine machine = forecast_machine(&v->p->point->config);
    bool one_host = config_int(&v->p->point->config, OPT_NODES) == 1;
    if (config_int(&v->p->point->config, OPT_SITE) == SITE_emulated)
        forecast_emulate(&machine, &v->p->point->config);
    struct link_model *link = one_host ? &machine.memory : &machine.network;
    link->alpha_s *= at[LINK_ALPHA];
    link->beta_s *= at[LINK_BETA];
    machine.memory.gamma_s *= at[LINK_GAMMA];
    TRY(prediction_comm_ms(ms, v->p->point, sizeof(float), &machine, e));
    *ms += v->compute_ms;
    return OK;
}

/* Sets *sample to a point's measured step time and a linear approximation of its predicted step
 * time near the coefficients `at`. */
static enum status linearise(struct link_sample *sample, const struct validated_point *v,
                             const double at[LINK_COEFFICIENTS], struct error *e)
{
    static const double step = 0.01;
    double ms;
    *sample = (struct link_sample){.measured_ms = v->measured_ms};
    TRY(predict(&ms, v, at, e));
    sample->rest_ms = ms;
    for (int k = 0; k < LINK_COEFFICIENTS; k++) {
        double beside[LINK_COEFFICIENTS], more_ms;
        memcpy(beside, at, sizeof beside);
        beside[k] += step;
        TRY(predict(&more_ms, v, beside, e));
        sample->slopes[k] = (more_ms - ms) / step;
        sample->rest_ms -= sample->slopes[k] * at[k];
    }
    return OK;
}

/* Excludes from the next fit the points on links other than `link`. Also excludes the points with
 * `value` in `column`, unless `column` is COLUMNS (no column). */
static void leave_out(struct cross_validation *c, size_t link, enum column_id column,
                      const char *value)
{
    for (size_t i = 0; i < c->n_points; i++)
        c->samples[i].left_out =
            c->points[i].link != link ||
            (column != COLUMNS && strcmp(cell(&c->points[i], column), value) == 0);
}

static enum status fit_link(struct cross_validation *c, size_t link, struct error *e)
{
    double *at = c->links[link].fitted;
    bool fits = true;
    for (int k = 0; k < LINK_COEFFICIENTS; k++)
        at[k] = 1;
    for (int round = 0; round < ROUNDS && fits; round++) {
        for (size_t i = 0; i < c->n_points; i++)
            if (c->points[i].link == link)
                TRY(linearise(&c->samples[i], &c->points[i], at, e));
        leave_out(c, link, COLUMNS, "");
        fits = link_fit(at, c->samples, c->n_points);
    }
    for (int k = 0; k < LINK_COEFFICIENTS && !fits; k++)
        at[k] = NAN;
    return OK;
}

/* Predicts the step time of point i from link coefficients that are fitted without the points that
 * `kind` leaves out. The prediction is NAN if too few points remain. */
static enum status predict_without(struct cross_validation *c, size_t i, enum left_out kind,
                                   struct error *e)
{
    static const enum column_id columns[] = {
#define LEFT_OUT(name, column, title) column,
#include "bench/forecast/left_outs.def"
    };
    struct validated_point *v = &c->points[i];
    double at[LINK_COEFFICIENTS];
    memcpy(at, c->links[v->link].fitted, sizeof at);
    leave_out(c, v->link, columns[kind], columns[kind] != COLUMNS ? cell(v, columns[kind]) : "");
    v->without_ms[kind] = NAN;
    if (isnan(at[0]) || (columns[kind] != COLUMNS && !link_fit(at, c->samples, c->n_points)))
        return OK;
    return predict(&v->without_ms[kind], v, at, e);
}

/* Sets the standard errors of a link's coefficients by the jackknife: each of n fits leaves out one
 * strategy. */
static void spread(struct cross_validation *c, size_t link)
{
    struct fitted_link *l = &c->links[link];
    double n = 0, sum[LINK_COEFFICIENTS] = {0}, squares[LINK_COEFFICIENTS] = {0};
    bool taken[STRATEGIES] = {false};
    for (size_t i = 0; i < c->n_points; i++) {
        enum strategy_kind kind = config_strategy_kind(&c->points[i].p->point->config);
        double at[LINK_COEFFICIENTS];
        memcpy(at, l->fitted, sizeof at);
        if (c->points[i].link != link || taken[kind] || isnan(at[0]))
            continue;
        taken[kind] = true;
        leave_out(c, link, COLUMN_strategy, cell(&c->points[i], COLUMN_strategy));
        if (!link_fit(at, c->samples, c->n_points))
            continue;
        n++;
        for (int k = 0; k < LINK_COEFFICIENTS; k++) {
            sum[k] += at[k];
            squares[k] += at[k] * at[k];
        }
    }
    for (int k = 0; k < LINK_COEFFICIENTS; k++)
        l->error[k] = n > 1 ? sqrt(fmax(squares[k] - sum[k] * sum[k] / n, 0) * (n - 1) / n) : NAN;
}

static enum status predict_all(struct cross_validation *c, struct error *e)
{
    static const double assumed[LINK_COEFFICIENTS] = {1, 1, 1};
    TRY(MEM_NEW(c->samples, c->n_points, "predicted points", e));
    for (size_t link = 0; link < c->n_links; link++) {
        TRY(fit_link(c, link, e));
        spread(c, link);
    }
    for (size_t i = 0; i < c->n_points; i++) {
        TRY(predict(&c->points[i].assumed_ms, &c->points[i], assumed, e));
        for (int kind = 0; kind < LEFT_OUTS; kind++)
            TRY(predict_without(c, i, (enum left_out)kind, e));
    }
    return OK;
}

enum status cross_validation_make(struct cross_validation *c, const char *const *folders, size_t n,
                                  struct error *e)
{
    *c = (struct cross_validation){.n_runs = 0};
    TRY(MEM_NEW(c->runs, n, "runs", e));
    for (size_t i = 0; i < n; i++) {
        c->n_runs++;
        TRY(read_run(&c->runs[i], folders[i], e));
        TRY(take_run(c, &c->runs[i], e));
    }
    return predict_all(c, e);
}

void cross_validation_free(struct cross_validation *c)
{
    for (size_t i = 0; i < c->n_runs; i++) {
        summary_free(&c->runs[i].s);
        spec_free(&c->runs[i].spec);
    }
    free(c->runs);
    free(c->points);
    free(c->samples);
    free(c->links);
    *c = (struct cross_validation){.n_runs = 0};
}
