/* Lists written as text into buffers of fixed size. Internal to bench/collect. */
#pragma once

#include <stddef.h>

/* Appends an item, after `separator` unless it is the first. If the item does not fit, the list
 * ends with "..." and ignores later items. */
void list_add(char *text, size_t size, const char *separator, const char *item);
