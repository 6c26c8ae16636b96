/* Checks before a long run that the output files of the run can be written. */
#pragma once

#include "kernels/base/error.h"

/* Returns the status for `why`, the errno of a failed write or mkdir: ERR_ARGUMENT if another path
 * or other permissions would help, otherwise ERR_SYSTEM. */
enum status output_refuse(int why);

/* Returns the end of an error message for errno `why`, such as "expected a file, not a folder". */
const char *output_expected(int why);

/* Checks that `path` can be written. A missing file is created and removed again, so two processes
 * must not check one path at the same time. Errors: ERR_ARGUMENT; the message names `option`. */
enum status output_check(const char *option, const char *path, struct error *e);
