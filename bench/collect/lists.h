/* Comma-separated lists in fixed buffers. Internal to bench/collect. */
#pragma once

#include <stddef.h>

/* Appends an item after `separator`. A full list ends with "..." and ignores further items. */
void list_add(char *text, size_t size, const char *separator, const char *item);
