/* Tests the segments of an elastic run: written, read back, damaged, summed up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/record/segments.h"

struct folder {
    char path[64], file[128], progress[96];
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    strcpy(folder->path, "/tmp/test_segments.XXXXXX");
    *state = folder;
    if (!mkdtemp(folder->path))
        return -1;
    snprintf(folder->file, sizeof folder->file, "%s/seed1.segments.json", folder->path);
    snprintf(folder->progress, sizeof folder->progress, "%s/progress", folder->path);
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    unlink(folder->file);
    unlink(folder->progress);
    int failed = rmdir(folder->path);
    free(folder);
    return failed;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct attempt *add(struct segments *s, enum attempt_end end, double begin_s)
{
    struct error e;
    struct attempt *a;
    assert_int_equal(segments_add(s, &a, &e), OK);
    strcpy(a->launch, "launches/1a2b3c4d5e6f/seed1-000");
    a->ranks = a->nodes = 1;
    a->end = end;
    a->begin_s = begin_s;
    a->end_s = begin_s + 9;
    return a;
}

/* Reports steps `resumed` to `steps`, one per second, beginning 2 s after the attempt. */
static void tell(struct attempt *a, double resumed, double steps)
{
    a->progress = (struct attempt_progress){.resumed = resumed,
                                            .steps = steps,
                                            .epoch = 1,
                                            .first_step_s = a->begin_s + 2,
                                            .last_step_s = a->begin_s + 1 + steps - resumed};
}

static void lies_beside_its_launches(void **state)
{
    char path[64];
    struct error e;
    assert_int_equal(segments_path(path, sizeof path, "/run/launches/p/seed1-012", &e), OK);
    assert_string_equal(path, "/run/launches/p/seed1.segments.json");
    assert_int_equal(segments_path(path, 30, "/run/launches/p/seed1-012", &e), ERR_ARGUMENT);
}

static void reads_back_what_was_written(void **state)
{
    const struct folder *folder = *state;
    struct segments s, none = {NULL, 0};
    struct error e;
    assert_int_equal(segments_read(&s, folder->file, &e), OK);
    assert_int_equal(s.n, 0);
    struct attempt *first = add(&none, ATTEMPT_DIED, 1e9 + 0.25);
    tell(first, 0, 5);
    strcpy(first->reason, "rank 1 \xff");
    add(&none, ATTEMPT_RUNNING, 1e9 + 20);
    assert_int_equal(segments_write(&none, folder->file, &e), OK);
    assert_int_equal(segments_read(&s, folder->file, &e), OK);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.attempts[0].end, ATTEMPT_DIED);
    assert_string_equal(s.attempts[0].reason, "rank 1 \\xff");
    assert_true(s.attempts[0].begin_s == 1e9 + 0.25 && s.attempts[0].progress.steps == 5);
    assert_int_equal(s.attempts[1].end, ATTEMPT_RUNNING);
    assert_true(isnan(s.attempts[1].progress.steps));
    segments_free(&s);
    segments_free(&none);
}

static void refuses_what_is_none(void **state)
{
    static const char *const wrong[] = {
        "",
        "{}",
        "[1]",
        "[{}]",
        "[{\"launch\": \"a\", \"segment\": 0, \"ranks\": 0, \"nodes\": 1, \"end\": \"done\", "
        "\"reason\": \"\"}]",
        "[{\"launch\": \"a\", \"segment\": 0, \"ranks\": 1, \"nodes\": 1, \"end\": \"well\", "
        "\"reason\": \"\"}]"};
    const struct folder *folder = *state;
    struct segments s;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error e = {0};
        put(folder->file, wrong[i]);
        assert_int_equal(segments_read(&s, folder->file, &e), ERR_DATA);
        assert_string_equal(e.file, folder->file);
        assert_null(s.attempts);
    }
}

static void takes_what_ranks_tell(void **state)
{
    const struct folder *folder = *state;
    struct attempt_progress p;
    attempt_progress_read(&p, folder->path);
    assert_true(isnan(p.steps) && isnan(p.first_step_s));
    put(folder->progress, "{\"resumed\":         40, \"steps\":         40, \"epoch\":       2, "
                          "\"first_step_at_s\":           0.000000, \"last_step_at_s\": 0.0}\n");
    attempt_progress_read(&p, folder->path);
    assert_true(p.resumed == 40 && p.steps == 40 && p.epoch == 2);
    assert_true(isnan(p.first_step_s) && isnan(p.last_step_s));
}

/* A planned change at step 4, a death at step 9, and a death before the first step. The
 * checkpoint is at step 7. */
static void sums_up(void **state)
{
    struct segments s = {NULL, 0};
    struct segments_total total;
    tell(add(&s, ATTEMPT_DONE, 100), 0, 4); /* last step at 105 */
    tell(add(&s, ATTEMPT_DIED, 110), 4, 9); /* first at 112, last at 116 */
    add(&s, ATTEMPT_DIED, 120);
    tell(add(&s, ATTEMPT_STOPPED, 130), 7, 8); /* first at 132 */
    tell(add(&s, ATTEMPT_DONE, 140), 8, 12);
    assert_true(isnan(attempt_lost_steps(&s, 0)) && attempt_lost_steps(&s, 3) == 2);
    assert_true(attempt_pause_s(&s, 1) == 7 && attempt_pause_s(&s, 3) == 16);
    segments_sum(&total, &s);
    assert_int_equal(total.restarts, 2);
    assert_true(total.lost_steps == 2 && total.change_s == 7 && total.recovery_s == 16);
    segments_free(&s);
}

/* An attempt without steps left to do ends the pause at its end. If no attempt had a step, the
 * pause begins with the run. */
static void sums_up_what_had_no_steps(void **state)
{
    struct segments s = {NULL, 0};
    struct segments_total total;
    add(&s, ATTEMPT_DIED, 100);
    tell(add(&s, ATTEMPT_DIED, 110), 0, 5); /* first at 112, last at 116 */
    struct attempt *last = add(&s, ATTEMPT_DONE, 120);
    last->progress.resumed = last->progress.steps = 5;
    segments_sum(&total, &s);
    assert_int_equal(total.restarts, 2);
    assert_true(total.lost_steps == 0 && total.change_s == 0);
    assert_true(total.recovery_s == (112 - 100) + (129 - 116));
    segments_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_beside_its_launches),
        cmocka_unit_test_setup_teardown(reads_back_what_was_written, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(refuses_what_is_none, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(takes_what_ranks_tell, make_folder, remove_folder),
        cmocka_unit_test(sums_up),
        cmocka_unit_test(sums_up_what_had_no_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
