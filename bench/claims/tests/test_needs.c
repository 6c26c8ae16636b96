/* Tests of the plan of undecided claims: how many launches decide, and how long they take. */
#include "bench/collect/tests/fake_folder.h"

#include <math.h>
#include <stdlib.h>

#include "bench/claims/claims.h"

static void write_under(const char *below, const char *file, const char *text)
{
    char path[256];
    struct error e;
    snprintf(path, sizeof path, "%s/%s", folder, below);
    assert_int_equal(folder_make(path, &e), OK);
    snprintf(path, sizeof path, "%s/%s/%s", folder, below, file);
    fake_write(path, text);
}

/* Launches of point p (medians of 6: 100 [97, 103]), of point q (110 [107, 113]), and one seed of r
 * and s. Wall times are 2 s, 4 s, 10 s and 20 s. */
static const char raw[] = "launch,point,run,status,wall_s,ms,acc\n"
                          "p1,p,time,ok,2,97,\np2,p,time,ok,2,98,\np3,p,time,ok,2,99,\n"
                          "p4,p,time,ok,2,101,\np5,p,time,ok,2,102,\np6,p,time,ok,2,103,\n"
                          "p7,p,time,failed,900,,\n"
                          "q1,q,time,ok,4,107,\nq2,q,time,ok,4,108,\nq3,q,time,ok,4,109,\n"
                          "q4,q,time,ok,4,111,\nq5,q,time,ok,4,112,\nq6,q,time,ok,4,113,\n"
                          "r1,r,accuracy,ok,10,,50\ns1,s,accuracy,ok,20,,40\n"
                          "t1,t,accuracy,ok,10000,,60\n";

#define HEAD      "runs: {there: measure it, bare: measure that}\nclaims:\n"
#define CLAIM(id) "  - {id: r/" id ", kind: time, place: here, says: so, "
#define P         "p: median ms of there/raw.csv where point = p and status = ok"
#define Q         "q: median ms of there/raw.csv where point = q and status = ok"
#define SEED(x)   #x ": median acc of there/raw.csv where point = " #x

static void judge_claims(struct claims *c, const char *text)
{
    struct error e;
    write_under("published", "t.csv", "s\n1\n");
    write_under("reference/there", "raw.csv", raw);
    write_under(
        "reference/there", "summary.csv",
        "point,base_point,ci_level,speedup,speedup_lo,speedup_hi,speedup_pairs,test_acc_pct,"
        "test_acc_lo,test_acc_hi,test_acc_level\n"
        "q,p,0.97,0.91,0.86,1.02,6,,,,\n");
    write_under("reference/there", "rows.csv",
                "launch,case,use\np1,a,1\np1,a,3\np2,a,3\np2,a,3\np3,a,4\np4,a,5\n"
                "q1,b,6\nq1,b,6\nq2,b,7\nq3,b,8\nq4,b,9\n");
    write_under("reference/bare", "cells.csv", "launch,ms\nl1,1\nl2,3\n");
    fake_write(path_of("claims.yaml"), text);
    if (claims_judge(c, path_of("claims.yaml"), &e) != OK)
        fail_msg("%d:%d: %s", e.line, e.column, e.text);
}

static struct claim_need need_of(const char *text, const char *reason)
{
    struct claims c;
    judge_claims(&c, text);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.claims[0].verdict, CLAIM_UNDECIDED);
    assert_string_equal(c.claims[0].reason, reason);
    struct claim_need need = c.claims[0].need;
    need.used = NULL;
    need.value = NULL;
    claims_free(&c);
    return need;
}

#define WIDE "the 95 % interval contains the bound: "

/* 12.706 / sqrt 2 and 4.303 / sqrt 3 by Student's t; 1.28 is the expected largest of six. */
static void widths_follow_from_launches(void **state)
{
    assert_true(isinf(claim_expected_width(1)));
    assert_float_equal(claim_expected_width(2), 8.985, 0.001);
    assert_float_equal(claim_expected_width(3), 2.484, 0.001);
    assert_float_equal(claim_expected_width(6), 1.28, 0.01);
    /* 1.96 sqrt(pi / 2) / sqrt n is the width of a median of many values */
    assert_float_equal(claim_expected_width(800), 2.456 / sqrt(800), 0.005);
    assert_float_equal(claim_expected_width(800) * 2, claim_expected_width(200), 1e-12);
}

/* The bound is 1 below the median and the half width is 3: it must shrink to less than a third. */
static void launches_shrink_the_interval(void **state)
{
    size_t least = 6;
    while (3 * claim_expected_width(least) / claim_expected_width(6) >= 1)
        least++;
    struct claim_need need =
        need_of(HEAD CLAIM("a") "values: {" P "}, holds: p > 99}\n", WIDE "p; needs 37 launches");
    assert_int_equal(need.launches, least);
    assert_int_equal(need.now, 6);
    assert_false(need.seeds || need.at_least);
    assert_int_equal(need.expected, CLAIM_SURVIVES);
    assert_float_equal(need.seconds, 37 * 2, 1e-9);
    assert_true(need.width.lo > 99 && need.width.lo < 99.1 && need.width.mid == 100);
    need =
        need_of(HEAD CLAIM("a") "values: {" P "}, holds: p > 101}\n", WIDE "p; needs 37 launches");
    assert_int_equal(need.expected, CLAIM_FAILS);
}

/* Both points are launched. Intervals of a difference add up: 10 [4, 16] */
static void differences_need_both_points(void **state)
{
    struct claim_need need =
        need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p}, holds: gap > 5}\n",
                WIDE "gap; needs 9 launches");
    assert_float_equal(need.seconds, 9 * (2 + 4), 1e-9);
    /* A value that the condition does not use costs nothing. */
    need = need_of(HEAD CLAIM("a") "values: {" P ", " Q "}, holds: p > 99}\n",
                   WIDE "p; needs 37 launches");
    assert_float_equal(need.seconds, 37 * 2, 1e-9);
    /* A ratio to a base needs the launches of the base. */
    need = need_of(HEAD CLAIM("a") "values: {up: speedup of there/summary.csv}, holds: up < 1}\n",
                   WIDE "up; needs 9 launches");
    assert_float_equal(need.seconds, 9 * (2 + 4), 1e-9);
}

static void a_single_seed_needs_six(void **state)
{
    struct claim_need need =
        need_of(HEAD CLAIM("a") "values: {" SEED(r) ", " SEED(s) ", gap: r - s}, holds: gap > 0}\n",
                "too few runs for a 95 % interval: r, s; needs at least 6 seeds");
    assert_true(need.seeds && need.at_least);
    assert_int_equal(need.now, 1);
    assert_float_equal(need.seconds, 6 * (10 + 20), 1e-9);
    /* 16 hours and 40 minutes */
    need = need_of(HEAD CLAIM("a") "values: {" SEED(t) "}, holds: t > 0}\n",
                   "too few runs for a 95 % interval: t; needs at least 6 seeds");
    assert_float_equal(need.seconds, 60000, 1e-9);
}

/* A number from 100 on is rounded up to two digits. One launch of both points takes 6 s, so 15000
 * take 25 hours. */
static void more_than_a_day_is_said(void **state)
{
    struct claim_need need = need_of(HEAD CLAIM("a") "values: {" P "}, holds: p > 99.6}\n",
                                     WIDE "p; needs 230 launches");
    assert_int_equal(need.launches, 230);
    need = need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p}, holds: gap > 9.88}\n",
                   WIDE "gap; needs 11000 launches");
    assert_true(need.seconds < CLAIM_DAY_S);
    need = need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p}, holds: gap > 9.9}\n",
                   WIDE "gap; needs 15000 launches, more than a day");
    assert_float_equal(need.seconds, 15000 * 6, 1e-6);
}

static void an_estimate_at_the_bound_stays_open(void **state)
{
    struct claim_need need =
        need_of(HEAD CLAIM("a") "values: {" P "}, holds: p > 100}\n",
                WIDE "p; the estimate is too close to the bound for any number of launches");
    assert_true(need.known);
    assert_int_equal(need.launches, 0);
}

static void unknown_launches_make_no_number(void **state)
{
    struct claim_need need = need_of(
        HEAD CLAIM("a") "values: {x: median ms of bare/cells.csv}, holds: x > 1}\n", WIDE "x");
    assert_false(need.known);
}

/* The differences of p and q are 4 to 16, and their exact 95 % interval is [6, 14]: the sixth of 36 on
 * each side. */
static void two_samples_are_sharper(void **state)
{
    static const struct {
        const char *holds;
        enum claim_verdict verdict;
    } rows[] = {{"x: q - p}, holds: x > 5.9}", CLAIM_SURVIVES},
                {"x: q - p}, holds: x > 6}", CLAIM_UNDECIDED},
                {"x: q - p}, holds: x > 14.1}", CLAIM_FAILS},
                {"x: p - q}, holds: x < -5.9}", CLAIM_SURVIVES},
                {"x: q / p}, holds: x > 1.059}", CLAIM_SURVIVES}, /* 107 / 101 = 1.0594 */
                {"x: q / p}, holds: x > 1.06}", CLAIM_UNDECIDED},
                {"x: q - p + 0}, holds: x > 5.9}", CLAIM_UNDECIDED},
                {"n: s of t.csv, x: q - n}, holds: x > 108}", CLAIM_UNDECIDED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct claims c;
        char text[1000];
        snprintf(text, sizeof text, HEAD CLAIM("a") "values: {" P ", " Q ", %s\n", rows[i].holds);
        judge_claims(&c, text);
        assert_int_equal(c.claims[0].verdict, CLAIM_UNDECIDED);
        if (c.claims[0].need.two_samples != rows[i].verdict)
            fail_msg("%s: %s", rows[i].holds, claim_verdict_names[c.claims[0].need.two_samples]);
        claims_free(&c);
    }
}

/* Launches of a table with several rows per launch count by their medians: 2 3 4 5 and 6 7 8 9. All
 * differences of 4 and 4 values are above 0; 2 and 4 values make no interval. */
static void samples_have_a_value_per_launch(void **state)
{
#define CASE(x, more) #x ": median use of there/rows.csv where case = " #x more
    struct claim_need need = need_of(HEAD CLAIM("a") "values: {" CASE(a, "") ", " CASE(
                                         b, "") ", gap: b - a}, holds: gap > 0.9}\n",
                                     WIDE "gap; needs 9 launches");
    assert_int_equal(need.two_samples, CLAIM_SURVIVES);
    need = need_of(HEAD CLAIM("a") "values: {" CASE(a, " and use > 3") ", " CASE(
                       b, "") ", gap: b - a}, holds: gap > 0}\n",
                   WIDE "gap; needs 6 launches");
    assert_int_equal(need.two_samples, CLAIM_UNDECIDED);
}

/* ---- The plan ---- */

#define FOUR                                                                                       \
    HEAD CLAIM("bound") "values: {" P "}, holds: p > 100}\n" CLAIM(                                \
        "bare") "values: {x: median ms of bare/cells.csv}, holds: x > "                            \
                "1}\n" CLAIM("wide") "values: {" P "}, holds: p > 99}\n" CLAIM(                    \
                    "gap") "values: {" P ", " Q ", gap: q - p}, holds: gap > "                     \
                           "5}\n" CLAIM(                                                           \
                               "sure") "values: {" P "}, holds: p > "                              \
                                       "90}\n" CLAIM(                                              \
                                           "seed"                                                  \
                                           "s") "values: {" SEED(r) ", " SEED(s) ", gap: r - "     \
                                                                                 "s}, holds: "     \
                                                                                 "gap > "          \
                                                                                 "0}\n" CLAIM(     \
                                                                                     "bad") "valu" \
                                                                                            "es: " \
                                                                                            "{" P  \
                                                                                            "}, "  \
                                                                                            "hold" \
                                                                                            "s: "  \
                                                                                            "p > " \
                                                                                            "102}" \
                                                                                            "\n"

static char *write_plan(const char *format)
{
    struct claims c;
    struct error e;
    claims_writer *writer;
    char *text;
    size_t size;
    judge_claims(&c, FOUR);
    assert_int_equal(claims_find_writer(&writer, format, true, &e), OK);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    writer(out, &c);
    fclose(out);
    claims_free(&c);
    return text;
}

/* r/bad needs 12 launches of p, 24 s. r/wide needs 37, 74 s, and so decides r/bad too. r/gap needs 9
 * launches of p and q, 54 s. Claims without a number are last. */
static void the_cheapest_claims_are_first(void **state)
{
    char *text = write_plan("csv");
    assert_string_equal(text,
                        "claim,lacks,launches_now,launches_needed,minutes,decides,expected,value,"
                        "half_width_now,half_width,two_samples,command\n"
                        "r/bad,launches,6,12,0.4,1,fails,p,3,1.852685883,,measure it\n"
                        "r/wide,launches,6,37,1.233333333,2,survives,p,3,0.9720472046,,measure it\n"
                        "r/gap,launches,6,9,0.9,1,survives,gap,6,4.362481938,survives,measure it\n"
                        "r/seeds,seeds,1,6,3,1,survives,gap,,,,measure it\n"
                        "r/bound,launches,6,,,,,p,3,,,measure it\n"
                        "r/bare,,,,,,,,,,,measure that\n");
    free(text);
}

static void people_read_a_table(void **state)
{
    char *text = write_plan("text"), *next = strchr(text, '\n') + 1;
    assert_int_equal(strncmp(text, "claim    now  needs  ", 21), 0);
    assert_int_equal(
        strncmp(next,
                "r/bad    6    12 launches                        24 s        1        "
                "fails     p      3.00 -> 1.85   -\n",
                100),
        0);
    assert_non_null(strstr(next, "\nr/seeds  1    at least 6 seeds  "));
    assert_non_null(strstr(next, "\nr/bound  6    a sharper metric or another bound  "));
    assert_non_null(strstr(next, "\nr/bare   -    launches are unknown  "));
    assert_non_null(strstr(next, "\n6 of 7 claims are undecided.\n"));
    free(text);
    text = write_plan("markdown");
    assert_non_null(
        strstr(text, "|---|---|---|---|---|---|---|---|---|\n| r/bad | 6 | 12 launches | 24 s "
                     "| 1 | fails | p | 3.00 -> 1.85 | - |\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_follow_from_launches),
        cmocka_unit_test(launches_shrink_the_interval),
        cmocka_unit_test(differences_need_both_points),
        cmocka_unit_test(a_single_seed_needs_six),
        cmocka_unit_test(more_than_a_day_is_said),
        cmocka_unit_test(an_estimate_at_the_bound_stays_open),
        cmocka_unit_test(unknown_launches_make_no_number),
        cmocka_unit_test(two_samples_are_sharper),
        cmocka_unit_test(samples_have_a_value_per_launch),
        cmocka_unit_test(the_cheapest_claims_are_first),
        cmocka_unit_test(people_read_a_table),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
