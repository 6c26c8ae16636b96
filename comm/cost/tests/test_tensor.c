/* What sums over the slices of dense layers send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/cost/tensor.h"

static struct cost sums(int slice, int slices, size_t count, int n)
{
    struct cost c = {.wire_source = "none"};
    for (int i = 0; i < n; i++)
        tensor_add_sum(&c, slice, slices, ALGORITHM_auto, count, 4, NULL);
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

/* Of a micro-batch of which the replica has no image: the call is made, nothing travels. */
static void sums_of_nothing_are_calls(void **state)
{
    struct cost c = sums(0, 4, 0, 3);
    assert_int_equal(c.calls, 3);
    assert_int_equal(c.bytes_payload + c.bytes_wire + c.messages_wire, 0);
    assert_string_equal(c.wire_source, "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_follow_the_closed_form),
        cmocka_unit_test(sums_of_nothing_are_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
