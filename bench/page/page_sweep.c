/* Makes the section of a sweep on a page: a short table, figures, and a table of all rows. */
#include <string.h>

#include "bench/collect/table/table.h"
#include "bench/figures/figures.h"
#include "bench/page/picture.h"
#include "bench/page/section.h"
#include "bench/runner/files.h"

/* ---- Figures ---- */

static enum status add_figure(const struct section_source *from, json_t *section,
                              const struct sweep_figure *f, const char *path, struct error *e)
{
    const char *id = json_string_value(json_object_get(section, "id"));
    json_t *figure =
        json_pack("{s:o, s:s, s:s, s:{s:s, s:o, s:s}}", "id", json_sprintf("%s-%s", id, f->figure),
                  "name", f->figure, "caption", f->caption, "sweep", "part", f->part, "table",
                  json_sprintf("%s-table", id), "file", f->table);
    TRY(data_add(section, "figures", figure, e));
    return picture_read(figure, from->page, path, e);
}

static enum status add_figures(const struct section_source *from, json_t *section, const char *name,
                               struct error *e)
{
    size_t n;
    const struct sweep_figure *figures = figures_of_sweeps(&n);
    for (size_t i = 0; i < n; i++) {
        char path[PATH_BYTES];
        TRY(path_format(path, e, "%s/%s.svg", from->drawn, figures[i].figure));
        if (strcmp(figures[i].table, name) == 0 && path_exists(path))
            TRY(add_figure(from, section, &figures[i], path, e));
    }
    return OK;
}

/* ---- Tables ---- */

static enum status add_table(json_t *section, const char *part, const char *folder,
                             const char *name, struct error *e)
{
    char path[PATH_BYTES], id[PAGE_ID];
    snprintf(id, sizeof id, "%.80s-%s", json_string_value(json_object_get(section, "id")), part);
    TRY(path_format(path, e, "%s/%s", folder, name));
    return path_exists(path) ? data_add_csv(section, id, name, path, e) : OK;
}

/* ---- The section ---- */

struct printing {
    const char *path;
    enum status *status;
    struct error *e;
};

static void print_short(FILE *out, const void *arg)
{
    const struct printing *t = arg;
    bool all_well;
    *t->status = table_print_sweep(out, t->path, &all_well, t->e);
}

/* Creates the section of a sweep, named after its table: "kernels" for kernels.csv. */
static json_t *begin_section(json_t *page, const char *name, const char *table)
{
    char id[PAGE_ID], called[PAGE_ID];
    snprintf(called, sizeof called, "%.*s", (int)strcspn(name, "."), name);
    section_id(id, page, called, "-");
    return json_pack("{s:s, s:s, s:s, s:o}", "id", id, "name", id, "kind", "measured", "again",
                     data_text(table));
}

enum status section_add_sweep(const struct section_source *from, const char *path, const char *name,
                              struct error *e)
{
    char table[PATH_BYTES];
    enum status status = OK;
    const struct printing printing = {table, &status, e};
    TRY(path_format(table, e, "%s/%s", path, name));
    json_t *section = begin_section(from->page, name, table);
    TRY(section_add(from, "sweeps", section, path, e));
    json_object_set_new(section, "findings", data_print(print_short, &printing));
    TRY(status);
    TRY(figures_draw_sweep(path, name, from->drawn, from->plots, FIGURES_FOR_PAGE, NULL, e));
    TRY(add_figures(from, section, name, e));
    TRY(add_table(section, "table", path, name, e));
    TRY(add_table(section, "limits", path, "limits.csv", e));
    return add_table(section, "link", path, "link.csv", e);
}
