#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/safetensors.h"
#include "kernels/base/mem.h"

#define LENGTH_BYTES     8         /* bytes of the first field, which holds the header's length */
#define HEADER_BYTES_MAX 100000000 /* largest header that the format allows */

size_t safetensors_type_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {
#define DTYPE(name, bytes) {#name, bytes},
#include "bench/base/safetensors_types.def"
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, dtype) == 0)
            return types[i].bytes;
    return 0;
}

/* Returns ERR_DATA with the message "FILE: offset N: SENTENCE", where N is `offset` (bytes) and
 * `format` gives the sentence. */
static enum status refuse(const struct safetensors *file, size_t offset, struct error *e,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum status refuse(const struct safetensors *file, size_t offset, struct error *e,
                          const char *format, ...)
{
    char text[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_at(e, ERR_DATA, file->path, 0, 0, "offset %zu: %s", offset, text);
}

/* ---- The file ---- */

static enum status read_header(struct safetensors *file, struct error *e)
{
    uint64_t length;
    if (file->map.n < LENGTH_BYTES)
        return refuse(file, file->map.n, e,
                      "the file ends; expected %d bytes with the length of the header",
                      LENGTH_BYTES);
    memcpy(&length, file->map.bytes, sizeof length);
    size_t left = file->map.n - LENGTH_BYTES;
    bool begins = left > 0 && file->map.bytes[LENGTH_BYTES] == '{';
    if (left > 0 && !begins)
        TRY(file_check_head(file->path, file->map.bytes, file->map.n, "safetensors", e));
    if (left > 0 && (length == 0 || !begins))
        return refuse(file, LENGTH_BYTES, e,
                      "the header does not begin with '{': expected a safetensors file");
    if (length > HEADER_BYTES_MAX)
        return refuse(file, 0, e, "found a header of %llu bytes; the format allows at most %d",
                      (unsigned long long)length, HEADER_BYTES_MAX);
    if (length > left)
        return refuse(file, file->map.n, e,
                      "the file ends inside the header; expected %llu bytes of it, found %zu",
                      (unsigned long long)length, left);
    json_error_t why;
    file->header = json_loadb((const char *)file->map.bytes + LENGTH_BYTES, (size_t)length,
                              JSON_REJECT_DUPLICATES, &why);
    if (file->header == NULL)
        return refuse(file, LENGTH_BYTES + (size_t)why.position, e, "the header is not JSON: %s",
                      why.text);
    file->data_offset = LENGTH_BYTES + (size_t)length;
    return OK;
}

/* ---- The header ---- */

static enum status check_metadata(struct safetensors *file, struct error *e)
{
    const json_t *metadata = json_object_get(file->header, "__metadata__"), *value;
    const char *key;
    if (metadata == NULL)
        return OK;
    if (!json_is_object(metadata))
        return refuse(file, LENGTH_BYTES, e, "__metadata__ must be an object of strings");
    json_object_foreach((json_t *)metadata, key, value)
    {
        if (!json_is_string(value))
            return refuse(file, LENGTH_BYTES, e, "__metadata__: the value of '%s' must be a string",
                          key);
    }
    file->metadata = metadata;
    return OK;
}

/* Reads a whole number of 0 or more; returns false for any other JSON value. */
static bool whole(const json_t *value, size_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (size_t)json_integer_value(value);
    return true;
}

static enum status take_keys(const struct safetensors *file, const char *name, const json_t *entry,
                             struct error *e)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    if (!json_is_object(entry))
        return refuse(file, LENGTH_BYTES, e,
                      "tensor '%s' must be an object of dtype, shape and data_offsets", name);
    for (size_t i = 0; i < 3; i++)
        if (json_object_get(entry, keys[i]) == NULL)
            return refuse(file, LENGTH_BYTES, e, "tensor '%s': '%s' is missing", name, keys[i]);
    if (json_object_size(entry) != 3)
        return refuse(file, LENGTH_BYTES, e,
                      "tensor '%s' has %zu keys; expected dtype, shape and data_offsets", name,
                      json_object_size(entry));
    return OK;
}

/* Reads a tensor's shape. *bytes: size of one number before the call, size of the tensor after
 * it. */
static enum status take_shape(const struct safetensors *file, struct safetensors_tensor *t,
                              const json_t *shape, size_t *bytes, struct error *e)
{
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_DIMS_MAX)
        return refuse(file, LENGTH_BYTES, e,
                      "tensor '%s': 'shape' must be a list of at most %d whole numbers", t->name,
                      SAFETENSORS_DIMS_MAX);
    t->n_dims = (int)json_array_size(shape);
    for (int i = 0; i < t->n_dims; i++) {
        if (!whole(json_array_get(shape, (size_t)i), &t->dims[i]))
            return refuse(file, LENGTH_BYTES, e,
                          "tensor '%s': number %d of 'shape' must be a whole number of 0 or more",
                          t->name, i + 1);
        if (__builtin_mul_overflow(*bytes, t->dims[i], bytes))
            return refuse(file, LENGTH_BYTES, e, "tensor '%s' is larger than any memory", t->name);
    }
    return OK;
}

static enum status take_offsets(const struct safetensors *file, struct safetensors_tensor *t,
                                const json_t *offsets, size_t bytes, struct error *e)
{
    size_t begin, end, room = file->map.n - file->data_offset;
    char type[128];
    if (json_array_size(offsets) != 2 || !whole(json_array_get(offsets, 0), &begin) ||
        !whole(json_array_get(offsets, 1), &end) || begin > end)
        return refuse(file, LENGTH_BYTES, e,
                      "tensor '%s': 'data_offsets' must be two ascending whole numbers", t->name);
    if (end - begin != bytes)
        return refuse(file, LENGTH_BYTES, e,
                      "tensor '%s': %s takes %zu bytes, but data_offsets [%zu, %zu] hold %zu",
                      t->name, safetensors_type_text(type, t), bytes, begin, end, end - begin);
    if (end > room)
        return refuse(file, file->map.n, e,
                      "the file ends; expected tensor '%s' up to byte %zu of the data, found %zu "
                      "bytes of data",
                      t->name, end, room);
    t->data = file->map.bytes + file->data_offset + begin;
    t->bytes = bytes;
    return OK;
}

static enum status take_tensor(struct safetensors *file, const char *name, const json_t *entry,
                               struct error *e)
{
    struct safetensors_tensor *t = &file->tensors[file->n];
    TRY(take_keys(file, name, entry, e));
    *t = (struct safetensors_tensor){.name = name,
                                     .dtype = json_string_value(json_object_get(entry, "dtype"))};
    size_t bytes = t->dtype != NULL ? safetensors_type_bytes(t->dtype) : 0;
    if (bytes == 0)
        return refuse(file, LENGTH_BYTES, e, "tensor '%s': dtype '%s' is unknown; known:"
#define DTYPE(name, bytes) " " #name
#include "bench/base/safetensors_types.def"
                      ,
                      name, t->dtype != NULL ? t->dtype : "not a string");
    TRY(take_shape(file, t, json_object_get(entry, "shape"), &bytes, e));
    TRY(take_offsets(file, t, json_object_get(entry, "data_offsets"), bytes, e));
    file->n++;
    return OK;
}

/* ---- The data ---- */

static int by_place(const void *a, const void *b)
{
    const struct safetensors_tensor *x = a, *y = b;
    const char *left = x->data, *right = y->data;
    if (left != right)
        return left < right ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static enum status check_places(const struct safetensors *file, struct error *e)
{
    const char *before = NULL; /* name of the last tensor checked, which ends at `end` */
    size_t end = file->data_offset;
    for (size_t i = 0; i < file->n; i++) {
        const struct safetensors_tensor *t = &file->tensors[i];
        size_t begin = (size_t)((const uint8_t *)t->data - file->map.bytes);
        if (begin < end)
            return refuse(file, begin, e,
                          "tensor '%s' begins inside '%s'; expected at offset %zu or later",
                          t->name, before, end);
        if (begin > end)
            return refuse(file, end, e, "%zu bytes belong to no tensor; expected '%s' here",
                          begin - end, t->name);
        end = begin + t->bytes;
        before = t->name;
    }
    if (end < file->map.n)
        return refuse(file, end, e, "%zu bytes belong to no tensor; expected the end of the file",
                      file->map.n - end);
    return OK;
}

static enum status take_tensors(struct safetensors *file, struct error *e)
{
    const char *name;
    json_t *entry;
    TRY(MEM_NEW(file->tensors, json_object_size(file->header), "the tensors of a file", e));
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, "__metadata__") != 0)
            TRY(take_tensor(file, name, entry, e));
    }
    qsort(file->tensors, file->n, sizeof *file->tensors, by_place);
    return check_places(file, e);
}

enum status safetensors_open(struct safetensors *file, const char *path, struct error *e)
{
    *file = (struct safetensors){.n = 0};
    if (snprintf(file->path, sizeof file->path, "%s", path) >= (int)sizeof file->path)
        return error_set(e, ERR_ARGUMENT, "path %s is too long: expected at most %zu bytes", path,
                         sizeof file->path - 1);
    TRY(file_map_open(&file->map, path, e));
    TRY(read_header(file, e));
    TRY(check_metadata(file, e));
    return take_tensors(file, e);
}

void safetensors_close(struct safetensors *file)
{
    file_map_close(&file->map);
    free(file->tensors);
    json_decref(file->header);
    *file = (struct safetensors){.n = 0};
}

const struct safetensors_tensor *safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->n; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *safetensors_text(const struct safetensors *file, const char *key)
{
    return json_string_value(json_object_get(file->metadata, key));
}

char *safetensors_type_text(char text[128], const struct safetensors_tensor *tensor)
{
    size_t used = (size_t)snprintf(text, 128, "%.32s [", tensor->dtype);
    for (int i = 0; i < tensor->n_dims && used < 100; i++)
        used +=
            (size_t)snprintf(text + used, 128 - used, "%s%zu", i > 0 ? "," : "", tensor->dims[i]);
    snprintf(text + used, 128 - used, "]");
    return text;
}
