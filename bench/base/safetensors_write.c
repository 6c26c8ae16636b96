#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/base/output.h"
#include "bench/base/safetensors.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written in memory order");

#define ALIGNMENT     8 /* alignment (bytes) of the first tensor in the file */
#define LINKS_MAX     40
#define TEMPORARY_MAX (PATH_MAX + sizeof ".tmp")

/* The file that is being written. */
struct output {
    const char *path;
    char temporary[TEMPORARY_MAX];
    int fd;
};

static size_t tensor_bytes(const struct safetensors_tensor *t)
{
    size_t bytes = safetensors_type_bytes(t->dtype);
    for (int i = 0; i < t->n_dims; i++)
        bytes *= t->dims[i];
    return bytes;
}

static json_t *describe(const struct safetensors_tensor *t, size_t begin)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->n_dims; i++)
        json_array_append_new(shape, json_integer((json_int_t)t->dims[i]));
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype", t->dtype, "shape", shape, "data_offsets",
                     (json_int_t)begin, (json_int_t)(begin + tensor_bytes(t)));
}

static enum status build_header(json_t *header, const struct safetensors_tensor *tensors, size_t n,
                                const json_t *metadata, struct error *e)
{
    size_t begin = 0;
    if (metadata != NULL)
        json_object_set_new(header, "__metadata__", json_deep_copy(metadata));
    for (size_t i = 0; i < n; i++) {
        if (json_object_get(header, tensors[i].name) != NULL)
            return error_set(e, ERR_ARGUMENT, "tensor names must differ, found '%s' twice",
                             tensors[i].name);
        if (json_object_set_new(header, tensors[i].name, describe(&tensors[i], begin)) != 0)
            return error_set(e, ERR_ARGUMENT,
                             "tensor name '%s' is not UTF-8, or memory is exhausted",
                             tensors[i].name);
        begin += tensor_bytes(&tensors[i]);
    }
    return OK;
}

/* Returns the start of the file: the header's length, then the header, padded with spaces. NULL if
 * memory runs out. */
static char *header_text(const json_t *header, size_t *bytes)
{
    size_t length = json_dumpb(header, NULL, 0, JSON_COMPACT);
    size_t padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t stated = padded;
    char *text = length > 0 ? malloc(sizeof stated + padded) : NULL;
    if (text != NULL) {
        memcpy(text, &stated, sizeof stated);
        memset(text + sizeof stated, ' ', padded);
        json_dumpb(header, text + sizeof stated, length, JSON_COMPACT);
        *bytes = sizeof stated + padded;
    }
    return text;
}

static enum status cannot(const struct output *out, const char *what, struct error *e)
{
    return error_at(e, ERR_SYSTEM, out->path, 0, 0, "%s: %s", what, strerror(errno));
}

static enum status put(const struct output *out, const void *data, size_t bytes, struct error *e)
{
    return file_write_all(out->fd, data, bytes) ? OK : cannot(out, "cannot be written in full", e);
}

static enum status put_all(const struct output *out, const char *header, size_t header_bytes,
                           const struct safetensors_tensor *tensors, size_t n, struct error *e)
{
    TRY(put(out, header, header_bytes, e));
    for (size_t i = 0; i < n; i++)
        TRY(put(out, tensors[i].data, tensor_bytes(&tensors[i]), e));
    return fsync(out->fd) != 0 ? cannot(out, "cannot be written to disk", e) : OK;
}

static enum status replace(struct output *out, const char *header, size_t header_bytes,
                           const struct safetensors_tensor *tensors, size_t n, struct error *e)
{
    out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0)
        return cannot(out, "cannot be written", e);
    enum status status = put_all(out, header, header_bytes, tensors, n, e);
    if (close(out->fd) != 0 && status == OK)
        status = cannot(out, "cannot be closed", e);
    if (status == OK && rename(out->temporary, out->path) != 0)
        status = cannot(out, "cannot be renamed to its name", e);
    if (status != OK) {
        unlink(out->temporary);
        return status;
    }
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", out->path);
    return file_sync_folder(dirname(folder)) ? OK : cannot(out, "cannot synchronise its folder", e);
}

/* Finds the file that symbolic links lead to, even if it does not exist yet. */
static enum status follow_links(char target[PATH_MAX], const char *path, struct error *e)
{
    char link[PATH_MAX], folder[PATH_MAX];
    int length = snprintf(target, PATH_MAX, "%s", path);
    for (int links = 0; length < PATH_MAX && links < LINKS_MAX; links++) {
        ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0)
            return OK;
        link[n] = '\0';
        strcpy(folder, target);
        if (link[0] == '/')
            length = snprintf(target, PATH_MAX, "%s", link);
        else
            length = snprintf(target, PATH_MAX, "%s/%s", dirname(folder), link);
    }
    return error_at(e, ERR_ARGUMENT, path, 0, 0,
                    "the path is too long, or has too many symbolic links");
}

/* Finds the file to write, following links. The file must be regular or not exist. */
static enum status find_target(char target[PATH_MAX], const char *path, struct error *e)
{
    struct stat info;
    enum status status = follow_links(target, path, e);
    if (status == OK && stat(target, &info) == 0 && !S_ISREG(info.st_mode))
        return error_at(e, ERR_ARGUMENT, path, 0, 0, "expected a regular file, found %s",
                        file_kind(info.st_mode));
    return status;
}

/* Formats the name of the temporary file, which is renamed to `target` when complete. */
static void name_temporary(char temporary[TEMPORARY_MAX], const char *target)
{
    snprintf(temporary, TEMPORARY_MAX, "%s.tmp", target);
}

enum status safetensors_check(const char *option, const char *path, struct error *e)
{
    char target[PATH_MAX], temporary[TEMPORARY_MAX];
    if (find_target(target, path, e) != OK)
        return error_set(e, ERR_ARGUMENT, "%s: %s cannot be written: %s", option, path, e->text);
    name_temporary(temporary, target);
    return output_check(option, temporary, e);
}

static enum status write_with_header(struct output *out, json_t *header,
                                     const struct safetensors_tensor *tensors, size_t n,
                                     const json_t *metadata, struct error *e)
{
    size_t bytes = 0;
    TRY(build_header(header, tensors, n, metadata, e));
    char *text = header_text(header, &bytes);
    if (text == NULL)
        return error_no_memory(e, "the header of a checkpoint");
    enum status status = replace(out, text, bytes, tensors, n, e);
    free(text);
    return status;
}

enum status safetensors_write(const char *path, const struct safetensors_tensor *tensors, size_t n,
                              const json_t *metadata, struct error *e)
{
    char target[PATH_MAX];
    struct output out = {.path = target};
    TRY(find_target(target, path, e));
    name_temporary(out.temporary, target);
    json_t *header = json_object();
    enum status status = write_with_header(&out, header, tensors, n, metadata, e);
    json_decref(header);
    return status;
}
