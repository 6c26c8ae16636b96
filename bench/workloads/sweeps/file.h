/* Table of a sweep in the folder of its launch. The file gets its name when it is complete. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct sweep_file {
    FILE *out;
    char path[4096]; /* "" for standard output */
};

/* Opens `name` in `folder`; NULL: standard output. ERR_SYSTEM names a file that cannot be
 * written. */
enum status sweep_file_open(struct sweep_file *file, const char *folder, const char *name,
                            struct error *e);
/* Closes the file, and removes it unless `swept` is OK. Returns `swept`, or ERR_SYSTEM if writing
 * failed. */
enum status sweep_file_close(struct sweep_file *file, enum status swept, struct error *e);
