/* Data sets of images and labels in files of their own: MNIST's IDX files, anybody's under the same names, and arrays
 * of NumPy. LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition", Proc. IEEE
 * 86(11), 1998. */
#include <string.h>

#include "bench/workloads/data/pairs.h"

/* What data_hash makes of MNIST's files. */
#define MNIST_HASH "0344756129f65582"

/* Mirrors write a dash or a dot; images in colour have one more dimension. */
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

/* Anything else under these names would pass for MNIST in every table. */
static enum status open_mnist(struct data_set *data, const struct data_reader *reader,
                              const char *folder, bool *found, struct error *e)
{
    char hash[DATA_HASH_BYTES];
    TRY(pairs_open(data, reader, folder, found, e));
    if (!*found)
        return OK;
    enum status status = data_hash(data, hash, e);
    if (status == OK && strcmp(hash, MNIST_HASH) != 0)
        status = error_at(e, ERR_DATA, folder, 0, 0,
                          "these files are not those of MNIST; for images of your own write "
                          "data: {set: idx, name: NAME, path: %s}",
                          folder);
    data->source = "real";
    if (status != OK)
        data_close(data);
    return status;
}

const struct data_reader data_reader_mnist = {
    .open = open_mnist, .no_files = pairs_error_none, .pairs = &idx, .otherwise = "digits"};
const struct data_reader data_reader_idx = {
    .open = pairs_open, .no_files = pairs_error_none, .pairs = &idx};
const struct data_reader data_reader_npy = {
    .open = pairs_open, .no_files = pairs_error_none, .pairs = &npy};
