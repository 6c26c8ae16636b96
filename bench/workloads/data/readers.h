/* Readers of data sets, one per row of data_sets.def, and functions that readers share. Internal to
 * bench/workloads/data/. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "bench/workloads/data/cache.h"
#include "bench/workloads/data/data_set.h"

/* Size of a buffer for the path of a data file, in bytes. */
#define DATA_FILE_MAX 1152

struct pairs;

/* Functions that open one kind of data set. Generated sets have `draw`. Sets of files have `open`
 * and `no_files`, which use data->name in error messages. */
struct data_reader {
    /* Draws image `index`, bytes [C,H,W], and its label: a pure function of (seed, index). NULL:
     * the set is read from files. */
    void (*draw)(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
    int version; /* part of the cache key; increase it if `draw` generates different images */

    /* Sets *found to whether `folder` has the set's files, and opens them if so. `folder` is
     * data->path, with symbolic links resolved. After an error *data has no mapped files. */
    enum status (*open)(struct data_set *data, const struct data_reader *reader, const char *folder,
                        bool *found, struct error *e);
    /* Reports in *e that the folder that the user chose has no files of the data set. */
    enum status (*no_files)(const struct data_set *data, const struct data_reader *reader,
                            const char *folder, struct error *e);
    /* Names of the four files if the set consists of image and label files (pairs.c); else NULL. */
    const struct pairs *pairs;
    /* Name of the generated set that replaces this set if data.path = auto finds no files. NULL:
     * data.path must be a folder. Generated sets do not use this member. */
    const char *otherwise;
};

#define DATA_SET(name, ...) extern const struct data_reader data_reader_##name;
#include "bench/spec/data_sets.def"

/* ---- Files ---- */

/* DATA_NAMES: maximum number of alternative names of a file. data_names: these names, in order of
 * preference; NULL ends a shorter list. Compressed files (name and ".gz") are accepted, but plain
 * files are preferred. */
enum { DATA_NAMES = 4 };
typedef const char *data_names[DATA_NAMES];

/* Sets `path` to the first of `names` that exists in `folder`, otherwise to the first that exists
 * with ".gz" appended, otherwise to "". ERR_DATA if the folder cannot be searched. */
enum status data_find_file(char path[DATA_FILE_MAX], const char *folder, const data_names names,
                           struct error *e);

/* Sets `paths` to the n files of a set in `folder`. *found is true if all files exist, false if
 * none exists. ERR_DATA if only some exist. */
enum status data_find_files(char (*paths)[DATA_FILE_MAX], const data_names *names, int n,
                            const struct data_set *data, const char *folder, bool *found,
                            struct error *e);

enum { DATA_LIST_MAX = 512 };
/* Appends the possible names of a file to `list`, separated by commas, for error messages. */
void data_list_names(char list[DATA_LIST_MAX], const data_names names);

/* ---- Contents ---- */

/* Fills in *data. The single mapping `map` holds, one after another: training images, test images,
 * training labels, test labels. Shape and classes come from data_sets.def. */
void data_fill(struct data_set *data, const char *source, const struct file_map *map,
               uint32_t n_train, uint32_t n_test);

/* Maps the images and labels of set data->name from the cache. If the cache lacks them, draws them
 * first. `path` must be "auto". */
enum status data_open_generated(struct data_set *data, const struct data_reader *reader,
                                const char *path, struct error *e);

/* Returns the path of the file that `map` maps, and the file offset of the byte at address `at`. */
static inline struct data_place place_in_map(const struct file_map *map, const uint8_t *at)
{
    struct data_place place = {.offset = (uint64_t)(at - (const uint8_t *)map->map)};
    memcpy(place.path, map->path, sizeof place.path);
    return place;
}
