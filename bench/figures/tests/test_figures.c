/* Figures of synthetic runs: their texts, reproducible files, failures. Their appearance must be
 * checked by eye. */
#include "bench/figures/tests/drawn.h"

#include "bench/figures/gnuplot.h"
#include "bench/spec/matrix.h"

static void figures_describe_the_measurement(void **state)
{
    static const char *const common[] = {"compute only (none)",
                                         ">allreduce<",
                                         ">All skipped at 8 ranks; allreduce failed at 4.<",
                                         "ranks (MPI processes)",
                                         "lenet_21k on mnist (real data)",
                                         "95 % intervals",
                                         NULL};
    static const char *const text[] = {"lenet_21k (21,840 parameters) on mnist (real data)",
                                       "whiskers: 95 % interval.", "100.2 [100.0, 100.5] ms", NULL};
    static const char *const time[] = {"time per step (ms)", NULL};
    static const char *const speedup[] = {"speed-up over the base", "ideal, from the base", NULL};
    static const char *const efficiency[] = {"parallel efficiency (%)", NULL};
    struct fake_run run;
    fill(&run);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", common);
    assert_says(run.dir, "speedup.svg", common);
    assert_says(run.dir, "efficiency.svg", common);
    assert_says(run.dir, "time.txt", text);
    assert_says(run.dir, "time.svg", time);
    assert_says(run.dir, "speedup.svg", speedup);
    assert_says(run.dir, "efficiency.svg", efficiency);
    summary_free(&s);
    fake_close(&run);
}

/* Figures show a title from SET, but not the spec's title. */
static void titles_of_set_are_drawn(void **state)
{
    const char *const origins[] = {"spec.yaml", words_files[WORDS_SET]};
    struct fake_run run;
    struct error e;
    size_t size;
    fill(&run);
    struct summary s = summarise(&run);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(config_set(&run.spec.config, option_get(OPT_TITLE), "Of this page",
                                    mark_in(origins[i], 1, 1), &e),
                         OK);
        draw(&s, run.dir);
        char *svg = picture(run.dir, "time.svg", &size);
        assert_true((strstr(svg, ">Of this page<") != NULL) == (i == 1));
        free(svg);
    }
    summary_free(&s);
    fake_close(&run);
}

static void pictures_repeat_byte_by_byte(void **state)
{
    static const char *const names[] = {"time.svg",    "time.png",       "speedup.svg",
                                        "speedup.png", "efficiency.svg", "efficiency.png"};
    enum { PICTURES = sizeof names / sizeof names[0] };
    char *first[PICTURES];
    size_t sizes[PICTURES];
    struct fake_run run;
    fill(&run);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    for (int i = 0; i < PICTURES; i++)
        first[i] = picture(run.dir, names[i], &sizes[i]);
    draw(&s, run.dir);
    for (int i = 0; i < PICTURES; i++) {
        size_t size;
        char *again = picture(run.dir, names[i], &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(again, first[i], size);
        if (strstr(names[i], ".png"))
            assert_memory_equal(again, "\x89PNG\r\n\x1a\n", 8);
        free(again);
        free(first[i]);
    }
    summary_free(&s);
    fake_close(&run);
}

/* Names reach gnuplot unchanged: no shell, no command substitution, no escape from the quotes. */
static void names_are_not_interpreted(void **state)
{
    char dir[128], trap[128];
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    snprintf(trap, sizeof trap, "%s/trap", run.dir);
    snprintf(dir, sizeof dir, "%s/it's `touch trap` @x \"$(touch trap)\"", run.dir);
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(summary_write(&s, dir, &e), OK);
    draw(&s, dir);
    assert_says(dir, "time.svg", (const char *const[]){"time per step (ms)", NULL});
    assert_int_not_equal(access(trap, F_OK), 0);
    assert_int_not_equal(access("trap", F_OK), 0);
    summary_free(&s);
    fake_close(&run);
}

static void texts_arrive_unchanged(void **state)
{
    static const char *const texts[] = {
        "'killed'", "it's", "''", "", "a `b` @c $d \"e\" \\n %g;", "'", "it's @c", "\"'\" @c"};
    char dir[] = "/tmp/gnuplot.XXXXXX", script[64], written[64], *definitions = NULL;
    assert_non_null(mkdtemp(dir));
    snprintf(script, sizeof script, "%s/print.gp", dir);
    snprintf(written, sizeof written, "%s/text", dir);
    fake_write(script, "set print file\nprint text\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error e = {.status = OK};
        size_t size, length = strlen(texts[i]);
        FILE *out = open_memstream(&definitions, &size);
        gnuplot_define_text(out, "file", written);
        gnuplot_define_text(out, "text", texts[i]);
        assert_int_equal(fclose(out), 0);
        if (gnuplot_run(definitions, script, &e) != OK)
            fail_msg("%s: %s", texts[i], e.text);
        char *text = fake_read(written);
        assert_memory_equal(text, texts[i], length);
        assert_string_equal(text + length, "\n");
        free(text);
        free(definitions);
    }
    fake_remove_folder(dir);
}

/* A campaign of every figure in which every point failed or has no accuracy: each figure states
 * that, and none prevents the others. */
static void missing_values_prevent_no_figure(void **state)
{
    static const char *const all[] = {"time",     "breakdown", "overlap",    "bars",
                                      "accuracy", "epochs",    "epoch_time", "total_time",
                                      "speedup",  "efficiency"};
    char spec[1024], name[64];
    struct fake_run run;
    snprintf(spec, sizeof spec,
             "%smeasure: {replay: 1, accuracy: {seeds: [1]}}\nbars: test_loss\nfigures: [time, "
             "breakdown, "
             "overlap, bars, accuracy, epochs, epoch_time, total_time, speedup, efficiency]\n",
             spec_text);
    fake_open(&run, spec);
    fake_fail(&run, 1, "none", LAUNCH_FAILED, "signal 9");
    fake_fail(&run, 2, "allreduce", LAUNCH_FAILED, "signal 9");
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *says = i < 3 ? "no timed launch has a value" : "no accuracy run has a value";
        if (i == 0 || i == 1 || i > 7)
            says = "no point was measured";
        snprintf(name, sizeof name, "%s.svg", all[i]);
        assert_says(run.dir, name, (const char *const[]){says, NULL});
    }
    summary_free(&s);
    fake_close(&run);
}

static void an_accuracy_without_numbers_leaves_the_loss(void **state)
{
    char path[128];
    size_t size;
    struct fake_run run;
    struct error e = {.status = OK};
    fake_open(&run, "name: blind\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 1\n"
                    "measure: {accuracy: {seeds: [1]}}\nfigures: [accuracy, epochs, total_time]\n");
    fake_add(&run, &(struct fake_launch){
                       .ranks = 1, .strategy = "allreduce", .seed = 1, .test_acc_pct = 97});
    struct summary s = summarise(&run);
    snprintf(path, sizeof path, "%s/epochs.csv", run.dir);
    fake_edit(path, ",97,,,,,\n", ",,,,,,\n");
    assert_int_equal(figures_draw(&(struct figures_run){&s, run.dir, NULL}, 1, run.dir, "plots",
                                  FIGURES_PICTURES, &e),
                     OK);
    assert_says(run.dir, "epochs.svg", (const char *const[]){"no test accuracy", NULL});
    char *svg = picture(run.dir, "epochs.svg", &size);
    assert_null(strstr(svg, "no training loss"));
    free(svg);
    free(picture(run.dir, "total_time.svg", &size));
    summary_free(&s);
    fake_close(&run);
}

static void a_figure_without_measurements_is_drawn(void **state)
{
    static const char *const texts[] = {"no point was measured", ">All skipped at ", NULL};
    struct fake_run run;
    fake_open(&run, spec_text);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", texts);
    assert_says(run.dir, "speedup.svg", texts);
    assert_says(run.dir, "efficiency.svg", texts);
    summary_free(&s);
    fake_close(&run);
}

static void a_failed_base_leaves_the_times(void **state)
{
    struct fake_run run;
    fake_open(&run, spec_text);
    fake_fail(&run, 1, "none", LAUNCH_TIMEOUT, "more than 10min");
    add(&run, 2, "allreduce", 55);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "speedup.svg", (const char *const[]){"the base was not measured", NULL});
    size_t size;
    char *svg = picture(run.dir, "time.svg", &size);
    assert_null(strstr(svg, "no point was measured"));
    free(svg);
    summary_free(&s);
    fake_close(&run);
}

/* Draws with PATH set to `dir`. */
static enum status draw_by_its_programs(const struct summary *s, const char *dir, struct error *e)
{
    char *path = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", dir, 1), 0);
    enum status status =
        figures_draw(&(struct figures_run){s, dir, NULL}, 1, dir, "plots", FIGURES_PICTURES, e);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    return status;
}

static void a_missing_gnuplot_is_named(void **state)
{
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    assert_int_equal(draw_by_its_programs(&s, run.dir, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "apt install gnuplot"));
    summary_free(&s);
    fake_close(&run);
}

/* A failing script is reported with gnuplot's message. The old picture stays, and the other
 * figures are drawn. */
static void a_failing_script_is_named(void **state)
{
    char script[128];
    size_t before, after;
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    free(picture(run.dir, "time.svg", &before));
    snprintf(script, sizeof script, "%s/time.gp", run.dir);
    fake_write(script, "set terminal svg\nset output out.'.svg'\nplot nonsense(x)\n");
    char other[128];
    snprintf(other, sizeof other, "%s/speedup.gp", run.dir);
    fake_write(other, "do for [f in 'svg png'] {\n    set print out.'.'.f\n    print 'drawn'\n}\n");
    assert_int_equal(figures_draw(&(struct figures_run){&s, run.dir, NULL}, 1, run.dir, run.dir,
                                  FIGURES_PICTURES, &e),
                     ERR_SYSTEM);
    assert_string_equal(e.file, script);
    assert_non_null(strstr(e.text, "nonsense"));
    free(picture(run.dir, "time.svg", &after));
    assert_int_equal(before, after);
    assert_says(run.dir, "speedup.svg", (const char *const[]){"drawn", NULL});
    assert_int_equal(fake_count(run.dir, ".part"), 0);
    summary_free(&s);
    fake_close(&run);
}

/* Without a message, the error states how gnuplot ended. */
static void a_gnuplot_that_is_killed_is_named(void **state)
{
    char program[128];
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    snprintf(program, sizeof program, "%s/gnuplot", run.dir);
    fake_write(program, "#!/bin/sh\nkill -9 $$\n");
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(draw_by_its_programs(&s, run.dir, &e), ERR_SYSTEM);
    assert_non_null(strstr(e.text, "gnuplot failed: killed by signal 9"));
    summary_free(&s);
    fake_close(&run);
}

#define WARNS                                                                                      \
    "echo '\"/a/folder/plots/line.gp\" line 58: warning: Skipping data file with no valid "        \
    "points' >&2\n"

/* Warnings and the command repeated by gnuplot are left out of the message; a path stays whole. */
static void one_message_of_gnuplot_is_kept(void **state)
{
    static const char *const said[][2] = {
        {WARNS WARNS WARNS WARNS WARNS WARNS "printf '\n(process:1): Error creating thread\n' >&2",
         "gnuplot failed: (process:1): Error creating thread"},
        {WARNS
         "printf 'plot f(x)\n   ^\n\"/a/b c/x.gp\" line 3: cannot open\nsystem error: full\n' >&2",
         "gnuplot failed: '/a/b c/x.gp' line 3: cannot open; system error: full"},
        {WARNS, "gnuplot failed: exit status 1"},
    };
    char program[128], script[2048];
    struct fake_run run;
    fill(&run);
    struct summary s = summarise(&run);
    snprintf(program, sizeof program, "%s/gnuplot", run.dir);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct error e = {.status = OK};
        snprintf(script, sizeof script, "#!/bin/sh\n%s\nexit 1\n", said[i][0]);
        fake_write(program, script);
        assert_int_equal(chmod(program, 0755), 0);
        assert_int_equal(draw_by_its_programs(&s, run.dir, &e), ERR_SYSTEM);
        assert_string_equal(e.text, said[i][1]);
    }
    summary_free(&s);
    fake_close(&run);
}

static size_t rows_of(const char *dir, const char *name, const char *part)
{
    size_t size, rows = 0;
    char *text = picture(dir, name, &size), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        rows += strstr(line, part) != NULL;
    free(text);
    return rows;
}

/* Launches shared by two cases are in raw.csv once, under the first case; losses are listed for
 * each. */
static void cases_share_launches(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: twins\nmodel: lenet_21k\nscaling: strong\ntrain: {global_batch: 64}\n"
                    "sync: {strategy: allreduce}\n"
                    "figures:\n"
                    "  - {kind: line, name: waits, y: wait_ms, x: ranks, series: case}\n"
                    "  - {kind: line, name: second, y: wait_ms, x: block, where: case = second}\n"
                    "  - {kind: line, name: lost, y: lost_pct, x: ranks, series: case}\n"
                    "cases: [{label: first, matrix: {ranks: [1, 2]}},\n"
                    "        {label: second, matrix: {ranks: [1, 2, 4]}}]\n");
    add(&run, 1, "allreduce", 100);
    add(&run, 2, "allreduce", 52);
    add(&run, 4, "allreduce", 27);
    struct summary s = summarise(&run);
    assert_int_equal(s.points[3].point->twin, 1);
    draw(&s, run.dir);
    assert_int_equal(rows_of(run.dir, "series_waits.csv", "first"), 2);
    assert_int_equal(rows_of(run.dir, "series_waits.csv", "second"), 3);
    assert_int_equal(rows_of(run.dir, "series_second.csv", "second"), 18);
    assert_int_equal(rows_of(run.dir, "series_lost.csv", "first"), 1);
    assert_int_equal(rows_of(run.dir, "series_lost.csv", "second"), 2);
    assert_int_equal(rows_of(run.dir, "series_lost.csv", ",2,1,4.0669"), 2); /* x, n, value */
    summary_free(&s);
    fake_close(&run);
}

/* Facts that no number of the figure shows: other programs' load during a launch, a flaw that
 * the spec requests. */
static void captions_state_flaws_and_disturbed_launches(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: flaw\nmodel: lenet_21k\ntrain: {global_batch: 64}\nfigures: [time]\n"
                    "cases: [{label: sound, ranks: 2},\n"
                    "        {label: flawed, ranks: 2, train.broadcast_init: false}]\n");
    add(&run, 2, "allreduce", 100);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_int_equal(rows_of(run.dir, "time.txt", "disturbed"), 0);
    assert_int_equal(rows_of(run.dir, "time.txt", "By design"), 0);
    s.points[0].noise.disturbed = 1;
    snprintf(s.points[1].flags, sizeof s.points[1].flags, "ci_not_met by_design");
    draw(&s, run.dir);
    assert_says(run.dir, "time.txt",
                (const char *const[]){
                    " 1 of 6 launches disturbed.",
                    " By design weights differ between ranks (train.broadcast_init: false): flawed",
                    NULL});
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_describe_the_measurement),
        cmocka_unit_test(titles_of_set_are_drawn),
        cmocka_unit_test(pictures_repeat_byte_by_byte),
        cmocka_unit_test(names_are_not_interpreted),
        cmocka_unit_test(texts_arrive_unchanged),
        cmocka_unit_test(missing_values_prevent_no_figure),
        cmocka_unit_test(an_accuracy_without_numbers_leaves_the_loss),
        cmocka_unit_test(a_figure_without_measurements_is_drawn),
        cmocka_unit_test(a_failed_base_leaves_the_times),
        cmocka_unit_test(a_missing_gnuplot_is_named),
        cmocka_unit_test(a_gnuplot_that_is_killed_is_named),
        cmocka_unit_test(one_message_of_gnuplot_is_kept),
        cmocka_unit_test(a_failing_script_is_named),
        cmocka_unit_test(captions_state_flaws_and_disturbed_launches),
        cmocka_unit_test(cases_share_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
