/* Figures: gnuplot as a program, a script from plots/, the numbers from series_<figure>.csv. What a
 * script cannot read from that file (caption, series, ticks) it gets as assignments; plots/style.gp
 * lists them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/caption.h"
#include "bench/collect/collect.h"
#include "bench/collect/figure_data.h"
#include "bench/collect/gnuplot.h"
#include "bench/collect/stage.h"
#include "bench/collect/summary.h"
#include "kernels/base/log.h"

/* --- Assignments ---------------------------------------------------------------------------------
 */

static long ranks_of(const struct point_summary *p)
{
    return config_int(&p->point->config, OPT_RANKS);
}

static void define_series(FILE *out, const struct figure_data *d)
{
    char name[GNUPLOT_NAME];
    gnuplot_define_number(out, "series_n", (double)d->series.n);
    for (size_t k = 0; k < d->series.n; k++) {
        const struct series *series = &d->series.items[k];
        const struct point_summary *last = &d->s->points[series->points[series->n - 1]];
        gnuplot_define_text(out, gnuplot_numbered(name, "series", k + 1, "_name"), series->name);
        gnuplot_define_number(out, gnuplot_numbered(name, "series", k + 1, "_bound"),
                              last->compute_only);
    }
}

/* Every rank count of the campaign once, rising, as words. */
static void define_ranks(FILE *out, const struct summary *s)
{
    long rank = 0, first = 0;
    fputs("ranks='", out);
    for (;;) {
        long next = 0;
        for (size_t i = 0; i < s->n; i++)
            if (ranks_of(&s->points[i]) > rank && (next == 0 || ranks_of(&s->points[i]) < next))
                next = ranks_of(&s->points[i]);
        if (next == 0)
            break;
        fprintf(out, "%ld ", next);
        first = first ? first : next;
        rank = next;
    }
    fputs("'; ", out);
    gnuplot_define_number(out, "ranks_min", (double)first);
    gnuplot_define_number(out, "ranks_max", (double)rank);
}

/* Perfect scaling from the base of each series: cores, relative to the base, that a rank brings. */
static void define_ideals(FILE *out, const struct figure_data *d)
{
    size_t n = 0;
    for (size_t k = 0; k < d->series.n; k++) {
        const struct series *series = &d->series.items[k];
        const struct point_summary *p = &d->s->points[series->points[series->n - 1]];
        const struct point_summary *base = &d->s->points[p->base];
        double slope = (double)p->cores / (double)ranks_of(p) / base->cores;
        char name[GNUPLOT_NAME];
        if (!isfinite(base->step_ms.mid))
            continue;
        n++;
        gnuplot_define_number(out, gnuplot_numbered(name, "ideal", n, "_slope"), slope);
        gnuplot_define_number(out, gnuplot_numbered(name, "ideal", n, "_ms"), base->step_ms.mid);
    }
    gnuplot_define_number(out, "ideal_n", (double)n);
}

/* --- Points without a value ----------------------------------------------------------------------
 */

/* Length of what all series' names begin with, in whole parts: "reduce_bcast, " of "reduce_bcast,
 * nodes 1" and "reduce_bcast, nodes 2". The legend says it, a label need not. */
static size_t shared_lead(const struct series_list *list)
{
    const char *first = list->items[0].name;
    size_t lead = 0;
    for (const char *comma = list->n > 1 ? strstr(first, ", ") : NULL; comma;
         comma = strstr(first + lead, ", ")) {
        size_t length = (size_t)(comma - first) + 2;
        for (size_t k = 1; k < list->n; k++)
            if (strncmp(list->items[k].name, first, length) != 0)
                return lead;
        lead = length;
    }
    return lead;
}

/* "failed" where all points at these ranks did, else with what tells the series apart. */
static void define_missing_point(FILE *out, const char *series, const struct point_summary *p,
                                 bool alone, size_t k, size_t nth)
{
    char name[GNUPLOT_NAME], text[192];
    snprintf(text, sizeof text, "%s%s%s", alone ? "" : series, alone ? "" : ": ", p->status);
    gnuplot_define_number(out, gnuplot_numbered(name, "missing", k, "_ranks"), (double)ranks_of(p));
    gnuplot_define_number(out, gnuplot_numbered(name, "missing", k, "_nth"), (double)nth);
    gnuplot_define_text(out, gnuplot_numbered(name, "missing", k, "_text"), text);
}

/* Whether all points at p's ranks share its fate. */
static bool alike_at_ranks(const struct figure_data *d, const struct point_summary *p)
{
    for (size_t i = 0; i < d->s->n; i++)
        if (ranks_of(&d->s->points[i]) == ranks_of(p) &&
            (!figure_data_misses(d, i) || strcmp(d->s->points[i].status, p->status) != 0))
            return false;
    return true;
}

/* How many points without a value the series before `k` have at these ranks. */
static size_t missing_before(const struct figure_data *d, size_t k, long ranks)
{
    size_t n = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < d->series.items[j].n; i++) {
            size_t point = d->series.items[j].points[i];
            n += ranks_of(&d->s->points[point]) == ranks && figure_data_misses(d, point);
        }
    return n;
}

static void define_missing(FILE *out, const struct figure_data *d)
{
    size_t n = 0;
    for (size_t k = 0; k < d->series.n; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++) {
            size_t point = d->series.items[k].points[i];
            const struct point_summary *p = &d->s->points[point];
            size_t nth = missing_before(d, k, ranks_of(p));
            bool alone = alike_at_ranks(d, p);
            const char *series = d->series.items[k].name + shared_lead(&d->series);
            if (figure_data_misses(d, point) && !(alone && nth > 0))
                define_missing_point(out, series, p, alone, ++n, nth);
        }
    gnuplot_define_number(out, "missing_n", (double)n);
}

static void define_counts(FILE *out, const struct figure_data *d)
{
    gnuplot_define_number(out, "values_n", (double)d->values);
    gnuplot_define_number(out, "doubtful_n", (double)d->doubtful);
    gnuplot_define_number(out, "oversubscribed_n", (double)d->oversubscribed);
    gnuplot_define_number(out, "published_n", (double)d->published);
    gnuplot_define_number(out, "model_n", (double)d->predicted);
    gnuplot_define_number(out, "least", d->least);
    gnuplot_define_number(out, "most", d->most);
    gnuplot_define_number(out, "rows_n", (double)d->rows);
    gnuplot_define_number(out, "epochs_n", d->epochs);
    gnuplot_define_number(out, "accuracies_n", (double)d->accuracies);
    gnuplot_define_number(out, "losses_n", (double)d->losses);
}

static void define_parts(FILE *out)
{
    fputs("parts='", out);
    for (size_t i = 0; breakdown_part(i); i++)
        fprintf(out, "%s ", breakdown_part(i));
    fputs("'; ", out);
}

/* The caption cut into lines, as caption1, caption2 ... */
static enum status define_caption(FILE *out, const struct figure_data *d, struct error *e)
{
    struct caption caption;
    enum status status = caption_make(&caption, d, e);
    char name[GNUPLOT_NAME];
    if (status != OK)
        return status;
    gnuplot_define_number(out, "caption_n", (double)caption.n);
    for (size_t k = 0; k < caption.n; k++)
        gnuplot_define_text(out, gnuplot_numbered(name, "caption", k + 1, ""), caption.lines[k]);
    caption_free(&caption);
    return OK;
}

/* --- Pictures ------------------------------------------------------------------------------------
 */

/* gnuplot need not have the last: a picture of before goes then. */
static const char *const formats[] = {"svg", "png", "pdf"};
enum { FORMATS = sizeof formats / sizeof *formats, FORMATS_NEEDED = FORMATS - 1 };

/* Cairo writes the time into a PDF, and the same figure would not be the same file again. Where it
 * does not stand in plain text, it stays. */
static enum status forget_time(const char *path, struct error *e)
{
    static const char mark[] = "/CreationDate (D:", epoch[] = "19700101000000";
    FILE *pdf = fopen(path, "r+");
    if (!pdf)
        return errno == ENOENT
                   ? OK
                   : error_set(e, ERR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    size_t met = 0;
    int c;
    while (met < strlen(mark) && (c = fgetc(pdf)) != EOF)
        met = c == mark[met] ? met + 1 : c == mark[0];
    if (met == strlen(mark)) {
        fseek(pdf, 0, SEEK_CUR);
        fputs(epoch, pdf);
    }
    return fclose(pdf) == 0 ? OK : error_set(e, ERR_SYSTEM, "cannot write %s", path);
}

/* Gives the finished pictures their names: until then the old ones stand. */
static enum status keep_pictures(const struct stage *stage, const char *figure, struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; i < FORMATS && status == OK; i++) {
        char name[64], path[4500];
        snprintf(name, sizeof name, "%s.%s", figure, formats[i]);
        snprintf(path, sizeof path, "%s/%s", stage->dir, name);
        if (i < FORMATS_NEEDED || access(path, F_OK) == 0) {
            status = stage_keep(stage, name, e);
        } else {
            snprintf(path, sizeof path, "%s/%s", stage->run_dir, name);
            unlink(path);
        }
    }
    return status;
}

/* --- One figure ----------------------------------------------------------------------------------
 */

static enum status define_all(FILE *out, const struct figure_data *d, const char *plots_dir,
                              const struct stage *stage, struct error *e)
{
    const struct config *config = &d->s->spec->config;
    const char *lack = figure_data_lack(d);
    char path[4500];
    gnuplot_define_text(out, "plots", plots_dir);
    snprintf(path, sizeof path, "%s/series_%s.csv", stage->dir, d->figure);
    gnuplot_define_text(out, "data", path);
    snprintf(path, sizeof path, "%s/%s", stage->dir, d->figure);
    gnuplot_define_text(out, "out", path);
    gnuplot_define_text(out, "scaling", config_text(config, OPT_SCALING));
    gnuplot_define_text(out, "y_title", d->quantity->title);
    gnuplot_define_text(out, "nothing", lack ? lack : "");
    define_series(out, d);
    define_ranks(out, d->s);
    define_ideals(out, d);
    define_missing(out, d);
    define_counts(out, d);
    define_parts(out);
    return define_caption(out, d, e);
}

static enum status run_script(const struct figure_data *d, const char *plots_dir,
                              const struct stage *stage, struct error *e)
{
    char script[4096], *definitions = NULL;
    size_t size = 0;
    snprintf(script, sizeof script, "%s/%s.gp", plots_dir, d->figure);
    FILE *out = open_memstream(&definitions, &size);
    if (!out)
        return error_set(e, ERR_MEMORY, "no memory for figure %s", d->figure);
    enum status status = define_all(out, d, plots_dir, stage, e);
    if (fclose(out) != 0 && status == OK)
        status = error_set(e, ERR_MEMORY, "no memory for figure %s", d->figure);
    if (status == OK)
        status = gnuplot_run(definitions, script, e);
    free(definitions);
    return status;
}

static enum status draw_data(struct figure_data *d, const char *plots_dir,
                             const struct stage *stage, struct error *e)
{
    char name[64], path[4500];
    snprintf(name, sizeof name, "series_%s.csv", d->figure);
    snprintf(path, sizeof path, "%s/%s", stage->dir, name);
    enum status status = figure_data_write(d, path, e);
    if (status == OK && figure_data_lack(d))
        log_print(LOG_NOTE, "%s: nothing to draw: %s", d->figure, figure_data_lack(d));
    if (status == OK)
        status = run_script(d, plots_dir, stage, e);
    snprintf(path, sizeof path, "%s/%s.pdf", stage->dir, d->figure);
    if (status == OK)
        status = forget_time(path, e);
    if (status == OK)
        status = stage_keep(stage, name, e);
    return status == OK ? keep_pictures(stage, d->figure, e) : status;
}

static enum status draw(const struct summary *s, const char *plots_dir, const struct stage *stage,
                        const char *figure, struct error *e)
{
    struct figure_data d;
    enum status status = figure_data_read(&d, figure, s, stage->run_dir, e);
    if (status == OK)
        status = draw_data(&d, plots_dir, stage, e);
    figure_data_free(&d);
    return status;
}

/* One that cannot be drawn does not keep the others from it; where there is no gnuplot, none can.
 */
enum status figures_draw(const struct summary *s, const char *run_dir, const char *plots_dir,
                         struct error *e)
{
    const struct value *figures = &s->spec->config.values[OPT_FIGURES];
    struct stage stage;
    enum status status = stage_open(&stage, run_dir, e);
    for (size_t i = 0; i < figures->n && status != ERR_UNAVAILABLE && stage.dir[0]; i++) {
        struct error why = {.status = OK};
        if (draw(s, plots_dir, &stage, figures->texts[i], &why) == OK)
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
