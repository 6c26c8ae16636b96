/* A temporary folder for a test program. */
#pragma once

#include "bench/collect/tests/fake_run.h"

static char folder[] = "/tmp/scalebench-test-XXXXXX";

static inline int make_folder(void **state)
{
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    fake_remove_folder(folder);
    return 0;
}

/* Returns the path of a file in the folder, valid until the next call. */
static inline const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}
