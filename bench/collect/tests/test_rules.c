/* Breaks each rule alone: eleven of twelve rules are then met, and the broken one is named. */
#include "bench/collect/tests/collected.h"

#include "bench/collect/rules.h"

static const char manifest[] =
    "{\"command\":[\"scalebench\"],\"machine\":{\"host\":\"node23\",\"architecture\":\"x86_64\","
    "\"kernel\":\"6.1\",\"usable_cores\":2,\"machine_cores\":2,\"numa_nodes\":1},"
    "\"build\":{\"revision\":\"1a2b3c4 clean\",\"compiler\":\"GCC 12\"}}";

#define RULES_SPEC                                                                                 \
    "name: synthetic\n"                                                                            \
    "scaling: strong\n"                                                                            \
    "model: lenet_21k\n"                                                                           \
    "train: {optimizer: adam, lr: 1e-3, global_batch: 256}\n"                                      \
    "matrix:\n"                                                                                    \
    "  ranks: [1, 2]\n"                                                                            \
    "baseline: {ranks: 1, sync.strategy: none}\n"                                                  \
    "exclude: [\"ranks = 1\"]\n"                                                                   \
    "measure: {time: {launches: 1..12}}\n"

static void open_run(struct fake_run *run, const char *spec)
{
    char path[128];
    fake_open(run, spec);
    snprintf(path, sizeof path, "%s/manifest.json", run->dir);
    fake_write(path, manifest);
}

static void fill_run(struct fake_run *run, const char *spec)
{
    open_run(run, spec);
    add_blocks(run);
}

/* Asserts that only rule `broken` is not met, counting from 1; 0: none. */
static void assert_broken(const struct summary *s, size_t broken, const char *by)
{
    struct rule_result results[RULES];
    size_t met = rules_grade(results, s);
    for (size_t i = 0; i < RULES; i++)
        if ((results[i].grade == RULE_NOT_MET) != (i + 1 == broken))
            fail_msg("rule %zu %s: %s", i + 1, results[i].verdict, results[i].by);
    assert_int_equal(met, RULES - (broken > 0));
    if (broken > 0)
        assert_line(results[broken - 1].by, by);
}

static void a_whole_run_meets_all(void **state)
{
    struct fake_run run;
    fill_run(&run, RULES_SPEC);
    struct summary s = collect(&run);
    assert_int_equal(RULES, 12);
    assert_broken(&s, 0, "");
    char *text = print(&s);
    assert_line(text, "Rules of Hoefler and Belli: 12 of 12 met.\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* ---- Broken by the launches ---- */

static void rule_1_wants_a_base_with_a_time(void **state)
{
    struct fake_run run;
    open_run(&run, RULES_SPEC);
    for (int block = 0; block < 6; block++)
        fake_add(&run, &(struct fake_launch){.ranks = 2,
                                             .strategy = "allreduce",
                                             .block = block,
                                             .seed = 1,
                                             .step_ms = base_ms[block]});
    fake_fail(&run, 1, "none", LAUNCH_FAILED, "exit status 1");
    struct summary s = collect(&run);
    assert_broken(&s, 1, "has no time: failed");
    summary_free(&s);
    fake_close(&run);
}

/* One block with both points and 6 launches of each: medians have intervals, the ratio has none. */
static void rule_7_wants_pairs(void **state)
{
    struct fake_run run;
    open_run(&run, RULES_SPEC "place.oversubscribe: allow\n");
    add_block(&run, 0);
    for (int block = 1; block < 6; block++) {
        fake_add(&run,
                 &(struct fake_launch){
                     .ranks = 1, .strategy = "none", .block = block, .seed = 1, .step_ms = 100});
        fake_add(
            &run,
            &(struct fake_launch){
                .ranks = 2, .strategy = "allreduce", .block = block + 6, .seed = 1, .step_ms = 60});
    }
    struct summary s = collect(&run);
    assert_broken(&s, 7, "has 1 pair and no 95 % interval");
    char *text = print(&s);
    assert_line(text, "Each speed-up is the ratio of one block");
    free(text);
    /* ranks that share cores would have no interval with more pairs either */
    struct rule_result results[RULES];
    s.usable_cores = 1;
    rules_grade(results, &s);
    assert_int_equal(results[6].grade, RULE_NOT_APPLICABLE);
    summary_free(&s);
    fake_close(&run);
}

/* Launches of several blocks, each with four timed steps. */
static void rule_5_wants_launches(void **state)
{
    struct fake_run run;
    open_run(&run, RULES_SPEC);
    for (int block = 0; block < 5; block++)
        add_block(&run, block);
    struct summary s = collect(&run);
    assert_broken(&s, 5, "2 of 2 medians of step time without a 95 % interval");
    char *text = print(&s);
    assert_line(text, "Rules of Hoefler and Belli: 9 of 12 met, 2 not applicable; not met:\n  5 "
                      "Measured values have confidence intervals: 2 of 2 medians");
    assert_line(text, "To meet it: use measure.time.launches: 6..12");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* ---- Broken by the spec ---- */

struct breach {
    const char *spec;
    size_t rule;
    const char *by;
};

static void assert_breach(const struct breach *breach)
{
    struct fake_run run;
    fill_run(&run, breach->spec);
    struct summary s = collect(&run);
    assert_broken(&s, breach->rule, breach->by);
    summary_free(&s);
    fake_close(&run);
}

static void specs_break_rules(void **state)
{
    static const struct breach breaches[] = {
        {RULES_SPEC "data: {samples: 2000}\n", 2, "data.samples: 2000 leaves out images"},
        {RULES_SPEC "data: {samples: 2000}\ndiffers: [a thirtieth of the images suffices]\n", 0,
         ""},
        {RULES_SPEC "figures: [bars]\n", 11, "no figure shows an ideal line"},
        {RULES_SPEC "figures: [{kind: bars, model: true}]\n", 11, "no figure shows an ideal line"},
        {RULES_SPEC "figures: [speedup]\n", 0, ""},
    };
    for (size_t i = 0; i < sizeof breaches / sizeof *breaches; i++)
        assert_breach(&breaches[i]);
}

/* Computing alone is a bound, and is in the table. */
static void rule_12_wants_a_figure(void **state)
{
    struct fake_run run;
    fill_run(&run, strong_spec);
    for (int block = 0; block < 6; block++)
        fake_add(&run,
                 &(struct fake_launch){
                     .ranks = 2, .strategy = "none", .block = block, .seed = 1, .step_ms = 50});
    struct summary s = collect(&run);
    for (size_t i = 0; i < s.n; i++)
        if (s.points[i].cores > 2)
            snprintf(s.points[i].reason, sizeof s.points[i].reason, "2 cores");
    assert_broken(&s, 0, "");
    struct value *figures = &run.spec.config.values[OPT_FIGURES];
    size_t n = figures->n;
    figures->n = 0;
    assert_broken(&s, 12, "no figure shows the 3 points");
    figures->n = n;
    summary_free(&s);
    fake_close(&run);
}

/* ---- Broken by the tables ---- */

static void set_cell(const struct point_summary *p, enum column_id column, const char *text)
{
    free(p->cells[column]);
    p->cells[column] = strdup(text);
}

static void tables_break_rules(void **state)
{
    struct fake_run run;
    fill_run(&run, RULES_SPEC);
    struct summary s = collect(&run);
    struct point_summary *p = &s.points[1], kept = *p;
    s.usable_cores = 8;
    assert_broken(&s, 2, "2 of 8 usable cores are used, without a reason in `differs`");
    s.usable_cores = 2;
    p->rates.images_per_s.mid *= 1.01;
    assert_broken(&s, 3, "its images over its median time");
    *p = kept;
    p->scaling.pairs = 0;
    assert_broken(&s, 4, "has no number of pairs");
    *p = kept;
    p->step_ms.level = 0.95;
    assert_broken(&s, 6, "a level of 95 %, but order statistics of 6 launches have 96.875 %");
    *p = kept;
    set_cell(p, COLUMN_step_p95_ms, "");
    assert_broken(&s, 8, "has no step_p95_ms");
    set_cell(p, COLUMN_step_p95_ms, "70");
    set_cell(p, COLUMN_steps, "");
    assert_broken(&s, 10, "does not report its number of timed steps");
    set_cell(p, COLUMN_steps, "4");
    set_cell(p, COLUMN_bound, "");
    assert_broken(&s, 9, "was not read back");
    set_cell(p, COLUMN_bound, "0|1");
    strcpy(s.undocumented, "compiler");
    assert_broken(&s, 9, "manifest.json lacks compiler");
    s.undocumented[0] = '\0';
    assert_broken(&s, 0, "");
    summary_free(&s);
    fake_close(&run);
}

/* ---- Output ---- */

static void files_have_all_rules(void **state)
{
    struct fake_run run;
    fill_run(&run, RULES_SPEC "figures: [bars]\n");
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *rows = read_of(&run, "rules.csv"), *document = read_of(&run, "summary.md");
    assert_line(rows, "rule,title,grade,by,remedy\n1,");
    assert_line(rows, "\n11,Upper bounds of performance are shown,not met,");
    assert_line(rows, "\n12,");
    assert_line(document, "Rules of Hoefler and Belli (SC15): 11 of 12 met.\n");
    assert_line(document, "| 11 | Upper bounds of performance are shown | not met | ");
    free(rows);
    free(document);
    summary_free(&s);
    fake_close(&run);
}

/* ---- User programs ---- */

#define WHOLE_SPEC                                                                                 \
    "name: synthetic\nscaling: strong\n"                                                           \
    "workload: {command: [./pi]}\nmatrix: {ranks: [1, 2]}\n"                                       \
    "measure: {time: {launches: 1..30}}\n"

static void open_whole(struct fake_run *run, int launches)
{
    open_run(run, WHOLE_SPEC);
    for (int i = 0; i < launches; i++)
        for (int k = 0; k < 2; k++) {
            struct journal_launch *l = fake_journal(run, run->spec.points[k].id, RUN_TIME);
            l->block = i;
            l->wall_s = (4 + 0.01 * i) / (k + 1);
        }
}

/* A program without records can meet every rule that applies to it. */
static void whole_launches_meet_all(void **state)
{
    struct rule_result results[RULES];
    struct fake_run run;
    open_whole(&run, 20);
    struct summary s = collect(&run);
    assert_broken(&s, 0, "");
    rules_grade(results, &s);
    assert_int_equal(results[2].grade, RULE_NOT_APPLICABLE);
    assert_string_equal(results[4].by,
                        "2 medians of launch time, each with an interval of at least 95 %");
    assert_string_equal(results[7].by, "raw.csv has each time, of at least 20 launches per point");
    assert_line(results[8].by, "workload.command does not report it");
    assert_string_equal(results[9].by, "time of a launch of workload.command: from exec to exit; "
                                       "per point: median of 20 launches in random blocks");
    summary_free(&s);
    fake_close(&run);
}

static void whole_launches_have_a_tail(void **state)
{
    struct fake_run run;
    open_whole(&run, 19);
    struct summary s = collect(&run);
    assert_broken(&s, 8, "ranks=1 has 19 single times in all, but a tail needs 20");
    summary_free(&s);
    fake_close(&run);
}

/* Too few launches break one rule, the rule on intervals; others refer to it. */
static void few_launches_break_one_rule(void **state)
{
    struct rule_result results[RULES];
    struct fake_run run;
    open_whole(&run, 3);
    struct summary s = collect(&run);
    assert_broken(&s, 5, "2 of 2 medians of launch time without a 95 % interval");
    rules_grade(results, &s);
    assert_string_equal(results[5].by, "no interval is formed");
    assert_line(results[7].by, "see rule 5");
    assert_line(results[11].by, "medians without intervals, see rule 5, launches as dots");
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_run_meets_all),
        cmocka_unit_test(rule_1_wants_a_base_with_a_time),
        cmocka_unit_test(specs_break_rules),
        cmocka_unit_test(tables_break_rules),
        cmocka_unit_test(rule_5_wants_launches),
        cmocka_unit_test(rule_7_wants_pairs),
        cmocka_unit_test(rule_12_wants_a_figure),
        cmocka_unit_test(files_have_all_rules),
        cmocka_unit_test(whole_launches_meet_all),
        cmocka_unit_test(whole_launches_have_a_tail),
        cmocka_unit_test(few_launches_break_one_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
