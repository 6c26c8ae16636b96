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

/* Called with a path; `arg` is the caller's. */
typedef enum status file_visitor(const char *path, void *arg, struct error *e);

/* Visits what matches a pattern below a folder, as file_glob does, in the order of names, until a visit fails. *n (or
 * NULL): how many match. */
enum status files_visit(const char *folder, const char *pattern, file_visitor *visit, void *arg,
                        size_t *n, struct error *e);

/* Exit status of a program, argv as for exec, and the first line that it prints; -1 when it cannot
 * be started or is killed. Its standard error is dropped if `quiet`. */
int program_ask(char *const argv[], bool quiet, char *line, size_t size);
