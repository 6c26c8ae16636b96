/* Every kind of figure, for a run with points of every status: content of the series file and of
 * texts, and that the CSV files alone draw the same figure. */
#include "bench/figures/tests/kinds.h"

#include "bench/spec/value.h"

static void every_format_is_there(void **state)
{
    const struct run *run = *state;
    static const char *const endings[] = {"svg", "png", "pdf"};
    static const char *const begins[] = {"<?xml", "\x89PNG", "%PDF"};
    for (int i = 0; i < FIGURES; i++)
        for (int k = 0; k < 3; k++) {
            char path[256], head[8] = "";
            snprintf(path, sizeof path, "%s/%s.%s", run->fake.dir, figures[i], endings[k]);
            FILE *in = fopen(path, "r");
            if (!in)
                fail_msg("%s is missing", path);
            assert_int_equal(fread(head, 1, 5, in), 5);
            fclose(in);
            assert_memory_equal(head, begins[k], strlen(begins[k]));
        }
}

static void series_over_ranks_hold_the_numbers(void **state)
{
    const struct run *run = *state;
    struct csv_table time = series_of(run, "time"), speedup = series_of(run, "speedup");
    assert_int_equal(time.rows, 7); /* the base is in its own series only */
    NEAR(number_at(&time, "name", "allreduce", "ranks", "2", "value"), 56 * 1.015);
    NEAR(number_at(&time, "name", "allreduce", "ranks", "2", "lo"), 56);
    NEAR(number_at(&time, "name", "allreduce", "ranks", "2", "hi"), 56 * 1.03);
    NEAR(number_at(&time, "name", "compute only (none)", "ranks", "1", "value"), 101.5);
    NEAR(number_at(&time, "name", "allreduce", "ranks", "8", "published"), 20);
    assert_true(isnan(number_at(&time, "name", "compute only (none)", "ranks", "2", "published")));
    assert_true(isnan(number_at(&time, "name", "compute only (none)", "ranks", "4", "value")));
    NEAR(number_at(&speedup, "name", "allreduce", "ranks", "4", "value"), 100 / 30.0);
    csv_table_free(&time);
    csv_table_free(&speedup);
}

/* Shares of summary.csv and their published values are drawn in per cent. */
static void published_shares_have_the_unit_of_the_axis(void **state)
{
    const struct run *run = *state;
    struct csv_table efficiency = series_of(run, "efficiency");
    NEAR(point_number(&efficiency, "ranks=2 allreduce", "value"), 50 * 100 / 56.0);
    NEAR(point_number(&efficiency, "ranks=2 allreduce", "published"), 90);
    csv_table_free(&efficiency);
}

static void columns_are_added(void **state)
{
    const struct run *run = *state;
    struct csv_table forward = series_of(run, "forward"), backward = series_of(run, "backward"),
                     both = series_of(run, "both");
    const char *label = "ranks=2 allreduce";
    assert_true(point_number(&backward, label, "backward_ms") > 0);
    NEAR(point_number(&both, label, "forward_ms+backward_ms"),
         point_number(&forward, label, "forward_ms") +
             point_number(&backward, label, "backward_ms"));
    NEAR(number_at(&both, "name", "theirs", "x", "4", "forward_ms+backward_ms_published"), 70);
    csv_table_free(&forward);
    csv_table_free(&backward);
    csv_table_free(&both);
}

/* Draws accuracy runs; points without communication have none and are left out. */
static void series_of_runs_hold_the_numbers(void **state)
{
    const struct run *run = *state;
    struct csv_table accuracy = series_of(run, "accuracy"), total = series_of(run, "total_time");
    assert_int_equal(accuracy.rows, 4);
    NEAR(number_at(&accuracy, "name", "none", "ranks", "1", "value"), 98.5);
    NEAR(point_number(&accuracy, "ranks=2 allreduce", "value"), 98);
    NEAR(point_number(&accuracy, "ranks=2 allreduce", "lo"), 97.75);
    NEAR(point_number(&accuracy, "ranks=2 allreduce", "hi"), 98.25);
    NEAR(point_number(&accuracy, "ranks=2 allreduce", "n"), 3);
    NEAR(point_number(&accuracy, "ranks=2 allreduce", "published"), 98.5);
    assert_true(isnan(point_number(&accuracy, "ranks=4 allreduce", "value")));
    assert_true(isnan(point_number(&accuracy, "ranks=4 allreduce", "published")));
    NEAR(point_number(&total, "ranks=8 allreduce", "value"), 3);
    NEAR(point_number(&total, "ranks=8 allreduce", "published"), 1.2);
    csv_table_free(&accuracy);
    csv_table_free(&total);
}

/* Every launch that counts has a dot. Ratios need a launch of the base in the same block. */
static void dots_hold_single_launches(void **state)
{
    const struct run *run = *state;
    struct csv_table time = table_of(run, "dots", "time"),
                     speedup = table_of(run, "dots", "speedup"),
                     efficiency = table_of(run, "dots", "efficiency"),
                     accuracy = table_of(run, "dots", "accuracy"),
                     bars = table_of(run, "dots", "bars");
    assert_int_equal(time.rows, 5 * 4);
    assert_int_equal(speedup.rows, 4 * 4); /* the base is 1 by definition */
    assert_int_equal(accuracy.rows, 3 * 3);
    assert_int_equal(bars.rows, 3 * 3);
    const char *label = "ranks=2 allreduce";
    NEAR(number_at(&time, "label", label, "nth", "4", "value"), 56 * 1.03);
    NEAR(number_at(&time, "label", label, "nth", "4", "block"), 3);
    NEAR(number_at(&speedup, "label", label, "nth", "4", "value"), 100 / 56.0);
    NEAR(number_at(&speedup, "label", label, "nth", "4", "curve"), 2);
    NEAR(number_at(&efficiency, "label", label, "nth", "1", "value"), 50 * 100 / 56.0);
    NEAR(number_at(&accuracy, "label", label, "seed", "3", "value"), 98.25);
    NEAR(number_at(&bars, "label", "ranks=8 allreduce", "nth", "2", "value"), 3);
    NEAR(number_at(&bars, "label", "ranks=8 allreduce", "nth", "2", "curve"), 4);
    csv_table_free(&time);
    csv_table_free(&speedup);
    csv_table_free(&efficiency);
    csv_table_free(&accuracy);
    csv_table_free(&bars);
}

/* The model predicts communication alone from the step; its launches are separate. */
static void communication_alone_has_its_own_launches(void **state)
{
    const struct run *run = *state;
    struct csv_table calls = series_of(run, "calls"), dots = table_of(run, "dots", "calls");
    const char *label = "ranks=2 allreduce";
    NEAR(point_number(&calls, label, "comm_replay_ms"), 10);
    assert_int_equal(dots.rows, 4);
    NEAR(number_at(&dots, "label", label, "nth", "4", "value"), 10);
    csv_table_free(&calls);
    csv_table_free(&dots);
}

static void bars_hold_the_chosen_quantity(void **state)
{
    const struct run *run = *state;
    struct csv_table bars = series_of(run, "bars");
    assert_int_equal(bars.rows, 4);
    NEAR(point_number(&bars, "ranks=1 none", "value"), 10);
    NEAR(point_number(&bars, "ranks=1 none", "published"), 3);
    NEAR(point_number(&bars, "ranks=8 allreduce", "curve"), 4);
    csv_table_free(&bars);
}

/* Parts add up to the step. Exposed communication is 20 %, of which the three ranks other than
 * the last wait 4 %. */
static void breakdown_holds_the_parts(void **state)
{
    const struct run *run = *state;
    static const char *const parts[] = {"load_ms", "forward_ms", "backward_ms",  "pack_ms",
                                        "comm_ms", "wait_ms",    "optimizer_ms", "other_ms"};
    struct csv_table breakdown = series_of(run, "breakdown");
    assert_int_equal(breakdown.rows, 7);
    double step = point_number(&breakdown, "ranks=4 allreduce", "step_ms"), sum = 0;
    for (int i = 0; i < 8; i++)
        sum += point_number(&breakdown, "ranks=4 allreduce", parts[i]);
    assert_true(fabs(sum - step) < 1e-6);
    assert_true(fabs(point_number(&breakdown, "ranks=4 allreduce", "wait_ms") - 0.03 * step) <
                1e-6);
    assert_true(fabs(point_number(&breakdown, "ranks=4 allreduce", "comm_ms") - 0.17 * step) <
                1e-6);
    assert_true(isnan(point_number(&breakdown, "ranks=4 none", "forward_ms")));
    csv_table_free(&breakdown);
}

/* The prediction divides the base's 101.5 ms among ranks and adds the library's sum of 87360
 * bytes of 2 ranks by halves: two messages of 1 ms, all bytes sent once at 10 ns, half of them
 * added at 100 ns. Points without communication, and quantities other than steps, have no
 * prediction. */
static void model_follows_from_base_and_messages(void **state)
{
    const struct run *run = *state;
    const double step = 101.5 / 2 + 2 + 0.8736 + 4.368;
    struct csv_table time = series_of(run, "time"), speedup = series_of(run, "speedup");
    struct csv_table efficiency = series_of(run, "efficiency"),
                     breakdown = series_of(run, "breakdown");
    struct csv_table bars = series_of(run, "bars");
    NEAR(number_at(&time, "name", "compute only (none)", "ranks", "1", "model"), 101.5);
    NEAR(number_at(&time, "name", "allreduce", "ranks", "2", "model"), step);
    NEAR(number_at(&speedup, "name", "allreduce", "ranks", "2", "model"), 101.5 / step);
    NEAR(number_at(&efficiency, "name", "allreduce", "ranks", "2", "model"), 50 * 101.5 / step);
    NEAR(point_number(&breakdown, "ranks=2 allreduce", "model_ms"), step);
    assert_true(isnan(number_at(&time, "name", "compute only (none)", "ranks", "2", "model")));
    assert_true(isnan(point_number(&bars, "ranks=2 allreduce", "model")));
    csv_table_free(&time);
    csv_table_free(&speedup);
    csv_table_free(&efficiency);
    csv_table_free(&breakdown);
    csv_table_free(&bars);
}

/* Checks a coefficients file with this text, or a missing one: ERR_SPEC with the option and these
 * words. */
static void refuse_link(const char *text, const char *words)
{
    char dir[] = "/tmp/fake_link.XXXXXX", path[64];
    struct error e = {.status = OK};
    struct spec spec = {0};
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/link.csv", dir);
    if (text != NULL)
        fake_write(path, text);
    assert_int_equal(config_init(&spec.config, &e), OK);
    assert_int_equal(config_set(&spec.config, option_get(OPT_LINK), path, (struct mark){0}, &e),
                     OK);
    assert_int_equal(prediction_check(&spec, &e), ERR_SPEC);
    if (strstr(e.text, "link: expected a link.csv") == NULL || strstr(e.text, words) == NULL)
        fail_msg("'%s' lacks '%s'", e.text, words);
    config_free(&spec.config);
    fake_remove_folder(dir);
}

static void invalid_coefficients_are_refused(void **state)
{
    refuse_link(NULL, "No such file");
    refuse_link("a,b\n1,2\n", "coefficient");
    refuse_link("coefficient,value\nalpha_us,1\n", "row 'beta_ns_per_byte' not found");
    refuse_link("coefficient,value\nalpha_us,quick\n", "'quick' is not a number");
}

/* In block b, a step on two ranks is 5 (1 + b/100) ms longer than computation alone, so 0.5 - b/200
 * of 10 ms communication is hidden. Communication takes 20 % of the step, and half of the ranks
 * wait for 4 %. A point without a time of computation alone has no hidden part; strategy none has
 * no row. */
static void overlap_holds_hidden_communication(void **state)
{
    const struct run *run = *state;
    struct csv_table overlap = series_of(run, "overlap");
    assert_int_equal(overlap.rows, 3);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "row"), 1);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "exposed_ms"), 0.18 * 56 * 1.015);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "wait_ms"), 0.02 * 56 * 1.015);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "alone_ms"), 10);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "hidden_ms"), 4.925);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "hidden_lo_ms"), 4.85);
    NEAR(point_number(&overlap, "ranks=2 allreduce", "hidden_hi_ms"), 5);
    NEAR(point_number(&overlap, "ranks=8 allreduce", "row"), 3);
    NEAR(point_number(&overlap, "ranks=8 allreduce", "alone_ms"), 10);
    assert_true(isnan(point_number(&overlap, "ranks=8 allreduce", "hidden_ms")));
    csv_table_free(&overlap);
}

/* Every rank has 21840 numbers of 4 bytes whole, as parameters, gradients and optimizer state. */
static void memory_has_formula_forecast_and_measurement(void **state)
{
    const struct run *run = *state;
    const struct config *config = &run->fake.spec.points[0].config;
    const double told = (2 + config_state_slots(config)) * 21840 * 4 / 0x1p20;
    const double page = (double)sysconf(_SC_PAGESIZE) / 0x1p20, net = 21840 * 4 / 0x1p20;
    const double pages =
        page * (2 * ceil(net / page) + ceil(config_state_slots(config) * net / page));
    struct csv_table memory = series_of(run, "memory");
    assert_int_equal(memory.rows, 7);
    NEAR(point_number(&memory, "ranks=2 allreduce", "measured_mib"), 0.27);
    NEAR(point_number(&memory, "ranks=2 allreduce", "forecast_mib"), pages);
    NEAR(point_number(&memory, "ranks=2 allreduce", "formula_mib"), told);
    assert_true(fabs(point_number(&memory, "ranks=2 allreduce", "error_pct") -
                     100 * (0.27 / pages - 1)) < 1e-6);
    NEAR(point_number(&memory, "ranks=1 none", "forecast_mib"), pages);
    assert_true(isnan(point_number(&memory, "ranks=1 none", "measured_mib")));
    csv_table_free(&memory);
    assert_says(run, "memory.svg",
                (const char *const[]){">forecast<", ">measured<",
                                      ">parameters, gradients, optimizer state in memory (MiB)<",
                                      ">ranks=8 none: skipped<", NULL});
}

static void epochs_hold_every_epoch(void **state)
{
    const struct run *run = *state;
    struct csv_table epochs = series_of(run, "epochs");
    assert_int_equal(epochs.rows, 9);
    NEAR(number_at(&epochs, "name", "ranks=1 none", "epoch", "1", "test_acc_pct"), 96.5);
    NEAR(number_at(&epochs, "name", "ranks=1 none", "epoch", "3", "test_acc_pct"), 98.5);
    NEAR(number_at(&epochs, "name", "ranks=1 none", "epoch", "3", "test_acc_hi"), 98.75);
    NEAR(number_at(&epochs, "name", "ranks=1 none", "epoch", "1", "train_loss"), 0.5);
    NEAR(number_at(&epochs, "name", "ranks=8 allreduce", "epoch", "2", "n"), 3);
    csv_table_free(&epochs);
}

static void captions_describe_the_run(void **state)
{
    const struct run *run = *state;
    static const char *const all[] = {
        "Base: 1 rank (none), 101.5 [100.0, 103.0] ms per step.",
        "Failed: ranks=4 none (signal 9, 'killed').",
        "Unverified: ranks=4 allreduce (weights differ between ranks",
        "Skipped: ranks=8 none (8 ranks, 4 cores).",
        "Published values: table.csv (4 of 5 rows have a point here).",
        "Difference from the report: Their net was another, \"larger\" one.",
        NULL};
    static const char *const timed[] = {
        "Median of 4 launches of 4 steps; whiskers: 87.5 % interval (minimum to "
        "maximum).",
        "alpha 1e+03 us, beta 10 and gamma 100 ns a byte (link.csv of 2026-11-21, 2 ranks).", NULL};
    static const char *const runs[] = {"Median of 3 runs of 3 epochs, one per seed; whiskers: "
                                       "75 % interval (minimum to maximum).",
                                       NULL};
    char name[64];
    for (int i = 0; i < FIGURES; i++) {
        assert_says(run, name_of(name, figures[i], "txt"), all);
        assert_says(
            run, name_of(name, figures[i], "svg"),
            (const char *const[]){"lenet_21k on mnist (real data), sgd, global batch 256", NULL});
        /* points that share cores have no efficiency */
        if (strcmp(figures[i], "efficiency") != 0)
            assert_says(run, name_of(name, figures[i], "svg"),
                        (const char *const[]){"oversubscribed", NULL});
    }
    assert_says(run, "time.txt", timed);
    assert_says(run, "accuracy.txt", runs);
    assert_says(run, "epochs.txt", runs);
}

static void pictures_have_their_texts(void **state)
{
    const struct run *run = *state;
    assert_says(run, "time.svg", (const char *const[]){">failed or unverified<", ">model<", NULL});
    assert_says(run, "bars.svg",
                (const char *const[]){">time of a whole run (s)<", ">published<",
                                      ">ranks=4 allreduce: unverified<", NULL});
    assert_says(run, "shares.svg",
                (const char *const[]){">ranks=8 allreduce: none, oversubscribed<",
                                      ">ranks=8 none: skipped<", NULL});
    assert_says(run, "breakdown.txt", (const char *const[]){"parts are means over ranks", NULL});
    assert_says(
        run, "breakdown.svg",
        (const char *const[]){">backward<", ">optimizer<", ">ranks=8 none: skipped<", NULL});
    assert_says(run, "overlap.txt",
                (const char *const[]){
                    "hidden is overlap_share of the time of the same calls alone (tick)", NULL});
    assert_says(run, "overlap.svg",
                (const char *const[]){">communication per step (ms)<", ">exposed<", ">hidden<",
                                      ">ranks=4 allreduce<", NULL});
    assert_says(run, "epochs.svg",
                (const char *const[]){">test accuracy (%)<", ">training loss<", NULL});
}

/* Returns the share of a picture's height below the first line of its caption, which begins at 8
 * pixels; 0 if there is no caption. */
static double caption_share(const struct run *run, const char *figure)
{
    char path[256];
    double width, height, y, first = INFINITY;
    snprintf(path, sizeof path, "%s/%s.svg", run->fake.dir, figure);
    char *svg = fake_read(path);
    const char *size = strstr(svg, "viewBox=\"0 0 ");
    assert_non_null(size);
    assert_int_equal(sscanf(size, "viewBox=\"0 0 %lf %lf", &width, &height), 2);
    for (const char *at = svg; (at = strstr(at, "translate(8.00,")) != NULL; at++) {
        int whole = 0;
        sscanf(at, "translate(8.00,%lf)\" stroke=\"none\" fill=\"rgb(48,48,48)%n", &y, &whole);
        first = whole > 0 ? fmin(first, y) : first;
    }
    free(svg);
    return isinf(first) ? 0 : (height - first + 13) / height; /* 13 pixels: height of its letters */
}

/* The caption omits points that `where` excludes; a sum has the titles of its terms. */
static void captions_describe_shown_points_only(void **state)
{
    const struct run *run = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/backward.txt", run->fake.dir);
    char *words = fake_read(path);
    assert_null(strstr(words, "Failed"));
    assert_null(strstr(words, "Skipped"));
    free(words);
    assert_says(run, "both.svg", (const char *const[]){">forward + backward (ms)<", NULL});
}

/* A short caption leaves most of a picture to the figure, `none` all of it; the full text is in
 * a file beside it. */
static void captions_have_the_size_that_the_spec_sets(void **state)
{
    struct run *run = *state;
    static const char *const kinds[] = {"short", "full", "none"};
    struct config *config = &run->fake.spec.config;
    struct value *caption = &config->values[OPT_CAPTION];
    const struct value lent = *caption; /* the points keep reading it */
    *caption = (struct value){.set = false};
    for (int k = 2; k >= 0; k--) { /* the last caption is the one that other tests check */
        struct error e = {.status = OK};
        assert_int_equal(
            config_set(config, option_get(OPT_CAPTION), kinds[k], (struct mark){0}, &e), OK);
        assert_int_equal(figures_draw(&(struct figures_run){&run->s, run->fake.dir, NULL}, 1,
                                      run->fake.dir, "plots", FIGURES_PICTURES, &e),
                         OK);
        for (int i = 0; i < FIGURES; i++) {
            double share = caption_share(run, figures[i]);
            if (k == 2 ? share != 0 : k == 1 ? share < 0.15 : share < 0.02 || share > 0.15)
                fail_msg("caption: %s takes %.0f %% of %s", kinds[k], 100 * share, figures[i]);
        }
        assert_says(run, "time.txt",
                    (const char *const[]){"Difference from the report: Their net", NULL});
    }
    value_free(caption);
    *caption = lent;
    assert_says(run, "speedup.svg", (const char *const[]){"Base: 1 rank (none), 101.5", NULL});
}

static void assert_same_file(const char *a, const char *b, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "cmp '%s/%s' '%s/%s'", a, name, b, name);
    if (system(path) != 0)
        fail_msg("%s differs when drawn from CSV files alone", name);
}

/* Tables of a run without its launches must draw equal files. */
static void csv_files_alone_draw_the_same(void **state)
{
    struct run *run = *state;
    char dir[] = "/tmp/fake_tables.XXXXXX", command[512];
    struct summary s;
    struct error e = {.status = OK};
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command, "cd %s && cp summary.csv raw.csv epochs.csv manifest.json %s",
             run->fake.dir, dir);
    assert_int_equal(system(command), 0);
    if (summary_read(&s, &run->fake.spec, dir, &e) != OK ||
        figures_draw(&(struct figures_run){&s, dir, NULL}, 1, dir, "plots", FIGURES_PICTURES, &e) !=
            OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    for (int i = 0; i < FIGURES; i++) {
        char name[64];
        snprintf(name, sizeof name, "series_%s.csv", figures[i]);
        assert_same_file(run->fake.dir, dir, name);
        snprintf(name, sizeof name, "%s.png", figures[i]);
        assert_same_file(run->fake.dir, dir, name);
        snprintf(name, sizeof name, "%s.pdf", figures[i]);
        assert_same_file(run->fake.dir, dir, name);
    }
    summary_free(&s);
    fake_remove_folder(dir);
}

/* Checks that the error begins with "line: text". */
static void damage(const char *from, const char *to, const char *text, struct run *run)
{
    char dir[] = "/tmp/fake_tables.XXXXXX", path[256], command[512], found[1200];
    struct summary s;
    struct error e = {.status = OK};
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command, "cp %s/summary.csv %s", run->fake.dir, dir);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/summary.csv", dir);
    fake_edit(path, from, to);
    assert_int_equal(summary_read(&s, &run->fake.spec, dir, &e), ERR_DATA);
    assert_string_equal(e.file, path);
    snprintf(found, sizeof found, "%d: %.*s", e.line, (int)strlen(text) - 3, e.text);
    assert_string_equal(found, text);
    summary_free(&s);
    fake_remove_folder(dir);
}

static void a_summary_of_another_run_is_refused(void **state)
{
    struct run *run = *state;
    damage(",lenet_21k,", ",keras_690k,",
           "2: model is 'keras_690k', but spec.yaml in the same folder has 'lenet_21k' for this "
           "point: the table and the spec belong to different runs",
           run);
    damage("101.5,", "fast,", "2: step_ms_median: 'fast' is not a number", run);
    damage(",status,", ",state,",
           "1: column 'status' is unknown; nearest 'state'; known: spec point kind site", run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_there),
        cmocka_unit_test(series_over_ranks_hold_the_numbers),
        cmocka_unit_test(published_shares_have_the_unit_of_the_axis),
        cmocka_unit_test(columns_are_added),
        cmocka_unit_test(captions_describe_shown_points_only),
        cmocka_unit_test(series_of_runs_hold_the_numbers),
        cmocka_unit_test(dots_hold_single_launches),
        cmocka_unit_test(communication_alone_has_its_own_launches),
        cmocka_unit_test(bars_hold_the_chosen_quantity),
        cmocka_unit_test(breakdown_holds_the_parts),
        cmocka_unit_test(model_follows_from_base_and_messages),
        cmocka_unit_test(invalid_coefficients_are_refused),
        cmocka_unit_test(overlap_holds_hidden_communication),
        cmocka_unit_test(memory_has_formula_forecast_and_measurement),
        cmocka_unit_test(epochs_hold_every_epoch),
        cmocka_unit_test(captions_describe_the_run),
        cmocka_unit_test(pictures_have_their_texts),
        cmocka_unit_test(captions_have_the_size_that_the_spec_sets),
        cmocka_unit_test(csv_files_alone_draw_the_same),
        cmocka_unit_test(a_summary_of_another_run_is_refused),
    };
    return cmocka_run_group_tests(tests, in_one_run, after_the_run);
}
