#include "bench/page/section.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/runner/files.h"

void section_id(char id[PAGE_ID], json_t *page, const char *called, const char *between)
{
    char name[PAGE_ID - 32];
    size_t n = 1;
    json_t *ids = json_object_get(page, "ids");
    data_id(name, sizeof name, called);
    snprintf(id, PAGE_ID, "%s", name);
    while (json_object_get(ids, id) != NULL)
        snprintf(id, PAGE_ID, "%s%s%zu", name, between, ++n);
    json_object_set_new(ids, id, json_true());
}

/* Returns the name of a committed run, "kota_parts" for results/reference/kota_parts; NULL for
 * other runs. */
static json_t *kept_name(const char *path, const char *home)
{
    char reference[PATH_BYTES], kept[PATH_MAX], own[PATH_MAX];
    if (path_format(reference, NULL, "%s/results/reference", home) != OK ||
        realpath(reference, kept) == NULL || realpath(path, own) == NULL)
        return NULL;
    size_t length = strlen(kept);
    bool below = strncmp(own, kept, length) == 0 && own[length] == '/';
    return below ? data_text(own + length + 1) : NULL;
}

/* Reserves the HTML ids of the summary, rules and title of a section. */
static void keep_ids(json_t *page, const json_t *section)
{
    static const char *const own[] = {"summary", "rules", "title"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char id[PAGE_ID];
        snprintf(id, sizeof id, "%.80s-%s", json_string_value(json_object_get(section, "id")),
                 own[i]);
        json_object_set_new(json_object_get(page, "ids"), id, json_true());
    }
}

enum status section_add(const struct section_source *from, const char *list, json_t *section,
                        const char *path, struct error *e)
{
    char manifest[PATH_BYTES];
    TRY(data_add(from->page, list, section, e));
    keep_ids(from->page, section);
    TRY(path_format(manifest, e, "%s/manifest.json", path));
    json_object_set_new(section, "manifest", json_load_file(manifest, 0, NULL));
    if (json_object_set_new(section, "kept", kept_name(path, from->request->tools->home)) == 0)
        json_object_set_new(from->page, "keeps", json_true());
    json_object_set_new(section, "path", data_text(path));
    return OK;
}
