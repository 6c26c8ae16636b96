/* Paths, folders and small files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/base/file.h"
#include "kernels/base/error.h"

#define PATH_BYTES 4096

/* Formats a path; ERR_ARGUMENT when it is longer than PATH_BYTES allows. */
enum status path_format(char path[PATH_BYTES], struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool path_exists(const char *path);
bool path_is_folder(const char *path);
bool folder_has(const char *folder, const char *file);
bool path_is_same(const char *a, const char *b); /* both are there, and are one file or folder */

/* Makes a folder and those above it; one that is there already is fine. */
enum status folder_make(const char *path, struct error *e);

/* Writes a file whole or not at all: `write` fills a temporary file of this process, which is synced and renamed, with
 * the permissions that the file has, if it is there. Temporary files that killed processes left beside it go. A link is
 * replaced, not what it points at; into a device or a pipe `write` writes itself. */
enum status file_write(const char *path,
                       enum status (*write)(FILE *out, const void *arg, struct error *e),
                       const void *arg, struct error *e);

/* Copies a file, whole or not at all; the folder of `to` is made. What `to` was is replaced. */
enum status file_copy(const char *to, const char *from, struct error *e);

/* Exit status of a program, argv as for exec, and the first line that it prints; -1 when it cannot
 * be started or is killed. Its standard error is dropped. */
int program_ask(char *const argv[], char *line, size_t size);

/* As program_ask, but the program's standard error is that of this process. */
int program_run(char *const argv[], char *line, size_t size);

/* The first line that a program prints, argv as for exec; false, and "", when it fails or prints
 * nothing. Its standard error is dropped. */
bool program_first_line(char *const argv[], char *line, size_t size);
