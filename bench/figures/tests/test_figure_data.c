/* Data of figures before drawing: numbers, places, launches, errors. */
#include "bench/collect/tests/fake_run.h"

#include "bench/collect/columns.h"
#include "bench/collect/summary.h"
#include "bench/figures/caption.h"
#include "bench/figures/figure_define.h"
#include "bench/figures/figures.h"
#include "bench/figures/merge.h"

struct shown {
    struct fake_run run;
    struct summary s;
    struct figure_run of;
    struct figure_data d;
};

static void add(struct fake_run *run, long ranks, const char *strategy, double step_ms)
{
    for (int block = 0; block < 3; block++)
        fake_add(run, &(struct fake_launch){.ranks = ranks,
                                            .strategy = strategy,
                                            .block = block,
                                            .seed = 1,
                                            .step_ms = step_ms + block});
}

static void add_accuracy(struct fake_run *run, long ranks)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        fake_add(run, &(struct fake_launch){.ranks = ranks,
                                            .strategy = "allreduce",
                                            .epochs = 2,
                                            .seed = seed,
                                            .test_acc_pct = 90 + (double)seed});
}

static void summarise(struct fake_run *run, struct summary *s)
{
    struct error e = {.status = OK};
    if (summary_collect(s, &run->spec, run->dir, &run->journal, &e) != OK ||
        summary_write(s, run->dir, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
}

#define HEAD "name: data\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"

/* Opens a run of two strategies at two rank counts, three launches and seeds each, with the
 * single figure `figure`. */
static void open_shown(struct shown *shown, const char *figure)
{
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "matrix: {ranks: [1, 2], sync.strategy: [allreduce, ring]}\n"
                  "measure: {accuracy: {seeds: [1, 2, 3]}, steps_csv: true}\nfigures: [%s]\n",
             figure);
    fake_open(&shown->run, text);
    add(&shown->run, 1, "allreduce", 40);
    add(&shown->run, 2, "allreduce", 20);
    add(&shown->run, 1, "ring", 50);
    add(&shown->run, 2, "ring", 30);
    add_accuracy(&shown->run, 1);
    add_accuracy(&shown->run, 2);
    summarise(&shown->run, &shown->s);
}

static const struct figure_request *figure_of_spec(const struct shown *shown)
{
    return &shown->run.spec.config.values[OPT_FIGURES].figures[0];
}

static enum status read_figure(struct shown *shown, struct error *e)
{
    shown->of = (struct figure_run){shown->run.dir, 0, shown->s.n};
    return figure_data_read(&shown->d, figure_of_spec(shown), &shown->s, &shown->of, 1, e);
}

static void open_figure(struct shown *shown, const char *figure)
{
    struct error e = {.status = OK};
    open_shown(shown, figure);
    if (read_figure(shown, &e) != OK)
        fail_msg("%s: %s", figure, e.text);
}

static void close_shown(struct shown *shown)
{
    figure_data_free(&shown->d);
    summary_free(&shown->s);
    fake_close(&shown->run);
}

/* Returns the series file, the dots file or the script's definitions as text; the caller frees
 * it. */
enum written { SERIES, DOTS, DEFINITIONS };

static char *written(struct figure_data *d, enum written what)
{
    char *text = NULL;
    size_t size;
    struct error e = {.status = OK};
    const struct stage stage = {.dir = "/nowhere"};
    const struct pictures pictures = {.stage = &stage, .plots_dir = "plots"};
    FILE *out = open_memstream(&text, &size);
    enum status status = what == SERIES ? d->figure->shape->write(out, d, &e)
                         : what == DOTS ? dots_write(out, d, &e)
                                        : figure_define(out, d, &pictures, &e);
    assert_int_equal(fclose(out), 0);
    if (status != OK)
        fail_msg("%s", e.text);
    return text;
}

static void assert_holds(struct figure_data *d, enum written what, const char *const *texts)
{
    char *text = written(d, what);
    for (; *texts; texts++)
        if (strstr(text, *texts) == NULL)
            fail_msg("nothing says '%s':\n%s", *texts, text);
    free(text);
}

static size_t count_lines(struct figure_data *d, enum written what)
{
    size_t n = 0;
    char *text = written(d, what);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    free(text);
    return n;
}

/* Checks the error of a figure, before anything is run and when it is drawn. */
static void assert_refused(const char *figure, const char *wanted)
{
    struct shown shown = {0};
    struct error early = {.status = OK}, late = {.status = OK};
    open_shown(&shown, figure);
    assert_int_equal(figures_check(&shown.run.spec, &early), ERR_SPEC);
    assert_int_equal(read_figure(&shown, &late), ERR_SPEC);
    if (strstr(early.text, wanted) == NULL || early.line != 7)
        fail_msg("line %d: '%s' does not say '%s'", early.line, early.text, wanted);
    assert_string_equal(early.text, late.text);
    close_shown(&shown);
}

/* ---- Places ---- */

static void several_points_at_one_x_are_refused(void **state)
{
    assert_refused("{kind: line, y: step_ms, series: train.lr}",
                   "found 2 points at ranks = 1, with different values of sync.strategy. Use");
    assert_refused("{kind: time, series: train.lr}",
                   "with different values of sync.strategy. Use `series`");
    assert_refused(
        "{kind: line, y: step_ms, x: sync.strategy, series: train.lr, shape: bars}",
        "at sync.strategy = allreduce, with different values of ranks, ranks_per_node. Use");
}

static void several_points_at_one_epoch_are_refused(void **state)
{
    struct shown shown = {0};
    struct error e = {.status = OK};
    open_shown(&shown, "{kind: line, y: train_loss, x: epoch, series: sync.strategy}");
    assert_int_equal(read_figure(&shown, &e), ERR_SPEC);
    assert_non_null(strstr(e.text, "found 2 points at epoch = 1, with different values of ranks, "
                                   "ranks_per_node. Use `series`"));
    close_shown(&shown);
}

static void seeds_are_one_median(void **state)
{
    struct shown shown = {0};
    struct error e = {.status = OK};
    fake_open(&shown.run, HEAD "matrix: {ranks: [1], seed: [3, 4, 5]}\nmeasure.steps_csv: true\n"
                               "figures: [{kind: line, y: step_ms, series: sync.strategy}]\n");
    for (int seed = 3; seed <= 5; seed++)
        fake_add(&shown.run, &(struct fake_launch){.ranks = 1,
                                                   .strategy = "allreduce",
                                                   .seed = (uint64_t)seed,
                                                   .step_ms = 10 * seed});
    summarise(&shown.run, &shown.s);
    for (size_t i = 0; i < 3; i++) {
        free(shown.s.points[i].cells[COLUMN_step_ms_median]);
        shown.s.points[i].cells[COLUMN_step_ms_median] =
            strdup((const char *const[]){"30", "40", "50"}[i]);
    }
    assert_int_equal(read_figure(&shown, &e), OK);
    assert_holds(&shown.d, SERIES, (const char *const[]){",1,3,40,30,50,\n", NULL});
    assert_int_equal(count_lines(&shown.d, SERIES), 2);
    close_shown(&shown);
}

/* At one rank all three seeds reached the target after two epochs. At two ranks the third
 * diverged and has no row. */
static void a_diverged_seed_leaves_its_point_without_a_value(void **state)
{
    static const char target[] = "\"target_acc_pct\":90,";
    struct shown shown = {0};
    struct error e = {.status = OK};
    fake_open(&shown.run, HEAD "matrix: {ranks: [1, 2]}\nmeasure: {accuracy: {seeds: [1, 2, 3]}}\n"
                               "train.target_acc_pct: 90\n"
                               "figures: [{kind: line, y: to_target_epochs}]\n");
    for (long ranks = 1; ranks <= 2; ranks++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            bool diverged = ranks == 2 && seed == 3;
            fake_add(&shown.run,
                     &(struct fake_launch){.ranks = ranks,
                                           .strategy = "allreduce",
                                           .epochs = 2,
                                           .seed = seed,
                                           .test_acc_pct = diverged ? 10 : 90.5,
                                           .work = target,
                                           .memory = diverged ? "\"diverged_step\":7,"
                                                                "\"diverged\":\"loss is nan\","
                                                              : NULL});
        }
    summarise(&shown.run, &shown.s);
    assert_int_equal(read_figure(&shown, &e), OK);
    assert_holds(&shown.d, SERIES, (const char *const[]){"ranks=1,1,ok,,1,3,2,2,2,\n", NULL});
    assert_int_equal(count_lines(&shown.d, SERIES), 2); /* one row and the header */
    close_shown(&shown);
}

/* ---- Launches ---- */

static void curves_have_their_launches(void **state)
{
    struct shown shown = {0};
    open_figure(&shown, "{kind: line, y: [step_ms, images_per_s, test_acc_pct]}");
    assert_holds(&shown.d, DOTS,
                 (const char *const[]){"allreduce,2,2,step_ms,1,3,20\n", ",2,2,step_ms,3,3,22\n",
                                       ",2,2,images_per_s,1,3,3200\n", ",2,2,test_acc_pct,3,3,93\n",
                                       NULL});
    assert_int_equal(count_lines(&shown.d, DOTS), 1 + 12 + 12 + 6);
    close_shown(&shown);
}

static void epochs_have_their_runs(void **state)
{
    struct shown shown = {0};
    open_figure(&shown, "epochs");
    assert_true(dots_exist(&shown.d));
    assert_holds(&shown.d, DOTS,
                 (const char *const[]){",2,2,test_acc_pct,1,3,91\n", ",2,2,test_acc_pct,3,3,93\n",
                                       ",1,train_loss,2,3,", NULL});
    assert_int_equal(count_lines(&shown.d, DOTS), 1 + 2 * 2 * 2 * 3);
    close_shown(&shown);
}

/* ---- x ---- */

static void steps_are_an_axis(void **state)
{
    struct shown shown = {0};
    open_figure(&shown, "{kind: line, y: step_ms, x: step, where: sync.strategy = ring}");
    char *text = written(&shown.d, SERIES);
    assert_non_null(strstr(text, ",step,x,n,step_ms,"));
    assert_null(strstr(text, "allreduce"));
    assert_true(shown.d.table.n > 4);
    for (size_t i = 0; i < shown.d.table.n; i++)
        assert_int_equal(shown.d.table.rows[i].values[0].n, 3);
    free(text);
    close_shown(&shown);
}

/* Opens a run in which one rank trained well and two ranks diverged in the second timed step. */
static void open_diverged(struct shown *shown, const char *where)
{
    char text[512], path[128];
    snprintf(text, sizeof text,
             HEAD "matrix: {ranks: [1, 2]}\nmeasure: {steps_csv: true}\n"
                  "figures: [{kind: line, y: [loss, step_ms], x: step%s}]\n",
             where);
    fake_open(&shown->run, text);
    add(&shown->run, 1, "allreduce", 40);
    fake_add(&shown->run, &(struct fake_launch){.ranks = 2,
                                                .strategy = "allreduce",
                                                .seed = 1,
                                                .step_ms = 20,
                                                .memory = "\"diverged_step\":3,"
                                                          "\"diverged\":\"loss is nan\","});
    for (int i = 0; i < 2 * 5; i++) {
        snprintf(path, sizeof path, "%s/launch-3/rank.%d.jsonl", shown->run.dir, i % 2);
        fake_edit(path, "\"loss_sum\":1.5", i < 4 ? "\"loss_sum\":2.5" : "\"loss_sum\":\"nan\"");
    }
    summarise(&shown->run, &shown->s);
}

/* Steps of diverged launches are in no median, but do not prevent drawing. They are drawn if a
 * figure requests them, as far as their losses are numbers. */
static void steps_of_diverged_launches_are_drawn_on_request(void **state)
{
    static const char *const wheres[] = {"", ", where: status = diverged"};
    static const char *const shown_labels[] = {",ranks=1,1,ok,", ",ranks=2,2,diverged,"};
    for (size_t i = 0; i < 2; i++) {
        struct shown shown = {0};
        struct error e = {.status = OK};
        open_diverged(&shown, wheres[i]);
        if (read_figure(&shown, &e) != OK)
            fail_msg("%s", e.text);
        assert_holds(&shown.d, SERIES, (const char *const[]){shown_labels[i], NULL});
        char *text = written(&shown.d, SERIES);
        assert_null(strstr(text, shown_labels[1 - i]));
        assert_null(strstr(text, "NaN"));
        free(text);
        close_shown(&shown);
    }
}

static void cases_are_an_axis(void **state)
{
    struct shown shown = {0};
    struct error e = {.status = OK};
    fake_open(&shown.run, HEAD "cases:\n  - {label: naive, matrix: {ranks: [1, 2]}}\n"
                               "  - {label: better, sync.strategy: ring, matrix: {ranks: [1, 2]}}\n"
                               "figures: [{kind: line, y: step_ms, x: case}]\n");
    add(&shown.run, 1, "allreduce", 40);
    add(&shown.run, 2, "allreduce", 20);
    add(&shown.run, 1, "ring", 50);
    add(&shown.run, 2, "ring", 30);
    summarise(&shown.run, &shown.s);
    assert_int_equal(read_figure(&shown, &e), OK);
    assert_holds(&shown.d, SERIES,
                 (const char *const[]){"ranks 2,measured,", ",naive,1,3,21,20,22,",
                                       ",better,2,3,31,30,32,", NULL});
    assert_int_equal(shown.d.curves, 2);
    close_shown(&shown);
}

static void classes_are_side_by_side(void **state)
{
    struct shown shown = {0};
    open_figure(&shown, "{kind: classes, where: ranks = 2}");
    assert_holds(&shown.d, DEFINITIONS,
                 (const char *const[]){"shape_of='bars'", "x_name='class'",
                                       "column1_title='test accuracy (%)'", NULL});
    close_shown(&shown);
}

/* A unit follows a name once, and not if the name is the unit. */
static void axis_titles_have_name_and_unit(void **state)
{
    (void)state;
    static const struct {
        const char *key, *title;
    } axes[] = {{"nodes", "nodes"},
                {"train.epochs", "epochs"},
                {"ranks_per_node", "ranks per node"},
                {"place.threads_per_rank", "threads per rank"},
                {"measure.time.warmup_steps", "warmup (steps)"},
                {"train.global_batch", "global batch (images)"},
                {"train.momentum", "momentum"},
                {"sync.staleness", "staleness (steps)"},
                {"sync.cap_mib", "bucket cap (MiB)"},
                {"ranks", "ranks (MPI processes)"}};
    char title[QUANTITY_TITLE];
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        quantity_option_title(title, option_find(axes[i].key));
        assert_string_equal(title, axes[i].title);
    }
}

/* Titles come from quantities, otherwise from the column's option, otherwise from its name. */
static void columns_have_titles_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file, *title;
    } columns[] = {{"user_s", NULL, "user time of a rank (s)"},
                   {"poll_s", "raw.csv", "time a rank polls (s)"},
                   {"lr", "epochs.csv", "learning rate"},
                   {"global_batch", "epochs.csv", "global batch (images)"},
                   {"wait_ms", NULL, "wait (ms)"},
                   {"launches", NULL, "launches"}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char title[QUANTITY_TITLE];
        struct quantity q;
        assert_true(quantity_of_column(&q, title, columns[i].name, columns[i].file, NULL));
        assert_string_equal(title, columns[i].title);
    }
}

/* The interval belongs to the column: speedup_lo is not the interval of speedup_pairs. */
static void columns_have_their_own_intervals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum column_id lo, hi;
    } columns[] = {{"step_ms_median", COLUMN_step_ms_lo, COLUMN_step_ms_hi},
                   {"test_acc_pct", COLUMN_test_acc_lo, COLUMN_test_acc_hi},
                   {"karp_flatt", COLUMN_karp_flatt_lo, COLUMN_karp_flatt_hi},
                   {"to_target_s", COLUMN_to_target_s_lo, COLUMN_to_target_s_hi},
                   {"speedup_pairs", COLUMNS, COLUMNS},
                   {"test_acc_level", COLUMNS, COLUMNS},
                   {"step_ms_lo", COLUMNS, COLUMNS}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char title[QUANTITY_TITLE];
        struct quantity q;
        assert_true(quantity_of_column(&q, title, columns[i].name, "summary.csv", NULL));
        assert_int_equal(q.lo, columns[i].lo);
        assert_int_equal(q.hi, columns[i].hi);
    }
}

static void every_option_has_a_title(void **state)
{
    (void)state;
    char title[QUANTITY_TITLE], twice[64];
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        quantity_option_title(title, option);
        assert_int_not_equal(title[0], '\0');
        snprintf(twice, sizeof twice, "%.20s (%.20s)", option->unit, option->unit);
        assert_string_not_equal(title, twice);
    }
}

/* ---- Captions ---- */

/* Six launches, of which the peer has been present for four: the interval has the level of four. */
static void levels_of_ratios_follow_from_their_pairs(void **state)
{
    static const char *const says[] = {
        "Median of 4 paired ratios, each to the peer's launch of the "
        "same block, launches of 4 steps",
        "whiskers: 87.5 % interval (minimum to maximum)", NULL};
    struct shown shown = {0};
    char *caption = NULL;
    struct error e = {.status = OK};
    fake_open(&shown.run, HEAD "matrix: {ranks: [1], workload: [train_cnn, peer_torch]}\n"
                               "measure: {time: {launches: 6..6}}\n"
                               "figures: [{kind: line, y: peer_ratio}]\n");
    for (int i = 0; i < 10; i++)
        fake_add(&shown.run, &(struct fake_launch){.ranks = 1,
                                                   .strategy = "allreduce",
                                                   .workload = i < 6 ? "train_cnn" : "peer_torch",
                                                   .block = i < 6 ? i : i - 6,
                                                   .seed = 1,
                                                   .step_ms = 20 + i});
    summarise(&shown.run, &shown.s);
    assert_int_equal(read_figure(&shown, &e), OK);
    assert_int_equal(caption_make(&caption, &shown.d, true, &e), OK);
    for (const char *const *text = says; *text; text++)
        if (strstr(caption, *text) == NULL)
            fail_msg("'%s' does not say '%s'", caption, *text);
    free(caption);
    close_shown(&shown);
}

/* ---- Looks ---- */

static void unknown_parts_are_refused(void **state)
{
    assert_refused("{kind: breakdown, y: [forward, frwd]}",
                   "'frwd' is unknown; known: load forward backward pack");
}

/* ---- Kinds and runs ---- */

/* Measured and emulated points are in separate curves, whatever `series` contains. */
static void kinds_are_never_joined(void **state)
{
    struct shown shown = {0};
    struct error e = {.status = OK};
    fake_open(&shown.run, HEAD "ranks: 2\nmatrix: {site: [local, emulated], nodes: [1, 2]}\n"
                               "exclude: [nodes = 2 and site = local]\n"
                               "figures: [{kind: line, y: step_ms, x: nodes, series: train.lr}]\n");
    summarise(&shown.run, &shown.s);
    assert_int_equal(read_figure(&shown, &e), OK);
    for (size_t k = 0; k < shown.d.series.n; k++)
        for (size_t i = 1; i < shown.d.series.items[k].n; i++)
            assert_string_equal(
                shown.s.points[shown.d.series.items[k].points[i]].cells[COLUMN_kind],
                shown.s.points[shown.d.series.items[k].points[0]].cells[COLUMN_kind]);
    assert_int_equal(shown.d.series.n, 2);
    close_shown(&shown);
}

static void accuracy_is_never_replayed(void **state)
{
    static const struct {
        const char *figure;
        size_t curves;
        const char *name;
    } shown_as[] = {
        {"{kind: line, y: step_ms, x: train.lr, series: [sync.strategy]}", 2,
         "allreduce, replayed"},
        {"{kind: line, y: test_acc_pct, x: train.lr, series: [sync.strategy]}", 1, "allreduce"}};
    for (size_t i = 0; i < 2; i++) {
        struct shown shown = {0};
        struct error e = {.status = OK};
        char text[2048];
        snprintf(text, sizeof text,
                 "%sranks: 2\nmeasure.accuracy.seeds: [1]\ncompute.rate: 40\nzip: {compute: [real, "
                 "replay], train.lr: [0.1, 0.2]}\n"
                 "figures: [%s]\n",
                 HEAD, shown_as[i].figure);
        fake_open(&shown.run, text);
        summarise(&shown.run, &shown.s);
        if (read_figure(&shown, &e) != OK)
            fail_msg("%s", e.text);
        assert_int_equal(shown.d.series.n, shown_as[i].curves);
        assert_string_equal(shown.d.series.items[shown.d.series.n - 1].name, shown_as[i].name);
        close_shown(&shown);
    }
}

static void read_both(struct figure_data *d, struct merged *merged, struct shown *a,
                      struct shown *b)
{
    struct error e = {.status = OK};
    const struct figures_run runs[] = {{&a->s, a->run.dir, "old"}, {&b->s, b->run.dir, "new code"}};
    if (merge_runs(merged, runs, 2, &e) != OK ||
        figure_data_read(d, figure_of_spec(a), &merged->s, merged->runs, 2, &e) != OK)
        fail_msg("%s", e.text);
}

static void runs_are_chosen_by_name(void **state)
{
    static const char *const figures[] = {
        "{kind: line, y: step_ms, x: run}",
        "{kind: line, y: wait_ms, where: run = \"new code\" and ranks = 2}",
        "{kind: time, where: not run = old}"};
    for (size_t i = 0; i < 3; i++) {
        struct shown a = {0}, b = {0};
        struct merged merged;
        struct figure_data d;
        open_shown(&a, figures[i]);
        open_shown(&b, "time");
        read_both(&d, &merged, &a, &b);
        char *text = written(&d, SERIES);
        assert_non_null(strstr(text, "new code"));
        assert_true((strstr(text, "old") == NULL) == (i > 0));
        assert_int_equal(d.curves, i == 0 ? 4 : 2);
        free(text);
        figure_data_free(&d);
        merged_free(&merged);
        close_shown(&a);
        close_shown(&b);
    }
}

static void one_run_has_no_name(void **state)
{
    assert_refused("{kind: time, where: run = old}", "run");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_points_at_one_x_are_refused),
        cmocka_unit_test(several_points_at_one_epoch_are_refused),
        cmocka_unit_test(seeds_are_one_median),
        cmocka_unit_test(a_diverged_seed_leaves_its_point_without_a_value),
        cmocka_unit_test(curves_have_their_launches),
        cmocka_unit_test(epochs_have_their_runs),
        cmocka_unit_test(steps_are_an_axis),
        cmocka_unit_test(steps_of_diverged_launches_are_drawn_on_request),
        cmocka_unit_test(cases_are_an_axis),
        cmocka_unit_test(classes_are_side_by_side),
        cmocka_unit_test(axis_titles_have_name_and_unit),
        cmocka_unit_test(columns_have_titles_in_words),
        cmocka_unit_test(columns_have_their_own_intervals),
        cmocka_unit_test(every_option_has_a_title),
        cmocka_unit_test(levels_of_ratios_follow_from_their_pairs),
        cmocka_unit_test(unknown_parts_are_refused),
        cmocka_unit_test(kinds_are_never_joined),
        cmocka_unit_test(accuracy_is_never_replayed),
        cmocka_unit_test(runs_are_chosen_by_name),
        cmocka_unit_test(one_run_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
