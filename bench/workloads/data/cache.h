/* A folder of files that are made once, mapped and reused: decompressed data and generated data.
 *
 * The folder is $SCALEBENCH_CACHE, else $XDG_CACHE_HOME/scalebench, else ~/.cache/scalebench. An
 * entry is a header with its key and a hash of the contents, which is checked each time that the
 * entry is opened (some 30 ms for CIFAR-10), and the contents. It is written to a temporary name
 * under a lock, synced and renamed, so a process that is killed at any moment never leaves half an
 * entry under the final name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bench/base/file_map.h"
#include "kernels/base/error.h"

/* Writes the contents of an entry to `sink` with cache_write. A source at fault is ERR_DATA; it
 * must not be ERR_SYSTEM, which says that the sink is at fault. */
typedef enum status cache_fill(void *arg, int sink, struct error *e);

/* Appends n bytes to the sink of a cache_fill; ERR_SYSTEM when it takes no more. */
enum status cache_write(int sink, const void *bytes, size_t n, struct error *e);

/* XXH3 of map->bytes. A file that is mapped where it lies is read for it, and the result is kept as
 * an entry of the cache for its path, size, time and number, where that can be written. */
enum status file_map_hash(const struct file_map *map, uint64_t *hash, struct error *e);

/* Longest key, its final zero included. */
#define CACHE_KEY_MAX 2048

/* Adds to a key all that the contents of a file depend on, which the key calls `name`. ERR_DATA for a file that is not
 * there, or a name that the key has no room for. */
enum status cache_add_to_key(char key[CACHE_KEY_MAX], const char *name, const char *path,
                             struct error *e);

/* Maps the entry of `key` (all that the contents depend on, one line of text), after `fill` has
 * made it where it was not there. `name` only makes the file's name readable. Where no folder can
 * be written, a warning says why and the contents are made in this process's memory. ERR_MEMORY without room to map
 * an entry, which stays as it is. */
enum status cache_open(struct file_map *map, const char *name, const char *key, cache_fill *fill,
                       void *arg, struct error *e);
