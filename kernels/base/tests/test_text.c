/* Numbers as text, including numbers too long for the buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/base/text.h"

static void numbers_are_rounded_for_people(void **state)
{
    char text[TEXT_NUMBER], interval[TEXT_INTERVAL];
    assert_string_equal(text_real(text, 1.0 / 3), "0.3333333333");
    assert_string_equal(text_real(text, NAN), "");
    assert_string_equal(text_whole(text, 1e12), "1000000000000");
    assert_string_equal(text_fixed(text, -1.25, 1), "-1.2");
    assert_string_equal(text_fixed(text, NAN, 1), "-");
    assert_string_equal(text_significant(text, 26.104, 4), "26.10");
    assert_string_equal(text_significant(text, 14461, 3), "14461");
    const struct interval i = {.lo = 176.25, .mid = 177, .hi = 178.125};
    assert_string_equal(text_interval(interval, &i, 4), "177.0 [176.2, 178.1]");
}

/* A number with truncated digits would be a different number. */
static void numbers_without_room_have_exponents(void **state)
{
    char text[TEXT_NUMBER], interval[TEXT_INTERVAL];
    static const double huge[] = {1e38, 1e39, -1e38, 3.4e45, -1e56, 1e300};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        for (int decimals = 0; decimals <= 4; decimals++)
            assert_true(fabs(strtod(text_fixed(text, huge[i], decimals), NULL) / huge[i] - 1) <
                        1e-9);
        assert_true(fabs(strtod(text_whole(text, huge[i]), NULL) / huge[i] - 1) < 1e-9);
        assert_true(fabs(strtod(text_significant(text, huge[i], 4), NULL) / huge[i] - 1) < 1e-9);
    }
    const struct interval i = {.lo = 1e38, .mid = 1e38, .hi = 1e56};
    assert_string_equal(text_interval(interval, &i, 4),
                        "99999999999999997748809823456034029568 "
                        "[99999999999999997748809823456034029568, 1e+56]");
}

static void characters_are_counted(void **state)
{
    assert_int_equal(text_characters("", 0), 0);
    assert_int_equal(text_characters("4 \xc2\xb5s", 5), 4);
    assert_int_equal(text_characters("4 \xc2\xb5s", 2), 2);
    assert_int_equal(text_characters("\xf0\x9f\x98\x80", 4), 1);
}

static void plurals_follow_english(void **state)
{
    char text[TEXT_NUMBER];
    assert_string_equal(text_plural(text, 1, "epoch"), "1 epoch");
    assert_string_equal(text_plural(text, 2, "epoch"), "2 epochs");
    assert_string_equal(text_plural(text, 2, "launch"), "2 launches");
    assert_string_equal(text_plural(text, 2, "micro-batch"), "2 micro-batches");
    assert_string_equal(text_plural(text, 0, "rank"), "0 ranks");
}

static void texts_are_joined_and_end(void **state)
{
    char text[8] = "";
    text_join(text, sizeof text, ", ", "ab");
    assert_string_equal(text, "ab");
    text_join(text, sizeof text, ", ", "cdef");
    assert_string_equal(text, "ab, cde"); /* cut to fit */
    assert_true(text_ends("a.csv", ".csv"));
    assert_false(text_ends(".csv", ".csv"));
    assert_false(text_ends("a.csv.gz", ".csv"));
}

static void markup_is_written_as_text(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    text_write_markup(out, "a<b> & \"c\"");
    fclose(out);
    assert_string_equal(text, "a&lt;b&gt; &amp; &quot;c&quot;");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_rounded_for_people),
        cmocka_unit_test(texts_are_joined_and_end),
        cmocka_unit_test(markup_is_written_as_text),
        cmocka_unit_test(numbers_without_room_have_exponents),
        cmocka_unit_test(characters_are_counted),
        cmocka_unit_test(plurals_follow_english),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
