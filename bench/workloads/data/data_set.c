#include "bench/spec/spec.h"
#include "bench/workloads/data/readers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL /* XXH3 is used as a header-only library */
#include <xxhash.h>

#include "kernels/base/mem.h"

void data_close(struct data_set *data)
{
    for (size_t i = 0; i < sizeof data->maps / sizeof *data->maps; i++)
        file_map_close(&data->maps[i]);
    *data = (struct data_set){0};
}

void data_fill(struct data_set *data, const char *source, const struct file_map *map,
               uint32_t n_train, uint32_t n_test)
{
    const struct data_set_row *row = data_set_find(data->name);
    size_t image_bytes = shape_count(row->shape);
    const uint8_t *images = map->bytes, *labels = images + (n_train + n_test) * image_bytes;
    data->source = source;
    data->shape = row->shape;
    data->classes = row->classes;
    data->train = (struct data_part){.images = images, .labels = labels, .n = n_train};
    data->test = (struct data_part){
        .images = images + n_train * image_bytes, .labels = labels + n_train, .n = n_test};
    data->train_images = place_in_map(map, images);
    data->train_labels = place_in_map(map, labels);
    data->maps[0] = *map;
}

double data_resident_mib(const struct data_set *data)
{
    double sum = 0;
    for (size_t i = 0; i < sizeof data->maps / sizeof *data->maps; i++)
        if (data->maps[i].map != NULL)
            sum += mem_resident_mib(data->maps[i].map, data->maps[i].map_bytes);
    return sum;
}

enum status data_hash(const struct data_set *data, char hex[DATA_HASH_BYTES], struct error *e)
{
    uint64_t hashes[sizeof data->maps / sizeof *data->maps] = {0};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        if (data->maps[i].map != NULL)
            TRY(file_map_hash(&data->maps[i], &hashes[i], e));
    snprintf(hex, DATA_HASH_BYTES, "%016" PRIx64, XXH3_64bits(hashes, sizeof hashes));
    return OK;
}

/* Reads one byte per page, so that the kernel loads all pages. */
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

/* Returns the index of a sample in part->images. */
static size_t place_of(const struct data_part *part, uint32_t sample)
{
    return part->slots != NULL ? part->slots[sample] : sample;
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
