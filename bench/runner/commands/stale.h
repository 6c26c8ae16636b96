/* Checks whether the built programs are older than their sources. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/runner/tools.h"

/* Returns whether an object file is older than one of its sources, according to make's dependency
 * files. If so, `text` names the source. Missing files are ignored. */
bool stale_find(char *text, size_t size, const struct tools *tools);
