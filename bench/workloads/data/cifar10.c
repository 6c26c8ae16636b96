/* CIFAR-10 (Krizhevsky, "Learning multiple layers of features from tiny images", 2009) in its
 * binary form: five files to train with and one to test, of records that are a label and the planes
 * red, green and blue of 32x32. As files, plain or gzip, or as the archive that is distributed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/workloads/data/search.h"
#include "bench/workloads/data/tar.h"

#define CLASSES      10
#define SIDE         32
#define IMAGE_BYTES  (3 * SIDE * SIDE)
#define RECORD_BYTES (1 + IMAGE_BYTES)

enum { TRAIN_FILES = 5, FILES = 6 };

static const char *const file_names[FILES] = {"data_batch_1.bin", "data_batch_2.bin",
                                              "data_batch_3.bin", "data_batch_4.bin",
                                              "data_batch_5.bin", "test_batch.bin"};
static const char subfolder[] = "cifar-10-batches-bin"; /* which the archive makes */

/* Either six files or one archive. */
struct cifar {
    char paths[FILES][DATA_FILE_MAX];
    char archive[DATA_FILE_MAX]; /* "" when there are files */
};

/* ---- Looking for the files ---- */

/* Sets path to folder/name, or to the same with ".gz", or to "" when there is neither. */
static enum status find_file(char path[DATA_FILE_MAX], const char *folder, const char *name,
                             struct error *e)
{
    TRY(data_search_file(path, folder, name, "", e));
    return path[0] != '\0' ? OK : data_search_file(path, folder, name, ".gz", e);
}

/* Finds all six files or none; some of them only are an error in any folder. */
static enum status find_batches(struct cifar *set, const char *folder, bool *found, struct error *e)
{
    int n = 0, missing = 0;
    for (int file = 0; file < FILES; file++) {
        TRY(find_file(set->paths[file], folder, file_names[file], e));
        if (set->paths[file][0])
            n++;
        else
            missing = file;
    }
    *found = n == FILES;
    if (n == 0 || *found)
        return OK;
    return error_at(e, ERR_DATA, folder, 0, 0,
                    "some files of cifar10 are here, but neither %s nor %s.gz", file_names[missing],
                    file_names[missing]);
}

static enum status find_files(struct cifar *set, const char *folder, bool *found, struct error *e)
{
    char below[DATA_FILE_MAX];
    snprintf(below, sizeof below, "%s/%s", folder, subfolder);
    TRY(find_batches(set, folder, found, e));
    if (!*found)
        TRY(find_batches(set, below, found, e));
    if (*found)
        return OK;
    TRY(find_file(set->archive, folder, "cifar-10-binary.tar", e));
    *found = set->archive[0] != '\0';
    return OK;
}

/* The set's other form, pickled for Python: a name of it that the folder has; NULL: none. */
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

static enum status error_no_files(const char *folder, const char *set, struct error *e)
{
    const char *python = find_python_form(folder);
    if (python != NULL)
        return error_at(e, ERR_DATA, folder, 0, 0,
                        "%s is %s in its Python form; expected the binary form: put "
                        "cifar-10-binary.tar.gz here",
                        python, set);
    return error_at(e, ERR_DATA, folder, 0, 0,
                    "holds no files of %s; looked for data_batch_1.bin[.gz] to "
                    "data_batch_5.bin[.gz] and test_batch.bin[.gz], here and in %s, and for "
                    "cifar-10-binary.tar[.gz]",
                    set, subfolder);
}

/* ---- Reading records ---- */

/* The six files on their way into the cache: images go there at once, labels after them. */
struct filling {
    const struct cifar *set;
    struct stream stream;
    struct tar_member member; /* of an archive */
    uint8_t *labels;
    size_t n, room;
    uint32_t counts[2]; /* training, test */
};

/* What an error says before the byte's place: the member of an archive. */
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
                        "%sbyte %" PRIu64 ": label %d of record %" PRIu64 ", 0 to %d are accepted",
                        inside(f, member), at, label, at / RECORD_BYTES, CLASSES - 1);
    if (f->n == f->room) {
        size_t room = f->room > 0 ? 2 * f->room : 65536;
        uint8_t *labels = realloc(f->labels, room);
        if (labels == NULL)
            return error_no_memory(e, "the labels of a data set");
        f->labels = labels;
        f->room = room;
    }
    f->labels[f->n++] = label;
    return OK;
}

static enum status read_bytes(struct filling *f, uint8_t *record, size_t *n, struct error *e)
{
    if (f->set->archive[0])
        return tar_read(&f->stream, &f->member, record, RECORD_BYTES, n, e);
    return stream_read(&f->stream, record, RECORD_BYTES, n, e);
}

/* All records of one file. */
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
                            "%sbyte %" PRIu64 ": a record of %d bytes expected, %zu found",
                            inside(f, member), at, RECORD_BYTES, n);
        TRY(keep_label(f, record[0], at, e));
        TRY(cache_write(sink, record + 1, IMAGE_BYTES, e));
    }
}

/* ---- From an archive ---- */

static bool is_member(const struct tar_member *member, const char *name)
{
    const char *slash = strrchr(member->name, '/');
    return member->file && strcmp(slash != NULL ? slash + 1 : member->name, name) == 0;
}

/* Goes to the member called `name`; NULL: to the archive's end, so that gzip's checksum of all of
 * it is held to. */
static enum status find_member(struct filling *f, const char *name, struct error *e)
{
    bool found = true;
    f->member = (struct tar_member){.size = 0};
    TRY(stream_start(&f->stream, e));
    while (found) {
        TRY(tar_next(&f->stream, &f->member, &found, e));
        if (found && name != NULL && is_member(&f->member, name))
            return OK;
    }
    if (name != NULL)
        return error_at(e, ERR_DATA, f->stream.path, 0, 0, "the archive holds no %s", name);
    uint8_t rest[4096];
    for (size_t n = sizeof rest; n == sizeof rest;)
        TRY(stream_read(&f->stream, rest, sizeof rest, &n, e));
    return OK;
}

/* The members lie in any order, so that each is looked for from the beginning. */
static enum status read_archive(struct filling *f, int sink, struct error *e)
{
    TRY(stream_open(&f->stream, f->set->archive, "a tar archive", e));
    TRY(find_member(f, NULL, e));
    for (int file = 0; file < FILES; file++) {
        TRY(find_member(f, file_names[file], e));
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

/* Contents: images, then labels, of training and test; then both counts, low byte first. */
#define FOOTER_BYTES 8

static void put_counts(uint8_t footer[FOOTER_BYTES], const uint32_t counts[2])
{
    for (int i = 0; i < FOOTER_BYTES; i++)
        footer[i] = (uint8_t)(counts[i / 4] >> 8 * (i % 4));
}

static uint32_t get_count(const uint8_t *footer, int which)
{
    const uint8_t *b = footer + 4 * which;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static enum status write_all(struct filling *f, int sink, struct error *e)
{
    uint8_t footer[FOOTER_BYTES];
    TRY(f->set->archive[0] ? read_archive(f, sink, e) : read_files(f, sink, e));
    put_counts(footer, f->counts);
    TRY(cache_write(sink, f->labels, f->n, e));
    return cache_write(sink, footer, sizeof footer, e);
}

static enum status fill(void *arg, int sink, struct error *e)
{
    struct filling f = {.set = arg};
    enum status status = write_all(&f, sink, e);
    stream_close(&f.stream);
    free(f.labels);
    return status;
}

/* Adds to a key all that the bytes of one file below `folder` depend on. */
static enum status add_to_key(char key[CACHE_KEY_MAX], const char *folder, const char *path,
                              struct error *e)
{
    struct stat s;
    size_t used = strlen(key);
    if (stat(path, &s) != 0)
        return error_at(e, ERR_DATA, path, 0, 0, "cannot be read: %s", strerror(errno));
    int length = snprintf(key + used, CACHE_KEY_MAX - used, " %s size=%jd mtime=%jd.%09ld",
                          path + strlen(folder) + 1, (intmax_t)s.st_size,
                          (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    if (length < 0 || (size_t)length >= CACHE_KEY_MAX - used)
        return error_at(e, ERR_DATA, path, 0, 0, "the path is too long");
    return OK;
}

static enum status make_key(char key[CACHE_KEY_MAX], const struct cifar *set, const char *folder,
                            struct error *e)
{
    snprintf(key, CACHE_KEY_MAX, "cifar10 %s", folder);
    if (set->archive[0])
        return add_to_key(key, folder, set->archive, e);
    for (int file = 0; file < FILES; file++)
        TRY(add_to_key(key, folder, set->paths[file], e));
    return OK;
}

static void fill_data(struct data_set *data, const struct file_map *map)
{
    const uint8_t *footer = map->bytes + map->n - FOOTER_BYTES;
    uint32_t train = get_count(footer, 0), test = get_count(footer, 1);
    const uint8_t *images = map->bytes, *labels = footer - train - test;
    data->source = "real";
    data->shape = (struct shape){3, SIDE, SIDE};
    data->classes = CLASSES;
    data->train = (struct data_part){.images = images, .labels = labels, .n = train};
    data->test = (struct data_part){
        .images = images + (size_t)train * IMAGE_BYTES, .labels = labels + train, .n = test};
    data->train_images = place_in_map(map, images);
    data->train_labels = place_in_map(map, labels);
    data->maps[0] = *map;
}

static enum status open_folder(struct data_set *data, const char *folder, bool *found,
                               struct error *e)
{
    struct cifar set = {.archive = ""};
    struct file_map map;
    char key[CACHE_KEY_MAX];
    TRY(find_files(&set, folder, found, e));
    if (!*found)
        return OK;
    TRY(make_key(key, &set, folder, e));
    TRY(cache_open(&map, "cifar10", key, fill, &set, e));
    fill_data(data, &map);
    return OK;
}

enum status data_open_cifar10(struct data_set *data, const char *path, struct error *e)
{
    static const struct data_search search = {.set = "cifar10",
                                              .open = open_folder,
                                              .no_files = error_no_files,
                                              .otherwise = data_open_shapes,
                                              .substitute = "generated shapes"};
    return data_search_run(data, path, &search, e);
}
