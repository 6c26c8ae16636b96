#include "bench/sites/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether a path is an executable file. The execute permission alone does not suffice,
 * since folders have it as well. */
static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool launcher_find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL)
        return snprintf(path, size, "%s", name) < (int)size && is_program(path);
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders) {
        size_t n = strcspn(folders, ":");
        int length = snprintf(path, size, "%.*s/%s", (int)n, n > 0 ? folders : ".", name);
        if (length > 0 && (size_t)length < size && is_program(path))
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
        return error_set(e, ERR_UNAVAILABLE, "MPIEXEC='%s' is not an executable program", chosen);
    }
    snprintf(own, sizeof own, "%.4095s/mpiexec", folder);
    if (launcher_find_program(own, path, size) ||
        launcher_find_program("mpiexec.mpich", path, size) ||
        launcher_find_program("mpiexec", path, size))
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "MPI launcher not found: MPIEXEC is not set, and neither mpiexec.mpich nor "
                     "mpiexec is on PATH. Run `make deps` to install MPICH");
}

/* Returns whether the launcher belongs to Open MPI, from its name and from ompi_info beside it.
 * Does not run the launcher, which may be a user's script. */
static bool is_open_mpi(const char *path)
{
    char name[4096], info[4200];
    if (realpath(path, name) == NULL)
        return false;
    char *slash = strrchr(name, '/');
    if (strcmp(slash, "/orterun") == 0 || strcmp(slash, "/prterun") == 0)
        return true;
    if (strcmp(slash, "/mpirun") != 0 && strcmp(slash, "/mpiexec") != 0)
        return false;
    *slash = '\0';
    snprintf(info, sizeof info, "%s/ompi_info", name);
    return access(info, X_OK) == 0;
}

void launcher_find(struct launcher *launcher, const char *folder)
{
    *launcher = (struct launcher){.missing.status = OK};
    if (look(launcher->path, sizeof launcher->path, folder, &launcher->missing) == OK)
        launcher->open_mpi = is_open_mpi(launcher->path);
}

enum status launcher_check_hydra(const struct launcher *launcher, struct error *e)
{
    if (launcher->missing.status != OK) {
        if (e != NULL)
            *e = launcher->missing;
        return launcher->missing.status;
    }
    if (!launcher->open_mpi)
        return OK;
    return error_set(
        e, ERR_UNAVAILABLE,
        "%.300s belongs to Open MPI. To start ranks on several nodes, scalebench needs Hydra, the "
        "launcher of MPICH, MVAPICH and Intel MPI. In a Slurm job, use site.launcher: srun",
        launcher->path);
}
