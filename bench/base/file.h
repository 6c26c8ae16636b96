/* Opens files that users name. Refuses anything but a regular file: a FIFO without a writer would
 * block, and a device may never end. Only file_open_pipe accepts a FIFO.
 *
 * To recognise another file mistaken for data, add a row to `mistaken` in file.c and to
 * test_data_bad.c. A new reader calls file_open. It needs a fuzzing harness
 * bench/tests/fuzz/fuzz_<reader>.c with seeds in bench/tests/fuzz/seeds/<reader>. */
#pragma once

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "kernels/base/error.h"

/* Returns the file type in a stat mode as text: "a FIFO", "a folder", "a regular file". */
const char *file_kind(mode_t mode);

/* Opens a regular file for reading. Returns -1 on failure. *why is then the reason, in static
 * memory; errno is 0 if the file has the wrong kind. */
int file_open(const char *path, const char **why);

/* Opens a regular file as a stream. Returns NULL on failure, with *why as in file_open. */
FILE *file_open_stream(const char *path, const char **why);

/* Opens a regular file or a pipe as a stream. A FIFO without a writer reads as empty. Returns NULL
 * on failure, with *why as in file_open. */
FILE *file_open_pipe(const char *path, const char **why);

/* Calls glob(3) for a pattern below `folder` (NULL: the working directory). The characters [ ] * ?
 * \ in the folder's name are literal. Call globfree on `found` afterwards. */
int file_glob(const char *folder, const char *pattern, int flags, glob_t *found);

/* Compares two file names for qsort; numbers compare by value, so fig2 comes before fig10. */
int file_compare_names(const void *a, const void *b);

/* Reads the first line of a file, without newline. Returns false and sets `line` to "" if the file
 * cannot be read or its first line is empty. */
bool file_first_line(const char *path, char *line, size_t size);

/* Returns the number at the beginning of a file; NAN if the file cannot be read or does not begin
 * with a number. */
double file_number(const char *path);

/* Returns a pointer into `path`, to its last component. */
const char *file_name(const char *path);

/* Writes all n bytes, even if signals interrupt the writing. Returns false on failure, with
 * errno. */
bool file_write_all(int fd, const void *bytes, size_t n);

/* Flushes a folder's entries to disk, so that new and renamed files in it survive a power loss.
 * Returns false on failure, with errno. */
bool file_sync_folder(const char *folder);

/* Number of bytes at the beginning of a file that file_check_head examines. */
#define FILE_HEAD_BYTES 64

/* Checks `head`, the first `n` bytes of a file. ERR_DATA if it begins like a web page, XML, a Git
 * LFS pointer or a zip archive. The message names the expected `format`, such as "IDX". */
enum status file_check_head(const char *path, const void *head, size_t n, const char *format,
                            struct error *e);
