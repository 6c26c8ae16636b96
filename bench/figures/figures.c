/* Figures: gnuplot as a program, a script from plots/, the numbers from series_<figure>.csv. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/stage.h"
#include "bench/collect/summary.h"
#include "bench/figures/caption.h"
#include "bench/figures/figure_define.h"
#include "bench/figures/figures.h"
#include "bench/figures/gnuplot.h"
#include "kernels/base/log.h"

/* ---- The caption ---- */

/* In full, whatever the picture has room for. */
static enum status write_caption(const struct figure_data *d, const struct stage *stage,
                                 struct error *e)
{
    char name[64], path[4500];
    struct caption caption;
    TRY(caption_make(&caption, d, true, e));
    snprintf(name, sizeof name, "%s.txt", d->figure);
    snprintf(path, sizeof path, "%s/%s", stage->dir, name);
    FILE *out = fopen(path, "w");
    bool written = out && fprintf(out, "%s\n", caption.text) > 0;
    written = out && fclose(out) == 0 && written;
    caption_free(&caption);
    if (!written)
        return error_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    return stage_keep(stage, name, e);
}

/* ---- Pictures ---- */

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

/* ---- One figure ---- */

static enum status run_script(const struct figure_data *d, const char *plots_dir,
                              const struct stage *stage, struct error *e)
{
    char script[4096], *definitions = NULL;
    size_t size = 0;
    snprintf(script, sizeof script, "%s/%s.gp", plots_dir, d->figure);
    FILE *out = open_memstream(&definitions, &size);
    if (!out)
        return error_set(e, ERR_MEMORY, "no memory for figure %s", d->figure);
    enum status status = figure_define(out, d, plots_dir, stage, e);
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
    if (status == OK && d->left_out > 0)
        log_print(LOG_NOTE, "%s: %zu %s more than fit are left to %s", d->figure, d->left_out,
                  d->bars ? "bars" : "curves", name);
    if (status == OK)
        status = run_script(d, plots_dir, stage, e);
    snprintf(path, sizeof path, "%s/%s.pdf", stage->dir, d->figure);
    if (status == OK)
        status = forget_time(path, e);
    if (status == OK)
        status = stage_keep(stage, name, e);
    if (status == OK)
        status = write_caption(d, stage, e);
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

/* One that cannot be drawn does not keep the others from it; where there is no gnuplot, none
 * can. */
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
