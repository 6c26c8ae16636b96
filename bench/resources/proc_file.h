/* Reads small files of /proc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Reads FOLDER/NAME into text[size], truncated to fit and terminated by 0. Returns false if the
 * file cannot be read or is empty. */
bool proc_file_read(char *text, size_t size, const char *folder, const char *name);
