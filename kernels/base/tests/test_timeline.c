/* Spans of steps: which steps are kept, and what happens if there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/base/timeline.h"

enum { STEPS = 3, ROOM = 4096 }; /* ROOM: spans reserved for a step at least */
static const size_t plenty = 64 << 20;

static struct timeline *open_timeline(void)
{
    struct timeline *t;
    struct error e;
    assert_int_equal(timeline_open(&t, STEPS, plenty, &e), OK);
    return t;
}

static void begin(struct timeline *t)
{
    struct error e;
    assert_int_equal(timeline_begin(t, &e), OK);
}

static void add(struct timeline *t, int64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        timeline_add(t, PHASE_forward, "conv1", first + (int64_t)i, first + (int64_t)i + 1);
}

static void kept_steps_have_their_own_spans(void **state)
{
    struct timeline *t = open_timeline();
    const struct timeline_span *spans;
    size_t n;
    for (int step = 0; step < 5; step++) {
        begin(t);
        add(t, 100 * step, (size_t)step + 1);
        if (step != 1) /* step 1 is discarded, like a warm-up step */
            timeline_keep(t);
    }
    assert_int_equal(timeline_steps(t), STEPS);
    spans = timeline_step(t, 0, &n);
    assert_int_equal(n, 1);
    assert_int_equal(spans[0].begin_ns, 0);
    spans = timeline_step(t, 2, &n);
    assert_int_equal(n, 4);
    assert_int_equal(spans[3].begin_ns, 303);
    assert_int_equal(spans[3].end_ns, 304);
    assert_int_equal(spans[3].phase, PHASE_forward);
    assert_string_equal(spans[3].name, "conv1");
    assert_int_equal(timeline_lost(t), 0);
    timeline_close(t);
}

static void a_step_larger_than_any_before_loses_spans(void **state)
{
    struct timeline *t = open_timeline();
    const struct timeline_span *spans;
    size_t n, room;
    begin(t);
    add(t, 0, 10 * ROOM);
    timeline_keep(t);
    spans = timeline_step(t, 0, &room);
    assert_true(room >= ROOM && spans[room - 1].begin_ns == (int64_t)room - 1);
    assert_int_equal(timeline_lost(t), 10 * ROOM - room);
    begin(t); /* room for twice the spans of the largest step */
    add(t, 0, 2 * room);
    timeline_keep(t);
    timeline_step(t, 1, &n);
    assert_int_equal(n, 2 * room);
    assert_int_equal(timeline_lost(t), 10 * ROOM - room);
    timeline_close(t);
}

/* Room is reserved for twice the largest step so far: three steps fit, a fourth would not. */
static void memory_stays_below_its_limit(void **state)
{
    struct timeline *t;
    struct error e;
    size_t n;
    assert_int_equal(timeline_open(&t, 100, 4 * ROOM * sizeof(struct timeline_span), &e), OK);
    for (int step = 0; step < 10; step++) {
        begin(t);
        add(t, 100000 * step, ROOM);
        timeline_keep(t);
    }
    assert_int_equal(timeline_steps(t), 3);
    assert_int_equal(timeline_step(t, 2, &n)[0].begin_ns, 200000);
    assert_int_equal(n, ROOM);
    assert_int_equal(timeline_lost(t), 0);
    timeline_close(t);
}

/* Part of the first step is still kept. */
static void a_step_larger_than_all_bytes_loses_spans(void **state)
{
    struct timeline *t;
    struct error e;
    size_t n;
    assert_int_equal(timeline_open(&t, 100, 10 * sizeof(struct timeline_span), &e), OK);
    begin(t);
    add(t, 0, 25);
    timeline_keep(t);
    timeline_step(t, 0, &n);
    assert_int_equal(n, 10);
    assert_int_equal(timeline_lost(t), 15);
    timeline_close(t);
}

static void without_a_timeline_nothing_is_kept(void **state)
{
    begin(NULL);
    assert_int_equal(timeline_now(NULL), 0);
    add(NULL, 0, 1);
    timeline_end(NULL, PHASE_comm, "ring", 0);
    timeline_keep(NULL);
    assert_int_equal(timeline_steps(NULL), 0);
    assert_int_equal(timeline_lost(NULL), 0);
    timeline_close(NULL);
}

static void phases_have_their_names(void **state)
{
    assert_string_equal(phase_names()[PHASE_step], "step");
    assert_string_equal(phase_names()[PHASE_inject], "inject");
    assert_int_equal(PHASE_inject + 1, PHASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_steps_have_their_own_spans),
        cmocka_unit_test(a_step_larger_than_any_before_loses_spans),
        cmocka_unit_test(memory_stays_below_its_limit),
        cmocka_unit_test(a_step_larger_than_all_bytes_loses_spans),
        cmocka_unit_test(without_a_timeline_nothing_is_kept),
        cmocka_unit_test(phases_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
