/* Hashes the programs that a campaign runs, and detects if one of them changes. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>

#include "bench/runner/workloads.h"
#include "kernels/base/error.h"

/* largest number of programs: all programs of workloads, and pin */
#define PROGRAMS_MAX (WORKLOAD_PROGRAMS_MAX + 1)

struct program {
    const char *path;      /* path that is executed, borrowed */
    char file[PATH_BYTES]; /* path of the file with the program's code (tools_contents): in a bundle
                              `path`.program, else `path` */
    char hex[65];
    struct stat seen; /* result of stat for `file` when it was last hashed */
};

struct programs {
    struct program all[PROGRAMS_MAX];
    size_t n;
};

/* Hashes the programs at `paths`, a NULL-terminated list. The strings in the list, but not the list
 * itself, must live as long as `programs`. */
enum status programs_read(struct programs *programs, const struct tools *tools,
                          const char *const *paths, struct error *e);

/* Returns ERR_DATA, with both hashes in the message, if a program has changed since it was hashed.
 * Skips files whose device, inode, size and modification time are unchanged. */
enum status programs_check(struct programs *programs, struct error *e);
