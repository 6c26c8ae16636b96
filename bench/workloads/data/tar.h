/* Reads members of a tar archive with ustar headers, in the POSIX.1-1988 format or GNU tar's
 * variant. */
#pragma once

#include "bench/workloads/data/stream.h"

struct tar_member {
    char name[260];
    bool file; /* whether the member is a regular file */
    uint64_t size;
    uint64_t rest; /* bytes of the member not yet returned by tar_read */
};

/* Moves to the next member, past unread bytes of *member. *member must be zero before the first
 * call. *found is false at the end of the archive. ERR_DATA, with the byte offset, if the archive
 * is truncated or a header is invalid. */
enum status tar_next(struct stream *s, struct tar_member *member, bool *found, struct error *e);

/* Reads `size` bytes of the member into `out`, or fewer at the member's end, and sets *n to the
 * number read. */
enum status tar_read(struct stream *s, struct tar_member *member, void *out, size_t size, size_t *n,
                     struct error *e);
