/* Members of a tar archive, as far as data sets need it: POSIX.1-1988 (ustar) headers, also as GNU
 * tar writes them. */
#pragma once

#include "bench/workloads/data/stream.h"

struct tar_member {
    char name[260];
    bool file; /* a regular one */
    uint64_t size;
    uint64_t rest; /* bytes that tar_read has not handed out yet */
};

/* Goes to the next member, past what is left of *member, which is zero before the first. *found is
 * false at the archive's end. A header that is none is ERR_DATA with the byte where it stands in
 * the archive, decompressed. */
enum status tar_next(struct stream *s, struct tar_member *member, bool *found, struct error *e);

/* Fills `out` with `size` bytes of the member; *n is less only at its end. */
enum status tar_read(struct stream *s, struct tar_member *member, void *out, size_t size, size_t *n,
                     struct error *e);
