/* Small files of the kernel, read whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* FOLDER/NAME into text, cut to fit and ended by 0; false where there is none to read. One that was read
 * without error and is empty counts as none. */
bool proc_file_read(char *text, size_t size, const char *folder, const char *name);
