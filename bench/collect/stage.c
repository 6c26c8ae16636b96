#include "bench/collect/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/record/csv.h"

#define PREFIX ".part-"

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

/* Opens and locks the folder. Returns its descriptor; -1 with errno if it cannot be opened or
 * locked (EWOULDBLOCK: another program has locked it). */
static int hold(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) != 0) {
        close(folder);
        return -1;
    }
    return folder;
}

static void remove_abandoned(const char *run_dir)
{
    glob_t found = {0};
    file_glob(run_dir, PREFIX "*", 0, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        int held = hold(found.gl_pathv[i]);
        if (held < 0)
            continue;
        remove_folder(found.gl_pathv[i]);
        close(held);
    }
    globfree(&found);
}

/* Returns whether another program locked or removed the new folder before this program locked
 * it. */
static bool was_taken(int held)
{
    struct stat s;
    if (held < 0)
        return errno == EWOULDBLOCK || errno == ENOENT; /* any other error: this file system has no
                                                           locks */
    return fstat(held, &s) == 0 && s.st_nlink == 0;
}

enum status stage_open(struct stage *stage, const char *run_dir, struct error *e)
{
    *stage = (struct stage){.run_dir = run_dir, .held = -1};
    remove_abandoned(run_dir);
    do {
        if (stage->held >= 0)
            close(stage->held);
        snprintf(stage->dir, sizeof stage->dir, "%s/" PREFIX "XXXXXX", run_dir);
        if (mkdtemp(stage->dir) == NULL) {
            *stage = (struct stage){.run_dir = run_dir, .held = -1};
            return error_set(e, ERR_SYSTEM, "cannot write in %s: %s", run_dir, strerror(errno));
        }
        stage->held = hold(stage->dir);
    } while (was_taken(stage->held));
    return OK;
}

enum status stage_keep(const struct stage *stage, const char *name, struct error *e)
{
    char from[4500], to[4500];
    snprintf(from, sizeof from, "%s/%s", stage->dir, name);
    snprintf(to, sizeof to, "%s/%s", stage->run_dir, name);
    if (rename(from, to) == 0)
        return OK;
    return error_set(e, ERR_SYSTEM, "cannot write %s: %s", to, strerror(errno));
}

enum status stage_write(const struct stage *stage, const char *name, stage_writer *write,
                        void *what, struct error *e)
{
    char path[4500];
    snprintf(path, sizeof path, "%s/%s", stage->dir, name);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return error_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    enum status status = write(out, what, e);
    enum status closed = csv_close(out, path, status == OK ? e : NULL);
    return status != OK ? status : closed;
}

void stage_close(struct stage *stage)
{
    if (stage->dir[0] == '\0')
        return;
    remove_folder(stage->dir);
    if (stage->held >= 0)
        close(stage->held);
    stage->dir[0] = '\0';
}
