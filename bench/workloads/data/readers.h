/* One reader for each line of data_sets.def. */
#pragma once

#include <string.h>

#include "bench/workloads/data/cache.h"
#include "bench/workloads/data/data_set.h"

/* The place of `at`, which lies inside `map`. */
static inline struct data_place place_in_map(const struct file_map *map, const uint8_t *at)
{
    struct data_place place = {.offset = (uint64_t)(at - (const uint8_t *)map->map)};
    memcpy(place.path, map->path, sizeof place.path);
    return place;
}

/* Fills the zeroed *data from folder `path`, or from where the set is usually found when that is
 * "auto". After an error *data holds no maps. */
typedef enum status data_reader(struct data_set *data, const char *path, struct error *e);

#define DATA_SET(name, ...) data_reader data_open_##name;
#include "bench/spec/data_sets.def"
