#include "bench/spec/find.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/names.h"

#define SUFFIX ".yaml"

static bool has_suffix(const char *name)
{
    size_t length = strlen(name), suffix = strlen(SUFFIX);
    return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

static enum status join(char **path, const char *home, const char *folder, const char *name,
                        struct error *e)
{
    if (asprintf(path, "%s%s%s/%s%s", home ? home : "", home ? "/" : "", folder, name,
                 has_suffix(name) ? "" : SUFFIX) >= 0)
        return OK;
    *path = NULL;
    return error_set(e, ERR_MEMORY, "no memory for a path");
}

/* Turns found paths into the names that a user writes. */
static void strip_paths(glob_t *found)
{
    for (size_t i = 0; i < found->gl_pathc; i++) {
        char *path = found->gl_pathv[i];
        const char *base = strrchr(path, '/') + 1;
        size_t length = strlen(base) - strlen(SUFFIX);
        memmove(path, base, length);
        path[length] = '\0';
    }
}

/* Says which files of this kind there are. */
static enum status explain_missing(const char *home, const char *folder, const char *name,
                                   struct error *e)
{
    char *pattern;
    enum status status = join(&pattern, home, folder, "*", e);
    if (status != OK)
        return status;
    glob_t found;
    int result = glob(pattern, 0, NULL, &found);
    free(pattern);
    if (result != 0)
        return error_set(e, ERR_SPEC, "'%s' is not there, and there is no file in %s", name,
                         folder);
    strip_paths(&found);
    char text[900];
    name_explain(text, sizeof text, name, (const char *const *)found.gl_pathv, found.gl_pathc);
    globfree(&found);
    return error_set(e, ERR_SPEC, "%s (in %s)", text, folder);
}

enum status find_config(char **path, const char *folder, const char *name, struct error *e)
{
    const char *home = NULL;
    for (int i = 0; i < 2; i++, home = getenv("SCALEBENCH_HOME")) {
        if (i == 1 && !home)
            break;
        enum status status = join(path, home, folder, name, e);
        if (status != OK || access(*path, F_OK) == 0)
            return status;
        free(*path);
        *path = NULL;
    }
    return explain_missing(access(folder, F_OK) == 0 ? NULL : home, folder, name, e);
}
