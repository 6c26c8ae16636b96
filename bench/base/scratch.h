/* Creates and removes a temporary folder. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

/* Creates a temporary folder below $TMPDIR (default: /tmp) and writes its path to `path`.
 * ERR_SYSTEM if the path does not fit `size` bytes or the folder cannot be created. */
enum status scratch_open(char *path, size_t size, struct error *e);
/* Removes a folder with its contents. A missing folder is no error. */
void scratch_close(const char *path);
