/* The table of a sweep, in the folder of its launch: it takes its name when it is whole. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct sweep_file {
    FILE *out;
    char path[4096]; /* "": standard output */
};

/* Begins `name` in `folder`; NULL: standard output. ERR_SYSTEM names a file that cannot be written. */
enum status sweep_file_open(struct sweep_file *file, const char *folder, const char *name,
                            struct error *e);
/* Ends it, and removes it unless `swept` is OK. Returns `swept`, else whether all of it is written. */
enum status sweep_file_close(struct sweep_file *file, enum status swept, struct error *e);
