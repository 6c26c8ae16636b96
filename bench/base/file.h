/* Finding and opening what a user named for reading. A FIFO nobody writes to would be waited for without end, a
 * device may never end: what is no regular file is refused before a byte is read.
 *
 * To add a kind of file that is mistaken for data: a row of `mistaken` in file.c and a row in
 * test_data_bad.c. To add a reader of files that users name: file_open, a harness
 * bench/tests/fuzz/fuzz_<reader>.c and its seeds beside it. */
#pragma once

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "kernels/base/error.h"

/* "a FIFO", "a folder", "a regular file" ... of a st_mode. */
const char *file_kind(mode_t mode);

/* Opens a regular file. -1 where that fails, and *why points at the reason as a sentence's end:
 * "No such file or directory", "it is a FIFO, not a regular file"; errno is 0 in the second
 * case. */
int file_open(const char *path, const char **why);

/* The same as a stream; NULL where it fails. */
FILE *file_open_stream(const char *path, const char **why);

/* The same for what may be a pipe too, as `<(command)` and /dev/stdin are. A FIFO that nobody has
 * open for writing reads as empty. */
FILE *file_open_pipe(const char *path, const char **why);

/* glob(3) of a pattern below a folder, in whose name [ ] * and ? are letters; NULL: below the current one. */
int file_glob(const char *folder, const char *pattern, int flags, glob_t *found);

/* Orders an array of names for qsort, numbers in them by value: fig2 before fig10. */
int file_compare_names(const void *a, const void *b);

/* The first line of a file without its newline; false, and "", when there is none to read. */
bool file_first_line(const char *path, char *line, size_t size);

/* The number that a file begins with; NAN where it does not. */
double file_number(const char *path);

/* The last part of a path. */
const char *file_name(const char *path);

/* Writes all n bytes, though signals come in between. False where that fails, by errno. */
bool file_write_all(int fd, const void *bytes, size_t n);

/* Brings the names of a folder's files to the disk: a new or renamed file is there when its folder is. False where
 * that fails, by errno. */
bool file_sync_folder(const char *folder);

#define FILE_HEAD_BYTES 64

/* Refuses a web page, an archive and the like in place of data by its first `n` bytes, FILE_HEAD_BYTES at most.
 * ERR_DATA says what the file is, that it is not `format`, and what to do: "begins with '<html': a web page, not IDX;
 * download it again". */
enum status file_check_head(const char *path, const void *head, size_t n, const char *format,
                            struct error *e);
