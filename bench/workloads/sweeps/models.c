#include "bench/workloads/sweeps/models.h"

#include <stdlib.h>

#include "bench/base/file.h"

enum status models_for_each(const char *option,
                            enum status (*visit)(void *arg, const char *path, struct error *e),
                            void *arg, struct error *e)
{
    static const char models[] = "configs/models/*.yaml";
    const char *home = getenv("SCALEBENCH_HOME");
    glob_t files;
    if (file_glob(home, models, 0, &files) != 0)
        return error_set(e, ERR_DATA,
                         "%s%s%s: no networks here; --%s or SCALEBENCH_HOME says where they are",
                         home != NULL ? home : "", home != NULL ? "/" : "", models, option);
    enum status status = OK;
    for (size_t i = 0; status == OK && i < files.gl_pathc; i++)
        status = visit(arg, files.gl_pathv[i], e);
    globfree(&files);
    return status;
}
