/* Handles paths and folders, and writes files atomically. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/base/file.h"
#include "kernels/base/error.h"

#define PATH_BYTES 4096

/* Formats a path. ERR_ARGUMENT if it needs more than PATH_BYTES. */
enum status path_format(char path[PATH_BYTES], struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool path_exists(const char *path);
bool path_is_folder(const char *path);
bool folder_has(const char *folder, const char *file);

/* Makes a folder and its parents. An existing folder is no error. */
enum status folder_make(const char *path, struct error *e);

/* Writes a file atomically: `write` fills a temporary file, which is synced and renamed. Removes
 * temporary files of `path` that killed processes left behind. An existing file keeps its
 * permissions. A link to a file is replaced, not its target. A device or a pipe is written directly
 * instead, also through a link. */
enum status file_write(const char *path,
                       enum status (*write)(FILE *out, const void *arg, struct error *e),
                       const void *arg, struct error *e);

/* Copies a file atomically. Makes the folder of `to`; replaces an existing file. */
enum status file_copy(const char *to, const char *from, struct error *e);

/* Function that files_visit calls with each path and the caller's `arg`. */
typedef enum status file_visitor(const char *path, void *arg, struct error *e);

/* Calls `visit` for each file below `folder` whose path matches `pattern` (file_glob), sorted by
 * name. Stops at the first error. *n: number of matching files; `n` can be NULL. */
enum status files_visit(const char *folder, const char *pattern, file_visitor *visit, void *arg,
                        size_t *n, struct error *e);

/* Runs a program (`argv`: NULL-terminated) and writes the first line of its output to `line`.
 * Returns the exit status; -1 if the program did not start or was killed. `quiet`: discards
 * standard error. */
int program_ask(char *const argv[], bool quiet, char *line, size_t size);
