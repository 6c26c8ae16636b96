/* Cache folder for data that is made once and reused, such as decompressed and generated data sets.
 *
 * The folder is $SCALEBENCH_CACHE, else $XDG_CACHE_HOME/scalebench, else ~/.cache/scalebench. An
 * entry is a file: a header with the key and a hash of the contents, then the contents. The hash is
 * checked whenever the entry is opened (about 30 ms for CIFAR-10). An entry is written to a
 * temporary name under a lock, synchronised and renamed, so that it is never incomplete. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bench/base/file_map.h"
#include "kernels/base/error.h"

/* Callback that writes the contents of an entry to `sink` with cache_write. Returns ERR_DATA if the
 * source data is faulty; ERR_SYSTEM is reserved for failed writes. */
typedef enum status cache_fill(void *arg, int sink, struct error *e);

/* Writes n bytes to `sink`, the file descriptor that a cache_fill callback receives. ERR_SYSTEM if
 * writing fails. */
enum status cache_write(int sink, const void *bytes, size_t n, struct error *e);

/* Sets *hash to the XXH3 hash of map->bytes. If map->hashed is false, looks the hash up in the
 * cache by the file's path, size, modification time and inode. If the cache lacks the hash,
 * computes it from the file and, if possible, stores it in the cache. ERR_DATA if the file cannot
 * be read. */
enum status file_map_hash(const struct file_map *map, uint64_t *hash, struct error *e);

/* Maximum size of a key in bytes, with its terminating zero. */
#define CACHE_KEY_MAX 2048

/* Appends `name` and the size and modification time of the file at `path` to `key`. ERR_DATA if the
 * file does not exist or the key is too small. */
enum status cache_add_to_key(char key[CACHE_KEY_MAX], const char *name, const char *path,
                             struct error *e);

/* Maps the entry of `key`; calls `fill` first if the entry is missing or altered. `key`: one line
 * of text that determines the contents. `name` only makes the file name readable. If the cache
 * folder cannot be used, warns and makes the contents in memory. ERR_MEMORY if there is too little
 * memory to map the entry, which then stays in the cache. */
enum status cache_open(struct file_map *map, const char *name, const char *key, cache_fill *fill,
                       void *arg, struct error *e);
