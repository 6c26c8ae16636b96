/* Draws figures: runs gnuplot with a script from plots/ on the numbers of series_<figure>.csv. */
#include <stdlib.h>

#include "bench/base/log.h"
#include "bench/collect/stage.h"
#include "bench/collect/summary.h"
#include "bench/figures/caption.h"
#include "bench/figures/figure_define.h"
#include "bench/figures/figures.h"
#include "bench/figures/gnuplot.h"
#include "bench/figures/merge.h"
#include "kernels/base/mem.h"

/* ---- Files beside the pictures ---- */

static enum status write_series(FILE *out, void *d, struct error *e)
{
    return ((struct figure_data *)d)->figure->shape->write(out, d, e);
}

/* Writes the full caption to <figure>.txt, even if the picture has a short caption. */
static enum status write_caption(FILE *out, void *d, struct error *e)
{
    char *caption = NULL;
    enum status status = caption_make(&caption, d, true, e);
    if (status == OK)
        fprintf(out, "%s\n", caption);
    free(caption);
    return status;
}

/* Writes a gnuplot script that draws the figure again from the CSV files in its folder and the
 * scripts in ../plots. */
static enum status write_script(FILE *out, void *what, struct error *e)
{
    const struct figure_data *d = what;
    const struct stage here = {.dir = "."};
    const struct pictures pictures = {.stage = &here, .plots_dir = "../plots"};
    fprintf(out,
            "# Run `gnuplot -d %s.gp` in this folder to draw the figure with the scripts in "
            "../plots.\n",
            d->figure->name);
    TRY(figure_define(out, d, &pictures, e));
    fprintf(out, "\nload plots.'/%s.gp'\n", d->figure->script);
    return OK;
}

/* ---- One figure ---- */

/* If a timed point has a base without a time, writes the base's label and status, and advice: ",
 * ranks=1 none (timeout: ...); run the campaign...". Writes "" if there is no such base, or if the
 * figure's values are per launch. */
static void name_base(char *text, size_t size, const struct figure_data *d)
{
    const struct point_summary *base =
        d->quantity->source == SOURCE_POINTS ? figure_data_lacking_base(d) : NULL;
    text[0] = '\0';
    if (base != NULL)
        snprintf(text, size,
                 ", %s (%s%s%s); run the campaign again, or choose another base with baseline:",
                 base->point->label, base->status, base->reason[0] ? ": " : "", base->reason);
}

/* Prints why the figure has no model line: as a note if the spec requests a model line, otherwise
 * as a detail. */
static void say_no_model(const struct figure_data *d)
{
    bool asked = d->figure->request->options[FIGURE_MODEL].set;
    if (d->figure->model && d->n_runs == 1 && d->prediction.n == 0)
        log_print(asked ? LOG_NOTE : LOG_DETAIL, "figure %s cannot show a model line: %s",
                  d->figure->name, d->prediction.words);
}

static void say_what_is_missing(const struct figure_data *d)
{
    const char *figure = d->figure->name, *lack = figure_data_lack(d);
    char base[900];
    name_base(base, sizeof base, d);
    say_no_model(d);
    if (lack != NULL)
        log_print(LOG_NOTE, "figure %s is empty: %s%s", figure, lack, base);
    if (d->left_out > 0)
        log_print(LOG_NOTE, "figure %s leaves out %zu %s; series_%s.csv contains all data", figure,
                  d->left_out, d->figure->shape->bars ? "bars" : "curves", figure);
}

static enum status keep_script(struct figure_data *d, const struct stage *stage, struct error *e)
{
    char script[64];
    snprintf(script, sizeof script, "%s.gp", d->figure->name);
    TRY(stage_write(stage, script, write_script, d, e));
    return stage_keep(stage, script, e);
}

/* Without `keep`, writes series_<figure>.csv, <figure>.txt and, if the figure has dots,
 * dots_<figure>.csv to a temporary folder. With `keep`, moves the written files to their final
 * names. */
static enum status for_each_file(struct figure_data *d, const struct stage *stage, bool keep,
                                 struct error *e)
{
    const struct {
        const char *lead, *ending;
        stage_writer *write;
        bool exists;
    } files[] = {{"series_", "csv", write_series, true},
                 {"dots_", "csv", dots_write, dots_exist(d)},
                 {"", "txt", write_caption, true}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s.%s", files[i].lead, d->figure->name, files[i].ending);
        if (files[i].exists)
            TRY(keep ? stage_keep(stage, name, e) : stage_write(stage, name, files[i].write, d, e));
    }
    return OK;
}

static enum status draw_data(struct figure_data *d, const struct pictures *pictures,
                             struct error *e)
{
    TRY(for_each_file(d, pictures->stage, false, e));
    say_what_is_missing(d);
    TRY(pictures_draw(pictures, d->figure->script, d->figure->name, figure_define, d, e));
    TRY(for_each_file(d, pictures->stage, true, e));
    TRY(pictures_keep(pictures, d->figure->name, e));
    return pictures->files == FIGURES_WITH_SCRIPTS ? keep_script(d, pictures->stage, e) : OK;
}

struct shown {
    const struct summary *s;
    const struct figure_run *runs;
    size_t n_runs;
};

static enum status draw(const struct shown *shown, const struct pictures *pictures,
                        const struct figure_request *request, struct error *e)
{
    struct figure_data d;
    enum status status = figure_data_read(&d, request, shown->s, shown->runs, shown->n_runs, e);
    THEN(status, draw_data(&d, pictures, e));
    figure_data_free(&d);
    return status;
}

/* Checks all figures before any file is written. If one figure is wrong, no figure is drawn. */
static enum status check_all(const struct summary *s, struct error *e)
{
    const struct value *figures = &s->spec->config.values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++)
        TRY(figure_check(&figures->figures[i], s, e));
    return OK;
}

/* Checks all figures, then draws them. If drawing one figure fails, the others are still drawn,
 * unless gnuplot is missing. */
static enum status draw_all(const struct shown *shown, const char *folder, const char *plots_dir,
                            enum figures_files files, struct error *e)
{
    const struct value *figures = &shown->s->spec->config.values[OPT_FIGURES];
    struct stage stage;
    const struct pictures pictures = {&stage, plots_dir, files};
    TRY(check_all(shown->s, e));
    enum status status = stage_open(&stage, folder, e);
    for (size_t i = 0; i < figures->n && status != ERR_UNAVAILABLE && stage.dir[0]; i++) {
        struct error why = {.status = OK};
        if (draw(shown, &pictures, &figures->figures[i], &why) == OK)
            continue;
        if (status == OK)
            *e = why;
        else
            log_print(LOG_ERROR, "%s: %s", why.file, why.text);
        status = status == OK ? why.status : status;
    }
    stage_close(&stage);
    return status;
}

enum status figures_check_runs(const struct figures_run *runs, size_t n, struct error *e)
{
    struct merged merged;
    enum status status = merge_runs(&merged, runs, n, e);
    THEN(status, check_all(&merged.s, e));
    merged_free(&merged);
    return status;
}

enum status figures_draw(const struct figures_run *runs, size_t n, const char *out,
                         const char *plots_dir, enum figures_files files, struct error *e)
{
    struct merged merged;
    const struct figure_run alone = {runs[0].dir, 0, runs[0].s->n};
    if (n == 1)
        return draw_all(&(struct shown){runs[0].s, &alone, 1}, out, plots_dir, files, e);
    enum status status = merge_runs(&merged, runs, n, e);
    THEN(status, draw_all(&(struct shown){&merged.s, merged.runs, n}, out, plots_dir, files, e));
    merged_free(&merged);
    return status;
}

enum status figures_check(const struct spec *spec, struct error *e)
{
    struct summary s = {.spec = spec, .n = spec->n_points};
    TRY(MEM_NEW(s.points, s.n, "the points of figures", e));
    for (size_t i = 0; i < s.n; i++)
        s.points[i].point = &spec->points[i];
    enum status status = check_all(&s, e);
    free(s.points);
    return status;
}
