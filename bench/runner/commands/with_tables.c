#include "bench/runner/commands/with_tables.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/mem.h"

static enum status append(struct with_tables *list, const char *text, size_t length,
                          struct error *e)
{
    static const char what[] = "the list of runs";
    TRY(MEM_GROW(list->folders, list->n, what, e));
    TRY(MEM_NEW(list->folders[list->n], length + 1, what, e));
    memcpy(list->folders[list->n++], text, length);
    return OK;
}

void with_tables_free(struct with_tables *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->folders[i]);
    free(found->folders);
    *found = (struct with_tables){.n = 0};
}

/* fig2 before fig10. */
static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Whether `folder` holds what doctor examined, or is `<campaign>/latest` of one of the campaigns. */
static bool is_left_out(const char *folder, const struct with_tables *campaigns)
{
    char path[PATH_BYTES], ending[PATH_BYTES];
    bool found = path_format(path, NULL, "%s/findings.csv", folder) == OK && path_exists(path);
    for (size_t i = 0; !found && i < campaigns->n; i++) {
        int length = snprintf(ending, sizeof ending, "/%s/latest", campaigns->folders[i]);
        found = strlen(folder) > (size_t)length &&
                strcmp(folder + strlen(folder) - length, ending) == 0;
    }
    return found;
}

/* Appends the folders of the tables that match `pattern` below `root` (NULL: the current folder). */
static enum status take(struct with_tables *found, const char *root, const char *pattern,
                        const struct with_tables *campaigns, struct error *e)
{
    glob_t tables;
    enum status status = OK;
    int result = file_glob(root, pattern, 0, &tables);
    if (result != 0)
        return result == GLOB_NOSPACE ? error_no_memory(e, "the list of runs") : OK;
    qsort(tables.gl_pathv, tables.gl_pathc, sizeof *tables.gl_pathv, by_number);
    for (size_t i = 0; status == OK && i < tables.gl_pathc; i++) {
        char *slash = strrchr(tables.gl_pathv[i], '/');
        *slash = '\0';
        if (!is_left_out(tables.gl_pathv[i], campaigns))
            status = append(found, tables.gl_pathv[i], strlen(tables.gl_pathv[i]), e);
    }
    globfree(&tables);
    return status;
}

/* A committed folder is named from the current folder if that has such folders, so that names stay short. */
static enum status take_committed(struct with_tables *found, const char *pattern,
                                  const struct tools *tools, struct error *e)
{
    static const struct with_tables none = {.n = 0};
    return take(found, path_is_folder("results/reference") ? NULL : tools->home, pattern, &none, e);
}

/* Appends the name of each run's campaign. A run without a readable spec has none. */
static enum status append_campaigns(struct with_tables *names, const struct with_tables *runs,
                                    struct error *e)
{
    enum status status = OK;
    for (size_t i = 0; status == OK && i < runs->n; i++) {
        struct spec spec;
        struct error unread = {.status = OK};
        if (run_spec_load(&spec, runs->folders[i], NULL, &unread) == OK) {
            const char *name = config_text(&spec.config, OPT_NAME);
            status = append(names, name, strlen(name), e);
        }
        spec_free(&spec);
    }
    return status;
}

static enum status take_runs(struct with_tables *found, struct with_tables *reports,
                             struct with_tables *campaigns, const char *out, struct error *e)
{
    TRY(take(reports, out, "reports/*/summary.csv", campaigns, e));
    TRY(append_campaigns(campaigns, reports, e));
    TRY(take(found, out, "*/latest/summary.csv", campaigns, e));
    for (size_t i = 0; i < reports->n; i++)
        TRY(append(found, reports->folders[i], strlen(reports->folders[i]), e));
    return OK;
}

enum status with_tables_runs(struct with_tables *found, const char *out, const struct tools *tools,
                             struct error *e)
{
    struct with_tables reports = {.n = 0}, campaigns = {.n = 0};
    enum status status = take_runs(found, &reports, &campaigns, out, e);
    with_tables_free(&reports);
    with_tables_free(&campaigns);
    return status == OK ? take_committed(found, "results/reference/*/summary.csv", tools, e)
                        : status;
}

enum status with_tables_sweeps(struct with_tables *found, const char *out,
                               const struct tools *tools, struct error *e)
{
    static const char *const patterns[] = {"comm/comm.csv", "kernels/kernels.csv"};
    static const struct with_tables none = {.n = 0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char committed[64];
        snprintf(committed, sizeof committed, "results/reference/%s", patterns[i]);
        TRY(take(found, out, patterns[i], &none, e));
        TRY(take_committed(found, committed, tools, e));
    }
    return OK;
}
