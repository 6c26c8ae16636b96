/* Checks whether the built programs are older than their sources. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/runner/tools.h"

/* Returns whether an object file is older than one of its sources, according to make's dependency
 * files. If so, `text` gets a message that names the source and the object file. Missing files are
 * ignored. */
bool stale_find(char *text, size_t size, const struct tools *tools);
