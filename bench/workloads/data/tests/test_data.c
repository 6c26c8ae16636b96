/* Tests valid files of a data set, the folders searched for them, and the contents read. */
#include "bench/workloads/data/tests/data_files.h"

/* ---- Valid files ---- */

static void test_plain_is_mapped_where_it_lies(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    write_set(w, w->data, false);
    assert_int_equal(data_open(&d, "idx", w->data, NULL), OK);
    assert_holds(&d, w);
    assert_string_equal(d.name, "idx");
    assert_string_equal(d.source, "own");
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

/* Own images may have any name except names of other sets. */
static void test_own_images_have_a_name(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    struct error e = {0};
    write_set(w, w->data, false);
    assert_int_equal(data_open_as(&d, "idx", w->data, "auto", NULL), OK);
    assert_string_equal(d.name, "set");
    data_close(&d);
    assert_int_equal(data_open_as(&d, "idx", w->data, "of shoes", NULL), OK);
    assert_string_equal(d.name, "of shoes");
    assert_string_equal(d.source, "own");
    data_close(&d);
    assert_int_equal(data_open_as(&d, "idx", w->data, "mnist", &e), ERR_ARGUMENT);
    assert_contains(e.text, "data.name: 'mnist' is the name of another data set");
    assert_null(d.train.images);
    assert_int_equal(data_open_as(&d, "idx", w->data, "a name of more than 31 characters", &e),
                     ERR_ARGUMENT);
    assert_int_equal(data_open_as(&d, "idx", "auto", "mine", &e), ERR_ARGUMENT);
    assert_contains(e.text, "data.path is missing");
    assert_int_equal(data_open(&d, "mnist", w->data, &e), ERR_DATA);
    assert_contains(e.text, "use data: {set: idx, name: NAME, path: ");
}

/* Writes the images of the small set as 10 x 40 pixels in three colours, with channels first or
 * last. */
static void write_colours(const struct world *w, bool last, bool gzip)
{
    static const char *const names[] = {"train-images-idx4-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx4-ubyte", "t10k-labels-idx1-ubyte"};
    const uint32_t first_dims[] = {0x804, 0, 3, ROWS / 3, COLUMNS},
                   last_dims[] = {0x804, 0, ROWS / 3, COLUMNS, 3};
    write_set(w, w->data, gzip);
    for (int file = 0; file < FILES; file += 2) {
        size_t n = w->file[file].n - IMAGE_HEADER, pixels = IMAGE / 3;
        uint8_t *bytes = malloc(n + 20);
        const uint8_t *from = w->file[file].at + IMAGE_HEADER;
        char grey[PATH_MAX];
        assert_non_null(bytes);
        for (int d = 0; d < 5; d++)
            put_word(bytes + 4 * d, last ? last_dims[d] : first_dims[d]);
        put_word(bytes + 4, (uint32_t)(n / IMAGE));
        for (size_t i = 0; i < n; i++) {
            size_t image = i / IMAGE, c = i % IMAGE / pixels, pixel = i % pixels;
            bytes[20 + (last ? image * IMAGE + pixel * 3 + c : i)] = from[i];
        }
        snprintf(grey, sizeof grey, "%s/%s%s", w->data, file_names[file], gzip ? ".gz" : "");
        assert_int_equal(unlink(grey), 0);
        (gzip ? write_packed : write_file)(w->data, names[file], bytes, n + 20);
        free(bytes);
    }
}

static void assert_header_refused(const struct world *w, const uint32_t dims[3], const char *text)
{
    uint8_t head[20];
    struct data_set d;
    struct error e = {0};
    put_word(head, 0x804);
    put_word(head + 4, N_TRAIN);
    for (int i = 0; i < 3; i++)
        put_word(head + 8 + 4 * i, dims[i]);
    write_file(w->data, "train-images-idx4-ubyte", head, sizeof head);
    assert_int_equal(data_open(&d, "idx", w->data, &e), ERR_DATA);
    assert_contains(e.text, text);
}

static void test_images_in_colour(void **state)
{
    const struct world *w = *state;
    for (int form = 0; form < 4; form++) {
        struct data_set d;
        bool last = form % 2, gzip = form / 2;
        remove_tree(w->data);
        assert_int_equal(mkdir(w->data, 0755), 0);
        write_colours(w, last, gzip);
        for (int again = 0; again < 2; again++) { /* the second time from the cache */
            assert_int_equal(data_open(&d, "idx", w->data, NULL), OK);
            assert_holds(&d, w);
            assert_int_equal(d.shape.c, 3);
            assert_int_equal(d.shape.h, ROWS / 3);
            assert_int_equal(d.shape.w, COLUMNS);
            data_close(&d);
        }
    }
    assert_header_refused(w, (const uint32_t[]){5, 6, 7},
                          "images of 5 x 6 x 7; expected 1 or 3 channels");
    assert_header_refused(w, (const uint32_t[]){32767, 32767, 3},
                          "expected at most 67108864 bytes");
    assert_header_refused(w, (const uint32_t[]){10, 40, 3}, "truncated: expected 120020 bytes");
    assert_header_refused(w, (const uint32_t[]){3, 10, 40}, "truncated: expected 120020 bytes");
}

static void test_any_number_of_classes(void **state)
{
    struct world *w = *state;
    struct data_set d;
    w->file[TEST_LABELS].at[LABEL_HEADER + 3] = 255;
    write_set(w, w->data, false);
    assert_int_equal(data_open(&d, "idx", w->data, NULL), OK);
    assert_int_equal(d.classes, 256);
    data_close(&d);
}

static void test_gzip_equals_plain(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    assert_int_equal(list(w->cache).n, FILES);
}

/* Gzip is recognised by contents, not by name; the hash covers the decompressed contents. */
static void test_gzip_is_known_by_its_contents(void **state)
{
    const struct world *w = *state;
    char expected[DATA_HASH_BYTES];
    write_set(w, w->data, false);
    hash_set(w, expected);
    for (int layers = 0; layers <= 2; layers++)
        for (int ends = 0; ends < 2; ends++) {
            char name[64], hex[DATA_HASH_BYTES];
            remove_tree(w->data);
            remove_tree(w->cache);
            assert_int_equal(mkdir(w->data, 0755), 0);
            for (int i = 0; i < FILES; i++) {
                snprintf(name, sizeof name, "%s%s", file_names[i], ends ? ".gz" : "");
                write_layers(w, name, i, layers);
            }
            assert_opens(w, w->data);
            assert_opens(w, w->data); /* from the cache */
            assert_int_equal(list(w->cache).n, layers > 0 ? FILES : 0);
            hash_set(w, hex);
            assert_string_equal(hex, expected);
        }
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

/* ---- Searched folders ---- */

/* Writes the set to root/parent/set. */
static void write_set_below(const struct world *w, const char *parent, const char *set)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", w->root, parent);
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s/%s", w->root, parent, set);
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
    write_set(w, path, false);
}

/* Only MNIST itself may have its name, so these files are found and rejected. */
static void assert_found_in(const struct world *w, const char *folder)
{
    struct data_set d;
    struct error e = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->root, folder);
    char *real = realpath(path, NULL);
    assert_non_null(real);
    assert_int_equal(data_open(&d, "mnist", "auto", &e), ERR_DATA);
    assert_string_equal(e.file, real);
    assert_contains(e.text, "these files are not the files of MNIST");
    free(real);
}

/* Fills the folders from last to first, so that each filled one must win over all later ones. */
static void test_order_of_folders(void **state)
{
    struct world *w = *state;
    char here[PATH_MAX], named[PATH_MAX];
    snprintf(here, sizeof here, "%s/here", w->root);
    assert_int_equal(mkdir(here, 0755), 0);
    assert_int_equal(chdir(here), 0);
    write_set_below(w, "home", "");
    write_set_below(w, "home/data", "mnist");
    snprintf(named, sizeof named, "%s/home", w->root);
    setenv("SCALEBENCH_HOME", named, 1);
    assert_found_in(w, "home/data/mnist");
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
    struct data_set d;
    char text[4096];
    struct capture c = capture_begin();
    enum status status = data_open(&d, "mnist", "auto", NULL);
    capture_end(&c, text, sizeof text);
    assert_int_equal(status, ERR_DATA);
    assert_contains(
        text, "warning: SCALEBENCH_DATA=/nowhere has no files of mnist; searching other folders");
}

static void test_environment_that_searches_nowhere(void **state)
{
    struct world *w = *state;
    struct data_set d;
    assert_int_equal(chdir(w->root), 0);
    write_set_below(w, "data", "mnist");
    setenv("SCALEBENCH_DATA", "none", 1);
    assert_int_equal(data_open(&d, "mnist", "auto", NULL), OK);
    assert_string_equal(d.source, "generated");
    data_close(&d);
}

/* A damaged set is an error; later folders are not searched. */
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
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "digist", "auto", &e), ERR_ARGUMENT);
    assert_string_equal(e.text,
                        "data set 'digist' is unknown; nearest 'digits'; known: mnist digits "
                        "cifar10 shapes noise idx npy");
}

static void test_gather(void **state)
{
    const struct world *w = *state;
    const uint32_t samples[] = {99, 0, 42, 42};
    uint8_t images[4 * IMAGE], labels[4];
    struct data_set d;
    write_set(w, w->data, false);
    assert_int_equal(data_open(&d, "idx", w->data, NULL), OK);
    data_gather(&d.train, IMAGE, samples, 4, images, labels);
    for (int i = 0; i < 4; i++) {
        const uint8_t *from = w->file[TRAIN_IMAGES].at + IMAGE_HEADER + samples[i] * IMAGE;
        assert_memory_equal(images + i * IMAGE, from, IMAGE);
        assert_int_equal(labels[i], w->file[TRAIN_LABELS].at[LABEL_HEADER + samples[i]]);
    }
    data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain_is_mapped_where_it_lies),
        TEST(test_own_images_have_a_name),
        TEST(test_images_in_colour),
        TEST(test_any_number_of_classes),
        TEST(test_gzip_equals_plain),
        TEST(test_gzip_is_known_by_its_contents),
        TEST(test_gzip_of_several_members),
        TEST(test_names_with_a_dot),
        TEST(test_plain_wins_over_gzip),
        TEST(test_order_of_folders),
        TEST(test_environment_that_leads_nowhere),
        TEST(test_environment_that_searches_nowhere),
        TEST(test_found_but_bad),
        TEST(test_unknown_set),
        TEST(test_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
