/* Where the running program's own file is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* In a bundle (`make bundle`) NAME is a small program, the same under each name, that starts NAME with this
 * at its end, which stands beside it, by the loader that both have come with. */
#define EXECUTABLE_BUNDLED ".program"

/* The file that holds this program's code, as the kernel has mapped it. /proc/self/exe is another one where
 * the program was given to a loader. False where /proc does not tell, or where the path does not fit. */
bool executable_path(char *path, size_t size);
