#include "bench/base/file_map.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/file.h"

enum status file_map_descriptor(struct file_map *map, int fd, const char *path, struct error *e)
{
    struct stat s;
    *map = (struct file_map){0};
    if (fstat(fd, &s) != 0)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (s.st_size == 0)
        return error_at(e, ERR_DATA, path, 0, 0, "the file is empty");
    size_t bytes = (size_t)s.st_size;
    void *address = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED && errno == ENOMEM)
        return error_at(e, ERR_MEMORY, path, 0, 0,
                        "cannot be mapped: no memory for %zu bytes. Raise the memory limit of this "
                        "process (ulimit -v)",
                        bytes);
    if (address == MAP_FAILED)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be mapped into memory: %s",
                        strerror(errno));
    *map = (struct file_map){.bytes = address, .n = bytes, .map = address, .map_bytes = bytes};
    snprintf(map->path, sizeof map->path, "%s", path);
    return OK;
}

enum status file_map_open(struct file_map *map, const char *path, struct error *e)
{
    const char *why;
    *map = (struct file_map){0};
    int fd = file_open(path, &why);
    if (fd < 0)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be opened: %s", why);
    enum status status = file_map_descriptor(map, fd, path, e);
    close(fd);
    return status;
}

void file_map_close(struct file_map *map)
{
    if (map->map != NULL)
        munmap(map->map, map->map_bytes);
    *map = (struct file_map){0};
}
