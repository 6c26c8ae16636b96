/* Reads CIFAR-10 (Krizhevsky, "Learning multiple layers of features from tiny images", 2009) in its
 * binary version: six files or their archive, plain or gzip. A record is a label, then the red,
 * green and blue planes of 32x32 pixels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/file.h"
#include "bench/workloads/data/readers.h"
#include "bench/workloads/data/tar.h"
#include "kernels/base/mem.h"

#define CLASSES      10
#define SIDE         32
#define IMAGE_BYTES  (3 * SIDE * SIDE)
#define RECORD_BYTES (1 + IMAGE_BYTES)

enum { TRAIN_FILES = 5, FILES = 6 };

static const data_names file_names[FILES] = {{"data_batch_1.bin"}, {"data_batch_2.bin"},
                                             {"data_batch_3.bin"}, {"data_batch_4.bin"},
                                             {"data_batch_5.bin"}, {"test_batch.bin"}};
static const data_names archive_names = {"cifar-10-binary.tar"};
static const char subfolder[] = "cifar-10-batches-bin"; /* folder inside the archive */

/* Paths of CIFAR-10's six files, or of its archive. */
struct cifar {
    char paths[FILES][DATA_FILE_MAX];
    char archive[DATA_FILE_MAX]; /* path of the archive; "" if the six files are read directly */
};

/* ---- Finding the files ---- */

static enum status find_files(struct cifar *set, const struct data_set *data, const char *folder,
                              bool *found, struct error *e)
{
    char below[DATA_FILE_MAX];
    snprintf(below, sizeof below, "%s/%s", folder, subfolder);
    TRY(data_find_files(set->paths, file_names, FILES, data, folder, found, e));
    if (!*found)
        TRY(data_find_files(set->paths, file_names, FILES, data, below, found, e));
    if (*found)
        return OK;
    TRY(data_find_file(set->archive, folder, archive_names, e));
    *found = set->archive[0] != '\0';
    return OK;
}

/* Looks in `folder` for CIFAR-10 in Python's pickle format. Returns the name of the first file or
 * folder found, or NULL. */
static const char *find_python_form(const char *folder)
{
    static const char *const names[] = {"data_batch_1", "cifar-10-batches-py",
                                        "cifar-10-python.tar.gz"};
    char path[DATA_FILE_MAX];
    struct stat s;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (stat(path, &s) == 0)
            return names[i];
    }
    return NULL;
}

static enum status error_no_files(const struct data_set *data, const struct data_reader *reader,
                                  const char *folder, struct error *e)
{
    const char *python = find_python_form(folder);
    if (python != NULL)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "found %s, the Python form of %s; expected the binary form. Put "
                        "cifar-10-binary.tar.gz into this folder",
                        python, data->name);
    return error_at(
        e, ERR_DATA, folder, 0, 0,
        "no files of %s found; expected cifar-10-binary.tar[.gz] here, or data_batch_1.bin[.gz] to "
        "data_batch_5.bin[.gz] and test_batch.bin[.gz], here or in %s",
        data->name, subfolder);
}

/* ---- Reading records ---- */

/* State while the six files are copied to the cache. Images are written as they are read. Labels
 * are collected and written last. */
struct filling {
    const struct cifar *set;
    struct stream stream;
    struct tar_member member; /* current member of an archive */
    uint8_t *labels;
    size_t n;
    uint32_t counts[2]; /* images read so far: training, test */
};

/* Returns the prefix of an error message: "MEMBER: " for an archive, else "". */
static const char *inside(const struct filling *f, char text[300])
{
    snprintf(text, 300, "%s%s", f->set->archive[0] ? f->member.name : "",
             f->set->archive[0] ? ": " : "");
    return text;
}

static enum status keep_label(struct filling *f, uint8_t label, uint64_t at, struct error *e)
{
    char member[300];
    if (label >= CLASSES)
        return error_at(e, ERR_DATA, f->stream.path, 0, 0,
                        "%sbyte %" PRIu64 ": found label %d in record %" PRIu64
                        ", expected 0 to %d",
                        inside(f, member), at, label, at / RECORD_BYTES, CLASSES - 1);
    TRY(MEM_GROW(f->labels, f->n, "the labels of a data set", e));
    f->labels[f->n++] = label;
    return OK;
}

static enum status read_bytes(struct filling *f, uint8_t *record, size_t *n, struct error *e)
{
    if (f->set->archive[0])
        return tar_read(&f->stream, &f->member, record, RECORD_BYTES, n, e);
    return stream_read(&f->stream, record, RECORD_BYTES, n, e);
}

/* Reads all records of one file: keeps their labels in `f`, writes their images to `sink` and adds
 * the number of records to *count. */
static enum status read_records(struct filling *f, uint32_t *count, int sink, struct error *e)
{
    uint8_t record[RECORD_BYTES];
    char member[300];
    for (uint64_t at = 0;; at += RECORD_BYTES, ++*count) {
        size_t n;
        TRY(read_bytes(f, record, &n, e));
        if (n == 0 && at > 0)
            return OK;
        if (n < RECORD_BYTES)
            return error_at(e, ERR_DATA, f->stream.path, 0, 0,
                            "%sbyte %" PRIu64 ": expected a record of %d bytes, found %zu",
                            inside(f, member), at, RECORD_BYTES, n);
        TRY(keep_label(f, record[0], at, e));
        TRY(cache_write(sink, record + 1, IMAGE_BYTES, e));
    }
}

/* ---- Archive ---- */

/* Moves to the archive member called `name`, searching from the start of the archive. ERR_DATA: not
 * found. If `name` is NULL, reads the whole archive, so that gzip's checksum is verified. */
static enum status find_member(struct filling *f, const char *name, struct error *e)
{
    bool found = true;
    f->member = (struct tar_member){.size = 0};
    TRY(stream_start(&f->stream, e));
    while (found) {
        TRY(tar_next(&f->stream, &f->member, &found, e));
        if (found && name != NULL && f->member.file && strcmp(file_name(f->member.name), name) == 0)
            return OK;
    }
    if (name != NULL)
        return error_at(e, ERR_DATA, f->stream.path, 0, 0, "%s not found in the archive", name);
    uint8_t rest[4096];
    for (size_t n = sizeof rest; n == sizeof rest;)
        TRY(stream_read(&f->stream, rest, sizeof rest, &n, e));
    return OK;
}

/* Reads the archive's six data files. Each search begins at the start of the archive, since members
 * may be in any order. */
static enum status read_archive(struct filling *f, int sink, struct error *e)
{
    TRY(stream_open(&f->stream, f->set->archive, "a tar archive", e));
    TRY(find_member(f, NULL, e));
    for (int file = 0; file < FILES; file++) {
        TRY(find_member(f, file_names[file][0], e));
        TRY(read_records(f, &f->counts[file >= TRAIN_FILES], sink, e));
    }
    return OK;
}

static enum status read_files(struct filling *f, int sink, struct error *e)
{
    for (int file = 0; file < FILES; file++) {
        stream_close(&f->stream);
        TRY(stream_open(&f->stream, f->set->paths[file], "CIFAR-10 records", e));
        TRY(stream_start(&f->stream, e));
        TRY(read_records(f, &f->counts[file >= TRAIN_FILES], sink, e));
    }
    return OK;
}

/* ---- The cache ---- */

/* Layout of the cached contents: training images, test images, training labels, test labels, then
 * the numbers of training and test images (little-endian). */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "counts are written in memory order");

static enum status fill(void *arg, int sink, struct error *e)
{
    struct filling f = {.set = arg};
    enum status status = f.set->archive[0] ? read_archive(&f, sink, e) : read_files(&f, sink, e);
    THEN(status, cache_write(sink, f.labels, f.n, e));
    THEN(status, cache_write(sink, f.counts, sizeof f.counts, e));
    stream_close(&f.stream);
    free(f.labels);
    return status;
}

static enum status make_key(char key[CACHE_KEY_MAX], const struct cifar *set, const char *folder,
                            struct error *e)
{
    snprintf(key, CACHE_KEY_MAX, "cifar10 %s", folder);
    size_t inside = strlen(folder) + 1;
    if (set->archive[0])
        return cache_add_to_key(key, set->archive + inside, set->archive, e);
    for (int file = 0; file < FILES; file++)
        TRY(cache_add_to_key(key, set->paths[file] + inside, set->paths[file], e));
    return OK;
}

static enum status open_folder(struct data_set *data, const struct data_reader *reader,
                               const char *folder, bool *found, struct error *e)
{
    struct cifar set = {.archive = ""};
    struct file_map map;
    char key[CACHE_KEY_MAX];
    uint32_t counts[2];
    TRY(find_files(&set, data, folder, found, e));
    if (!*found)
        return OK;
    TRY(make_key(key, &set, folder, e));
    TRY(cache_open(&map, data->name, key, fill, &set, e));
    memcpy(counts, map.bytes + map.n - sizeof counts, sizeof counts);
    data_fill(data, "real", &map, counts[0], counts[1]);
    return OK;
}

const struct data_reader data_reader_cifar10 = {
    .open = open_folder, .no_files = error_no_files, .otherwise = "shapes"};
