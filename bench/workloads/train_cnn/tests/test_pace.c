/* Tests sleeping in place of computing with a simulated clock, and calibration files, valid and
 * damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/replay/calibration.h"
#include "bench/workloads/train_cnn/parts/pace.h"

/* ---- A clock ---- */

/* Simulated clock: sleeps end `late_ns` late, and offering the core takes `offer_ns`. */
static struct {
    int64_t now_ns, late_ns, offer_ns;
    int sleeps, offers, polls;
} machine;

static int64_t now_ns(void *arg)
{
    return machine.now_ns;
}

static void sleep_until(void *arg, int64_t ns)
{
    machine.sleeps++;
    assert_true(ns > machine.now_ns);
    machine.now_ns = ns + machine.late_ns;
}

static void offer_core(void *arg)
{
    machine.offers++;
    machine.now_ns += machine.offer_ns;
}

static void poll(void *arg)
{
    machine.polls++;
}

static struct pace made_up(int64_t late_ns)
{
    memset(&machine, 0, sizeof machine);
    machine.now_ns = 1000000;
    machine.late_ns = late_ns;
    machine.offer_ns = 10;
    return (struct pace){.clock = {now_ns, sleep_until, offer_core, NULL}, .margin_ns = 50000};
}

static void assert_now(int64_t since_ns)
{
    assert_int_equal(machine.now_ns - 1000000, since_ns);
}

/* An exact end is met for any lateness within the margin. */
static void an_awaited_end_is_met(void **state)
{
    for (int64_t late_ns = 0; late_ns <= 50000; late_ns += 5000) {
        struct pace p = made_up(late_ns);
        pace_pass(&p, 2000000, true);
        assert_now(2000000);
        assert_int_equal(machine.sleeps, 1);
        pace_pass(&p, 30000, true); /* too short for a sleep */
        assert_now(2030000);
        assert_int_equal(machine.sleeps, 1);
        assert_int_equal(p.owed_ns, 0);
        assert_int_equal(p.late_ns, 0);
    }
}

/* Ends that nobody sees are slept together, without offering the core in between. */
static void short_ops_are_owed(void **state)
{
    struct pace p = made_up(20000);
    for (int i = 0; i < 5; i++)
        pace_pass(&p, 10000, false);
    assert_now(0);
    assert_int_equal(p.owed_ns, 50000);
    pace_pass(&p, 200000, false);
    assert_int_equal(machine.sleeps, 1);
    assert_now(220000); /* 250000 minus the margin, plus 20000 late */
    assert_int_equal(machine.offers, 0);
    pace_pass(&p, 1000, true);
    assert_now(251000);
}

/* A busy core delays the next op, but not all later ones. */
static void lateness_is_made_up_within_a_step(void **state)
{
    struct pace p = made_up(350000);
    pace_pass(&p, 1000000, true);
    assert_now(1300000);
    assert_int_equal(p.late_ns, 300000);
    machine.late_ns = 0;
    pace_pass(&p, 1000000, true);
    assert_now(2000000);
    assert_int_equal(p.late_ns, 300000);
}

/* Unseen lateness does not count. */
static void lateness_that_is_made_up_unseen_does_not_count(void **state)
{
    struct pace p = made_up(350000);
    pace_pass(&p, 1000000, false);
    assert_now(1300000);
    machine.late_ns = 0;
    pace_pass(&p, 1000000, true);
    assert_now(2000000);
    assert_int_equal(p.late_ns, 0);
    machine.late_ns = 350000;
    pace_pass(&p, 1000000, false);
    pace_pass(&p, 100000, true); /* too short to make up for it */
    assert_int_equal(p.late_ns, 200000);
    pace_pass(&p, 50000, true);
    assert_int_equal(p.late_ns, 200000);
}

/* Other ranks have waited for the lateness, so it cannot be made up. */
static void lateness_is_not_made_up_in_the_next_step(void **state)
{
    struct pace p = made_up(350000);
    pace_pass(&p, 1000000, true);
    pace_step_begin(&p);
    machine.late_ns = 0;
    pace_pass(&p, 1000000, true);
    assert_now(2300000);
    assert_int_equal(p.late_ns, 0);
}

/* Time between two calls, such as messages, is not computing. */
static void other_work_does_not_count(void **state)
{
    struct pace p = made_up(0);
    pace_pass(&p, 1000000, true);
    machine.now_ns += 7000000;
    pace_pass(&p, 1000000, true);
    assert_now(9000000);
}

static void messages_are_polled_meanwhile(void **state)
{
    struct pace p = made_up(0);
    p.poll = poll;
    p.poll_ns = 200000;
    pace_pass(&p, 1050000, true);
    assert_now(1050000);
    assert_int_equal(machine.polls, 5);
}

/* ---- Files ---- */

static char folder[] = "/tmp/test_pace.XXXXXX";

static int make_folder(void **state)
{
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/rank.0.times.json", folder);
    unlink(path);
    return rmdir(folder);
}

static void write_file(const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/rank.0.times.json", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

#define HEAD                                                                                       \
    "{\"schema\":1,\"model\":\"m\",\"plan\":\"fast\",\"optimizer\":\"sgd\",\"params\":7,"          \
    "\"images\":32,\"threads\":1,"
#define OPS "\"ops\":[{\"name\":\"conv\",\"tensors\":[0,2]},{\"name\":\"pool\",\"tensors\":[2,2]}],"

static void a_file_is_read(void **state)
{
    struct calibration c;
    struct error e;
    write_file(HEAD OPS "\"steps_ns\":[[1,2,3,4,5,6,7],[10,20,30,40,50,60,70]]}");
    assert_int_equal(calibration_ranks(folder), 1);
    assert_int_equal(calibration_read(&c, folder, 0, &e), OK);
    assert_int_equal(c.n_ops, 2);
    assert_int_equal(c.n_steps, 2);
    assert_int_equal(c.ops[0].last, 2);
    const int64_t *second = c.ns + calibration_parts(&c);
    assert_int_equal(second[calibration_part(&c, PART_LOAD, 0)], 10);
    assert_int_equal(second[calibration_part(&c, PART_FORWARD, 1)], 30);
    assert_int_equal(second[calibration_part(&c, PART_LOSS, 0)], 40);
    assert_int_equal(second[calibration_part(&c, PART_BACKWARD, 0)], 50);
    assert_int_equal(second[calibration_part(&c, PART_OPTIMIZER, 0)], 70);
    /* A written file can be read back. */
    struct calibration again;
    assert_int_equal(calibration_write(&c, folder, 0, &e), OK);
    assert_int_equal(calibration_read(&again, folder, 0, &e), OK);
    assert_memory_equal(again.ns, c.ns, 14 * sizeof *c.ns);
    assert_string_equal(again.ops[1].name, "pool");
    calibration_free(&again);
    calibration_free(&c);
}

static void refuse(const char *text, const char *expected)
{
    struct calibration c;
    struct error e = {.status = OK};
    write_file(text);
    assert_int_equal(calibration_read(&c, folder, 0, &e), ERR_DATA);
    assert_non_null(strstr(e.file, "rank.0.times.json"));
    if (strncmp(e.text, expected, strlen(expected)) != 0)
        fail_msg("'%s' instead of '%s'", e.text, expected);
    calibration_free(&c);
}

static void bad_files_are_refused(void **state)
{
    struct calibration c;
    struct error e = {.status = OK};
    refuse("", "'[' or '{' expected");
    refuse("{\"schema\":1", "'}' expected");
    refuse("[]", "expected times of ops of schema 1");
    refuse("{\"schema\":2}", "expected times of ops of schema 1");
    refuse("{\"schema\":1,\"model\":3}", "model, plan, optimizer, params, images or threads is");
    refuse(HEAD "\"ops\":[]}", "ops is missing or empty");
    refuse(HEAD "\"ops\":[{\"name\":\"conv\",\"tensors\":[2,0]}]}", "an op must be a name with");
    refuse(HEAD OPS "\"steps_ns\":[]}", "steps_ns is missing or empty");
    refuse(HEAD OPS "\"steps_ns\":[[1,2]]}", "step 1 has 2 measured times instead of 7 for 2 ops");
    refuse(HEAD OPS "\"steps_ns\":[[1,2,3,4,5,6,-7]]}",
           "step 1: entry 7 must be a time from 0 ns to 1 hour");
    refuse(HEAD OPS "\"steps_ns\":[[1,2,3,4,5,6,1.5]]}",
           "step 1: entry 7 must be a time from 0 ns to 1 hour");
    assert_int_equal(calibration_read(&c, folder, 1, &e), ERR_ARGUMENT);
    assert_non_null(strstr(e.text, "rank.1.times.json not found"));
    calibration_free(&c);
}

static void other_work_is_refused(void **state)
{
    const struct calibrated_work is = {"m", "fast", "sgd", 7, 32, 1, 1};
    struct calibration c = {.work = is};
    struct calibrated_work wanted = is;
    struct error e = {.status = OK};
    assert_int_equal(calibration_check(&c, &wanted, "there", &e), OK);
    wanted.images = 64;
    assert_int_equal(calibration_check(&c, &wanted, "there", &e), ERR_ARGUMENT);
    assert_string_equal(e.text,
                        "there: this rank has images per step = 64, but the times of ops were "
                        "measured with 32. Calibrate with the network, kernel plan, optimizer, "
                        "batch and threads of this rank");
    wanted = is;
    strcpy(wanted.plan, "exact");
    assert_int_equal(calibration_check(&c, &wanted, "there", &e), ERR_ARGUMENT);
    wanted = is;
    wanted.params = 8;
    assert_int_equal(calibration_check(&c, &wanted, "there", &e), ERR_ARGUMENT);
    wanted = is;
    wanted.micro_batches = 2;
    assert_int_equal(calibration_check(&c, &wanted, "there", &e), ERR_ARGUMENT);
    assert_non_null(
        strstr(e.text, "has train.accumulate = 2, but the times of ops were measured with 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_awaited_end_is_met),
        cmocka_unit_test(short_ops_are_owed),
        cmocka_unit_test(lateness_is_made_up_within_a_step),
        cmocka_unit_test(lateness_that_is_made_up_unseen_does_not_count),
        cmocka_unit_test(lateness_is_not_made_up_in_the_next_step),
        cmocka_unit_test(other_work_does_not_count),
        cmocka_unit_test(messages_are_polled_meanwhile),
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(other_work_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
