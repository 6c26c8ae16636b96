/* Readers of data sets, one per line of data_sets.def, and functions that they share. Internal to
 * bench/workloads/data/. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "bench/workloads/data/cache.h"
#include "bench/workloads/data/data_set.h"

/* Size of the path of a data file, in bytes. */
#define DATA_FILE_MAX 1152

struct pairs;

/* Reader of a set, which is generated or read from files. data->name is the user's name for it. */
struct data_reader {
    /* Draws image `index`, bytes [C,H,W], and its label: a pure function of (seed, index). NULL:
     * the set has files. */
    void (*draw)(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
    int version; /* part of the cache key; increase it whenever drawn images change */

    /* Opens the set if `folder` holds its files, and sets *found. The folder is data->path, without
     * links. After an error *data holds no maps. */
    enum status (*open)(struct data_set *data, const struct data_reader *reader, const char *folder,
                        bool *found, struct error *e);
    /* Makes the error for a folder that the user named and that holds no files of the set. */
    enum status (*no_files)(const struct data_set *data, const struct data_reader *reader,
                            const char *folder, struct error *e);
    const struct pairs *pairs; /* file names of a set of pairs.h */
    /* Generated set to use if no files are found; NULL: only the given folder is searched. */
    const char *otherwise;
};

#define DATA_SET(name, ...) extern const struct data_reader data_reader_##name;
#include "bench/spec/data_sets.def"

/* ---- Files ---- */

/* Possible names of one file, in order of preference, ended by NULL if there are fewer. Each may
 * have ".gz" appended; a plain file wins over a compressed one. */
enum { DATA_NAMES = 4 };
typedef const char *data_names[DATA_NAMES];

/* Sets path to the file in `folder`, or to "" if there is none. ERR_DATA if the folder cannot be
 * searched. */
enum status data_find_file(char path[DATA_FILE_MAX], const char *folder, const data_names names,
                           struct error *e);

/* Finds all n files of a set, or none. ERR_DATA if only some exist. */
enum status data_find_files(char (*paths)[DATA_FILE_MAX], const data_names *names, int n,
                            const struct data_set *data, const char *folder, bool *found,
                            struct error *e);

/* Appends all names of a file to a list for messages. */
enum { DATA_LIST_MAX = 512 };
void data_list_names(char list[DATA_LIST_MAX], const data_names names);

/* ---- Contents ---- */

/* Fills in a set whose map holds the images for training and test, then their labels. Shape and
 * classes come from data_sets.def. */
void data_fill(struct data_set *data, const char *source, const struct file_map *map,
               uint32_t n_train, uint32_t n_test);

/* Draws all images of data->name into the cache, or maps an existing entry. `path` must be
 * "auto". */
enum status data_open_generated(struct data_set *data, const struct data_reader *reader,
                                const char *path, struct error *e);

/* Returns the position in the file of `at`, which points into `map`. */
static inline struct data_place place_in_map(const struct file_map *map, const uint8_t *at)
{
    struct data_place place = {.offset = (uint64_t)(at - (const uint8_t *)map->map)};
    memcpy(place.path, map->path, sizeof place.path);
    return place;
}
