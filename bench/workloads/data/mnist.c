/* Four IDX files: MNIST's, or anybody's under the same names. LeCun, Bottou, Bengio, Haffner,
 * "Gradient-based learning applied to document recognition", Proc. IEEE 86(11), 1998. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/workloads/data/idx.h"
#include "bench/workloads/data/readers.h"
#include "bench/workloads/data/search.h"

/* What data_hash makes of MNIST's files. */
#define MNIST_HASH "0344756129f65582"

/* Images and their labels are neighbours. */
enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, FILES };

static const struct {
    const char *stem;
    int n_dims;
} files[FILES] = {
    {"train-images", 3},
    {"train-labels", 1},
    {"t10k-images", 3},
    {"t10k-labels", 1},
};

#define NAME_MAX_BYTES 40
#define FILE_MAX       1152

/* ---- Looking for the files ---- */

#define SPELLINGS 4

/* Images in colour have one more dimension, and then as many spellings again. */
static int spellings_of(int file)
{
    return files[file].n_dims == 3 ? 2 * SPELLINGS : SPELLINGS;
}

/* Mirrors write a dash or a dot; a plain file wins over a compressed one. */
static char *spell(char name[NAME_MAX_BYTES], int file, int spelling)
{
    snprintf(name, NAME_MAX_BYTES, "%s%cidx%d-ubyte%s", files[file].stem, spelling % 2 ? '.' : '-',
             files[file].n_dims + spelling / SPELLINGS, spelling % SPELLINGS < 2 ? "" : ".gz");
    return name;
}

/* Sets path to the first spelling of `file` in `folder`, to "" when there is none. */
static enum status find_file(char path[FILE_MAX], const char *folder, int file, struct error *e)
{
    struct stat s;
    char name[NAME_MAX_BYTES];
    for (int spelling = 0; spelling < spellings_of(file); spelling++) {
        snprintf(path, FILE_MAX, "%s/%s", folder, spell(name, file, spelling));
        if (stat(path, &s) == 0)
            return OK;
        if (errno != ENOENT && errno != ENOTDIR)
            return error_at(e, ERR_DATA, path, 0, 0, "cannot be looked at: %s", strerror(errno));
    }
    path[0] = '\0';
    return OK;
}

static enum status error_missing(const struct data_set *data, int file, struct error *e)
{
    char name[SPELLINGS][NAME_MAX_BYTES];
    for (int spelling = 0; spelling < SPELLINGS; spelling++)
        spell(name[spelling], file, spelling);
    return error_at(e, ERR_DATA, data->path, 0, 0,
                    "some files of %s are here, but none of %s, %s, %s, %s", data->name, name[0],
                    name[1], name[2], name[3]);
}

/* Finds all four files or none; some of them only are an error in any folder. */
static enum status find_files(char paths[FILES][FILE_MAX], const struct data_set *data, bool *found,
                              struct error *e)
{
    int n = 0, missing = 0;
    for (int file = 0; file < FILES; file++) {
        TRY(find_file(paths[file], data->path, file, e));
        if (paths[file][0])
            n++;
        else
            missing = file;
    }
    *found = n == FILES;
    return n == 0 || n == FILES ? OK : error_missing(data, missing, e);
}

static enum status error_no_files(const char *folder, const char *set, struct error *e)
{
    char names[FILES * 2 * (NAME_MAX_BYTES + 8)] = "", name[NAME_MAX_BYTES];
    size_t used = 0;
    for (int file = 0; file < FILES; file++)
        for (int spelling = 0; spelling < 2; spelling++)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s[.gz]",
                                     used ? ", " : "", spell(name, file, spelling));
    return error_at(e, ERR_DATA, folder, 0, 0,
                    "holds no files of %s; looked for %s; images in colour are idx4, not idx3", set,
                    names);
}

/* ---- Reading them ---- */

static enum status check_pair(const struct idx_file *images, const struct idx_file *labels,
                              struct error *e)
{
    if (images->dims[0] != labels->dims[0])
        return error_at(e, ERR_DATA, images->path, 0, 0,
                        "byte 4: %" PRIu32 " images, but %s has %" PRIu32
                        " labels; expected one label for each image: use two files of the same set",
                        images->dims[0], labels->path, labels->dims[0]);
    return OK;
}

static enum status check_all(const struct idx_file file[FILES], struct error *e)
{
    const struct idx_file *train = &file[TRAIN_IMAGES], *test = &file[TEST_IMAGES];
    TRY(check_pair(train, &file[TRAIN_LABELS], e));
    TRY(check_pair(test, &file[TEST_LABELS], e));
    if (train->channels != test->channels)
        return error_at(e, ERR_DATA, test->path, 0, 0,
                        "images of %" PRIu32 " channels, but %s has %" PRIu32
                        "; expected as many: use two files of the same set",
                        test->channels, train->path, train->channels);
    if (train->rows != test->rows || train->columns != test->columns)
        return error_at(e, ERR_DATA, test->path, 0, 0,
                        "byte 8: images of %" PRIu32 " x %" PRIu32 " but %s has %" PRIu32
                        " x %" PRIu32,
                        test->rows, test->columns, train->path, train->rows, train->columns);
    return OK;
}

static void note_largest(struct data_set *data, const struct idx_file *labels, uint32_t i)
{
    const char *slash = strrchr(labels->path, '/');
    data->classes = labels->bytes[i] + 1;
    snprintf(data->largest, sizeof data->largest, "%.48s: image %" PRIu32 " has label %d",
             slash != NULL ? slash + 1 : labels->path, i, labels->bytes[i]);
}

/* One more than the largest label. */
static void count_classes(struct data_set *data, const struct idx_file *train,
                          const struct idx_file *test)
{
    const struct idx_file *labels[] = {train, test};
    data->classes = 2;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < labels[k]->dims[0]; i++)
            if (labels[k]->bytes[i] >= data->classes)
                note_largest(data, labels[k], i);
}

static void fill_data(struct data_set *data, struct idx_file file[FILES])
{
    const struct idx_file *images = &file[TRAIN_IMAGES];
    data->source = "own";
    data->shape = (struct shape){(int)images->channels, (int)images->rows, (int)images->columns};
    count_classes(data, &file[TRAIN_LABELS], &file[TEST_LABELS]);
    data->train = (struct data_part){
        .images = images->bytes, .labels = file[TRAIN_LABELS].bytes, .n = images->dims[0]};
    data->test = (struct data_part){.images = file[TEST_IMAGES].bytes,
                                    .labels = file[TEST_LABELS].bytes,
                                    .n = file[TEST_IMAGES].dims[0]};
    data->train_images = place_in_map(&images->map, images->bytes);
    data->train_labels = place_in_map(&file[TRAIN_LABELS].map, file[TRAIN_LABELS].bytes);
    for (int i = 0; i < FILES; i++)
        data->maps[i] = file[i].map;
}

/* The labels of images, the images of labels. */
static int partner_of(int file)
{
    return file ^ 1;
}

static enum status read_files(struct data_set *data, char paths[FILES][FILE_MAX], struct error *e)
{
    struct idx_file file[FILES] = {0};
    enum status status = OK;
    for (int i = 0; i < FILES && status == OK; i++)
        status = idx_open(&file[i], data->name, paths[i], paths[partner_of(i)], files[i].n_dims, e);
    THEN(status, check_all(file, e));
    if (status == OK)
        fill_data(data, file);
    for (int i = 0; i < FILES && status != OK; i++)
        idx_close(&file[i]);
    return status;
}

/* ---- The data set ---- */

/* Opens the files of `folder`; *found tells whether it has them. */
static enum status open_folder(struct data_set *data, const char *folder, bool *found,
                               struct error *e)
{
    char paths[FILES][FILE_MAX];
    TRY(find_files(paths, data, found, e));
    return *found ? read_files(data, paths, e) : OK;
}

/* Anything else under these names would pass for MNIST in every table. */
static enum status open_mnist(struct data_set *data, const char *folder, bool *found,
                              struct error *e)
{
    char hash[DATA_HASH_BYTES];
    TRY(open_folder(data, folder, found, e));
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

enum status data_open_mnist(struct data_set *data, const char *path, struct error *e)
{
    static const struct data_search search = {.set = "mnist",
                                              .open = open_mnist,
                                              .no_files = error_no_files,
                                              .otherwise = data_open_digits,
                                              .substitute = "generated digits"};
    return data_search_run(data, path, &search, e);
}

enum status data_open_idx(struct data_set *data, const char *path, struct error *e)
{
    static const struct data_search search = {
        .set = "idx", .open = open_folder, .no_files = error_no_files};
    return data_search_run(data, path, &search, e);
}
