/* A file that holds one array of images or labels: a header of its format, then numbers in C order. Plain or gzip. A
 * format is a table, in idx.c or npy.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"

#define ARRAY_DIMS_MAX 4
/* Longest row or column of an image. */
#define ARRAY_SIDE_MAX 32767
/* Longest header of any format, in bytes. */
#define ARRAY_HEADER_MAX 4096

/* The numbers of a file, which are bytes or become bytes in the cache. */
struct array_items {
    int bytes; /* of a number */
    bool is_signed, big_endian;
};

/* A file of unsigned bytes inside `map`: labels [N], or images [N, channels, rows, columns]. A file of images has the
 * dimensions [N, rows, columns], [N, channels, rows, columns] or [N, rows, columns, channels], channels being 1 or 3. */
struct array_file {
    const struct array_format *format;
    const char *path, *partner;
    bool is_images;
    int n_dims;
    uint64_t dims[ARRAY_DIMS_MAX];
    uint32_t channels, rows, columns; /* of images */
    bool channels_last;               /* in the file at `path`; not at `bytes` */
    struct array_items items; /* in the file at `path`; at `bytes` they are unsigned bytes */
    size_t header_bytes;
    const uint8_t *bytes;
    struct file_map map;
};

struct array_format {
    const char *name;
    /* Sets n_dims, dims, items and header_bytes from the `n` first bytes of the contents. ERR_DATA for a header that
     * is not one of this format, or whose numbers are not those of images or labels. */
    enum status (*read_header)(struct array_file *file, const uint8_t *bytes, size_t n,
                               struct error *e);
};

/* The format of the MNIST files: two zero bytes, a type (8 is unsigned bytes), the number of dimensions, each dimension
 * as a big-endian 32-bit number, then the bytes. Format: http://yann.lecun.com/exdb/mnist. */
extern const struct array_format array_format_idx;
/* What numpy.save writes, versions 1 to 3: numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Images are
 * uint8, labels any integers of 0 to 255. */
extern const struct array_format array_format_npy;

/* Opens the file at `path` (borrowed), which must hold images or, without `is_images`, labels. Plain files of bytes are
 * mapped where they lie. Gzip, images with channels last and labels that are not bytes come through the cache under
 * the name of data set `set`. A file that is not exactly what its header states is ERR_DATA; where it holds labels in
 * place of images, or images in place of labels, the error asks whether it is swapped with `partner`, the other file
 * of the pair. */
enum status array_open(struct array_file *file, const struct array_format *format, const char *set,
                       const char *path, const char *partner, bool is_images, struct error *e);
void array_close(struct array_file *file);

/* A number of n bytes, at most 8. */
uint64_t array_number(const uint8_t *from, int n, bool big_endian);

/* The error of a file with `found` bytes of a header of `expected`. */
enum status array_error_header_cut(const struct array_file *file, size_t expected, size_t found,
                                   struct error *e);

/* The error of a file of labels in place of images, or of images in place of labels. `at` is where its header says so. */
enum status array_error_swapped(const struct array_file *file, const char *at, struct error *e);
