/* Temporary folder. */
#pragma once

#include "bench/runner/files.h"

/* Makes a folder below $TMPDIR or /tmp. */
enum status scratch_open(char path[PATH_BYTES], struct error *e);
/* Removes the folder and everything in it. */
void scratch_close(const char *path);
