#include "bench/workloads/data/stream.h"

#include <string.h>

#include "bench/base/file.h"

static void stream_stop(struct stream *s)
{
    for (int i = 0; i < STREAM_LAYERS; i++) {
        if (s->layers[i].started)
            inflateEnd(&s->layers[i].z);
        s->layers[i].started = false;
    }
}

void stream_close(struct stream *s)
{
    stream_stop(s);
    file_map_close(&s->file);
}

enum status stream_start(struct stream *s, struct error *e)
{
    stream_stop(s);
    s->fed = 0;
    s->read = 0;
    for (int i = 0; i < s->n_layers; i++) {
        struct gzip_layer *layer = &s->layers[i];
        layer->z = (z_stream){0};
        layer->ended = false;
        layer->fed = 0;
        if (inflateInit2(&layer->z, 16 + MAX_WBITS) != Z_OK)
            return error_no_memory(e, "decompressing a file");
        layer->started = true;
    }
    return OK;
}

/* Reads the next `size` bytes, or fewer at the end, of the file decompressed `depth` times (0: raw
 * bytes). Sets *n to the number of bytes read. */
static enum status read_behind(struct stream *s, int depth, uint8_t *out, size_t size, size_t *n,
                               struct error *e);

/* ---- Gzip ---- */

static bool is_gzip(const uint8_t *bytes, size_t n)
{
    return n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* Makes an error for invalid gzip data, with the offset of the byte that zlib has reached. `i`:
 * layer of compression, 0 for the outer gzip data, 1 for gzip data inside it. */
static enum status refuse(const struct stream *s, int i, const char *what, const char *why,
                          struct error *e)
{
    const struct gzip_layer *layer = &s->layers[i];
    return error_at(e, ERR_DATA, s->path, 0, 0, "byte %zu%s: %s%s", layer->fed - layer->z.avail_in,
                    i > 0 ? " of the gzip data inside the outer gzip data" : "", what, why);
}

/* Refills zlib's input buffer if it is empty. */
static enum status gzip_feed(struct stream *s, int i, struct error *e)
{
    struct gzip_layer *layer = &s->layers[i];
    size_t n;
    if (layer->z.avail_in > 0)
        return OK;
    TRY(read_behind(s, i, layer->in, sizeof layer->in, &n, e));
    layer->z.next_in = layer->in;
    layer->z.avail_in = (uInt)n;
    layer->fed += n;
    return OK;
}

/* Handles the end of a gzip member. Sets `ended` at the end of the data, or begins the next member
 * (some programs write several). Rejects other trailing bytes. */
static enum status gzip_next_member(struct stream *s, int i, struct error *e)
{
    struct gzip_layer *layer = &s->layers[i];
    TRY(gzip_feed(s, i, e));
    layer->ended = layer->z.avail_in == 0;
    if (layer->ended || (layer->z.next_in[0] == 0x1f && inflateReset(&layer->z) == Z_OK))
        return OK;
    return refuse(s, i, "trailing bytes after the gzip data", "", e);
}

static enum status gzip_step(struct stream *s, int i, struct error *e)
{
    struct gzip_layer *layer = &s->layers[i];
    TRY(gzip_feed(s, i, e));
    int result = inflate(&layer->z, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
        return gzip_next_member(s, i, e);
    if (result == Z_BUF_ERROR)
        return refuse(s, i, "truncated gzip data: the file ends too early", "", e);
    return result == Z_OK ? OK
                          : refuse(s, i, "corrupt gzip data: ",
                                   layer->z.msg != NULL ? layer->z.msg : zError(result), e);
}

/* Reads `size` bytes from gzip layer `i`, or fewer at the end of its data. `size` must fit zlib's
 * 32-bit counter. */
static enum status gzip_read(struct stream *s, int i, uint8_t *out, size_t size, size_t *n,
                             struct error *e)
{
    struct gzip_layer *layer = &s->layers[i];
    layer->z.next_out = out;
    layer->z.avail_out = (uInt)size;
    while (!layer->ended && layer->z.avail_out > 0)
        TRY(gzip_step(s, i, e));
    *n = size - layer->z.avail_out;
    return OK;
}

/* ---- Plain and gzip ---- */

static size_t plain_read(struct stream *s, uint8_t *out, size_t size)
{
    size_t rest = s->file.n - s->fed, n = size < rest ? size : rest;
    memcpy(out, s->file.bytes + s->fed, n);
    s->fed += n;
    return n;
}

static enum status read_behind(struct stream *s, int depth, uint8_t *out, size_t size, size_t *n,
                               struct error *e)
{
    if (depth > 0)
        return gzip_read(s, depth - 1, out, size, n, e);
    *n = plain_read(s, out, size);
    return OK;
}

enum status stream_read(struct stream *s, void *out, size_t size, size_t *n, struct error *e)
{
    *n = 0;
    TRY(read_behind(s, s->n_layers, out, size, n, e));
    s->read += *n;
    return OK;
}

/* Finds the gzip layers and sets s->n_layers. Reads the first decompressed bytes into `head`. */
static enum status find_layers(struct stream *s, uint8_t head[FILE_HEAD_BYTES], size_t *n,
                               struct error *e)
{
    for (s->n_layers = 0;; s->n_layers++) {
        TRY(stream_start(s, e));
        TRY(stream_read(s, head, FILE_HEAD_BYTES, n, e));
        if (!is_gzip(head, *n))
            return OK;
        if (s->n_layers == STREAM_LAYERS)
            return error_at(e, ERR_DATA, s->path, 0, 0,
                            "this file is compressed with gzip more than %d times. Decompress the "
                            "file with gunzip",
                            STREAM_LAYERS);
    }
}

enum status stream_open(struct stream *s, const char *path, const char *format, struct error *e)
{
    uint8_t head[FILE_HEAD_BYTES];
    size_t n;
    *s = (struct stream){.path = path};
    TRY(file_map_open(&s->file, path, e));
    TRY(find_layers(s, head, &n, e));
    return file_check_head(path, head, n, format, e);
}
