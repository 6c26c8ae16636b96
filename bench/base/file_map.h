/* Files mapped read-only. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* `bytes` [n] inside a mapping of map_bytes at `map`. */
struct file_map {
    const uint8_t *bytes;
    size_t n;
    void *map;
    size_t map_bytes;
    bool hashed; /* `hash` is XXH3 of the bytes */
    uint64_t hash;
    char path[PATH_MAX]; /* of the file, for others to open it; "" for memory of this process */
};

/* Maps a regular file that is not empty; nothing of it is read yet. What cannot be opened or mapped is ERR_DATA;
 * ERR_MEMORY without room for the mapping. *map is empty on failure. */
enum status file_map_open(struct file_map *map, const char *path, struct error *e);
/* The same of a file that is open, which `path` names. */
enum status file_map_descriptor(struct file_map *map, int fd, const char *path, struct error *e);
void file_map_close(struct file_map *map);
