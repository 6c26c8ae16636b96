/* Patterns of users: group of the value, position of faults, limits of a match. */
#include "bench/spec/pattern.h"

#include "bench/spec/tests/corpus.h"

static struct pattern *open_pattern(const char *text)
{
    struct pattern *pattern;
    size_t at;
    struct error e = {.status = OK};
    if (pattern_open(&pattern, text, &at, &e) != OK)
        fail_msg("%s: %s", text, e.text);
    return pattern;
}

static const clock_t never = (clock_t)1 << 62;

static void test_values(void **state)
{
    static const struct {
        const char *pattern, *line, *value;
    } rows[] = {
        {"a = in (.*) ms", "in 5 ms", "5"},
        {"a=in (.*) ms", "in 5 ms", "5"},
        {"a = in (.*) ms", "at 5 ms", NULL},
        {"a = \\d+", "in 25 ms", "25"},
        {"a = in \\K\\d+", "in 25 ms", "25"},
        {"a = (?<=in )\\d+(?= ms)", "7 in 25 ms", "25"},
        {"a = (?:in|at) (\\d+)", "at 6 ms", "6"},
        {"a = (?P<ms>\\d+) ms", "at 6 ms", "6"},
        {"a = (in|at) (?P<ms>\\d+) (ms|s)", "at 6 ms", "6"},
        {"a = (?<unit>in|at) (?<value>\\d+)", "at 6 ms", "6"},
        {"a = (?|in (\\d+)|(\\d+) ms)", "at 6 ms", "6"},
        {"a = = (.*?) ", "a = 1 2 ", "1"},
        {"a = \\b(\\d+)\\b", "x5 6", "6"},
        {"a = (?i)TOOK (\\d+)", "took 3", "3"},
        {"a = (b)|a", "a", ""},
        {"a = x*", "a", ""},
        {"a = (one|one1)", "one1", "one"},
        {"a = ^(.*)$", "5\r", "5\r"},
        {"a = (\\d+) [\xc2\xb5n]s", "4 \xc2\xb5s", "4"},
        {"a = \\d (\xc2\xb5?s)", "4 s", "s"},
        {"a = in .* (\\d+)", "in \xff\xfe 4", "4"},
        {"a = \xc2\xb5 (\\d+)", "\xff \xc2\xb5 4 \xc2", "4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pattern *pattern = open_pattern(rows[i].pattern);
        struct pattern_value value;
        struct error e = {.status = OK};
        const char *line = rows[i].line, *expected = rows[i].value;
        assert_int_equal(pattern_find(pattern, line, strlen(line), never, &value, &e), OK);
        if ((value.text == NULL) != (expected == NULL) ||
            (expected != NULL &&
             (value.size != strlen(expected) || strncmp(value.text, expected, value.size) != 0)))
            fail_msg("%s of '%s': '%.*s'", rows[i].pattern, line, (int)value.size, value.text);
        pattern_free(pattern);
    }
}

static void test_names(void **state)
{
    char name[PATTERN_NAME];
    assert_string_equal(pattern_split(name, "time_ms  =  x = y"), "x = y");
    assert_string_equal(name, "time_ms");
    static const char *const wrong[] = {
        "",       "=",     "a",       "a b = c",
        "5a = c", "A = c", "a.b = c", "a2345678901234567890123456789012 = c"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(pattern_split(name, wrong[i]));
}

/* Positions count characters, including those before the pattern. */
static void test_refused(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        const char *why;
    } rows[] = {
        {"A = x", 0,
         "expected \"name = pattern\", with a name of at most 31 lower-case letters, digits and _"},
        {"a = (b", 6, "missing closing parenthesis at character 3 of the pattern"},
        {"a =  \xc2\xb5\xc2\xb5)b", 7,
         "unmatched closing parenthesis at character 3 of the pattern"},
        {"a = (b)(c)", 0,
         "expected one group around the number, such as ([0-9.]+), or a group named value; found 2 "
         "groups. Write (?<value>...) around the number, or (?:...) for the other groups"},
        {"a = (?<b>b)(?<c>c)", 0,
         "expected one group around the number, such as ([0-9.]+), or a group named value; found 2 "
         "groups. Write (?<value>...) around the number, or (?:...) for the other groups"},
        {"a = (*UTF)b", 10,
         "using UTF is disabled by the application at character 7 of the pattern"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pattern *pattern;
        size_t at = 77;
        struct error e = {.status = OK};
        assert_int_equal(pattern_open(&pattern, rows[i].text, &at, &e), ERR_SPEC);
        assert_string_equal(e.text, rows[i].why);
        assert_int_equal(at, rows[i].at);
        pattern_free(pattern);
    }
}

/* Without its limit, each would take minutes, gigabytes or the stack. */
static void test_limits(void **state)
{
    static const char time_text[] = "matching takes too much time. Avoid nested repetitions, such "
                                    "as (a+)*, or use fewer repetitions";
    static const char memory_text[] = "matching takes too much memory. Avoid nested repetitions, "
                                      "such as (a+)*, or use fewer repetitions";
    static const struct {
        const char *pattern, *repeated;
        size_t times;
        const char *why;
    } rows[] = {
        {"a = (a+)+$", "a", 50, time_text},
        {"a = a+$", "a", 1000000, time_text},
        {"a = (.|[^x])*", "a", 3000000, memory_text},
        {"a = (?R)", "a", 1, "nested recursion at the same subject position"},
        {"a = a(?R)?b", "a", 100000, NULL},
        {"a = (b(?1)?d)", "b", 1000000, memory_text},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].repeated), size = n * rows[i].times + 1;
        char *line = malloc(size);
        assert_non_null(line);
        for (size_t k = 0; k + 1 < size; k++)
            line[k] = rows[i].repeated[k % n];
        line[size - 1] = 'd';
        struct pattern *pattern = open_pattern(rows[i].pattern);
        struct pattern_value value;
        struct error e = {.status = OK};
        enum status status =
            pattern_find(pattern, line, size, clock() + CLOCKS_PER_SEC, &value, &e);
        assert_int_equal(status, rows[i].why == NULL ? OK : ERR_DATA);
        if (status != OK)
            assert_string_equal(e.text, rows[i].why);
        pattern_free(pattern);
        free(line);
    }
}

static void test_replacement(void **state)
{
    static const struct {
        const char *text, *source, *with, *replaced;
    } rows[] = {
        {"", "a", "", ""},
        {"banana", "x", "y", "banana"},
        {"banana", "an", "x", "bxxa"},
        {"1.50 2.00 3", "\\.0+(?!\\d)|(\\.\\d*[1-9])0+", "$1", "1.5 2 3"},
        {"<a ><b >a b </b>", ">[^<]*(*SKIP)(*F)| ", "", "<a><b>a b </b>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = strdup(rows[i].text);
        struct error e = {.status = OK};
        assert_int_equal(pattern_replace(&text, rows[i].source, rows[i].with, &e), OK);
        assert_string_equal(text, rows[i].replaced);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_replacement),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
