/* Messages of sums over the slices of dense layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/tensor.h"

static struct cost sums(int slice, int slices, size_t count, int n)
{
    const struct strategy_config config = {.algorithm = ALGORITHM_auto};
    struct cost c = {.wire_source = "none"};
    for (int i = 0; i < n; i++)
        cost_add_sum(&c, &config, slice, slices, count, 4);
    return c;
}

static void powers_of_two_follow_the_closed_form(void **state)
{
    for (int slices = 2, lg = 1; slices <= 16; slices *= 2, lg++) {
        struct cost c = sums(slices - 1, slices, 3200, 6);
        assert_int_equal(c.calls, 6);
        assert_int_equal(c.bytes_payload, 6 * 3200 * 4);
        assert_int_equal(c.messages_wire, 6 * 2 * lg);
        assert_int_equal(c.bytes_wire, 6 * 2 * (slices - 1) * 3200 / slices * 4);
        assert_string_equal(c.wire_source, "formula: reduce_scatter_allgather");
    }
}

/* For a micro-batch without images the call is made, but no bytes are sent. */
static void sums_of_nothing_are_calls(void **state)
{
    struct cost c = sums(0, 4, 0, 3);
    assert_int_equal(c.calls, 3);
    assert_int_equal(c.bytes_payload + c.bytes_wire + c.messages_wire, 0);
    assert_string_equal(c.wire_source, "none");
}

/* If the library uses two algorithms for short and long vectors, the source names both. */
static void sources_of_sums_are_joined(void **state)
{
    const struct strategy_config config = {.calls = CALL_NONBLOCKING};
    struct cost c = {.wire_source = "none"};
    cost_add_sum(&c, &config, 0, 2, 512, 4);
    assert_string_equal(c.wire_source, "formula: recursive_doubling");
    assert_int_equal(c.messages_wire, 1);
    cost_add_sum(&c, &config, 0, 2, 513, 4);
    assert_string_equal(c.wire_source, "formula: recursive_doubling, reduce_scatter_allgather");
    assert_int_equal(c.messages_wire, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_follow_the_closed_form),
        cmocka_unit_test(sums_of_nothing_are_calls),
        cmocka_unit_test(sources_of_sums_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
