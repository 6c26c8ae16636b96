#include "bench/runner/compare/operand.h"

#include <string.h>

#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"

static bool is_run(const char *path)
{
    static const char *const files[] = {"summary.csv", "manifest.json", "spec.yaml"};
    char file[PATH_BYTES];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (path_format(file, NULL, "%s/%s", path, files[i]) == OK && path_exists(file))
            return true;
    return false;
}

/* The campaign of a spec; any other name as it is. */
static enum status name_campaign(char campaign[PATH_BYTES], const char *name, struct error *e)
{
    struct spec spec = {0};
    size_t length = strlen(name);
    bool is_spec = length > 5 && strcmp(name + length - 5, ".yaml") == 0 && !path_is_folder(name);
    if (!is_spec)
        return path_format(campaign, e, "%s", name);
    enum status status = spec_load_here(&spec, name, NULL, e);
    THEN(status, path_format(campaign, e, "%s", config_text(&spec.config, OPT_NAME)));
    spec_free(&spec);
    return status;
}

enum status operand_find(char path[PATH_BYTES], const char *name, const char *out, const char *home,
                         struct error *e)
{
    const struct {
        const char *before, *between, *after;
    } places[] = {
        {"", "", ""},
        {"", "", "/latest"},
        {out, "/", ""},
        {out, "/", "/latest"},
        {"results/reference", "/", ""},
        {home, "/results/reference/", ""},
    };
    char campaign[PATH_BYTES];
    TRY(name_campaign(campaign, name, e));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        TRY(path_format(path, e, "%s%s%s%s", places[i].before, places[i].between, campaign,
                        places[i].after));
        if (is_run(path))
            return OK;
    }
    return error_set(e, ERR_ARGUMENT,
                     "'%s' is no run: neither a folder with summary.csv, nor a campaign's with "
                     "latest/, nor a name in %s or results/reference",
                     name, out);
}

enum status operand_find_last(char paths[2][PATH_BYTES], const char *name, const char *out,
                              struct error *e)
{
    char campaign[PATH_BYTES], folder[PATH_BYTES];
    struct runs runs;
    TRY(name_campaign(campaign, name, e));
    TRY(path_format(folder, e, "%s/%s", out, campaign));
    if (!path_is_folder(folder))
        TRY(path_format(folder, e, "%s", campaign));
    enum status status = runs_read(&runs, folder, e);
    if (status == OK && runs.n < 2)
        status = error_set(e, ERR_ARGUMENT,
                           "compare: RUN... is missing: %s has %zu run%s, and two are compared",
                           folder, runs.n, runs.n == 1 ? "" : "s");
    for (size_t i = 0; i < 2 && status == OK; i++)
        status = path_format(paths[i], e, "%s", runs.all[runs.n - 2 + i].path);
    runs_free(&runs);
    return status;
}

bool operand_find_sweep(char path[PATH_BYTES], const char *name, const char *table, const char *out,
                        const char *home)
{
    const char *const places[][2] = {
        {"", ""}, {out, "/"}, {"results/reference", "/"}, {home, "/results/reference/"}};
    char file[PATH_BYTES];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (path_format(path, NULL, "%s%s%s", places[i][0], places[i][1], name) == OK &&
            path_format(file, NULL, "%s/%s", path, table) == OK && path_exists(file))
            return true;
    return false;
}
