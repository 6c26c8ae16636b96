#include "bench/compare/operand.h"

#include <string.h>

#include "bench/collect/columns.h"
#include "bench/collect/table/table.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"
#include "bench/spec/find.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

static const char *sweep_table(const char *folder)
{
    size_t n;
    const char *const *names = table_sweep_names(&n);
    for (size_t i = 0; i < n; i++)
        if (folder_has(folder, names[i]))
            return names[i];
    return NULL;
}

/* Returns whether the folder holds a run. A run has summary.csv or spec.yaml, or has manifest.json
 * but no table of a sweep. Sweeps have manifest.json too. */
static bool is_run(const char *path)
{
    return folder_has(path, "summary.csv") || folder_has(path, "spec.yaml") ||
           (folder_has(path, "manifest.json") && sweep_table(path) == NULL);
}

static enum status refuse_sweep(const char *folder, const char *table, struct error *e)
{
    return error_set(e, ERR_ARGUMENT,
                     "%s is a sweep, not a run of a campaign; `scalebench table %s/%s` prints the "
                     "sweep's table, and `scalebench figures` draws its figures",
                     folder, folder, table);
}

/* Writes the campaign's name. If `name` is a spec file, loads the spec and takes the name from it;
 * otherwise copies `name`. */
static enum status name_campaign(char campaign[PATH_BYTES], struct spec *spec, const char *name,
                                 struct error *e)
{
    if (!text_ends(name, ".yaml") || path_is_folder(name))
        return path_format(campaign, e, "%s", name);
    TRY(spec_load_here(spec, name, NULL, e));
    return path_format(campaign, e, "%s", config_text(&spec->config, OPT_NAME));
}

enum status operand_check_no_table(const char *file, struct error *e)
{
    const char *name;
    char folder[PATH_BYTES], stem[64];
    size_t n, length = find_stem(&name, file, ".csv");
    const char *const *tables = csv_file_names(&n);
    snprintf(stem, sizeof stem, "%.*s", (int)length, name);
    TRY(path_format(folder, e, "%.*s", name > file ? (int)(name - file) - 1 : 1,
                    name > file ? file : "."));
    if (!is_run(folder) || name_index(stem, tables, n) < 0)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "'%s' is a table of the run %s. Give the run's folder or name", file, folder);
}

/* Finds the results folder whose name or path is most similar to `name`. */
static void look_near(struct near_file *near, const char *name, const char *out, const char *home)
{
    char results[PATH_BYTES] = "";
    const char *const here[] = {"", results, "results/reference/", NULL};
    path_format(results, NULL, "%s/", out);
    find_near(near, ".", here, name);
    find_near(near, home, here + 2, name);
}

enum { PLACES = 6 };
/* Formats the i-th of the PLACES paths at which operand_find looks for the run that the user calls
 * `name`. */
static enum status format_place(char path[PATH_BYTES], size_t i, const char *name, const char *out,
                                const char *home, struct error *e)
{
    const struct {
        const char *before, *between, *after;
    } places[PLACES] = {
        {"", "", ""},
        {"", "", "/latest"},
        {out, "/", ""},
        {out, "/", "/latest"},
        {"results/reference", "/", ""},
        {home, "/results/reference/", ""},
    };
    return path_format(path, e, "%s%s%s%s", places[i].before, places[i].between, name,
                       places[i].after);
}

static enum status find(char path[PATH_BYTES], struct spec *spec, const char *name, const char *out,
                        const char *home, struct error *e)
{
    char campaign[PATH_BYTES];
    TRY(operand_check_no_table(name, e));
    TRY(name_campaign(campaign, spec, name, e));
    for (size_t i = 0; i < PLACES; i++) {
        TRY(format_place(path, i, campaign, out, home, e));
        if (is_run(path))
            return OK;
        if (sweep_table(path) != NULL)
            return refuse_sweep(path, sweep_table(path), e);
    }
    struct near_file near = {.distance = 0};
    look_near(&near, name, out, home);
    if (path_exists(name) && !path_is_folder(name))
        return error_set(e, ERR_ARGUMENT,
                         text_ends(name, ".csv")
                             ? "'%s' is a table, not a run: expected the name of a run, or the "
                               "folder of a run, which has a summary.csv"
                             : "'%s' is a file: expected a run's folder or name, or a table, whose "
                               "name ends in .csv",
                         name);
    return error_set(e, ERR_ARGUMENT,
                     "'%s' is not a run: expected a folder with summary.csv, a campaign's folder "
                     "with latest/, or a name in %s%s or results/reference%s",
                     name, out, path_is_folder(out) ? "" : " (--out: folder not found)", near.text);
}

enum status operand_find(char path[PATH_BYTES], const char *name, const char *out, const char *home,
                         struct error *e)
{
    struct spec spec = {0};
    enum status status = find(path, &spec, name, out, home, e);
    if (status == OK && spec.n_points > 0)
        run_spec_note_change(&spec, path);
    spec_free(&spec);
    return status;
}

enum status operand_check_points(const char *name, const char *out, const char *home,
                                 struct error *e)
{
    char path[PATH_BYTES], text[RUN_MISSING];
    struct spec spec = {0};
    if (!text_ends(name, ".yaml"))
        return OK;
    enum status status = find(path, &spec, name, out, home, e);
    if (status == OK && run_spec_find_missing(text, &spec, path) > 0)
        status = error_set(e, ERR_UNAVAILABLE, "%s", text);
    spec_free(&spec);
    return status;
}

enum status operand_find_last(char paths[2][PATH_BYTES], const char *name, const char *out,
                              struct error *e)
{
    char campaign[PATH_BYTES], folder[PATH_BYTES];
    struct runs runs;
    struct spec spec = {0};
    enum status status = name_campaign(campaign, &spec, name, e);
    spec_free(&spec);
    TRY(status);
    TRY(path_format(folder, e, "%s/%s", out, campaign));
    if (!path_is_folder(folder))
        TRY(path_format(folder, e, "%s", campaign));
    if (!path_is_folder(folder))
        return error_set(e, ERR_ARGUMENT,
                         "compare: expected two runs, found only '%s', and %s has no campaign "
                         "'%s'. Name a second run, or a campaign with at least two runs",
                         name, out, name);
    status = runs_read(&runs, folder, e);
    if (status == OK && runs.n < 2)
        status = error_set(e, ERR_ARGUMENT,
                           "compare: expected two runs, found only the campaign %s, which has %zu "
                           "run%s. Name another run",
                           folder, runs.n, runs.n == 1 ? "" : "s");
    for (size_t i = 0; i < 2 && status == OK; i++)
        status = path_format(paths[i], e, "%s", runs.all[runs.n - 2 + i].path);
    runs_free(&runs);
    return status;
}

const char *operand_find_sweep(char path[PATH_BYTES], const char *name, const char *out,
                               const char *home)
{
    for (size_t i = 0; i < PLACES; i++)
        if (format_place(path, i, name, out, home, NULL) == OK && sweep_table(path) != NULL)
            return sweep_table(path);
    return NULL;
}

enum status operand_check_campaigns(const char *const *names, size_t n, const char *out,
                                    const char *home, struct error *e)
{
    char path[PATH_BYTES], text[600] = "";
    size_t sweeps = 0;
    for (size_t i = 0, used = 0; i < n && used < sizeof text; i++) {
        const char *table = operand_find_sweep(path, names[i], out, home);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s'%s' is %s%s%s",
                                 i > 0 ? ", " : "", names[i], table != NULL ? "a sweep (" : "not",
                                 table != NULL ? table : "", table != NULL ? ")" : "");
        sweeps += table != NULL;
    }
    return sweeps == 0
               ? OK
               : error_set(e, ERR_ARGUMENT,
                           "expected runs of campaigns, found sweeps: %s; `scalebench table` "
                           "prints the table of a sweep",
                           text);
}
