/* Files of data sets. The first byte selects the kind: 0 IDX labels, 1 IDX images, 2 packed IDX
 * images, 3 an archive of CIFAR-10, 4 a packed archive, 5 the six files of CIFAR-10 with the same
 * bytes each, 6 the four files of a user's IDX set, 7 an archive whose headers get correct
 * checksums, 8 .npy labels, 9 .npy images, 10 packed .npy images, 11 the four files of a user's
 * .npy set. For 6, 7 and 11, each bit of the next byte selects whether this harness packs a file.
 * Random packed bytes would have wrong checksums, and readers would stop there. */
#include "bench/tests/fuzz/fuzz.h"

#include <dirent.h>
#include <zlib.h>

#include "bench/workloads/data/array_file.h"
#include "bench/workloads/data/data_set.h"

enum {
    LABELS,
    IMAGES,
    PACKED_IMAGES,
    ARCHIVE,
    PACKED_ARCHIVE,
    BATCHES,
    SET,
    SUMMED_ARCHIVE,
    NPY_LABELS,
    NPY_IMAGES,
    PACKED_NPY_IMAGES,
    NPY_SET,
    KINDS
};

static void empty_folder(void)
{
    DIR *folder = opendir(fuzz_folder());
    FUZZ_ASSERT(folder);
    for (struct dirent *d; (d = readdir(folder));)
        if (d->d_type == DT_REG)
            unlink(fuzz_path(d->d_name));
    closedir(folder);
}

static void read_array(const struct array_format *format, const char *name, bool images,
                       const uint8_t *data, size_t size)
{
    struct array_file file;
    struct error e = {.status = OK};
    enum status status =
        array_open(&file, format, "mnist", fuzz_file(name, data, size), "partner", images, &e);
    fuzz_said(status, &e);
    size_t bytes = 1;
    for (int d = 0; status == OK && d < file.n_dims; d++)
        bytes *= file.dims[d];
    if (status == OK)
        FUZZ_ASSERT(file.bytes[0] + file.bytes[bytes - 1] >= 0);
    array_close(&file);
}

static void look_at(const struct data_set *d, const struct data_part *part)
{
    size_t image = shape_count(d->shape);
    data_load(part, image);
    for (uint32_t i = 0; i < part->n; i++)
        FUZZ_ASSERT(part->labels[i] < d->classes);
}

static void read_set(const char *set)
{
    struct data_set d;
    struct error e = {.status = OK};
    enum status status = data_open(&d, set, fuzz_folder(), &e);
    fuzz_said(status, &e);
    if (status != OK)
        return;
    look_at(&d, &d.train);
    look_at(&d, &d.test);
    data_close(&d);
}

static void write_batches(const uint8_t *data, size_t size)
{
    char name[32];
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        fuzz_file(name, data, size);
    }
    fuzz_file("test_batch.bin", data, size);
}

/* Under this name or, packed, with ".gz" behind it. */
static void write_file(const char *name, const uint8_t *data, size_t size, bool packed)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.gz", name);
    if (!packed) {
        fuzz_file(name, data, size);
        return;
    }
    gzFile out = gzopen(fuzz_path(whole), "wb1");
    FUZZ_ASSERT(out && gzwrite(out, data, (unsigned)size) == (int)size && gzclose(out) == Z_OK);
}

static void write_set(const char *const names[4], const uint8_t *data, size_t size, unsigned packed)
{
    const uint8_t *part;
    size_t n;
    for (int i = 0; i < 4 && fuzz_part(&data, &size, &part, &n); i++)
        write_file(names[i], part, n, packed >> i & 1);
}

/* From one header to the next, as far as they say how long their members are. */
static void sum_headers(uint8_t *archive, size_t size)
{
    enum { BLOCK = 512, SIZE_AT = 124, SUM_AT = 148, MAGIC_AT = 257 };
    for (size_t at = 0; at + BLOCK <= size;) {
        uint8_t *header = archive + at;
        char length[13] = "", text[8];
        unsigned sum = 0;
        memcpy(length, header + SIZE_AT, 12);
        memcpy(header + MAGIC_AT, "ustar", 5);
        memset(header + SUM_AT, ' ', 8);
        for (int i = 0; i < BLOCK; i++)
            sum += header[i];
        snprintf(text, sizeof text, "%06o", sum);
        memcpy(header + SUM_AT, text, 7);
        size_t member = strtoul(length, NULL, 8), left = size - at - BLOCK;
        at += BLOCK + (member < left ? (member + BLOCK - 1) / BLOCK * BLOCK : left);
    }
}

/* Two blocks of zeros end it. */
static void write_archive(const uint8_t *data, size_t size, bool packed)
{
    enum { END = 1024 };
    uint8_t *archive = calloc(1, size + END);
    FUZZ_ASSERT(archive);
    memcpy(archive, data, size);
    sum_headers(archive, size);
    write_file("cifar-10-binary.tar", archive, size + END, packed);
    free(archive);
}

static void read_built(int kind, const uint8_t *data, size_t size)
{
    static const char *const idx[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                      "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    static const char *const npy[] = {"train-images.npy", "train-labels.npy", "test-images.npy",
                                      "test-labels.npy"};
    if (size == 0)
        return;
    if (kind == SUMMED_ARCHIVE)
        write_archive(data + 1, size - 1, *data & 1);
    else
        write_set(kind == SET ? idx : npy, data + 1, size - 1, *data);
    read_set(kind == SET ? "idx" : kind == NPY_SET ? "npy" : "cifar10");
}

static void read_found(int kind, const uint8_t *data, size_t size)
{
    if (kind == BATCHES)
        write_batches(data, size);
    else
        fuzz_file(kind == ARCHIVE ? "cifar-10-binary.tar" : "cifar-10-binary.tar.gz", data, size);
    read_set("cifar10");
}

/* Kinds of one array: its format, its file's name, whether it holds images. */
static const struct {
    const struct array_format *format;
    const char *name;
    bool images;
} arrays[KINDS] = {
    [LABELS] = {&array_format_idx, "labels", false},
    [IMAGES] = {&array_format_idx, "images", true},
    [PACKED_IMAGES] = {&array_format_idx, "images.gz", true},
    [NPY_LABELS] = {&array_format_npy, "labels", false},
    [NPY_IMAGES] = {&array_format_npy, "images", true},
    [PACKED_NPY_IMAGES] = {&array_format_npy, "images.gz", true},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int kind = *data++ % KINDS;
    size--;
    setenv("SCALEBENCH_CACHE", fuzz_folder(), 1);
    if (arrays[kind].format != NULL)
        read_array(arrays[kind].format, arrays[kind].name, arrays[kind].images, data, size);
    else if (kind == SET || kind == SUMMED_ARCHIVE || kind == NPY_SET)
        read_built(kind, data, size);
    else
        read_found(kind, data, size);
    empty_folder();
    return 0;
}
