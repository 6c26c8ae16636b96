#include "bench/workloads/data/idx.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/workloads/data/stream.h"
#include "kernels/base/mem.h"

#define MAGIC_BYTES 0x00000800u /* unsigned bytes; the low byte is the number of dimensions */
#define CHUNK_BYTES 65536
/* Largest image whose channels are moved, in bytes: a damaged header cannot ask for more. */
#define TURNED_MAX (64 << 20)

/* ---- Header ---- */

/* Bytes before the data, which is also the offset of label or image 0. */
static size_t header_bytes(int n_dims)
{
    return 4 + 4 * (size_t)n_dims;
}

static uint32_t big_endian(const uint8_t b[4])
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Bytes of the whole file. Cannot overflow: 2^32 images of 3 * IDX_SIDE_MAX^2 bytes are below 2^64. */
static uint64_t expected_bytes(const struct idx_file *file)
{
    uint64_t bytes = 1;
    for (int d = 0; d < file->n_dims; d++)
        bytes *= file->dims[d];
    return header_bytes(file->n_dims) + bytes;
}

/* What a file of so many dimensions holds; NULL: neither. */
static const char *contents_of(uint32_t n_dims)
{
    return n_dims == 1 ? "labels" : n_dims == 3 || n_dims == 4 ? "images" : NULL;
}

static enum status error_magic(const struct idx_file *file, uint32_t magic, struct error *e)
{
    uint32_t wanted = MAGIC_BYTES | (uint32_t)file->n_dims;
    const char *found = contents_of(magic ^ MAGIC_BYTES);
    if (found != NULL)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "byte 0: holds %s, expected %s; is it swapped with %s?", found,
                        contents_of((uint32_t)file->n_dims), file->partner);
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "byte 0: magic number 0x%08" PRIx32 ", expected 0x%08" PRIx32
                    " (unsigned bytes, %d dimension%s)",
                    magic, wanted, file->n_dims, file->n_dims == 1 ? "" : "s");
}

static bool are_channels(uint32_t n)
{
    return n == 1 || n == 3;
}

static enum status find_channels(struct idx_file *file, struct error *e)
{
    const uint32_t *dims = file->dims;
    bool first = file->n_dims == 4 && are_channels(dims[1]);
    file->channels_last = file->n_dims == 4 && !first;
    file->channels = file->n_dims < 4 ? 1 : first ? dims[1] : dims[3];
    file->rows = dims[first ? 2 : 1];
    file->columns = dims[first ? 3 : 2];
    if (!are_channels(file->channels))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "byte 8: images of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                        ", expected 3 colours or 1 as the first or the last of these: write the "
                        "array as [N, 3, H, W] or [N, H, W, 3]",
                        dims[1], dims[2], dims[3]);
    if (file->channels_last && (uint64_t)file->rows * file->columns * file->channels > TURNED_MAX)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "byte 8: images of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                        ", expected at most %d bytes each where the colours are the last "
                        "dimension: write the array as [N, 3, H, W]",
                        dims[1], dims[2], dims[3], TURNED_MAX);
    return OK;
}

/* Reads the header out of the `n` first bytes, decompressed, of file->path. */
static enum status read_header(struct idx_file *file, const uint8_t *bytes, size_t n,
                               struct error *e)
{
    if (n >= 4 && file->n_dims == 3 && big_endian(bytes) == (MAGIC_BYTES | 4))
        file->n_dims = 4;
    size_t header = header_bytes(file->n_dims);
    if (n >= 4 && big_endian(bytes) != (MAGIC_BYTES | (uint32_t)file->n_dims))
        return error_magic(file, big_endian(bytes), e);
    if (n < header)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "truncated: a header of %zu bytes expected, %zu found", header, n);
    for (int d = 0; d < file->n_dims; d++) {
        uint32_t most = d == 0 ? UINT32_MAX : IDX_SIDE_MAX;
        file->dims[d] = big_endian(bytes + 4 + 4 * d);
        if (file->dims[d] < 1 || file->dims[d] > most)
            return error_at(e, ERR_DATA, file->path, 0, 0,
                            "byte %d: dimension %d is %" PRIu32 ", expected 1 to %" PRIu32,
                            4 + 4 * d, d + 1, file->dims[d], most);
    }
    return find_channels(file, e);
}

static char *describe_size(char *text, size_t size, const struct idx_file *file)
{
    int used = snprintf(text, size, "%" PRIu64 " bytes expected (%zu", expected_bytes(file),
                        header_bytes(file->n_dims));
    for (int d = 0; d < file->n_dims; d++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRIu32, d ? " x " : " + ",
                         file->dims[d]);
    snprintf(text + used, size - (size_t)used, ")");
    return text;
}

static enum status error_truncated(const struct idx_file *file, uint64_t found, struct error *e)
{
    char expected[128];
    return error_at(e, ERR_DATA, file->path, 0, 0, "truncated: %s, %" PRIu64 " found",
                    describe_size(expected, sizeof expected, file), found);
}

static enum status error_overlong(const struct idx_file *file, const char *found, struct error *e)
{
    char expected[128];
    return error_at(e, ERR_DATA, file->path, 0, 0, "byte %" PRIu64 ": trailing bytes: %s, %s found",
                    expected_bytes(file), describe_size(expected, sizeof expected, file), found);
}

/* ---- Into the cache ---- */

/* A file on its way into the cache: gzip, or images with channels last. */
struct inflation {
    struct idx_file file;
    struct stream stream;
};

/* Decompresses everything to `sink`, refusing at once what is longer than its header says. */
static enum status inflation_run(struct inflation *in, uint8_t *chunk, int sink, struct error *e)
{
    uint64_t written = 0, expected = 0;
    size_t n = CHUNK_BYTES;
    while (n == CHUNK_BYTES) {
        TRY(stream_read(&in->stream, chunk, CHUNK_BYTES, &n, e));
        if (written == 0) {
            TRY(read_header(&in->file, chunk, n, e));
            expected = expected_bytes(&in->file);
        }
        if (n > expected - written)
            return error_overlong(&in->file, "more", e);
        TRY(cache_write(sink, chunk, n, e));
        written += n;
    }
    return written < expected ? error_truncated(&in->file, written, e) : OK;
}

/* [rows, columns, channels] to [channels, rows, columns]. */
static void move_channels(uint8_t *to, const uint8_t *from, size_t pixels, size_t channels)
{
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++)
            to[c * pixels + i] = from[i * channels + c];
}

/* As inflation_run, image by image. The header stays as it is; `from` and `to` have room for an image. */
static enum status inflation_turn(struct inflation *in, uint8_t *from, uint8_t *to, int sink,
                                  struct error *e)
{
    uint8_t head[4 + 4 * IDX_DIMS_MAX];
    size_t n, pixels = (size_t)in->file.rows * in->file.columns;
    size_t image = pixels * in->file.channels;
    TRY(stream_read(&in->stream, head, header_bytes(in->file.n_dims), &n, e));
    TRY(cache_write(sink, head, n, e));
    for (uint32_t i = 0; i < in->file.dims[0]; i++) {
        TRY(stream_read(&in->stream, from, image, &n, e));
        if (n < image)
            return error_truncated(&in->file, in->stream.read, e);
        move_channels(to, from, pixels, in->file.channels);
        TRY(cache_write(sink, to, image, e));
    }
    TRY(stream_read(&in->stream, head, 1, &n, e));
    return n > 0 ? error_overlong(&in->file, "more", e) : OK;
}

static enum status fill_from(struct inflation *in, int sink, struct error *e)
{
    uint8_t head[4 + 4 * IDX_DIMS_MAX], *room;
    size_t n;
    TRY(stream_read(&in->stream, head, sizeof head, &n, e));
    TRY(read_header(&in->file, head, n, e));
    size_t image = (size_t)in->file.rows * in->file.columns * in->file.channels;
    TRY(MEM_NEW(room, in->file.channels_last ? 2 * image : CHUNK_BYTES, "reading a file", e));
    enum status status = stream_start(&in->stream, e);
    if (in->file.channels_last)
        THEN(status, inflation_turn(in, room, room + image, sink, e));
    else
        THEN(status, inflation_run(in, room, sink, e));
    free(room);
    return status;
}

static enum status inflation_fill(void *arg, int sink, struct error *e)
{
    struct inflation *in = arg;
    TRY(stream_start(&in->stream, e));
    return fill_from(in, sink, e);
}

/* All that the decompressed bytes depend on. */
static enum status make_key(char key[CACHE_KEY_MAX], const char *set, const char *path,
                            struct error *e)
{
    struct stat s;
    char *real = realpath(path, NULL);
    if (real == NULL || stat(real, &s) != 0) {
        free(real);
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be read: %s", strerror(errno));
    }
    int length = snprintf(key, CACHE_KEY_MAX, "%s size=%jd mtime=%jd.%09ld %s", set,
                          (intmax_t)s.st_size, (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, real);
    free(real);
    if (length >= CACHE_KEY_MAX)
        return error_at(e, ERR_DATA, path, 0, 0, "the path is longer than %d bytes",
                        CACHE_KEY_MAX - 128);
    return OK;
}

/* Through the cache, where the entry is called as the file without its ".gz". */
static enum status open_cached(struct idx_file *file, const char *set, struct inflation *in,
                               struct error *e)
{
    char key[CACHE_KEY_MAX], name[128];
    const char *slash = strrchr(file->path, '/'), *base = slash != NULL ? slash + 1 : file->path;
    const char *end = strrchr(base, '.');
    int length = end != NULL && strcmp(end, ".gz") == 0 ? (int)(end - base) : NAME_MAX;
    snprintf(name, sizeof name, "%s-%.*s", set, length, base);
    TRY(make_key(key, set, file->path, e));
    return cache_open(&file->map, name, key, inflation_fill, in, e);
}

/* ---- Both ---- */

static enum status check_size(const struct idx_file *file, struct error *e)
{
    char found[32];
    uint64_t expected = expected_bytes(file);
    snprintf(found, sizeof found, "%zu", file->map.n);
    if (file->map.n < expected)
        return error_truncated(file, file->map.n, e);
    return file->map.n > expected ? error_overlong(file, found, e) : OK;
}

static enum status open_stream(struct idx_file *file, const char *set, struct inflation *in,
                               struct error *e)
{
    TRY(stream_open(&in->stream, file->path, "IDX", e));
    if (in->stream.n_layers == 0)
        TRY(read_header(file, in->stream.file.bytes, in->stream.file.n, e));
    if (in->stream.n_layers > 0 || file->channels_last)
        return open_cached(file, set, in, e);
    file->map = in->stream.file;
    in->stream.file = (struct file_map){0};
    return OK;
}

enum status idx_open(struct idx_file *file, const char *set, const char *path, const char *partner,
                     int n_dims, struct error *e)
{
    *file = (struct idx_file){.path = path, .partner = partner, .n_dims = n_dims};
    struct inflation in = {.file = *file};
    enum status status = open_stream(file, set, &in, e);
    stream_close(&in.stream);
    THEN(status, read_header(file, file->map.bytes, file->map.n, e));
    THEN(status, check_size(file, e));
    if (status == OK)
        file->bytes = file->map.bytes + header_bytes(file->n_dims);
    else
        idx_close(file);
    return status;
}

void idx_close(struct idx_file *file)
{
    file_map_close(&file->map);
    file->bytes = NULL;
}
