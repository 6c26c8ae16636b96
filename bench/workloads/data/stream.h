/* A file as a stream of bytes, decompressed on the way when its name ends in ".gz". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"

struct stream {
    const char *path; /* borrowed */
    struct file_map file;
    bool gzip, started, ended;
    z_stream z;
    size_t fed;    /* bytes of the file handed out, or to zlib */
    uint64_t read; /* bytes handed out since the start */
};

/* Maps the file. */
enum status stream_open(struct stream *s, const char *path, struct error *e);
void stream_close(struct stream *s);

/* Goes to the first byte; before the first read, and whenever it is to be read again. */
enum status stream_start(struct stream *s, struct error *e);

/* Fills `out` with `size` bytes; *n is less only at the end. Corrupt gzip, gzip that ends too early
 * and what follows it are ERR_DATA with the byte's place in the file. */
enum status stream_read(struct stream *s, void *out, size_t size, size_t *n, struct error *e);

bool name_ends_with(const char *name, const char *end);
