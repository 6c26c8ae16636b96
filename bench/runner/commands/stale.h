/* Check whether the built programs are older than their sources. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/runner/tools.h"

/* Finds an object file in the build folder that is older than one of its sources, by make's
 * dependency lists. Returns true with a sentence that names the source. Returns false if all are
 * current, or if there are no sources or no lists. */
bool stale_find(char *text, size_t size, const struct tools *tools);
