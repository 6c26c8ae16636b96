/* Reads data sets of four files: images and labels for training and testing. They are MNIST's or
 * the user's own, in IDX or NumPy format. MNIST: LeCun, Bottou, Bengio, Haffner, "Gradient-based
 * learning applied to document recognition", Proc. IEEE 86(11), 1998. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/workloads/data/array_file.h"
#include "bench/workloads/data/readers.h"

/* Hash of the original MNIST files, as data_hash writes it. */
#define MNIST_HASH "0344756129f65582"

/* Indices of the four files. The indices of an image file and its label file differ only in the
 * lowest bit. */
enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, PAIR_FILES };

struct pairs {
    const struct array_format *format;
    data_names names[PAIR_FILES];
};

/* Copies of MNIST on the web have a dash or a dot before "idx". Colour images have idx4 in the
 * name, for four dimensions. */
static const struct pairs idx = {
    &array_format_idx,
    {{"train-images-idx3-ubyte", "train-images.idx3-ubyte", "train-images-idx4-ubyte",
      "train-images.idx4-ubyte"},
     {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte"},
     {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte", "t10k-images-idx4-ubyte",
      "t10k-images.idx4-ubyte"},
     {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"}},
};

static const struct pairs npy = {
    &array_format_npy,
    {{"train-images.npy", "train_images.npy"},
     {"train-labels.npy", "train_labels.npy"},
     {"test-images.npy", "test_images.npy"},
     {"test-labels.npy", "test_labels.npy"}},
};

static enum status error_none(const struct data_set *data, const struct data_reader *reader,
                              const char *folder, struct error *e)
{
    char names[DATA_LIST_MAX] = "";
    for (int file = 0; file < PAIR_FILES; file++)
        data_list_names(names, reader->pairs->names[file]);
    return error_at(e, ERR_DATA, folder, 0, 0, "no files of %s found; expected %s", data->name,
                    names);
}

static enum status check_pair(const struct array_file *images, const struct array_file *labels,
                              struct error *e)
{
    if (images->dims[0] != labels->dims[0])
        return error_at(e, ERR_DATA, images->path, 0, 0,
                        "found %" PRIu64 " images, but %s has %" PRIu64
                        " labels; expected one label for each image. Use files of one data set",
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
                        "found %" PRIu32 " channels per image, but %s has %" PRIu32
                        ". Use files of one data set",
                        test->channels, train->path, train->channels);
    if (train->rows != test->rows || train->columns != test->columns)
        return error_at(e, ERR_DATA, test->path, 0, 0,
                        "found images of %" PRIu32 " x %" PRIu32 ", but %s has %" PRIu32
                        " x %" PRIu32 ". Use files of one data set",
                        test->rows, test->columns, train->path, train->rows, train->columns);
    return OK;
}

static void note_largest(struct data_set *data, const struct array_file *labels, uint64_t i)
{
    data->classes = labels->bytes[i] + 1;
    snprintf(data->largest, sizeof data->largest, "%.48s: image %" PRIu64 " has label %d",
             file_name(labels->path), i, labels->bytes[i]);
}

/* Sets data->classes to 1 plus the largest label of the training and test images, or to 2 if all
 * labels are 0. */
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

static enum status read_files(struct data_set *data, const struct pairs *pairs,
                              char paths[PAIR_FILES][DATA_FILE_MAX], struct error *e)
{
    struct array_file file[PAIR_FILES] = {0};
    enum status status = OK;
    for (int i = 0; i < PAIR_FILES && status == OK; i++)
        status = array_open(&file[i], pairs->format, data->name, paths[i],
                            paths[i ^ 1 /* the other file of the pair */], is_images(i), e);
    THEN(status, check_all(file, e));
    if (status == OK)
        fill_data(data, file);
    for (int i = 0; i < PAIR_FILES && status != OK; i++)
        array_close(&file[i]);
    return status;
}

static enum status open_pairs(struct data_set *data, const struct data_reader *reader,
                              const char *folder, bool *found, struct error *e)
{
    char paths[PAIR_FILES][DATA_FILE_MAX];
    const struct pairs *pairs = reader->pairs;
    TRY(data_find_files(paths, pairs->names, PAIR_FILES, data, folder, found, e));
    return *found ? read_files(data, pairs, paths, e) : OK;
}

/* Rejects training data with all labels equal, all images equal or no pixel above 1: signs of a
 * faulty conversion. Each check stops at the first counterexample. */
static enum status check_varied(const struct data_set *data, const char *folder, struct error *e)
{
    const struct data_part *part = &data->train;
    size_t image = shape_count(data->shape), n = part->n * image, dark = 0;
    if (part->n < 2)
        return OK;
    if (memcmp(part->labels, part->labels + 1, part->n - 1) == 0)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "all training images have label %d: expected at least two classes",
                        part->labels[0]);
    while (dark < n && part->images[dark] <= 1)
        dark++;
    if (dark == n)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "no pixel of the training images is above 1: expected bytes from 0 to 255. "
                        "Multiply values from 0 to 1 by 255 before you convert them to bytes");
    if (memcmp(part->images, part->images + image, n - image) == 0)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "all training images are equal: expected different images");
    return OK;
}

static enum status open_own(struct data_set *data, const struct data_reader *reader,
                            const char *folder, bool *found, struct error *e)
{
    TRY(open_pairs(data, reader, folder, found, e));
    enum status status = *found ? check_varied(data, folder, e) : OK;
    if (status != OK)
        data_close(data);
    return status;
}

/* Opens MNIST and checks the hash of its contents, since other images under these file names would
 * appear as MNIST in all results. */
static enum status open_mnist(struct data_set *data, const struct data_reader *reader,
                              const char *folder, bool *found, struct error *e)
{
    char hash[DATA_HASH_BYTES];
    TRY(open_pairs(data, reader, folder, found, e));
    if (!*found)
        return OK;
    enum status status = data_hash(data, hash, e);
    if (status == OK && strcmp(hash, MNIST_HASH) != 0)
        status = error_at(
            e, ERR_DATA, folder, 0, 0,
            "these files are not the files of MNIST. For your own images, use data: {set: idx, "
            "name: NAME, path: %s}",
            folder);
    data->source = "real";
    if (status != OK)
        data_close(data);
    return status;
}

const struct data_reader data_reader_mnist = {
    .open = open_mnist, .no_files = error_none, .pairs = &idx, .otherwise = "digits"};
const struct data_reader data_reader_idx = {
    .open = open_own, .no_files = error_none, .pairs = &idx};
const struct data_reader data_reader_npy = {
    .open = open_own, .no_files = error_none, .pairs = &npy};
