/* Results of conditions, precedence of operators, and errors. */
#include "bench/spec/condition.h"
#include "bench/spec/yaml/yaml_reader.h"

#include <math.h>

#include "bench/spec/tests/corpus.h"

static const struct {
    const char *name;
    double number;
    const char *text;
} known[] = {
    {"ranks", 2, "2"},
    {"step_ms", 5, NULL},
    {"sync.strategy", NAN, "shm"},
    {"sync.deadline", 90, "90s"},
    {"sync.size", 65536, "64KiB"},
    {"sync.topk", 5, "5%"},
    {"efficiency", 0.85, NULL},
    {"test_acc_pct", 96.5, NULL},
    {"rss_mib", 64, NULL},
    {"step_ms_median", 5, NULL},
    {"train.shuffle", 1, "true"},
    {"data.name", NAN, "my set"},
    {"unknown", NAN, NULL},
    {"empty", NAN, ""},
};

static bool look_up(struct condition_value *value, const char *name, const void *arg)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *value = (struct condition_value){.number = known[i].number, .text = known[i].text};
            return true;
        }
    return false;
}

static bool holds(const char *text)
{
    struct condition *c;
    struct error e = {.status = OK};
    if (condition_parse(&c, text, &e) != OK)
        fail_msg("%s: column %d: %s", text, e.column, e.text);
    if (condition_unknown(c, look_up, NULL) != NULL)
        fail_msg("%s: %s is unknown", text, condition_unknown(c, look_up, NULL));
    assert_string_equal(condition_text(c), text);
    bool result = condition_holds(c, look_up, NULL);
    condition_free(c);
    return result;
}

static void test_comparisons(void **state)
{
    static const char *const true_of[] = {
        "ranks = 2",
        "ranks == 2.0",
        "ranks!=3",
        "ranks<3",
        "ranks <= 2",
        "ranks >= 2",
        "ranks > 1.5e0",
        "sync.strategy = shm",
        "sync.strategy != ring",
        "sync.strategy = \"shm\"",
        "data.name = 'my set'",
        "train.shuffle = true",
        "ranks = \"2\"",
    };
    static const char *const false_of[] = {
        "ranks = 3",
        "ranks != 2",
        "ranks < 2",
        "ranks > 2",
        "sync.strategy = ring",
        "sync.strategy > 1",
        "sync.strategy = 1",
        "train.shuffle != true",
        "data.name = my",
    };
    for (size_t i = 0; i < sizeof true_of / sizeof *true_of; i++)
        if (!holds(true_of[i]))
            fail_msg("%s does not hold", true_of[i]);
    for (size_t i = 0; i < sizeof false_of / sizeof *false_of; i++)
        if (holds(false_of[i]))
            fail_msg("%s holds", false_of[i]);
}

/* Options are in seconds, bytes and per cent, columns in the unit of their names. */
static void test_units(void **state)
{
    assert_true(holds("sync.deadline = 90s"));
    assert_true(holds("sync.deadline = 1.5min"));
    assert_true(holds("sync.size = 64KiB"));
    assert_true(holds("sync.topk = 5%"));
    assert_true(holds("step_ms = 5ms"));
    assert_true(holds("step_ms = 5"));
    assert_true(holds("step_ms < 1s"));
    assert_true(holds("rss_mib = 64MiB"));
    assert_true(holds("step_ms_median = 5ms"));
    assert_true(holds("test_acc_pct >= 96.5%"));
    assert_true(holds("efficiency >= 80%"));
    assert_false(holds("efficiency >= 90%"));
}

static void refused(const char *text, int column, const char *expected)
{
    struct condition *c;
    struct error e = {.status = OK};
    assert_int_equal(condition_parse(&c, text, &e), ERR_ARGUMENT);
    assert_null(c);
    assert_string_equal(e.text, expected);
    assert_int_equal(e.column, column);
}

static void test_arithmetic(void **state)
{
    assert_true(holds("step_ms * ranks = 10"));
    assert_true(holds("step_ms + ranks * 2 = 9 and (step_ms + ranks) * 2 = 14"));
    assert_true(holds("10 = step_ms * ranks"));
    assert_true(holds("ranks < step_ms"));
    assert_true(holds("- ranks < 0 and -ranks = -2 and ranks -1 = 1"));
    assert_true(holds("not (step_ms + 1) / 2 > ranks + 1"));
    assert_true(holds("step_ms / ranks = 2.5ms"));
    assert_true(holds("step_ms + 5ms < 1s"));
    assert_true(holds("sync.deadline / ranks = 45s"));
    assert_true(holds("efficiency * ranks = 170%"));
    assert_false(holds("sync.strategy + 1 > 0"));
    assert_true(holds("data.name != path/to-a"));
    refused("step_ms * > 2", 11, "expected a number, a name, - or (, found '>'");
    refused("ranks + 1", 10,
            "expected = != < <= > or >= after a name, found the end of the condition");
    refused("(ranks + 1", 11,
            "expected = != < <= > >= + - * / or ), found the end of the condition");
    refused("(ranks > 1) + 1 > 2", 13, "expected 'and', 'or' or the end, found '+'");
    refused("step_ms + 5% > 4", 11,
            "expected a number in a unit of the compared quantity, found '5%'");
}

/* ---- Sums ---- */

static const struct condition_value numbers[] = {{6, "a", true, 6, 6},
                                                 {4, "b", true, 4, 4},
                                                 {2, "wide", true, 1, 4},
                                                 {1, "round_zero", true, -1, 3}};

static bool look_up_number(struct condition_value *value, const char *name, const void *arg)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].text, name) == 0) {
            *value = numbers[i];
            return true;
        }
    return false;
}

static void assert_sum(const char *text, double lo, double mid, double hi)
{
    struct condition *c;
    struct error e;
    if (condition_parse_sum(&c, text, &e) != OK)
        fail_msg("%s: %d: %s", text, e.column, e.text);
    struct interval r = condition_sum(c, look_up_number, NULL);
    if (r.lo != lo || r.mid != mid || r.hi != hi)
        fail_msg("%s: %g [%g, %g]", text, r.mid, r.lo, r.hi);
    condition_free(c);
}

static void test_sums(void **state)
{
    assert_sum("a - b - 1", 1, 1, 1);
    assert_sum("a + b * 2", 14, 14, 14);
    assert_sum("(a + b) * 2", 20, 20, 20);
    assert_sum("a / b / 2", 0.75, 0.75, 0.75);
    assert_sum("-a * -(b)", 24, 24, 24);
    assert_sum("a*1e-1+.5", 6 * 1e-1 + .5, 6 * 1e-1 + .5, 6 * 1e-1 + .5);
}

static void test_sums_of_intervals(void **state)
{
    assert_sum("wide + 1", 2, 3, 5);
    assert_sum("a - wide", 2, 4, 5);
    assert_sum("-wide", -4, -2, -1);
    assert_sum("wide * -2", -8, -4, -2);
    assert_sum("round_zero * wide", -4, 2, 12);
    assert_sum("b / wide", 1, 2, 4);
    assert_sum("wide - wide", -3, 0, 3); /* each occurrence counts separately */
    assert_sum("a / round_zero", -INFINITY, 6, INFINITY);
    assert_sum("0 * (a / round_zero)", 0, 0, 0);
}

static void refused_sum(const char *text, int column, const char *expected)
{
    struct condition *c;
    struct error e = {.status = OK};
    assert_int_equal(condition_parse_sum(&c, text, &e), ERR_ARGUMENT);
    assert_null(c);
    assert_memory_equal(e.text, expected, strlen(expected));
    assert_int_equal(e.column, column);
}

static void test_refused_sums(void **state)
{
    char deep[200];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    refused_sum("a +", 4, "expected a number, a name, - or (, found the end of the sum");
    refused_sum("a b", 3, "expected + - * or /, found 'b'");
    refused_sum("a > b", 3, "expected + - * or /, found '>'");
    refused_sum("(a", 3, "expected + - * / or ), found the end of the sum");
    refused_sum("", 1, "expected a number, a name, - or (, found the end of the sum");
    refused_sum(deep, 31, "nested more than 30 levels deep");
}

static void test_precedence(void **state)
{
    assert_true(holds("ranks = 2 or ranks = 3 and ranks = 4"));
    assert_false(holds("(ranks = 2 or ranks = 3) and ranks = 4"));
    assert_true(holds("not ranks = 3 and ranks = 2"));
    assert_false(holds("not (ranks = 3 or ranks = 2)"));
    assert_true(holds("not not ranks = 2"));
    assert_true(holds("ranks > 1 and (sync.strategy = ring or not ranks=1)"));
    assert_true(holds("ranks = 1 and ranks = 2 or ranks = 2"));
    assert_false(holds("ranks = 2 and (ranks = 1 or ranks = 3) or ranks = 4"));
}

static void test_unknown_values(void **state)
{
    assert_false(holds("unknown = 1"));
    assert_false(holds("unknown != 1"));
    assert_false(holds("unknown < 1 or unknown >= 1"));
    assert_false(holds("empty = \"\""));
    assert_false(holds("empty != shm"));
    assert_true(holds("not unknown = 1"));
}

static void refused_sign(const char *text, int column, const char *expected)
{
    struct condition *c;
    struct error e = {.status = OK};
    assert_int_equal(condition_parse(&c, text, &e), ERR_ARGUMENT);
    assert_memory_equal(e.text, expected, strlen(expected));
    assert_int_equal(e.column, column);
}

static void test_refused(void **state)
{
    refused("", 1, "expected a name, as in ranks > 1, found the end of the condition");
    refused("ranks", 6, "expected = != < <= > or >= after a name, found the end of the condition");
    refused("ranks >", 8,
            "expected a number, a word or a \"text\", found the end of the condition");
    refused("ranks > and", 9, "expected a number, a word or a \"text\", found 'and'");
    refused("ranks > \"2\"", 9, "expected a number after < <= > or >=, found '\"2\"'");
#define UNITS "alone or with a unit: ms s min h GiB MiB KiB B %"
    refused("ranks > 5us", 9, "expected a number after < <= > or >=, " UNITS ", found '5us'");
    refused("rss_mib < 1GB", 11, "expected a number after < <= > or >=, " UNITS ", found '1GB'");
    refused("ranks = 1 or 1 < 2", 14, "expected a name, as in ranks > 1");
    refused("ranks = 1 ranks = 2", 11, "expected 'and', 'or' or the end, found 'ranks'");
    refused("(ranks = 1", 11, "expected and, or or ), found the end of the condition");
    refused("ranks = 1)", 10, "expected 'and', 'or' or the end, found ')'");
    refused("ranks = 1 && ranks = 2", 11,
            "'&&' is unknown; known: and or not ( ) = != < <= > >= + - * /, names, numbers, words "
            "and \"texts\"; 'and' joins conditions, as in \"ranks > 1 and nodes = 1\"");
    refused_sign("ranks = 1 || ranks = 2", 11, "'||' is unknown; ");
    refused_sign("ranks = 1, nodes = 1", 10, "',' is unknown; ");
    refused_sign("!ranks = 1", 1, "'!' is unknown; ");
    refused("step_ms_median <= 80%", 19,
            "expected a number in a unit of the compared quantity, found '80%'");
    refused("rss_mib <= 2s", 12,
            "expected a number in a unit of the compared quantity, found '2s'");
    refused("read_s < 5%", 10, "expected a number in a unit of the compared quantity, found '5%'");
    refused("data.name = \"open", 13, "expected a closing quotation mark");
    refused("\xC3\xA4rger = 1 )", 11, "expected 'and', 'or' or the end, found ')'");
    char deep[256] = "";
    for (int i = 0; i < 31; i++)
        strcat(deep, "(");
    refused(deep, 31, "nested more than 30 levels deep");
}

/* Largest depth, with pending operators at every level. */
static void test_deepest(void **state)
{
    char text[4096] = "";
    for (int i = 0; i < 30; i++)
        strcat(text, "ranks = 3 or ranks = 2 and (");
    strcat(text, "ranks = 3 or ranks = 2 and ranks = 2");
    for (int i = 0; i < 30; i++)
        strcat(text, ")");
    assert_true(holds(text));
    text[strlen(text) - 31] = '4'; /* the innermost value */
    assert_false(holds(text));
}

static void test_unknown_name(void **state)
{
    struct condition *c;
    struct error e;
    size_t n;
    assert_int_equal(condition_parse(&c, "ranks > 1 and rnks = 2", &e), OK);
    assert_string_equal(condition_unknown(c, look_up, NULL), "rnks");
    const struct condition_term *terms = condition_terms(c, &n);
    assert_int_equal(n, 2);
    assert_string_equal(terms[1].name, "rnks");
    assert_int_equal(terms[1].name_column, 15);
    assert_string_equal(terms[1].text, "2");
    assert_int_equal(terms[1].text_column, 22);
    assert_int_equal(terms[0].relation, RELATION_GREATER);
    assert_false(condition_holds(c, look_up, NULL));
    condition_free(c);
    condition_free(NULL);
}

static bool fits(const char *text, enum condition_kind kind, const char *why)
{
    struct condition *c;
    struct error e;
    char found[CONDITION_WHY] = "";
    size_t n;
    assert_int_equal(condition_parse(&c, text, &e), OK);
    bool fits = condition_term_fits(found, condition_terms(c, &n), kind);
    assert_string_equal(found, why);
    condition_free(c);
    return fits;
}

/* No value can satisfy these. Diverged training is a word. */
static void test_kinds(void **state)
{
    assert_false(
        fits("ranks = two", CONDITION_NUMBER, "ranks is a number: expected a number, found 'two'"));
    assert_false(fits("label < 2", CONDITION_TEXT, "label has no order. Use = or !="));
    assert_true(fits("ranks != \"2\"", CONDITION_NUMBER, ""));
    assert_true(fits("train_loss = NaN", CONDITION_NUMBER, ""));
    assert_true(fits("delay <= 5ms", CONDITION_NUMBER, ""));
    assert_true(fits("label = 2", CONDITION_TEXT, ""));
    assert_true(fits("size = big", CONDITION_ANY, ""));
    assert_true(fits("size > 2", CONDITION_ANY, ""));
    assert_false(fits("label * 2 > 2", CONDITION_TEXT, "label is a text: expected a number"));
    assert_true(fits("delay * 2 > 2", CONDITION_NUMBER, ""));
}

static bool decides_in(const char *text, struct condition_range range, const char *why)
{
    struct condition *c;
    struct error e;
    char found[CONDITION_WHY] = "";
    assert_int_equal(condition_parse(&c, text, &e), OK);
    size_t n;
    bool decides = condition_term_decides(found, condition_terms(c, &n), &range) &&
                   condition_decides(found, c);
    assert_string_equal(found, why);
    condition_free(c);
    return decides;
}

static bool decides(const char *text, double lo, double hi, const char *why)
{
    return decides_in(text, (struct condition_range){.lo = lo, .hi = hi}, why);
}

static void test_ranges(void **state)
{
    assert_false(decides("step_ms >= 0", 0, INFINITY,
                         "step_ms is never below 0: this always holds; expected another number"));
    assert_false(decides("step_ms = -1", 0, INFINITY,
                         "step_ms is never below 0: this never holds; expected another number"));
    assert_false(decides(
        "acc_pct > 200", 0, 100,
        "acc_pct is never below 0 nor above 100: this never holds; expected another number"));
    assert_true(decides("acc_pct > 0", 0, 100, ""));
    assert_true(decides("acc_pct >= 100", 0, 100, ""));
    assert_true(decides("acc_pct = 100", 0, 100, ""));
    assert_true(decides("step_ms < 1e9", 0, INFINITY, ""));
    assert_true(decides("loss = NaN", 0, 100, ""));
    const struct condition_range above = {.hi = INFINITY, .above = true, .share = true};
    assert_false(
        decides_in("step_ms > 0", above,
                   "step_ms is always above 0: this always holds; expected another number"));
    assert_false(
        decides_in("step_ms <= 0", above,
                   "step_ms is always above 0: this never holds; expected another number"));
    assert_true(decides_in("efficiency >= 90%", above, ""));
    assert_false(decides_in("efficiency >= 90", above,
                            "efficiency is a share of 1: for 90 % write 0.9 or 90%"));
    const struct condition_range chance = {.lo = 10, .hi = 100, .classes = 10};
    assert_true(decides_in("acc_pct > 10", chance, ""));
    assert_false(decides_in("acc_pct >= 0.97", chance,
                            "acc_pct is 10 by chance with 10 classes and never above 100: this "
                            "always holds; expected a number in between, in percent"));
}

static void test_contradictions(void **state)
{
    assert_true(decides("a >= 1 and a <= 2", 0, 9, ""));
    assert_true(decides("a >= 2 and a <= 2", 0, 9, ""));
    assert_true(decides("a > 1 and b < 1 and not a = 2", 0, 9, ""));
    assert_true(decides("a > 2 or b > 1 or a < 1", 0, 9, ""));
    assert_true(decides("a = x and a = y", 0, 9, ""));
    assert_false(decides("a >= 2 and a <= 1", 0, 9,
                         "this never holds for any a; expected a condition that some numbers "
                         "satisfy and others do not"));
    assert_true(decides("a < b or a > b", 0, 9, ""));
    assert_true(decides("a <= b and a >= b and b > c", 0, 9, ""));
    assert_true(decides("a < b and b < c and a > c", 0, 9, ""));
    assert_false(decides("a < b and b < a", 0, 9,
                         "this never holds for any a and b; expected a condition that some numbers "
                         "satisfy and others do not"));
    assert_false(decides("a < b or c > 1 or a >= b", 0, 9,
                         "this always holds for any a and b; expected a condition that some "
                         "numbers satisfy and others do not"));
    assert_true(decides("a > 2 and a < 5 and a * a - 7 * a < 0", 0, 9, ""));
    assert_true(decides("a > 2 and a < 5 and a * 2 > b", 0, 9, ""));
    assert_false(decides("a > 2 and b * 2 > 1 and a < 1", 0, 9,
                         "this never holds for any a; expected a condition that some numbers "
                         "satisfy and others do not"));
    assert_false(decides("a < 2 or b = 1 or a >= 2", 0, 9,
                         "this always holds for any a; expected a condition that some numbers "
                         "satisfy and others do not"));
}

/* In a file, the position is inside the quotation marks. */
static void test_places(void **state)
{
    struct condition *c;
    struct error e;
    struct node node;
    assert_int_equal(yaml_read_text(&node, "\"ranks >> 1\"", mark_in("f", 3, 7), &e), OK);
    assert_int_equal(condition_read(&c, "where", &node, &e), ERR_SPEC);
    char line[2048];
    error_line(line, &e);
    assert_string_equal(line, "f:3:15: where: expected a number, a word or a \"text\", found '>'");
    node_free(&node);
}

/* step_ms lies in [4.5, 5.5]; efficiency has no interval. */
static bool look_up_interval(struct condition_value *value, const char *name, const void *arg)
{
    bool found = look_up(value, name, arg);
    if (strcmp(name, "step_ms") == 0)
        *value = (struct condition_value){5, NULL, true, 4.5, 5.5};
    return found;
}

static void test_intervals(void **state)
{
    static const struct {
        const char *text;
        enum condition_truth truth;
    } rows[] = {
        {"step_ms < 6", CONDITION_TRUE},
        {"step_ms < 5.5", CONDITION_OPEN},
        {"step_ms <= 5.5", CONDITION_TRUE},
        {"step_ms < 5", CONDITION_OPEN},
        {"step_ms < 4.5", CONDITION_FALSE},
        {"step_ms > 4", CONDITION_TRUE},
        {"step_ms = 5", CONDITION_OPEN},
        {"step_ms = 6", CONDITION_FALSE},
        {"step_ms != 6", CONDITION_TRUE},
        {"step_ms != 5", CONDITION_OPEN},
        {"step_ms > 4.6 and step_ms < 5.4", CONDITION_OPEN},
        {"step_ms > 6 and step_ms < 5", CONDITION_FALSE},
        {"step_ms < 5 or ranks = 2", CONDITION_TRUE},
        {"step_ms < 5 and ranks = 3", CONDITION_FALSE},
        {"step_ms < 5 and ranks = 2", CONDITION_OPEN},
        {"not step_ms < 6", CONDITION_FALSE},
        {"not step_ms < 5", CONDITION_OPEN},
        {"not step_ms < 4", CONDITION_TRUE},
        {"not (step_ms < 5 or ranks = 2)", CONDITION_FALSE},
        {"efficiency > 80%", CONDITION_TRUE},
        {"sync.strategy = ring", CONDITION_FALSE},
        {"unknown < 1", CONDITION_FALSE},
        {"step_ms * ranks < 11.5", CONDITION_TRUE},
        {"step_ms * ranks < 11", CONDITION_OPEN},
        {"step_ms < ranks * 2", CONDITION_FALSE},
        {"step_ms - step_ms = 0", CONDITION_OPEN},
        {"unknown + 1 < 9", CONDITION_FALSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct condition *c;
        struct error e = {.status = OK};
        assert_int_equal(condition_parse(&c, rows[i].text, &e), OK);
        if (condition_holds_throughout(c, look_up_interval, NULL) != rows[i].truth)
            fail_msg("%s", rows[i].text);
        condition_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_deepest),
        cmocka_unit_test(test_unknown_name),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_sums_of_intervals),
        cmocka_unit_test(test_refused_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
