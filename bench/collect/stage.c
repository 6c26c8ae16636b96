#include "bench/collect/stage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status stage_open(struct stage *stage, const char *run_dir, struct error *e)
{
    stage->run_dir = run_dir;
    snprintf(stage->dir, sizeof stage->dir, "%s/.part-XXXXXX", run_dir);
    if (mkdtemp(stage->dir))
        return OK;
    enum status status =
        error_set(e, ERR_SYSTEM, "cannot write in %s: %s", run_dir, strerror(errno));
    stage->dir[0] = '\0';
    return status;
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

void stage_close(struct stage *stage)
{
    DIR *folder = stage->dir[0] ? opendir(stage->dir) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[4500];
        snprintf(path, sizeof path, "%s/%s", stage->dir, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (folder) {
        closedir(folder);
        rmdir(stage->dir);
    }
    stage->dir[0] = '\0';
}
