/* Maps files into memory, read-only. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* A mapped file, or a mapped memfd of this process. */
struct file_map {
    const uint8_t *bytes;
    size_t n;
    void *map;
    size_t map_bytes;
    bool hashed;         /* whether `hash` is set */
    uint64_t hash;       /* XXH3 of the bytes */
    char path[PATH_MAX]; /* path of the file; "" for a memfd */
};

/* Maps a regular file that is not empty. Close it with file_map_close. *map is zeroed on failure.
 * Errors: ERR_DATA if the file cannot be opened or mapped, ERR_MEMORY. */
enum status file_map_open(struct file_map *map, const char *path, struct error *e);
/* Works like file_map_open, for an open file. `path` is the file's path, which messages name and
 * map->path stores. `fd` may be closed afterwards. */
enum status file_map_descriptor(struct file_map *map, int fd, const char *path, struct error *e);
/* Unmaps the file and zeroes *map. A zeroed map is accepted. */
void file_map_close(struct file_map *map);
