/* Tests CIFAR-10: files, archives, damaged files; and generated shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/workloads/data/data_set.h"
#include "kernels/base/rng.h"

enum { IMAGE = 3072, RECORD = 3073, FILES = 6, TRAIN = 15, TEST_N = 7 };

static const char *const names[FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                         "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
static const uint32_t records[FILES] = {3, 1, 2, 5, 4, TEST_N};

/* State of one test: a temporary folder and six files in memory. */
struct world {
    char root[256], data[512], start[PATH_MAX];
    char *saved_data, *saved_cache;
    uint8_t file[FILES][TEST_N * RECORD];
    size_t bytes[FILES];
};

static void make_files(struct world *w)
{
    for (int f = 0; f < FILES; f++) {
        w->bytes[f] = records[f] * RECORD;
        for (size_t i = 0; i < w->bytes[f]; i++) {
            uint32_t word = rng_word(5, (uint32_t)f, 0, 0, (uint32_t)i);
            w->file[f][i] = (uint8_t)(i % RECORD == 0 ? word % 10 : word);
        }
    }
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    char cache[512];
    *state = w;
    snprintf(w->root, sizeof w->root, "%s/test_cifar.XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(w->root) == NULL || getcwd(w->start, sizeof w->start) == NULL)
        return -1;
    snprintf(w->data, sizeof w->data, "%s/set", w->root);
    snprintf(cache, sizeof cache, "%s/cache", w->root);
    w->saved_data = getenv("SCALEBENCH_DATA") != NULL ? strdup(getenv("SCALEBENCH_DATA")) : NULL;
    w->saved_cache = getenv("SCALEBENCH_CACHE") != NULL ? strdup(getenv("SCALEBENCH_CACHE")) : NULL;
    unsetenv("SCALEBENCH_DATA");
    setenv("SCALEBENCH_CACHE", cache, 1);
    make_files(w);
    return mkdir(w->data, 0755);
}

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s, (void)type, (void)ftw;
    return remove(path);
}

static void put_back(const char *name, char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
    free(value);
}

static int teardown(void **state)
{
    struct world *w = *state;
    int failed = chdir(w->start);
    put_back("SCALEBENCH_DATA", w->saved_data);
    put_back("SCALEBENCH_CACHE", w->saved_cache);
    nftw(w->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(w);
    return failed;
}

/* ---- Writing ---- */

static void write_as(const char *folder, const char *name, bool gzip, const uint8_t *bytes,
                     size_t n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile out = gzopen(path, gzip ? "wb" : "wbT");
    assert_non_null(out);
    assert_true(gzfwrite(bytes, 1, n, out) == n);
    assert_int_equal(gzclose(out), Z_OK);
}

/* Writes a file, compressed if its name ends in ".gz". */
static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t n)
{
    write_as(folder, name, strcmp(name + strlen(name) - 3, ".gz") == 0, bytes, n);
}

static void write_set(const struct world *w, const char *folder)
{
    for (int f = 0; f < FILES; f++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", names[f], f % 2 ? ".gz" : "");
        write_file(folder, name, w->file[f], w->bytes[f]);
    }
}

/* Tar archive in memory. */
struct archive {
    uint8_t at[FILES * TEST_N * RECORD + 32 * 512];
    size_t n;
};

static void add_member(struct archive *a, const char *name, char type, const uint8_t *bytes,
                       size_t n)
{
    uint8_t *header = a->at + a->n;
    unsigned sum = 0;
    memset(header, 0, 512);
    snprintf((char *)header, 100, "cifar-10-batches-bin/%s", name);
    snprintf((char *)header + 124, 12, "%011zo", n);
    memset(header + 148, ' ', 8);
    header[156] = (uint8_t)type;
    memcpy(header + 257, "ustar\00000", 8);
    for (int i = 0; i < 512; i++)
        sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
    memcpy(header + 512, bytes, n);
    memset(header + 512 + n, 0, 511);
    a->n += 512 + (n + 511) / 512 * 512;
}

/* Makes an archive like the distributed one: a folder, unsorted files, and other files between
 * them. */
static struct archive *make_archive(const struct world *w)
{
    static const int order[FILES] = {0, 2, 3, 5, 4, 1};
    struct archive *a = calloc(1, sizeof *a);
    assert_non_null(a);
    add_member(a, "", '5', w->file[0], 0);
    for (int i = 0; i < FILES; i++) {
        add_member(a, names[order[i]], '0', w->file[order[i]], w->bytes[order[i]]);
        add_member(a, "readme.html", '0', (const uint8_t *)"words", 5);
    }
    a->n += 1024;
    return a;
}

/* ---- Reading ---- */

static void assert_part(const struct data_part *part, const struct world *w, int first, int last)
{
    uint32_t n = 0;
    for (int f = first; f < last; f++) {
        for (uint32_t i = 0; i < records[f]; i++, n++) {
            assert_int_equal(part->labels[n], w->file[f][i * RECORD]);
            assert_memory_equal(part->images + n * IMAGE, w->file[f] + i * RECORD + 1, IMAGE);
        }
    }
    assert_int_equal(part->n, n);
}

static void assert_opens(const struct world *w)
{
    struct data_set d;
    struct error e = {0};
    for (int again = 0; again < 2; again++) { /* made, then found in the cache */
        if (data_open(&d, "cifar10", w->data, &e) != OK)
            fail_msg("%s: %s", e.file, e.text);
        assert_string_equal(d.name, "cifar10");
        assert_string_equal(d.source, "real");
        assert_true(d.shape.c == 3 && d.shape.h == 32 && d.shape.w == 32 && d.classes == 10);
        assert_part(&d.train, w, 0, 5);
        assert_part(&d.test, w, 5, 6);
        data_close(&d);
    }
}

/* Returns the number of cache entries and the path of the last one. */
static int find_entries(const struct world *w, char path[1024])
{
    char folder[512];
    int n = 0;
    snprintf(folder, sizeof folder, "%s/cache", w->root);
    DIR *directory = opendir(folder);
    for (struct dirent *d; directory != NULL && (d = readdir(directory)) != NULL;)
        if (strncmp(d->d_name, "cifar10", 7) == 0) {
            snprintf(path, 1024, "%s/%s", folder, d->d_name);
            n++;
        }
    if (directory != NULL)
        closedir(directory);
    return n;
}

static int cached_entries(const struct world *w)
{
    char path[1024];
    return find_entries(w, path);
}

/* An entry ends with labels and counts: altered counts would lead beyond the file. */
static void test_altered_cache_is_made_anew(void **state)
{
    const struct world *w = *state;
    char path[1024];
    write_set(w, w->data);
    assert_opens(w);
    assert_int_equal(find_entries(w, path), 1);
    for (int last = 1; last <= 9; last++) {
        FILE *entry = fopen(path, "r+");
        assert_non_null(entry);
        assert_int_equal(fseek(entry, -last, SEEK_END), 0);
        fputc(200, entry);
        fclose(entry);
        assert_opens(w);
    }
}

static void test_files(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data);
    assert_opens(w);
    assert_int_equal(cached_entries(w), 1);
}

static void test_files_in_the_archives_folder(void **state)
{
    const struct world *w = *state;
    char below[640];
    snprintf(below, sizeof below, "%s/cifar-10-batches-bin", w->data);
    assert_int_equal(mkdir(below, 0755), 0);
    write_set(w, below);
    assert_opens(w);
}

static void test_archives(void **state)
{
    const struct world *w = *state;
    struct archive *a = make_archive(w);
    write_file(w->data, "cifar-10-binary.tar.gz", a->at, a->n);
    assert_opens(w);
    write_file(w->data, "cifar-10-binary.tar", a->at, a->n);
    assert_opens(w);
    assert_int_equal(cached_entries(w), 2);
    free(a);
}

/* Gzip is recognised by contents, not by name. */
static void test_gzip_is_known_by_its_contents(void **state)
{
    const struct world *w = *state;
    for (int f = 0; f < FILES; f++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", names[f], f % 2 ? ".gz" : "");
        write_as(w->data, name, f % 2 == 0, w->file[f], w->bytes[f]);
    }
    assert_opens(w);
}

static void read_back(const char *path, uint8_t *bytes, size_t room, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *n = fread(bytes, 1, room, f);
    assert_true(feof(f));
    fclose(f);
}

static void test_archives_are_known_by_their_contents(void **state)
{
    const struct world *w = *state;
    struct archive *a = make_archive(w);
    uint8_t *packed = malloc(sizeof a->at);
    char path[PATH_MAX];
    size_t n;
    snprintf(path, sizeof path, "%s/cifar-10-binary.tar.gz", w->data);
    write_as(w->data, "cifar-10-binary.tar.gz", false, a->at, a->n);
    assert_opens(w);
    write_as(w->data, "cifar-10-binary.tar.gz", true, a->at, a->n);
    read_back(path, packed, sizeof a->at, &n);
    write_as(w->data, "cifar-10-binary.tar.gz", true, packed, n); /* compressed twice */
    assert_opens(w);
    assert_int_equal(unlink(path), 0);
    write_as(w->data, "cifar-10-binary.tar", true, a->at, a->n);
    assert_opens(w);
    free(packed);
    free(a);
}

/* ---- Damaged files ---- */

/* Expects an error; `file` is the name below the data folder, "" for the folder itself. */
static void assert_refused(const struct world *w, const char *file, const char *text)
{
    struct data_set d;
    struct error e = {0};
    char path[1024];
    assert_int_equal(data_open(&d, "cifar10", w->data, &e), ERR_DATA);
    assert_string_equal(e.text, text);
    snprintf(path, sizeof path, "%s%s%s", w->data, file[0] ? "/" : "", file);
    assert_string_equal(e.file, path);
    assert_int_equal(cached_entries(w), 0);
}

static void test_bad_records(void **state)
{
    struct world *w = *state;
    write_set(w, w->data);
    w->file[2][RECORD] = 12;
    write_file(w->data, names[2], w->file[2], w->bytes[2]);
    assert_refused(w, names[2], "byte 3073: found label 12 in record 1, expected 0 to 9");
    write_file(w->data, names[2], w->file[2], RECORD - 5);
    assert_refused(w, names[2], "byte 0: expected a record of 3073 bytes, found 3068");
    write_file(w->data, names[2], w->file[4], w->bytes[4]);
    write_file(w->data, "test_batch.bin.gz", w->file[5], RECORD + 1);
    assert_refused(w, "test_batch.bin.gz", "byte 3073: expected a record of 3073 bytes, found 1");
    write_file(w->data, "test_batch.bin.gz", w->file[5], 0);
    assert_refused(w, "test_batch.bin.gz", "byte 0: expected a record of 3073 bytes, found 0");
}

static void test_files_that_are_something_else(void **state)
{
    const struct world *w = *state;
    static const char page[] = "\n<html><body>404</body></html>";
    static const char records_text[] =
        "begins with '<html' like a web page; expected CIFAR-10 records. Download the file again";
    static const char archive_text[] =
        "begins with '<html' like a web page; expected a tar archive. Download the file again";
    const uint8_t *bytes = (const uint8_t *)page;
    write_as(w->data, "cifar-10-binary.tar", false, bytes, sizeof page);
    assert_refused(w, "cifar-10-binary.tar", archive_text);
    write_as(w->data, "cifar-10-binary.tar", true, bytes, sizeof page);
    assert_refused(w, "cifar-10-binary.tar", archive_text);
    write_set(w, w->data);
    write_file(w->data, names[4], bytes, sizeof page);
    assert_refused(w, names[4], records_text);
    write_set(w, w->data);
    write_file(w->data, "data_batch_2.bin.gz", bytes, sizeof page);
    assert_refused(w, "data_batch_2.bin.gz", records_text);
}

static void test_missing_files(void **state)
{
    const struct world *w = *state;
    assert_refused(w, "",
                   "no files of cifar10 found; expected cifar-10-binary.tar[.gz] here, or "
                   "data_batch_1.bin[.gz] to data_batch_5.bin[.gz] and test_batch.bin[.gz], here "
                   "or in cifar-10-batches-bin");
    write_file(w->data, names[3], w->file[3], w->bytes[3]);
    assert_refused(w, "", "some files of cifar10 found, but not test_batch.bin[.gz]");
    for (size_t i = 0; i < FILES; i++) {
        char path[700];
        snprintf(path, sizeof path, "%s/%s", w->data, names[i]);
        unlink(path);
    }
    write_file(w->data, "cifar-10-python.tar.gz", (const uint8_t *)"x", 1);
    assert_refused(w, "",
                   "found cifar-10-python.tar.gz, the Python form of cifar10; expected the binary "
                   "form. Put cifar-10-binary.tar.gz into this folder");
}

/* Writes the first n bytes of a plain archive and expects this error. */
static void refuse_archive(const struct world *w, const struct archive *a, size_t n,
                           const char *text)
{
    write_file(w->data, "cifar-10-binary.tar", a->at, n);
    assert_refused(w, "cifar-10-binary.tar", text);
}

static void test_bad_archives(void **state)
{
    struct world *w = *state;
    struct archive *a = make_archive(w);
    /* The folder, then data_batch_1 with 3 records in 19 blocks, then header and block of
     * readme. */
    const size_t second = 512, readme = second + 512 + 19 * 512, third = readme + 1024;
    refuse_archive(w, a, readme + 100,
                   "truncated: the archive ends at byte 10852, without an end mark");
    refuse_archive(w, a, readme - 600,
                   "truncated: the archive ends at byte 10152, inside a member");
    a->at[second + 3] ^= 1;
    refuse_archive(w, a, a->n, "byte 512 of the archive: the checksum of a tar header is wrong");
    a->at[second + 3] ^= 1;
    a->at[third + 257] = 'x';
    refuse_archive(w, a, a->n, "byte 11776 of the archive: no tar header: 'ustar' is missing");
    memset(a->at + third, 0, 512);
    refuse_archive(w, a, a->n, "data_batch_2.bin not found in the archive");
    free(a);
    w->file[3][2 * RECORD] = 255;
    a = make_archive(w);
    refuse_archive(w, a, a->n,
                   "cifar-10-batches-bin/data_batch_4.bin: byte 6146: found label 255 in record 2, "
                   "expected 0 to 9");
    free(a);
}

static void test_bad_gzip(void **state)
{
    struct world *w = *state;
    struct archive *a = make_archive(w);
    char path[1024];
    struct stat s;
    write_file(w->data, "cifar-10-binary.tar.gz", a->at, a->n);
    snprintf(path, sizeof path, "%s/cifar-10-binary.tar.gz", w->data);
    assert_int_equal(stat(path, &s), 0);
    FILE *f = fopen(path, "r+b");
    assert_int_equal(fseek(f, -6, SEEK_END), 0); /* within the checksum of all bytes */
    int kept = fgetc(f);
    assert_int_equal(fseek(f, -6, SEEK_END), 0);
    fputc(kept ^ 1, f);
    fclose(f);
    char text[128];
    snprintf(text, sizeof text, "byte %jd: corrupt gzip data: incorrect data check",
             (intmax_t)s.st_size - 4);
    assert_refused(w, "cifar-10-binary.tar.gz", text);
    assert_int_equal(truncate(path, s.st_size - 9), 0);
    snprintf(text, sizeof text, "byte %jd: truncated gzip data: the file ends too early",
             (intmax_t)s.st_size - 9);
    assert_refused(w, "cifar-10-binary.tar.gz", text);
    free(a);
}

/* ---- The real set ---- */

/* Published means and deviations of the channels over the training images: (125.3, 123.0, 113.9)
 * and (63.0, 62.1, 66.7). Copies that went through a codec may differ in the last digits. */
static void test_real_set(void **state)
{
    static const double means[3] = {125.3, 123.0, 113.9}, deviations[3] = {63.0, 62.1, 66.7};
    struct data_set d;
    char folder[PATH_MAX];
    const char *real = getenv("SCALEBENCH_REAL_DATA"); /* bench/tests/lib/own_environment.sh */
    snprintf(folder, sizeof folder, "%s/cifar10", real != NULL ? real : "/nowhere");
    if (access(folder, F_OK) != 0)
        skip();
    assert_int_equal(data_open(&d, "cifar10", folder, NULL), OK);
    assert_int_equal(d.train.n, 50000);
    assert_int_equal(d.test.n, 10000);
    int count[10] = {0};
    for (uint32_t i = 0; i < d.train.n; i++)
        count[d.train.labels[i]]++;
    for (int k = 0; k < 10; k++)
        assert_int_equal(count[k], 5000);
    for (int c = 0; c < 3; c++) {
        double sum = 0, squares = 0, n = 1024.0 * d.train.n;
        for (uint32_t i = 0; i < d.train.n; i++)
            for (int j = 0; j < 1024; j++) {
                double x = d.train.images[(size_t)i * IMAGE + (size_t)(c * 1024 + j)];
                sum += x;
                squares += x * x;
            }
        assert_true(fabs(sum / n - means[c]) < 0.5);
        assert_true(fabs(sqrt(squares / n - sum / n * sum / n) - deviations[c]) < 0.5);
    }
    data_close(&d);
}

/* ---- Generated shapes ---- */

static void test_shapes_depend_on_seed_and_index_alone(void **state)
{
    uint8_t first[IMAGE], again[IMAGE], label, same;
    for (uint32_t i = 20; i-- > 0;) {
        shapes_draw(3, i, first, &label);
        shapes_draw(4, i, again, &same);
        assert_memory_not_equal(first, again, IMAGE);
        shapes_draw(3, i + 1, again, &same);
        assert_memory_not_equal(first, again, IMAGE);
        shapes_draw(3, i, again, &same);
        assert_memory_equal(first, again, IMAGE);
        assert_int_equal(same, label);
    }
}

/* A change of the drawing changes these numbers: then increase the version of shapes too. */
static void test_shapes_are_the_same_everywhere(void **state)
{
    static uint8_t images[500 * IMAGE], labels[500];
    for (uint32_t i = 0; i < 500; i++)
        shapes_draw(1, i, images + i * IMAGE, &labels[i]);
    assert_int_equal(crc32(0, images, sizeof images), 0x6ee1af75);
    assert_int_equal(crc32(0, labels, sizeof labels), 0x5ec17a10);
}

/* Without files "cifar10" becomes shapes. Each class has a tenth of the images, within five
 * standard deviations of sqrt(n 0.1 0.9). */
static void test_shapes_take_the_place_of_cifar10(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    assert_int_equal(chdir(w->data), 0);
    assert_int_equal(data_open(&d, "cifar10", "auto", NULL), OK);
    assert_string_equal(d.name, "shapes");
    assert_string_equal(d.source, "generated");
    assert_string_equal(d.path, "generated");
    assert_true(d.shape.c == 3 && d.shape.h == 32 && d.shape.w == 32 && d.classes == 10);
    assert_true(d.train.n == 50000 && d.test.n == 10000);
    uint8_t image[IMAGE], label;
    shapes_draw(1, 50003, image, &label);
    assert_memory_equal(d.test.images + 3 * IMAGE, image, IMAGE);
    assert_int_equal(d.test.labels[3], label);
    int count[10] = {0};
    for (uint32_t i = 0; i < d.train.n; i++)
        count[d.train.labels[i]]++;
    for (int k = 0; k < 10; k++)
        assert_in_range(count[k], 5000 - 5 * 67, 5000 + 5 * 67);
    data_close(&d);
    struct error e = {0};
    assert_int_equal(data_open(&d, "shapes", w->data, &e), ERR_ARGUMENT);
    assert_string_equal(
        e.text, "data set 'shapes' is generated and reads no files: data.path must be auto");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files),
        TEST(test_files_in_the_archives_folder),
        TEST(test_archives),
        TEST(test_altered_cache_is_made_anew),
        TEST(test_bad_records),
        TEST(test_missing_files),
        TEST(test_bad_archives),
        TEST(test_bad_gzip),
        TEST(test_gzip_is_known_by_its_contents),
        TEST(test_archives_are_known_by_their_contents),
        TEST(test_files_that_are_something_else),
        TEST(test_real_set),
        TEST(test_shapes_depend_on_seed_and_index_alone),
        TEST(test_shapes_are_the_same_everywhere),
        TEST(test_shapes_take_the_place_of_cifar10),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
