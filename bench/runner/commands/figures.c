#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/file.h"
#include "bench/collect/table/table.h"
#include "bench/compare/operand.h"
#include "bench/figures/figures.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/joined.h"
#include "bench/runner/report.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"
#include "bench/spec/find.h"
#include "bench/spec/spec.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Loads the spec of an already measured run. --set can change only options of scope FIGURE. */
static enum status load_folder(struct spec *spec, const char *folder, const struct arguments *a,
                               struct error *e)
{
    TRY(run_spec_load(spec, folder, a->set, e));
    const char *key = spec_set_beyond_figures(spec);
    if (key == NULL)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "figures: --set %s: %s is already measured, so --set can change only figures, "
                     "title, bars, caption, link, published.*, differs and "
                     "site.price_per_core_hour",
                     key, folder);
}

/* Returns whether two specs request the same measurements. Options of figures can differ. */
static bool same_campaign(const struct spec *a, const struct spec *b)
{
    bool same = a->n_points == b->n_points;
    for (int i = 0; i < OPTION_COUNT && same; i++)
        same = option_get((enum option_id)i)->scope != SCOPE_CAMPAIGN ||
               strcmp(config_text(&a->config, (enum option_id)i),
                      config_text(&b->config, (enum option_id)i)) == 0;
    for (size_t i = 0; i < a->n_points && same; i++)
        same = strcmp(a->points[i].id, b->points[i].id) == 0;
    return same;
}

static bool is_view_of(const struct spec *asked, const char *view)
{
    struct spec spec = {0};
    struct error why = {.status = OK};
    bool same = spec_load_here(&spec, view, NULL, &why) == OK && same_campaign(asked, &spec);
    spec_free(&spec);
    return same;
}

/* Finds the run's newest spec that requests the same measurements as `asked`. Sets `view` to its
 * path; "" if there is none. */
static void find_view(const struct spec *asked, const char *run_dir, char view[PATH_BYTES])
{
    glob_t earlier;
    if (path_format(view, NULL, "%s/spec.yaml", run_dir) == OK && is_view_of(asked, view))
        return;
    view[0] = '\0';
    if (file_glob(run_dir, "spec-*.yaml", 0, &earlier) != 0)
        return;
    for (size_t i = earlier.gl_pathc; view[0] == '\0' && i-- > 0;)
        if (is_view_of(asked, earlier.gl_pathv[i]))
            path_format(view, NULL, "%s", earlier.gl_pathv[i]);
    globfree(&earlier);
}

/* Finds the newest run with a spec that requests the measurements of `asked`. Sets `run_dir` to the
 * run's folder and `view` to the path of the spec. If no run has such a spec, `view` stays empty
 * and `run_dir` has no meaning. */
static enum status find_run(const struct spec *asked, const char *folder, char run_dir[PATH_BYTES],
                            char view[PATH_BYTES], struct error *e)
{
    struct runs runs;
    enum status status = runs_read(&runs, folder, e);
    for (size_t i = runs.n; status == OK && view[0] == '\0' && i-- > 0;) {
        find_view(asked, runs.all[i].path, view);
        status = path_format(run_dir, e, "%s", runs.all[i].path);
    }
    runs_free(&runs);
    return status;
}

/* Finds the run to draw: the latest run or, if --set changes measurements, the newest run with
 * these measurements. *same: whether spec.yaml or an earlier spec-*.yaml in the run's folder
 * requests the measurements of `asked`. */
static enum status choose_run(const struct spec *asked, const struct arguments *a,
                              char run_dir[PATH_BYTES], bool *same, struct error *e)
{
    char folder[PATH_BYTES], view[PATH_BYTES] = "";
    bool set = spec_set_beyond_figures(asked) != NULL;
    TRY(path_format(folder, e, "%s/%s", a->out, config_text(&asked->config, OPT_NAME)));
    TRY(path_format(run_dir, e, "%s/latest", folder));
    if (set)
        TRY(find_run(asked, folder, run_dir, view, e));
    else if (path_is_folder(run_dir))
        find_view(asked, run_dir, view);
    *same = view[0] != '\0';
    if (set ? *same : path_is_folder(run_dir))
        return OK;
    return error_at(e, ERR_ARGUMENT, set ? folder : run_dir, 0, 0,
                    "no run of this campaign%s yet. Run `make bench CONFIG=%s%s%s%s`",
                    set ? " with these values" : "", a->operand, set ? " SET=\"" : "",
                    set ? a->set : "", set ? "\"" : "");
}

/* Loads the spec of the run to draw, but takes the figure options from the user's current spec
 * (`asked`). `spec` borrows values from `asked`, so free `asked` last. */
static enum status load_campaign(struct spec *spec, struct spec *asked, const struct arguments *a,
                                 char run_dir[PATH_BYTES], struct error *e)
{
    TRY(spec_load_here(asked, a->operand, a->set, e));
    char last[PATH_BYTES];
    bool same;
    TRY(choose_run(asked, a, run_dir, &same, e));
    if (same)
        return spec_load_here(spec, a->operand, a->set, e);
    run_spec_note_change(asked, run_dir);
    TRY(path_format(last, e, "%s/spec.yaml", run_dir));
    TRY(spec_load_here(spec, last, NULL, e));
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_get((enum option_id)i)->scope != SCOPE_FIGURE)
            continue;
        struct value of_run = spec->config.values[i];
        spec->config.values[i] = asked->config.values[i];
        asked->config.values[i] = of_run;
    }
    return OK;
}

static enum status redraw(const struct spec *spec, const char *run_dir, const struct tools *tools,
                          struct error *e)
{
    struct report_result result;
    struct report_request request = {
        .run_dir = run_dir, .shown = run_dir, .write = true, .draw = true};
    TRY(published_check(spec, e));
    TRY(figures_check(spec, e));
    TRY(prediction_check(spec, e));
    return report_make(spec, &request, tools, &result, e);
}

static const char *const endings[] = {".svg", ".png", ".pdf"};

/* Prints the path of a figure's file if the file exists. The PDF may be missing, since some
 * versions of gnuplot cannot write PDF. */
static void print_picture(FILE *out, const char *run_dir, const char *figure, const char *ending)
{
    char path[PATH_BYTES];
    if (path_format(path, NULL, "%s/%s%s", run_dir, figure, ending) == OK && path_exists(path))
        fprintf(out, "%s\n", path);
}

static void print_sweep_figures(FILE *out, const char *run_dir)
{
    size_t n;
    char table[PATH_BYTES];
    const struct sweep_figure *figures = figures_of_sweeps(&n);
    for (size_t i = 0; i < n; i++)
        if (path_format(table, NULL, "%s/%s", run_dir, figures[i].table) == OK &&
            path_exists(table))
            print_picture(out, run_dir, figures[i].figure, ".svg");
}

static void print_figures(FILE *out, const struct spec *spec, const char *run_dir)
{
    const struct value *figures = &spec->config.values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
            print_picture(out, run_dir, figures->texts[i], endings[k]);
    print_sweep_figures(out, run_dir);
}

static bool is_sweep(const char *operand)
{
    return text_ends(operand, ".csv") && !path_is_folder(operand);
}

/* Refuses a .csv operand that is not a sweep table, and --set, --output or further operands beside
 * a sweep table. */
static enum status check_sweep(const struct arguments *a, struct error *e)
{
    const char *given = a->set != NULL      ? "--set"
                        : a->output != NULL ? "--output"
                        : a->n_operands > 1 ? "other runs"
                                            : NULL;
    TRY(figures_check_sweep(file_name(a->operand), e));
    return given == NULL
               ? OK
               : error_set(
                     e, ERR_ARGUMENT,
                     "figures: %s is a sweep table and cannot be combined with %s. Leave %s out",
                     a->operand, given, given);
}

static enum status draw_sweep(const char *path, const struct tools *tools, FILE *out,
                              struct error *e)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/'), *table = file_name(path);
    TRY(slash != NULL ? path_format(folder, e, "%.*s", (int)(slash - path), path)
                      : path_format(folder, e, "."));
    return figures_draw_sweep(folder, table, folder, tools->plots, FIGURES_PICTURES, out, e);
}

/* ---- Several runs ---- */

/* Refuses a run that the user gave twice, since its curves would coincide. */
static enum status check_new(const struct joined_run *runs, size_t i, const char *name,
                             struct error *e)
{
    for (size_t k = 0; k < i; k++)
        if (find_is_same(runs[k].path, runs[i].path))
            return error_set(e, ERR_ARGUMENT,
                             "figures: '%s' is the run %s, which is given twice. Leave one out",
                             name, runs[k].path);
    return OK;
}

/* Opens all runs that the user gave. --set applies to the spec of the first run, which lists the
 * figures to draw. */
static enum status open_runs(struct joined_run *runs, const struct arguments *a, struct error *e)
{
    for (size_t i = 0; i < a->n_operands; i++) {
        struct joined_run *run = &runs[i];
        TRY(operand_find(run->path, a->operands[i], a->out, a->tools->home, e));
        TRY(check_new(runs, i, a->operands[i], e));
        TRY(i == 0 ? load_folder(&run->spec, run->path, a, e)
                   : run_spec_load(&run->spec, run->path, NULL, e));
        TRY(summary_read(&run->s, &run->spec, run->path, e));
    }
    joined_name(runs, a->n_operands);
    return OK;
}

/* Refuses a picture's file name as --output, since all figures are written to one folder. */
static enum status check_folder(const char *output, struct error *e)
{
    for (size_t i = 0; output != NULL && i < sizeof endings / sizeof *endings; i++)
        if (text_ends(output, endings[i]))
            return error_set(e, ERR_ARGUMENT,
                             "figures: --output %s: expected a folder, found the name of a "
                             "picture. Use --output FOLDER",
                             output);
    return OK;
}

static enum status draw_runs(const struct arguments *a, FILE *out, struct error *e)
{
    char names[200], folder[PATH_BYTES];
    size_t n = a->n_operands;
    struct joined_run *runs;
    TRY(check_folder(a->output, e));
    TRY(MEM_NEW(runs, n, "the runs of figures", e));
    enum status status = open_runs(runs, a, e);
    if (status == OK) {
        joined_folder(names, sizeof names, runs, n);
        status = a->output != NULL ? path_format(folder, e, "%s", a->output)
                                   : path_format(folder, e, "%s/figures/%s", a->out, names);
    }
    if (status == OK && runs[0].spec.config.values[OPT_FIGURES].n == 0)
        status = error_set(e, ERR_ARGUMENT,
                           "figures: the spec of %s has no figures. Use --set \"figures=[time]\"",
                           runs[0].path);
    THEN(status, joined_draw(runs, n, folder, a->tools, e));
    if (status == OK)
        print_figures(out, &runs[0].spec, folder);
    for (size_t i = 0; i < n; i++) {
        summary_free(&runs[i].s);
        spec_free(&runs[i].spec);
    }
    free(runs);
    return status;
}

enum status command_figures(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    char run_dir[PATH_BYTES];
    struct spec spec = {0}, asked = {0};
    if (is_sweep(a->operand)) {
        TRY(operand_check_no_table(a->operand, e));
        TRY(check_sweep(a, e));
        return draw_sweep(a->operand, a->tools, out, e);
    }
    if (a->n_operands > 1 || a->output != NULL)
        return draw_runs(a, out, e);
    bool of_spec = !path_is_folder(a->operand) && spec_is_meant(a->operand);
    if (!of_spec)
        TRY(operand_find(run_dir, a->operand, a->out, a->tools->home, e));
    enum status status =
        of_spec ? load_campaign(&spec, &asked, a, run_dir, e) : load_folder(&spec, run_dir, a, e);
    THEN(status, redraw(&spec, run_dir, a->tools, e));
    if (status == OK)
        print_figures(out, &spec, run_dir);
    spec_free(&spec);
    spec_free(&asked);
    return status;
}

enum status command_table(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    char run_dir[PATH_BYTES];
    struct spec spec = {0};
    struct report_result result = {.all_well = true};
    struct report_request request = {.run_dir = run_dir, .shown = run_dir, .table = out};
    enum status status;
    if (is_sweep(a->operand)) {
        TRY(operand_check_no_table(a->operand, e));
        status = table_print_sweep(out, a->operand, &result.all_well, e);
    } else {
        TRY(operand_find(run_dir, a->operand, a->out, a->tools->home, e));
        status = run_spec_load(&spec, run_dir, NULL, e);
        THEN(status, report_make(&spec, &request, a->tools, &result, e));
    }
    if (!result.all_well)
        *exit_status = 1;
    spec_free(&spec);
    return status;
}
