/* Finds the path of the running program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Suffix of the real programs in a bundle (`make bundle`). In a bundle, NAME is a small starter
 * that runs NAME.program with the bundle's dynamic loader. */
#define EXECUTABLE_BUNDLED ".program"

/* Writes the path of the running program. Uses /proc/self/maps, because in a bundle /proc/self/exe
 * is the dynamic loader. Returns false if /proc cannot be read or the path does not fit. */
bool executable_path(char *path, size_t size);
