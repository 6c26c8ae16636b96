#include "bench/figures/pictures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/figures/gnuplot.h"

/* gnuplot need not have the last: a picture of before goes then. */
static const char *const formats[] = {"svg", "png", "pdf"};
enum { FORMATS = sizeof formats / sizeof *formats, FORMATS_NEEDED = FORMATS - 1 };

/* Cairo writes the time into a PDF, and the same figure would not be the same file again. Where it
 * does not stand in plain text, it stays. */
static enum status forget_time(const char *path, struct error *e)
{
    static const char mark[] = "/CreationDate (D:", epoch[] = "19700101000000";
    FILE *pdf = fopen(path, "r+");
    if (pdf == NULL)
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

void pictures_define(FILE *out, enum pictures pictures)
{
    if (pictures == PICTURES_FOR_PAGE)
        gnuplot_define_text(out, "formats", formats[0]);
}

enum status pictures_draw(const struct stage *stage, const char *plots_dir, const char *script,
                          const char *figure, char *definitions, struct error *e)
{
    char path[4500], pdf[4500];
    snprintf(path, sizeof path, "%s/%s.gp", plots_dir, script);
    snprintf(pdf, sizeof pdf, "%s/%s.pdf", stage->dir, figure);
    TRY(gnuplot_run(definitions, path, e));
    return forget_time(pdf, e);
}

enum status pictures_keep(const struct stage *stage, const char *figure, enum pictures pictures,
                          struct error *e)
{
    size_t n = pictures == PICTURES_FOR_PAGE ? 1 : FORMATS;
    for (size_t i = 0; i < n; i++) {
        char name[64], path[4500];
        snprintf(name, sizeof name, "%s.%s", figure, formats[i]);
        snprintf(path, sizeof path, "%s/%s", stage->dir, name);
        if (i < FORMATS_NEEDED || access(path, F_OK) == 0) {
            TRY(stage_keep(stage, name, e));
        } else {
            snprintf(path, sizeof path, "%s/%s", stage->run_dir, name);
            unlink(path);
        }
    }
    return OK;
}

void pictures_remove(const char *folder, const char *figure)
{
    for (size_t i = 0; i < FORMATS; i++) {
        char path[4500];
        snprintf(path, sizeof path, "%s/%s.%s", folder, figure, formats[i]);
        unlink(path);
    }
}
