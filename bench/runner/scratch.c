#include "bench/runner/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

enum status scratch_open(char path[PATH_BYTES], struct error *e)
{
    const char *folder = getenv("TMPDIR");
    TRY(path_format(path, e, "%s/scalebench-XXXXXX", folder != NULL && *folder ? folder : "/tmp"));
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
