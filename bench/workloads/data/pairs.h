/* Data sets of four files: images and labels to train on, images and labels to test on. Internal to
 * bench/workloads/data/. */
#pragma once

#include <stdbool.h>

#include "bench/workloads/data/array_file.h"
#include "bench/workloads/data/data_set.h"

/* Images and their labels are neighbours. */
enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, PAIR_FILES };
enum { PAIR_NAMES = 4 };

/* What such files are called: names of each, the first that is in the folder counts, NULL where there are fewer. Any may
 * have ".gz" behind it; a plain file wins over a compressed one. */
struct pairs {
    const struct array_format *format;
    const char *names[PAIR_FILES][PAIR_NAMES];
};

/* Opens the files of `folder` as data set data->name; *found: it has them. Some of them only are ERR_DATA. */
enum status pairs_open(struct data_set *data, const struct pairs *pairs, const char *folder,
                       bool *found, struct error *e);

/* The error of a folder that has none of the files of `set`. */
enum status pairs_error_none(const struct pairs *pairs, const char *folder, const char *set,
                             struct error *e);
