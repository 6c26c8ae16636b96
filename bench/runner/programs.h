/* The programs that a campaign runs, by their contents. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>

#include "bench/runner/workloads.h"
#include "kernels/base/error.h"

/* Of workloads, and pin. */
#define PROGRAMS_MAX (WORKLOAD_PROGRAMS_MAX + 1)

struct program {
    const char *path;      /* borrowed */
    char file[PATH_BYTES]; /* that holds its contents, as tools_contents says */
    char hex[65];          /* SHA-256 of them */
    struct stat seen;      /* when they were read */
};

struct programs {
    struct program all[PROGRAMS_MAX];
    size_t n;
};

/* Reads the contents of these, a NULL-terminated list. */
enum status programs_read(struct programs *programs, const struct tools *tools,
                          const char *const *paths, struct error *e);

/* ERR_DATA, saying what it was and is, when a program is no longer the one that was read. Of files
 * that were not touched nothing is read. */
enum status programs_check(struct programs *programs, struct error *e);
