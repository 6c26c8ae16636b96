#include "bench/workloads/data/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 512

/* Byte offsets of the fields in a tar header. */
enum {
    NAME_AT = 0,
    SIZE_AT = 124,
    CHECKSUM_AT = 148,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345
};
enum { NAME_BYTES = 100, SIZE_BYTES = 12, CHECKSUM_BYTES = 8, MAGIC_BYTES = 5, PREFIX_BYTES = 155 };

static enum status error_header(const struct stream *s, const char *what, struct error *e)
{
    return error_at(e, ERR_DATA, s->path, 0, 0, "byte %" PRIu64 " of the archive: %s",
                    s->read - BLOCK_BYTES, what);
}

/* Reads an octal number: spaces, digits, then a zero byte, a space or the end of the field. */
static bool read_octal(const uint8_t *field, size_t n, uint64_t *value)
{
    size_t i = 0;
    while (i < n && field[i] == ' ')
        i++;
    size_t first = i;
    for (*value = 0; i < n && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value * 8 + (uint64_t)(field[i] - '0');
    return i > first && (i == n || field[i] == '\0' || field[i] == ' ');
}

/* Returns the header's checksum: the sum of all bytes, with spaces in place of the checksum
 * field. */
static uint64_t checksum(const uint8_t block[BLOCK_BYTES])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        sum += i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_BYTES ? ' ' : block[i];
    return sum;
}

static bool is_zero(const uint8_t block[BLOCK_BYTES])
{
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        if (block[i] != 0)
            return false;
    return true;
}

static void read_name(char name[260], const uint8_t block[BLOCK_BYTES])
{
    const char *prefix = (const char *)block + PREFIX_AT;
    /* After "ustar", POSIX has a zero byte and GNU tar a space. GNU tar stores times in place of
     * the name's prefix. */
    bool posix = block[MAGIC_AT + MAGIC_BYTES] == '\0';
    snprintf(name, 260, "%.*s%s%.*s", posix ? PREFIX_BYTES : 0, prefix,
             posix && prefix[0] ? "/" : "", NAME_BYTES, (const char *)block + NAME_AT);
}

static enum status read_header(const struct stream *s, struct tar_member *member,
                               const uint8_t block[BLOCK_BYTES], struct error *e)
{
    uint64_t stated;
    if (memcmp(block + MAGIC_AT, "ustar", MAGIC_BYTES) != 0)
        return error_header(s, "no tar header: 'ustar' is missing", e);
    if (!read_octal(block + CHECKSUM_AT, CHECKSUM_BYTES, &stated) || stated != checksum(block))
        return error_header(s, "the checksum of a tar header is wrong", e);
    if (!read_octal(block + SIZE_AT, SIZE_BYTES, &member->size))
        return error_header(s, "the size in a tar header must be an octal number", e);
    read_name(member->name, block);
    member->rest = member->size;
    member->file = block[TYPE_AT] == '0' || block[TYPE_AT] == '\0';
    return OK;
}

static enum status skip(struct stream *s, uint64_t bytes, struct error *e)
{
    uint8_t block[8 * BLOCK_BYTES];
    while (bytes > 0) {
        size_t n, wanted = bytes < sizeof block ? (size_t)bytes : sizeof block;
        TRY(stream_read(s, block, wanted, &n, e));
        if (n < wanted)
            return error_at(e, ERR_DATA, s->path, 0, 0,
                            "truncated: the archive ends at byte %" PRIu64 ", inside a member",
                            s->read);
        bytes -= n;
    }
    return OK;
}

enum status tar_next(struct stream *s, struct tar_member *member, bool *found, struct error *e)
{
    uint8_t block[BLOCK_BYTES];
    size_t n = 0;
    uint64_t padding = (BLOCK_BYTES - member->size % BLOCK_BYTES) % BLOCK_BYTES;
    *found = false;
    TRY(skip(s, member->rest + padding, e));
    *member = (struct tar_member){.size = 0};
    TRY(stream_read(s, block, sizeof block, &n, e));
    if (n < sizeof block)
        return error_at(e, ERR_DATA, s->path, 0, 0,
                        "truncated: the archive ends at byte %" PRIu64 ", without an end mark",
                        s->read);
    if (is_zero(block))
        return OK;
    *found = true;
    return read_header(s, member, block, e);
}

enum status tar_read(struct stream *s, struct tar_member *member, void *out, size_t size, size_t *n,
                     struct error *e)
{
    size_t wanted = member->rest < size ? (size_t)member->rest : size;
    TRY(stream_read(s, out, wanted, n, e));
    member->rest -= *n;
    if (*n < wanted)
        return error_at(e, ERR_DATA, s->path, 0, 0,
                        "truncated: the archive ends at byte %" PRIu64 ", inside %s", s->read,
                        member->name);
    return OK;
}
