/* Creates and removes a temporary folder. */
#pragma once

#include "bench/runner/files.h"

/* Creates a temporary folder below $TMPDIR or /tmp and writes its path. */
enum status scratch_open(char path[PATH_BYTES], struct error *e);
/* Removes a folder with its contents. A missing folder is no error. */
void scratch_close(const char *path);
