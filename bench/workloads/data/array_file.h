/* Reads a file with one array of images or labels: a header, then numbers in C order, plain or
 * compressed by gzip. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"

#define ARRAY_DIMS_MAX 4
/* Largest number of rows or columns of an image. */
#define ARRAY_SIDE_MAX 32767
/* Largest accepted header of any format, in bytes. Files with longer headers are rejected. */
#define ARRAY_HEADER_MAX 4096

/* Type of the numbers in a file. If they are not unsigned bytes, the cached copy stores them as
 * unsigned bytes. */
struct array_items {
    int bytes; /* bytes per number */
    bool is_signed, big_endian;
};

/* Open file. `bytes`: labels [N], or images [N, channels, rows, columns] with 1 or 3 channels.
 * `dims`: shape in the file. Images in the file are [N, rows, columns], [N, channels, rows,
 * columns] or [N, rows, columns, channels]. */
struct array_file {
    const struct array_format *format;
    const char *path, *partner;
    bool is_images;
    int n_dims;
    uint64_t dims[ARRAY_DIMS_MAX];
    uint32_t channels, rows, columns; /* size of an image */
    /* whether channels are the last dimension in the file; the data at `bytes` have channels
     * first */
    bool channels_last;
    struct array_items items; /* type of the file's numbers; after array_open, type of the converted
                                 numbers: unsigned bytes */
    size_t header_bytes;
    const uint8_t *bytes;
    struct file_map map;
};

struct array_format {
    const char *name;
    /* Reads the header from the first `n` decompressed bytes; sets n_dims, dims, items and
     * header_bytes. ERR_DATA if format, type or dimensions are not as expected. */
    enum status (*read_header)(struct array_file *file, const uint8_t *bytes, size_t n,
                               struct error *e);
};

/* Format of the MNIST files: two zero bytes, a type (8: unsigned bytes), the number of dimensions,
 * each dimension as a big-endian 32-bit number, then the bytes. See
 * http://yann.lecun.com/exdb/mnist. */
extern const struct array_format array_format_idx;
/* Format of numpy.save, versions 1 to 3:
 * numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Images are uint8; labels have any
 * integer type and values from 0 to 255. */
extern const struct array_format array_format_npy;

/* Opens the file at `path` (borrowed), which must hold images if `is_images`, else labels. Maps an
 * uncompressed file of unsigned bytes in place, unless channels come last. Converts other files
 * into a cache entry whose name begins with `set`. ERR_DATA if the header is invalid or does not
 * match the file size. `partner` (borrowed): other file of the pair, for messages. */
enum status array_open(struct array_file *file, const struct array_format *format, const char *set,
                       const char *path, const char *partner, bool is_images, struct error *e);
void array_close(struct array_file *file);

/* Returns the unsigned number in the n <= 8 bytes at `from`. */
uint64_t array_number(const uint8_t *from, int n, bool big_endian);

/* Makes the error for a truncated header: `found` bytes instead of `expected`. */
enum status array_error_header_cut(const struct array_file *file, size_t expected, size_t found,
                                   struct error *e);

/* Makes the error for labels where images are expected, or the reverse. `at`: place in the header
 * that shows the mistake, such as "byte 0". */
enum status array_error_swapped(const struct array_file *file, const char *at, struct error *e);
