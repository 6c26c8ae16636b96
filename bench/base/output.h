/* Checks before a long run that the output files of the run can be written. */
#pragma once

#include "kernels/base/error.h"

/* Returns the status for `why`, the errno of a failed write or mkdir: ERR_ARGUMENT if another path
 * or other permissions would help, otherwise ERR_SYSTEM. */
enum status output_refuse(int why);

/* Returns the end of an error message for errno `why`, such as "expected a file, not a folder". */
const char *output_expected(int why);

/* Checks that `path` can be written, so that a run of hours does not fail at its end. Opens the
 * file, and removes it again if it is new. Two processes must not check one path at the same time.
 * Errors: ERR_ARGUMENT, with a message that names `option` and the reason. */
enum status output_check(const char *option, const char *path, struct error *e);
