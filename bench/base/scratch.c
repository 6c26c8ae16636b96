#include "bench/base/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status scratch_open(char *path, size_t size, struct error *e)
{
    const char *chosen = getenv("TMPDIR"), *folder = chosen != NULL && *chosen ? chosen : "/tmp";
    int length = snprintf(path, size, "%s/scalebench-XXXXXX", folder);
    if (length < 0 || (size_t)length >= size)
        return error_set(e, ERR_SYSTEM,
                         "TMPDIR = %s is too long: with /scalebench-XXXXXX appended, the path "
                         "must have fewer than %zu bytes",
                         folder, size);
    if (mkdtemp(path) == NULL)
        return error_set(e, ERR_SYSTEM, "cannot create the temporary folder %s: %s", path,
                         strerror(errno));
    return OK;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *place)
{
    remove(path);
    return 0;
}

void scratch_close(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
