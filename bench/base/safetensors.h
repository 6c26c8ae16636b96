/* Reads and writes safetensors files, which PyTorch opens without running code from them. A file
 * has 8 bytes with the length of its header (little-endian), the header as JSON, and the tensors'
 * bytes in C order.
 *
 *   {"__metadata__":{"key":"text"},
 *    "fc.weight":{"dtype":"F32","shape":[10,784],"data_offsets":[0,31360]}, ...}
 *
 * Reading is strict: the header must account for every byte of the file. A truncated file is
 * rejected with the offset of the missing data. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "bench/base/file_map.h"
#include "kernels/base/error.h"

#define SAFETENSORS_DIMS_MAX 8

struct safetensors_tensor {
    const char *name;  /* borrowed from the caller of safetensors_write, or from the open file */
    const char *dtype; /* type of the numbers, such as "F32", "F64" or "U8" */
    int n_dims;
    size_t dims[SAFETENSORS_DIMS_MAX];
    const void *data; /* numbers of the tensor; borrowed; may be unaligned in an open file */
    size_t bytes;     /* size of `data`, set by safetensors_open; safetensors_write ignores it */
};

/* An open file, mapped into memory. Tensors are sorted by the offset of their data. */
struct safetensors {
    char path[512];
    struct file_map map;
    size_t data_offset; /* offset of the first byte after the header */
    json_t *header;
    const json_t *metadata; /* JSON object of strings, part of the header; NULL: none */
    struct safetensors_tensor *tensors;
    size_t n;
};

/* Checks that safetensors_write will be able to write `path`. If not: ERR_ARGUMENT with the message
 * "OPTION: FILE cannot be written: REASON". `option`: name of the option that sets `path`. */
enum status safetensors_check(const char *option, const char *path, struct error *e);

/* Writes `n` tensors with distinct names, and `metadata`, an object of strings (NULL: none). FILE
 * is `path` or, if `path` is a symbolic link, the file that the link leads to. Writes FILE.tmp and
 * renames it to FILE once it is complete and on disk. Removes FILE.tmp after an error. Errors:
 * ERR_ARGUMENT if FILE exists and is not a regular file, the path is too long, a name occurs twice,
 * or a name is not UTF-8; ERR_MEMORY; ERR_SYSTEM. */
enum status safetensors_write(const char *path, const struct safetensors_tensor *tensors, size_t n,
                              const json_t *metadata, struct error *e);

/* Opens and checks a file. Call safetensors_close even after an error. Errors: ERR_DATA if the file
 * cannot be read or its format is wrong; ERR_ARGUMENT if `path` is too long; ERR_MEMORY. */
enum status safetensors_open(struct safetensors *file, const char *path, struct error *e);
void safetensors_close(struct safetensors *file);

/* Returns the tensor called `name`, or NULL. */
const struct safetensors_tensor *safetensors_find(const struct safetensors *file, const char *name);

/* Returns the string of a key in the metadata, or NULL. */
const char *safetensors_text(const struct safetensors *file, const char *key);

/* Writes a tensor's type and shape, such as "F32 [10,784]". Returns `text`. */
char *safetensors_type_text(char text[128], const struct safetensors_tensor *tensor);

/* Returns the size in bytes of one number of type `dtype`; 0 if the format does not have the
 * type. */
size_t safetensors_type_bytes(const char *dtype);
