#include <math.h>
#include <string.h>

#include "bench/forecast/columns.h"
#include "bench/forecast/forecast.h"
#include "kernels/base/text.h"

#define MIB 1048576.0

static const struct {
    const char *name, *words;
} bases[FORECAST_BASES] = {
#define FORECAST_BASIS(name, words) {#name, words},
#include "bench/forecast/bases.def"
};

/* ---- For people ---- */

static void print_bases(FILE *out, const struct forecast *f)
{
    char points[TEXT_NUMBER];
    size_t printed = 0;
    for (int i = 0; i < FORECAST_BASES; i++) {
        if (f->n[i] == 0)
            continue;
        fprintf(out, "%s%s %s%s%s", printed++ > 0 ? "; " : "  ",
                text_plural(points, (long)f->n[i], "point"), bases[i].words,
                i == BASIS_elsewhere ? " " : "", i == BASIS_elsewhere ? f->from : "");
    }
    if (printed > 0)
        fputc('\n', out);
}

/* Prints the time of required launches that do not fit the budget. Without this line, a campaign
 * that uses up its budget would seem complete. */
static void print_cut(FILE *out, const struct forecast *f)
{
    char cut[TEXT_NUMBER];
    if (f->cut_s >= 0.5)
        fprintf(out,
                "  measure.budget = %s has no room for %s of the launches that "
                "measure.time.launches requires\n",
                config_text(&f->c->spec.config, OPT_BUDGET), text_duration(cut, f->cut_s));
}

/* Returns the time (s) of the longest launch that the spec requires of the point, finished or
 * pending; 0: no launch is required, or no time is known. */
static double longest_s(const struct forecast_point *p)
{
    double longest = 0;
    for (int run = 0; run < 2; run++)
        if (p->least[run] > 0)
            longest = fmax(longest, p->launch[run].seconds);
    return longest;
}

/* Warns if the longest required launch is forecast to take more than twice measure.limit. The
 * factor of 2 allows for rough forecasts. */
static void print_ended(FILE *out, const struct forecast *f)
{
    const struct spec *spec = &f->c->spec;
    char longest[TEXT_NUMBER];
    size_t most = 0;
    for (size_t i = 1; i < spec->n_points; i++)
        if (longest_s(&f->points[i]) > longest_s(&f->points[most]))
            most = i;
    double seconds = longest_s(&f->points[most]);
    if (seconds / 2 > config_number(&spec->config, OPT_POINT_LIMIT))
        fprintf(out,
                "  measure.limit = %s would end a launch of %s, which takes %s. Use a larger "
                "measure.limit\n",
                config_text(&spec->config, OPT_POINT_LIMIT), spec->points[most].label,
                text_duration(longest, seconds));
}

void forecast_print(FILE *out, const struct forecast *f)
{
    char least[TEXT_NUMBER], most[TEXT_NUMBER], left[TEXT_NUMBER];
    fprintf(out, "forecast: %s", text_duration(least, f->least_s));
    if (strcmp(least, text_duration(most, f->most_s)) != 0)
        fprintf(out, ", at most %s", most);
    if (strcmp(least, text_duration(left, f->left_s)) != 0)
        fprintf(out, ", of which %s are left", left);
    fputc('\n', out);
    print_cut(out, f);
    print_ended(out, f);
    print_bases(out, f);
}

/* ---- CSV ---- */

#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct plan_row {
#include "bench/forecast/csv_plan.def"
};
#undef COLUMN

#define COLUMN(id, type, unit, meaning) CSV_COLUMN("plan.csv", plan_row, id, type, unit, meaning)
static const struct column columns[] = {
#include "bench/forecast/csv_plan.def"
};
#undef COLUMN

const struct csv_file plan_file = {"plan.csv",
                                   "One row per point, printed by `scalebench plan --format csv`",
                                   columns, sizeof columns / sizeof *columns};

static void take_forecast(struct plan_row *row, const struct forecast_point *p)
{
    const struct forecast_launch *timed = &p->launch[RUN_TIME],
                                 *accuracy = &p->launch[RUN_ACCURACY];
    row->timed = (double)p->least[RUN_TIME];
    row->timed_most = (double)p->most;
    row->timed_done = (double)p->done[RUN_TIME];
    row->accuracy = (double)p->least[RUN_ACCURACY];
    row->accuracy_done = (double)p->done[RUN_ACCURACY];
    row->least_s = p->least_s;
    row->most_s = p->most_s;
    row->left_s = p->left_s;
    row->cut_s = p->cut_s;
    if (p->forecasts_memory) {
        row->params_mib = (double)p->memory.params / MIB;
        row->grads_mib = (double)p->memory.grads / MIB;
        row->state_mib = (double)p->memory.state / MIB;
        row->buffers_mib = (double)p->memory.buffers / MIB;
    }
    if (p->least[RUN_TIME] > 0) {
        row->timed_s = timed->seconds;
        row->timed_basis = bases[timed->basis].name;
        row->timed_from = timed->from;
    }
    if (p->least[RUN_ACCURACY] > 0) {
        row->accuracy_s = accuracy->seconds;
        row->accuracy_basis = bases[accuracy->basis].name;
        row->accuracy_from = accuracy->from;
    }
}

void forecast_write_csv(FILE *out, const struct forecast *f)
{
    const struct spec *spec = &f->c->spec;
    csv_write_header(out, &plan_file);
    for (size_t i = 0; i < spec->n_points; i++) {
        struct plan_row row;
        bool shares = spec->points[i].twin != i;
        csv_clear_row(&plan_file, &row);
        row.campaign = config_text(&spec->config, OPT_NAME);
        row.point = spec->points[i].id;
        row.label = spec->points[i].label;
        row.status = shares ? "shared" : f->points[i].runs ? "runs" : "skipped";
        row.reason = shares ? NULL : f->c->refusals[i];
        if (f->points[i].runs)
            take_forecast(&row, &f->points[i]);
        csv_write_row(out, &plan_file, &row);
    }
}
