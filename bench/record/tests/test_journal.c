/* Tests the journal: written, read back, torn, damaged, locked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/record/journal.h"

struct folder {
    char path[64], file[96];
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    strcpy(folder->path, "/tmp/test_journal.XXXXXX");
    *state = folder;
    if (!mkdtemp(folder->path))
        return -1;
    snprintf(folder->file, sizeof folder->file, "%s/journal.jsonl", folder->path);
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    unlink(folder->file);
    int failed = rmdir(folder->path);
    free(folder);
    return failed;
}

static void put(const struct folder *folder, const char *text)
{
    FILE *f = fopen(folder->file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void append_text(const struct folder *folder, const char *text)
{
    FILE *f = fopen(folder->file, "a");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void open_journal(struct journal *j, const struct folder *folder, bool append)
{
    struct error e = {0};
    if (journal_open(j, folder->path, append, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
}

static const struct journal_launch first = {.launch = "launches/aabbccddeeff/time-000",
                                            .point = "aabbccddeeff",
                                            .run = RUN_TIME,
                                            .block = 3,
                                            .seed = 4294967295u};
static const struct journal_launch second = {.launch = "launches/aabbccddeeff/seed7-000",
                                             .point = "aabbccddeeff",
                                             .run = RUN_ACCURACY,
                                             .seed = 7};

/* Ends a launch after wall_s seconds; all other results are unknown. */
static enum status end(struct journal *j, const char *launch, enum launch_status status,
                       const char *reason, double wall_s, struct error *e)
{
    struct journal_launch ended = {.status = status,
                                   .wall_s = wall_s,
                                   .foreign_pct = NAN,
                                   .exit_status = -1,
                                   .step_ms = NAN,
                                   .images = NAN,
                                   .comm_replay_ms = NAN};
    snprintf(ended.launch, sizeof ended.launch, "%s", launch);
    snprintf(ended.reason, sizeof ended.reason, "%s", reason);
    return journal_done(j, &ended, e);
}

/* Writes a line of each type. The launch `second` is still running. */
static void write_sample(const struct folder *folder)
{
    struct journal j;
    struct error e = {0};
    open_journal(&j, folder, true);
    assert_int_equal(journal_skipped(&j, "001122334455", "4 ranks need 4 \"cores\"", &e), OK);
    static const char *const points[] = {"aabbccddeeff", "001122334455"};
    struct journal_launch ended = first;
    ended.status = LAUNCH_FAILED;
    ended.wall_s = 12.5;
    ended.foreign_pct = 7.5;
    ended.exit_status = 3;
    ended.noise.mhz = 2100;
    ended.noise.steal_pct = NAN;
    ended.step_ms = 20.1;
    ended.images = 256;
    ended.comm_replay_ms = 1.0 / 3;
    strcpy(ended.reason, "exit status 3: \xff");
    assert_int_equal(journal_block(&j, 3, points, 2, &e), OK);
    assert_int_equal(journal_running(&j, &first, &e), OK);
    assert_int_equal(journal_done(&j, &ended, &e), OK);
    assert_int_equal(journal_running(&j, &second, &e), OK);
    journal_close(&j);
}

static void check_sample(const struct journal *j)
{
    assert_int_equal(j->n_skips, 1);
    assert_string_equal(j->skips[0].point, "001122334455");
    assert_string_equal(j->skips[0].reason, "4 ranks need 4 \"cores\"");
    assert_int_equal(j->n_launches, 2);
    const struct journal_launch *a = &j->launches[0], *b = &j->launches[1];
    assert_string_equal(a->launch, first.launch);
    assert_string_equal(a->point, first.point);
    assert_int_equal(a->run, RUN_TIME);
    assert_int_equal(a->block, 3);
    assert_true(a->seed == 4294967295u);
    assert_int_equal(a->status, LAUNCH_FAILED);
    assert_string_equal(a->reason, "exit status 3: \\xff");
    assert_true(a->wall_s == 12.5);
    assert_true(a->foreign_pct == 7.5 && isnan(b->foreign_pct));
    assert_int_equal(strlen(a->at), strlen("2026-11-20T19:05:03Z"));
    assert_true(a->noise.mhz == 2100 && isnan(a->noise.steal_pct) && isnan(b->noise.mhz));
    assert_int_equal(a->exit_status, 3);
    assert_true(a->step_ms == 20.1 && a->images == 256 && a->comm_replay_ms == 1.0 / 3);
    assert_int_equal(j->n_blocks, 1);
    assert_int_equal(j->blocks[0].block, 3);
    assert_int_equal(j->blocks[0].first_launch, 0);
    assert_int_equal(j->blocks[0].n_points, 2);
    assert_string_equal(j->blocks[0].points[0], "aabbccddeeff");
    assert_string_equal(j->blocks[0].points[1], "001122334455");
    assert_int_equal(b->exit_status, -1);
    assert_true(isnan(b->step_ms) && isnan(b->images) && isnan(b->comm_replay_ms));
    assert_int_equal(b->run, RUN_ACCURACY);
    assert_true(b->seed == 7);
    assert_int_equal(b->status, LAUNCH_RUNNING);
    assert_false(j->finished);
}

static void test_no_journal_is_an_empty_one(void **state)
{
    struct journal j;
    open_journal(&j, *state, false);
    assert_int_equal(j.n_launches + j.n_skips, 0);
    assert_false(j.finished);
    assert_int_equal(j.fd, -1);
    journal_close(&j);
}

static void test_what_is_written_is_read(void **state)
{
    const struct folder *folder = *state;
    struct journal j;
    write_sample(folder);
    open_journal(&j, folder, false);
    check_sample(&j);
    journal_close(&j);
}

static void test_lists_follow_the_writing(void **state)
{
    const struct folder *folder = *state;
    struct journal j;
    struct error e = {0};
    open_journal(&j, folder, true);
    assert_int_equal(journal_running(&j, &first, &e), OK);
    assert_int_equal(j.launches[0].status, LAUNCH_RUNNING);
    assert_int_equal(end(&j, first.launch, LAUNCH_OK, "", 1.5, &e), OK);
    assert_int_equal(j.launches[0].status, LAUNCH_OK);
    assert_true(j.launches[0].wall_s == 1.5);
    assert_int_equal(journal_finished(&j, 1.5, &e), OK);
    assert_true(j.finished);
    journal_close(&j);
    open_journal(&j, folder, false);
    assert_true(j.finished);
    journal_close(&j);
}

/* Takes back the end of a launch. A failure stays visible and can be taken back only once. */
static void check_retry(const struct folder *folder, enum launch_status status)
{
    struct journal j;
    struct error e = {0};
    bool failed = status != LAUNCH_OK;
    unlink(folder->file);
    open_journal(&j, folder, true);
    assert_int_equal(journal_running(&j, &first, &e), OK);
    assert_int_equal(journal_retry(&j, first.launch, &e), ERR_ARGUMENT);
    assert_int_equal(end(&j, first.launch, status, "killed", 1.5, &e), OK);
    assert_int_equal(journal_finished(&j, 1.5, &e), OK);
    assert_int_equal(journal_retry(&j, first.launch, &e), OK);
    assert_int_equal(journal_retry(&j, first.launch, &e), ERR_ARGUMENT);
    journal_close(&j);
    open_journal(&j, folder, false);
    assert_int_equal(j.n_launches, 1);
    assert_int_equal(j.launches[0].status, failed ? status : LAUNCH_RUNNING);
    assert_int_equal(j.launches[0].retried, failed);
    assert_string_equal(j.launches[0].reason, failed ? "killed" : "");
    assert_true(j.launches[0].wall_s == (failed ? 1.5 : 0));
    assert_false(j.finished);
    journal_close(&j);
}

static void test_a_retry_takes_back_the_end(void **state)
{
    check_retry(*state, LAUNCH_OK);
    check_retry(*state, LAUNCH_FAILED);
    check_retry(*state, LAUNCH_TIMEOUT);
}

static void test_a_skip_is_taken_back(void **state)
{
    const struct folder *folder = *state;
    struct journal j;
    struct error e = {0};
    open_journal(&j, folder, true);
    assert_int_equal(journal_skipped(&j, "001122334455", "no PyTorch", &e), OK);
    assert_int_equal(journal_skipped(&j, "aabbccddeeff", "no cores", &e), OK);
    assert_int_equal(journal_able(&j, "001122334455", &e), OK);
    for (int read = 0; read < 2; read++) {
        assert_int_equal(j.n_skips, 1);
        assert_string_equal(j.skips[0].point, "aabbccddeeff");
        journal_close(&j);
        open_journal(&j, folder, false);
    }
    journal_close(&j);
}

/* A spec that asks for more launches resumes a finished run. */
static void test_a_new_launch_ends_being_finished(void **state)
{
    const struct folder *folder = *state;
    struct journal j;
    struct error e = {0};
    open_journal(&j, folder, true);
    assert_int_equal(journal_finished(&j, 1, &e), OK);
    assert_int_equal(journal_running(&j, &first, &e), OK);
    for (int read = 0; read < 2; read++) {
        assert_false(j.finished);
        assert_int_equal(strlen(j.launches[0].at), strlen("2026-11-20T19:05:03Z"));
        journal_close(&j);
        open_journal(&j, folder, false);
    }
    journal_close(&j);
}

static void test_an_end_needs_a_beginning(void **state)
{
    struct journal j;
    struct error e = {0};
    open_journal(&j, *state, true);
    assert_int_equal(end(&j, "launches/x", LAUNCH_OK, "", 1, &e), ERR_ARGUMENT);
    assert_int_equal(journal_running(&j, &first, &e), OK);
    assert_int_equal(end(&j, first.launch, LAUNCH_OK, "", 1, &e), OK);
    assert_int_equal(end(&j, first.launch, LAUNCH_OK, "", 1, &e), ERR_ARGUMENT);
    journal_close(&j);
}

/* However the last line was cut, earlier lines stay valid, and the next line starts on its own. */
static void test_a_torn_last_line_is_cut_off(void **state)
{
    const struct folder *folder = *state;
    static const char line[] = "{\"event\":\"skipped\",\"point\":\"p\",\"reason\":\"r\"}";
    for (size_t length = 1; length <= strlen(line); length++) {
        char torn[sizeof line];
        struct journal j;
        struct error e = {0};
        unlink(folder->file);
        write_sample(folder);
        snprintf(torn, length + 1, "%s", line);
        append_text(folder, torn);
        open_journal(&j, folder, false);
        check_sample(&j);
        journal_close(&j);
        open_journal(&j, folder, true);
        check_sample(&j);
        assert_int_equal(journal_finished(&j, 1, &e), OK);
        journal_close(&j);
        open_journal(&j, folder, false);
        assert_true(j.finished);
        journal_close(&j);
    }
}

static void test_a_damaged_line_is_named(void **state)
{
    const struct folder *folder = *state;
    static const struct {
        const char *text;
        int line;
    } bad[] = {
        {"{\"event\":\"skipped\",\"point\":\"p\",\"reason\":\"r\"}\nnonsense\n", 2},
        {"{\"event\":\"begun\"}\n", 1},
        {"{\"event\":\"block\",\"block\":0}\n", 1},
        {"{\"event\":\"block\",\"block\":-1,\"points\":[]}\n", 1},
        {"{\"event\":\"block\",\"block\":0,\"points\":[\"p\",1]}\n", 1},
        {"{\"event\":\"block\",\"block\":0,\"points\":[\"1234567890123456\"]}\n", 1},
        {"[]\n", 1},
        {"{\"event\":\"skipped\",\"point\":\"p\"}\n", 1},
        {"{\"event\":\"running\",\"launch\":\"l\",\"point\":\"p\",\"run\":\"speed\",\"block\":0,"
         "\"seed\":1}\n",
         1},
        {"{\"event\":\"running\",\"launch\":\"l\",\"point\":\"1234567890123456\",\"run\":\"time\","
         "\"block\":0,\"seed\":1}\n",
         1},
        {"{\"event\":\"done\",\"launch\":\"l\",\"status\":\"ok\",\"reason\":\"\",\"wall_s\":1}\n",
         1},
        {"{\"event\":\"running\",\"launch\":\"l\",\"point\":\"p\",\"run\":\"time\",\"block\":0,"
         "\"seed\":1}\n"
         "{\"event\":\"done\",\"launch\":\"l\",\"status\":\"fine\",\"reason\":\"\",\"wall_s\":1}\n",
         2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct journal j;
        struct error e = {0};
        put(folder, bad[i].text);
        assert_int_equal(journal_open(&j, folder->path, false, &e), ERR_DATA);
        assert_string_equal(e.file, folder->file);
        assert_int_equal(e.line, bad[i].line);
        assert_int_equal(j.fd, -1);
        assert_null(j.launches);
        assert_null(j.blocks);
    }
}

/* If the folder was removed, or removed and made again, writing must fail. */
static void test_a_journal_that_was_removed_takes_no_more(void **state)
{
    const struct folder *folder = *state;
    for (int made_anew = 0; made_anew < 2; made_anew++) {
        struct journal j;
        struct error e = {0};
        open_journal(&j, folder, true);
        assert_int_equal(journal_running(&j, &first, &e), OK);
        assert_int_equal(journal_check(&j, &e), OK);
        unlink(folder->file);
        if (made_anew)
            put(folder, "");
        assert_int_equal(journal_check(&j, &e), ERR_SYSTEM);
        assert_int_equal(end(&j, first.launch, LAUNCH_OK, "", 1, &e), ERR_SYSTEM);
        assert_string_equal(e.file, folder->file);
        assert_int_equal(j.launches[0].status, LAUNCH_RUNNING);
        journal_close(&j);
    }
}

static void test_a_second_runner_is_refused(void **state)
{
    const struct folder *folder = *state;
    struct journal one, two;
    struct error e = {0};
    open_journal(&one, folder, true);
    assert_int_equal(journal_open(&two, folder->path, true, &e), ERR_UNAVAILABLE);
    /* reading needs no lock, and the refused writer has cut nothing off */
    assert_int_equal(journal_running(&one, &first, &e), OK);
    open_journal(&two, folder, false);
    assert_int_equal(two.n_launches, 1);
    journal_close(&two);
    journal_close(&one);
    open_journal(&two, folder, true);
    journal_close(&two);
}

static void test_a_folder_that_is_not_there(void **state)
{
    struct journal j;
    struct error e = {0};
    assert_int_equal(journal_open(&j, "/tmp/no/such/folder", true, &e), ERR_SYSTEM);
    assert_string_equal(e.file, "/tmp/no/such/folder/journal.jsonl");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_no_journal_is_an_empty_one), TEST(test_what_is_written_is_read),
        TEST(test_lists_follow_the_writing),   TEST(test_a_retry_takes_back_the_end),
        TEST(test_a_skip_is_taken_back),       TEST(test_a_new_launch_ends_being_finished),
        TEST(test_an_end_needs_a_beginning),   TEST(test_a_torn_last_line_is_cut_off),
        TEST(test_a_damaged_line_is_named),    TEST(test_a_second_runner_is_refused),
        TEST(test_a_folder_that_is_not_there), TEST(test_a_journal_that_was_removed_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
