#include "bench/page/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

enum status scratch_open(struct scratch *scratch, struct error *e)
{
    const char *folder = getenv("TMPDIR");
    TRY(path_format(scratch->path, e, "%s/scalebench-report-XXXXXX",
                    folder != NULL && *folder ? folder : "/tmp"));
    if (mkdtemp(scratch->path) == NULL)
        return error_set(e, ERR_SYSTEM, "no temporary folder %s: %s", scratch->path,
                         strerror(errno));
    return OK;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *place)
{
    (void)s, (void)type, (void)place;
    remove(path);
    return 0;
}

void scratch_close(struct scratch *scratch)
{
    nftw(scratch->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
