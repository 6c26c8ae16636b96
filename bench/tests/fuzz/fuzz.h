/* Shared code of the harnesses. Each harness gives one input to a reader, as if from a user's file.
 * A wrong input must be reported as an error, never by a crash, a leak or a hang. clang's libFuzzer
 * generates inputs (`make fuzz`); replay.c runs the inputs in seeds/<reader>/ in any build. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program where a promise does not hold, which counts as a crash. */
#define FUZZ_ASSERT(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* This process's folder, in memory where there is /dev/shm; $TMPDIR goes first. */
static inline const char *fuzz_folder(void)
{
    static char folder[512];
    const char *parent = getenv("TMPDIR");
    if (folder[0])
        return folder;
    if (!parent)
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%.400s/scalebench-fuzz-XXXXXX", parent);
    FUZZ_ASSERT(mkdtemp(folder));
    return folder;
}

/* "<folder>/<name>", until the next call. */
static inline const char *fuzz_path(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    return path;
}

static inline const char *fuzz_file(const char *name, const void *data, size_t size)
{
    const char *path = fuzz_path(name);
    FILE *out = fopen(path, "w");
    FUZZ_ASSERT(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    return path;
}

/* Cuts off the part up to the next line "----", or all that is left; false when nothing is. So one
 * input makes several files. */
static inline bool fuzz_part(const uint8_t **data, size_t *size, const uint8_t **part,
                             size_t *part_size)
{
    static const char line[] = "----\n";
    if (*size == 0)
        return false;
    const uint8_t *end = memmem(*data, *size, line, sizeof line - 1);
    *part = *data;
    *part_size = end ? (size_t)(end - *data) : *size;
    size_t taken = *part_size + (end ? sizeof line - 1 : 0);
    *data += taken;
    *size -= taken;
    return true;
}

/* An error says what is wrong. */
static inline void fuzz_said(enum status status, const struct error *e)
{
    FUZZ_ASSERT(status == OK || (e->status == status && e->text[0]));
}
