/* Contents of the programs that a campaign runs. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>

#include "bench/runner/workloads.h"
#include "kernels/base/error.h"

/* The workloads' programs and pin. */
#define PROGRAMS_MAX (WORKLOAD_PROGRAMS_MAX + 1)

struct program {
    const char *path;      /* borrowed */
    char file[PATH_BYTES]; /* file with its contents (tools_contents) */
    char hex[65];
    struct stat seen; /* state of the file when it was read */
};

struct programs {
    struct program all[PROGRAMS_MAX];
    size_t n;
};

/* Hashes the programs in `paths`, a NULL-terminated list. The paths are borrowed. */
enum status programs_read(struct programs *programs, const struct tools *tools,
                          const char *const *paths, struct error *e);

/* Returns ERR_DATA, with both digests, if a program has changed since it was read. Reads only
 * files whose size or time changed. */
enum status programs_check(struct programs *programs, struct error *e);
