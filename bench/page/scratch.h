/* Temporary folder. */
#pragma once

#include "bench/runner/files.h"

/* Makes a folder below $TMPDIR or /tmp. */
enum status scratch_open(char path[PATH_BYTES], struct error *e);
void scratch_close(const char *path);
