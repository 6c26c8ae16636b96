/* Reads a file as a stream of bytes. Gzip contents are decompressed, whatever the file's name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"

/* Maximum number of gzip layers. Some files are compressed twice. */
#define STREAM_LAYERS 2

/* One layer of gzip. Its input comes from the file or from the layer around it. */
struct gzip_layer {
    z_stream z;
    bool started, ended;
    size_t fed; /* compressed bytes passed to zlib so far */
    uint8_t in[16384];
};

struct stream {
    const char *path; /* file name, borrowed from the caller */
    struct file_map file;
    struct gzip_layer layers[STREAM_LAYERS]; /* outermost layer first */
    int n_layers;  /* number of gzip layers in the file; 0: not compressed */
    size_t fed;    /* bytes of the file consumed so far, before decompression */
    uint64_t read; /* decompressed bytes returned so far */
};

/* Maps the file and finds its gzip layers. ERR_DATA if there are more than STREAM_LAYERS, or if the
 * contents are a web page or another known format instead of `format`. Call stream_close even after
 * an error. */
enum status stream_open(struct stream *s, const char *path, const char *format, struct error *e);
void stream_close(struct stream *s);

/* Rewinds to the first byte. Call it before the first read, and to read the file again. */
enum status stream_start(struct stream *s, struct error *e);

/* Reads `size` bytes into `out`, or fewer at the end of the data, and sets *n to the number read.
 * ERR_DATA, with the byte offset, for corrupt or truncated gzip data and for trailing bytes. */
enum status stream_read(struct stream *s, void *out, size_t size, size_t *n, struct error *e);
