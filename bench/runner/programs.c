#include "bench/runner/programs.h"

#include <errno.h>
#include <sha2.h>
#include <string.h>

static enum status read_contents(const char *file, struct stat *seen, char hex[65], struct error *e)
{
    if (stat(file, seen) != 0 || SHA256File(file, hex) == NULL)
        return error_at(e, ERR_SYSTEM, file, 0, 0, "cannot be read: %s", strerror(errno));
    return OK;
}

enum status programs_read(struct programs *programs, const struct tools *tools,
                          const char *const *paths, struct error *e)
{
    for (programs->n = 0; *paths != NULL; paths++) {
        struct program *p = &programs->all[programs->n++];
        p->path = *paths;
        TRY(tools_contents(tools, p->path, p->file, e));
        TRY(read_contents(p->file, &p->seen, p->hex, e));
    }
    return OK;
}

static bool is_untouched(const struct program *p)
{
    struct stat now;
    return stat(p->file, &now) == 0 && now.st_dev == p->seen.st_dev &&
           now.st_ino == p->seen.st_ino && now.st_size == p->seen.st_size &&
           now.st_mtim.tv_sec == p->seen.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == p->seen.st_mtim.tv_nsec;
}

enum status programs_check(struct programs *programs, struct error *e)
{
    for (size_t i = 0; i < programs->n; i++) {
        struct program *p = &programs->all[i];
        struct stat seen;
        char hex[65];
        if (is_untouched(p))
            continue;
        TRY(read_contents(p->file, &seen, hex, e));
        if (strcmp(hex, p->hex) != 0)
            return error_at(
                e, ERR_DATA, p->file, 0, 0,
                "changed while the campaign ran: its SHA-256 was %.12s and is now %.12s. "
                "Restore the program and run the same command to resume; with the "
                "changed program, the command begins a new run",
                p->hex, hex);
        p->seen = seen;
    }
    return OK;
}
