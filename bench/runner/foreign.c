#include "bench/runner/foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/sites/argv.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/names.h"

static const char *written_of(const struct config *config)
{
    return config->values[OPT_COMMAND].texts[0];
}

const char *foreign_name(const struct config *config)
{
    return file_name(written_of(config));
}

const char *foreign_program(const json_t *programs, const struct config *config)
{
    const char *path = json_string_value(json_object_get(programs, written_of(config)));
    return path != NULL ? path : "";
}

/* Writes folder/name to `path`; returns whether it is an executable file. `length`: length of
 * `folder`. *why: errno value if `path` exists but cannot be executed. */
static bool is_program(char path[PATH_BYTES], const char *folder, size_t length, const char *name,
                       int *why)
{
    int n = snprintf(path, PATH_BYTES, "%.*s%s%s", (int)length, folder,
                     length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    if (n >= PATH_BYTES)
        return false;
    if (access(path, X_OK) == 0 && !path_is_folder(path))
        return true;
    *why = access(path, F_OK) == 0 ? (path_is_folder(path) ? EISDIR : EACCES) : *why;
    return false;
}

/* Searches PATH for a program, because mpiexec gets a path and does not search. */
static bool is_on_path(char path[PATH_BYTES], const char *name, int *why)
{
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders) {
        size_t length = strcspn(folders, ":");
        if (length > 0 && is_program(path, folders, length, name, why))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* Searches for a program in the folders to which a spec's paths can be relative (seen_from_open). A
 * program in the current folder gets the path ./name. */
static bool is_seen(char path[PATH_BYTES], const struct seen_from *from, const char *name, int *why)
{
    for (const char *const *folder = from->folders; *folder != NULL; folder++)
        if (is_program(path, *folder[0] ? *folder : ".", *folder[0] ? strlen(*folder) : 1, name,
                       why))
            return true;
    return false;
}

static enum status find(char path[PATH_BYTES], bool *found, const struct spec *spec,
                        const struct tools *tools, const struct config *config, int *why,
                        struct error *e)
{
    struct seen_from from;
    const char *name = written_of(config);
    *found = name[0] == '/' && is_program(path, "", 0, name, why);
    if (name[0] == '/')
        return OK;
    TRY(seen_from_open(&from, spec, config->values[OPT_COMMAND].mark, e));
    *found = is_seen(path, &from, name, why) ||
             (strchr(name, '/') == NULL &&
              (tools_program(tools, name, path, NULL) == OK || is_on_path(path, name, why)));
    seen_from_close(&from);
    return OK;
}

/* Refuses a program whose file name is "pin", the name of a workload, or the file name of another
 * program of the campaign. Also refuses more than FOREIGN_PROGRAMS_MAX programs. */
static enum status check_name(json_t *programs, const struct config *config, struct error *e)
{
    const struct mark mark = config->values[OPT_COMMAND].mark;
    const char *name = foreign_name(config), *written;
    json_t *path;
    bool taken = strcmp(name, "pin") == 0 ||
                 name_index(name, names_workloads->names, names_workloads->n) >= 0;
    json_object_foreach(programs, written, path) taken |= strcmp(file_name(written), name) == 0;
    if (taken)
        return mark_error(
            e, ERR_SPEC, mark,
            "workload.command: '%s' has the same file name as a program of scalebench "
            "or as another program of this run. Rename the program",
            written_of(config));
    if (json_object_size(programs) == FOREIGN_PROGRAMS_MAX)
        return mark_error(e, ERR_SPEC, mark, "workload.command: this run has more than %d programs",
                          FOREIGN_PROGRAMS_MAX);
    return OK;
}

enum status foreign_find(json_t *programs, const struct spec *spec, const struct tools *tools,
                         const struct config *config, struct error *e)
{
    char path[PATH_BYTES];
    const char *written = written_of(config);
    bool found;
    int why = ENOENT;
    if (json_object_get(programs, written) != NULL)
        return OK;
    TRY(check_name(programs, config, e));
    TRY(find(path, &found, spec, tools, config, &why, e));
    if (found)
        return json_object_set_new_nocheck(programs, written, json_string_nocheck(path)) == 0
                   ? OK
                   : error_no_memory(e, "the programs of a campaign");
    return mark_error(e, ERR_UNAVAILABLE, config->values[OPT_COMMAND].mark,
                      "workload.command: '%s' cannot be run: %s; searched: folder of the spec, "
                      "current folder%s%s",
                      written, strerror(why),
                      strchr(written, '/') == NULL ? ", folder of scalebench, PATH" : "",
                      strchr(written, ' ') == NULL ? ""
                                                   : ". Write the program and each argument as an "
                                                     "item of a list, such as [sleep, \"0.1\"]");
}

enum status foreign_arguments(char ***arguments, const struct config *config,
                              const struct foreign_launch *launch, struct error *e)
{
    struct argv_builder argv = {0};
    enum status status = OK;
    for (size_t i = 1; i < config->values[OPT_COMMAND].n && status == OK; i++) {
        char *word = NULL;
        status = foreign_word(&word, config, i, launch, e);
        if (status == OK)
            argv_add(&argv, word);
        free(word);
    }
    enum status made = argv_finish(&argv, arguments, "a command line", status == OK ? e : NULL);
    if (status == OK)
        return made;
    free(*arguments);
    *arguments = NULL;
    return status;
}
