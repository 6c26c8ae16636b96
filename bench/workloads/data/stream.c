#include "bench/workloads/data/stream.h"

#include <limits.h>
#include <string.h>

bool name_ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

enum status stream_open(struct stream *s, const char *path, struct error *e)
{
    *s = (struct stream){.path = path, .gzip = name_ends_with(path, ".gz")};
    return file_map_open(&s->file, path, e);
}

static void stream_stop(struct stream *s)
{
    if (s->started && s->gzip)
        inflateEnd(&s->z);
    s->started = false;
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
    s->ended = false;
    s->z = (z_stream){0};
    if (s->gzip && inflateInit2(&s->z, 16 + MAX_WBITS) != Z_OK)
        return error_no_memory(e, "decompressing a file");
    s->started = true;
    return OK;
}

/* ---- Gzip ---- */

/* Where zlib is in the file. Members follow one another, as some packers write them. */
static size_t gzip_offset(const struct stream *s)
{
    return s->fed - s->z.avail_in;
}

/* Hands zlib the next piece; its counters hold 32 bits. */
static void gzip_feed(struct stream *s)
{
    size_t rest = s->file.n - s->fed;
    if (s->z.avail_in > 0 || rest == 0)
        return;
    s->z.next_in = (Bytef *)(uintptr_t)(s->file.bytes + s->fed);
    s->z.avail_in = (uInt)(rest < INT_MAX ? rest : INT_MAX);
    s->fed += s->z.avail_in;
}

/* What follows a member: nothing, another one, or something that does not belong here. */
static enum status gzip_next_member(struct stream *s, struct error *e)
{
    size_t offset = gzip_offset(s), rest = s->file.n - offset;
    const uint8_t *next = s->file.bytes + offset;
    if (rest == 0) {
        s->ended = true;
        return OK;
    }
    if (rest >= 2 && next[0] == 0x1f && next[1] == 0x8b && inflateReset(&s->z) == Z_OK)
        return OK;
    return error_at(e, ERR_DATA, s->path, 0, 0, "byte %zu: %zu trailing bytes after the gzip data",
                    offset, rest);
}

/* `size` fits zlib's counter. */
static enum status gzip_read(struct stream *s, uint8_t *out, size_t size, size_t *n,
                             struct error *e)
{
    s->z.next_out = out;
    s->z.avail_out = (uInt)size;
    enum status status = OK;
    while (status == OK && !s->ended && s->z.avail_out > 0) {
        gzip_feed(s);
        int result = inflate(&s->z, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            status = gzip_next_member(s, e);
        else if (result == Z_BUF_ERROR)
            status = error_at(e, ERR_DATA, s->path, 0, 0,
                              "byte %zu: the file ends before its gzip data does", s->file.n);
        else if (result != Z_OK)
            status = error_at(e, ERR_DATA, s->path, 0, 0, "byte %zu: corrupt gzip data: %s",
                              gzip_offset(s), s->z.msg != NULL ? s->z.msg : zError(result));
    }
    *n = size - s->z.avail_out;
    return status;
}

/* ---- Both ---- */

static size_t plain_read(struct stream *s, uint8_t *out, size_t size)
{
    size_t rest = s->file.n - s->fed, n = size < rest ? size : rest;
    memcpy(out, s->file.bytes + s->fed, n);
    s->fed += n;
    return n;
}

enum status stream_read(struct stream *s, void *out, size_t size, size_t *n, struct error *e)
{
    enum status status = OK;
    if (s->gzip)
        status = gzip_read(s, out, size, n, e);
    else
        *n = plain_read(s, out, size);
    s->read += *n;
    return status;
}
