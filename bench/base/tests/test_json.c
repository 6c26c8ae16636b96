/* Tests of JSON: invalid UTF-8 in texts, unknown numbers, files of one object per line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/base/json.h"

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
    assert_text(json_text("\xe0\x80\xaf"), "\\xe0\\x80\\xaf"); /* overlong encoding of "/" */
    assert_text(json_text("\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* half of a UTF-16 surrogate pair */
    assert_text(json_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

static void no_text_is_null(void **state)
{
    assert_true(json_is_null(json_text_or_null(NULL)));
    assert_true(json_is_null(json_text_or_null("")));
    assert_text(json_text_or_null("\xff"), "\\xff");
}

static void unknown_numbers_are_left_out(void **state)
{
    json_t *object = json_object();
    json_set_known(object, "known", 1.5);
    json_set_known(object, "unknown", NAN);
    json_set_known(object, "infinite", INFINITY);
    json_set_known(NULL, "known", 1.5);
    assert_int_equal(json_object_size(object), 1);
    assert_true(json_known(object, "known") == 1.5 && isnan(json_known(object, "unknown")));
    assert_string_equal(json_text_of(object, "known"), "");
    json_decref(object);
}

static enum status add_up(void *sum, const json_t *object, int line, struct error *e)
{
    *(double *)sum += line * json_known(object, "x");
    return isnan(*(double *)sum) ? error_at(e, ERR_DATA, "f", line, 0, "no x") : OK;
}

/* Runs json_read_lines on `text`. */
static enum status read_text(const char *text, double *sum, int *lines, struct error *e)
{
    FILE *file = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(file);
    *sum = 0;
    enum status status = json_read_lines(file, "f", add_up, sum, lines, e);
    fclose(file);
    return status;
}

static void a_last_line_may_be_torn(void **state)
{
    double sum;
    int lines;
    struct error e;
    assert_int_equal(read_text("{\"x\": 1}\n{\"x\": 2}\n{\"x", &sum, &lines, &e), OK);
    assert_true(sum == 5 && lines == 3);
    assert_int_equal(read_text("{\"x\": 1}\n{\"x\n{\"x\": 1}\n", &sum, &lines, &e), ERR_DATA);
    assert_true(sum == 1 && e.line == 2 && strstr(e.text, "not a JSON object") != NULL);
    assert_int_equal(read_text("[1]\n{\"x\": 1}\n", &sum, &lines, &e), ERR_DATA);
    assert_true(e.line == 1 && strstr(e.text, "found an array") != NULL);
    assert_int_equal(read_text("{\"x\": 1}\n{}\n{\"x\": 1}\n", &sum, &lines, &e), ERR_DATA);
    assert_int_equal(e.line, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_utf8_stays_as_it_is),
        cmocka_unit_test(other_bytes_are_shown),
        cmocka_unit_test(no_text_is_null),
        cmocka_unit_test(unknown_numbers_are_left_out),
        cmocka_unit_test(a_last_line_may_be_torn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
