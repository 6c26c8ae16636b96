/* Tests arrays of numpy.save: the small set of data_files.h in all forms, and rejected arrays. */
#include "bench/workloads/data/tests/data_files.h"

static const char *const npy_names[] = {"train-images.npy", "train-labels.npy", "test-images.npy",
                                        "test-labels.npy"};

/* Makes a file: a header of this version around `dict`, padded with spaces to 64 bytes as by NumPy,
 * then the contents. */
static struct bytes make_npy(int version, const char *dict, const uint8_t *contents, size_t n)
{
    size_t start = version == 1 ? 10 : 12, text = strlen(dict);
    size_t header = (start + text + 64) / 64 * 64, length = header - start;
    struct bytes b = {malloc(header + n), header + n};
    assert_non_null(b.at);
    memcpy(b.at, "\x93NUMPY", 6);
    b.at[6] = (uint8_t)version;
    b.at[7] = 0;
    for (size_t i = 8; i < start; i++)
        b.at[i] = (uint8_t)(length >> 8 * (i - 8));
    memset(b.at + start, ' ', length);
    memcpy(b.at + start, dict, text);
    b.at[header - 1] = '\n';
    memcpy(b.at + header, contents, n);
    return b;
}

static void write_npy(const char *folder, const char *name, bool gzip, struct bytes b)
{
    (gzip ? write_packed : write_file)(folder, name, b.at, b.n);
    free(b.at);
}

/* ---- Valid arrays ---- */

/* Shape of the images and type of the labels. */
struct form {
    const char *shape, *type;
    int channels, version;
    bool last, gzip;
};

static const struct form forms[] = {
    {"(%d, 30, 40)", "|u1", 1, 1, false, false},    {"(%d, 30, 40)", "<i8", 1, 1, false, true},
    {"(%d, 1, 30, 40)", ">i2", 1, 2, false, false}, {"(%d, 3, 10, 40)", "<u4", 3, 3, false, false},
    {"(%d, 10, 40, 3)", "|i1", 3, 1, true, false},  {"(%d, 10, 40, 3)", ">u8", 3, 2, true, true},
};

static struct bytes make_images(const struct world *w, int file, const struct form *form)
{
    size_t n = w->file[file].n - IMAGE_HEADER, pixels = IMAGE / (size_t)form->channels;
    const uint8_t *from = w->file[file].at + IMAGE_HEADER;
    char shape[32], dict[128];
    uint8_t *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++) {
        size_t image = i / IMAGE, c = i % IMAGE / pixels, pixel = i % pixels;
        bytes[form->last ? image * IMAGE + pixel * 3 + c : i] = from[i];
    }
    snprintf(shape, sizeof shape, form->shape, (int)(n / IMAGE));
    snprintf(dict, sizeof dict, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shape);
    struct bytes made = make_npy(form->version, dict, bytes, n);
    free(bytes);
    return made;
}

static struct bytes make_labels(const struct world *w, int file, const struct form *form)
{
    size_t n = w->file[file].n - LABEL_HEADER, size = (size_t)(form->type[2] - '0');
    uint8_t *bytes = calloc(n, size);
    char dict[128];
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i * size + (form->type[0] == '>' ? size - 1 : 0)] =
            w->file[file].at[LABEL_HEADER + i];
    /* Another order of keys, and Fortran order, which has no effect in one dimension. */
    snprintf(dict, sizeof dict, "{'shape': (%zu,), 'descr': \"%s\", 'fortran_order': True}", n,
             form->type);
    struct bytes made = make_npy(form->version, dict, bytes, n * size);
    free(bytes);
    return made;
}

static void write_form(const struct world *w, const struct form *form)
{
    remove_tree(w->data);
    assert_int_equal(mkdir(w->data, 0755), 0);
    for (int file = 0; file < FILES; file++)
        write_npy(w->data, npy_names[file], form->gzip,
                  (file % 2 ? make_labels : make_images)(w, file, form));
}

static void test_arrays_hold_the_set(void **state)
{
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        write_form(w, &forms[i]);
        for (int again = 0; again < 2; again++) { /* the second time from the cache */
            struct data_set d;
            struct error e = {0};
            if (data_open_as(&d, "npy", w->data, "auto", &e) != OK)
                fail_msg("%zu: %s: %s", i, e.file, e.text);
            assert_holds(&d, w);
            assert_string_equal(d.name, "set");
            assert_string_equal(d.source, "own");
            assert_int_equal(d.shape.c, forms[i].channels);
            assert_int_equal(d.shape.h, ROWS / forms[i].channels);
            assert_int_equal(d.shape.w, COLUMNS);
            assert_int_equal(d.classes, 10);
            data_close(&d);
        }
    }
}

/* Bytes in the order of the set are mapped; other arrays are converted once. */
static void test_arrays_of_bytes_are_mapped(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    write_form(w, &forms[0]);
    assert_int_equal(data_open(&d, "npy", w->data, NULL), OK);
    data_close(&d);
    assert_int_equal(list(w->cache).n, 0);
    write_form(w, &forms[2]);
    assert_int_equal(data_open(&d, "npy", w->data, NULL), OK);
    data_close(&d);
    assert_int_equal(list(w->cache).n, 2);
}

/* ---- Rejected arrays ---- */

#define C_ORDER "'fortran_order': False, "

static const struct {
    int file;
    const char *dict, *text;
} bad[] = {
    {TRAIN_IMAGES, "{'descr': '<f4', " C_ORDER "'shape': (100, 30, 40), }",
     "found dtype '<f4' (floating point), expected uint8, a byte for each colour of a pixel: write "
     "(x * "
     "255).astype('uint8') if x is from 0 to 1"},
    {TRAIN_IMAGES, "{'descr': '<i8', " C_ORDER "'shape': (100, 30, 40), }",
     "found dtype '<i8', expected uint8, a byte for each colour of a pixel: write "
     "x.astype('uint8')"},
    {TRAIN_IMAGES, "{'descr': '|u1', 'fortran_order': True, 'shape': (100, 30, 40), }",
     "expected C order, found Fortran order. Save "
     "numpy.ascontiguousarray(x)"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (100, 1200), }",
     "found an array of 2 dimensions, expected images of the shape [N, H, W], [N, H, W, 3], [N, 3, "
     "H, W] or "
     "[N, 1, H, W]"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (100, 1, 1, 30, 40), }",
     "found an array of 5 dimensions, expected images of the shape "},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (100, 2, 15, 40), }",
     "found images of 2 x 15 x 40; expected 1 or 3 channels as the first or last dimension"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (120000,), }",
     "shape: found labels, expected images; is this file swapped with "},
    {TRAIN_IMAGES, "{'descr': '|O', " C_ORDER "'shape': (120000,), }",
     "found dtype '|O', an array of objects; expected one array of uint8. Give all images the same "
     "size"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (100, 30, 32768), }",
     "dimension 3 is 32768, expected 1 to 32767"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (101, 30, 40), }",
     "truncated: expected 121328 bytes (128 + 101 x 30 x 40), found 120128"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (99, 30, 40), }",
     "byte 118928: trailing bytes; expected 118928 bytes (128 + 99 x 30 x 40), found 120128"},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "}",
     "byte 64: expected a header such as {'descr': "},
    {TRAIN_IMAGES, "{'descr': [('a', '|u1')], " C_ORDER "'shape': (100, 30, 40), }",
     "byte 20: expected a header such as {'descr': '|u1', 'fortran_order': False, 'shape': (N, "
     "...)}, found "
     "'{'descr': [('a', "},
    {TRAIN_IMAGES, "{'descr': '|u1', " C_ORDER "'shape': (1000000000000000000, 30, 40), }",
     "expected a header such as {'descr': "},
    {TRAIN_LABELS, "{'descr': '<f8', " C_ORDER "'shape': (100,), }",
     "found dtype '<f8' (floating point), expected integers of 0 to 255: write y.astype('uint8')"},
    {TRAIN_LABELS, "{'descr': '|b1', " C_ORDER "'shape': (100,), }",
     "found dtype '|b1', expected integers of 0 to 255: write y.astype('uint8')"},
    {TRAIN_LABELS, "{'descr': '', " C_ORDER "'shape': (100,), }",
     "found dtype '', expected integers"},
    {TRAIN_LABELS, "{'descr': '|u1', " C_ORDER "'shape': (100, 1), }",
     "found an array of 2 dimensions, expected one label per image. Save y.argmax(axis=1) if the "
     "labels y are one-hot, otherwise y.reshape(-1)"},
    {TRAIN_LABELS, "{'descr': '|u1', " C_ORDER "'shape': (), }",
     "found an array of 0 dimensions, expected one label per image"},
    {TRAIN_LABELS, "{'descr': '|u1', " C_ORDER "'shape': (100, 1, 1), }",
     "shape: found images, expected labels; is this file swapped with "},
    {TRAIN_LABELS, "{'descr': '<u2', " C_ORDER "'shape': (100,), }",
     "truncated: expected 328 bytes (128 + 100 x 2), found 228"},
};

/* Expects that the set with file `at` replaced by b is rejected with this text, plain and
 * compressed. */
static void assert_npy_refused(const struct world *w, int at, struct bytes b, const char *text)
{
    struct data_set d;
    struct error e = {0};
    for (int gzip = 0; gzip < 2; gzip++) {
        char path[PATH_MAX];
        write_form(w, &forms[0]);
        snprintf(path, sizeof path, "%s/%s", w->data, npy_names[at]);
        assert_int_equal(unlink(path), 0);
        (gzip ? write_packed : write_file)(w->data, npy_names[at], b.at, b.n);
        assert_int_equal(data_open(&d, "npy", w->data, &e), ERR_DATA);
        assert_contains(e.file, npy_names[at]);
        /* With gzip the number of trailing bytes is unknown. */
        if (!gzip || strstr(text, "trailing") == NULL)
            assert_contains(e.text, text);
        assert_null(d.train.images);
    }
    free(b.at);
}

static void test_arrays_that_are_refused(void **state)
{
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct bytes *b = &w->file[bad[i].file];
        size_t header = bad[i].file == TRAIN_IMAGES ? IMAGE_HEADER : LABEL_HEADER;
        assert_npy_refused(w, bad[i].file, make_npy(1, bad[i].dict, b->at + header, b->n - header),
                           bad[i].text);
    }
}

static void test_labels_out_of_range(void **state)
{
    const struct world *w = *state;
    static const char dict[] = "{'descr': '<i2', " C_ORDER "'shape': (100,), }";
    uint8_t labels[200] = {0};
    labels[2 * 17 + 1] = 1;
    assert_npy_refused(w, TRAIN_LABELS, make_npy(1, dict, labels, sizeof labels),
                       "label 17 is 256, expected 0 to 255. Number the classes from 0");
    memset(labels + 2 * 3, 0xff, 2);
    assert_npy_refused(w, TRAIN_LABELS, make_npy(1, dict, labels, sizeof labels),
                       "label 3 is -1, expected 0 to 255");
}

/* Labels of one class, pixels of 0 and 1, and equal images are mistakes of conversion. */
static void test_sets_without_variety(void **state)
{
    const struct world *w = *state;
    static const char images[] = "{'descr': '|u1', " C_ORDER "'shape': (100, 30, 40), }";
    static const char labels[] = "{'descr': '|u1', " C_ORDER "'shape': (100,), }";
    static const char *const texts[] = {"all training images have label 7: expected at least two "
                                        "classes",
                                        "no pixel of the training images is above 1: expected "
                                        "bytes from 0 to 255",
                                        "all training images are equal"};
    uint8_t bytes[100 * 30 * 40];
    for (int i = 0; i < 3; i++) {
        struct data_set d;
        struct error e = {0};
        int file = i == 0 ? TRAIN_LABELS : TRAIN_IMAGES;
        memset(bytes, i == 0 ? 7 : i == 1 ? 1 : 128, sizeof bytes);
        struct bytes b = make_npy(1, i == 0 ? labels : images, bytes, i == 0 ? 100 : sizeof bytes);
        write_form(w, &forms[0]);
        write_npy(w->data, npy_names[file], false, b);
        assert_int_equal(data_open(&d, "npy", w->data, &e), ERR_DATA);
        assert_contains(e.text, texts[i]);
        assert_null(d.train.images);
    }
}

static void test_files_that_are_no_arrays(void **state)
{
    const struct world *w = *state;
    static const struct {
        const char *bytes, *text;
        size_t n;
    } other[] = {
        {"\0\0\10\3\0\0\0\1", "byte 0: expected \\x93NUMPY, the first bytes of an NPY file", 8},
        {"\x93NUMPY\4\0v\0\0\0", "byte 6: found NPY version 4, expected 1, 2 or 3", 12},
        {"\x93NUMPY\1\0", "truncated: expected a header of 12 bytes, found 8", 8},
        {"\x93NUMPY\1\0v\0{'", "truncated: expected a header of 128 bytes, found 12", 12},
        {"\x93NUMPY\2\0\0\0\1\0", "byte 8: found a header of 65548 bytes, expected at most 4096",
         12},
        {"PK\3\4", "begins with 'PK' like a zip archive", 4},
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct bytes b = {malloc(other[i].n), other[i].n};
        assert_non_null(b.at);
        memcpy(b.at, other[i].bytes, b.n);
        assert_npy_refused(w, TRAIN_IMAGES, b, other[i].text);
    }
}

static void test_names_of_arrays(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    struct error e = {0};
    char from[PATH_MAX], to[PATH_MAX];
    assert_int_equal(data_open(&d, "npy", w->data, &e), ERR_DATA);
    assert_contains(e.text,
                    "no files of npy found; expected train-images.npy[.gz], train_images.npy[.gz], "
                    "train-labels.npy[.gz], ");
    write_form(w, &forms[0]);
    for (int file = 0; file < FILES; file++) {
        snprintf(from, sizeof from, "%s/%s", w->data, npy_names[file]);
        snprintf(to, sizeof to, "%s", from);
        *strrchr(to, '-') = '_';
        assert_int_equal(rename(from, to), 0);
    }
    assert_int_equal(data_open(&d, "npy", w->data, NULL), OK);
    data_close(&d);
    assert_int_equal(unlink(to), 0);
    assert_int_equal(data_open(&d, "npy", w->data, &e), ERR_DATA);
    assert_contains(e.text, "some files of npy found, but none of test-labels.npy[.gz], "
                            "test_labels.npy[.gz]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_arrays_hold_the_set),  TEST(test_arrays_of_bytes_are_mapped),
        TEST(test_sets_without_variety), TEST(test_arrays_that_are_refused),
        TEST(test_labels_out_of_range),  TEST(test_files_that_are_no_arrays),
        TEST(test_names_of_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
