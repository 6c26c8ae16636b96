/* A temporary folder. */
#pragma once

#include "bench/runner/files.h"

/* Below $TMPDIR or /tmp. */
enum status scratch_open(char path[PATH_BYTES], struct error *e);
/* Removes it with its folders and their files. */
void scratch_close(const char *path);
