#include "bench/spec/find.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/executable.h"
#include "bench/base/file.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

#define SUFFIX ".yaml"

bool find_is_there(const char *path)
{
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool find_is_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Joins `home`, '/', `folder`, `name` and `ending`. If `home` is NULL, the path begins with
 * `folder`. */
static enum status make_path(char **path, const char *home, const char *folder, const char *name,
                             const char *ending, struct error *e)
{
    if (asprintf(path, "%s%s%s%s%s", home != NULL ? home : "", home != NULL ? "/" : "", folder,
                 name, ending) >= 0)
        return OK;
    *path = NULL;
    return error_no_memory(e, "a path");
}

static enum status join(char **path, const char *home, const char *folder, const char *name,
                        struct error *e)
{
    char below[PATH_MAX];
    snprintf(below, sizeof below, "%s/", folder);
    return make_path(path, home, below, name, text_ends(name, SUFFIX) ? "" : SUFFIX, e);
}

/* Shortens found paths to the names that users write: without folder and ending. */
static void strip_paths(glob_t *found, size_t folder_length)
{
    for (size_t i = 0; i < found->gl_pathc; i++) {
        char *path = found->gl_pathv[i];
        const char *name = path + folder_length + 1;
        size_t length = strlen(name) - strlen(SUFFIX);
        memmove(path, name, length);
        path[length] = '\0';
    }
}

/* Finds all .yaml files in `folder` and in its subfolders reports/<report>/. Finding none is not an
 * error. */
static enum status glob_folder(glob_t *found, const char *home, const char *folder, struct error *e)
{
    static const char *const places[] = {"*", "reports/*/*"};
    *found = (glob_t){0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *pattern;
        TRY(join(&pattern, NULL, folder, places[i], e));
        int result = file_glob(home, pattern, i > 0 ? GLOB_APPEND : 0, found);
        free(pattern);
        if (result != 0 && result != GLOB_NOMATCH)
            return error_set(e, ERR_SYSTEM, "cannot read folder %s", folder);
    }
    return OK;
}

/* Largest number of files that the message about a missing file lists. If the folder has more, the
 * message suggests only files with similar names. */
enum { LIST_MOST = 12 };

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int is_file(const struct dirent *entry)
{
    return is_visible(entry) && entry->d_type != DT_DIR;
}

enum { STEM_BYTES = 256 };

static char *without_ending(char stem[STEM_BYTES], const char *name)
{
    const char *dot = strrchr(name, '.');
    snprintf(stem, STEM_BYTES, "%.*s", dot != NULL ? (int)(dot - name) : STEM_BYTES, name);
    return stem;
}

/* `file`: the file name in a folder that is most similar to a given name; "" if none is similar. */
struct nearest {
    char file[STEM_BYTES];
    size_t distance;
};

static void consider(struct nearest *best, const char *stem, const char *file)
{
    char own[STEM_BYTES];
    const char *const here[] = {without_ending(own, file)};
    struct name_nearest near = name_nearest(stem, &(struct name_places){.here = here, .n_here = 1});
    if (near.names[0] == NULL || (best->file[0] != '\0' && near.distance >= best->distance))
        return;
    best->distance = near.distance;
    snprintf(best->file, sizeof best->file, "%s", file);
}

/* Replaces the suggestion *near if a file name in `folder` is more similar to the last part of
 * `path`, ignoring endings. Suggests folders only if the last part has no ending. */
static void look_into(struct near_file *near, const char *folder, const char *path)
{
    struct dirent **found = NULL;
    struct nearest best = {.distance = 0};
    char stem[STEM_BYTES];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    int n = scandir(folder, &found, strchr(name, '.') != NULL ? is_file : is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        consider(&best, without_ending(stem, name), found[i]->d_name);
        free(found[i]);
    }
    free(found);
    if (best.file[0] == '\0' || strcmp(best.file, name) == 0 ||
        (near->text[0] != '\0' && best.distance >= near->distance))
        return;
    near->distance = best.distance;
    snprintf(near->text, sizeof near->text, "; nearest '%.*s%.70s'",
             name - path < 70 ? (int)(name - path) : 0, path, best.file);
}

void find_near(struct near_file *near, const char *home, const char *const *folders,
               const char *path)
{
    const char *base = strrchr(path, '/');
    int length = base != NULL ? (int)(base - path) + 1 : 0;
    for (; *folders != NULL; folders++) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s/%s%.*s", home, *folders, length, path);
        look_into(near, folders[0][0] == '/' ? folder + strlen(home) + 1 : folder, path);
    }
}

static enum status explain_near(const char *folder, const char *name, const char *const *names,
                                size_t n, struct error *e)
{
    struct near_file near = {.distance = 0};
    char stem[128];
    int length = (int)strlen(name) - (text_ends(name, SUFFIX) ? (int)strlen(SUFFIX) : 0);
    snprintf(stem, sizeof stem, "%.*s", length, name);
    find_near(&near, ".", (const char *const[]){"", NULL}, name);
    if (near.text[0] == '\0')
        name_near(near.text, stem, names, n);
    return error_set(e, ERR_SPEC,
                     "'%s' not found in the current folder or in %s%s; `scalebench "
                     "list %s` lists all",
                     name, folder, near.text, folder);
}

/* Reports that the file `name` was not found. If the folder has at most LIST_MOST .yaml files, the
 * message lists them. Otherwise it only suggests similar names. */
static enum status explain_missing(const char *home, const char *folder, const char *name,
                                   struct error *e)
{
    glob_t found;
    char text[900];
    enum status status = glob_folder(&found, home, folder, e);
    if (status == OK && found.gl_pathc == 0)
        status = error_set(e, ERR_SPEC, "'%s' not found, and %s has no .yaml files", name, folder);
    if (status == OK) {
        const char *const *names = (const char *const *)found.gl_pathv;
        strip_paths(&found, (home != NULL ? strlen(home) + 1 : 0) + strlen(folder));
        status =
            found.gl_pathc > LIST_MOST
                ? explain_near(folder, name, names, found.gl_pathc, e)
                : error_set(e, ERR_SPEC, "%s (in %s)",
                            name_explain(text, sizeof text, name, names, found.gl_pathc), folder);
    }
    globfree(&found);
    return status;
}

/* Returns the folder that contains configs/: $SCALEBENCH_HOME, which the runner sets, else the
 * parent of the program's folder. NULL if there is none. */
static const char *find_home(char *above, size_t size)
{
    char configs[PATH_MAX + 16];
    const char *chosen = getenv("SCALEBENCH_HOME");
    if (chosen != NULL)
        return chosen;
    for (int i = 0; i < 2; i++) {
        char *slash = i > 0 || executable_path(above, size) ? strrchr(above, '/') : NULL;
        if (slash == NULL)
            return NULL;
        *slash = '\0';
    }
    snprintf(configs, sizeof configs, "%s/configs", above);
    return access(configs, F_OK) == 0 ? above : NULL;
}

enum status find_config(char **path, const char *folder, const char *name, struct error *e)
{
    char above[PATH_MAX];
    const char *home = NULL;
    for (int i = 0; i < 2; i++, home = find_home(above, sizeof above)) {
        if (i == 1 && home == NULL)
            break;
        enum status status = join(path, home, folder, name, e);
        if (status != OK || find_is_there(*path))
            return status;
        free(*path);
        *path = NULL;
    }
    return explain_missing(access(folder, F_OK) == 0 ? NULL : home, folder, name, e);
}

bool find_is_path(const char *text)
{
    return strchr(text, '/') != NULL || text_ends(text, SUFFIX);
}

size_t find_stem(const char **stem, const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/');
    *stem = slash != NULL ? slash + 1 : path;
    return strlen(*stem) - (text_ends(*stem, ending) ? strlen(ending) : 0);
}

/* Sets *path to the file <home>/<folder>/<text>; NULL if it does not exist. */
static enum status try_file(char **path, const char *home, const char *folder, const char *text,
                            struct error *e)
{
    TRY(make_path(path, home, folder, text, "", e));
    if (find_is_there(*path))
        return OK;
    free(*path);
    *path = NULL;
    return OK;
}

static bool is_among(const char *folder, const char *const *folders)
{
    while (*folders != NULL && strcmp(*folders, folder) != 0)
        folders++;
    return *folders != NULL;
}

static enum status error_nowhere(const char *home, const char *const *folders,
                                 const char *const *shared, const char *text, struct error *e)
{
    char places[900] = "";
    struct near_file near = {.distance = 0};
    for (int k = 0; k < 2; k++) {
        const char *const *all = k == 0 ? folders : shared;
        for (const char *const *f = all; *f != NULL; f++)
            if (k == 0 || !is_among(*f, folders))
                snprintf(places + strlen(places), sizeof places - strlen(places), "%s%s",
                         places[0] ? ", " : "", f[0][0] ? *f : "the current folder");
        find_near(&near, ".", all, text);
    }
    if (home != NULL)
        find_near(&near, home, shared, text);
    return error_set(e, ERR_SPEC, "'%s' not found in %s%s", text, places, near.text);
}

enum status find_file(char **path, const char *const *folders, const char *const *shared,
                      const char *text, struct error *e)
{
    char above[PATH_MAX];
    const char *home = find_home(above, sizeof above);
    *path = NULL;
    if (text[0] == '/') {
        TRY(try_file(path, NULL, "", text, e));
        return *path == NULL ? error_set(e, ERR_SPEC, "'%s' not found", text) : OK;
    }
    for (const char *const *f = folders; *path == NULL && *f != NULL; f++)
        TRY(try_file(path, NULL, *f, text, e));
    for (const char *const *f = shared; *path == NULL && *f != NULL; f++) {
        TRY(try_file(path, NULL, *f, text, e));
        if (*path == NULL && home != NULL)
            TRY(try_file(path, home, *f, text, e));
    }
    return *path == NULL ? error_nowhere(home, folders, shared, text, e) : OK;
}

enum status find_folder(char **folder, const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    *folder = strndup(path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    return *folder != NULL ? OK : error_no_memory(e, "a path");
}

enum status find_absolute(char **to, const char *path, const char *below, struct error *e)
{
    char *here = path[0] != '/' ? getcwd(NULL, 0) : strdup("");
    size_t length = strlen(path);
    const char *a = path[0] != '/' ? "/" : "";
    const char *b = below[0] && length > 0 && path[length - 1] != '/' ? "/" : "";
    int made = here != NULL ? asprintf(to, "%s%s%s%s%s", here, a, path, b, below) : -1;
    free(here);
    if (made >= 0)
        return OK;
    *to = NULL;
    return error_no_memory(e, "a path");
}
