#include "bench/workloads/data/generated.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/data/cache.h"
#include "bench/workloads/data/readers.h"
#include "kernels/base/mem.h"

static enum status draw_all(const struct generated_set *set, uint8_t *image, uint8_t *labels,
                            int sink, struct error *e)
{
    uint32_t n = set->n_train + set->n_test;
    for (uint32_t i = 0; i < n; i++) {
        set->draw(set->seed, i, image, &labels[i]);
        TRY(cache_write(sink, image, shape_count(set->shape), e));
    }
    return cache_write(sink, labels, n, e);
}

static enum status fill_cache(void *arg, int sink, struct error *e)
{
    const struct generated_set *set = arg;
    size_t n = set->n_train + set->n_test, image = shape_count(set->shape);
    uint8_t *memory;
    TRY(MEM_NEW(memory, image + n, "a generated data set", e));
    enum status status = draw_all(set, memory, memory + image, sink, e);
    free(memory);
    return status;
}

enum status data_open_generated(struct data_set *data, const struct generated_set *set,
                                const char *path, struct error *e)
{
    struct generated_set drawn = *set;
    struct file_map map;
    char key[96];
    if (strcmp(path, "auto") != 0)
        return error_at(e, ERR_ARGUMENT, path, 0, 0,
                        "data set '%s' is generated and reads no files; its path is 'auto'",
                        set->name);
    snprintf(key, sizeof key, "%s version=%d seed=%" PRIu64, set->name, set->version, set->seed);
    TRY(cache_open(&map, set->name, key, fill_cache, &drawn, e));
    size_t image = shape_count(set->shape);
    const uint8_t *images = map.bytes;
    const uint8_t *labels = images + (size_t)(set->n_train + set->n_test) * image;
    snprintf(data->name, sizeof data->name, "%s", set->name);
    snprintf(data->path, sizeof data->path, "generated");
    data->source = "generated";
    data->shape = set->shape;
    data->classes = set->classes;
    data->train = (struct data_part){.images = images, .labels = labels, .n = set->n_train};
    data->test = (struct data_part){
        .images = images + set->n_train * image, .labels = labels + set->n_train, .n = set->n_test};
    data->train_images = place_in_map(&map, images);
    data->train_labels = place_in_map(&map, labels);
    data->maps[0] = map;
    return OK;
}
