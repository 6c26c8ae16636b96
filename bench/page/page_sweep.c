#include "bench/page/page_sweep.h"

#include <string.h>

#include "bench/collect/table/table.h"
#include "bench/compare/operand.h"
#include "bench/figures/figures.h"
#include "bench/page/csv_table.h"
#include "bench/page/html.h"
#include "bench/page/page_run.h"
#include "bench/page/picture.h"

/* ---- Reading ---- */

bool page_sweep_find(struct page_sweep *sweep, const char *operand, const char *out,
                     const char *home)
{
    *sweep = (struct page_sweep){.name = NULL};
    sweep->name = operand_find_sweep(sweep->path, operand, out, home);
    return sweep->name != NULL;
}

/* The sweep's next figure that was drawn, from the *i-th of all sweeps on, and its picture; NULL: there is none. */
static const struct sweep_figure *next_drawn(char path[PATH_BYTES], const struct page_sweep *sweep,
                                             size_t *i)
{
    size_t n;
    const struct sweep_figure *figures = figures_of_sweeps(&n);
    while (*i < n) {
        const struct sweep_figure *f = &figures[(*i)++];
        if (strcmp(f->table, sweep->name) == 0 &&
            path_format(path, NULL, "%s/%s.svg", sweep->drawn, f->figure) == OK &&
            path_exists(path))
            return f;
    }
    return NULL;
}

enum status page_sweep_open(struct page_sweep *sweep, const char *plots, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/%s", sweep->path, sweep->name));
    TRY(csv_table_read(&sweep->table, path, e));
    TRY(path_format(path, e, "%s/manifest.json", sweep->path));
    sweep->manifest = json_load_file(path, 0, NULL);
    TRY(figures_draw_sweep_page(sweep->path, sweep->name, sweep->drawn, plots, e));
    for (size_t i = 0; next_drawn(path, sweep, &i) != NULL;)
        sweep->figures++;
    return OK;
}

void page_sweep_close(struct page_sweep *sweep)
{
    json_decref(sweep->manifest);
    csv_table_free(&sweep->table);
}

/* ---- Figures ---- */

static enum status write_figure(FILE *out, const struct page_sweep *sweep,
                                const struct sweep_figure *f, const char *path, struct error *e)
{
    char id[160];
    snprintf(id, sizeof id, "%s-%s", sweep->id, f->figure);
    fprintf(
        out,
        "<article class=\"figure\" id=\"%s\">\n<h3 id=\"%s-title\"><a href=\"#%s\">%s</a></h3>\n"
        "<figure>\n<div class=\"picture\">",
        id, id, id, f->figure);
    TRY(picture_write(out, path, id, e));
    fprintf(out, "</div>\n<figcaption id=\"%s-caption\">", id);
    html_text(out, f->caption);
    fprintf(out,
            "</figcaption>\n</figure>\n<div class=\"numbers\"><p>Drawn from the rows of <a "
            "href=\"#%s-table\">%s</a> whose part is %s.</p></div>\n</article>\n",
            sweep->id, sweep->name, f->part);
    return OK;
}

static enum status write_figures(FILE *out, const struct page_sweep *sweep, struct error *e)
{
    char path[PATH_BYTES];
    size_t i = 0;
    for (const struct sweep_figure *f; (f = next_drawn(path, sweep, &i)) != NULL;)
        TRY(write_figure(out, sweep, f, path, e));
    return OK;
}

/* ---- Tables ---- */

static enum status write_table(FILE *out, const struct csv_table *table, const char *id,
                               const char *name, struct error *e)
{
    fprintf(out, "<details id=\"%s\"><summary>All rows, %s</summary>\n", id, name);
    TRY(csv_table_write(out, table, id, e));
    TRY(csv_table_write_link(out, table->path, name, e));
    fputs("</details>\n", out);
    return OK;
}

/* The coefficients that the sweep fitted, where it did. */
static enum status write_link(FILE *out, const struct page_sweep *sweep, struct error *e)
{
    char path[PATH_BYTES], id[100];
    struct csv_table table;
    TRY(path_format(path, e, "%s/link.csv", sweep->path));
    if (!path_exists(path))
        return OK;
    snprintf(id, sizeof id, "%s-link", sweep->id);
    enum status status = csv_table_read(&table, path, e);
    THEN(status, write_table(out, &table, id, "link.csv", e));
    csv_table_free(&table);
    return status;
}

/* ---- The section ---- */

struct telling {
    const char *path;
    enum status *status;
    struct error *e;
};

static void print_short(FILE *out, const void *arg)
{
    const struct telling *t = arg;
    bool all_well;
    *t->status = table_print_sweep(out, t->path, &all_well, t->e);
}

static enum status write_short(FILE *out, const struct page_sweep *sweep, struct error *e)
{
    enum status status = OK;
    const struct telling telling = {sweep->table.path, &status, e};
    TRY(html_findings(out, print_short, &telling, e));
    return status;
}

enum status page_sweep_write(FILE *out, const struct page_sweep *sweep, struct error *e)
{
    char id[100];
    snprintf(id, sizeof id, "%s-table", sweep->id);
    fprintf(
        out,
        "<section class=\"run\" id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\"><a "
        "href=\"#%s\">%s</a> <a class=\"up\" href=\"#contents\">contents</a></h2>\n<p "
        "class=\"file\">",
        sweep->id, sweep->id, sweep->id, sweep->id, sweep->id);
    html_text(out, sweep->path);
    fputs("</p>\n", out);
    TRY(write_short(out, sweep, e));
    TRY(write_figures(out, sweep, e));
    TRY(write_table(out, &sweep->table, id, sweep->name, e));
    TRY(write_link(out, sweep, e));
    page_again_write_sweep(out, sweep->manifest, sweep->table.path);
    page_provenance_write(out, sweep->manifest);
    fputs("</section>\n", out);
    return OK;
}

/* ---- A row of the overview ---- */

static void write_links(FILE *out, const struct page_sweep *sweep)
{
    char path[PATH_BYTES];
    size_t i = 0;
    for (const struct sweep_figure *f; (f = next_drawn(path, sweep, &i)) != NULL;)
        fprintf(out, "<a href=\"#%s-%s\">%s</a> ", sweep->id, f->figure, f->figure);
}

static const char *fact_of(const json_t *part, const char *name)
{
    const char *text = json_string_value(json_object_get(part, name));
    return text != NULL ? text : "";
}

void page_sweep_overview(FILE *out, const struct page_sweep *sweep)
{
    const json_t *machine = json_object_get(sweep->manifest, "machine");
    fprintf(out, "<tr><th scope=\"row\"><a href=\"#%s\">%s</a></th><td class=\"links wrap\">",
            sweep->id, sweep->id);
    write_links(out, sweep);
    fprintf(out,
            "</td><td>measured</td><td class=\"n\">%zu rows</td><td></td><td class=\"n\"></td><td "
            "class=\"date\">",
            sweep->table.rows);
    html_day(out, fact_of(sweep->manifest, "started"));
    fputs("</td>", out);
    html_processor(out, fact_of(machine, "cpu"), fact_of(machine, "caches"));
    fputs("</tr>\n", out);
}
