#include <stdio.h>
#include <string.h>

#include "bench/page/picture.h"
#include "bench/page/section.h"
#include "bench/runner/files.h"
#include "kernels/base/names.h"

static bool shows(const struct figure_request *figure, const char *bars, const char *quantity)
{
    const struct value *y = &figure->options[FIGURE_Y];
    bool asked = y->n > 0 ? name_index(quantity, (const char *const *)y->texts, y->n) >= 0
                          : strcmp(bars, quantity) == 0;
    return figure->published && asked;
}

/* Adds the figure's comparisons with published numbers to `data`. Gives each of these comparisons a
 * member `shown`: its line in the table of contents. */
static void show_published(json_t *data, const json_t *section, const struct figure_request *figure,
                           const char *bars)
{
    size_t i;
    json_t *compared;
    json_array_foreach(json_object_get(section, "compared"), i, compared)
    {
        const char *name = json_string_value(json_object_get(compared, "name"));
        if (!shows(figure, bars, name))
            continue;
        const char *counts = json_string_value(json_object_get(compared, "counts"));
        data_add(data, "published", json_incref(compared), NULL);
        json_object_set_new(compared, "shown", json_sprintf("%s: %s", name, counts));
    }
}

enum status figure_add(const struct section_source *from, json_t *section,
                       const struct figure_request *figure, const char *bars, struct error *e)
{
    const struct value *y = &figure->options[FIGURE_Y];
    const char *name = figure_request_name(figure), *title = figure->options[FIGURE_TITLE].text;
    char id[PAGE_ID], called[PAGE_ID], path[PATH_BYTES], series[100];
    snprintf(called, sizeof called, "%.80s-%.60s",
             json_string_value(json_object_get(section, "id")), name);
    section_id(id, from->page, called, "-figure-");
    json_t *data = json_pack("{s:s, s:o, s:o, s:o}", "id", id, "name", data_text(name), "title",
                             data_text(title != NULL ? title : ""), "quantity",
                             data_text(y->n > 0 ? y->texts[0] : bars));
    TRY(data_add(section, "figures", data, e));
    show_published(data, section, figure, bars);
    TRY(path_format(path, e, "%s/%s.svg", from->drawn, name));
    TRY(picture_read(data, from->page, path, e));
    TRY(path_format(path, e, "%s/%s.txt", from->drawn, name));
    TRY(data_add_file(data, "caption", path, e));
    snprintf(series, sizeof series, "series_%s.csv", name);
    TRY(path_format(path, e, "%s/%s", from->drawn, series));
    return data_add_csv(data, id, series, path, e);
}
