/* The IDX format of the MNIST files: two zero bytes, a type (8 is unsigned bytes), the number of
 * dimensions, each dimension as a big-endian 32-bit number, then the bytes in C order. Plain or
 * gzip. Format: http://yann.lecun.com/exdb/mnist. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"

#define IDX_DIMS_MAX 4
/* Longest row or column of an image. */
#define IDX_SIDE_MAX 32767

/* A file of unsigned bytes inside `map`: labels [N], or images [N, channels, rows, columns]. A file of images has the
 * dimensions [N, rows, columns], [N, channels, rows, columns] or [N, rows, columns, channels], channels being 1 or 3. */
struct idx_file {
    const char *path, *partner;
    int n_dims;
    uint32_t dims[IDX_DIMS_MAX];
    uint32_t channels, rows, columns; /* of images */
    bool channels_last;               /* in the file at `path`; not at `bytes` */
    const uint8_t *bytes;
    struct file_map map;
};

/* Opens the file at `path` (borrowed), which must hold n_dims dimensions: 3 are images, also with channels as a
 * fourth, 1 are labels. Plain files are mapped where they lie. Gzip and images with channels last come through the
 * cache under the name of data set `set`. A file that is not exactly
 * what its header says is ERR_DATA; where it holds labels in place of images, or images in place of labels, the error
 * asks whether it is swapped with `partner`, the other file of the pair. */
enum status idx_open(struct idx_file *file, const char *set, const char *path, const char *partner,
                     int n_dims, struct error *e);
void idx_close(struct idx_file *file);
