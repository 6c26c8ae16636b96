/* Tests of the plan of undecided claims: how many launches decide, and how long they take. */
#include "bench/collect/tests/fake_folder.h"

#include <math.h>
#include <stdlib.h>

#include "bench/base/two_samples.h"
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
    write_under("reference/there", "both.csv",
                "launch,case,use\np1,u,1\np1,v,3.5\np2,u,2\np2,v,4\np3,u,3\np3,v,5.5\np4,u,4\n"
                "p4,v,6\np5,u,5\np5,v,7.5\np6,u,6\np6,v,8\n");
    write_under("reference/there", "new.csv",
                "point,ci_level,ms,ms_lo,ms_hi\np,0.97,100,97,103\nq,0.97,110,107,113\n");
    write_under("reference/there", "old.csv",
                "point,ci_level,ms,ms_lo,ms_hi\np,0.97,100,97,103\nq,0.97,111,108,113\n");
    write_under("reference/bare", "raw.csv",
                "launch,point,run,status,images_per_s\n1,p,time,ok,5\n2,p,time,ok,5\n"
                "3,p,time,ok,7\n4,p,time,ok,7\n5,q,time,ok,8\n6,q,time,ok,8\n7,q,time,ok,10\n"
                "8,q,time,ok,10\n");
    write_under("reference/bare", "rates.csv",
                "point,oversubscribed,images_per_s,images_per_s_lo,images_per_s_hi\np,0,6,5,7\n"
                "q,0,9,8,10\nq,1,9,,\n");
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

/* Both points are launched. The interval of the corners, 10 [4, 16], shrinks to 10 [5, 15]. */
static void differences_need_both_points(void **state)
{
    struct claim_need need =
        need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p + 0}, holds: gap > 5}\n",
                WIDE "gap; needs 9 launches");
    assert_float_equal(need.seconds, 9 * (2 + 4), 1e-9);
    assert_true(need.width.lo > 5 && need.width.lo < 6);
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
    need = need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p + 0}, holds: gap > 9.88}\n",
                   WIDE "gap; needs 11000 launches");
    assert_true(need.seconds < CLAIM_DAY_S);
    need = need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p + 0}, holds: gap > 9.9}\n",
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

/* ---- Two samples ---- */

static void assert_number(const char *values, double lo, double hi, const char *method)
{
    struct claims c;
    char text[1000];
    snprintf(text, sizeof text, HEAD CLAIM("a") "values: {%s}, holds: x > 0}\n", values);
    judge_claims(&c, text);
    const struct claim_value *x = &c.claims[0].values[c.claims[0].n - 1];
    const char *name = claim_method_name(x);
    if (fabs(x->number.lo - lo) > 1e-9 || fabs(x->number.hi - hi) > 1e-9 ||
        strcmp(name != NULL ? name : "", method) != 0)
        fail_msg("%s: %g [%g, %g] %s", values, x->number.mid, x->number.lo, x->number.hi, name);
    claims_free(&c);
}

/* The differences of p and q are 4 to 16, and their exact 95 % interval is [6, 14]: the sixth of 36
 * on each side. */
static void differences_of_launches_are_sharper(void **state)
{
#define OF(table, x) #x ": ms of there/" table ".csv where point = " #x
    assert_number(P ", " Q ", x: q - p", 6, 14, "two samples");
    assert_number(P ", " Q ", x: p - q", -14, -6, "two samples");
    assert_number(P ", " Q ", x: q / p", 107.0 / 101, 113.0 / 99, "two samples");
    assert_number(OF("new", p) ", " OF("new", q) ", x: q - p", 6, 14, "two samples");
    /* Only the difference or quotient of two medians of launches has two samples. */
    assert_number(P ", " Q ", x: q - p + 0", 4, 16, "corners");
    assert_number(P ", " Q ", y: p * 1, x: q - y", 4, 16, "corners");
    assert_number("n: s of t.csv, " Q ", x: q - n", 106, 112, "corners");
    /* The cell is not the median of the launches in raw.csv. */
    assert_number(OF("old", p) ", " OF("old", q) ", x: q - p", 5, 16, "corners");
    /* Ranks of q share cores. */
#define RATE(x, shared)                                                                            \
#x ": images_per_s of bare/rates.csv where point = " #x " and oversubscribed = " shared
    assert_number(RATE(p, "0") ", " RATE(q, "0") ", x: q - p", 1, 5, "two samples");
    assert_number(RATE(p, "0") ", " RATE(q, "1") ", x: q - p", -INFINITY, INFINITY, "");
    /* Single launches have no interval, and cells no method. */
    assert_number(SEED(r) ", " SEED(s) ", x: r - s", -INFINITY, INFINITY, "");
    assert_number("x: ms of there/new.csv where point = p", 97, 103, "");
}

/* Launches of a table with several rows per launch count by their medians: 2 3 4 5 and 6 7 8 9. The
 * interval of 4 and 4 launches has all differences, 1 to 7; 2 and 4 launches are too few. */
static void samples_have_a_value_per_launch(void **state)
{
#define CASE(x, more) #x ": median use of there/rows.csv where case = " #x more
    assert_number(CASE(a, "") ", " CASE(b, "") ", x: b - a", 1, 7, "two samples");
    double half = student_quantile(0.975, 1) / 2,
           other = student_quantile(0.975, 3) * sqrt(5.0 / 12);
    assert_number(CASE(a, " and use > 3") ", " CASE(b, "") ", x: b - a", 7.5 - 4.5 - half - other,
                  7.5 - 4.5 + half + other, "corners");
}

/* Six launches have u = 1 to 6 and v = 3.5, 4, 5.5, 6, 7.5, 8: differences of 2 and 2.5. */
static void medians_of_the_same_launches_are_pairs(void **state)
{
#define USE(x, more) #x ": median use of there/both.csv where case = " #x more
    assert_number(USE(u, "") ", " USE(v, "") ", x: v - u", 2, 2.5, "pairs");
    assert_number(USE(u, "") ", " USE(v, "") ", x: v / u", 8.0 / 6, 3.5, "pairs");
    /* Student's t of two launches: 2.25 +- 12.7 / 4 */
    double half = student_quantile(0.975, 1) / 4;
    assert_number(USE(u, " and use < 3") ", " USE(v, " and use < 5") ", x: v - u", 2.25 - half,
                  2.25 + half, "pairs");
    /* The samples share a part of their launches: five of v have the mean 6.2 and variance
     * 2.575. */
    half = student_quantile(0.975, 4) * sqrt(2.575 / 5);
    assert_number(USE(u, "") ", " USE(v, " and use > 3.9") ", x: v - u", 6.2 - half - 6,
                  6.2 + half - 1, "corners");
}

/* The half width is 4 with six launches and must shrink to less than 3. */
static void the_plan_uses_the_method_of_the_interval(void **state)
{
    size_t least = 6;
    while (4 * claim_expected_shift(least, least) / claim_expected_shift(6, 6) >= 3)
        least++;
    struct claim_need need =
        need_of(HEAD CLAIM("a") "values: {" P ", " Q ", gap: q - p}, holds: gap > 7}\n",
                WIDE "gap; needs 10 launches");
    assert_int_equal(need.launches, least);
    assert_float_equal(need.seconds, 10 * (2 + 4), 1e-9);
    assert_true(need.width.lo > 7 && need.width.lo < 7.2 && need.width.mid == 10);
    /* Too few launches for two samples today: deviations of 0.5 sqrt 2 and sqrt(5 / 3), by the half
     * widths of Student's t. Six launches of both have the half width 1.435 sqrt(13 / 12) =
     * 1.49. */
    need = need_of(HEAD CLAIM("a") "values: {" CASE(a, " and use > 3") ", " CASE(
                       b, "") ", gap: b - a}, holds: gap > 1.4}\n",
                   WIDE "gap; needs 6 launches");
    assert_float_equal(need.width.hi - need.width.lo,
                       2 * claim_expected_shift(6, 6) * sqrt((0.5 + 5.0 / 3) / 2), 1e-9);
    /* Pairs need the launches of a median: the half width 0.25 must shrink to less than 0.2. */
    least = 6;
    while (0.25 * claim_expected_width(least) / claim_expected_width(6) >= 0.2)
        least++;
    need = need_of(HEAD CLAIM("a") "values: {" USE(u, "") ", " USE(
                       v, "") ", gap: v - u}, holds: gap > 2.05}\n",
                   WIDE "gap; needs 9 launches");
    assert_int_equal(need.launches, least);
}

/* By simulation of normal launches, intervals of two samples have the half widths 2.06, 1.36 and
 * 0.65 standard deviations for 4, 6 and 20 launches of both. */
static void widths_of_two_samples_follow_from_launches(void **state)
{
    assert_true(isinf(claim_expected_shift(3, 3)));
    assert_float_equal(claim_expected_shift(6, 6), 1.36, 0.1);
    assert_float_equal(claim_expected_shift(20, 20), 0.65, 0.02);
    assert_float_equal(claim_expected_shift(3, 6), claim_expected_shift(6, 3), 1e-12);
    /* 1.96 sqrt(2 pi / 3) / sqrt n for many values */
    assert_float_equal(claim_expected_shift(800, 800), 2.837 / sqrt(800), 0.002);
}

/* ---- The plan ---- */

#define FOUR                                                                                       \
    HEAD CLAIM("bound") "values: {" P "}, holds: p > 100}\n" CLAIM(                                \
        "bare") "values: {x: median ms of bare/cells.csv}, holds: x > "                            \
                "1}\n" CLAIM("wide") "values: {" P "}, holds: p > 99}\n" CLAIM(                    \
                    "gap") "values: {" P ", " Q ", gap: q - p}, holds: gap > "                     \
                           "7}\n" CLAIM(                                                           \
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

/* r/bad needs 12 launches of p, 24 s. r/wide needs 37, 74 s, and so decides r/bad too. r/gap needs
 * 9 launches of p and q, 54 s. Claims without a number are last. */
static void the_cheapest_claims_are_first(void **state)
{
    char *text = write_plan("csv");
    assert_string_equal(text,
                        "claim,lacks,launches_now,launches_needed,minutes,decides,expected,value,"
                        "half_width_now,half_width,command\n"
                        "r/bad,launches,6,12,0.4,1,fails,p,3,1.852685883,measure it\n"
                        "r/wide,launches,6,37,1.233333333,2,survives,p,3,0.9720472046,measure it\n"
                        "r/gap,launches,6,10,1,1,survives,gap,4,2.839779892,measure it\n"
                        "r/seeds,seeds,1,6,3,1,survives,gap,,,measure it\n"
                        "r/bound,launches,6,,,,,p,3,,measure it\n"
                        "r/bare,,,,,,,,,,measure that\n");
    free(text);
}

static void people_read_a_table(void **state)
{
    char *text = write_plan("text"), *next = strchr(text, '\n') + 1;
    assert_int_equal(strncmp(text, "claim    now  needs  ", 21), 0);
    assert_int_equal(
        strncmp(next,
                "r/bad    6    12 launches                        24 s        1        "
                "fails     p      3.00 -> 1.85\n",
                95),
        0);
    assert_non_null(strstr(next, "\nr/seeds  1    at least 6 seeds  "));
    assert_non_null(strstr(next, "\nr/bound  6    a sharper metric or another bound  "));
    assert_non_null(strstr(next, "\nr/bare   -    launches are unknown  "));
    assert_non_null(strstr(next, "\n6 of 7 claims are undecided.\n"));
    free(text);
    text = write_plan("markdown");
    assert_non_null(strstr(text,
                           "|---|---|---|---|---|---|---|---|\n| r/bad | 6 | 12 launches | 24 s "
                           "| 1 | fails | p | 3.00 -> 1.85 |\n"));
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
        cmocka_unit_test(differences_of_launches_are_sharper),
        cmocka_unit_test(samples_have_a_value_per_launch),
        cmocka_unit_test(medians_of_the_same_launches_are_pairs),
        cmocka_unit_test(the_plan_uses_the_method_of_the_interval),
        cmocka_unit_test(widths_of_two_samples_follow_from_launches),
        cmocka_unit_test(the_cheapest_claims_are_first),
        cmocka_unit_test(people_read_a_table),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
