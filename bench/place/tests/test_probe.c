/* Times the fixed computation, and checks the cases without a result. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "bench/place/probe.h"
#include "kernels/base/error.h"

enum { CPUS = 4096 };

static void test_work_is_timed_on_own_processors(void **state)
{
    char list[4096];
    int numbers[CPUS];
    bool cpus[CPUS] = {false};
    struct error e = {0};
    assert_int_equal(place_read_back(list, sizeof list, &e), OK);
    int n = cpu_list_parse(list, numbers, CPUS);
    assert_true(n > 0);
    for (int i = 0; i < n && i < 2; i++)
        cpus[numbers[i]] = true;
    struct probe probe = probe_run(cpus, CPUS, 0.001);
    assert_true(probe.work_us > 0 && isfinite(probe.work_us));
    assert_true(isnan(probe.mhz) || probe.mhz > 0);
    /* Only the children were bound. */
    char again[4096];
    assert_int_equal(place_read_back(again, sizeof again, &e), OK);
    assert_string_equal(again, list);
}

static void test_what_cannot_be_used_is_unknown(void **state)
{
    bool cpus[CPUS] = {false};
    assert_true(isnan(probe_run(cpus, CPUS, 0.001).work_us));
    cpus[CPUS - 1] = true;
    assert_true(isnan(probe_run(cpus, CPUS, 0.001).work_us));
}

static void test_looking_takes_a_twentieth_at_most(void **state)
{
    bool cpus[CPUS] = {true, true};
    assert_true(probe_seconds(0.08, cpus, CPUS) == 0); /* 0.8 ms is too short */
    for (double wall_s = 0.01; wall_s < 100; wall_s *= 1.7)
        assert_true(2 * (probe_seconds(wall_s, cpus, CPUS) + 2 * 0.0005) <= 0.05 * wall_s ||
                    probe_seconds(wall_s, cpus, CPUS) == 0);
    assert_true(probe_seconds(0.5, cpus, CPUS) == 0.005);
    assert_true(probe_seconds(INFINITY, cpus, CPUS) == 0.010);
    for (int i = 0; i < 64; i++)
        cpus[i] = true;
    assert_true(probe_seconds(0.5, cpus, CPUS) == 0); /* 64 processes before, 64 after */
    assert_true(probe_seconds(2, cpus, CPUS) == 0.010);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_timed_on_own_processors),
        cmocka_unit_test(test_what_cannot_be_used_is_unknown),
        cmocka_unit_test(test_looking_takes_a_twentieth_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
