/* Tests damaged files of a data set: they are rejected by name, and nothing of them is kept. */
#include "bench/workloads/data/tests/data_files.h"

#include <linux/capability.h>
#include <sys/syscall.h>

enum damage { WORD, BYTE, CUT, APPEND, PACKED_BYTE, PACKED_CUT, PACKED_APPEND };

/* One change to one file, and the expected error. WORD and BYTE set `value` at `at`, CUT leaves
 * `at` bytes, APPEND adds `at` bytes. `text` may contain one '*' where zlib versions differ. */
struct bad {
    int file;
    bool gzip;
    enum damage damage;
    long at; /* from the end if negative */
    uint32_t value;
    const char *text;
};

#define IMAGES_EXPECTED "120016 bytes (16 + 100 x 30 x 40)"

static const struct bad bad_files[] = {
    {TRAIN_IMAGES, false, WORD, 0, 0x801,
     "byte 0: found labels, expected images; is this file swapped with */train-labels-idx1-ubyte?"},
    {TRAIN_LABELS, true, WORD, 0, 0x803,
     "byte 0: found images, expected labels; is this file swapped with */train-images-idx3-ubyte?"},
    {TRAIN_IMAGES, true, WORD, 0, 0xd03,
     "byte 0: magic number 0x00000d03, expected 0x00000803 (unsigned bytes, 3 dimensions)"},
    {TEST_LABELS, false, WORD, 0, 0x803,
     "byte 0: found images, expected labels; is this file swapped with */t10k-images-idx3-ubyte?"},
    {TEST_LABELS, false, WORD, 0, 0x802,
     "byte 0: magic number 0x00000802, expected 0x00000801 (unsigned bytes, 1 dimension)"},
    {TRAIN_IMAGES, false, CUT, 0, 0, "the file is empty"},
    {TRAIN_IMAGES, true, PACKED_CUT, 0, 0, "the file is empty"},
    {TRAIN_IMAGES, false, CUT, 15, 0, "truncated: expected a header of 16 bytes, found 15"},
    {TEST_LABELS, true, CUT, 3, 0, "truncated: expected a header of 8 bytes, found 3"},
    {TRAIN_IMAGES, false, CUT, 12345, 0, "truncated: expected " IMAGES_EXPECTED ", found 12345"},
    {TRAIN_IMAGES, true, CUT, -1, 0, "truncated: expected " IMAGES_EXPECTED ", found 120015"},
    {TRAIN_LABELS, false, CUT, -1, 0, "truncated: expected 108 bytes (8 + 100), found 107"},
    {TRAIN_IMAGES, false, APPEND, 3, 0,
     "byte 120016: trailing bytes; expected " IMAGES_EXPECTED ", found 120019"},
    {TRAIN_IMAGES, true, APPEND, 1, 0,
     "byte 120016: trailing bytes; expected " IMAGES_EXPECTED ", found more"},
    {TRAIN_IMAGES, false, WORD, 4, 0, "dimension 1 is 0, expected 1 to 4294967295"},
    {TRAIN_IMAGES, false, WORD, 8, 0, "dimension 2 is 0, expected 1 to 32767"},
    {TRAIN_IMAGES, true, WORD, 12, 0xffffffff, "dimension 3 is 4294967295, expected 1 to 32767"},
    {TRAIN_IMAGES, false, WORD, 4, 0xffffffff,
     "truncated: expected 5153960754016 bytes (16 + 4294967295 x 30 x 40), found 120016"},
    {TRAIN_IMAGES, true, WORD, 4, 0xffffffff,
     "truncated: expected 5153960754016 bytes (16 + 4294967295 x 30 x 40), found 120016"},
    {TEST_IMAGES, false, WORD, 8, ROWS + 1,
     "truncated: expected 8696 bytes (16 + 7 x 31 x 40), found 8416"},
    {TRAIN_IMAGES, true, PACKED_BYTE, 0, 0,
     "byte 0: magic number 0x008b0800, expected 0x00000803 (unsigned bytes, 3 dimensions)"},
    {TRAIN_IMAGES, true, PACKED_BYTE, 2, 0,
     "byte *: corrupt gzip data: unknown compression method"},
    {TRAIN_IMAGES, true, PACKED_BYTE, -8, 0x100, "byte *: corrupt gzip data: incorrect data check"},
    {TRAIN_IMAGES, true, PACKED_APPEND, 5, 0, "byte *: trailing bytes after the gzip data"},
    {TRAIN_IMAGES, true, PACKED_CUT, 60000, 0,
     "byte 60000: truncated gzip data: the file ends too early"},
    {TRAIN_IMAGES, true, PACKED_CUT, 2, 0, "byte 2: truncated gzip data: the file ends too early"},
    {TRAIN_IMAGES, true, PACKED_CUT, 1, 0, "truncated: expected a header of 16 bytes, found 1"},
};

/* Sets a byte; a value above 255 inverts the byte instead, if its value is unknown. */
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
    if (star == NULL)
        return strcmp(text, pattern) == 0;
    size_t head = (size_t)(star - pattern), tail = strlen(star + 1), n = strlen(text);
    return n > head + tail && strncmp(text, pattern, head) == 0 &&
           strcmp(text + n - tail, star + 1) == 0;
}

/* A rejected set leaves no map, no entry and no temporary file. */
static void assert_refused(const struct world *w, const char *name, const char *text)
{
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "idx", w->data, &e), ERR_DATA);
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

/* A file that differs from its header never becomes a cache entry. */
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
    assert_refused(w, name, "truncated: expected " IMAGES_EXPECTED ", found 120015");
    assert_int_equal(list(w->cache).n, 0);
}

/* Files of other kinds and their errors. */
static const struct {
    const char *contents, *text;
} mistaken[] = {
    {"<!DOCTYPE html>\n<html><head>",
     "begins with '<!DOCTYPE html' like a web page; expected IDX. Download the file again"},
    {"\xef\xbb\xbf\r\n \t<!doctype HTML>",
     "begins with '<!DOCTYPE html' like a web page; expected IDX. Download the file again"},
    {"<HTML>\n", "begins with '<html' like a web page; expected IDX. Download the file again"},
    {"<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>",
     "begins with '<?xml' like a server's answer in XML; expected IDX. Download the file again"},
    {"<Error><Code>AccessDenied</Code></Error>",
     "begins with '<Error>' like a server's answer in XML; expected IDX. Download the file again"},
    {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
     "begins with 'version https://git-lfs' like a pointer of Git LFS; expected IDX. Run git lfs "
     "pull"},
    {"PK\3\4rest",
     "begins with 'PK' like a zip archive (also written by torch.save); expected IDX. Unpack the "
     "archive, or write a state_dict with safetensors.torch.save_file"},
    {"<ht", "truncated: expected a header of 16 bytes, found 3"},
};

static void refuse_mistaken(const struct world *w, const char *name, bool packed,
                            const char *contents, const char *text)
{
    const uint8_t *bytes = (const uint8_t *)contents;
    (packed ? write_packed : write_file)(w->data, name, bytes, strlen(contents));
    char written[64], path[PATH_MAX];
    snprintf(written, sizeof written, "%s%s", name, packed ? ".gz" : "");
    assert_refused(w, written, text);
    snprintf(path, sizeof path, "%s/%s", w->data, written);
    assert_int_equal(unlink(path), 0);
}

/* Tests each file plain and compressed. */
static void test_files_that_are_something_else(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, false);
    snprintf(path, sizeof path, "%s/%s", w->data, file_names[TRAIN_IMAGES]);
    assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < sizeof mistaken / sizeof *mistaken; i++)
        for (int packed = 0; packed < 2; packed++)
            refuse_mistaken(w, file_names[TRAIN_IMAGES], packed, mistaken[i].contents,
                            mistaken[i].text);
    assert_int_equal(list(w->cache).n, 0);
}

/* Two layers of gzip are read, three are not; damage in the inner layer is reported there. */
static void test_gzip_of_too_many_layers(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, false);
    write_layers(w, file_names[TEST_LABELS], TEST_LABELS, 3);
    assert_refused(
        w, file_names[TEST_LABELS],
        "this file is compressed with gzip more than 2 times. Decompress the file with gunzip");
}

static void test_damage_in_the_inner_gzip(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, false);
    struct bytes inner = pack(w->file[TEST_LABELS].at, w->file[TEST_LABELS].n);
    inner.at[inner.n - 8] ^= 1;
    struct bytes outer = pack(inner.at, inner.n);
    write_file(w->data, file_names[TEST_LABELS], outer.at, outer.n);
    assert_refused(w, file_names[TEST_LABELS],
                   "byte * of the gzip data inside the outer gzip data: corrupt gzip data: "
                   "incorrect data check");
    struct bytes cut = pack(inner.at, 20);
    write_file(w->data, file_names[TEST_LABELS], cut.at, cut.n);
    assert_refused(w, file_names[TEST_LABELS],
                   "byte 20 of the gzip data inside the outer gzip data: truncated gzip data: the "
                   "file ends too early");
    free(inner.at);
    free(outer.at);
    free(cut.at);
}

/* If both files of a pair are swapped, the first one read reports it. */
static void test_swapped_files(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, false);
    write_file(w->data, file_names[TEST_IMAGES], w->file[TEST_LABELS].at, w->file[TEST_LABELS].n);
    write_file(w->data, file_names[TEST_LABELS], w->file[TEST_IMAGES].at, w->file[TEST_IMAGES].n);
    assert_refused(w, file_names[TEST_IMAGES],
                   "byte 0: found labels, expected images; is this file swapped with "
                   "*/t10k-labels-idx1-ubyte?");
}

static void test_counts_that_disagree(void **state)
{
    struct world *w = *state;
    char text[1024];
    put_word(w->file[TEST_LABELS].at + 4, N_TEST - 1);
    w->file[TEST_LABELS].n--;
    write_set(w, w->data, false);
    char *real = realpath(w->data, NULL);
    snprintf(text, sizeof text,
             "found 7 images, but %s/t10k-labels-idx1-ubyte has 6 labels; expected one label for "
             "each image. Use files of one data set",
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
    assert_refused(
        w, "t10k-images-idx3-ubyte",
        "found images of 40 x 30, but */train-images-idx3-ubyte has 30 x 40. Use files of "
        "one data set");
}

static void test_folder_without_the_files(void **state)
{
    const struct world *w = *state;
    assert_refused(w, "set",
                   "no files of idx found; expected "
                   "train-images-idx3-ubyte[.gz], train-images.idx3-ubyte[.gz], "
                   "train-images-idx4-ubyte[.gz], train-images.idx4-ubyte[.gz], "
                   "train-labels-idx1-ubyte[.gz], train-labels.idx1-ubyte[.gz], "
                   "t10k-images-idx3-ubyte[.gz], t10k-images.idx3-ubyte[.gz], "
                   "t10k-images-idx4-ubyte[.gz], t10k-images.idx4-ubyte[.gz], "
                   "t10k-labels-idx1-ubyte[.gz], t10k-labels.idx1-ubyte[.gz]");
}

static void test_folder_that_is_not_there(void **state)
{
    const struct world *w = *state;
    assert_int_equal(rmdir(w->data), 0);
    assert_refused(w, "set",
                   "cannot be opened: No such file or directory; expected a folder with the files "
                   "of idx");
}

static void test_folder_with_some_files(void **state)
{
    const struct world *w = *state;
    for (int i = 0; i < FILES; i++)
        if (i != TRAIN_LABELS)
            write_file(w->data, file_names[i], w->file[i].at, w->file[i].n);
    assert_refused(w, "set",
                   "some files of idx found, but none of train-labels-idx1-ubyte[.gz], "
                   "train-labels.idx1-ubyte[.gz]");
}

static void test_file_that_is_a_folder(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, false);
    snprintf(path, sizeof path, "%s/%s", w->data, file_names[TRAIN_LABELS]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_refused(w, file_names[TRAIN_LABELS],
                   "cannot be opened: expected a regular file, found a folder");
}

/* Root may read everything until it drops that capability. */
static bool is_denied(const struct world *w)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    struct data_set d;
    struct error e = {0};
    return syscall(SYS_capset, &header, none) == 0 &&
           data_open(&d, "idx", w->data, &e) == ERR_DATA &&
           strstr(e.file, file_names[TEST_IMAGES]) != NULL &&
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bad_file),
        TEST(test_bad_gzip_is_not_cached),
        TEST(test_files_that_are_something_else),
        TEST(test_gzip_of_too_many_layers),
        TEST(test_damage_in_the_inner_gzip),
        TEST(test_swapped_files),
        TEST(test_counts_that_disagree),
        TEST(test_test_images_of_another_shape),
        TEST(test_folder_without_the_files),
        TEST(test_folder_that_is_not_there),
        TEST(test_folder_with_some_files),
        TEST(test_file_that_is_a_folder),
        TEST(test_file_that_may_not_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
