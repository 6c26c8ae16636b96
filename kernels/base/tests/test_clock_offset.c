/* Estimates of clock offsets and drift from simulated pings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "kernels/base/clock_offset.h"
#include "kernels/base/rng.h"

enum { PINGS = 100 };

/* A clock that is `ahead_ns` ahead of the other one at the other's time 0, and drifts. */
struct made_up {
    double ahead_ns, drift;
    double there_ns, back_ns; /* minimum latency in each direction */
    double noise_ns;          /* mean additional latency */
    uint32_t seed;
};

static int64_t here_ns(const struct made_up *m, double there_ns)
{
    return llround(there_ns * (1 + m->drift) + m->ahead_ns);
}

static double longer_ns(const struct made_up *m, uint32_t i, uint32_t way)
{
    return -m->noise_ns * log(1 - rng_unit(rng_word(m->seed, 1, i, way, 0)));
}

/* Simulates n consecutive pings from `begin_ns` of the other clock on. */
static void make(struct ping *pings, size_t n, const struct made_up *m, double begin_ns)
{
    double now_ns = begin_ns;
    for (size_t i = 0; i < n; i++) {
        pings[i].sent_ns = here_ns(m, now_ns);
        now_ns += m->there_ns + longer_ns(m, (uint32_t)i, 0);
        pings[i].theirs_ns = llround(now_ns);
        now_ns += m->back_ns + longer_ns(m, (uint32_t)i, 1);
        pings[i].received_ns = here_ns(m, now_ns);
    }
}

static double truth_ns(const struct made_up *m, int64_t at_ns)
{
    return (double)at_ns - ((double)at_ns - m->ahead_ns) / (1 + m->drift);
}

static struct clock_offset found(const struct made_up *m, double begin_ns)
{
    struct ping pings[PINGS];
    make(pings, PINGS, m, begin_ns);
    return clock_offset_find(pings, PINGS);
}

static bool holds(const struct made_up *m, const struct clock_offset *o)
{
    return fabs(o->offset_ns - truth_ns(m, o->at_ns)) <= o->error_ns + 2; /* rounding to whole
                                                                           * nanoseconds */
}

static void an_offset_of_a_second_is_found(void **state)
{
    struct made_up m = {.ahead_ns = 1e9, .there_ns = 20e3, .back_ns = 20e3};
    struct clock_offset o = found(&m, 5e9);
    assert_true(fabs(o.offset_ns - 1e9) <= 2);
    assert_true(o.error_ns >= 20e3 && o.error_ns < 20.1e3);
    m.ahead_ns = -1e9;
    o = found(&m, 5e9);
    assert_true(fabs(o.offset_ns + 1e9) <= 2);
}

/* The true offset is within the error bound, however unequal the two directions are. Their sum
 * alone bounds the error. */
static void the_error_bound_holds_for_unequal_latencies(void **state)
{
    for (int i = 0; i <= 10; i++) {
        struct made_up m = {.ahead_ns = 1e9, .there_ns = 10e3 * i, .back_ns = 100e3 - 10e3 * i};
        struct clock_offset o = found(&m, 5e9);
        assert_true(holds(&m, &o));
        assert_true(o.error_ns < 50.1e3);
    }
}

/* Most messages take ten times as long: a few fast ones in each direction are enough. */
static void outliers_do_not_count(void **state)
{
    for (uint32_t seed = 0; seed < 50; seed++) {
        struct made_up m = {.ahead_ns = 1e9,
                            .drift = 50e-6,
                            .there_ns = 20e3,
                            .back_ns = 20e3,
                            .noise_ns = 200e3,
                            .seed = seed};
        struct clock_offset o = found(&m, 5e9);
        assert_true(holds(&m, &o));
        assert_true(o.error_ns < 40e3);
    }
}

/* The fastest message in each direction may belong to different pings. */
static void the_fastest_directions_may_be_of_different_pings(void **state)
{
    const struct ping pings[] = {{.sent_ns = 1000, .theirs_ns = 1010, .received_ns = 2000},
                                 {.sent_ns = 3000, .theirs_ns = 3990, .received_ns = 4000}};
    struct clock_offset o = clock_offset_find(pings, 2);
    assert_true(fabs(o.offset_ns) < 1);
    assert_true(o.error_ns < 11);
    o = clock_offset_find(pings, 1);
    assert_true(o.error_ns > 500);
}

/* If a clock was set between two pings, their bounds are contradictory and must be discarded. */
static void contradictory_pings_are_discarded(void **state)
{
    const struct ping pings[] = {{.sent_ns = 1000, .theirs_ns = 1100, .received_ns = 1200},
                                 {.sent_ns = 2000, .theirs_ns = 9000, .received_ns = 2100}};
    struct clock_offset o = clock_offset_find(pings, 2);
    assert_true(fabs(o.offset_ns + 6950) < 1);
    assert_true(o.error_ns > 49 && o.error_ns < 51);
}

/* Ten minutes at 50 ppm: 30 ms difference at the end. */
static void drift_is_a_line(void **state)
{
    struct made_up m = {
        .ahead_ns = 1e9, .drift = 50e-6, .there_ns = 15e3, .back_ns = 25e3, .noise_ns = 30e3};
    struct clock_line line = {found(&m, 5e9), found(&m, 605e9)};
    double error_ns = clock_line_error_ns(&line);
    assert_true(fabs(clock_line_drift(&line) - 50e-6 / (1 + 50e-6)) < 1e-9);
    for (double t_ns = 5e9; t_ns <= 605e9; t_ns += 10e9) {
        int64_t here = here_ns(&m, t_ns);
        assert_true(fabs(clock_line_offset_ns(&line, here) - truth_ns(&m, here)) < error_ns);
    }
    assert_true(error_ns < 50e3 + 300e3); /* plus the largest effect of a changing drift */
}

/* A single moment has no drift. If a clock was set in between, the error is as large as the
 * step. */
static void lines_without_a_drift(void **state)
{
    struct clock_offset begin = {1000000, 500, 20}, later = {2000000, 1000000500, 30};
    struct clock_line point = {begin, begin}, step = {begin, later};
    assert_true(isnan(clock_line_drift(&point)));
    assert_true(clock_line_offset_ns(&point, 7) == 500);
    assert_true(clock_line_error_ns(&point) == 20);
    assert_true(clock_line_error_ns(&step) > 0.99e9);
}

/* Offsets of a host that is only known through a third host. */
static void offsets_add_up(void **state)
{
    struct clock_offset second = {5000000, 1000000, 10}, third = {4000000, -300, 20};
    struct clock_offset sum = clock_offset_chain(&second, &third);
    assert_int_equal(sum.at_ns, 5000000);
    assert_true(sum.offset_ns == 999700);
    assert_true(sum.error_ns == 30);
    third.at_ns += 1000000; /* 1 ms later; meanwhile clocks may diverge by 100 ns */
    assert_true(fabs(clock_offset_chain(&second, &third).error_ns - 130) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offset_of_a_second_is_found),
        cmocka_unit_test(the_error_bound_holds_for_unequal_latencies),
        cmocka_unit_test(outliers_do_not_count),
        cmocka_unit_test(the_fastest_directions_may_be_of_different_pings),
        cmocka_unit_test(contradictory_pings_are_discarded),
        cmocka_unit_test(drift_is_a_line),
        cmocka_unit_test(lines_without_a_drift),
        cmocka_unit_test(offsets_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
