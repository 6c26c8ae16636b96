/* Opens generated data sets. Their images are drawn once, into the cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/spec.h"
#include "bench/workloads/data/readers.h"
#include "kernels/base/mem.h"

enum { SEED = 1 };

/* State while a generated set is written to the cache. */
struct drawing {
    const struct data_reader *reader;
    size_t image_bytes;
    uint32_t n;
};

static enum status fill_cache(void *arg, int sink, struct error *e)
{
    const struct drawing *d = arg;
    uint8_t *image;
    TRY(MEM_NEW(image, d->image_bytes + d->n, "a generated data set", e));
    uint8_t *labels = image + d->image_bytes;
    enum status status = OK;
    for (uint32_t i = 0; i < d->n && status == OK; i++) {
        d->reader->draw(SEED, i, image, &labels[i]);
        status = cache_write(sink, image, d->image_bytes, e);
    }
    THEN(status, cache_write(sink, labels, d->n, e));
    free(image);
    return status;
}

enum status data_open_generated(struct data_set *data, const struct data_reader *reader,
                                const char *path, struct error *e)
{
    const struct data_set_row *row = data_set_find(data->name);
    struct drawing drawing = {reader, shape_count(row->shape), (uint32_t)(row->train + row->test)};
    struct file_map map;
    char key[96];
    if (strcmp(path, "auto") != 0)
        return error_at(e, ERR_ARGUMENT, path, 0, 0,
                        "data set '%s' is generated and reads no files: data.path must be auto",
                        data->name);
    snprintf(key, sizeof key, "%s version=%d seed=%d", data->name, reader->version, SEED);
    TRY(cache_open(&map, data->name, key, fill_cache, &drawing, e));
    snprintf(data->path, sizeof data->path, "generated");
    data_fill(data, "generated", &map, (uint32_t)row->train, (uint32_t)row->test);
    return OK;
}
