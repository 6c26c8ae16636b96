#include "bench/sites/mpiexec.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/sites/words.h"

/* Looks for an executable as a shell would. */
static bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/'))
        return snprintf(path, size, "%s", name) < (int)size && access(path, X_OK) == 0;
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        size_t n = strcspn(folders, ":");
        int length = snprintf(path, size, "%.*s/%s", (int)n, n > 0 ? folders : ".", name);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

enum status mpiexec_find(char *path, size_t size, struct error *e)
{
    const char *chosen = getenv("MPIEXEC");
    if (chosen && *chosen) {
        if (find_program(chosen, path, size))
            return OK;
        return error_set(e, ERR_UNAVAILABLE, "MPIEXEC='%s' is not a program that can be run",
                         chosen);
    }
    if (find_program("mpiexec.mpich", path, size) || find_program("mpiexec", path, size))
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "no MPI launcher: MPIEXEC is not set, and neither mpiexec.mpich nor mpiexec "
                     "is on PATH (make deps installs MPICH)");
}

enum status mpiexec_plan(const struct config *c, const struct place *place, struct place_plan *plan,
                         struct error *e)
{
    enum status status = place_make_plan(
        place, (int)config_int(c, OPT_RANKS), config_cores_per_rank(c),
        (enum place_bind)config_int(c, OPT_BIND), (enum place_order)config_int(c, OPT_ORDER),
        strcmp(config_text(c, OPT_OVERSUBSCRIBE), "allow") == 0, plan, e);
    if (status != ERR_UNAVAILABLE || config_overlap(c) != OVERLAP_thread)
        return status;
    struct error reason = *e;
    return error_set(e, status, "%s; one thread a rank is that of sync.overlap: thread",
                     reason.text);
}

char **mpiexec_environment(void)
{
    /* The trainer splits work over threads of its own; a library that did so too would put more
     * threads on a core than were planned. */
    struct words words = {0};
    words_add(&words, "BLIS_NUM_THREADS=1");
    words_add(&words, "OMP_NUM_THREADS=1");
    return words_finish(&words);
}
