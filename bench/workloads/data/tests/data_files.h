/* Fixture of data tests: a small data set in a temporary folder, plain and compressed, and checks
 * of opened data, cache and messages. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/workloads/data/data_set.h"
#include "kernels/base/rng.h"

/* ---- A small data set ---- */

/* Random bytes do not compress, so compressed images exceed one chunk too. */
#define N_TRAIN      100
#define N_TEST       7
#define ROWS         30
#define COLUMNS      40
#define IMAGE        (ROWS * COLUMNS)
#define IMAGE_HEADER 16
#define LABEL_HEADER 8

static const char *const file_names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, FILES };

struct bytes {
    uint8_t *at;
    size_t n;
};

static const char *const variables[] = {"SCALEBENCH_DATA", "SCALEBENCH_CACHE", "XDG_CACHE_HOME",
                                        "HOME", "SCALEBENCH_HOME"};
#define VARIABLES (sizeof variables / sizeof *variables)

/* State of one test: a temporary folder, four files in memory, and the environment to restore. */
struct world {
    int told[2]; /* pipe from child processes */
    char root[256], data[512], cache[512], start[PATH_MAX];
    char *saved[VARIABLES];
    struct bytes file[FILES];
};

static inline void put_word(uint8_t *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static inline struct bytes make_file(int file)
{
    bool images = file == TRAIN_IMAGES || file == TEST_IMAGES;
    uint32_t n = file == TRAIN_IMAGES || file == TRAIN_LABELS ? N_TRAIN : N_TEST;
    size_t header = images ? IMAGE_HEADER : LABEL_HEADER, contents = images ? n * IMAGE : n;
    struct bytes b = {malloc(header + contents), header + contents};
    assert_non_null(b.at);
    put_word(b.at, images ? 0x803 : 0x801);
    put_word(b.at + 4, n);
    if (images) {
        put_word(b.at + 8, ROWS);
        put_word(b.at + 12, COLUMNS);
    }
    for (size_t i = 0; i < contents; i++) {
        uint32_t word = rng_word(7, (uint32_t)file, 0, 0, (uint32_t)i);
        b.at[header + i] = (uint8_t)(images ? word : word % 10);
    }
    return b;
}

static inline int remove_entry(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s, (void)type, (void)ftw;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    *state = w;
    snprintf(w->root, sizeof w->root, "%s/test_data.XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(w->root) == NULL || getcwd(w->start, sizeof w->start) == NULL)
        return -1;
    snprintf(w->data, sizeof w->data, "%s/set", w->root);
    snprintf(w->cache, sizeof w->cache, "%s/new/cache", w->root);
    for (size_t i = 0; i < VARIABLES; i++)
        w->saved[i] = getenv(variables[i]) != NULL ? strdup(getenv(variables[i])) : NULL;
    unsetenv("SCALEBENCH_DATA");
    unsetenv("SCALEBENCH_HOME");
    setenv("SCALEBENCH_CACHE", w->cache, 1);
    for (int i = 0; i < FILES; i++)
        w->file[i] = make_file(i);
    return mkdir(w->data, 0755);
}

static inline int teardown(void **state)
{
    struct world *w = *state;
    int failed = chdir(w->start);
    for (size_t i = 0; i < VARIABLES; i++) {
        if (w->saved[i] != NULL)
            setenv(variables[i], w->saved[i], 1);
        else
            unsetenv(variables[i]);
        free(w->saved[i]);
    }
    for (int i = 0; i < FILES; i++)
        free(w->file[i].at);
    remove_tree(w->root);
    free(w);
    return failed;
}

static inline void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Compresses b [n] to one gzip member. */
static inline struct bytes pack(const uint8_t *b, size_t n)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uLong bound = deflateBound(&z, (uLong)n);
    struct bytes packed = {malloc(bound), 0};
    assert_non_null(packed.at);
    z.next_in = (Bytef *)(uintptr_t)b;
    z.avail_in = (uInt)n;
    z.next_out = packed.at;
    z.avail_out = (uInt)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.n = bound - z.avail_out;
    deflateEnd(&z);
    return packed;
}

static inline void write_packed(const char *folder, const char *name, const uint8_t *b, size_t n)
{
    char packed_name[64];
    struct bytes packed = pack(b, n);
    snprintf(packed_name, sizeof packed_name, "%s.gz", name);
    write_file(folder, packed_name, packed.at, packed.n);
    free(packed.at);
}

/* Writes file number `file` under this name, compressed `layers` times. */
static inline void write_layers(const struct world *w, const char *name, int file, int layers)
{
    struct bytes b = {malloc(w->file[file].n), w->file[file].n};
    assert_non_null(b.at);
    memcpy(b.at, w->file[file].at, b.n);
    for (int i = 0; i < layers; i++) {
        struct bytes packed = pack(b.at, b.n);
        free(b.at);
        b = packed;
    }
    write_file(w->data, name, b.at, b.n);
    free(b.at);
}

static inline void write_set(const struct world *w, const char *folder, bool gzip)
{
    for (int i = 0; i < FILES; i++)
        (gzip ? write_packed : write_file)(folder, file_names[i], w->file[i].at, w->file[i].n);
}

static inline void assert_holds(const struct data_set *d, const struct world *w)
{
    assert_int_equal(d->train.n, N_TRAIN);
    assert_int_equal(d->test.n, N_TEST);
    assert_memory_equal(d->train.images, w->file[TRAIN_IMAGES].at + IMAGE_HEADER, N_TRAIN * IMAGE);
    assert_memory_equal(d->train.labels, w->file[TRAIN_LABELS].at + LABEL_HEADER, N_TRAIN);
    assert_memory_equal(d->test.images, w->file[TEST_IMAGES].at + IMAGE_HEADER, N_TEST * IMAGE);
    assert_memory_equal(d->test.labels, w->file[TEST_LABELS].at + LABEL_HEADER, N_TEST);
}

static inline void assert_opens(const struct world *w, const char *path)
{
    struct data_set d;
    struct error e = {0};
    if (data_open(&d, "idx", path, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    assert_holds(&d, w);
    data_close(&d);
}

static inline void hash_set(const struct world *w, char hex[DATA_HASH_BYTES])
{
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "idx", w->data, &e), OK);
    if (data_hash(&d, hex, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    assert_holds(&d, w);
    data_close(&d);
}

/* ---- Cache folder ---- */

#define ENTRIES_MAX 16
struct listing {
    int n;
    char name[ENTRIES_MAX][256];
};

/* Lists the folder except its lock; empty if there is no folder. */
static inline struct listing list(const char *folder)
{
    struct listing l = {0};
    DIR *directory = opendir(folder);
    for (struct dirent *d; directory != NULL && (d = readdir(directory)) != NULL;) {
        if (d->d_name[0] == '.' || strcmp(d->d_name, "lock") == 0)
            continue;
        assert_true(l.n < ENTRIES_MAX);
        snprintf(l.name[l.n++], sizeof l.name[0], "%s", d->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    return l;
}

/* ---- Standard error ---- */

struct capture {
    FILE *file;
    int standard_error;
};

static inline struct capture capture_begin(void)
{
    struct capture c = {tmpfile(), dup(STDERR_FILENO)};
    assert_non_null(c.file);
    fflush(stderr);
    dup2(fileno(c.file), STDERR_FILENO);
    return c;
}

static inline void capture_end(struct capture *c, char *text, size_t size)
{
    fflush(stderr);
    dup2(c->standard_error, STDERR_FILENO);
    close(c->standard_error);
    rewind(c->file);
    text[fread(text, 1, size - 1, c->file)] = '\0';
    fclose(c->file);
}

static inline void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not contain '%s'", text, part);
}

/* Opens the set and checks that standard error contains `part`; "": nothing is printed. */
static inline void assert_opens_saying(const struct world *w, const char *path, const char *part)
{
    char text[4096];
    struct capture c = capture_begin();
    struct data_set d;
    enum status status = data_open(&d, "idx", path, NULL);
    capture_end(&c, text, sizeof text);
    assert_int_equal(status, OK);
    assert_holds(&d, w);
    data_close(&d);
    if (part[0])
        assert_contains(text, part);
    else
        assert_string_equal(text, "");
}

/* ---- Processes ---- */

/* Starts f in a child process, which exits with 0 if f returns true. */
static inline int start(bool (*f)(const struct world *), const struct world *w)
{
    fflush(NULL);
    int child = fork();
    if (child == 0)
        _exit(f(w) ? 0 : 1);
    return child;
}

static inline void assert_ends_well(int child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
