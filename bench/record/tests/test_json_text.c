/* Text that came from outside as JSON: what is UTF-8 stays, else bytes are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/record/json_text.h"

static void assert_text(json_t *json, const char *expected)
{
    assert_true(json_is_string(json));
    assert_string_equal(json_string_value(json), expected);
    json_decref(json);
}

static void what_is_utf8_stays_as_it_is(void **state)
{
    assert_text(json_text("gr\xc3\xbc\xc3\x9f\n"), "gr\xc3\xbc\xc3\x9f\n");
    assert_text(json_text(""), "");
}

static void other_bytes_are_shown(void **state)
{
    assert_text(json_text("r\xe9sum\xe9"), "r\\xe9sum\\xe9");
    assert_text(json_text("\xe0\x80\xaf"), "\\xe0\\x80\\xaf"); /* "/", longer than it needs */
    assert_text(json_text("\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* half of a pair of UTF-16 */
    assert_text(json_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

static void no_text_is_null(void **state)
{
    assert_true(json_is_null(json_text_or_null(NULL)));
    assert_true(json_is_null(json_text_or_null("")));
    assert_text(json_text_or_null("\xff"), "\\xff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_utf8_stays_as_it_is),
        cmocka_unit_test(other_bytes_are_shown),
        cmocka_unit_test(no_text_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
