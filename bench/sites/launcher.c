#include "bench/sites/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool launcher_find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL)
        return snprintf(path, size, "%s", name) < (int)size && access(path, X_OK) == 0;
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders) {
        size_t n = strcspn(folders, ":");
        int length = snprintf(path, size, "%.*s/%s", (int)n, n > 0 ? folders : ".", name);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

static enum status look(char *path, size_t size, const char *folder, struct error *e)
{
    char own[4096 + 16];
    const char *chosen = getenv("MPIEXEC");
    if (chosen != NULL && *chosen) {
        if (launcher_find_program(chosen, path, size))
            return OK;
        return error_set(e, ERR_UNAVAILABLE, "MPIEXEC='%s' is not a program that can be run",
                         chosen);
    }
    snprintf(own, sizeof own, "%.4095s/mpiexec", folder);
    if (launcher_find_program(own, path, size) ||
        launcher_find_program("mpiexec.mpich", path, size) ||
        launcher_find_program("mpiexec", path, size))
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "no MPI launcher: MPIEXEC is not set, and neither mpiexec.mpich nor mpiexec "
                     "is on PATH (make deps installs MPICH)");
}

void launcher_find(struct launcher *launcher, const char *folder)
{
    *launcher = (struct launcher){.missing.status = OK};
    look(launcher->path, sizeof launcher->path, folder, &launcher->missing);
}
