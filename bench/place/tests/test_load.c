/* Computes the load by other programs from texts in the kernel's format. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/place/load.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* user nice system idle iowait irq softirq steal guest guest_nice, in hundredths of a second */
static const char before[] = "cpu  3000 0 300 9000 100 0 10 0 0 0\n"
                             "cpu0 1000 10 100 5000 50 1 2 7 500 0\n"
                             "cpu1 2000 0 200 4000 50 0 8 0 0 0\n"
                             "cpu10 900 0 0 0 0 0 0 0 0 0\n"
                             "intr 12345 0 0\nctxt 99\n";
static const char after[] = "cpu  4000 0 300 9000 100 0 10 0 0 0\n"
                            "cpu0 1500 20 140 5350 50 2 7 96 700 0\n"
                            "cpu1 2100 0 200 4900 50 0 8 0 0 0\n"
                            "cpu10 1900 0 0 0 0 0 0 0 0 0\n"
                            "intr 12345 0 0\nctxt 99\n";
static const bool first[11] = {true}, second[11] = {false, true}, both[11] = {true, true};

static struct load parse(const char *text, const bool *cpus)
{
    struct load load;
    assert_true(load_parse(&load, text, 100, cpus, 11));
    return load;
}

/* A processor was busy for 5.56 s of 9.95 s, and 0.89 s were stolen. */
static void others_take_what_is_not_ours(void **state)
{
    struct load a = parse(before, first), b = parse(after, first);
    NEAR(b.total_s - a.total_s, 9.95);
    NEAR(b.busy_s - a.busy_s, 5.56);
    NEAR(load_foreign_pct(&a, &b, 0), 100 * (5.56 + 0.89) / 9.95);
    NEAR(load_foreign_pct(&a, &b, 5), 100 * (0.56 + 0.89) / 9.95);
    /* If our program also ran elsewhere, only the stolen time is left for others. */
    NEAR(load_foreign_pct(&a, &b, 7), 100 * 0.89 / 9.95);
    NEAR(load_steal_pct(&a, &b), 100 * 0.89 / 9.95);
}

static void only_processors_of_ours_count(void **state)
{
    struct load a = parse(before, second), b = parse(after, second);
    NEAR(load_foreign_pct(&a, &b, 0), 10);
    a = parse(before, both);
    b = parse(after, both);
    NEAR(load_foreign_pct(&a, &b, 0), 100 * (5.56 + 0.89 + 1) / 19.95);
}

static void what_is_not_told_is_unknown(void **state)
{
    struct load a = parse(before, first), b;
    assert_true(isnan(load_foreign_pct(&a, &a, 0)));
    assert_true(isnan(load_steal_pct(&a, &a)));
    const bool fourth[4] = {false, false, false, true};
    assert_false(load_parse(&b, before, 100, fourth, 4));
    assert_false(load_parse(&b, "cpu0 1 2 3\n", 100, first, 11));
    assert_false(load_parse(&b, "", 100, first, 11));
}

static void this_kernel_tells(void **state)
{
    static bool all[4096];
    struct load load;
    for (int i = 0; i < 4096; i++)
        all[i] = true;
    assert_true(load_read(&load, all, 4096));
    assert_true(load.total_s > 0 && load.busy_s <= load.total_s);
}

/* Keeps a processor busy. The process cannot use more than the processor's time. */
static void a_process_knows_its_own_share(void **state)
{
    struct load_mark mark, unknown = {.cpus = ""};
    struct load_share share = {0};
    load_mark_take(&mark);
    assert_true(mark.cpus[0] != '\0' && mark.own_s > 0);
    while (share.own_s < 0.05)
        share = load_since(&mark);
    double ticks_s = 0.02; /* the kernel counts whole ticks */
    assert_true(share.own_s < share.total_s + ticks_s && share.busy_s + share.steal_s > 0);
    assert_true(share.busy_s + share.steal_s < share.total_s + ticks_s);
    assert_true(isnan(load_since(&unknown).total_s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_take_what_is_not_ours),
        cmocka_unit_test(only_processors_of_ours_count),
        cmocka_unit_test(what_is_not_told_is_unknown),
        cmocka_unit_test(this_kernel_tells),
        cmocka_unit_test(a_process_knows_its_own_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
