/* Tests of CSV files: every row, and guarantees for programs that read them. */
#include "bench/collect/tests/collected.h"

#include <locale.h>

/* Reads one field of RFC 4180 in place. *end is the separator after it, '\0' at the end of the
 * text. */
static char *next_field(char **text, char *end)
{
    char *start = *text, *to = start, *from = start;
    bool quoted = *from == '"';
    from += quoted;
    while (*from && (quoted || (*from != ',' && *from != '\n'))) {
        if (quoted && *from == '"' && *++from != '"')
            quoted = false;
        else
            *to++ = *from++;
    }
    *end = *from;
    *text = *from ? from + 1 : from;
    *to = '\0';
    return start;
}

static size_t count_fields(char **row)
{
    size_t n = 0;
    for (char end = ','; end == ','; n++)
        next_field(row, &end);
    return n;
}

/* Strategies and ranks vary; ranks have a column of their own. */
static void summary_csv_reads_back(void **state)
{
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "summary.csv"), *at = text, end = ',';
    for (int i = 0; i < COLUMNS; i++) {
        assert_string_equal(next_field(&at, &end), column_get(i)->name);
        assert_int_equal(end, ',');
    }
    assert_string_equal(next_field(&at, &end), "sync.strategy");
    assert_int_equal(end, '\n');
    for (size_t k = 0; k < s.n; k++) {
        for (int i = 0; i < COLUMNS; i++)
            assert_string_equal(next_field(&at, &end), s.points[k].cells[i]);
        assert_string_equal(next_field(&at, &end),
                            config_text(&s.points[k].point->config, OPT_STRATEGY));
        assert_int_equal(end, '\n');
    }
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void assert_has(const struct fake_run *run, const char *file, const char *wanted)
{
    char *text = read_of(run, file);
    if (strstr(text, wanted) == NULL)
        fail_msg("%s lacks '%s':\n%s", file, wanted, text);
    free(text);
}

/* Options that are not yet a column distinguish the points. */
static void rows_of_points_are_told_apart(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: synthetic\nmodel: lenet_21k\ndata: {set: digits}\n"
                    "train: {optimizer: sgd, global_batch: 256}\nranks: 2\n"
                    "matrix: {train.momentum: [0, 0.9], sync.segment: [64KiB, 1MiB]}\n"
                    "sync.strategy: ring\n");
    struct summary s = collect(&run);
    write_both(&s, &run);
    assert_int_equal(s.n, 4);
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(cell(&s.points[i], COLUMN_label),
                                    cell(&s.points[k], COLUMN_label));
    assert_has(&run, "summary.csv", ",label,train.momentum,sync.segment\n");
    assert_has(&run, "summary.csv", ",momentum=0.9 segment=64KiB,0.9,64KiB\n");
    assert_has(&run, "raw.csv", ",train.momentum,sync.segment\n");
    assert_has(&run, "epochs.csv", ",train.momentum,sync.segment\n");
    assert_has(&run, "columns.csv", "\nsummary.csv,train.momentum,REAL,,");
    assert_has(&run, "columns.csv", "\nraw.csv,sync.segment,TEXT,,");
    summary_free(&s);
    fake_close(&run);
}

static void raw_csv_has_a_row_for_every_launch(void **state)
{
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "raw.csv"), *at = text;
    assert_non_null(strstr(text, "\nlaunch-0,"));
    assert_non_null(
        strstr(text, ",time,0,1,ok,,2,1,4,100,9.6,28.8,48,0,0,0,0,0,9.6,0,0,-1,,,0.5,"));
    assert_non_null(strstr(text, ",time,0,1,failed,\"said 'no, never', then left\",2,,"));
    size_t columns = count_fields(&at);
    for (size_t i = 0; i < s.n_launches; i++)
        assert_int_equal(count_fields(&at), columns);
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Asserts the rows of a file below its header. */
static void assert_rows(const struct fake_run *run, const char *name, const char *wanted)
{
    char *text = read_of(run, name), *rows = strchr(text, '\n');
    assert_non_null(rows);
    assert_string_equal(rows + 1, wanted);
    free(text);
}

static void edit_rank(const struct fake_run *run, const char *launch, int rank, const char *from,
                      const char *to)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/rank.%d.jsonl", run->dir, launch, rank);
    fake_edit(path, from, to);
}

static void add_replay(const struct fake_run *run, const char *launch, int rank, const char *ns)
{
    char to[128];
    snprintf(to, sizeof to, "\"replays\":5,\"replay_ns\":%s,\"user_s\"", ns);
    edit_rank(run, launch, rank, "\"user_s\"", to);
}

/* 40 ms computing, 10 ms communication on the slower rank, steps of 44 to 49 ms: 6 to 1 ms are
 * hidden. The first rank waits 4 % of each step. */
static void fill_overlapped_run(struct fake_run *run, const char *train)
{
    char spec[512];
    snprintf(spec, sizeof spec,
             "name: synthetic\nmodel: lenet_21k\ndata: {set: digits}\n"
             "train: {global_batch: 256%s}\nranks: 2\n"
             "sync: {strategy: bucketed, overlap: poll_tiles, cap_mib: 0.02, first_cap_mib: 0}\n"
             "measure: {replay: 5, time: {launches: 6..12}}\n",
             train);
    fake_open(run, spec);
    for (int block = 0; block < 6; block++) {
        struct fake_launch l = {.ranks = 2, .block = block, .seed = 1};
        l.strategy = "none";
        l.step_ms = 40;
        fake_add(run, &l);
        l.strategy = "bucketed";
        l.step_ms = 44 + block;
        const struct journal_launch *launch = fake_add(run, &l);
        add_replay(run, launch->launch, 0, "8000000");
        add_replay(run, launch->launch, 1, "10000000");
    }
}

/* 21840 numbers: buckets of both dense layers are summed in 7.6 ms, before backward ends after 19.2
 * ms. The 5280 numbers of the convolutions are ready at its end. */
static void overlap_is_what_communication_did_not_cost(void **state)
{
    struct fake_run run;
    fill_overlapped_run(&run, "");
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "bucketed");
    assert_false(find(&s, &run, 2, "none")->point->requested);
    NEAR(p->overlap.share.mid, 0.35);
    NEAR(p->overlap.share.lo, 0.1);
    NEAR(p->overlap.share.hi, 0.6);
    NEAR(p->overlap.model, 1 - 5280 / 21840.0);
    assert_string_equal(cell(p, COLUMN_comm_replay_ms), "10");
    assert_string_equal(cell(p, COLUMN_overlap_share), "0.35");
    assert_string_equal(cell(p, COLUMN_rank_wait_ms), "1.86|0");
    p = find(&s, &run, 2, "none");
    assert_string_equal(cell(p, COLUMN_overlap_share), "");
    assert_string_equal(cell(p, COLUMN_overlap_model), "");
    assert_string_equal(cell(p, COLUMN_comm_replay_ms), "");
    summary_free(&s);
    fake_close(&run);
}

/* Without messages, the overlap would be noise of a call of 1 us, never precise. */
static void one_rank_has_nothing_to_overlap(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: synthetic\nmodel: lenet_21k\ndata: {set: digits}\n"
                    "train: {global_batch: 256}\n"
                    "matrix: {ranks: [1, 2], sync.strategy: [none, bucketed]}\n"
                    "measure: {replay: 5, time: {launches: 6..12}}\n");
    for (int block = 0; block < 6; block++) {
        struct fake_launch l = {.ranks = 1, .strategy = "none", .block = block, .step_ms = 40};
        fake_add(&run, &l);
        l.strategy = "bucketed";
        l.step_ms += 0.01 * block;
        add_replay(&run, fake_add(&run, &l)->launch, 0, "1000");
    }
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 1, "bucketed");
    assert_string_equal(cell(p, COLUMN_comm_replay_ms), "0.001");
    assert_string_equal(cell(p, COLUMN_overlap_share), "");
    assert_string_equal(cell(p, COLUMN_overlap_pairs), "");
    assert_true(p->precision_met);
    summary_free(&s);
    fake_close(&run);
}

/* Buckets are sent in the last of four micro-batches, whose backward takes 4.8 of 19.2 ms. All sums
 * but one, of the last layer's 10 biases, begin when both dense layers are done, and last
 * longer. */
static void overlap_is_expected_of_the_last_micro_batch(void **state)
{
    struct fake_run run;
    fill_overlapped_run(&run, ", accumulate: 4");
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "bucketed");
    const struct net_desc *net = &p->point->net->net;
    double dense = 0;
    for (int i = 0; i < net->n_layers; i++)
        if (net->layers[i].kind == LAYER_dense)
            dense += (double)net->layers[i].flops_backward;
    double begin = 4.8 * dense / (double)net->flops_backward;
    NEAR(p->overlap.model, 1 - (begin + 10 * 21830 / 21840.0 - 4.8) / 10);
    summary_free(&s);
    fake_close(&run);
}

/* Inserts a first epoch, of 5 s on rank 0 and 4 s on rank 1, before the recorded one. */
static void add_first_epoch(const struct fake_run *run, const char *launch)
{
    for (int rank = 0; rank < 2; rank++) {
        edit_rank(run, launch, rank, "\"type\":\"epoch\",\"epoch\":0",
                  "\"type\":\"epoch\",\"epoch\":1");
        edit_rank(run, launch, rank, "\"type\":\"eval\",\"epoch\":0",
                  "\"type\":\"eval\",\"epoch\":1");
        edit_rank(run, launch, rank, "{\"type\":\"epoch\"",
                  rank == 0 ? "{\"type\":\"epoch\",\"epoch\":0,\"seconds\":5,\"train_loss\":0.75,"
                              "\"train_acc_pct\":80,\"lr\":0.0005}\n{\"type\":\"epoch\""
                            : "{\"type\":\"epoch\",\"epoch\":0,\"seconds\":4,\"train_loss\":0.75,"
                              "\"train_acc_pct\":80,\"lr\":0.0005}\n{\"type\":\"epoch\"");
    }
}

static void epochs_csv_has_a_row_for_every_epoch(void **state)
{
    struct fake_run run;
    char wanted[1024];
    fake_open(&run, strong_spec);
    add_block(&run, 0);
    add_accuracy(&run, 2, "allreduce", 7, 97.5);
    add_first_epoch(&run, "launch-2");
    edit_rank(&run, "launch-2", 1, "\"seconds\":2.0", "\"seconds\":2.25");
    edit_rank(&run, "launch-2", 1, "\"seconds\":0.2", "\"seconds\":0.125");
    struct summary s = collect(&run);
    write_both(&s, &run);
    const char *id = find(&s, &run, 2, "allreduce")->point->id;
    const char *label = find(&s, &run, 2, "allreduce")->point->label;
    snprintf(
        wanted, sizeof wanted,
        "%s,%s,launch-2,7,ok,2,allreduce,256,1,0.0005,5,,0.75,80,,,,,,,,allreduce\n"
        "%s,%s,launch-2,7,ok,2,allreduce,256,2,0.001,2.25,0.2,0.3,91.25,0.09,97.5,,,,,,allreduce\n",
        id, label, id, label);
    assert_rows(&run, "epochs.csv", wanted);
    summary_free(&s);
    fake_close(&run);
}

/* Epochs may be recorded by one rank. A launch that does not count has none. */
static void epochs_may_be_left_to_one_rank(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.5);
    add_accuracy(&run, 2, "allreduce", 2, 97.5);
    edit_rank(&run, "launch-0", 0, "{\"type\":\"epoch\"", "{\"type\":\"eval\"");
    edit_rank(&run, "launch-0", 0, "\"train_loss\"", "\"test_acc_pct\":1,\"test_loss\"");
    edit_rank(&run, "launch-0", 1, "\"lr\":0.001}", "\"lr\":null}");
    run.launches[1].status = LAUNCH_FAILED;
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "epochs.csv"), *at = strchr(text, '\n');
    assert_non_null(strstr(at, ",launch-0,1,ok,2,allreduce,256,1,,2,"));
    assert_null(strstr(at, "launch-1"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void classes_csv_has_a_row_for_every_class(void **state)
{
    struct fake_run run;
    char wanted[1024];
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 7, 97.5);
    for (int rank = 0; rank < 2; rank++)
        edit_rank(&run, "launch-0", rank, "\"test_loss\"",
                  "\"class_samples\":[6000,0,4000],\"class_correct\":[5970,0,3780],\"test_loss\"");
    add_first_epoch(&run, "launch-0");
    struct summary s = collect(&run);
    write_both(&s, &run);
    const char *id = find(&s, &run, 2, "allreduce")->point->id;
    const char *label = find(&s, &run, 2, "allreduce")->point->label;
    snprintf(
        wanted, sizeof wanted,
        "%s,%s,launch-0,7,0,6000,5970,99.5,,allreduce,2\n%s,%s,launch-0,7,1,0,0,,,allreduce,2\n"
        "%s,%s,launch-0,7,2,4000,3780,94.5,,allreduce,2\n",
        id, label, id, label, id, label);
    assert_rows(&run, "classes.csv", wanted);
    summary_free(&s);
    fake_close(&run);
}

/* Runs recorded before classes were counted have no rows; neither has an evaluation without counts
 * after one with counts. */
static void records_without_classes_have_no_rows(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_accuracy(&run, 1, "none", 1, 97.5);
    add_accuracy(&run, 1, "none", 2, 97.5);
    edit_rank(&run, "launch-1", 0, "{\"type\":\"eval\"",
              "{\"type\":\"eval\",\"epoch\":0,\"seconds\":1,\"samples\":5,\"test_loss\":1,"
              "\"test_acc_pct\":40,\"class_samples\":[5],\"class_correct\":[2]}\n"
              "{\"type\":\"eval\"");
    struct summary s = collect(&run);
    write_both(&s, &run);
    assert_string_equal(find(&s, &run, 1, "none")->status, "ok");
    assert_rows(&run, "classes.csv", "");
    summary_free(&s);
    fake_close(&run);
}

/* A step of 50 ms: 37.5 ms compute in parts of 1, 3, 5 and 1 tenths, 10 ms exposed communication.
 * The second rank arrives 2 ms after the first. */
static void steps_csv_has_a_row_for_every_step_and_rank(void **state)
{
    struct fake_run run;
    char spec[1024], row[512];
    snprintf(spec, sizeof spec, "%s  steps_csv: true\n", strong_spec);
    fake_open(&run, spec);
    fake_add(&run, &(struct fake_launch){
                       .ranks = 2, .strategy = "allreduce", .block = 3, .seed = 1, .step_ms = 50});
    add_accuracy(&run, 2, "allreduce", 1, 97.5);
    edit_rank(&run, "launch-0", 1, "\"hash\":\"00\"", "\"hash\":\"00112233aabbccdd\"");
    struct summary s = collect(&run);
    write_both(&s, &run);
    const struct point *point = find(&s, &run, 2, "allreduce")->point;
    char *text = read_of(&run, "steps.csv"), *at = strchr(text, '\n') + 1;
    for (int i = 0; i < 10; i++) {
        bool second = i % 2;
        snprintf(row, sizeof row,
                 "%s,%s,launch-0,3,%d,1,%d,%d,128,50,3.75,11.25,18.75,0,11,10,0.5,%d,0,3.75,0,"
                 "0.01171875,%s,0,,0,0,0,,allreduce,2\n",
                 point->id, point->label, second, i / 2 + 1, i > 1, second ? 0 : 2,
                 i == 1 ? "00112233aabbccdd" : "");
        assert_memory_equal(at, row, strlen(row));
        at += strlen(row);
    }
    assert_string_equal(at, "");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Two launches whose second rank arrives 2 ms late. In the second launch clocks are uncertain by 3
 * ms, so the median wait is unknown. */
static void waits_below_the_error_of_clocks_are_not_told(void **state)
{
    struct fake_run run;
    char spec[1024];
    snprintf(spec, sizeof spec, "%s  steps_csv: true\n", strong_spec);
    fake_open(&run, spec);
    for (int block = 0; block < 2; block++)
        fake_add(
            &run,
            &(struct fake_launch){
                .ranks = 2, .strategy = "allreduce", .block = block, .seed = 1, .step_ms = 50});
    for (int rank = 0; rank < 2; rank++)
        edit_rank(&run, "launch-1", rank, "\"user_s\"",
                  rank == 0
                      ? "\"clock_of\":0,\"clock_begin_offset_ns\":0,\"clock_begin_error_ns\":0,"
                        "\"clock_end_offset_ns\":0,\"clock_end_error_ns\":0,\"user_s\""
                      : "\"clock_of\":1,\"clock_begin_offset_ns\":0,"
                        "\"clock_begin_error_ns\":3e6,\"clock_end_offset_ns\":0,"
                        "\"clock_end_error_ns\":2e6,\"user_s\"");
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_true(isnan(p->shares.wait_pct));
    NEAR(p->shares.comm_pct, 20); /* the share includes waits of the first launch */
    assert_string_equal(cell(p, COLUMN_wait_ms), "");
    assert_string_equal(cell(p, COLUMN_rank_wait_ms), "");
    assert_string_equal(cell(p, COLUMN_clock_error_us), "3000");
    assert_string_equal(cell(p, COLUMN_last_rank), "1");
    write_both(&s, &run);
    char *text = read_of(&run, "steps.csv");
    for (char *at = strchr(text, '\n') + 1; *at != '\0'; at = strchr(at, '\n') + 1) {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        bool told = strstr(line, ",11,10,0.5,,0,") == NULL;
        assert_true(told == (strstr(line, "launch-0") != NULL));
    }
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void steps_csv_is_written_on_request_only(void **state)
{
    struct fake_run run;
    char path[128];
    const char *file;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    for (size_t i = 0; (file = summary_file(&run.spec, i)) != NULL; i++) {
        snprintf(path, sizeof path, "%s/%s", run.dir, file);
        bool has_rows = strcmp(file, "fits.csv") != 0; /* no curve has four rank counts */
        assert_int_equal(access(path, R_OK), has_rows ? 0 : -1);
    }
    snprintf(path, sizeof path, "%s/steps.csv", run.dir);
    assert_int_equal(access(path, F_OK), -1);
    summary_free(&s);
    fake_close(&run);
}

/* Records that cannot be read again are an error, and the earlier file stays. */
static void records_that_went_away_are_an_error(void **state)
{
    struct fake_run run;
    struct error e = {.status = OK};
    char path[128];
    fake_open(&run, strong_spec);
    add_accuracy(&run, 2, "allreduce", 1, 97.5);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *before = read_of(&run, "epochs.csv");
    snprintf(path, sizeof path, "%s/launch-0/rank.1.jsonl", run.dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(summary_write(&s, run.dir, &e), ERR_DATA);
    assert_string_equal(e.file, path);
    char *after = read_of(&run, "epochs.csv");
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_int_equal(fake_count(run.dir, ".part"), 0);
    summary_free(&s);
    fake_close(&run);
}

static void columns_csv_is_the_table_of_columns(void **state)
{
    struct fake_run run;
    size_t n = columns_all.n;
    char end;
    const struct column *columns = columns_all.columns;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *text = read_of(&run, "columns.csv"), *at = text;
    assert_int_equal(count_fields(&at), 5);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(next_field(&at, &end), columns[i].file);
        assert_string_equal(next_field(&at, &end), columns[i].name);
        assert_string_equal(next_field(&at, &end), csv_type_name(columns[i].type));
        assert_string_equal(next_field(&at, &end), columns[i].unit);
        assert_string_equal(next_field(&at, &end), columns[i].meaning);
        assert_int_equal(end, '\n');
    }
    assert_int_equal(strncmp(at, "summary.csv,sync.strategy,TEXT,,", 32),
                     0); /* rows of options that vary */
    assert_non_null(strstr(at, "\nclasses.csv,ranks,INT,ranks,"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Names of columns are unique within a file, and a unit at the end of a name is the column's
 * unit. */
static void columns_are_named_by_their_unit(void **state)
{
    static const struct {
        const char *suffix, *unit;
    } suffixes[] = {{"_ms", "ms"}, {"_s", "s"}, {"_pct", "%"}, {"_mib", "MiB"}};
    size_t n = columns_all.n;
    const struct column *columns = columns_all.columns;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(columns[i].file, columns[k].file) == 0)
                assert_string_not_equal(columns[i].name, columns[k].name);
        for (size_t k = 0; k < 4; k++) {
            size_t length = strlen(columns[i].name), tail = strlen(suffixes[k].suffix);
            bool rate = length > 6 && strcmp(columns[i].name + length - 6, "_per_s") == 0;
            if (length > tail && !rate &&
                strcmp(columns[i].name + length - tail, suffixes[k].suffix) == 0)
                assert_string_equal(columns[i].unit, suffixes[k].unit);
        }
    }
}

/* An unwritable folder is an error and leaves no partial file. */
static void an_unwritable_folder_is_an_error(void **state)
{
    struct fake_run run;
    struct error e = {.status = OK};
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    assert_int_equal(summary_write(&s, "/nonexistent/folder", &e), ERR_SYSTEM);
    assert_non_null(strstr(e.text, "cannot write in /nonexistent/folder: "));
    summary_free(&s);
    fake_close(&run);
}

/* Builds a locale with decimal comma from the system's sources, if installed. */
static bool use_comma_locale(const char *dir)
{
    char command[256];
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", dir);
    if (system(command) != 0 || setenv("LOCPATH", dir, 1) != 0)
        return false;
    return setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void files_do_not_depend_on_the_locale(void **state)
{
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *summary = read_of(&run, "summary.csv"), *raw = read_of(&run, "raw.csv");
    summary_free(&s);
    bool comma = use_comma_locale(run.dir);
    s = collect(&run);
    write_both(&s, &run);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    char *summary_again = read_of(&run, "summary.csv"), *raw_again = read_of(&run, "raw.csv");
    assert_string_equal(summary, summary_again);
    assert_string_equal(raw, raw_again);
    free(summary);
    free(raw);
    free(summary_again);
    free(raw_again);
    summary_free(&s);
    fake_close(&run);
    if (!comma)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_is_what_communication_did_not_cost),
        cmocka_unit_test(one_rank_has_nothing_to_overlap),
        cmocka_unit_test(overlap_is_expected_of_the_last_micro_batch),
        cmocka_unit_test(summary_csv_reads_back),
        cmocka_unit_test(rows_of_points_are_told_apart),
        cmocka_unit_test(raw_csv_has_a_row_for_every_launch),
        cmocka_unit_test(epochs_csv_has_a_row_for_every_epoch),
        cmocka_unit_test(epochs_may_be_left_to_one_rank),
        cmocka_unit_test(classes_csv_has_a_row_for_every_class),
        cmocka_unit_test(records_without_classes_have_no_rows),
        cmocka_unit_test(steps_csv_has_a_row_for_every_step_and_rank),
        cmocka_unit_test(waits_below_the_error_of_clocks_are_not_told),
        cmocka_unit_test(steps_csv_is_written_on_request_only),
        cmocka_unit_test(records_that_went_away_are_an_error),
        cmocka_unit_test(columns_csv_is_the_table_of_columns),
        cmocka_unit_test(columns_are_named_by_their_unit),
        cmocka_unit_test(an_unwritable_folder_is_an_error),
        cmocka_unit_test(files_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
