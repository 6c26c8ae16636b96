/* Opens a data set by name, with its reader from data_sets.def, and searches folders for its
 * files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/log.h"
#include "bench/spec/enumerations.h"
#include "bench/workloads/data/readers.h"
#include "kernels/base/names.h"

static const struct data_reader *const readers[] = {
#define DATA_SET(name, ...) &data_reader_##name,
#include "bench/spec/data_sets.def"
};

/* ---- Files ---- */

/* Sets `path` to folder/name followed by `ending`, or to "" if that file does not exist. */
static enum status look_for(char path[DATA_FILE_MAX], const char *folder, const char *name,
                            const char *ending, struct error *e)
{
    struct stat s;
    snprintf(path, DATA_FILE_MAX, "%s/%s%s", folder, name, ending);
    if (stat(path, &s) == 0)
        return OK;
    if (errno != ENOENT && errno != ENOTDIR)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be read: %s", strerror(errno));
    path[0] = '\0';
    return OK;
}

enum status data_find_file(char path[DATA_FILE_MAX], const char *folder, const data_names names,
                           struct error *e)
{
    path[0] = '\0';
    for (int i = 0; i < 2 * DATA_NAMES && path[0] == '\0'; i++) {
        const char *name = names[i % DATA_NAMES];
        if (name != NULL)
            TRY(look_for(path, folder, name, i < DATA_NAMES ? "" : ".gz", e));
    }
    return OK;
}

void data_list_names(char list[DATA_LIST_MAX], const data_names names)
{
    size_t used = strlen(list);
    for (int i = 0; i < DATA_NAMES && names[i] != NULL; i++)
        used += (size_t)snprintf(list + used, DATA_LIST_MAX - used, "%s%s[.gz]", used ? ", " : "",
                                 names[i]);
}

enum status data_find_files(char (*paths)[DATA_FILE_MAX], const data_names *names, int n,
                            const struct data_set *data, const char *folder, bool *found,
                            struct error *e)
{
    int there = 0, missing = 0;
    char list[DATA_LIST_MAX] = "";
    for (int file = 0; file < n; file++) {
        TRY(data_find_file(paths[file], folder, names[file], e));
        there += paths[file][0] != '\0';
        missing = paths[file][0] ? missing : file;
    }
    *found = there == n;
    if (there == 0 || *found)
        return OK;
    data_list_names(list, names[missing]);
    return error_at(e, ERR_DATA, folder, 0, 0, "some files of %s found, but %s %s", data->name,
                    names[missing][1] != NULL ? "none of" : "not", list);
}

/* ---- Folders ---- */

/* Opens a data set in `folder`. *found is false if the folder is missing or has none of the data
 * set's files. If only some of the files are there, returns ERR_DATA. */
static enum status open_folder(struct data_set *data, const char *folder,
                               const struct data_reader *reader, bool *found, struct error *e)
{
    *found = false;
    char *real = realpath(folder, NULL);
    if (real == NULL && (errno == ENOENT || errno == ENOTDIR))
        return OK;
    if (real == NULL)
        return error_at(e, ERR_DATA, folder, 0, 0, "cannot be read: %s", strerror(errno));
    int length = snprintf(data->path, sizeof data->path, "%s", real);
    free(real);
    if (length >= (int)sizeof data->path)
        return error_at(e, ERR_DATA, folder, 0, 0, "the path is longer than %zu bytes",
                        sizeof data->path - 1);
    return reader->open(data, reader, data->path, found, e);
}

/* Returns 0 if `path` is a folder, else an errno value. */
static int find_fault(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

static enum status open_given(struct data_set *data, const char *folder,
                              const struct data_reader *reader, struct error *e)
{
    bool found;
    int why = find_fault(folder);
    if (why != 0)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "cannot be opened: %s; expected a folder with the files of %s%s",
                        strerror(why), data->name, reader->otherwise != NULL ? ", or auto" : "");
    TRY(open_folder(data, folder, reader, &found, e));
    return found ? OK : reader->no_files(data, reader, folder, e);
}

/* Searches $SCALEBENCH_DATA/<set>, then $SCALEBENCH_DATA, if the variable is set. Warns if neither
 * has files of the set. */
static enum status open_named_by_environment(struct data_set *data,
                                             const struct data_reader *reader, bool *found,
                                             struct error *e)
{
    const char *named = getenv("SCALEBENCH_DATA");
    char folder[PATH_MAX];
    *found = false;
    if (named == NULL || !named[0])
        return OK;
    snprintf(folder, sizeof folder, "%s/%s", named, data->name);
    TRY(open_folder(data, folder, reader, found, e));
    if (!*found)
        TRY(open_folder(data, named, reader, found, e));
    if (!*found)
        log_print(LOG_WARNING, "SCALEBENCH_DATA=%s has no files of %s; searching other folders",
                  named, data->name);
    return OK;
}

/* Returns whether to search folders: false if SCALEBENCH_DATA is "none". */
static bool searches_folders(void)
{
    const char *named = getenv("SCALEBENCH_DATA");
    return named == NULL || strcmp(named, "none") != 0;
}

static enum status open_anywhere(struct data_set *data, const struct data_reader *reader,
                                 bool *found, struct error *e)
{
    static const char *const parents[] = {"data", "../shared/data", "data"};
    const char *home = getenv("SCALEBENCH_HOME");
    /* $SCALEBENCH_HOME/data is searched only if the variable is set */
    size_t n = home != NULL && home[0] ? 3 : 2;
    TRY(open_named_by_environment(data, reader, found, e));
    for (size_t i = 0; i < n && !*found; i++) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s%s%s/%s", i == 2 ? home : "", i == 2 ? "/" : "",
                 parents[i], data->name);
        TRY(open_folder(data, folder, reader, found, e));
    }
    if (!*found)
        log_print(LOG_NOTE,
                  "%s not found in $SCALEBENCH_DATA, data/%s, ../shared/data/%s%s; using generated "
                  "%s instead",
                  data->name, data->name, data->name, n == 3 ? ", data/ beside configs/" : "",
                  reader->otherwise);
    return OK;
}

/* Opens the files in folder `path`. If `path` is "auto", searches the default folders instead, and
 * opens the generated set reader->otherwise if no folder has the files. If $SCALEBENCH_DATA is
 * "none", no folder is searched. ERR_ARGUMENT, without a search, if `path` is "auto" and
 * reader->otherwise is NULL. */
static enum status open_files(struct data_set *data, const struct data_reader *reader,
                              const char *path, struct error *e)
{
    bool found = false;
    if (strcmp(path, "auto") != 0)
        return open_given(data, path, reader, e);
    if (reader->otherwise == NULL)
        return error_set(e, ERR_ARGUMENT,
                         "data.path is missing: data.set = %s reads files from a folder that you "
                         "choose. Set data.path to this folder",
                         data->name);
    if (searches_folders())
        TRY(open_anywhere(data, reader, &found, e));
    return found ? OK : data_open(data, reader->otherwise, "auto", e);
}

/* ---- The set ---- */

enum status data_open(struct data_set *data, const char *set, const char *path, struct error *e)
{
    const struct enumeration *sets = names_data_sets;
    char text[256];
    *data = (struct data_set){0};
    int i = name_index(set, sets->names, sets->n);
    if (i < 0)
        return error_set(e, ERR_ARGUMENT, "data set %s",
                         name_explain(text, sizeof text, set, sets->names, sets->n));
    snprintf(data->name, sizeof data->name, "%s", set);
    enum status status = readers[i]->draw != NULL ? data_open_generated(data, readers[i], path, e)
                                                  : open_files(data, readers[i], path, e);
    if (status != OK)
        *data = (struct data_set){0};
    return status;
}

/* Sets the data set's name to `name` ("auto": the name of its folder). Rejects the name of a
 * built-in set, since results would then be attributed to the built-in set. */
static enum status name_own(struct data_set *data, const char *name, struct error *e)
{
    const char *slash = strrchr(data->path, '/');
    if (strcmp(name, "auto") == 0)
        name = slash != NULL && slash[1] ? slash + 1 : data->path;
    if (strlen(name) >= DATA_NAME_BYTES)
        return error_set(e, ERR_ARGUMENT, "data.name: '%s' has more than %d bytes", name,
                         DATA_NAME_BYTES - 1);
    if (name_index(name, names_data_sets->names, DATA_SETS) >= 0)
        return error_set(
            e, ERR_ARGUMENT,
            "data.name: '%s' is the name of another data set. Choose another name for these images",
            name);
    strcpy(data->name, name);
    return OK;
}

enum status data_open_as(struct data_set *data, const char *set, const char *path, const char *name,
                         struct error *e)
{
    TRY(data_open(data, set, path, e));
    if (strcmp(data->source, "own") != 0)
        return OK;
    enum status status = name_own(data, name, e);
    if (status != OK)
        data_close(data);
    return status;
}
