#include "bench/workloads/sweeps/models.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

enum status models_for_each(const char *option,
                            enum status (*visit)(void *arg, const char *path, struct error *e),
                            void *arg, struct error *e)
{
    const char *home = getenv("SCALEBENCH_HOME");
    char pattern[4096];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s%sconfigs/models/*.yaml", home != NULL ? home : "",
             home != NULL ? "/" : "");
    if (glob(pattern, 0, NULL, &files) != 0)
        return error_at(e, ERR_DATA, pattern, 0, 0,
                        "no networks here; --%s or SCALEBENCH_HOME says where they are", option);
    enum status status = OK;
    for (size_t i = 0; status == OK && i < files.gl_pathc; i++)
        status = visit(arg, files.gl_pathv[i], e);
    globfree(&files);
    return status;
}
