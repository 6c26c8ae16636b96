#include "bench/workloads/data/array_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/workloads/data/stream.h"
#include "kernels/base/mem.h"

#define CHUNK_NUMBERS 65536
/* Largest image (bytes) whose channels are reordered. Limits the memory that a damaged header can
 * request. */
#define TURNED_MAX (64 << 20)

/* ---- Header ---- */

/* Returns the expected size of the whole file (bytes). The result cannot overflow: 2^32 images of 3
 * ARRAY_SIDE_MAX^2 bytes are below 2^64. */
static uint64_t expected_bytes(const struct array_file *file)
{
    uint64_t bytes = (uint64_t)file->items.bytes;
    for (int d = 0; d < file->n_dims; d++)
        bytes *= file->dims[d];
    return file->header_bytes + bytes;
}

enum status array_error_swapped(const struct array_file *file, const char *at, struct error *e)
{
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "%s: found %s, expected %s; is this file swapped with %s?", at,
                    file->is_images ? "labels" : "images", file->is_images ? "images" : "labels",
                    file->partner);
}

enum status array_error_header_cut(const struct array_file *file, size_t expected, size_t found,
                                   struct error *e)
{
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "truncated: expected a header of %zu bytes, found %zu", expected, found);
}

uint64_t array_number(const uint8_t *from, int n, bool big_endian)
{
    uint64_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 8 | from[big_endian ? i : n - 1 - i];
    return value;
}

static enum status check_dims(const struct array_file *file, struct error *e)
{
    for (int d = 0; d < file->n_dims; d++) {
        uint32_t most = d == 0 ? UINT32_MAX : ARRAY_SIDE_MAX;
        if (file->dims[d] < 1 || file->dims[d] > most)
            return error_at(e, ERR_DATA, file->path, 0, 0,
                            "dimension %d is %" PRIu64 ", expected 1 to %" PRIu32, d + 1,
                            file->dims[d], most);
    }
    return OK;
}

static bool are_channels(uint64_t n)
{
    return n == 1 || n == 3;
}

static enum status find_channels(struct array_file *file, struct error *e)
{
    const uint64_t *dims = file->dims;
    bool first = file->n_dims == 4 && are_channels(dims[1]);
    file->channels_last = file->n_dims == 4 && !first;
    file->channels = file->n_dims < 4 ? 1 : (uint32_t)(first ? dims[1] : dims[3]);
    file->rows = (uint32_t)dims[first ? 2 : 1];
    file->columns = (uint32_t)dims[first ? 3 : 2];
    if (!are_channels(file->channels))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "found images of %" PRIu64 " x %" PRIu64 " x %" PRIu64
                        "; expected 1 or 3 channels as the first or last dimension. Write the "
                        "array as [N, 3, H, W] or [N, H, W, 3]",
                        dims[1], dims[2], dims[3]);
    if (file->channels_last && (uint64_t)file->rows * file->columns * file->channels > TURNED_MAX)
        return error_at(
            e, ERR_DATA, file->path, 0, 0,
            "found images of %" PRIu64 " x %" PRIu64 " x %" PRIu64
            "; expected at most %d bytes per image if channels are the last dimension. Write the "
            "array with channels before rows and columns: [N, channels, H, W]",
            dims[1], dims[2], dims[3], TURNED_MAX);
    return OK;
}

/* Reads the header from the first `n` decompressed bytes of file->path. */
static enum status read_header(struct array_file *file, const uint8_t *bytes, size_t n,
                               struct error *e)
{
    TRY(file->format->read_header(file, bytes, n, e));
    TRY(check_dims(file, e));
    return file->is_images ? find_channels(file, e) : OK;
}

/* Returns whether the file's numbers must be converted to bytes, or its channels moved to the
 * front. */
static bool is_converted(const struct array_file *file)
{
    return file->channels_last || file->items.bytes > 1 || file->items.is_signed;
}

static char *describe_size(char *text, size_t size, const struct array_file *file)
{
    int used =
        snprintf(text, size, "%" PRIu64 " bytes (%zu", expected_bytes(file), file->header_bytes);
    for (int d = 0; d < file->n_dims; d++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRIu64, d ? " x " : " + ",
                         file->dims[d]);
    if (file->items.bytes > 1)
        used += snprintf(text + used, size - (size_t)used, " x %d", file->items.bytes);
    snprintf(text + used, size - (size_t)used, ")");
    return text;
}

static enum status error_truncated(const struct array_file *file, uint64_t found, struct error *e)
{
    char expected[128];
    return error_at(e, ERR_DATA, file->path, 0, 0, "truncated: expected %s, found %" PRIu64,
                    describe_size(expected, sizeof expected, file), found);
}

static enum status error_overlong(const struct array_file *file, const char *found, struct error *e)
{
    char expected[128];
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "byte %" PRIu64 ": trailing bytes; expected %s, found %s", expected_bytes(file),
                    describe_size(expected, sizeof expected, file), found);
}

/* ---- Conversion into the cache ---- */

/* A file whose contents are decompressed, converted or both, and written to the cache. */
struct inflation {
    struct array_file file;
    struct stream stream;
};

/* Reorders an image from [rows, columns, channels] to [channels, rows, columns]. */
static void move_channels(uint8_t *to, const uint8_t *from, size_t pixels, size_t channels)
{
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++)
            to[c * pixels + i] = from[i * channels + c];
}

/* Returns the number at `from`. A negative number is returned in two's complement (64 bits). */
static uint64_t read_item(const uint8_t *from, struct array_items items)
{
    uint64_t value = array_number(from, items.bytes, items.big_endian);
    bool negative = items.is_signed && value >> (8 * items.bytes - 1);
    return negative && items.bytes < 8 ? value | UINT64_MAX << 8 * items.bytes : value;
}

static enum status error_label(const struct array_file *file, uint64_t i, uint64_t value,
                               struct error *e)
{
    char text[24];
    snprintf(text, sizeof text, file->items.is_signed ? "%" PRId64 : "%" PRIu64, value);
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "label %" PRIu64 " is %s, expected 0 to 255. Number the classes from 0", i,
                    text);
}

/* Converts the `n` labels at `from` to bytes. ERR_DATA if a label is outside 0 to 255. `first`:
 * index of the label at `from` in the file. */
static enum status narrow_labels(const struct array_file *file, uint8_t *to, const uint8_t *from,
                                 uint64_t first, size_t n, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = read_item(from + i * (size_t)file->items.bytes, file->items);
        if (value > UINT8_MAX)
            return error_label(file, first + i, value, e);
        to[i] = (uint8_t)value;
    }
    return OK;
}

/* Returns how many bytes of file->bytes one sample fills: one byte per number, whatever the number
 * type in the file. */
static size_t sample_bytes(const struct array_file *file)
{
    return file->is_images ? (size_t)file->channels * file->rows * file->columns : 1;
}

/* Returns how many numbers are converted at once: all numbers of an image if channels are
 * reordered, otherwise CHUNK_NUMBERS. */
static size_t numbers_at_once(const struct array_file *file)
{
    return file->channels_last ? sample_bytes(file) : CHUNK_NUMBERS;
}

/* Converts the `n` numbers at `from` to bytes at `to`, with channels first. ERR_DATA if a label is
 * outside 0 to 255. `first`: index in the file of the number at `from`, for this error's
 * message. */
static enum status convert(const struct array_file *file, uint8_t *to, const uint8_t *from,
                           uint64_t first, size_t n, struct error *e)
{
    if (!file->is_images)
        return narrow_labels(file, to, from, first, n, e);
    if (file->channels_last)
        move_channels(to, from, n / file->channels, file->channels);
    else
        memcpy(to, from, n);
    return OK;
}

/* Writes the header to `sink`, then all numbers as bytes. ERR_DATA if the file is truncated or has
 * trailing bytes, or if a label is outside 0 to 255. `from`: buffer for the header, or for
 * numbers_at_once(file) numbers as stored in the file. `to`: buffer of numbers_at_once(file)
 * bytes. */
static enum status inflation_copy(struct inflation *in, uint8_t *from, uint8_t *to, int sink,
                                  struct error *e)
{
    const struct array_file *file = &in->file;
    uint64_t numbers = file->dims[0] * sample_bytes(file);
    size_t step = numbers_at_once(file), n;
    TRY(stream_read(&in->stream, from, file->header_bytes, &n, e));
    TRY(cache_write(sink, from, n, e));
    for (uint64_t i = 0; i < numbers; i += step) {
        size_t some = numbers - i < step ? (size_t)(numbers - i) : step;
        size_t bytes = some * (size_t)file->items.bytes;
        TRY(stream_read(&in->stream, from, bytes, &n, e));
        if (n < bytes)
            return error_truncated(file, in->stream.read, e);
        TRY(convert(file, to, from, i, some, e));
        TRY(cache_write(sink, to, some, e));
    }
    TRY(stream_read(&in->stream, from, 1, &n, e));
    return n > 0 ? error_overlong(file, "more", e) : OK;
}

static enum status inflation_fill(void *arg, int sink, struct error *e)
{
    struct inflation *in = arg;
    uint8_t head[ARRAY_HEADER_MAX], *room;
    size_t n;
    TRY(stream_start(&in->stream, e));
    TRY(stream_read(&in->stream, head, sizeof head, &n, e));
    TRY(read_header(&in->file, head, n, e));
    size_t to = numbers_at_once(&in->file);
    size_t from = to * (size_t)in->file.items.bytes + ARRAY_HEADER_MAX;
    TRY(MEM_NEW(room, from + to, "reading a file", e));
    enum status status = stream_start(&in->stream, e);
    THEN(status, inflation_copy(in, room, room + from, sink, e));
    free(room);
    return status;
}

/* Makes a cache key from `set` and the file's resolved path, size and modification time. */
static enum status make_key(char key[CACHE_KEY_MAX], const char *set, const char *path,
                            struct error *e)
{
    char *real = realpath(path, NULL);
    snprintf(key, CACHE_KEY_MAX, "%s", set);
    enum status status = cache_add_to_key(key, real != NULL ? real : "", path, e);
    free(real);
    return status;
}

/* Maps the cached copy of the file, and makes the copy first if needed. The copy is named
 * SET-NAME-HASH.cache. SET is `set`, and NAME is the file's name without ".gz". */
static enum status open_cached(struct array_file *file, const char *set, struct inflation *in,
                               struct error *e)
{
    char key[CACHE_KEY_MAX], name[128];
    const char *base = file_name(file->path), *end = strrchr(base, '.');
    int length = end != NULL && strcmp(end, ".gz") == 0 ? (int)(end - base) : NAME_MAX;
    snprintf(name, sizeof name, "%s-%.*s", set, length, base);
    TRY(make_key(key, set, file->path, e));
    return cache_open(&file->map, name, key, inflation_fill, in, e);
}

/* ---- Plain and cached files ---- */

static enum status check_size(const struct array_file *file, struct error *e)
{
    char found[32];
    uint64_t expected = expected_bytes(file);
    snprintf(found, sizeof found, "%zu", file->map.n);
    if (file->map.n < expected)
        return error_truncated(file, file->map.n, e);
    return file->map.n > expected ? error_overlong(file, found, e) : OK;
}

static enum status open_stream(struct array_file *file, const char *set, struct inflation *in,
                               struct error *e)
{
    TRY(stream_open(&in->stream, file->path, file->format->name, e));
    if (in->stream.n_layers == 0)
        TRY(read_header(file, in->stream.file.bytes, in->stream.file.n, e));
    if (in->stream.n_layers > 0 || is_converted(file))
        return open_cached(file, set, in, e);
    file->map = in->stream.file;
    in->stream.file = (struct file_map){0};
    return OK;
}

enum status array_open(struct array_file *file, const struct array_format *format, const char *set,
                       const char *path, const char *partner, bool is_images, struct error *e)
{
    *file = (struct array_file){
        .format = format, .path = path, .partner = partner, .is_images = is_images};
    struct inflation in = {.file = *file};
    enum status status = open_stream(file, set, &in, e);
    stream_close(&in.stream);
    THEN(status, read_header(file, file->map.bytes, file->map.n, e));
    file->items = (struct array_items){.bytes = 1};
    THEN(status, check_size(file, e));
    if (status == OK)
        file->bytes = file->map.bytes + file->header_bytes;
    else
        array_close(file);
    return status;
}

void array_close(struct array_file *file)
{
    file_map_close(&file->map);
    file->bytes = NULL;
}
