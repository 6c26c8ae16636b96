/* Files of data sets, as the first byte says: 0 IDX labels, 1 IDX images, 2 the same packed, 3 an
 * archive of CIFAR-10, 4 the same packed, 5 its six files all of these bytes. */
#include "bench/tests/fuzz/fuzz.h"

#include <dirent.h>

#include "bench/workloads/data/data_set.h"
#include "bench/workloads/data/idx.h"

enum { LABELS, IMAGES, PACKED_IMAGES, ARCHIVE, PACKED_ARCHIVE, BATCHES, KINDS };

static void empty_folder(void)
{
    DIR *folder = opendir(fuzz_folder());
    FUZZ_ASSERT(folder);
    for (struct dirent *d; (d = readdir(folder));)
        if (d->d_type == DT_REG)
            unlink(fuzz_path(d->d_name));
    closedir(folder);
}

static void read_idx(const char *name, int n_dims, const uint8_t *data, size_t size)
{
    struct idx_file file;
    struct error e = {.status = OK};
    enum status status = idx_open(&file, "mnist", fuzz_file(name, data, size), n_dims, &e);
    fuzz_said(status, &e);
    size_t bytes = 1;
    for (int d = 0; status == OK && d < n_dims; d++)
        bytes *= file.dims[d];
    if (status == OK)
        FUZZ_ASSERT(file.bytes[0] + file.bytes[bytes - 1] >= 0);
    idx_close(&file);
}

static void look_at(const struct data_set *d, const struct data_part *part)
{
    size_t image = shape_count(d->shape);
    data_load(part, image);
    for (uint32_t i = 0; i < part->n; i++)
        FUZZ_ASSERT(part->labels[i] < d->classes);
}

static void read_cifar(void)
{
    struct data_set d;
    struct error e = {.status = OK};
    enum status status = data_open(&d, "cifar10", fuzz_folder(), &e);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int kind = *data++ % KINDS;
    size--;
    setenv("SCALEBENCH_CACHE", fuzz_folder(), 1);
    if (kind == LABELS)
        read_idx("labels", 1, data, size);
    else if (kind == IMAGES || kind == PACKED_IMAGES)
        read_idx(kind == IMAGES ? "images" : "images.gz", 3, data, size);
    else if (kind == BATCHES)
        write_batches(data, size);
    else
        fuzz_file(kind == ARCHIVE ? "cifar-10-binary.tar" : "cifar-10-binary.tar.gz", data, size);
    if (kind >= ARCHIVE)
        read_cifar();
    empty_folder();
    return 0;
}
