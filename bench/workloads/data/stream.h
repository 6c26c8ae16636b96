/* A file as a stream of bytes, decompressed on the way where its contents are gzip, whatever its name says. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"

#define STREAM_LAYERS 2 /* of gzip: people compress what is compressed already, but not twice */

/* One layer of gzip, and the bytes that it reads: from the file, or from the layer around it. */
struct gzip_layer {
    z_stream z;
    bool started, ended;
    size_t fed; /* bytes given to zlib */
    uint8_t in[16384];
};

struct stream {
    const char *path; /* borrowed */
    struct file_map file;
    struct gzip_layer layers[STREAM_LAYERS]; /* the outermost first */
    int n_layers;                            /* of these the file has; 0: it is not compressed */
    size_t fed;                              /* bytes of the file handed out, or to a layer */
    uint64_t read;                           /* bytes handed out since the start */
};

/* Maps the file and finds its layers of gzip. ERR_DATA where there are more than STREAM_LAYERS, and where the contents
 * begin as a web page or the like does: the error says that they are not `format`. Closed with stream_close, also
 * after an error. */
enum status stream_open(struct stream *s, const char *path, const char *format, struct error *e);
void stream_close(struct stream *s);

/* Goes to the first byte; before the first read, and whenever it is to be read again. */
enum status stream_start(struct stream *s, struct error *e);

/* Fills `out` with `size` bytes; *n is less only at the end. Corrupt gzip, gzip that ends too early
 * and what follows it are ERR_DATA with the byte's place in the file, or in the gzip data inside. */
enum status stream_read(struct stream *s, void *out, size_t size, size_t *n, struct error *e);
