/* Files that a program will write at its end. */
#pragma once

#include "kernels/base/error.h"

/* The status of a path that cannot be written or made, by its errno: ERR_ARGUMENT where another path or other
 * permissions help, else ERR_SYSTEM. */
enum status output_refuse(int why);

/* The end of a message about it: which path is expected. */
const char *output_expected(int why);

/* Whether `path` can be written, so that a run of hours does not find out at its end: opens the
 * file, and removes it again if it was not there. ERR_ARGUMENT names `option`, which asked for the
 * file, and the reason. One process at a time. */
enum status output_check(const char *option, const char *path, struct error *e);
