/* Data sets: bytes of images and labels, mapped read-only from a cache file that is made once. */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/workloads/data/cache.h"
#include "kernels/base/error.h"
#include "kernels/desc/net_desc.h"

#define DATA_CLASSES_MAX 256 /* a label is a byte */
#define DATA_NAME_BYTES  32

/* n samples: images [.,C,H,W] bytes, labels [.] below `classes`. Sample i lies at slots[i], or at i
 * where `slots` is NULL. Owned by the data set. */
struct data_part {
    const uint8_t *images;
    const uint8_t *labels;
    uint32_t n;
    const uint32_t *slots; /* [n] */
};

/* Where the bytes of sample 0 lie, the others behind it, in a file that every process of the node
 * may open; path "" where there is no such file. */
struct data_place {
    char path[PATH_MAX];
    uint64_t offset;
};

struct data_set {
    char name[DATA_NAME_BYTES]; /* "mnist", "digits": what was really used */
    const char *source;         /* "real", "own" or "generated" */
    char path[1024];            /* of the files that were read; "generated" */
    struct shape shape;
    int classes;
    char largest
        [96]; /* which file and image the number of classes is from; "" where the set has it */
    struct data_part train, test;
    struct data_place train_images, train_labels;
    struct file_map maps[4];
};

/* Opens a data set. `set` is a name of data_sets.def, `path` a folder or "auto": then
 * $SCALEBENCH_DATA/<set>, $SCALEBENCH_DATA, data/<set>, ../shared/data/<set> and $SCALEBENCH_HOME/data/<set>
 * are tried in this order, and "mnist" that is found nowhere becomes "digits", "cifar10" becomes "shapes";
 * SCALEBENCH_DATA=none searches no folder. "idx" and "npy" take no "auto". Files under the names of MNIST's that hold anything else are ERR_DATA. A folder
 * that is given and holds no such files is ERR_DATA, and so is one that holds some of them only.
 * Generated sets take only "auto".
 *
 * Compressed or generated contents are written once to a cache folder ($SCALEBENCH_CACHE, else
 * $XDG_CACHE_HOME/scalebench, else ~/.cache/scalebench), safe against processes that do the same at
 * the same time, and mapped from there; plain files of bytes are mapped where they lie. Nothing but
 * headers and labels is read from a mapping before data_load or the first use. Where the folder
 * cannot be written, a warning names it and why, and the contents are made in this process's
 * memory.
 *
 * Wrong magic numbers, truncated or overlong files, counts that disagree, labels out of range and
 * corrupt gzip are ERR_DATA with the file, what was found and what was expected. */
enum status data_open(struct data_set *data, const char *set, const char *path, struct error *e);

/* The same, "idx" and "npy" under a name of their own; "auto" is its folder's. ERR_ARGUMENT for a name that is
 * too long, or that of another set. */
enum status data_open_as(struct data_set *data, const char *set, const char *path, const char *name,
                         struct error *e);
void data_close(struct data_set *data);

/* What of the set's files is in this process's memory; NAN where that cannot be told. */
double data_resident_mib(const struct data_set *data);

#define DATA_HASH_BYTES 17

/* 16 hexadecimal digits over all contents of the set, compressed or not. Plain files are read for
 * it once and then known by path, size, time and number, as long as the cache folder is kept. */
enum status data_hash(const struct data_set *data, char hex[DATA_HASH_BYTES], struct error *e);

/* Brings all of a part into this process's memory: a page fault inside a timed step would be
 * measured as computing. `image_bytes` are those of one image. */
void data_load(const struct data_part *part, size_t image_bytes);

/* Copies images and labels of n samples to images [n,C,H,W], labels [n]. */
void data_gather(const struct data_part *part, size_t image_bytes, const uint32_t *samples,
                 size_t n, uint8_t *images, uint8_t *labels);

/* The same without copying: images [n] point into the part. */
void data_locate(const struct data_part *part, size_t image_bytes, const uint32_t *samples,
                 size_t n, const uint8_t **images, uint8_t *labels);

/* Draws digit number `index` of a generated set: image [28*28] bytes and its label, a pure function
 * of (seed, index). */
void digits_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);

/* The same of generated shapes: image [3*32*32]. */
void shapes_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
