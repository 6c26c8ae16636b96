/* Tests the bounds of ops on given rates: which unit limits an op, its share and its mark. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "bench/workloads/sweeps/kernel/limits.h"

/* Caches of 1 and 32 MiB, with powers of two as rates. */
static struct limits a_core(void)
{
    struct limits l = {.gbyte_per_s = {128, 64, 16}};
    struct error e;
    static real some[1];
    assert_int_equal(limits_read_caches(&l, "32K 32K 1024K 32M", &e), OK);
    l.x[LEVEL_L3] = some;
    return l;
}

static struct limit_row an_op(double time_ms, double flop, double bytes)
{
    return (struct limit_row){.op = "layer",
                              .pass = "forward",
                              .time_ms = time_ms,
                              .flop_done = flop,
                              .bytes = bytes,
                              .unit_gflop_per_s = 100};
}

/* Judges one op in a step of 100 ms. */
static struct limit_row judged(struct limit_row op)
{
    const struct limits l = a_core();
    struct limit_row rows[] = {op, {.op = "step", .pass = "train", .time_ms = 100}};
    limits_judge(&l, rows, 2);
    return rows[0];
}

static void near(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-12 * expected);
}

static void limited_by(struct limit_row op, const char *bound, double bound_ms)
{
    struct limit_row row = judged(op);
    assert_string_equal(row.bound, bound);
    near(row.bound_ms, bound_ms);
    near(row.distance, op.time_ms / bound_ms);
}

static void caches_are_read(void **state)
{
    struct limits l = {.n = {0}};
    struct error e;
    assert_int_equal(limits_read_caches(&l, "48K 32K 2048K 260M", &e), OK);
    assert_int_equal(l.cache_bytes[LEVEL_L2], 2048 << 10);
    assert_int_equal(l.cache_bytes[LEVEL_L3], 260 << 20);
    assert_int_equal(limits_read_caches(&l, "64K 64K 1024K", &e), OK);
    assert_int_equal(l.cache_bytes[LEVEL_L3], 0);
    assert_int_equal(limits_read_caches(&l, "", &e), ERR_UNAVAILABLE);
    assert_int_equal(limits_read_caches(&l, "64K 64K", &e), ERR_UNAVAILABLE);
}

static void the_slower_of_unit_and_memory_limits(void **state)
{
    limited_by(an_op(3, 2e8, 1e6), "compute", 2);
    limited_by(an_op(3, 1e5, 1e6), "l2", 1e6 / 128e6);
    limited_by(an_op(3, 0, 1e6), "l2", 1e6 / 128e6);
}

/* The level is the smallest cache that holds all bytes. */
static void the_bytes_choose_the_level(void **state)
{
    const double l2 = 1 << 20, l3 = 32 << 20;
    limited_by(an_op(3, 0, l2), "l2", l2 / 128e6);
    limited_by(an_op(3, 0, l2 + 1), "l3", (l2 + 1) / 64e6);
    limited_by(an_op(3, 0, l3), "l3", l3 / 64e6);
    limited_by(an_op(3, 0, l3 + 1), "memory", (l3 + 1) / 16e6);
}

static void without_a_third_level_memory_follows_the_second(void **state)
{
    struct limits l = {.gbyte_per_s = {128, 0, 16}};
    struct error e;
    struct limit_row rows[] = {an_op(1, 0, 2e6), {.op = "step", .pass = "train", .time_ms = 2}};
    assert_int_equal(limits_read_caches(&l, "64K 64K 1024K", &e), OK);
    limits_judge(&l, rows, 2);
    assert_string_equal(rows[0].bound, "memory");
    assert_true(isnan(rows[0].l3_gbyte_per_s));
}

/* An op is marked if both its share exceeds 5 % and its distance 1.5. */
static void far_and_large_ops_are_marked(void **state)
{
    assert_null(judged(an_op(5.0, 1e8, 1)).note); /* 5 % of the step, distance 5 */
    assert_non_null(judged(an_op(5.1, 1e8, 1)).note);
    assert_null(judged(an_op(6.0, 4e8, 1)).note); /* 6 %, distance 1.5 */
    assert_non_null(judged(an_op(6.1, 4e8, 1)).note);
    near(judged(an_op(6.1, 4e8, 1)).share_pct, 6.1);
}

static void known_reasons_are_named(void **state)
{
    struct limit_row loss = an_op(10, 0, 1e3), unknown = loss, other_pass = loss;
    loss.op = other_pass.op = "loss";
    loss.pass = "train";
    unknown.op = "op_of_a_test";
    assert_string_equal(judged(other_pass).note, "no reason known");
    assert_string_not_equal(judged(loss).note, "no reason known");
    assert_string_equal(judged(unknown).note, "no reason known");
}

static void the_step_sums_bounds_and_the_longest_op_is_first(void **state)
{
    const struct limits l = a_core();
    struct limit_row rows[] = {an_op(1, 1e8, 1e3),
                               an_op(8, 2e8, 1e3),
                               an_op(3, 3e8, 1e3),
                               {.op = "step", .pass = "train", .time_ms = 15}};
    limits_judge(&l, rows, 4);
    near(rows[0].time_ms, 8);
    near(rows[1].time_ms, 3);
    near(rows[2].time_ms, 1);
    assert_string_equal(rows[3].op, "step");
    assert_null(rows[3].bound);
    assert_null(rows[3].note);
    near(rows[3].bound_ms, 6);
    near(rows[3].distance, 2.5);
    near(rows[3].share_pct, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_are_read),
        cmocka_unit_test(the_slower_of_unit_and_memory_limits),
        cmocka_unit_test(the_bytes_choose_the_level),
        cmocka_unit_test(without_a_third_level_memory_follows_the_second),
        cmocka_unit_test(far_and_large_ops_are_marked),
        cmocka_unit_test(known_reasons_are_named),
        cmocka_unit_test(the_step_sums_bounds_and_the_longest_op_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
