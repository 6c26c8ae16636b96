/* Lists of texts in one text. Internal to bench/collect. */
#pragma once

#include <stddef.h>

/* Appends an item behind `separator`. A list without room for it ends with "..." and takes no more. */
void list_add(char *text, size_t size, const char *separator, const char *item);
