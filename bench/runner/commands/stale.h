/* Whether the programs beside this one are what the sources say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/runner/tools.h"

/* True, with a sentence that names a source, where one of what make has compiled into the program's folder is
 * older than a source that it was made of, or the program older than what it was linked from; false where all are
 * current, or nothing is known: no sources, or no list of what was made of which. */
bool stale_find(char *text, size_t size, const struct tools *tools);
