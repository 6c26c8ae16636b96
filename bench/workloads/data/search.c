#include "bench/workloads/data/search.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/log.h"

enum status data_search_file(char path[DATA_FILE_MAX], const char *folder, const char *name,
                             const char *ending, struct error *e)
{
    struct stat s;
    snprintf(path, DATA_FILE_MAX, "%s/%s%s", folder, name, ending);
    if (stat(path, &s) == 0)
        return OK;
    if (errno != ENOENT && errno != ENOTDIR)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be looked at: %s", strerror(errno));
    path[0] = '\0';
    return OK;
}

/* A folder that does not exist has no files. */
static enum status open_folder(struct data_set *data, const char *folder,
                               const struct data_search *search, bool *found, struct error *e)
{
    *found = false;
    char *real = realpath(folder, NULL);
    if (real == NULL && (errno == ENOENT || errno == ENOTDIR))
        return OK;
    if (real == NULL)
        return error_at(e, ERR_DATA, folder, 0, 0, "cannot be looked at: %s", strerror(errno));
    int length = snprintf(data->path, sizeof data->path, "%s", real);
    free(real);
    if (length >= (int)sizeof data->path)
        return error_at(e, ERR_DATA, folder, 0, 0, "the path is longer than %zu bytes",
                        sizeof data->path - 1);
    return search->open(data, data->path, found, e);
}

/* Why a path is no folder, as errno; 0: it is one. */
static int find_fault(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

static enum status open_given(struct data_set *data, const char *folder,
                              const struct data_search *search, struct error *e)
{
    bool found;
    int why = find_fault(folder);
    if (why != 0)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "cannot be opened: %s; expected a folder with the files of %s%s",
                        strerror(why), search->set, search->otherwise != NULL ? ", or auto" : "");
    TRY(open_folder(data, folder, search, &found, e));
    return found ? OK : search->no_files(folder, search->set, e);
}

/* The folder that the user names comes first; where it holds no such files, a warning says so. */
static enum status open_named_by_environment(struct data_set *data,
                                             const struct data_search *search, bool *found,
                                             struct error *e)
{
    const char *named = getenv("SCALEBENCH_DATA");
    char folder[PATH_MAX];
    *found = false;
    if (named == NULL || !named[0])
        return OK;
    snprintf(folder, sizeof folder, "%s/%s", named, search->set);
    TRY(open_folder(data, folder, search, found, e));
    if (!*found)
        TRY(open_folder(data, named, search, found, e));
    if (!*found)
        log_print(LOG_WARNING, "SCALEBENCH_DATA=%s holds no files of %s; looking elsewhere", named,
                  search->set);
    return OK;
}

/* SCALEBENCH_DATA=none: no folder is searched. */
static bool searches_folders(void)
{
    const char *named = getenv("SCALEBENCH_DATA");
    return named == NULL || strcmp(named, "none") != 0;
}

static enum status open_anywhere(struct data_set *data, const struct data_search *search,
                                 struct error *e)
{
    if (!searches_folders())
        return search->otherwise(data, "auto", e);
    static const char *const parents[] = {"data", "../shared/data", "data"};
    const char *home = getenv("SCALEBENCH_HOME");
    size_t n = home != NULL && home[0] ? 3 : 2; /* the last of them is seen from there */
    bool found;
    TRY(open_named_by_environment(data, search, &found, e));
    for (size_t i = 0; i < n && !found; i++) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s%s%s/%s", i == 2 ? home : "", i == 2 ? "/" : "",
                 parents[i], search->set);
        TRY(open_folder(data, folder, search, &found, e));
    }
    if (found)
        return OK;
    log_print(LOG_NOTE,
              "%s is in none of $SCALEBENCH_DATA, data/%s, ../shared/data/%s%s; %s take its place",
              search->set, search->set, search->set, n == 3 ? ", data/ beside configs/" : "",
              search->substitute);
    return search->otherwise(data, "auto", e);
}

enum status data_search_run(struct data_set *data, const char *path,
                            const struct data_search *search, struct error *e)
{
    snprintf(data->name, sizeof data->name, "%s", search->set);
    if (search->otherwise == NULL && strcmp(path, "auto") == 0)
        return error_set(e, ERR_ARGUMENT,
                         "data.set = %s has its files in a folder of yours: data.path is missing",
                         search->set);
    return strcmp(path, "auto") == 0 ? open_anywhere(data, search, e)
                                     : open_given(data, path, search, e);
}
