#include "bench/workloads/data/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL /* XXH3 is used as a header-only library */
#include <xxhash.h>

#include "bench/base/file.h"
#include "bench/base/log.h"

/* The header fills one page, so that the contents begin at a page boundary. */
#define HEADER_BYTES 4096
#define CHUNK_BYTES  ((size_t)256 << 10)

/* Cache entry to open, or to make with `fill`. */
struct entry {
    const char *name, *key;
    cache_fill *fill;
    void *arg;
    char folder[PATH_MAX], path[PATH_MAX];
};

/* ---- Contents of an entry ---- */

/* Hashes `contents` bytes of the file from offset `begin`; returns false if they cannot be read.
 * Uses pread into `chunk` (CHUNK_BYTES), since mapped pages count as memory of this process. */
static bool hash_chunks(int fd, size_t begin, size_t contents, uint8_t *chunk, uint64_t *hash)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t done = 0; done < contents;) {
        size_t rest = contents - done;
        ssize_t n =
            pread(fd, chunk, rest < CHUNK_BYTES ? rest : CHUNK_BYTES, (off_t)(begin + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        XXH3_64bits_update(&state, chunk, (size_t)n);
        done += (size_t)n;
    }
    *hash = XXH3_64bits_digest(&state);
    return true;
}

/* Hashes a file's contents; ERR_DATA if they cannot be read. */
static enum status hash_file(int fd, size_t begin, size_t contents, uint64_t *hash, struct error *e)
{
    uint8_t *chunk = malloc(CHUNK_BYTES);
    if (chunk == NULL)
        return error_no_memory(e, "reading a data file");
    bool read = hash_chunks(fd, begin, contents, chunk, hash);
    free(chunk);
    return read ? OK : error_set(e, ERR_DATA, "the file cannot be read in full");
}

/* Hashes the `contents` bytes that follow the header in file `fd`, and sets *hash. Then writes the
 * header's text to `header`: number of bytes, *hash and `key`. */
static enum status header_make(char header[HEADER_BYTES], int fd, const char *key, size_t contents,
                               uint64_t *hash, struct error *e)
{
    TRY(hash_file(fd, HEADER_BYTES, contents, hash, e));
    memset(header, 0, HEADER_BYTES);
    snprintf(header, HEADER_BYTES,
             "scalebench data cache 2\nbytes %zu\nxxh3 %016" PRIx64 "\nkey %s\n", contents, *hash,
             key);
    return OK;
}

/* Shrinks *map to the contents without the header. ERR_DATA unless the file is complete, unaltered
 * and has `key`. */
static enum status header_check(struct file_map *map, int fd, const char *key, struct error *e)
{
    char header[HEADER_BYTES];
    size_t contents = map->map_bytes - HEADER_BYTES;
    bool whole = map->map_bytes > HEADER_BYTES;
    if (whole)
        TRY(header_make(header, fd, key, contents, &map->hash, e));
    if (!whole || memcmp(header, map->map, HEADER_BYTES) != 0)
        return error_set(e, ERR_DATA, "the file differs from the data that was written");
    map->bytes = (const uint8_t *)map->map + HEADER_BYTES;
    map->n = contents;
    map->hashed = true;
    return OK;
}

/* Maps a complete entry; *map is empty on failure. Returns the errors of file_map_descriptor and
 * header_check. */
static enum status map_entry(struct file_map *map, int fd, const char *path, const char *key,
                             struct error *e)
{
    TRY(file_map_descriptor(map, fd, path, e));
    enum status status = header_check(map, fd, key, e);
    if (status != OK)
        file_map_close(map);
    return status;
}

enum status cache_write(int sink, const void *bytes, size_t n, struct error *e)
{
    if (file_write_all(sink, bytes, n))
        return OK;
    return error_set(e, ERR_SYSTEM, "the file cannot be written: %s", strerror(errno));
}

/* Turns ERR_DATA into ERR_SYSTEM. If a file cannot be read back just after it was written, the
 * folder is at fault, not the data. */
static enum status blame_folder(enum status status, struct error *e)
{
    if (status != ERR_DATA)
        return status;
    if (e != NULL)
        e->status = ERR_SYSTEM;
    return ERR_SYSTEM;
}

/* Writes the contents, then the header, which has the hash of the contents. */
static enum status write_contents(int fd, const struct entry *entry, struct error *e)
{
    char header[HEADER_BYTES] = {0};
    TRY(cache_write(fd, header, sizeof header, e));
    TRY(entry->fill(entry->arg, fd, e));
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (end < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return error_set(e, ERR_SYSTEM, "cannot seek in the file: %s", strerror(errno));
    uint64_t hash;
    size_t contents = (size_t)end - HEADER_BYTES;
    TRY(blame_folder(header_make(header, fd, entry->key, contents, &hash, e), e));
    return cache_write(fd, header, sizeof header, e);
}

/* ---- The folder ---- */

static enum status folder_find(char folder[PATH_MAX], struct error *e)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"SCALEBENCH_CACHE", ""},
                  {"XDG_CACHE_HOME", "/scalebench"},
                  {"HOME", "/.cache/scalebench"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = getenv(places[i].variable);
        if (value == NULL || value[0] == '\0')
            continue;
        if (snprintf(folder, PATH_MAX, "%s%s", value, places[i].below) < PATH_MAX)
            return OK;
        return error_set(e, ERR_SYSTEM, "the name of the cache folder is too long");
    }
    return error_set(e, ERR_SYSTEM,
                     "no cache folder: SCALEBENCH_CACHE, XDG_CACHE_HOME and HOME are not set. Set "
                     "one of them to a writable folder");
}

/* Creates the folder and its parents, unless they exist. Only a failure to create the folder itself
 * is an error, since parents may exist already. */
static enum status folder_create(const char *folder, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_at(e, ERR_SYSTEM, folder, 0, 0, "cannot be created: %s", strerror(errno));
    return OK;
}

static enum status entry_locate(struct entry *entry, struct error *e)
{
    char digest[SHA256_DIGEST_STRING_LENGTH];
    TRY(folder_find(entry->folder, e));
    SHA256Data((const uint8_t *)entry->key, strlen(entry->key), digest);
    int length = snprintf(entry->path, sizeof entry->path, "%s/%s-%.16s.cache", entry->folder,
                          entry->name, digest);
    if (length >= (int)sizeof entry->path)
        return error_at(e, ERR_SYSTEM, entry->folder, 0, 0, "the name of the folder is too long");
    return OK;
}

/* Maps the entry; ERR_DATA if it cannot be opened or has been altered. */
static enum status entry_map(const struct entry *entry, struct file_map *map, struct error *e)
{
    const char *why;
    int fd = file_open(entry->path, &why);
    if (fd < 0)
        return error_at(e, ERR_DATA, entry->path, 0, 0, "cannot be opened: %s", why);
    enum status status = map_entry(map, fd, entry->path, entry->key, e);
    close(fd);
    return status;
}

/* Writes the entry to a temporary file, renames the file and maps it. The temporary name includes
 * the host, because some shared file systems lock only within a node. */
static enum status entry_make(const struct entry *entry, struct file_map *map, struct error *e)
{
    char host[HOST_NAME_MAX + 1] = "", path[PATH_MAX + HOST_NAME_MAX + 8];
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s.%s.tmp", entry->path, host);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be created: %s", strerror(errno));
    enum status status = write_contents(fd, entry, e);
    if (status == OK && fsync(fd) != 0)
        status =
            error_set(e, ERR_SYSTEM, "the file cannot be written to disk: %s", strerror(errno));
    if (status == OK && rename(path, entry->path) != 0)
        status = error_set(e, ERR_SYSTEM, "the file cannot be renamed: %s", strerror(errno));
    if (status == OK)
        status = blame_folder(map_entry(map, fd, entry->path, entry->key, e), e);
    else
        unlink(path);
    close(fd);
    if (status == ERR_SYSTEM)
        error_at(e, status, path, 0, 0, "%s", e->text);
    return status;
}

/* Takes an exclusive lock on folder/lock; *lock is its descriptor. Never remove the lock file: a
 * process that creates a new one would not wait for the holder of the old lock. */
static enum status folder_lock(const char *folder, int *lock, struct error *e)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/lock", folder);
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*lock < 0)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be created: %s", strerror(errno));
    int failed;
    do
        failed = flock(*lock, LOCK_EX);
    while (failed && errno == EINTR);
    if (!failed)
        return OK;
    error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be locked: %s", strerror(errno));
    close(*lock);
    return ERR_SYSTEM;
}

/* Locks the folder and maps the entry. Makes the entry first, unless another process made it while
 * this process waited for the lock. */
static enum status entry_make_locked(const struct entry *entry, struct file_map *map,
                                     struct error *e)
{
    int lock;
    TRY(folder_create(entry->folder, e));
    TRY(folder_lock(entry->folder, &lock, e));
    enum status status = entry_map(entry, map, e);
    if (status == ERR_DATA) {
        if (access(entry->path, F_OK) == 0)
            log_print(LOG_WARNING,
                      "%s: the cache file is truncated, altered or of another version; creating "
                      "it again",
                      entry->path);
        status = entry_make(entry, map, e);
    }
    close(lock);
    return status;
}

static enum status memory_make(const struct entry *entry, struct file_map *map, struct error *e)
{
    int fd = memfd_create(entry->name, MFD_CLOEXEC);
    if (fd < 0)
        return error_no_memory(e, "a data set");
    enum status status = write_contents(fd, entry, e);
    THEN(status, blame_folder(map_entry(map, fd, "", entry->key, e), e));
    close(fd);
    return status;
}

/* Maps the cache entry and makes it first if needed. ERR_SYSTEM if the folder cannot be used. */
static enum status entry_open(struct entry *entry, struct file_map *map, struct error *e)
{
    *map = (struct file_map){0};
    TRY(entry_locate(entry, e));
    enum status status = entry_map(entry, map, e);
    return status == ERR_DATA ? entry_make_locked(entry, map, e) : status;
}

enum status cache_open(struct file_map *map, const char *name, const char *key, cache_fill *fill,
                       void *arg, struct error *e)
{
    struct error why = {0};
    struct entry entry = {.name = name, .key = key, .fill = fill, .arg = arg};
    enum status status = entry_open(&entry, map, &why);
    if (status == ERR_SYSTEM) {
        log_print(LOG_WARNING,
                  "%s%s%s; creating '%s' in the memory of each process instead. Set "
                  "$SCALEBENCH_CACHE to a writable folder",
                  why.file, why.file[0] ? ": " : "", why.text, name);
        return memory_make(&entry, map, e);
    }
    if (status != OK && e != NULL)
        *e = why;
    return status;
}

/* ---- Files ---- */

enum status cache_add_to_key(char key[CACHE_KEY_MAX], const char *name, const char *path,
                             struct error *e)
{
    struct stat s;
    size_t used = strlen(key), room = CACHE_KEY_MAX - used;
    if (stat(path, &s) != 0)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be read: %s", strerror(errno));
    int length = snprintf(key + used, room, " %s size=%jd mtime=%jd.%09ld", name,
                          (intmax_t)s.st_size, (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    if (length < 0 || (size_t)length >= room)
        return error_at(e, ERR_DATA, path, 0, 0, "the path is too long");
    return OK;
}

struct hashing {
    const char *path;
    int fd;
    size_t n;
    uint64_t hash;
};

static enum status fill_hash(void *arg, int sink, struct error *e)
{
    struct hashing *h = arg;
    TRY(hash_file(h->fd, 0, h->n, &h->hash, e));
    return cache_write(sink, &h->hash, sizeof h->hash, e);
}

static enum status recall_hash(struct hashing *h, const struct stat *s, struct error *e)
{
    char key[CACHE_KEY_MAX];
    struct entry entry = {.name = "hash", .key = key, .fill = fill_hash, .arg = h};
    struct file_map map = {0};
    struct error why = {0};
    int length = snprintf(key, sizeof key, "hash size=%jd mtime=%jd.%09ld inode=%ju:%ju %s",
                          (intmax_t)s->st_size, (intmax_t)s->st_mtim.tv_sec, s->st_mtim.tv_nsec,
                          (uintmax_t)s->st_dev, (uintmax_t)s->st_ino, h->path);
    bool recalled =
        length < (int)sizeof key && entry_open(&entry, &map, &why) == OK && map.n == sizeof h->hash;
    if (recalled)
        memcpy(&h->hash, map.bytes, sizeof h->hash);
    file_map_close(&map);
    enum status status = recalled ? OK : hash_file(h->fd, 0, h->n, &h->hash, e);
    return status == ERR_DATA
               ? error_at(e, ERR_DATA, h->path, 0, 0, "the file cannot be read in full")
               : status;
}

enum status file_map_hash(const struct file_map *map, uint64_t *hash, struct error *e)
{
    struct stat s;
    const char *why = "";
    *hash = map->hash;
    if (map->hashed)
        return OK;
    struct hashing h = {.path = map->path, .fd = file_open(map->path, &why), .n = map->n};
    if (h.fd < 0)
        return error_at(e, ERR_DATA, map->path, 0, 0, "cannot be opened: %s", why);
    enum status status = fstat(h.fd, &s) == 0
                             ? recall_hash(&h, &s, e)
                             : error_at(e, ERR_DATA, map->path, 0, 0, "%s", strerror(errno));
    close(h.fd);
    *hash = h.hash;
    return status;
}
