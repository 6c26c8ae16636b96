#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/tests/fake_run.h"
#include "bench/compare/checks.h"
#include "bench/compare/format.h"

static const char summary_names[] = "point,status,base_point,peer_point,speedup,efficiency\n";
static const char raw_names[] = "launch,point,label,run,block,status,step_ms,global_batch,wall_s,"
                                "test_acc_pct,memory_mib,disturbed\n";

static void write_file(const char *folder, const char *name, const char *head, const char *rows)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%s%s", head, rows);
    assert_int_equal(fclose(out), 0);
}

/* Writes a run with points a (base) and b of six launches in blocks, one of them failed. b takes
 * `factor` times as long; its first launches are `disturbed`. */
static void write_disturbed_run(const char *folder, const char *a, const char *b, double factor,
                                int disturbed)
{
    char summary[1024], raw[8192];
    size_t used = 0;
    snprintf(summary, sizeof summary, "%s,ok,%s,,1,1\n%s,ok,%s,,1.9,0.95\n", a, a, b, a);
    for (int block = 0; block < 6; block++)
        used +=
            (size_t)snprintf(raw + used, sizeof raw - used,
                             "x,%s,ranks=1,time,%d,ok,%g,100,1,,50,\n"
                             "x,%s,\"ranks=2 \"\"<a&b>\"\"\",time,%d,ok,%g,100,1,,50,%s\n",
                             a, block, 20 + 0.01 * block, b, block, factor * (10 + 0.02 * block),
                             block < disturbed ? "foreign 31 %" : "");
    snprintf(raw + used, sizeof raw - used, "x,%s,ranks=2,time,6,failed,9999,100,1,,50,\n", b);
    write_file(folder, "summary.csv", summary_names, summary);
    write_file(folder, "raw.csv", raw_names, raw);
}

static void write_run(const char *folder, const char *a, const char *b, double factor)
{
    write_disturbed_run(folder, a, b, factor, 0);
}

static enum status compare_asked(struct comparison *c, const char *a, const char *b,
                                 struct compare_request request, struct error *e)
{
    const char *const operands[] = {a, b};
    request.operands = operands;
    request.n_operands = 2;
    request.out = request.home = "/nowhere";
    request.floor = "0%";
    return compare_run(c, &request, e);
}

static enum status compare_two(struct comparison *c, const char *a, const char *b,
                               const char *quantity, struct error *e)
{
    return compare_asked(c, a, b, (struct compare_request){.quantity = quantity}, e);
}

static struct comparison compared_two(const char *a, const char *b, const char *quantity)
{
    struct comparison c;
    struct error e = {.status = OK};
    if (compare_two(&c, a, b, quantity, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return c;
}

struct folders {
    char a[64], b[64];
};

static int make_folders(void **state)
{
    static struct folders folders;
    *state = &folders;
    folders = (struct folders){"/tmp/scalebench-test-a-XXXXXX", "/tmp/scalebench-test-b-XXXXXX"};
    return mkdtemp(folders.a) != NULL && mkdtemp(folders.b) != NULL ? 0 : -1;
}

static int remove_folders(void **state)
{
    struct folders *folders = *state;
    fake_remove_folder(folders->a);
    fake_remove_folder(folders->b);
    return 0;
}

static void runs_compare_by_their_tables(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "aaaa", "bbbb", 1.1);
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_int_equal(c.n_ratios, 2);
    assert_true(fabs(c.rules.level - 0.975) < 1e-12);
    assert_int_equal(compare_cell(&c, 0, 1)->judged.verdict, VERDICT_SAME);
    assert_int_equal(compare_cell(&c, 1, 1)->judged.verdict, VERDICT_BAD);
    assert_int_equal(compare_cell(&c, 1, 1)->judged.n, 6); /* one of seven launches failed and
                                                              does not count */
    assert_int_equal(c.by_label, 0);
    compare_free(&c);
    c = compared_two(f->a, f->a, "step_ms");
    assert_int_equal(c.verdicts[VERDICT_SAME], 2);
    assert_true(compare_cell(&c, 1, 1)->judged.ratio.lo == 1);
    compare_free(&c);
}

/* A speed-up pairs launches of one block; the base has none. */
static void ratios_pair_by_block(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "aaaa", "bbbb", 1.1);
    struct comparison c = compared_two(f->a, f->b, "speedup");
    const struct side_point *p = &c.sides[0].points[1];
    assert_int_equal(c.sides[0].points[0].n, 0);
    assert_int_equal(p->n, 6);
    for (int block = 0; block < 6; block++)
        assert_true(fabs(p->values[block] - (20 + 0.01 * block) / (10 + 0.02 * block)) < 1e-6);
    assert_string_equal(verdict_name(compare_cell(&c, 1, 1)->judged.verdict, c.rules.what),
                        "worse");
    compare_free(&c);
    c = compared_two(f->a, f->b, "efficiency");
    assert_true(fabs(c.sides[0].points[1].values[0] - 1) < 1e-6);
    compare_free(&c);
    c = compared_two(f->a, f->b, "images_per_s");
    assert_true(fabs(c.sides[0].points[0].values[0] - 5000) < 1e-6);
    compare_free(&c);
}

static void points_match_by_label_where_identities_differ(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "aaaa", "cccc", 1);
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_int_equal(c.by_label, 1);
    assert_true(compare_cell(&c, 1, 1)->by_label);
    assert_false(compare_is_unmatched(&c, 0, 1) || compare_is_unmatched(&c, 1, 1));
    compare_free(&c);
}

static char *told(const struct comparison *c, const char *format, bool strict)
{
    char *text = NULL;
    size_t size = 0;
    format_writer *writer;
    struct error e = {.status = OK};
    FILE *out = open_memstream(&text, &size);
    const struct format_options options = {.width = 0, .strict = strict};
    assert_int_equal(format_find(&writer, format, &e), OK);
    assert_int_equal(writer(out, c, &options, &e), OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_output(const struct comparison *c, const char *format, const char *wanted)
{
    char *text = told(c, format, false);
    if (strstr(text, wanted) == NULL)
        fail_msg("%s lacks '%s':\n%s", format, wanted, text);
    free(text);
}

static void every_format_tells_and_escapes(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "aaaa", "bbbb", 1.1);
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", "ranks=2 \"<a&b>\"");
    assert_output(&c, "text", "0 faster, 1 slower, 1 same, 0 undecided of 2 points.");
    assert_output(&c, "csv", "\"ranks=2 \"\"<a&b>\"\"\"");
    assert_output(&c, "markdown", "ranks=2 \"\\<a&b>\"");
    assert_output(&c, "latex", "ranks=2 \"\\textless{}a\\&b\\textgreater{}\"");
    assert_output(&c, "junit", "name=\"ranks=2 &quot;&lt;a&amp;b&gt;&quot;\"");
    assert_output(&c, "junit", "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"");
    assert_output(&c, "junit", "<failure type=\"slower\"");
    compare_free(&c);
}

/* Point b: its launches are 10 us apart, around 10 ms. */
static void most_launches_disturbed_leave_a_point_undecided(void **state)
{
    static const struct {
        double factor;
        int reference, run; /* number of disturbed launches, of six */
        const char *quantity;
        bool count;
        enum verdict verdict;
        const char *reason;
    } rows[] = {
        {1.2, 0, 3, "step_ms", false, VERDICT_BAD, ""}, /* exactly half of the launches is not
                                                           most of them */
        {1.2, 0, 4, "step_ms", false, VERDICT_UNDECIDED, "the run"},
        {1.2, 0, 4, "step_ms", true, VERDICT_BAD, ""},
        {0.8, 4, 0, "step_ms", false, VERDICT_UNDECIDED, "the reference"},
        {1.0, 6, 0, "step_ms", false, VERDICT_UNDECIDED,
         "the reference"}, /* may hide a slow-down */
        {1.2, 6, 6, "step_ms", false, VERDICT_UNDECIDED, "the reference and of the run"},
        {1.2, 0, 4, "speedup", false, VERDICT_UNDECIDED, "the run"},
        {1.0, 6, 6, "memory_mib", false, VERDICT_SAME, ""}, /* memory does not depend on other
                                                               programs */
    };
    const struct folders *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct comparison c;
        struct error e = {.status = OK};
        write_disturbed_run(f->a, "aaaa", "bbbb", 1, rows[i].reference);
        write_disturbed_run(f->b, "aaaa", "bbbb", rows[i].factor, rows[i].run);
        const struct compare_request request = {.quantity = rows[i].quantity,
                                                .count_disturbed = rows[i].count};
        assert_int_equal(compare_asked(&c, f->a, f->b, request, &e), OK);
        const struct judged *j = &compare_cell(&c, 1, 1)->judged;
        assert_int_equal(j->verdict, rows[i].verdict);
        assert_int_equal(j->reference_disturbed, rows[i].reference);
        assert_int_equal(j->disturbed, rows[i].run);
        char reason[128];
        snprintf(reason, sizeof reason, "most launches of %s were disturbed", rows[i].reason);
        assert_string_equal(j->reason, rows[i].reason[0] ? reason : "");
        compare_free(&c);
    }
}

/* In a ratio, a launch counts as disturbed if its partner was. */
static void a_disturbed_peer_disturbs_the_ratio(void **state)
{
    const struct folders *f = *state;
    write_disturbed_run(f->a, "aaaa", "bbbb", 1, 5);
    write_file(f->a, "summary.csv", summary_names, "aaaa,ok,,bbbb,,\nbbbb,ok,,,,\n");
    struct comparison c = compared_two(f->a, f->a, "peer_ratio");
    assert_int_equal(c.sides[0].points[0].n, 6);
    assert_int_equal(c.sides[0].points[0].disturbed, 5);
    compare_free(&c);
}

static void every_format_tells_of_disturbed_launches(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_disturbed_run(f->b, "aaaa", "bbbb", 1.2, 4);
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", "0 faster, 0 slower, 1 same, 1 undecided of 2 points.");
    assert_output(&c, "text", "6, 4 disturbed");
    assert_output(&c, "text", ": 4 of 6 at ranks=2");
    assert_output(&c, "text", "Undecided (most launches of the run were disturbed): ");
    assert_output(&c, "csv", ",reference_disturbed,disturbed,clock_ratio\n");
    assert_output(&c, "csv", ",0,4,\n");
    assert_output(&c, "junit", "failures=\"0\" errors=\"0\" skipped=\"1\"");
    assert_output(&c, "junit", "most launches of the run were disturbed");
    compare_free(&c);
}

/* Writes two runs of a point; the second differs only by a clock rate a quarter slower. */
static void write_clocked_runs(const struct folders *f, const char *machine)
{
    static const char names[] = "launch,point,label,run,block,status,step_ms,global_batch,wall_s,"
                                "work_before_us,work_after_us\n";
    const double factors[] = {1, 1.25};
    char raw[4096], manifest[256];
    for (int side = 0; side < 2; side++) {
        const char *folder = side == 0 ? f->a : f->b;
        size_t used = 0;
        for (int block = 0; block < 12; block++)
            used += (size_t)snprintf(raw + used, sizeof raw - used,
                                     "x,aaaa,ranks=1,time,%d,ok,%.17g,100,1,%.17g,%.17g\n", block,
                                     factors[side] * (10 + 0.01 * block), factors[side] * 19,
                                     factors[side] * 21);
        snprintf(manifest, sizeof manifest,
                 "{\"identity\": \"x\", \"facts\": {\"machine\": \"%s\"}}",
                 side == 0 ? "one" : machine);
        write_file(folder, "summary.csv", summary_names, "aaaa,ok,aaaa,,1,1\n");
        write_file(folder, "raw.csv", names, raw);
        write_file(folder, "manifest.json", manifest, "");
    }
}

static void a_slower_clock_is_told_and_left_out(void **state)
{
    const struct folders *f = *state;
    struct error e = {.status = OK};
    write_clocked_runs(f, "one");
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", "1 same");
    assert_output(&c, "text", "took 25.0 % longer in");
    assert_output(&c, "text", "converted to the reference's clock rate");
    assert_output(&c, "csv", ",1.25\n");
    assert_true(fabs(compare_cell(&c, 0, 1)->judged.reference - 10.055) < 1e-9);
    assert_true(fabs(compare_cell(&c, 0, 1)->judged.median - 10.055) < 1e-9);
    compare_free(&c);
    c = compared_two(f->a, f->b, "images_per_s");
    assert_output(&c, "text", "1 same");
    compare_free(&c);
    assert_int_equal(
        compare_asked(&c, f->a, f->b, (struct compare_request){.as_measured = true}, &e), OK);
    assert_output(&c, "text", "1 slower");
    assert_output(&c, "text", "took 25.0 % longer in");
    assert_true(fabs(compare_cell(&c, 0, 1)->judged.median - 1.25 * 10.055) < 1e-9);
    compare_free(&c);
}

static void clocks_of_other_hardware_do_not_count(void **state)
{
    const struct folders *f = *state;
    write_clocked_runs(f, "another");
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", "1 slower");
    assert_output(&c, "text", "ran on different hardware");
    compare_free(&c);
    write_file(f->b, "manifest.json", "", "");
    c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", "has no manifest with its class of hardware");
    compare_free(&c);
    write_run(f->b, "aaaa", "bbbb", 1);
    c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", "not every launch of ");
    compare_free(&c);
}

static void unmatched_points_are_listed(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "aaaa", "bbbb", 1);
    write_file(f->b, "summary.csv", summary_names, "aaaa,ok,aaaa,,1,1\ndddd,skipped,,,,\n");
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_output(&c, "text", ": ranks=2 \"<a&b>\".");
    assert_output(&c, "text", ": dddd.");
    assert_output(&c, "csv", "the run does not have this point");
    assert_output(&c, "csv", "the reference does not have this point");
    assert_output(&c, "junit", "<skipped message=");
    compare_free(&c);
}

/* All launches of a point failed in the run. */
static void points_that_lost_their_values_are_told(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "aaaa", "bbbb", 1);
    write_file(f->b, "raw.csv", raw_names,
               "x,aaaa,ranks=1,time,0,ok,20,100,1,,50,\nx,aaaa,ranks=1,time,1,ok,20,100,1,,50,\n"
               "x,bbbb,ranks=2,time,0,failed,,100,1,,,\n");
    write_file(f->b, "summary.csv", summary_names, "aaaa,ok,aaaa,,1,1\nbbbb,failed,aaaa,,,\n");
    struct comparison c = compared_two(f->a, f->b, "step_ms");
    assert_int_equal(c.lost, 1);
    assert_int_equal(c.failed, 1);
    assert_output(&c, "text", "No value in ");
    assert_output(&c, "text", " has one: ranks=2 \"<a&b>\".\n");
    assert_output(&c, "junit", "<failure type=\"failed\"");
    assert_output(&c, "junit", "has no value of step_ms: status failed");
    compare_free(&c);
    c = compared_two(f->b, f->a, "step_ms");
    assert_int_equal(c.lost, 0);
    compare_free(&c);
}

static void assert_refused(const char *a, const char *b, const char *quantity, enum status status,
                           const char *text)
{
    struct comparison c;
    struct error e = {.status = OK};
    assert_int_equal(compare_two(&c, a, b, quantity, &e), status);
    if (strstr(e.text, text) == NULL)
        fail_msg("'%s' lacks '%s'", e.text, text);
    compare_free(&c);
}

static void bad_input_is_refused(void **state)
{
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_run(f->b, "cccc", "dddd", 1);
    assert_refused(f->a, "/nowhere/at/all", "step_ms", ERR_ARGUMENT, "is not a run");
    assert_refused(f->a, f->a, "step_m", ERR_ARGUMENT, "nearest 'step_ms'");
    assert_refused(f->a, f->a, "test_acc_pct", ERR_UNAVAILABLE, "nothing to compare");
    assert_refused(f->a, f->a, "peer_ratio", ERR_UNAVAILABLE, "nothing to compare");
    write_file(f->b, "raw.csv", raw_names, "x,aaaa,ranks=1,time,0,ok,zwölf,100,1,,50,\n");
    assert_refused(f->a, f->b, "step_ms", ERR_DATA, "zwölf");
    write_file(f->b, "raw.csv", "", "launch,point\n");
    assert_refused(f->a, f->b, "step_ms", ERR_DATA, "label");
    write_file(f->b, "summary.csv", "", "a,b\n");
    assert_refused(f->a, f->b, "step_ms", ERR_DATA, "point");
}

/* ---- Conditions ---- */

static enum status check_one(struct checking *c, const char *folder, const char *condition,
                             struct error *e)
{
    const struct check_request request = {.run = folder,
                                          .conditions = &condition,
                                          .n_conditions = 1,
                                          .out = "/nowhere",
                                          .home = "/nowhere"};
    return check_run(c, &request, e);
}

/* Writes a run: speedup of b is 1.9 [1.8, 2.0], its step_ms_median 10 [9, 11]. The base a was
 * measured once; c failed, d was skipped. */
static void write_checked(const char *folder)
{
    write_run(folder, "aaaa", "bbbb", 1);
    write_file(folder, "summary.csv",
               "point,status,reason,flags,base_point,strategy,ranks,speedup,speedup_lo,speedup_hi,"
               "step_ms_median,step_ms_lo,step_ms_hi,launches,comm_pct,calls\n",
               "aaaa,ok,,,aaaa,where,1,1,,,20,,,1,5,8\n"
               "bbbb,unverified,,,aaaa,ring,2,1.9,1.8,2.0,10,9,11,2,5,8\n"
               "cccc,failed,signal 11,,aaaa,ring,3,,,,,,,0,,\n"
               "dddd,skipped,3 cores,,aaaa,ring,4,,,,,,,0,,\n");
    write_file(folder, "raw.csv", raw_names,
               "x,aaaa,ranks=1,time,0,ok,20,100,1,,50,\nx,bbbb,ranks=2,time,0,ok,10,100,1,,50,\n"
               "x,bbbb,ranks=2,time,1,ok,10,100,1,,50,\n"
               "x,cccc,ranks=3 ring,time,0,failed,,100,1,,50,\n");
}

static void conditions_hold_over_whole_intervals(void **state)
{
    static const struct {
        const char *text;
        enum check_outcome outcome;
        size_t points;
    } rows[] = {
        {"speedup >= 1.8 where ranks=2", CHECK_HOLDS, 1},
        {"speedup >= 1 and ranks = 1 where ranks=1", CHECK_HOLDS, 1}, /* base to itself */
        {"speedup >= 1.85 where ranks=2", CHECK_UNDECIDED, 1},
        {"speedup > 2.0 where ranks = 2", CHECK_VIOLATED, 1},
        {"step_ms < 30 where ranks < 3", CHECK_UNDECIDED, 2}, /* one launch decides nothing */
        {"step_ms < 30 where ranks = 1", CHECK_UNDECIDED, 1},
        {"step_ms < 12 where ranks = 2", CHECK_HOLDS, 1},
        {"comm_pct < 9 where ranks = 1", CHECK_UNDECIDED, 1}, /* no row has an interval */
        {"comm_pct < 9 where ranks = 2", CHECK_HOLDS, 1},
        {"calls < 9 where ranks = 1", CHECK_HOLDS, 1}, /* counted, not timed */
        {"step_ms_median < 10.5 where ranks = 2", CHECK_UNDECIDED, 1},
        {"step_ms < 8 where ranks < 3", CHECK_VIOLATED, 2},
        {"step_ms < 30 where ranks = 3", CHECK_VIOLATED, 1}, /* the point failed */
        {"not step_ms > 30 where ranks = 3", CHECK_VIOLATED, 1},
        {"step_ms < 30 where ranks = 4", CHECK_VIOLATED, 1}, /* the point was skipped */
        {"step_ms < 30 or ranks = 3 where ranks = 3", CHECK_HOLDS, 1},
        {"step_ms < 12 where ranks > 1", CHECK_VIOLATED, 3},
        {"not step_ms < 8 where speedup > 1.85", CHECK_HOLDS, 1}, /* `where` uses the median */
        {"flags != busy where ranks < 3", CHECK_UNDECIDED, 2},    /* a text may be empty */
        {"flags != busy where ranks = 3", CHECK_VIOLATED, 1},
        {"status = ok", CHECK_VIOLATED, 4},
        {"status = ok where strategy = \"where\"", CHECK_HOLDS, 1},
        {"ranks = 1 where(strategy = where)", CHECK_HOLDS, 1},
    };
    const struct folders *f = *state;
    write_checked(f->a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct checking c;
        struct error e = {.status = OK};
        if (check_one(&c, f->a, rows[i].text, &e) != OK)
            fail_msg("%s: %s", rows[i].text, e.text);
        if (c.checks[0].outcome != rows[i].outcome || c.checks[0].points != rows[i].points)
            fail_msg("%s: %d at %zu", rows[i].text, c.checks[0].outcome, c.checks[0].points);
        check_free(&c);
    }
}

/* Scaling on shared cores is undecided, although the value satisfies the bound. A point that lacks
 * the value violates the condition. The message states the cause, also at a point whose base shares
 * cores. */
static void nothing_is_said_of_scaling_on_shared_cores(void **state)
{
    static const struct {
        const char *text;
        enum check_outcome outcome;
        const char *message;
    } rows[] = {
        {"speedup >= 1.8 where ranks=1", CHECK_HOLDS, ""},
        {"speedup >= 1.8 where ranks=2", CHECK_UNDECIDED, "speedup 1.900 (ranks share a core, "},
        {"efficiency >= 0.5 where ranks=2", CHECK_VIOLATED,
         "efficiency unknown (ranks share a core, so this is no scaling result. Give each rank a "
         "core, or use step_ms)"},
        {"step_ms < 12 where ranks=2", CHECK_HOLDS, ""},
        {"speedup >= 1.8 where ranks=4", CHECK_UNDECIDED, "(ranks share a core, "},
        {"images_per_s >= 1 where ranks=4", CHECK_UNDECIDED, "(measured once: no interval)"},
        {"overlap_share > 0.5 where ranks=4", CHECK_VIOLATED,
         "overlap_share unknown (empty at this point; `explain overlap_share` states when)"}};
    const struct folders *f = *state;
    write_run(f->a, "aaaa", "bbbb", 1);
    write_file(
        f->a, "summary.csv",
        "point,status,strategy,ranks,oversubscribed,base_point,speedup,speedup_lo,speedup_hi,"
        "efficiency,"
        "efficiency_lo,efficiency_hi,step_ms_median,step_ms_lo,step_ms_hi,images_per_s,"
        "images_per_s_lo,images_per_s_hi,overlap_share\n",
        "aaaa,ok,none,1,0,,1.9,1.9,1.9,1.9,1.9,1.9,20,,,,,,\n"
        "bbbb,ok,ring,2,1,,1.9,,,,,,10,9,11,,,,\ncccc,ok,ring,4,0,bbbb,1.9,,,,,,10,9,11,9,,,\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct checking c;
        struct error e = {.status = OK};
        char text[1000] = "";
        assert_int_equal(check_one(&c, f->a, rows[i].text, &e), OK);
        assert_int_equal(c.checks[0].outcome, rows[i].outcome);
        FILE *out = fmemopen(text, sizeof text, "w");
        check_write_text(out, &c, false);
        fclose(out);
        if (strstr(text, rows[i].message) == NULL)
            fail_msg("no '%s': %s", rows[i].message, text);
        check_free(&c);
    }
}

/* A failed point has its label from its launches, not from its row of summary.csv. */
static void a_failed_point_fails_by_its_name(void **state)
{
    static const char *const wanted[] = {
        "failures=\"1\" errors=\"0\" skipped=\"1\"", "violated at ranks=3 ring: step_ms unknown",
        "(failed: signal 11)", "<skipped message=\"undecided at ranks=1: step_ms 20",
        "(measured once: no interval)"};
    static const char *const conditions[] = {"step_ms < 30 where ranks = 3",
                                             "step_ms < 30 where ranks = 1"};
    const struct folders *f = *state;
    const struct check_request request = {.run = f->a,
                                          .conditions = conditions,
                                          .n_conditions = 2,
                                          .out = "/nowhere",
                                          .home = "/nowhere"};
    struct checking c;
    struct error e = {.status = OK};
    char *text = NULL;
    size_t size = 0;
    write_checked(f->a);
    assert_int_equal(check_run(&c, &request, &e), OK);
    FILE *out = open_memstream(&text, &size);
    check_write_junit(out, &c, false);
    fclose(out);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(text, wanted[i]) == NULL)
            fail_msg("no '%s':\n%s", wanted[i], text);
    free(text);
    check_free(&c);
}

/* Metric time_ms is 5 to 10 in six launches of a, and 7 in one launch of b. */
static void metrics_are_checked_by_their_launches(void **state)
{
    static const struct {
        const char *text;
        enum check_outcome outcome;
    } rows[] = {{"time_ms < 11 where ranks = 1", CHECK_HOLDS},
                {"time_ms < 8 where ranks = 1", CHECK_UNDECIDED},
                {"time_ms < 4 where ranks = 1", CHECK_VIOLATED},
                {"time_ms < 11 where ranks = 2", CHECK_UNDECIDED},
                {"time_ms < 11 where ranks = 3", CHECK_VIOLATED},
                {"ranks = 1 where time_ms > 7", CHECK_HOLDS}};
    const struct folders *f = *state;
    char metrics[1024], raw[2048];
    size_t used = 0, room = 0;
    write_checked(f->a);
    for (int i = 0; i < 7; i++) {
        const char *point = i < 6 ? "aaaa" : "bbbb";
        used += (size_t)snprintf(metrics + used, sizeof metrics - used, "%s,l%d,time_ms,%d\n",
                                 point, i, i < 6 ? 5 + i : 7);
        room += (size_t)snprintf(raw + room, sizeof raw - room, "l%d,%s,x,time,%d,ok,1,1,1,,,\n", i,
                                 point, i);
    }
    snprintf(metrics + used, sizeof metrics - used, "aaaa,run,time_ms,900\n"); /* an accuracy run */
    write_file(f->a, "metrics.csv", "point,launch,metric,value\n", metrics);
    snprintf(raw + room, sizeof raw - room, "l9,bbbb,x,time,9,ok,1,1,1,,,\n"); /* no metric */
    write_file(f->a, "raw.csv", raw_names, raw);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct checking c;
        struct error e = {.status = OK};
        if (check_one(&c, f->a, rows[i].text, &e) != OK)
            fail_msg("%s: %s", rows[i].text, e.text);
        if (c.checks[0].outcome != rows[i].outcome)
            fail_msg("%s: %d", rows[i].text, c.checks[0].outcome);
        check_free(&c);
    }
}

static void conditions_that_mean_nothing_are_refused(void **state)
{
    static const struct {
        const char *text;
        enum status status;
        int column;
    } rows[] = {
        {"speedup >> 1", ERR_ARGUMENT, 10},
        {"speedup > 1 where", ERR_ARGUMENT, 18},
        {"speedup > 1 where ranks", ERR_ARGUMENT, 24},
        {"where ranks = 1", ERR_ARGUMENT, 1},
        {"spedup > 1", ERR_ARGUMENT, 0},
        {"speedup > 1 where ranks = 7", ERR_UNAVAILABLE, 0},
    };
    const struct folders *f = *state;
    write_checked(f->a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct checking c;
        struct error e = {.status = OK};
        enum status status = check_one(&c, f->a, rows[i].text, &e);
        if (status != rows[i].status || (rows[i].column > 0 && e.column != rows[i].column))
            fail_msg("%s: %d at column %d: %s", rows[i].text, status, e.column, e.text);
        check_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_compare_by_their_tables, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(ratios_pair_by_block, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(points_match_by_label_where_identities_differ, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(every_format_tells_and_escapes, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(most_launches_disturbed_leave_a_point_undecided,
                                        make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(a_disturbed_peer_disturbs_the_ratio, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(every_format_tells_of_disturbed_launches, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(a_slower_clock_is_told_and_left_out, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(clocks_of_other_hardware_do_not_count, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(unmatched_points_are_listed, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(points_that_lost_their_values_are_told, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(bad_input_is_refused, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(conditions_hold_over_whole_intervals, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(nothing_is_said_of_scaling_on_shared_cores, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(a_failed_point_fails_by_its_name, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(metrics_are_checked_by_their_launches, make_folders,
                                        remove_folders),
        cmocka_unit_test_setup_teardown(conditions_that_mean_nothing_are_refused, make_folders,
                                        remove_folders),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
