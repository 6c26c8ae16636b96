/* Where configuration files lie: configs/ below the current folder, then below $SCALEBENCH_HOME. */
#ifndef SCALEBENCH_SPEC_FIND_H
#define SCALEBENCH_SPEC_FIND_H

#include "kernels/base/error.h"

/* Sets *path (freed by the caller) to `folder`/`name` where that exists, `folder` being "configs"
 * or a folder in it. ERR_SPEC names the nearest and what is there. */
enum status find_config(char **path, const char *folder, const char *name, struct error *e);

#endif
