/* Tests of claims: verdicts from cells, and the message for every mistake in a file of claims. */
#include "bench/collect/tests/fake_folder.h"

#include <math.h>

#include "bench/claims/claims.h"

/* ---- Verdicts ---- */

static void write_under(const char *below, const char *file, const char *text)
{
    char path[256];
    struct error e;
    snprintf(path, sizeof path, "%s/%s", folder, below);
    assert_int_equal(folder_make(path, &e), OK);
    snprintf(path, sizeof path, "%s/%s/%s", folder, below, file);
    fake_write(path, text);
}

#define HEAD "runs: {there: measure it, absent: measure that}\nclaims:\n"

/* text of a file with one claim */
#define CLAIM(rest) HEAD "  - {id: r/c, kind: time, place: here, says: so, " rest "}\n"

static void write_tables(void)
{
    write_under("published", "t.csv", "ranks,s,how\n1,10,slow\n2,6,\n4,,fast\n");
    write_under("published", "units.csv", "wall_s,step_ms\n2,10\n");
    write_under("reference/there", "steps.csv",
                "n,ms,ms_lo,ms_hi,rate_pct,rate_lo,rate_hi\n1,10,9,11,50,40,60\n2,6,4,8,,,\n"
                "5,10,,,50,,\n");
    write_under("reference/there", "seeds.csv",
                "case,seed,point,acc\na,1,p,20\na,2,p,21\na,3,p,22\nb,1,q,32\nb,2,q,33\nb,3,q,34\n"
                "b,4,q,35\nb,5,q,36\nb,6,q,29.5\n"
                "c,1,p,0.21\nc,2,p,0.21\nc,3,p,0.21\n");
    write_under(
        "reference/there", "weak.csv",
        "ranks,test_acc_pct,test_acc_lo,test_acc_hi,test_acc_level,noise_scale,noise_scale_lo,"
        "noise_scale_hi\n1,50,49,51,0.75,80,70,90\n2,50,49,51,0.97,80,70,90\n");
    write_under(
        "reference/there", "pairs.csv",
        "n,ci_level,speedup,speedup_lo,speedup_hi,speedup_pairs,peer_ratio,peer_ratio_lo,"
        "peer_ratio_hi,peer_pairs,to_target_s,to_target_s_lo,to_target_s_hi,test_acc_level\n"
        "1,0.97,2,1.9,2.1,5,3,2.9,3.1,5,9,8,10,0.75\n"
        "2,0.97,2,1.9,2.1,6,3,2.9,3.1,6,9,8,10,0.97\n"
        "3,0.97,2,1.9,2.1,,3,2.9,3.1,,9,8,10,\n"
        "4,0.75,2,1.9,2.1,,3,2.9,3.1,,9,8,10,\n");
    write_under("reference/there", "summary.csv",
                "point,kind,ms,comm_pct,calls,reason\np,emulated and replayed,1,3,2,\n"
                "q,measured,,,,no cores\n"
                "r,simulated,7,,,\n");
    write_under(
        "reference/there", "samples.csv",
        "launch,case,use\nl1,one,10\nl1,one,12\nl1,one,11\nl1,one,13\nl1,one,11\nl1,one,12\n"
        "l1,two,10\nl1,two,12\nl2,two,21\nl3,two,30\nl3,two,32\nl3,two,90\n");
}

static enum status judge_text(struct claims *c, const char *text, struct error *e)
{
    write_tables();
    fake_write(path_of("claims.yaml"), text);
    return claims_judge(c, path_of("claims.yaml"), e);
}

static void assert_verdict(const char *text, enum claim_verdict verdict, const char *reason)
{
    struct claims c;
    struct error e;
    if (judge_text(&c, text, &e) != OK)
        fail_msg("%d:%d: %s", e.line, e.column, e.text);
    assert_int_equal(c.n, 1);
    if (c.claims[0].verdict != verdict || strcmp(c.claims[0].reason, reason) != 0)
        fail_msg("%s: %s, %s", text, claim_verdict_names[c.claims[0].verdict], c.claims[0].reason);
    assert_int_equal(c.verdicts[verdict], 1);
    claims_free(&c);
}

#define ONE "one: s of t.csv where ranks = 1"
#define TWO "two: s of t.csv where ranks = 2"

static void verdicts_follow_from_cells(void **state)
{
    assert_verdict(CLAIM("values: {a: min wall_s of units.csv, b: max step_ms of units.csv, "
                         "c: a * 1000, n: count step_ms of units.csv}, holds: b < c and n < a"),
                   CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {" ONE ", " TWO ", up: one / two}, holds: up > 1.6"),
                   CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {" ONE ", " TWO ", up: one / two}, holds: up > 1.7"), CLAIM_FAILS,
                   "");
    assert_verdict(CLAIM("values: {how: how of t.csv where ranks = 1}, holds: how = slow"),
                   CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {how: how of t.csv where ranks = 1}, holds: how = fast"),
                   CLAIM_FAILS, "");
}

static void rows_are_taken_together(void **state)
{
    assert_verdict(CLAIM("values: {x: min s of t.csv}, holds: x = 6"), CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: max s of t.csv}, holds: x = 10"), CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: sum s of t.csv}, holds: x = 16"), CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: mean s of t.csv}, holds: x = 8"), CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: count s of t.csv}, holds: x = 3"), CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: count s of t.csv where ranks = 9}, holds: x = 0"),
                   CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: median s of t.csv}, holds: x = 8"), CLAIM_SURVIVES, "");
    assert_verdict(CLAIM("values: {x: median s of t.csv where ranks = 1}, holds: x = 10"),
                   CLAIM_SURVIVES, "");
}

/* The median of several runs has a 95 % interval: for three, 21 +- 2.48 by Student's t. One run has
 * none. */
static void few_runs_have_wide_intervals(void **state)
{
#define TOO_FEW "too few runs for a 95 % interval: x"
#define ACC(rows, bound)                                                                           \
    CLAIM("values: {x: median acc of there/seeds.csv where " rows "}, holds: x " bound)
    assert_verdict(ACC("case = a", "> 18.4"), CLAIM_SURVIVES, "");
    assert_verdict(ACC("case = a", "> 18.6"), CLAIM_UNDECIDED,
                   "the 95 % interval contains the bound: x");
    assert_verdict(ACC("case = a", "> 23.6"), CLAIM_FAILS, "");
    assert_verdict(ACC("case = a and seed = 1", "> 1"), CLAIM_UNDECIDED, TOO_FEW);
    /* six runs: the interval is smallest to largest value */
    assert_verdict(ACC("case = b", "> 30"), CLAIM_UNDECIDED,
                   "the 95 % interval contains the bound: x");
    assert_verdict(ACC("case = b", "> 29"), CLAIM_SURVIVES, "");
    /* An interval of a lower level does not count. */
    assert_verdict(
        CLAIM("values: {x: test_acc_pct of there/weak.csv where ranks = 1}, holds: x > 1"),
        CLAIM_UNDECIDED, TOO_FEW);
    assert_verdict(
        CLAIM("values: {x: test_acc_pct of there/weak.csv where ranks = 2}, holds: x > 1"),
        CLAIM_SURVIVES, "");
    assert_verdict(
        CLAIM("values: {x: noise_scale of there/weak.csv where ranks = 1}, holds: x > 1"),
        CLAIM_UNDECIDED, TOO_FEW);
    assert_verdict(
        CLAIM("values: {x: noise_scale of there/weak.csv where ranks = 2}, holds: x > 1"),
        CLAIM_SURVIVES, "");
}

/* Rows of one launch are one measurement: 11, 21 and 32 are three, 21 +- 26.1. */
static void rows_of_a_launch_count_once(void **state)
{
#define USE(rows, bound)                                                                           \
    CLAIM("values: {x: median use of there/samples.csv where case = " rows "}, holds: x " bound)
    assert_verdict(USE("one", "> 1"), CLAIM_UNDECIDED, TOO_FEW);
    assert_verdict(USE("two", "> -6"), CLAIM_SURVIVES, "");
    assert_verdict(USE("two", "> -4"), CLAIM_UNDECIDED, "the 95 % interval contains the bound: x");
    assert_verdict(USE("two", "> 48"), CLAIM_FAILS, "");
}

/* A cell without an interval is unbounded if it was timed, and exact if it was counted. */
static void measured_cells_without_an_interval_are_open(void **state)
{
    assert_verdict(
        CLAIM("values: {x: comm_pct of there/summary.csv where point = p}, holds: x < 90"),
        CLAIM_UNDECIDED, TOO_FEW);
    assert_verdict(CLAIM("values: {x: calls of there/summary.csv where point = p}, holds: x = 2"),
                   CLAIM_SURVIVES, "");
}

/* The mean of equal values is exact to the last digit. */
static void equal_runs_have_one_value(void **state)
{
    assert_verdict(ACC("case = c", "= 0.21"), CLAIM_SURVIVES, "");
    assert_verdict(ACC("case = c", "<= 0.21"), CLAIM_SURVIVES, "");
    assert_verdict(ACC("case = c", ">= 0.21"), CLAIM_SURVIVES, "");
}

/* The number of pairs decides for ratios; it may be smaller than the number of launches. A table
 * without pairs counts launches. */
static void few_pairs_make_no_interval(void **state)
{
#define PAIRS(column, n, bound)                                                                    \
    CLAIM("values: {x: " column " of there/pairs.csv where n = " n "}, holds: x " bound)
    static const char *const columns[] = {"speedup", "peer_ratio", "to_target_s"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int n = 1; n <= 4; n++) {
            char text[400];
            bool few = n == 1 || (n == 4 && i < 2);
            snprintf(text, sizeof text, PAIRS("%s", "%d", "> 1"), columns[i], n);
            assert_verdict(text, few ? CLAIM_UNDECIDED : CLAIM_SURVIVES, few ? TOO_FEW : "");
        }
}

static void intervals_decide(void **state)
{
#define MS(bound) CLAIM("values: {x: ms of there/steps.csv where n = 1}, holds: x " bound)
    assert_verdict(MS("> 8.5"), CLAIM_SURVIVES, "");
    assert_verdict(MS("> 9.5"), CLAIM_UNDECIDED, "the 95 % interval contains the bound: x");
    assert_verdict(MS("> 11.5"), CLAIM_FAILS, "");
    assert_verdict(CLAIM("values: {x: rate_pct of there/steps.csv where n = 1}, holds: x > 45"),
                   CLAIM_UNDECIDED, "the 95 % interval contains the bound: x");
    assert_verdict(CLAIM("values: {x: ms of there/steps.csv where n = 1, y: ms of there/steps.csv "
                         "where n = 2, up: x / y}, holds: up > 1.2"),
                   CLAIM_UNDECIDED, "the 95 % interval contains the bound: up");
    /* measured once, in a table where other rows have intervals */
    assert_verdict(CLAIM("values: {x: ms of there/steps.csv where n = 5}, holds: x > 1"),
                   CLAIM_UNDECIDED, TOO_FEW);
    assert_verdict(CLAIM("values: {x: rate_pct of there/steps.csv where n = 5, y: x - 10}, "
                         "holds: y > 1"),
                   CLAIM_UNDECIDED, TOO_FEW);
    /* The reason names only the values that leave it open. */
    assert_verdict(CLAIM("values: {x: ms of there/steps.csv where n = 1, y: ms of there/steps.csv "
                         "where n = 2}, holds: x > 8.5 and y > 5 and y < 20"),
                   CLAIM_UNDECIDED, "the 95 % interval contains the bound: y");
    assert_verdict(CLAIM("values: {x: n of there/steps.csv where n = 5}, holds: x > 1"),
                   CLAIM_SURVIVES, "");
}

static void what_is_not_there_is_not_testable(void **state)
{
    assert_verdict(CLAIM("values: {x: ms of absent/summary.csv, y: x * 2}, holds: y > 1"),
                   CLAIM_NOT_TESTABLE,
                   "needs reference/absent/summary.csv beside the claims file, which is not "
                   "measured yet");
    assert_verdict(CLAIM("values: {x: ms of there/steps.csv where n = 3}, holds: x > 1"),
                   CLAIM_NOT_TESTABLE,
                   "ms of reference/there/steps.csv: no row matches; correct the condition, or run "
                   "the campaign with such a point");
    assert_verdict(CLAIM("values: {x: acc of there/seeds.csv where seed = 1 and case = e}, "
                         "holds: x > 1"),
                   CLAIM_NOT_TESTABLE,
                   "acc of reference/there/seeds.csv: no row has case = e; correct the word, or "
                   "run the campaign with such a point");
    assert_verdict(CLAIM("values: {x: rate_pct of there/steps.csv where n = 2}, holds: x > 1"),
                   CLAIM_NOT_TESTABLE,
                   "rate_pct of reference/there/steps.csv: the row has no value");
    assert_verdict(CLAIM("values: {x: ms of there/summary.csv where point = q}, holds: x > 1"),
                   CLAIM_NOT_TESTABLE, "ms of reference/there/summary.csv: no cores");
    assert_verdict(CLAIM("untestable: no number is given"), CLAIM_NOT_TESTABLE,
                   "no number is given");
}

static void claims_say_what_they_rest_on(void **state)
{
    struct claims c;
    struct error e;
    assert_int_equal(
        judge_text(&c,
                   CLAIM("values: {x: ms of there/steps.csv where n = 1, y: max s of "
                         "t.csv where ranks < 4, z: ms of absent/a.csv}, holds: x > 1"),
                   &e),
        OK);
    assert_string_equal(c.claims[0].values[0].rows, "reference/there/steps.csv#L2");
    assert_string_equal(c.claims[0].values[1].rows, "published/t.csv#L2-L3");
    assert_string_equal(c.claims[0].command, "measure it; measure that");
    assert_int_equal(c.claims[0].evidence, 1u << EVIDENCE_published | 1u << EVIDENCE_measured);
    claims_free(&c);
}

/* Evidence is column kind of the point's row in summary.csv, also for tables of launches. */
static void evidence_is_told_by_kind(void **state)
{
    struct claims c;
    struct error e;
    assert_int_equal(judge_text(&c,
                                CLAIM("values: {x: median acc of there/seeds.csv where case = a, "
                                      "y: x + 1}, holds: y > 1"),
                                &e),
                     OK);
    assert_int_equal(c.claims[0].evidence, 1u << EVIDENCE_emulated | 1u << EVIDENCE_replayed);
    claims_free(&c);
    assert_int_equal(
        judge_text(&c, CLAIM("values: {x: ms of there/summary.csv where point = r}, holds: x > 1"),
                   &e),
        OK);
    assert_int_equal(c.claims[0].evidence, 1u << EVIDENCE_simulated);
    claims_free(&c);
}

/* ---- Mistakes ---- */

static void refuse_claims(const char *text, const char *expected)
{
    struct claims c;
    struct error e = {.status = OK};
    char found[1200];
    assert_int_equal(judge_text(&c, text, &e), ERR_SPEC);
    snprintf(found, sizeof found, "%d:%d: %s", e.line, e.column, e.text);
    if (strstr(found, expected) == NULL)
        fail_msg("%s\n%s", text, found);
    claims_free(&c);
}

static void mistakes_in_values_are_named(void **state)
{
    refuse_claims(CLAIM("values: {x: s of u.csv}, holds: x > 1"), "u.csv: not found in published/");
    refuse_claims(CLAIM("values: {x: s of other/a.csv}, holds: x > 1"),
                  "other/a.csv: not found under runs; list its run there");
    refuse_claims(CLAIM("values: {x: s of ../t.csv}, holds: x > 1"), "expected run/file.csv, or");
    refuse_claims(CLAIM("values: {x: s of t.csv}, holds: x > 1"), "several rows match");
    refuse_claims(CLAIM("values: {x: s of t.csv where ranks = 9}, holds: x > 1"), "no row matches");
    refuse_claims(CLAIM("values: {x: s of t.csv where ranks = 4}, holds: x > 1"),
                  "no matching row has a number");
    refuse_claims(CLAIM("values: {x: t of t.csv}, holds: x > 1"), "t.csv has no column t");
    refuse_claims(CLAIM("values: {x: s of t.csv where rank = 1}, holds: x > 1"),
                  "t.csv has no column rank; nearest 'ranks'");
    refuse_claims(CLAIM("values: {x: s of t.csv where ranks}, holds: x > 1"),
                  "where: expected = != < <= > or >=");
    refuse_claims(CLAIM("values: {x: least s of t.csv}, holds: x > 1"),
                  "'least' is unknown; known: only min max sum mean median count");
    refuse_claims(CLAIM("values: {x: max s of t.csv or so}, holds: x > 1"),
                  "expected '[reduction] column");
    refuse_claims(CLAIM("values: {" ONE ", x: one - one, y: one / x}, holds: y > 1"),
                  "division by 0");
    refuse_claims(CLAIM("values: {x: two / 2, " TWO "}, holds: x > 1"), "x: 'two' is unknown");
    refuse_claims(CLAIM("values: {" ONE ", x: one *}, holds: x > 1"),
                  "x: expected a number, a name, - or (");
    refuse_claims(
        CLAIM("values: {a: min wall_s of units.csv, b: max step_ms of units.csv, "
              "x: a - b}, holds: x > 1"),
        "x: 'a - b': a has the unit s, but b has the unit ms; compare values of one unit");
}

static void mistakes_in_claims_are_named(void **state)
{
    refuse_claims(CLAIM("holds: x > 1"), "holds: 'x' is unknown; known: nothing");
    refuse_claims(CLAIM("values: {" ONE "}"), "either `holds: CONDITION` or `untestable: REASON`");
    refuse_claims(CLAIM("values: {" ONE "}, holds: one > 1, untestable: why"), "found both");
    refuse_claims(CLAIM("values: {" ONE ", " TWO "}, holds: one > two and one < two"),
                  "holds: this never holds for any one and two");
    refuse_claims(CLAIM("values: {" ONE "}, holds: one > 2 and one < 1"),
                  "holds: this never holds for any one;");
    refuse_claims(CLAIM("values: {" ONE "}, holds: one >= one"), "holds: both sides are one");
    refuse_claims(CLAIM("values: {" ONE ", a: 3, b: a + 1}, holds: b > a"),
                  "holds: expected a value from a table, found only constants");
    refuse_claims(CLAIM("values: {n: how of t.csv where ranks = 1}, holds: n > 4"),
                  "holds: n has no order. Use = or !=");
    refuse_claims(CLAIM("values: {a: min wall_s of units.csv, b: max step_ms of units.csv}, "
                        "holds: b < a"),
                  "holds: b has the unit ms, but a has the unit s; compare values of one unit");
    refuse_claims(CLAIM("values: {a: min wall_s of units.csv, b: max step_ms of units.csv, "
                        "c: a + a}, holds: b < c"),
                  "holds: b has the unit ms, but c has the unit s");
    refuse_claims(CLAIM("values: {" ONE "}, holds: one = slow"),
                  "holds: one is a number: expected a number, found 'slow'");
    refuse_claims(CLAIM("hold: one > 1"), "key 'hold' is unknown; nearest 'holds'");
    refuse_claims(CLAIM("values: {1st: s of t.csv}, untestable: why"),
                  "beginning with a letter, found '1st'");
    refuse_claims(HEAD "  - {id: c, kind: time, place: here, says: so, untestable: why}\n",
                  "3:10: id: expected the form report/name, such as kota/one_sum, found 'c'");
    refuse_claims(HEAD "  - {id: r/c, kind: tyme, place: here, says: so, untestable: why}\n",
                  "kind: 'tyme' is unknown; nearest 'time'");
    refuse_claims(HEAD "  - {id: r/c, kind: time, says: so, untestable: why}\n",
                  "place is missing from this claim");
    refuse_claims(CLAIM("untestable: why") "  - {id: r/c, kind: time, place: here, says: so, "
                                           "untestable: why}\n",
                  "4:10: id: 'r/c' is given twice");
    refuse_claims("runs: {}\n", "expected the key `claims` with a list of claims");
    refuse_claims("claims: []\nruns: []\n", "runs must be a map of names and commands");
    refuse_claims("claims: []\nrun: {}\n", "key 'run' is unknown; nearest 'runs'");
    refuse_claims("x-one: &one {id: a/b}\nclaims: [*one]\n",
                  "2:10: kind is missing from this claim (from the anchor at ");
}

/* ---- Story ---- */

/* Checks a story about one surviving claim with one value. */
static void assert_story(const char *story, const char *told, size_t expected)
{
    struct claims c;
    struct error e;
    char text[512], *found = NULL;
    size_t size, wrong;
    FILE *out = open_memstream(&found, &size);
    assert_non_null(out);
    assert_int_equal(judge_text(&c, CLAIM("values: {" ONE ", third: one / 3}, holds: one > 1"), &e),
                     OK);
    snprintf(text, sizeof text,
             "[0](t.csv#L1)\n<!-- `scalebench claims` checks the links of what follows -->\n"
             "%s<!-- until here -->\n[0](t.csv#L1)\n",
             story);
    fake_write(path_of("README.md"), text);
    assert_int_equal(claims_check_story(out, &c, &wrong, &e), OK);
    fclose(out);
    if (strstr(found, told) == NULL)
        fail_msg("%s: %s", story, found);
    assert_int_equal(wrong, expected);
    snprintf(c.path, sizeof c.path, "mine.yaml"); /* the story is about claims.yaml alone */
    assert_int_equal(claims_check_story(stderr, &c, &wrong, &e), OK);
    assert_int_equal(wrong, 0);
    free(found);
    claims_free(&c);
}

static void a_story_has_what_the_claims_have(void **state)
{
    assert_story("[10](published/t.csv#L2) [3.3](claims.csv#L2)\n[3.333](claims.csv#L2).\n", "", 0);
    assert_story("It [survives](claims.csv#L2), see [here](claims.md) and [this] and [that.\n", "",
                 0);
    assert_story("So\n[fails](claims.csv#L2)\n",
                 "/README.md:4: claims.csv#L2: found 'fails', expected survives\n", 1);
    assert_story("[3.4](claims.csv#L2) [9](published/t.csv#L2)\n",
                 "README.md:3: claims.csv#L2: found '3.4', expected third 3.333\n", 2);
    assert_story("[10](published/t.csv#L4)\n", "expected the address of a claim's value\n", 1);
}

/* ---- Differences from an earlier table ---- */

static void differences_are_told(void **state)
{
    static const struct {
        const char *before, *told;
        size_t differing;
    } rows[] = {
        {"id,verdict\nr/c,survives\n", "", 0},
        {"id,verdict\nr/c,fails\n", "r/c: was fails, is survives\n", 1},
        {"id,verdict\n", "r/c: new, is survives\n", 1},
        {"id,verdict\nr/c,survives\nr/d,fails\n", "r/d: was fails, the claim is missing now\n", 1},
    };
    struct claims c;
    struct error e;
    assert_int_equal(judge_text(&c, CLAIM("values: {" ONE "}, holds: one > 1"), &e), OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *told = NULL;
        size_t size, differing;
        FILE *out = open_memstream(&told, &size);
        assert_non_null(out);
        fake_write(path_of("before.csv"), rows[i].before);
        assert_int_equal(claims_compare(out, &c, path_of("before.csv"), &differing, &e), OK);
        fclose(out);
        assert_string_equal(told, rows[i].told);
        assert_int_equal(differing, rows[i].differing);
        free(told);
    }
    claims_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_from_cells),
        cmocka_unit_test(rows_are_taken_together),
        cmocka_unit_test(few_runs_have_wide_intervals),
        cmocka_unit_test(rows_of_a_launch_count_once),
        cmocka_unit_test(measured_cells_without_an_interval_are_open),
        cmocka_unit_test(equal_runs_have_one_value),
        cmocka_unit_test(few_pairs_make_no_interval),
        cmocka_unit_test(intervals_decide),
        cmocka_unit_test(what_is_not_there_is_not_testable),
        cmocka_unit_test(claims_say_what_they_rest_on),
        cmocka_unit_test(evidence_is_told_by_kind),
        cmocka_unit_test(mistakes_in_values_are_named),
        cmocka_unit_test(mistakes_in_claims_are_named),
        cmocka_unit_test(a_story_has_what_the_claims_have),
        cmocka_unit_test(differences_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
