#include "bench/workloads/data/data_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL /* the hash is a header: nothing to link */
#include <xxhash.h>

#include "bench/workloads/data/readers.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

static const char *const names[] = {
#define DATA_SET(name, c, h, w, classes, summary) #name,
#include "bench/spec/data_sets.def"
#undef DATA_SET
};

static data_reader *const readers[] = {
#define DATA_SET(name, c, h, w, classes, summary) data_open_##name,
#include "bench/spec/data_sets.def"
#undef DATA_SET
};

enum status data_open(struct data_set *data, const char *set, const char *path, struct error *e)
{
    const size_t n = sizeof names / sizeof *names;
    *data = (struct data_set){0};
    int i = name_index(set, names, n);
    if (i < 0) {
        char text[256];
        return error_set(e, ERR_ARGUMENT, "data set %s",
                         name_explain(text, sizeof text, set, names, n));
    }
    enum status status = readers[i](data, path, e);
    if (status != OK)
        *data = (struct data_set){0};
    return status;
}

/* A name of another set would pass the images off for what they are not. */
static enum status name_own(struct data_set *data, const char *name, struct error *e)
{
    const char *slash = strrchr(data->path, '/');
    if (strcmp(name, "auto") == 0)
        name = slash && slash[1] ? slash + 1 : data->path;
    if (strlen(name) >= DATA_NAME_BYTES)
        return error_set(e, ERR_ARGUMENT, "data.name: '%s' has more than %d characters", name,
                         DATA_NAME_BYTES - 1);
    if (name_index(name, names, sizeof names / sizeof *names) >= 0)
        return error_set(e, ERR_ARGUMENT,
                         "data.name: '%s' is a data set of its own; these images need another name",
                         name);
    strcpy(data->name, name);
    return OK;
}

enum status data_open_as(struct data_set *data, const char *set, const char *path, const char *name,
                         struct error *e)
{
    enum status status = data_open(data, set, path, e);
    if (status != OK || strcmp(data->source, "own") != 0)
        return status;
    status = name_own(data, name, e);
    if (status != OK)
        data_close(data);
    return status;
}

void data_close(struct data_set *data)
{
    for (size_t i = 0; i < sizeof data->maps / sizeof *data->maps; i++)
        file_map_close(&data->maps[i]);
    *data = (struct data_set){0};
}

double data_resident_mib(const struct data_set *data)
{
    double sum = 0;
    for (size_t i = 0; i < sizeof data->maps / sizeof *data->maps; i++)
        if (data->maps[i].map)
            sum += mem_resident_mib(data->maps[i].map, data->maps[i].map_bytes);
    return sum;
}

enum status data_hash(const struct data_set *data, char hex[DATA_HASH_BYTES], struct error *e)
{
    uint64_t hashes[sizeof data->maps / sizeof *data->maps] = {0};
    enum status status = OK;
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes && status == OK; i++)
        if (data->maps[i].map)
            status = file_map_hash(&data->maps[i], &hashes[i], e);
    snprintf(hex, DATA_HASH_BYTES, "%016" PRIx64, XXH3_64bits(hashes, sizeof hashes));
    return status;
}

/* Reads a byte of each page. */
static void touch(const uint8_t *bytes, size_t n)
{
    enum { PAGE_BYTES = 4096 };
    const volatile uint8_t *at = bytes;
    for (size_t i = 0; i < n; i += PAGE_BYTES)
        (void)at[i];
    if (n > 0)
        (void)at[n - 1];
}

void data_load(const struct data_part *part, size_t image_bytes)
{
    touch(part->images, part->n * image_bytes);
    touch(part->labels, part->n);
}

/* Where a sample lies among the part's images. */
static size_t place_of(const struct data_part *part, uint32_t sample)
{
    return part->slots ? part->slots[sample] : sample;
}

void data_gather(const struct data_part *part, size_t image_bytes, const uint32_t *samples,
                 size_t n, uint8_t *images, uint8_t *labels)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = place_of(part, samples[i]);
        memcpy(images + i * image_bytes, part->images + at * image_bytes, image_bytes);
        labels[i] = part->labels[at];
    }
}

void data_locate(const struct data_part *part, size_t image_bytes, const uint32_t *samples,
                 size_t n, const uint8_t **images, uint8_t *labels)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = place_of(part, samples[i]);
        images[i] = part->images + at * image_bytes;
        labels[i] = part->labels[at];
    }
}
