/* Simulates again all points of a run that have site: simulated. Compares these simulated step
 * times with the run's measured step times. */
#include <math.h>
#include <string.h>
#define XXH_INLINE_ALL /* XXH3 is used as a header-only library */
#include <xxhash.h>

#include "bench/collect/summary.h"
#include "bench/forecast/simulate.h"
#include "bench/forecast/simulation.h"
#include "bench/runner/files.h"

/* Returns the mean times of the parts of a step, from the row of the point's calibration in
 * summary.csv. */
static struct step_parts parts_of(const struct summary *s, const struct point *point)
{
    const struct point_summary *p = &s->points[point->calibration_index];
    struct step_parts parts = {.load_s = 1e-3 * cell_number(p, COLUMN_load_ms),
                               .forward_s = 1e-3 * cell_number(p, COLUMN_forward_ms),
                               .backward_s = 1e-3 * cell_number(p, COLUMN_backward_ms),
                               .optimizer_s = 1e-3 * cell_number(p, COLUMN_optimizer_ms)};
    snprintf(parts.from, sizeof parts.from, "%s", p->point->id);
    return parts;
}

static enum status simulate_again(struct summary *s, size_t i, const char *run, struct error *e)
{
    struct point_summary *p = &s->points[i];
    const struct step_parts parts = parts_of(s, p->point);
    bool calibrated = p->point->calibration_index != i;
    struct simulation again = {.seed = XXH3_64bits(p->point->id, strlen(p->point->id)),
                               .parts = calibrated ? &parts : NULL};
    enum status status = simulation_open(&again, s->spec, i, run, NULL, e);
    THEN(status, simulation_run(&again, e));
    if (status == OK)
        p->step_ms.mid = again.result->step_ms;
    simulation_close(&again);
    return status;
}

static void print_point(FILE *out, const struct point_summary *p, double kept_pct, bool first)
{
    if (first)
        fprintf(out, "\n%-70s%12s%12s%11s%11s\n", "", "measured ms", "again ms", "kept", "again");
    fprintf(out, "%-70s%12.4g%12.4g%+9.1f %%%+9.1f %%\n", p->point->label, p->step_ms.mid,
            p->predicted.step_ms, kept_pct, p->predicted.error_pct);
}

static void print_validation(FILE *out, const char *which, const struct summary *s)
{
    const struct validation v = summary_validation(s);
    fprintf(out, "%s: ", which);
    validation_write(out, &v);
    fputc('\n', out);
}

static enum status compare(FILE *out, struct summary *s, const char *run, struct error *e)
{
    size_t simulated = 0;
    for (size_t i = 0; i < s->n; i++) {
        predicted_find(&s->points[i], s);
        simulated += config_is_simulated(&s->points[i].point->config);
    }
    if (simulated == 0)
        return error_set(e, ERR_ARGUMENT,
                         "simulate: %s has no point with site: simulated. Give a run with "
                         "simulated points",
                         run);
    print_validation(out, "as kept", s);
    for (size_t i = 0; i < s->n; i++)
        if (config_is_simulated(&s->points[i].point->config))
            TRY(simulate_again(s, i, run, e));
    size_t printed = 0;
    for (size_t i = 0; i < s->n; i++) {
        double kept_pct = s->points[i].predicted.error_pct;
        predicted_find(&s->points[i], s);
        if (isfinite(s->points[i].predicted.error_pct))
            print_point(out, &s->points[i], kept_pct, printed++ == 0);
    }
    fputc('\n', out);
    print_validation(out, "simulated again", s);
    return OK;
}

enum status simulate_again_print(FILE *out, const char *run, const char *set, struct error *e)
{
    char path[PATH_BYTES];
    struct spec_machine machine = {.usable_cores = 1};
    struct spec spec;
    struct summary s = {0};
    TRY(path_format(path, e, "%s/spec.yaml", run));
    enum status status = spec_load(&spec, path, set, &machine, e);
    THEN(status, summary_read(&s, &spec, run, e));
    THEN(status, compare(out, &s, run, e));
    summary_free(&s);
    spec_free(&spec);
    return status;
}
