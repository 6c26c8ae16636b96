/* Data sets: images and labels as bytes, mapped read-only from files or from a cache entry. */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"
#include "kernels/desc/net_desc.h"

#define DATA_CLASSES_MAX 256 /* largest number of classes: a label is one byte */
#define DATA_NAME_BYTES  32

/* Training or test samples, owned by the data set: images [n,C,H,W] and labels [n]. Each label is
 * below data_set.classes. */
struct data_part {
    const uint8_t *images;
    const uint8_t *labels;
    uint32_t n;
    const uint32_t *slots; /* [n] index of sample i in `images` and `labels`; NULL: index i */
};

/* File with the images (or labels) of a data_part, contiguous from byte `offset`. Every process of
 * the node can open the file. `path` is "" if the data are only in memory. */
struct data_place {
    char path[PATH_MAX];
    uint64_t offset;
};

struct data_set {
    char name[DATA_NAME_BYTES]; /* name of the set in use, such as "mnist" or "digits" */
    const char *source;         /* origin of the images: "real", "own" or "generated" */
    char path[1024];            /* folder of the files; "generated" for a generated set */
    struct shape shape;
    int classes;
    /* Text for messages: the file and image with the largest label (classes - 1). "" if `classes`
     * comes from data_sets.def or is 2. */
    char largest[96];
    struct data_part train, test;
    struct data_place train_images, train_labels;
    struct file_map maps[4];
};

/* Opens a data set. `set`: a name of data_sets.def. `path`: a folder or "auto". "auto" searches
 * $SCALEBENCH_DATA/<set>, $SCALEBENCH_DATA, data/<set>, ../shared/data/<set> and
 * $SCALEBENCH_HOME/data/<set>, in this order; nothing if SCALEBENCH_DATA=none. If "auto" finds no
 * files, "mnist" becomes "digits" and "cifar10" becomes "shapes". "idx" and "npy" need a folder;
 * generated sets need "auto".
 *
 * Generated contents, CIFAR-10 and files to decompress or convert are written once to the cache
 * (cache.h) and mapped from there. Other files are mapped in place. data_load, or the first use,
 * loads the mapped images.
 *
 * ERR_DATA if files are missing in a given folder, incomplete, damaged, inconsistent, or not MNIST
 * despite MNIST's names. ERR_ARGUMENT if `set` is unknown or needs another `path`. */
enum status data_open(struct data_set *data, const char *set, const char *path, struct error *e);

/* Opens a data set like data_open. "idx" and "npy" sets get the name `name` ("auto": the folder's
 * name). ERR_ARGUMENT if the name is too long or belongs to another set. */
enum status data_open_as(struct data_set *data, const char *set, const char *path, const char *name,
                         struct error *e);
void data_close(struct data_set *data);

/* Returns the resident size (MiB) of the mapped files in this process, or NAN if it is unknown. */
double data_resident_mib(const struct data_set *data);

#define DATA_HASH_BYTES 17

/* Writes a hash of all decompressed contents as 16 hexadecimal digits. Plain files are read once;
 * their hash is then cached by path, size, modification time and inode. */
enum status data_hash(const struct data_set *data, char hex[DATA_HASH_BYTES], struct error *e);

/* Touches all pages of a part, because page faults within a timed step would count as compute time.
 * `image_bytes`: size of one image. */
void data_load(const struct data_part *part, size_t image_bytes);

/* Copies the images of the samples in `samples` [n] to `images` [n,C,H,W] and the labels of these
 * samples to `labels` [n]. */
void data_gather(const struct data_part *part, size_t image_bytes, const uint32_t *samples,
                 size_t n, uint8_t *images, uint8_t *labels);

/* For each i < n, sets images[i] to the address of the image of sample samples[i], and labels[i] to
 * the label of this sample. */
void data_locate(const struct data_part *part, size_t image_bytes, const uint32_t *samples,
                 size_t n, const uint8_t **images, uint8_t *labels);

/* Draws image `index` of the generated digits: image [28*28] in bytes and its label. A pure
 * function of (seed, index). */
void digits_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);

/* Draws image `index` of the generated shapes: image [3*32*32] in bytes and its label. A pure
 * function of (seed, index). */
void shapes_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
/* Draws image `index` of the generated noise, [28*28] bytes from 1 to 255, and its label. A pure
 * function of (seed, index). */
void noise_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
