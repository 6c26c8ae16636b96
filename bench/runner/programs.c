#include "bench/runner/programs.h"

#include <errno.h>
#include <sha2.h>
#include <string.h>

static enum status read_program(struct program *p, const char *path, struct error *e)
{
    *p = (struct program){.path = path};
    if (stat(path, &p->seen) != 0 || SHA256File(path, p->hex) == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot read: %s", strerror(errno));
    return OK;
}

enum status programs_read(struct programs *programs, const char *const *paths, struct error *e)
{
    for (programs->n = 0; *paths != NULL; paths++)
        TRY(read_program(&programs->all[programs->n++], *paths, e));
    return OK;
}

const char *program_name(const struct program *program)
{
    const char *slash = strrchr(program->path, '/');
    return slash != NULL ? slash + 1 : program->path;
}

static bool is_untouched(const struct program *p)
{
    struct stat now;
    return stat(p->path, &now) == 0 && now.st_dev == p->seen.st_dev &&
           now.st_ino == p->seen.st_ino && now.st_size == p->seen.st_size &&
           now.st_mtim.tv_sec == p->seen.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == p->seen.st_mtim.tv_nsec;
}

enum status programs_check(struct programs *programs, struct error *e)
{
    for (size_t i = 0; i < programs->n; i++) {
        struct program *p = &programs->all[i], now;
        if (is_untouched(p))
            continue;
        TRY(read_program(&now, p->path, e));
        if (strcmp(now.hex, p->hex) != 0)
            return error_at(e, ERR_DATA, p->path, 0, 0,
                            "changed while the campaign ran: its SHA-256 was %.12s, is %.12s; put "
                            "back, the same command goes on; as it is, it begins a new run",
                            p->hex, now.hex);
        *p = now;
    }
    return OK;
}
