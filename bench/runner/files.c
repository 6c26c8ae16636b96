#include "bench/runner/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/output.h"

extern char **environ;

enum status path_format(char path[PATH_BYTES], struct error *e, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(path, PATH_BYTES, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= PATH_BYTES)
        return error_set(e, ERR_ARGUMENT, "a path is longer than %d bytes: %.80s...",
                         PATH_BYTES - 1, path);
    return OK;
}

bool path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool path_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool folder_has(const char *folder, const char *file)
{
    char path[PATH_BYTES];
    return path_format(path, NULL, "%s/%s", folder, file) == OK && path_exists(path);
}

enum status folder_make(const char *path, struct error *e)
{
    char part[PATH_BYTES];
    int why = 0; /* errno of the first folder that could not be made */
    TRY(path_format(part, e, "%s", path));
    for (char *slash = part; *slash; slash++) {
        if (slash == part || *slash != '/')
            continue;
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST && why == 0)
            why = errno;
        *slash = '/';
    }
    if (mkdir(part, 0777) != 0 && why == 0)
        why = errno;
    if (!path_is_folder(path))
        return error_at(e, output_refuse(why), path, 0, 0, "cannot create this folder: %s; %s",
                        strerror(why), output_expected(why));
    return OK;
}

/* Closes a stream after writing. Syncs a regular file to disk; devices and pipes cannot be
 * synced. */
static enum status close_synced(FILE *f, bool is_file, const char *path, struct error *e)
{
    bool failed = fflush(f) != 0 || ferror(f) || (is_file && fsync(fileno(f)) != 0);
    int why = errno;
    failed |= fclose(f) != 0;
    return failed ? error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(why))
                  : OK;
}

typedef enum status file_writer(FILE *out, const void *arg, struct error *e);

static enum status fill(FILE *f, bool is_file, const char *path, file_writer *write,
                        const void *arg, struct error *e)
{
    enum status status = write(f, arg, e);
    enum status closed = close_synced(f, is_file, path, status == OK ? e : NULL);
    THEN(status, closed);
    return status;
}

static enum status cannot_open(const char *path, struct error *e)
{
    return error_at(e, output_refuse(errno), path, 0, 0, "cannot be written: %s; %s",
                    strerror(errno), output_expected(errno));
}

/* Returns whether `entry` is a temporary file of the file `name`: "b.xml.4711.tmp" for "b.xml". */
static bool is_temporary(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '.')
        return false;
    const char *digits = entry + length + 1;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && strcmp(digits + n, ".tmp") == 0;
}

/* Removes temporary files of `path` that killed processes left. A living process has a lock on its
 * file. */
static void remove_abandoned(const char *path)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    int length = slash != NULL ? (int)(slash - path) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", length > 0 ? length : 1, length > 0 ? path : ".");
    DIR *all = opendir(folder);
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        if (!is_temporary(entry->d_name, path + length))
            continue;
        int file =
            openat(dirfd(all), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(all), entry->d_name, 0);
        if (file >= 0)
            close(file);
    }
    if (all != NULL)
        closedir(all);
}

/* Opens and locks a temporary file; NULL if the file cannot be opened. Retries if another process
 * removed the file meanwhile. If locks are not supported, returns the unlocked file;
 * remove_abandoned then removes nothing. */
static FILE *open_held(const char *temporary)
{
    for (;;) {
        struct stat s;
        FILE *f = fopen(temporary, "we");
        if (f == NULL || flock(fileno(f), LOCK_EX) != 0 || fstat(fileno(f), &s) != 0 ||
            s.st_nlink > 0)
            return f;
        fclose(f);
    }
}

static enum status write_and_rename(const char *temporary, const char *path, const mode_t *mode,
                                    file_writer *write, const void *arg, struct error *e)
{
    FILE *f = open_held(temporary);
    if (f == NULL)
        return cannot_open(path, e);
    int held = fcntl(fileno(f), F_DUPFD_CLOEXEC, 0); /* keeps the lock after fclose, until the file
                                                        is renamed */
    if (mode != NULL)
        fchmod(fileno(f), *mode & 07777);
    enum status status = fill(f, true, temporary, write, arg, e);
    if (status == OK && rename(temporary, path) != 0)
        status = cannot_open(path, e);
    if (status != OK)
        unlink(temporary);
    if (held >= 0)
        close(held);
    return status;
}

enum status file_write(const char *path,
                       enum status (*write)(FILE *out, const void *arg, struct error *e),
                       const void *arg, struct error *e)
{
    char temporary[PATH_BYTES];
    struct stat before;
    bool is_there = stat(path, &before) == 0;
    if (is_there && !S_ISREG(before.st_mode) && !S_ISDIR(before.st_mode)) {
        FILE *f = fopen(path, "we");
        return f != NULL ? fill(f, false, path, write, arg, e) : cannot_open(path, e);
    }
    remove_abandoned(path);
    TRY(path_format(temporary, e, "%s.%ld.tmp", path, (long)getpid()));
    return write_and_rename(temporary, path, is_there ? &before.st_mode : NULL, write, arg, e);
}

static enum status write_copy(FILE *out, const void *arg, struct error *e)
{
    const char *from = arg;
    char bytes[16384];
    size_t n;
    FILE *in = fopen(from, "re");
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, from, 0, 0, "cannot be opened: %s", strerror(errno));
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, n, out);
    bool failed = ferror(in);
    fclose(in);
    return failed ? error_at(e, ERR_SYSTEM, from, 0, 0, "cannot be read") : OK;
}

enum status file_copy(const char *to, const char *from, struct error *e)
{
    char folder[PATH_BYTES];
    TRY(path_format(folder, e, "%s", to));
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
        TRY(folder_make(folder, e));
    }
    return file_write(to, write_copy, from, e);
}

enum status files_visit(const char *folder, const char *pattern, file_visitor *visit, void *arg,
                        size_t *n, struct error *e)
{
    glob_t files = {.gl_pathc = 0};
    enum status status = OK;
    int failed = file_glob(folder, pattern, 0, &files);
    if (failed == GLOB_NOSPACE)
        return error_no_memory(e, "the names of files");
    if (n != NULL)
        *n = failed ? 0 : files.gl_pathc;
    if (failed)
        return OK;
    qsort(files.gl_pathv, files.gl_pathc, sizeof *files.gl_pathv, file_compare_names);
    for (size_t i = 0; i < files.gl_pathc && status == OK; i++)
        status = visit(files.gl_pathv[i], arg, e);
    globfree(&files);
    return status;
}

static bool spawn_to(int out, bool quiet, char *const argv[], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

int program_ask(char *const argv[], bool quiet, char *line, size_t size)
{
    int ends[2], status = 0;
    pid_t pid;
    line[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    bool started = spawn_to(ends[1], quiet, argv, &pid);
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    if (started && f != NULL && fgets(line, (int)size, f) != NULL)
        line[strcspn(line, "\n")] = '\0';
    if (f != NULL)
        fclose(f);
    else
        close(ends[0]);
    bool ended = started && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    return ended ? WEXITSTATUS(status) : -1;
}
