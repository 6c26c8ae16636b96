#include "bench/runner/tools.h"

#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/executable.h"

/* Removes the last part of a path. The root folder remains "/". */
static void cut_last_part(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        slash[slash == path] = '\0';
}

static enum status find_folder(char folder[PATH_BYTES], struct error *e)
{
    char program[PATH_BYTES];
    if (!executable_path(program, sizeof program))
        return error_set(e, ERR_SYSTEM,
                         "cannot find the path of this program in /proc/self/maps. Mount /proc");
    cut_last_part(program);
    return path_format(folder, e, "%s", program);
}

static enum status find_home(const char *folder, char home[PATH_BYTES], struct error *e)
{
    const char *chosen = getenv("SCALEBENCH_HOME");
    char above[PATH_BYTES], plots[PATH_BYTES];
    if (chosen != NULL && *chosen)
        return path_format(home, e, "%s", chosen);
    TRY(path_format(above, e, "%s", folder));
    cut_last_part(above);
    TRY(path_format(plots, e, "%s/plots", above));
    if (path_is_folder(plots))
        return path_format(home, e, "%s", above);
    if (getcwd(home, PATH_BYTES) != NULL)
        return OK;
    return error_set(e, ERR_SYSTEM, "cannot find the current folder: %s", strerror(errno));
}

/* Returns whether a file's SHA-256 sum differs from the sum in `line`, a line of sha256sum's
 * output: 64 digits, two spaces and the file's path in `home`. */
static bool is_changed(const char *home, const char *line)
{
    enum { DIGITS = 64 };
    char path[PATH_BYTES], hex[DIGITS + 1];
    return strlen(line) > DIGITS + 2 &&
           (path_format(path, NULL, "%s/%s", home, line + DIGITS + 2) != OK ||
            SHA256File(path, hex) == NULL || memcmp(hex, line, DIGITS) != 0);
}

/* Reads the file `revision` of a source archive: the revision, then SHA-256 sums of sources. The
 * revision becomes dirty if a source has changed. Returns false if the file cannot be read. */
static bool read_revision(const char *home, char *revision, size_t size)
{
    char path[PATH_BYTES], line[PATH_BYTES + 80];
    bool changed = false;
    if (path_format(path, NULL, "%s/revision", home) != OK ||
        !file_first_line(path, revision, size))
        return false;
    FILE *in = fopen(path, "re");
    for (int n = 0; in != NULL && !changed && fgets(line, sizeof line, in) != NULL; n++) {
        line[strcspn(line, "\n")] = '\0';
        changed = n > 0 && is_changed(home, line);
    }
    if (in != NULL)
        fclose(in);
    char *clean = strstr(revision, " clean");
    if (changed && clean != NULL)
        memcpy(clean, " dirty", strlen(" dirty"));
    return true;
}

/* Finds the revision of the sources. The file `revision` of a source archive is read first, because
 * an archive can be unpacked inside another git checkout. safe.directory permits another user's
 * checkout; core.fsmonitor=false prevents git from running a program that the checkout names. */
static void find_revision(const char *home, char *revision, size_t size)
{
    if (read_revision(home, revision, size))
        return;
    char *argv[] = {
        "git",        "-c",       "safe.directory=*", "-c",      "core.fsmonitor=false", "-C",
        (char *)home, "describe", "--always",         "--dirty", "--abbrev=7",           NULL};
    char line[48];
    if (program_ask(argv, true, line, sizeof line) != 0 || line[0] == '\0') {
        snprintf(revision, size, "unknown revision");
        return;
    }
    char *dirty = strstr(line, "-dirty");
    if (dirty != NULL)
        *dirty = '\0';
    snprintf(revision, size, "%s %s", line, dirty != NULL ? "dirty" : "clean");
}

enum status tools_find(struct tools *tools, struct error *e)
{
    TRY(find_folder(tools->folder, e));
    TRY(find_home(tools->folder, tools->home, e));
    TRY(path_format(tools->plots, e, "%s/plots", tools->home));
    if (setenv("SCALEBENCH_HOME", tools->home, 1) != 0)
        return error_no_memory(e, "the environment");
    return OK;
}

const char *tools_revision(const struct tools *tools)
{
    static char revision[64];
    if (revision[0] == '\0')
        find_revision(tools->home, revision, sizeof revision);
    return revision;
}

enum status tools_program(const struct tools *tools, const char *name, char path[PATH_BYTES],
                          struct error *e)
{
    TRY(path_format(path, e, "%s/%s", tools->folder, name));
    if (access(path, X_OK) == 0)
        return OK;
    return error_at(e, ERR_UNAVAILABLE, path, 0, 0,
                    "this program cannot be run: %s. Run `make` to build it", strerror(errno));
}

enum status tools_contents(const struct tools *tools, const char *path, char file[PATH_BYTES],
                           struct error *e)
{
    size_t length = strlen(tools->folder);
    bool ours = strncmp(path, tools->folder, length) == 0 && path[length] == '/';
    TRY(path_format(file, e, "%s" EXECUTABLE_BUNDLED, path));
    return ours && path_exists(file) ? OK : path_format(file, e, "%s", path);
}
