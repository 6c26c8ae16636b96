/* Tests generated digits: the same on every machine, a function of seed and index only. */
#include "bench/workloads/data/tests/data_files.h"

#define DIGIT 784

static void test_digits_depend_on_seed_and_index_alone(void **state)
{
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

/* Only operations that IEEE 754 rounds exactly are used, so all machines and compilers make the
 * same bytes. A change of the drawing changes these numbers: then increase the version of digits
 * too. */
static void test_digits_are_the_same_everywhere(void **state)
{
    static uint8_t images[1000 * DIGIT], labels[1000];
    for (uint32_t i = 0; i < 1000; i++)
        digits_draw(1, i, images + i * DIGIT, &labels[i]);
    assert_int_equal(crc32(0, images, sizeof images), 0xf1f79244);
    assert_int_equal(crc32(0, labels, sizeof labels), 0x5842fc0d);
}

/* Expects a tenth of n per class, within five standard deviations of sqrt(n 0.1 0.9). Fair labels
 * exceed that for less than one seed in 100,000. */
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

/* Without files "mnist" becomes the same digits, with a note, from the same cache entry. */
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
    assert_contains(text, "note: mnist not found in");
    assert_int_equal(list(w->cache).n, 1);
}

static void test_digits_take_no_path(void **state)
{
    const struct world *w = *state;
    struct data_set d;
    struct error e = {0};
    assert_int_equal(data_open(&d, "digits", w->data, &e), ERR_ARGUMENT);
    assert_string_equal(e.file, w->data);
    assert_string_equal(
        e.text, "data set 'digits' is generated and reads no files: data.path must be auto");
}

/* Every byte from 1 to 255 occurs, about equally often, and an image depends on seed and index
 * alone. */
static void test_noise_has_no_zeros(void **state)
{
    uint8_t image[28 * 28], again[28 * 28], label, same;
    int count[256] = {0};
    for (uint32_t i = 0; i < 100; i++) {
        noise_draw(1, i, image, &label);
        noise_draw(1, i, again, &same);
        assert_memory_equal(image, again, sizeof image);
        assert_int_equal(label, same);
        assert_true(label < 10);
        noise_draw(1, i + 1, again, &same);
        assert_memory_not_equal(image, again, sizeof image);
        for (size_t k = 0; k < sizeof image; k++)
            count[image[k]]++;
    }
    assert_int_equal(count[0], 0);
    for (int byte = 1; byte < 256; byte++) /* 307 expected, with a standard deviation of 18 */
        assert_in_range(count[byte], 200, 420);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_digits_depend_on_seed_and_index_alone),
        TEST(test_digits_are_the_same_everywhere),
        TEST(test_digits_as_a_set),
        TEST(test_digits_take_no_path),
        TEST(test_noise_has_no_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
