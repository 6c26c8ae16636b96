#include "bench/workloads/data/pairs.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench/base/file.h"

enum status pairs_error_none(const struct data_set *data, const struct data_reader *reader,
                             const char *folder, struct error *e)
{
    char names[DATA_LIST_MAX] = "";
    for (int file = 0; file < PAIR_FILES; file++)
        data_list_names(names, reader->pairs->names[file]);
    return error_at(e, ERR_DATA, folder, 0, 0, "holds no files of %s; looked for %s", data->name,
                    names);
}

static enum status check_pair(const struct array_file *images, const struct array_file *labels,
                              struct error *e)
{
    if (images->dims[0] != labels->dims[0])
        return error_at(e, ERR_DATA, images->path, 0, 0,
                        "%" PRIu64 " images, but %s has %" PRIu64
                        " labels; expected one label for each image: use two files of the same set",
                        images->dims[0], labels->path, labels->dims[0]);
    return OK;
}

static enum status check_all(const struct array_file file[PAIR_FILES], struct error *e)
{
    const struct array_file *train = &file[TRAIN_IMAGES], *test = &file[TEST_IMAGES];
    TRY(check_pair(train, &file[TRAIN_LABELS], e));
    TRY(check_pair(test, &file[TEST_LABELS], e));
    if (train->channels != test->channels)
        return error_at(e, ERR_DATA, test->path, 0, 0,
                        "images of %" PRIu32 " channels, but %s has %" PRIu32
                        "; expected as many: use two files of the same set",
                        test->channels, train->path, train->channels);
    if (train->rows != test->rows || train->columns != test->columns)
        return error_at(e, ERR_DATA, test->path, 0, 0,
                        "images of %" PRIu32 " x %" PRIu32 " but %s has %" PRIu32 " x %" PRIu32,
                        test->rows, test->columns, train->path, train->rows, train->columns);
    return OK;
}

static void note_largest(struct data_set *data, const struct array_file *labels, uint64_t i)
{
    data->classes = labels->bytes[i] + 1;
    snprintf(data->largest, sizeof data->largest, "%.48s: image %" PRIu64 " has label %d",
             file_name(labels->path), i, labels->bytes[i]);
}

/* One more than the largest label. */
static void count_classes(struct data_set *data, const struct array_file *train,
                          const struct array_file *test)
{
    const struct array_file *labels[] = {train, test};
    data->classes = 2;
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < labels[k]->dims[0]; i++)
            if (labels[k]->bytes[i] >= data->classes)
                note_largest(data, labels[k], i);
}

static void fill_data(struct data_set *data, struct array_file file[PAIR_FILES])
{
    const struct array_file *images = &file[TRAIN_IMAGES];
    data->source = "own";
    data->shape = (struct shape){(int)images->channels, (int)images->rows, (int)images->columns};
    count_classes(data, &file[TRAIN_LABELS], &file[TEST_LABELS]);
    data->train = (struct data_part){.images = images->bytes,
                                     .labels = file[TRAIN_LABELS].bytes,
                                     .n = (uint32_t)images->dims[0]};
    data->test = (struct data_part){.images = file[TEST_IMAGES].bytes,
                                    .labels = file[TEST_LABELS].bytes,
                                    .n = (uint32_t)file[TEST_IMAGES].dims[0]};
    data->train_images = place_in_map(&images->map, images->bytes);
    data->train_labels = place_in_map(&file[TRAIN_LABELS].map, file[TRAIN_LABELS].bytes);
    for (int i = 0; i < PAIR_FILES; i++)
        data->maps[i] = file[i].map;
}

static bool is_images(int file)
{
    return file == TRAIN_IMAGES || file == TEST_IMAGES;
}

/* The labels of images, the images of labels. */
static int partner_of(int file)
{
    return file ^ 1;
}

static enum status read_files(struct data_set *data, const struct pairs *pairs,
                              char paths[PAIR_FILES][DATA_FILE_MAX], struct error *e)
{
    struct array_file file[PAIR_FILES] = {0};
    enum status status = OK;
    for (int i = 0; i < PAIR_FILES && status == OK; i++)
        status = array_open(&file[i], pairs->format, data->name, paths[i], paths[partner_of(i)],
                            is_images(i), e);
    THEN(status, check_all(file, e));
    if (status == OK)
        fill_data(data, file);
    for (int i = 0; i < PAIR_FILES && status != OK; i++)
        array_close(&file[i]);
    return status;
}

enum status pairs_open(struct data_set *data, const struct data_reader *reader, const char *folder,
                       bool *found, struct error *e)
{
    char paths[PAIR_FILES][DATA_FILE_MAX];
    const struct pairs *pairs = reader->pairs;
    TRY(data_find_files(paths, pairs->names, PAIR_FILES, data, folder, found, e));
    return *found ? read_files(data, pairs, paths, e) : OK;
}
