/* Data sets of four files: images and labels to train on, images and labels to test on. Internal to
 * bench/workloads/data/. */
#pragma once

#include "bench/workloads/data/array_file.h"
#include "bench/workloads/data/readers.h"

/* Images and their labels are neighbours. */
enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, PAIR_FILES };

struct pairs {
    const struct array_format *format;
    data_names names[PAIR_FILES];
};

/* Opens the files of `folder` as data set data->name; *found: it has them. Some of them only are ERR_DATA. */
enum status pairs_open(struct data_set *data, const struct data_reader *reader, const char *folder,
                       bool *found, struct error *e);

/* The error of a folder that has none of the files. */
enum status pairs_error_none(const struct data_set *data, const struct data_reader *reader,
                             const char *folder, struct error *e);
