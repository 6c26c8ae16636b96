/* Prints the table at the end of a campaign, and the lines above and below the table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/points/noise.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "kernels/desc/savings.h"

/* Returns the number of cells to print in a point's row. All are printed if the point was measured
 * or has published values. Otherwise only the options and the next two cells are printed, usually
 * img/rank and launches. */
static size_t cells_of(const struct table *t, const struct point_summary *p)
{
    size_t n = point_was_measured(p) || t->n < t->n_options + 2 ? t->n : t->n_options + 2;
    for (size_t c = n; c < t->n; c++) {
        char text[TABLE_CELL];
        if (t->columns[c].published && strcmp(table_cell(text, t, c, p), "-") != 0)
            n = t->n;
    }
    return n;
}

static void print_row(FILE *out, const struct table *t, const struct point_summary *p)
{
    size_t n = cells_of(t, p);
    for (size_t c = 0; c < n; c++) {
        char text[TABLE_CELL];
        fputs(c ? "  " : "", out);
        table_print_padded(out, table_cell(text, t, c, p), t->widths[c]);
    }
    table_print_remarks(out, p);
    fputc('\n', out);
}

static void print_rows(FILE *out, const struct summary *s, int width)
{
    struct table t;
    table_make(&t, s);
    table_fit(&t, width);
    if (t.same[0])
        fprintf(out, "All points: %s\n", t.same);
    for (size_t c = 0; c < t.n; c++)
        fprintf(out, "%s%*s", c ? "  " : "", t.widths[c], t.columns[c].header);
    fputc('\n', out);
    for (size_t i = 0; i < s->n; i++)
        print_row(out, &t, &s->points[i]);
    size_t length = strlen(t.left_out); /* a list that ends with "eff." gets no second full stop */
    if (length > 0)
        fprintf(out, "Columns in summary.md alone: %s%s\n", t.left_out,
                t.left_out[length - 1] == '.' ? "" : ".");
}

/* ---- Above the table ---- */

static void print_params(FILE *out, const struct summary *s)
{
    char text[TABLE_CELL], number[TEXT_NUMBER];
    long params = 0;
    summary_distinct(text, sizeof text, s, COLUMN_params);
    if (sscanf(text, "%ld", &params) == 1 && strchr(text, ',') == NULL)
        fprintf(out, " %s params", text_count(number, params));
}

static void print_training(FILE *out, const struct summary *s)
{
    char text[320];
    fputs(summary_distinct(text, sizeof text, s, COLUMN_model), out);
    print_params(out, s);
    summary_print_part(out, " | ", summary_distinct(text, sizeof text, s, COLUMN_dataset));
    summary_print_part(out, " ", summary_distinct(text, sizeof text, s, COLUMN_data_source));
    summary_print_part(out, " | ", summary_distinct(text, sizeof text, s, COLUMN_optimizer));
    summary_print_part(out, ", ", summary_batch(text, sizeof text, s));
    summary_print_part(out, " | ", summary_distinct(text, sizeof text, s, COLUMN_strategy));
}

void table_print_subject(FILE *out, const struct summary *s)
{
    const struct config *config = &s->spec->config;
    const char *scaling = config_text(config, OPT_SCALING), *foreign = spec_foreign(s->spec);
    char text[256], site[256];
    if (strcmp(scaling, "none") != 0)
        fprintf(out, "%s scaling | ", scaling);
    if (config_int(config, OPT_FORM) == FORM_quick)
        fputs("quick form, no result | ", out);
    if (foreign != NULL)
        fputs(foreign, out);
    else
        print_training(out, s);
    summary_print_part(out, " | ", summary_distinct(text, sizeof text, s, COLUMN_kind));
    if (strcmp(text, summary_distinct(site, sizeof site, s, COLUMN_site)) != 0)
        summary_print_part(out, ", ", site);
    fputc('\n', out);
}

static void print_machine(FILE *out, const struct summary *s, const char *revision)
{
    char text[256], nodes[TEXT_NUMBER];
    summary_distinct(text, sizeof text, s, COLUMN_host);
    if (!text[0])
        return;
    fputs(text, out);
    if (s->usable_cores > 0)
        fprintf(out, ": %d of %d cores, %s", s->usable_cores, s->machine_cores,
                text_plural(nodes, s->numa_nodes, "NUMA node"));
    summary_print_part(out, " | ", summary_distinct(text, sizeof text, s, COLUMN_mpi));
    summary_print_part(out, " | ", summary_distinct(text, sizeof text, s, COLUMN_blas));
    summary_print_part(out, " | ", revision);
    fputc('\n', out);
}

/* ---- Below the table ---- */

/* Prints the rate of computed FLOPs (GFLOP/s) and the kinds of skipped work, such as ", at most 239
 * done (saved: data_zeros)". Prints nothing unless the program reports both. */
static void print_done(FILE *out, const struct point_summary *p)
{
    char rate[TEXT_NUMBER];
    const char *savings = p->cells[COLUMN_savings];
    if (!isfinite(p->rates.gflop_done_per_s) || !savings[0])
        return;
    fprintf(out, ", %s%s done (%s%s)", savings_depend_on_data(savings) ? "at most " : "",
            text_significant(rate, p->rates.gflop_done_per_s, 3),
            strcmp(savings, "none") == 0 ? "nothing saved" : "saved: ",
            strcmp(savings, "none") == 0 ? "" : savings);
}

/* Prints a base point with its step time, rate and failed launches. If `alone` (no other base in
 * the run), a description such as "1 rank, no communication" replaces the label. A user's program
 * (workload.command) keeps its label and has no rate. */
static void print_base(FILE *out, const struct point_summary *p, bool alone)
{
    char ranks[TEXT_NUMBER], step[TEXT_INTERVAL], rate[TEXT_NUMBER];
    long n = config_int(&p->point->config, OPT_RANKS);
    char text[STRATEGY_TEXT];
    const char *strategy = strategy_text(text, p->point);
    bool foreign = config_is_foreign(&p->point->config);
    bool silent = n == 1 && strcmp(strategy, "none") == 0;
    long stages = config_int(&p->point->config, OPT_PIPELINE);
    if (alone && !foreign && stages == n && n > 1)
        fprintf(out, "Base: a pipeline of %ld stages", stages);
    else if (alone && !foreign)
        fprintf(out, "Base: %s, %s", text_plural(ranks, n, "rank"),
                silent ? "no communication" : strategy);
    else
        fprintf(out, "Base: %s", p->point->label);
    fprintf(out, ": %s ms", text_interval(step, &p->step_ms, 4));
    if (!foreign)
        fprintf(out, " per step, %s GFLOP/s effective",
                text_significant(rate, p->rates.gflop_per_s, 3));
    print_done(out, p);
    if (p->failed_launches > 0)
        fprintf(out, "; %zu of its %s failed", p->failed_launches,
                text_plural(ranks, (long)(p->failed_launches + p->launches), "launch"));
    fputs(".\n", out);
}

static void print_bases(FILE *out, const struct summary *s)
{
    size_t n = summary_count(s, point_is_timed_base);
    for (size_t i = 0; i < s->n; i++)
        if (point_is_timed_base(&s->points[i]))
            print_base(out, &s->points[i], n == 1);
}

/* Prints "Disturbed (CAUSES): 3 of 54 timed launches. The results include them." CAUSES: names such
 * as foreign, steal or work, separated by blanks. */
static void print_disturbed(FILE *out, const struct summary *s)
{
    size_t disturbed = 0, launches = 0;
    char by[64] = "";
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].point->twin != i)
            continue;
        disturbed += s->points[i].noise.disturbed;
        launches += s->points[i].launches;
        noise_join(by, sizeof by, s->points[i].noise.disturbed_by);
    }
    if (disturbed > 0)
        fprintf(out, "Disturbed (%s): %zu of %zu timed launches. The results include them.\n", by,
                disturbed, launches);
}

void table_print_notes(FILE *out, const struct summary *s)
{
    print_bases(out, s);
    table_print_ratios(out, s);
    table_print_tails(out, s);
    table_print_bubbles(out, s);
    print_disturbed(out, s);
}

static void print_weights(FILE *out, const struct summary *s)
{
    char points[TEXT_NUMBER];
    bool every_step = true;
    size_t n = 0, by_design = 0;
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        bool several = config_int(&p->point->config, OPT_RANKS) > 1;
        const char *compared = p->cells[COLUMN_weights_compared];
        if (!several || !point_was_measured(p) || !point_is_replicated(p->point))
            continue;
        if (strcmp(p->cells[COLUMN_weights_equal], "0") == 0 &&
            config_has_flaw(&p->point->config)) {
            by_design++;
            continue;
        }
        if (strcmp(p->cells[COLUMN_weights_equal], "1") != 0 || compared[0] == '\0')
            return;
        every_step = every_step && strcmp(compared, "step") == 0;
        n++;
    }
    if (n > 0)
        fprintf(out, "Weights are equal on all ranks %s%s.\n",
                every_step ? "after every step" : "at the end of every launch",
                by_design > 0 ? ", except at the points below" : "");
    if (by_design > 0)
        fprintf(out, "Weights differ between ranks by design at %s (flag by_design).\n",
                text_plural(points, (long)by_design, "point"));
}

/* Prints the number of points that reached the required precision. If the wall time was recorded,
 * also prints the campaign's launches, wall time and core-hours. */
static void print_effort(FILE *out, const struct summary *s)
{
    size_t met = 0, wanted = 0;
    char launches[TEXT_NUMBER], runs[TEXT_NUMBER], wall[TEXT_NUMBER], hours[TEXT_NUMBER];
    for (size_t i = 0; i < s->n; i++) {
        wanted += s->points[i].timed && s->points[i].launches > 0;
        met += s->points[i].timed && s->points[i].launches > 0 && s->points[i].precision_met;
    }
    if (wanted > 0)
        fprintf(out, "Precision met at %zu of %zu points.%s", met, wanted,
                isnan(s->wall_s) ? "\n" : " ");
    if (!isnan(s->wall_s))
        fprintf(out, "%s and %s took %s, %s core-hours.\n",
                text_plural(launches, (long)s->n_timed, "launch"),
                text_plural(runs, (long)s->n_accuracy, "accuracy run"),
                text_wall_time(wall, s->wall_s), text_significant(hours, s->core_s / 3600, 2));
}

/* Prints how well the step times of simulated points agree with measured ones. */
static void print_validation(FILE *out, const struct summary *s)
{
    const struct validation v = summary_validation(s);
    if (v.simulated == 0)
        return;
    fputs("Simulated points: ", out);
    validation_write(out, &v);
    fputs(".\n", out);
}

static bool is_there(const char *run_dir, const char *name, const char *ending)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", run_dir, name, ending);
    return access(path, F_OK) == 0;
}

/* If the file exists, appends its name to the line of its kind ("figures", "tables"). n: number of
 * names on the line so far. Returns the new n. */
static size_t print_file(FILE *out, const char *kind, const char *run_dir, const char *name,
                         const char *ending, size_t n)
{
    if (!is_there(run_dir, name, ending))
        return n;
    if (n == 0)
        fprintf(out, "  %-8s %s/{", kind, run_dir);
    fprintf(out, "%s%s", n > 0 ? "," : "", name);
    return n + 1;
}

/* Prints the names of the figures that exist, and their formats. Lists PDF only if a PDF file
 * exists, since some versions of gnuplot cannot write PDF. */
static void print_figures(FILE *out, const struct value *figures, const char *run_dir)
{
    size_t n = 0;
    bool pdf = false;
    for (size_t i = 0; i < figures->n; i++) {
        n = print_file(out, "figures", run_dir, figures->texts[i], ".svg", n);
        pdf |= is_there(run_dir, figures->texts[i], ".pdf");
    }
    if (n > 0)
        fprintf(out, "}.{svg,png%s}\n", pdf ? ",pdf" : "");
}

/* Prints the names of CSV files that exist; a copy of a run need not have all. */
static void print_tables(FILE *out, const struct summary *s, const char *run_dir)
{
    const char *file;
    size_t n = 0;
    for (size_t i = 0; (file = summary_file(s->spec, i)) != NULL; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(".csv")), file);
        n = print_file(out, "tables", run_dir, name, ".csv", n);
    }
    if (n > 0)
        fprintf(out, "}.csv%s\n", is_there(run_dir, "summary.tex", "") ? ", summary.{md,tex}" : "");
}

static void print_paths(FILE *out, const struct summary *s, const char *run_dir)
{
    print_tables(out, s, run_dir);
    print_figures(out, &s->spec->config.values[OPT_FIGURES], run_dir);
    if (s->launches != NULL)
        fputs("  next     the same command resumes this run; --fresh (make: FRESH=1) begins a new "
              "one\n",
              out);
    else
        fprintf(out, "Read from %s/summary.csv, since the folder has no records of launches.\n",
                run_dir);
}

void table_print_findings(FILE *out, const struct summary *s)
{
    table_print_notes(out, s);
    print_weights(out, s);
    table_print_losses(out, s);
    table_print_fits(out, s);
    table_print_published(out, s);
    print_validation(out, s);
    print_effort(out, s);
}

static void print_all(FILE *out, const struct summary *s, const char *run_dir, const char *revision,
                      int width)
{
    const char *title = spec_title(s->spec);
    fprintf(out, "%s  ", config_text(&s->spec->config, OPT_NAME));
    if (title != NULL)
        fprintf(out, "%s\n", title);
    table_print_subject(out, s);
    print_machine(out, s, revision);
    print_rows(out, s, width);
    table_print_findings(out, s);
    table_print_rules(out, s);
    print_paths(out, s, run_dir);
}

void table_print(FILE *out, const struct summary *s, const char *run_dir, const char *revision,
                 int width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory != NULL)
        print_all(memory, s, run_dir, revision, width);
    if (memory == NULL || fclose(memory) != 0)
        fputs("no memory for the table\n", out);
    else
        table_print_lines(out, text, width);
    free(text);
}
