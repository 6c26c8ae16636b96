/* Opens and closes the table that a sweep writes in the folder of its launch. The file has a
 * temporary name until it is complete. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct sweep_file {
    FILE *out;
    char path[4096]; /* path of the table; "" for standard output */
};

/* Opens the file `name` in `folder`; folder NULL: standard output. ERR_SYSTEM with the path if the
 * file cannot be written. */
enum status sweep_file_open(struct sweep_file *file, const char *folder, const char *name,
                            struct error *e);
/* Closes the file. `swept`: status of the sweep; if it is not OK, the file is removed. Returns
 * `swept`, or ERR_SYSTEM if writing failed. */
enum status sweep_file_close(struct sweep_file *file, enum status swept, struct error *e);
