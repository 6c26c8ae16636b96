#include "bench/runner/commands/with_tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/file.h"
#include "bench/collect/table/table.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/mem.h"

enum status with_tables_add(struct with_tables *list, const char *text, struct error *e)
{
    static const char what[] = "the list of runs";
    TRY(MEM_GROW(list->folders, list->n, what, e));
    list->folders[list->n] = strdup(text);
    return list->folders[list->n++] != NULL ? OK : error_no_memory(e, what);
}

void with_tables_free(struct with_tables *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->folders[i]);
    free(found->folders);
    *found = (struct with_tables){.n = 0};
}

static bool is_latest_of(const char *folder, const char *campaign)
{
    char ending[PATH_BYTES];
    int length = snprintf(ending, sizeof ending, "/%s/latest", campaign);
    return strlen(folder) > (size_t)length && strcmp(folder + strlen(folder) - length, ending) == 0;
}

/* Returns true for a folder that the list omits: a sweep, a run of doctor, or the latest run of one
 * of `campaigns`. */
static bool is_left_out(const char *folder, const struct with_tables *campaigns)
{
    size_t n;
    const char *const *sweeps = table_sweep_names(&n);
    bool found = folder_has(folder, "findings.csv");
    for (size_t i = 0; !found && i < n; i++)
        found = folder_has(folder, sweeps[i]);
    for (size_t i = 0; !found && i < campaigns->n; i++)
        found = is_latest_of(folder, campaigns->folders[i]);
    return found;
}

struct taking {
    struct with_tables *found;
    /* campaigns whose latest runs the list omits; NULL: the list has sweeps instead of runs */
    const struct with_tables *campaigns;
};

/* Returns whether the list already has the folder. The folder of a sweep is found twice if it has
 * two tables. */
static bool is_listed(const struct with_tables *list, const char *folder)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->folders[i], folder) == 0)
            return true;
    return false;
}

static enum status take_table(const char *path, void *arg, struct error *e)
{
    const struct taking *t = arg;
    char folder[PATH_BYTES];
    TRY(path_format(folder, e, "%.*s", (int)(strrchr(path, '/') - path), path));
    bool known =
        t->campaigns != NULL ? is_left_out(folder, t->campaigns) : is_listed(t->found, folder);
    return known ? OK : with_tables_add(t->found, folder, e);
}

/* Appends the folders of committed tables whose paths match `pattern`, except folders that
 * take_table skips. If the current folder contains results/reference, searches the current folder,
 * which gives relative paths. Otherwise searches tools->home. */
static enum status take_committed(struct taking *t, const char *pattern, const struct tools *tools,
                                  struct error *e)
{
    return files_visit(path_is_folder("results/reference") ? NULL : tools->home, pattern,
                       take_table, t, NULL, e);
}

/* Appends the names of the campaigns to which `runs` belong. Skips a run without a readable
 * spec. */
static enum status append_campaigns(struct with_tables *names, const struct with_tables *runs,
                                    struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; status == OK && i < runs->n; i++) {
        struct spec spec;
        struct error unread = {.status = OK};
        if (run_spec_load(&spec, runs->folders[i], NULL, &unread) == OK)
            status = with_tables_add(names, config_text(&spec.config, OPT_NAME), e);
        spec_free(&spec);
    }
    return status;
}

static enum status take_runs(struct with_tables *found, struct with_tables *reports,
                             struct with_tables *campaigns, const char *out, struct error *e)
{
    struct taking of_reports = {reports, campaigns}, latest = {found, campaigns};
    TRY(files_visit(out, "reports/*/summary.csv", take_table, &of_reports, NULL, e));
    TRY(append_campaigns(campaigns, reports, e));
    TRY(files_visit(out, "*/latest/summary.csv", take_table, &latest, NULL, e));
    for (size_t i = 0; i < reports->n; i++)
        TRY(with_tables_add(found, reports->folders[i], e));
    return OK;
}

enum status with_tables_runs(struct with_tables *found, const char *out, const struct tools *tools,
                             struct error *e)
{
    static const struct with_tables none = {.n = 0};
    struct taking committed = {found, &none};
    struct with_tables reports = {.n = 0}, campaigns = {.n = 0};
    enum status status = take_runs(found, &reports, &campaigns, out, e);
    with_tables_free(&reports);
    with_tables_free(&campaigns);
    return status == OK ? take_committed(&committed, "results/reference/*/summary.csv", tools, e)
                        : status;
}

/* Appends a run's folder unless its table is a link to the table of another run. */
static enum status take_own(const char *path, void *arg, struct error *e)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? OK : take_table(path, arg, e);
}

enum status with_tables_committed(struct with_tables *found, const struct tools *tools,
                                  struct error *e)
{
    static const struct with_tables none = {.n = 0};
    struct taking t = {found, &none};
    return files_visit(path_is_folder("results/reference") ? NULL : tools->home,
                       "results/reference/*/summary.csv", take_own, &t, NULL, e);
}

enum status with_tables_sweeps(struct with_tables *found, const char *out,
                               const struct tools *tools, struct error *e)
{
    size_t n;
    struct taking t = {found, NULL};
    const char *const *names = table_sweep_names(&n);
    for (size_t i = 0; i < n; i++) {
        char latest[64], beside[64], committed[64];
        snprintf(latest, sizeof latest, "*/latest/%s", names[i]);
        snprintf(beside, sizeof beside, "*/%s", names[i]);
        snprintf(committed, sizeof committed, "results/reference/*/%s", names[i]);
        TRY(files_visit(out, latest, take_table, &t, NULL, e));
        TRY(files_visit(out, beside, take_table, &t, NULL, e));
        TRY(take_committed(&t, committed, tools, e));
    }
    return OK;
}
