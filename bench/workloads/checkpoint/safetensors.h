/* Files in the safetensors format, which PyTorch's users open without running code: 8 bytes with
 * the length of a header (little-endian), the header as JSON, the tensors' bytes in C order.
 *
 *   {"__metadata__":{"key":"text"},
 *    "fc.weight":{"dtype":"F32","shape":[10,784],"data_offsets":[0,31360]}, ...}
 *
 * Reading is strict: what lies in the file is named by the header to the last byte, no more, no
 * less, and a file that was cut anywhere is refused with the offset at which something is
 * missing. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "bench/base/file_map.h"
#include "kernels/base/error.h"

#define SAFETENSORS_DIMS_MAX 8

struct safetensors_tensor {
    const char *name;  /* borrowed: from the caller of write, or from the open file */
    const char *dtype; /* "F32", "F64", "U8" ... */
    int n_dims;
    size_t dims[SAFETENSORS_DIMS_MAX];
    const void *data; /* borrowed; in an open file at any alignment */
    size_t bytes;     /* set by open; write computes them from dtype and dims */
};

/* An open file, mapped. Tensors lie in the order of their data. */
struct safetensors {
    char path[512];
    struct file_map map;
    size_t data_offset; /* of the first byte after the header */
    json_t *header;
    const json_t *metadata; /* an object of texts, or NULL; part of the header */
    struct safetensors_tensor *tensors;
    size_t n;
};

/* Whether safetensors_write will find its file writable; ERR_ARGUMENT names the option that gave
 * the path, and what is there if that is no regular file. */
enum status safetensors_check(const char *option, const char *path, struct error *e);

/* Writes `n` tensors of different names and, unless NULL, the metadata (an object of texts). The
 * file appears under its name whole and on the disk, or not at all: it is written as `path`.tmp,
 * synchronised, renamed, and the folder synchronised. ERR_SYSTEM, and no .tmp left, when that
 * fails. A symbolic link stays, the file it leads to is replaced. ERR_ARGUMENT where something else
 * than a file is, for two tensors of one name or a name that is not UTF-8. */
enum status safetensors_write(const char *path, const struct safetensors_tensor *tensors, size_t n,
                              const json_t *metadata, struct error *e);

/* ERR_SYSTEM when the file cannot be read, ERR_DATA with file, offset and what was expected when it
 * is not what the format says. Closed with safetensors_close, also after an error. */
enum status safetensors_open(struct safetensors *file, const char *path, struct error *e);
void safetensors_close(struct safetensors *file);

/* By name, or NULL. */
const struct safetensors_tensor *safetensors_find(const struct safetensors *file, const char *name);

/* A text of the metadata, or NULL. */
const char *safetensors_text(const struct safetensors *file, const char *key);

/* "F32 [10,784]" into text; returns text. */
char *safetensors_type_text(char text[128], const struct safetensors_tensor *tensor);

/* Bytes of one number of the type, 0 for a name that the format does not have. */
size_t safetensors_type_bytes(const char *dtype);
