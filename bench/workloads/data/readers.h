/* How data sets are read: a reader for each line of data_sets.def, and what readers have in common. Internal to
 * bench/workloads/data/. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "bench/workloads/data/cache.h"
#include "bench/workloads/data/data_set.h"

/* Bytes of a path of a data file. */
#define DATA_FILE_MAX 1152

struct pairs;

/* A set is drawn, or lies in files. data->name is what the user calls it. */
struct data_reader {
    /* Draws image `index`, bytes [C,H,W], and its label: a pure function of (seed, index). NULL: it lies in files. */
    void (*draw)(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
    int version; /* part of the cache's key: raised with every change of what is drawn */

    /* Opens the set where `folder` has its files; *found tells whether it has any. The folder is
     * data->path, without links. After an error *data holds no maps. */
    enum status (*open)(struct data_set *data, const struct data_reader *reader, const char *folder,
                        bool *found, struct error *e);
    /* The error for a folder that the user named and that has none. */
    enum status (*no_files)(const struct data_set *data, const struct data_reader *reader,
                            const char *folder, struct error *e);
    const struct pairs *pairs; /* what its files are called, of sets of pairs.h */
    const char
        *otherwise; /* the generated set that takes its place where it is nowhere; NULL: it is
                              looked for nowhere but in the folder that is given */
};

#define DATA_SET(name, ...) extern const struct data_reader data_reader_##name;
#include "bench/spec/data_sets.def"

/* ---- Files ---- */

/* Names of one file, the first that is in the folder counts, NULL where there are fewer. Any may have ".gz" behind it; a
 * plain file wins over a compressed one. */
enum { DATA_NAMES = 4 };
typedef const char *data_names[DATA_NAMES];

/* Sets path to the file in `folder`, to "" where there is none. ERR_DATA if the folder cannot be searched. */
enum status data_find_file(char path[DATA_FILE_MAX], const char *folder, const data_names names,
                           struct error *e);

/* Finds all n files of a set, or none; some of them only are an error in any folder. */
enum status data_find_files(char (*paths)[DATA_FILE_MAX], const data_names *names, int n,
                            const struct data_set *data, const char *folder, bool *found,
                            struct error *e);

/* Appends to a list, as messages have it, all names of a file. */
enum { DATA_LIST_MAX = 512 };
void data_list_names(char list[DATA_LIST_MAX], const data_names names);

/* ---- Contents ---- */

/* Fills in a set of data_sets.def whose images for training and test lie in one map, and their labels behind them. */
void data_fill(struct data_set *data, const char *source, const struct file_map *map,
               uint32_t n_train, uint32_t n_test);

/* Draws all images of data->name into the cache, or maps those of an earlier run. path: only "auto". */
enum status data_open_generated(struct data_set *data, const struct data_reader *reader,
                                const char *path, struct error *e);

/* The place of `at`, which lies inside `map`. */
static inline struct data_place place_in_map(const struct file_map *map, const uint8_t *at)
{
    struct data_place place = {.offset = (uint64_t)(at - (const uint8_t *)map->map)};
    memcpy(place.path, map->path, sizeof place.path);
    return place;
}
