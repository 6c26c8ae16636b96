/* Files that a program will write at its end. */
#pragma once

#include "kernels/base/error.h"

/* Whether `path` can be written, so that a run of hours does not find out at its end: opens the
 * file, and removes it again if it was not there. ERR_ARGUMENT names `option`, which asked for the
 * file, and the reason. One process at a time. */
enum status output_check(const char *option, const char *path, struct error *e);
