/* Parses texts in the kernel's format and malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bench/resources/counters.h"

static const char net[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs ...\n"
    "    lo: 208890250  146319    0    0    0     0          0         0 208890250  146319 0 0\n"
    "  ifb0:       0       0    0    0    0     0          0         0        0       0 0 0\n"
    "eth0:1:99 1 0 0 0 0 0 0 98 2 0 0 0 0 0 0\n"
    "  eth0:2449149540000    7088    3    0    0     0          0         0   204155    2600\n"
    " torn: 5 6 0 0\n"
    "a_name_that_is_too_long: 1 1 0 0 0 0 0 0 1 1\n"
    "  q\"te: 1 1 0 0 0 0 0 0 1 1\n";

static void interfaces_that_carry_something_are_found(void **state)
{
    struct interface_counts all[INTERFACES_MAX];
    assert_int_equal(counters_parse_interfaces(all, net), 3);
    assert_string_equal(all[0].name, "lo");
    assert_int_equal(all[0].counts[TRAFFIC_TX_PACKETS], 146319);
    assert_string_equal(all[1].name, "eth0:1");
    assert_int_equal(all[1].counts[TRAFFIC_RX_BYTES], 99);
    assert_string_equal(all[2].name, "eth0");
    assert_int_equal(all[2].counts[TRAFFIC_RX_BYTES], 2449149540000);
    assert_int_equal(all[2].counts[TRAFFIC_RX_PACKETS], 7088);
    assert_int_equal(all[2].counts[TRAFFIC_TX_BYTES], 204155);
    assert_int_equal(all[2].counts[TRAFFIC_TX_PACKETS], 2600);
    assert_int_equal(counters_parse_interfaces(all, ""), 0);
}

static void more_interfaces_than_there_is_room_are_left_out(void **state)
{
    static char text[100 * 64];
    struct interface_counts all[INTERFACES_MAX];
    size_t n = 0;
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "veth%d: 1 1 0 0 0 0 0 0 1 1\n", i);
    assert_int_equal(counters_parse_interfaces(all, text), INTERFACES_MAX);
}

static void the_default_route_of_least_metric_counts(void **state)
{
    char name[INTERFACE_NAME] = "";
    assert_true(counters_parse_route(
        name, "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
              "wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
              "eth1\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
              "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"));
    assert_string_equal(name, "eth1");
    assert_false(counters_parse_route(name, "Iface\tDestination\tGateway\n"));
    assert_false(counters_parse_route(name, ""));
}

static void times_of_a_process_are_parsed(void **state)
{
    struct process_counts p;
    assert_true(counters_parse_process(
        &p, "41 (a) b (c) S 40 41 41 0 -1 4194560 900 0 3 0 200 30 11 2 20 0 3 0 5678 99999 256 "
            "18446744073709551615 1 1 0\n"));
    assert_int_equal(p.parent, 40);
    assert_true(p.user_ticks == 211 && p.sys_ticks == 32);
    assert_int_equal(p.start_ticks, 5678);
    assert_true(p.resident_pages == 256);
    assert_false(counters_parse_process(&p, "41 (a) S 40 41 41 0 -1"));
    assert_false(counters_parse_process(&p, ""));
}

static void the_last_process_is_parsed(void **state)
{
    assert_int_equal(counters_parse_last_process("22.60 18.01 9.30 5/361 12345\n"), 12345);
    assert_int_equal(counters_parse_last_process("22.60 18.01\n"), -1);
}

static void counters_advance_over_their_end(void **state)
{
    int64_t full = (int64_t)1 << 32;
    assert_int_equal(counters_advance(5, 9), 4);
    assert_int_equal(counters_advance(full - 10, 20), 30);
    /* After a reset, the new value is the increase. */
    assert_int_equal(counters_advance(1000, 20), 20);
    assert_int_equal(counters_advance(3 * full, 20), 20);
    assert_int_equal(counters_advance(full - 10, full - 20), full - 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interfaces_that_carry_something_are_found),
        cmocka_unit_test(more_interfaces_than_there_is_room_are_left_out),
        cmocka_unit_test(the_default_route_of_least_metric_counts),
        cmocka_unit_test(times_of_a_process_are_parsed),
        cmocka_unit_test(the_last_process_is_parsed),
        cmocka_unit_test(counters_advance_over_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
