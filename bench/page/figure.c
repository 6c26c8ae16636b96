/* A figure of a page: picture, caption, verdict, the table behind it. */
#include <stdio.h>

#include "bench/collect/table/table.h"
#include "bench/page/csv_table.h"
#include "bench/page/html.h"
#include "bench/page/page_run.h"
#include "bench/page/picture.h"
#include "bench/page/spread.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/names.h"

/* More rows than this are folded in. */
enum { ROWS_SHOWN = 12 };

static enum status write_picture(FILE *out, const struct page_run *run, const char *name,
                                 const char *id, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/%s.svg", run->drawn, name));
    fputs("<figure>\n<div class=\"picture\">", out);
    TRY(picture_write(out, path, id, e));
    fprintf(out, "</div>\n<figcaption id=\"%s-caption\">", id);
    TRY(path_format(path, e, "%s/%s.txt", run->drawn, name));
    TRY(html_file(out, path, true, e));
    fputs("</figcaption>\n</figure>\n", out);
    return OK;
}

static void print_losses(FILE *out, const void *s)
{
    table_print_losses(out, s);
}

/* What the figure shows has no interval where it is made of parts: then what the run lost, and why. */
static enum status write_verdicts(FILE *out, const struct page_run *run,
                                  const struct figure_request *figure, const char *id,
                                  const struct csv_table *series, struct error *e)
{
    const char *bars = config_text(&run->spec.config, OPT_BARS);
    const struct comparison *c = verdicts_of(&run->verdicts, figure, bars, 0);
    const struct value *y = &figure->options[FIGURE_Y];
    bool told = spread_write(out, series, y->n > 0 ? y->texts[0] : bars, c == NULL);
    if (!told && c == NULL)
        TRY(html_paragraphs(out, "p", print_losses, &run->s, e));
    for (size_t i = 0; (c = verdicts_of(&run->verdicts, figure, bars, i)) != NULL; i++) {
        char rows[160];
        snprintf(rows, sizeof rows, "%s-%s", id, c->what->name);
        TRY(verdict_write(out, c, rows, e));
    }
    return OK;
}

static enum status write_series(FILE *out, const struct csv_table *series, const char *id,
                                const char *name, struct error *e)
{
    fprintf(out, "<details%s><summary>The table behind it, ",
            series->rows <= ROWS_SHOWN ? " open" : "");
    html_text(out, name);
    fprintf(out, ", %zu %s</summary>\n", series->rows, series->rows == 1 ? "row" : "rows");
    TRY(csv_table_write(out, series, id, e));
    TRY(csv_table_write_link(out, series->path, name, e));
    fputs("</details>\n", out);
    return OK;
}

static enum status write_rest(FILE *out, const struct page_run *run,
                              const struct figure_request *figure, const char *id, struct error *e)
{
    char path[PATH_BYTES], name[100];
    struct csv_table series;
    snprintf(name, sizeof name, "series_%s.csv", figure_request_name(figure));
    TRY(path_format(path, e, "%s/%s", run->drawn, name));
    enum status status = csv_table_read(&series, path, e);
    THEN(status, write_verdicts(out, run, figure, id, &series, e));
    THEN(status, write_series(out, &series, id, name, e));
    csv_table_free(&series);
    return status;
}

void page_figure_id(char id[160], const struct page_run *run, const struct figure_request *figure)
{
    static const char *const own[] = {"summary", "rules", "title"};
    char part[64];
    html_id(part, sizeof part, figure_request_name(figure));
    bool taken = name_index(part, own, sizeof own / sizeof *own) >= 0;
    snprintf(id, 160, "%s-%s%s", run->id, part, taken ? "-figure" : "");
}

enum status page_figure_write(FILE *out, const struct page_run *run,
                              const struct figure_request *figure, struct error *e)
{
    char id[160];
    const char *name = figure_request_name(figure), *title = figure->options[FIGURE_TITLE].text;
    page_figure_id(id, run, figure);
    fprintf(out, "<article class=\"figure\" id=\"%s\">\n<h3 id=\"%s-title\"><a href=\"#%s\">", id,
            id, id);
    html_text(out, name);
    fputs("</a>", out);
    if (title != NULL && *title) {
        fputs(" <small>", out);
        html_text(out, title);
        fputs("</small>", out);
    }
    fputs("</h3>\n", out);
    TRY(write_picture(out, run, name, id, e));
    fputs("<div class=\"numbers\">\n", out);
    TRY(write_rest(out, run, figure, id, e));
    fputs("</div>\n</article>\n", out);
    return OK;
}
