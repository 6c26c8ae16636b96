/* Creates and removes a temporary folder. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

/* Creates a temporary folder below $TMPDIR (unset or empty: below /tmp) and writes the folder's
 * path to `path`, a buffer of `size` bytes. ERR_SYSTEM if the path does not fit or the folder
 * cannot be created. */
enum status scratch_open(char *path, size_t size, struct error *e);
/* Removes a folder with its contents. A missing folder is no error. */
void scratch_close(const char *path);
