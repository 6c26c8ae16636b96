#include "bench/runner/runs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/base/json.h"
#include "kernels/base/mem.h"

bool run_is_name(const char *name)
{
    struct tm utc = {0};
    const char *end = strptime(name, RUN_STAMP, &utc);
    return end != NULL && *end == '-' && strlen(end + 1) == RUN_ID_DIGITS;
}

/* Returns whether `facts` is a JSON object that contains only strings. If not, the manifest has no
 * facts or was edited by hand. */
static bool are_facts(const json_t *facts)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)facts, name, value) if (!json_is_string(value)) return false;
    return json_is_object(facts);
}

bool run_read(struct run *run, const char *path)
{
    char manifest[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    *run = (struct run){.facts = NULL};
    if (path_format(run->path, NULL, "%s", path) != OK ||
        path_format(manifest, NULL, "%s/manifest.json", path) != OK)
        return false;
    snprintf(run->name, sizeof run->name, "%s", slash != NULL ? slash + 1 : path);
    json_t *json = json_load_file(manifest, 0, NULL);
    const json_t *build = json_object_get(json, "build");
    snprintf(run->identity, sizeof run->identity, "%s", json_text_of(json, "identity"));
    snprintf(run->started, sizeof run->started, "%s", json_text_of(json, "started"));
    snprintf(run->revision, sizeof run->revision, "%s", json_text_of(build, "revision"));
    json_t *facts = json_object_get(json, "facts");
    run->facts = are_facts(facts) ? json_incref(facts) : NULL;
    json_decref(json);
    return json != NULL && run->identity[0] != '\0';
}

void run_free(struct run *run)
{
    json_decref(run->facts);
    run->facts = NULL;
}

static size_t first_alike(const struct runs *runs, size_t i)
{
    const json_t *facts = runs->all[i].facts;
    for (size_t first = 0; facts != NULL && first < i; first++)
        if (runs->all[first].facts != NULL &&
            facts_differ(runs->all[first].facts, facts, NULL) == NULL)
            return first;
    return i;
}

static int is_run(const struct dirent *entry)
{
    return run_is_name(entry->d_name);
}

static enum status read_all(struct runs *runs, const char *folder, struct dirent **names, int n,
                            struct error *e)
{
    char path[PATH_BYTES];
    TRY(MEM_NEW(runs->all, (size_t)n, "the runs of a campaign", e));
    for (int i = 0; i < n; i++) {
        TRY(path_format(path, e, "%s/%s", folder, names[i]->d_name));
        if (!run_read(&runs->all[runs->n], path)) {
            run_free(&runs->all[runs->n]);
            continue;
        }
        runs->all[runs->n].repeats = first_alike(runs, runs->n);
        runs->n++;
    }
    return OK;
}

enum status runs_read(struct runs *runs, const char *folder, struct error *e)
{
    struct dirent **names = NULL;
    *runs = (struct runs){.n = 0};
    int n = scandir(folder, &names, is_run, alphasort);
    enum status status = n > 0 ? read_all(runs, folder, names, n, e) : OK;
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return status;
}

void runs_free(struct runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        run_free(&runs->all[i]);
    free(runs->all);
    *runs = (struct runs){.n = 0};
}
