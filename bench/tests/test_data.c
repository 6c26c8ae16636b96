/* Data sets: IDX files as they should be and as they should not, the cache, generated digits. */
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
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/workloads/data/data_set.h"
#include "kernels/base/rng.h"

/* --- A small data set of our own -------------------------------------------------------------- */

/* Random bytes do not compress, so the compressed images as well are longer than one chunk. */
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
                                        "HOME"};
#define VARIABLES (sizeof variables / sizeof *variables)

/* One test: a folder of its own, four files in memory, the environment to put back. */
struct world {
    int told[2]; /* a pipe from processes that the test starts, where it needs one */
    char root[256], data[512], cache[512], start[PATH_MAX];
    char *saved[VARIABLES];
    struct bytes file[FILES];
};

static void put_word(uint8_t *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static struct bytes make_file(int file)
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

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s, (void)type, (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    *state = w;
    snprintf(w->root, sizeof w->root, "%s/test_data.XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(w->root) || !getcwd(w->start, sizeof w->start))
        return -1;
    snprintf(w->data, sizeof w->data, "%s/set", w->root);
    snprintf(w->cache, sizeof w->cache, "%s/new/cache", w->root);
    for (size_t i = 0; i < VARIABLES; i++)
        w->saved[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
    unsetenv("SCALEBENCH_DATA");
    setenv("SCALEBENCH_CACHE", w->cache, 1);
    for (int i = 0; i < FILES; i++)
        w->file[i] = make_file(i);
    return mkdir(w->data, 0755);
}

static int teardown(void **state)
{
    struct world *w = *state;
    int failed = chdir(w->start);
    for (size_t i = 0; i < VARIABLES; i++) {
        if (w->saved[i])
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

static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* One gzip member holding b[0..n). */
static struct bytes pack(const uint8_t *b, size_t n)
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

static void write_packed(const char *folder, const char *name, const uint8_t *b, size_t n)
{
    char packed_name[64];
    struct bytes packed = pack(b, n);
    snprintf(packed_name, sizeof packed_name, "%s.gz", name);
    write_file(folder, packed_name, packed.at, packed.n);
    free(packed.at);
}

static void write_set(const struct world *w, const char *folder, bool gzip)
{
    for (int i = 0; i < FILES; i++)
        (gzip ? write_packed : write_file)(folder, file_names[i], w->file[i].at, w->file[i].n);
}

static void assert_holds(const struct data_set *d, const struct world *w)
{
    assert_int_equal(d->train.n, N_TRAIN);
    assert_int_equal(d->test.n, N_TEST);
    assert_memory_equal(d->train.images, w->file[TRAIN_IMAGES].at + IMAGE_HEADER, N_TRAIN * IMAGE);
    assert_memory_equal(d->train.labels, w->file[TRAIN_LABELS].at + LABEL_HEADER, N_TRAIN);
    assert_memory_equal(d->test.images, w->file[TEST_IMAGES].at + IMAGE_HEADER, N_TEST * IMAGE);
    assert_memory_equal(d->test.labels, w->file[TEST_LABELS].at + LABEL_HEADER, N_TEST);
}

static void assert_opens(const struct world *w, const char *path)
{
    struct data_set d;
    struct error e = {0};
    if (data_open(&d, "mnist", path, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    assert_holds(&d, w);
    data_close(&d);
}

/* --- What the cache folder holds -------------------------------------------------------------- */

#define ENTRIES_MAX 16
struct listing {
    int n;
    char name[ENTRIES_MAX][256];
};

/* Everything in the folder but its lock; nothing where there is no folder. */
static struct listing list(const char *folder)
{
    struct listing l = {0};
    DIR *directory = opendir(folder);
    for (struct dirent *d; directory && (d = readdir(directory));) {
        if (d->d_name[0] == '.' || strcmp(d->d_name, "lock") == 0)
            continue;
        assert_true(l.n < ENTRIES_MAX);
        snprintf(l.name[l.n++], sizeof l.name[0], "%s", d->d_name);
    }
    if (directory)
        closedir(directory);
    return l;
}

static char *entry_path(char path[PATH_MAX], const struct world *w, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", w->cache, name);
    return path;
}

static struct stat entry_stat(const struct world *w, const char *name)
{
    struct stat s;
    char path[PATH_MAX];
    assert_int_equal(stat(entry_path(path, w, name), &s), 0);
    return s;
}

/* --- What is written to standard error -------------------------------------------------------- */

struct capture {
    FILE *file;
    int standard_error;
};

static struct capture capture_begin(void)
{
    struct capture c = {tmpfile(), dup(STDERR_FILENO)};
    assert_non_null(c.file);
    fflush(stderr);
    dup2(fileno(c.file), STDERR_FILENO);
    return c;
}

static void capture_end(struct capture *c, char *text, size_t size)
{
    fflush(stderr);
    dup2(c->standard_error, STDERR_FILENO);
    close(c->standard_error);
    rewind(c->file);
    text[fread(text, 1, size - 1, c->file)] = '\0';
    fclose(c->file);
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not contain '%s'", text, part);
}

/* Opens the set and holds the words on standard error to `part`; "" for none at all. */
static void assert_opens_saying(const struct world *w, const char *path, const char *part)
{
    char text[4096];
    struct capture c = capture_begin();
    struct data_set d;
    enum status status = data_open(&d, "mnist", path, NULL);
    capture_end(&c, text, sizeof text);
    assert_int_equal(status, OK);
    assert_holds(&d, w);
    data_close(&d);
    if (part[0])
        assert_contains(text, part);
    else
        assert_string_equal(text, "");
}

/* --- Files as they should be ------------------------------------------------------------------ */

static void test_plain_is_mapped_where_it_lies(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    write_set(w, w->data, false);
    assert_int_equal(data_open(&d, "mnist", w->data, NULL), OK);
    assert_holds(&d, w);
    assert_string_equal(d.name, "mnist");
    assert_string_equal(d.source, "real");
    char *real = realpath(w->data, NULL);
    assert_string_equal(d.path, real);
    free(real);
    assert_int_equal(d.shape.c, 1);
    assert_int_equal(d.shape.h, ROWS);
    assert_int_equal(d.shape.w, COLUMNS);
    assert_int_equal(d.classes, 10);
    assert_int_equal(list(w->cache).n, 0);
    data_close(&d);
    assert_null(d.train.images);
}

static void test_gzip_equals_plain(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    assert_int_equal(list(w->cache).n, FILES);
}

static void test_gzip_of_several_members(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    const struct bytes *b = &w->file[TRAIN_IMAGES];
    struct bytes head = pack(b->at, 5), tail = pack(b->at + 5, b->n - 5);
    uint8_t *both = malloc(head.n + tail.n);
    memcpy(both, head.at, head.n);
    memcpy(both + head.n, tail.at, tail.n);
    write_file(w->data, "train-images-idx3-ubyte.gz", both, head.n + tail.n);
    free(both);
    free(head.at);
    free(tail.at);
    assert_opens(w, w->data);
}

static void test_names_with_a_dot(void **state)
{
    static const char *const dotted[] = {"train-images.idx3-ubyte", "train-labels.idx1-ubyte",
                                         "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"};
    const struct world *w = *state;
    for (int i = 0; i < FILES; i++)
        (i % 2 ? write_packed : write_file)(w->data, dotted[i], w->file[i].at, w->file[i].n);
    assert_opens(w, w->data);
}

static void test_plain_wins_over_gzip(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, false);
    for (int i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.gz", file_names[i]);
        write_file(w->data, name, (const uint8_t *)"rubbish", 7);
    }
    assert_opens(w, w->data);
}

/* --- Files as they should not be -------------------------------------------------------------- */

enum damage { WORD, BYTE, CUT, APPEND, PACKED_BYTE, PACKED_CUT, PACKED_APPEND };

/* One change to one file, and what is said. WORD and BYTE set `value` at `at`, CUT leaves `at`
 * bytes, APPEND adds `at` bytes. `text` may contain one '*' for what zlib versions differ in. */
struct bad {
    int file;
    bool gzip;
    enum damage damage;
    long at; /* from the end where negative */
    uint32_t value;
    const char *text;
};

#define IMAGES_EXPECTED "120016 bytes expected (16 + 100 x 30 x 40)"

static const struct bad bad_files[] = {
    {TRAIN_IMAGES, false, WORD, 0, 0x801,
     "byte 0: magic number 0x00000801, expected 0x00000803 (unsigned bytes, 3 dimensions)"},
    {TRAIN_IMAGES, true, WORD, 0, 0xd03,
     "byte 0: magic number 0x00000d03, expected 0x00000803 (unsigned bytes, 3 dimensions)"},
    {TEST_LABELS, false, WORD, 0, 0x803,
     "byte 0: magic number 0x00000803, expected 0x00000801 (unsigned bytes, 1 dimension)"},
    {TRAIN_IMAGES, false, CUT, 0, 0, "byte 0: the file is empty"},
    {TRAIN_IMAGES, true, PACKED_CUT, 0, 0, "byte 0: the file is empty"},
    {TRAIN_IMAGES, false, CUT, 15, 0, "truncated: a header of 16 bytes expected, 15 found"},
    {TEST_LABELS, true, CUT, 3, 0, "truncated: a header of 8 bytes expected, 3 found"},
    {TRAIN_IMAGES, false, CUT, 12345, 0, "truncated: " IMAGES_EXPECTED ", 12345 found"},
    {TRAIN_IMAGES, true, CUT, -1, 0, "truncated: " IMAGES_EXPECTED ", 120015 found"},
    {TRAIN_LABELS, false, CUT, -1, 0, "truncated: 108 bytes expected (8 + 100), 107 found"},
    {TRAIN_IMAGES, false, APPEND, 3, 0,
     "byte 120016: trailing bytes: " IMAGES_EXPECTED ", 120019 found"},
    {TRAIN_IMAGES, true, APPEND, 1, 0,
     "byte 120016: trailing bytes: " IMAGES_EXPECTED ", more found"},
    {TRAIN_IMAGES, false, WORD, 4, 0, "byte 4: dimension 1 is 0, expected 1 to 4294967295"},
    {TRAIN_IMAGES, false, WORD, 8, 0, "byte 8: dimension 2 is 0, expected 1 to 32767"},
    {TRAIN_IMAGES, true, WORD, 12, 0xffffffff,
     "byte 12: dimension 3 is 4294967295, expected 1 to 32767"},
    {TRAIN_IMAGES, false, WORD, 4, 0xffffffff,
     "truncated: 5153960754016 bytes expected (16 + 4294967295 x 30 x 40), 120016 found"},
    {TRAIN_IMAGES, true, WORD, 4, 0xffffffff,
     "truncated: 5153960754016 bytes expected (16 + 4294967295 x 30 x 40), 120016 found"},
    {TRAIN_LABELS, false, BYTE, LABEL_HEADER + 7, 12,
     "byte 15: label 12 at index 7, 0 to 9 are accepted"},
    {TEST_LABELS, true, BYTE, -1, 10, "byte 14: label 10 at index 6, 0 to 9 are accepted"},
    {TEST_IMAGES, false, WORD, 8, ROWS + 1,
     "truncated: 8696 bytes expected (16 + 7 x 31 x 40), 8416 found"},
    {TRAIN_IMAGES, true, PACKED_BYTE, 0, 0, "byte *: corrupt gzip data: incorrect header check"},
    {TRAIN_IMAGES, true, PACKED_BYTE, -8, 0x100, "byte *: corrupt gzip data: incorrect data check"},
    {TRAIN_IMAGES, true, PACKED_APPEND, 5, 0, "byte *: 5 trailing bytes after the gzip data"},
    {TRAIN_IMAGES, true, PACKED_CUT, 60000, 0,
     "byte 60000: the file ends before its gzip data does"},
    {TRAIN_IMAGES, true, PACKED_CUT, 1, 0, "byte 1: the file ends before its gzip data does"},
};

/* A value above 255 flips every bit of the byte, for bytes whose value is not known. */
static void damage_byte(struct bytes *b, size_t at, uint32_t value)
{
    b->at[at] = value > 255 ? (uint8_t)~b->at[at] : (uint8_t)value;
}

static void damage_bytes(struct bytes *b, enum damage damage, long at, uint32_t value)
{
    size_t where = at < 0 ? b->n - (size_t)-at : (size_t)at;
    if (damage == WORD)
        put_word(b->at + where, value);
    else if (damage == BYTE || damage == PACKED_BYTE)
        damage_byte(b, where, value);
    else if (damage == CUT || damage == PACKED_CUT)
        b->n = where;
    else {
        b->at = realloc(b->at, b->n + where);
        assert_non_null(b->at);
        memset(b->at + b->n, 0, where);
        b->n += where;
    }
}

static void write_bad(struct world *w, const struct bad *bad, char name[64])
{
    struct bytes *b = &w->file[bad->file];
    snprintf(name, 64, "%s%s", file_names[bad->file], bad->gzip ? ".gz" : "");
    if (bad->damage < PACKED_BYTE)
        damage_bytes(b, bad->damage, bad->at, bad->value);
    struct bytes packed = pack(b->at, b->n);
    if (bad->damage >= PACKED_BYTE)
        damage_bytes(&packed, bad->damage, bad->at, bad->value);
    struct bytes *written = bad->gzip ? &packed : b;
    write_file(w->data, name, written->at, written->n);
    free(packed.at);
}

static bool matches(const char *text, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(text, pattern) == 0;
    size_t head = (size_t)(star - pattern), tail = strlen(star + 1), n = strlen(text);
    return n > head + tail && strncmp(text, pattern, head) == 0 &&
           strcmp(text + n - tail, star + 1) == 0;
}

/* A refused set leaves nothing behind: no map, no entry, no temporary file. */
static void assert_refused(const struct world *w, const char *name, const char *text)
{
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "mnist", w->data, &e), ERR_DATA);
    const char *slash = strrchr(e.file, '/');
    assert_non_null(slash);
    assert_string_equal(slash + 1, name);
    if (!matches(e.text, text))
        fail_msg("'%s' is not '%s'", e.text, text);
    assert_null(d.train.images);
    struct listing l = list(w->cache);
    for (int i = 0; i < l.n; i++)
        assert_null(strstr(l.name[i], ".tmp"));
}

static void test_bad_file(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        char name[64];
        remove_tree(w->data);
        assert_int_equal(mkdir(w->data, 0755), 0);
        for (int f = 0; f < FILES; f++) {
            free(w->file[f].at);
            w->file[f] = make_file(f);
            if (f != bad_files[i].file)
                write_file(w->data, file_names[f], w->file[f].at, w->file[f].n);
        }
        write_bad(w, &bad_files[i], name);
        assert_refused(w, name, bad_files[i].text);
    }
}

/* What is not as its header says never becomes an entry. */
static void test_bad_gzip_is_not_cached(void **state)
{
    struct world *w = *state;
    const struct bad bad = {TRAIN_IMAGES, true, CUT, -1, 0, NULL};
    char name[64];
    write_set(w, w->data, false);
    char plain[PATH_MAX];
    snprintf(plain, sizeof plain, "%s/%s", w->data, file_names[TRAIN_IMAGES]);
    assert_int_equal(unlink(plain), 0);
    write_bad(w, &bad, name);
    assert_refused(w, name, "truncated: " IMAGES_EXPECTED ", 120015 found");
    assert_int_equal(list(w->cache).n, 0);
}

static void test_counts_that_disagree(void **state)
{
    struct world *w = *state;
    char text[1024];
    put_word(w->file[TEST_LABELS].at + 4, N_TEST - 1);
    w->file[TEST_LABELS].n--;
    write_set(w, w->data, false);
    char *real = realpath(w->data, NULL);
    snprintf(text, sizeof text, "byte 4: 7 images but %s/t10k-labels-idx1-ubyte has 6 labels",
             real);
    free(real);
    assert_refused(w, "t10k-images-idx3-ubyte", text);
}

static void test_test_images_of_another_shape(void **state)
{
    struct world *w = *state;
    put_word(w->file[TEST_IMAGES].at + 8, COLUMNS);
    put_word(w->file[TEST_IMAGES].at + 12, ROWS);
    write_set(w, w->data, false);
    assert_refused(w, "t10k-images-idx3-ubyte",
                   "byte 8: images of 40 x 30 but */train-images-idx3-ubyte has 30 x 40");
}

static void test_folder_without_the_files(void **state)
{
    const struct world *w = *state;
    assert_refused(w, "set",
                   "holds no files of mnist; looked for "
                   "train-images-idx3-ubyte[.gz], train-images.idx3-ubyte[.gz], "
                   "train-labels-idx1-ubyte[.gz], train-labels.idx1-ubyte[.gz], "
                   "t10k-images-idx3-ubyte[.gz], t10k-images.idx3-ubyte[.gz], "
                   "t10k-labels-idx1-ubyte[.gz], t10k-labels.idx1-ubyte[.gz]");
}

static void test_folder_that_is_not_there(void **state)
{
    const struct world *w = *state;
    assert_int_equal(rmdir(w->data), 0);
    assert_refused(w, "set", "cannot be opened: No such file or directory");
}

static void test_folder_with_some_files(void **state)
{
    const struct world *w = *state;
    for (int i = 0; i < FILES; i++)
        if (i != TRAIN_LABELS)
            write_file(w->data, file_names[i], w->file[i].at, w->file[i].n);
    assert_refused(w, "set",
                   "some files of mnist are here, but none of train-labels-idx1-ubyte, "
                   "train-labels.idx1-ubyte, train-labels-idx1-ubyte.gz, "
                   "train-labels.idx1-ubyte.gz");
}

static void test_file_that_is_a_folder(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, false);
    snprintf(path, sizeof path, "%s/%s", w->data, file_names[TRAIN_LABELS]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_refused(w, file_names[TRAIN_LABELS], "not a regular file");
}

/* Runs f in a process of its own; it returns whether all was as it should be. */
static int start(bool (*f)(const struct world *), const struct world *w)
{
    fflush(NULL);
    int child = fork();
    if (child == 0)
        _exit(f(w) ? 0 : 1);
    return child;
}

static void assert_ends_well(int child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Root may read everything until it gives up that capability. */
static bool is_denied(const struct world *w)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    struct data_set d;
    struct error e = {0};
    return syscall(SYS_capset, &header, none) == 0 &&
           data_open(&d, "mnist", w->data, &e) == ERR_DATA &&
           strstr(e.file, file_names[TEST_IMAGES]) &&
           strcmp(e.text, "cannot be opened: Permission denied") == 0;
}

static void test_file_that_may_not_be_read(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, false);
    snprintf(path, sizeof path, "%s/%s", w->data, file_names[TEST_IMAGES]);
    assert_int_equal(chmod(path, 0), 0);
    assert_ends_well(start(is_denied, w));
}

/* --- The cache -------------------------------------------------------------------------------- */

static void test_cache_is_reused(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing before = list(w->cache);
    struct stat s[FILES];
    assert_int_equal(before.n, FILES);
    for (int i = 0; i < FILES; i++)
        s[i] = entry_stat(w, before.name[i]);
    assert_opens_saying(w, w->data, "");
    assert_int_equal(list(w->cache).n, FILES);
    for (int i = 0; i < FILES; i++) {
        struct stat after = entry_stat(w, before.name[i]);
        assert_int_equal(after.st_ino, s[i].st_ino);
        assert_int_equal(after.st_mtim.tv_sec, s[i].st_mtim.tv_sec);
        assert_int_equal(after.st_mtim.tv_nsec, s[i].st_mtim.tv_nsec);
    }
}

static void test_truncated_entry_is_made_anew(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing l = list(w->cache);
    for (int i = 0; i < l.n; i++) {
        off_t size = entry_stat(w, l.name[i]).st_size;
        assert_int_equal(truncate(entry_path(path, w, l.name[i]), i ? size - 1 : 0), 0);
        assert_opens_saying(w, w->data, "truncated or not a cache of ours; made anew");
        assert_int_equal(entry_stat(w, l.name[i]).st_size, size);
    }
    assert_opens_saying(w, w->data, "");
}

static void test_foreign_entry_is_made_anew(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing l = list(w->cache);
    int fd = open(entry_path(path, w, l.name[0]), O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "X", 1, 40), 1);
    close(fd);
    assert_opens_saying(w, w->data, path);
    assert_opens_saying(w, w->data, "");
}

/* What is open stays as it was when its source changes. */
static void test_changed_source_makes_a_new_entry(void **state)
{
    struct world *w = *state;
    struct data_set old;
    write_set(w, w->data, true);
    assert_int_equal(data_open(&old, "mnist", w->data, NULL), OK);
    uint8_t *last = &w->file[TRAIN_IMAGES].at[w->file[TRAIN_IMAGES].n - 1], before = *last;
    *last ^= 255;
    write_packed(w->data, file_names[TRAIN_IMAGES], w->file[TRAIN_IMAGES].at,
                 w->file[TRAIN_IMAGES].n);
    assert_opens(w, w->data);
    assert_int_equal(list(w->cache).n, FILES + 1);
    assert_int_equal(old.train.images[N_TRAIN * IMAGE - 1], before);
    data_close(&old);
}

/* Opens the set and tells the sum of the entries' file numbers as it saw them. */
static bool opens_and_tells(const struct world *w)
{
    struct data_set d;
    if (data_open(&d, "mnist", w->data, NULL) != OK)
        return false;
    bool same =
        memcmp(d.train.images, w->file[TRAIN_IMAGES].at + IMAGE_HEADER, N_TRAIN * IMAGE) == 0 &&
        memcmp(d.test.labels, w->file[TEST_LABELS].at + LABEL_HEADER, N_TEST) == 0;
    struct listing l = list(w->cache);
    uint64_t sum = 0;
    for (int i = 0; i < l.n; i++)
        sum += entry_stat(w, l.name[i]).st_ino;
    data_close(&d);
    return same && write(w->told[1], &sum, sizeof sum) == sizeof sum;
}

/* An entry that was made twice would have had two file numbers. */
static void test_four_processes_make_one_copy(void **state)
{
    struct world *w = *state;
    int child[4];
    uint64_t sum[4];
    write_set(w, w->data, true);
    assert_int_equal(pipe(w->told), 0);
    for (int i = 0; i < 4; i++)
        child[i] = start(opens_and_tells, w);
    for (int i = 0; i < 4; i++)
        assert_ends_well(child[i]);
    assert_int_equal(read(w->told[0], sum, sizeof sum), sizeof sum);
    for (int i = 1; i < 4; i++)
        assert_int_equal(sum[i], sum[0]);
    close(w->told[0]);
    close(w->told[1]);
    assert_int_equal(list(w->cache).n, FILES);
    assert_opens_saying(w, w->data, "");
}

/* The kernel kills a process that writes past its limit, here in the middle of the first entry. */
static bool is_killed_while_writing(const struct world *w)
{
    struct data_set d;
    const struct rlimit limit = {N_TRAIN * IMAGE / 2, N_TRAIN * IMAGE / 2}, no_core = {0, 0};
    if (setrlimit(RLIMIT_CORE, &no_core) != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    return data_open(&d, "mnist", w->data, NULL) == OK;
}

static void test_killed_process_leaves_nothing_in_the_way(void **state)
{
    const struct world *w = *state;
    int status, child;
    write_set(w, w->data, true);
    child = start(is_killed_while_writing, w);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXFSZ);
    struct listing l = list(w->cache);
    assert_int_equal(l.n, 1);
    assert_contains(l.name[0], ".tmp");
    assert_opens_saying(w, w->data, "");
    assert_int_equal(list(w->cache).n, FILES);
}

/* As root may write anywhere, the folder is put below something that is a file. */
static void test_cache_that_cannot_be_made(void **state)
{
    const struct world *w = *state;
    char cache[PATH_MAX], said[PATH_MAX + 64];
    write_set(w, w->data, true);
    write_file(w->root, "file", (const uint8_t *)"", 0);
    snprintf(cache, sizeof cache, "%s/file/cache", w->root);
    snprintf(said, sizeof said, "warning: %s: cannot be created: Not a directory; 'mnist-train-",
             cache);
    setenv("SCALEBENCH_CACHE", cache, 1);
    assert_opens_saying(w, w->data, said);
}

static void test_no_cache_folder_named(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    unsetenv("SCALEBENCH_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_opens_saying(w, w->data,
                        "no cache folder: SCALEBENCH_CACHE, XDG_CACHE_HOME and HOME are not set");
}

static void test_cache_folders_of_the_desktop(void **state)
{
    const struct world *w = *state;
    char folder[PATH_MAX];
    write_set(w, w->data, true);
    unsetenv("SCALEBENCH_CACHE");
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", w->root, 1);
    assert_opens(w, w->data);
    snprintf(folder, sizeof folder, "%s/.cache/scalebench", w->root);
    assert_int_equal(list(folder).n, FILES);
    setenv("XDG_CACHE_HOME", w->root, 1);
    assert_opens(w, w->data);
    snprintf(folder, sizeof folder, "%s/scalebench", w->root);
    assert_int_equal(list(folder).n, FILES);
}

/* /dev/full takes the place of the temporary files, so writing them fails as on a full disk. */
static void test_full_disk(void **state)
{
    const struct world *w = *state;
    char host[HOST_NAME_MAX + 1] = "", path[PATH_MAX], temporary[PATH_MAX + HOST_NAME_MAX + 8];
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing l = list(w->cache);
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    for (int i = 0; i < l.n; i++) {
        assert_int_equal(unlink(entry_path(path, w, l.name[i])), 0);
        snprintf(temporary, sizeof temporary, "%s.%s.tmp", path, host);
        assert_int_equal(symlink("/dev/full", temporary), 0);
    }
    assert_opens_saying(w, w->data, "tmp: cannot be written: No space left on device; 'mnist-");
    assert_int_equal(list(w->cache).n, 0);
}

/* --- Where files are looked for --------------------------------------------------------------- */

/* Makes the folder root/parent/set and puts the files there. */
static void write_set_below(const struct world *w, const char *parent, const char *set)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", w->root, parent);
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s/%s", w->root, parent, set);
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
    write_set(w, path, false);
}

static void assert_found_in(const struct world *w, const char *folder)
{
    struct data_set d;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->root, folder);
    char *real = realpath(path, NULL);
    assert_non_null(real);
    assert_int_equal(data_open(&d, "mnist", "auto", NULL), OK);
    assert_string_equal(d.path, real);
    data_close(&d);
    free(real);
}

/* The last place is filled first, so each that is filled must win over all before. */
static void test_order_of_folders(void **state)
{
    struct world *w = *state;
    char here[PATH_MAX], named[PATH_MAX];
    snprintf(here, sizeof here, "%s/here", w->root);
    assert_int_equal(mkdir(here, 0755), 0);
    assert_int_equal(chdir(here), 0);
    write_set_below(w, "shared", "");
    write_set_below(w, "shared/data", "mnist");
    assert_found_in(w, "shared/data/mnist");
    write_set_below(w, "here/data", "mnist");
    assert_found_in(w, "here/data/mnist");
    write_set_below(w, "named", "");
    snprintf(named, sizeof named, "%s/named", w->root);
    setenv("SCALEBENCH_DATA", named, 1);
    assert_found_in(w, "named");
    write_set_below(w, "named", "mnist");
    assert_found_in(w, "named/mnist");
}

static void test_environment_that_leads_nowhere(void **state)
{
    struct world *w = *state;
    assert_int_equal(chdir(w->root), 0);
    write_set_below(w, "data", "mnist");
    setenv("SCALEBENCH_DATA", "/nowhere", 1);
    assert_opens_saying(
        w, "auto", "warning: SCALEBENCH_DATA=/nowhere holds no files of mnist; looking elsewhere");
}

/* A folder that is found but bad is not passed over. */
static void test_found_but_bad(void **state)
{
    struct world *w = *state;
    struct data_set d;
    struct error e = {0};
    put_word(w->file[TRAIN_LABELS].at, 0);
    assert_int_equal(chdir(w->root), 0);
    write_set_below(w, "data", "mnist");
    assert_int_equal(data_open(&d, "mnist", "auto", &e), ERR_DATA);
    assert_contains(e.file, "data/mnist/train-labels-idx1-ubyte");
}

static void test_unknown_set(void **state)
{
    (void)state;
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "digist", "auto", &e), ERR_ARGUMENT);
    assert_string_equal(e.text,
                        "data set 'digist' is unknown; nearest 'digits'; known: mnist digits "
                        "cifar10 shapes");
}

static void test_gather(void **state)
{
    const struct world *w = *state;
    const uint32_t samples[] = {99, 0, 42, 42};
    uint8_t images[4 * IMAGE], labels[4];
    struct data_set d;
    write_set(w, w->data, false);
    assert_int_equal(data_open(&d, "mnist", w->data, NULL), OK);
    data_gather(&d.train, IMAGE, samples, 4, images, labels);
    for (int i = 0; i < 4; i++) {
        const uint8_t *from = w->file[TRAIN_IMAGES].at + IMAGE_HEADER + samples[i] * IMAGE;
        assert_memory_equal(images + i * IMAGE, from, IMAGE);
        assert_int_equal(labels[i], w->file[TRAIN_LABELS].at[LABEL_HEADER + samples[i]]);
    }
    data_close(&d);
}

/* --- Generated digits ------------------------------------------------------------------------- */

#define DIGIT 784

static void test_digits_depend_on_seed_and_index_alone(void **state)
{
    (void)state;
    uint8_t forward[20][DIGIT], backward[20][DIGIT], other[DIGIT], label[20], again;
    for (uint32_t i = 0; i < 20; i++)
        digits_draw(3, i, forward[i], &label[i]);
    for (uint32_t i = 20; i-- > 0;) {
        digits_draw(3, i, backward[i], &again);
        assert_int_equal(again, label[i]);
        digits_draw(4, i, other, &again);
        assert_memory_not_equal(other, forward[i], DIGIT);
    }
    assert_memory_equal(forward, backward, sizeof forward);
    for (int i = 1; i < 20; i++)
        assert_memory_not_equal(forward[i], forward[0], DIGIT);
}

/* The same bytes on every machine and with every compiler: only operations that IEEE 754 rounds
 * exactly are used. A change of the drawing changes these numbers and DIGITS_VERSION. */
static void test_digits_are_the_same_everywhere(void **state)
{
    (void)state;
    static uint8_t images[1000 * DIGIT], labels[1000];
    for (uint32_t i = 0; i < 1000; i++)
        digits_draw(1, i, images + i * DIGIT, &labels[i]);
    assert_int_equal(crc32(0, images, sizeof images), 0xf1f79244);
    assert_int_equal(crc32(0, labels, sizeof labels), 0x5842fc0d);
}

/* A tenth of n each, give or take five standard deviations of sqrt(n 0.1 0.9): fair labels leave
 * that range for less than one seed in 100,000. */
static void assert_balanced(const struct data_part *part, unsigned deviation)
{
    unsigned count[10] = {0};
    for (uint32_t i = 0; i < part->n; i++) {
        assert_in_range(part->labels[i], 0, 9);
        count[part->labels[i]]++;
    }
    for (int k = 0; k < 10; k++)
        assert_in_range(count[k], part->n / 10 - 5 * deviation, part->n / 10 + 5 * deviation);
}

static void assert_drawn(const struct data_part *part, uint32_t i, uint32_t index)
{
    uint8_t image[DIGIT], label;
    digits_draw(1, index, image, &label);
    assert_memory_equal(part->images + (size_t)i * DIGIT, image, DIGIT);
    assert_int_equal(part->labels[i], label);
}

static void assert_digits(const struct data_set *d)
{
    assert_string_equal(d->name, "digits");
    assert_string_equal(d->source, "generated");
    assert_string_equal(d->path, "generated");
    assert_int_equal(d->shape.c, 1);
    assert_int_equal(d->shape.h, 28);
    assert_int_equal(d->shape.w, 28);
    assert_int_equal(d->classes, 10);
    assert_int_equal(d->train.n, 60000);
    assert_int_equal(d->test.n, 10000);
    assert_drawn(&d->train, 0, 0);
    assert_drawn(&d->train, 59999, 59999);
    assert_drawn(&d->test, 0, 60000);
    assert_drawn(&d->test, 9999, 69999);
}

/* "mnist" that is found nowhere says so and becomes the same digits, from the same entry. */
static void test_digits_as_a_set(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    char text[4096];
    assert_int_equal(data_open(&d, "digits", "auto", NULL), OK);
    assert_digits(&d);
    assert_balanced(&d.train, 73);
    assert_balanced(&d.test, 30);
    data_close(&d);

    assert_int_equal(chdir(w->data), 0);
    struct capture c = capture_begin();
    enum status status = data_open(&d, "mnist", "auto", NULL);
    capture_end(&c, text, sizeof text);
    assert_int_equal(status, OK);
    assert_digits(&d);
    data_close(&d);
    assert_contains(text, "note: mnist is in none of");
    assert_int_equal(list(w->cache).n, 1);
}

static void test_digits_take_no_path(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "digits", w->data, &e), ERR_ARGUMENT);
    assert_string_equal(e.file, w->data);
    assert_string_equal(e.text,
                        "data set 'digits' is generated and reads no files; its path is 'auto'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain_is_mapped_where_it_lies),
        TEST(test_gzip_equals_plain),
        TEST(test_gzip_of_several_members),
        TEST(test_names_with_a_dot),
        TEST(test_plain_wins_over_gzip),
        TEST(test_bad_file),
        TEST(test_bad_gzip_is_not_cached),
        TEST(test_counts_that_disagree),
        TEST(test_test_images_of_another_shape),
        TEST(test_folder_without_the_files),
        TEST(test_folder_that_is_not_there),
        TEST(test_folder_with_some_files),
        TEST(test_file_that_is_a_folder),
        TEST(test_file_that_may_not_be_read),
        TEST(test_cache_is_reused),
        TEST(test_truncated_entry_is_made_anew),
        TEST(test_foreign_entry_is_made_anew),
        TEST(test_changed_source_makes_a_new_entry),
        TEST(test_four_processes_make_one_copy),
        TEST(test_killed_process_leaves_nothing_in_the_way),
        TEST(test_cache_that_cannot_be_made),
        TEST(test_no_cache_folder_named),
        TEST(test_cache_folders_of_the_desktop),
        TEST(test_full_disk),
        TEST(test_order_of_folders),
        TEST(test_environment_that_leads_nowhere),
        TEST(test_found_but_bad),
        TEST(test_unknown_set),
        TEST(test_gather),
        TEST(test_digits_depend_on_seed_and_index_alone),
        TEST(test_digits_are_the_same_everywhere),
        TEST(test_digits_as_a_set),
        TEST(test_digits_take_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
