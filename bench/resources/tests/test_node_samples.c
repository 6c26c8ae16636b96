/* Reads sample files: counters that wrap, interfaces that come and go, times between samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/resources/node_samples.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static char path[] = "/tmp/test_node_samples.XXXXXX";

static const char node[] =
    "{\"type\":\"node\",\"schema\":1,\"host\":\"n1\",\"interval_ns\":200,\"nic\":\"eth0\"}\n";

/* Line of a sample; t in ns, user in s. */
#define SAMPLE_AT(t, user, interfaces)                                                             \
    "{\"type\":\"sample\",\"t_ns\":" #t ",\"processes\":2,\"user_s\":" #user                       \
    ",\"sys_s\":null,\"resident_mib\":10.5,\"sampler_s\":0,\"interfaces\":{" interfaces "}}\n"

static enum status read_text(struct node_samples *s, struct error *e, const char *a, const char *b,
                             const char *c)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%s%s%s", a, b, c);
    assert_int_equal(fclose(out), 0);
    return node_samples_read(s, path, e);
}

static void counters_wrap_and_interfaces_come_and_go(void **state)
{
    struct node_samples s;
    struct error e = {.status = OK};
    int status = read_text(
        &s, &e, node,
        SAMPLE_AT(1000, 1, "\"lo\":[100,1,100,1],\"eth0\":[4294967290,10,5000,7]")
            SAMPLE_AT(1200, 2, "\"lo\":[150,2,150,2],\"eth0\":[94,12,6000,9],\"ib0\":[8,1,9,1]"),
        SAMPLE_AT(1400, 4, "\"eth0\":[194,13,6500,10],\"ib0\":[18,2,29,3]")
            SAMPLE_AT(1600, 4, "\"lo\":[30,1,30,1],\"eth0\":[194,13,6500,10]"));
    if (status != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    assert_int_equal(s.n, 4);
    assert_string_equal(s.host, "n1");
    assert_string_equal(s.nic, "eth0");
    assert_int_equal(s.interval_ns, 200);
    const struct sample *last = &s.items[3];
    NEAR(s.items[0].traffic[LINK_NIC][TRAFFIC_RX_BYTES], 0);
    NEAR(last->traffic[LINK_NIC][TRAFFIC_RX_BYTES], 200);
    NEAR(last->traffic[LINK_NIC][TRAFFIC_RX_PACKETS], 3);
    NEAR(last->traffic[LINK_NIC][TRAFFIC_TX_BYTES], 1500);
    NEAR(last->traffic[LINK_LOOPBACK][TRAFFIC_RX_BYTES], 80);
    NEAR(last->traffic[LINK_OTHERS][TRAFFIC_RX_BYTES], 18);
    NEAR(last->traffic[LINK_OTHERS][TRAFFIC_TX_BYTES], 29);
    assert_true(isnan(last->values[SAMPLE_sys_s]));
    NEAR(last->values[SAMPLE_user_s], 4);
    node_samples_free(&s);
}

static void between_samples_is_between_them(void **state)
{
    struct node_samples s;
    struct sample at;
    assert_int_equal(read_text(&s, NULL, node, SAMPLE_AT(1000, 1, "\"eth0\":[10,1,10,1]"),
                               SAMPLE_AT(1200, 2, "\"eth0\":[30,1,50,1]")
                                   SAMPLE_AT(1600, 4, "\"eth0\":[70,1,50,1]")),
                     OK);
    assert_true(node_samples_at(&at, &s, 1150));
    NEAR(at.values[SAMPLE_user_s], 1.75);
    NEAR(at.traffic[LINK_NIC][TRAFFIC_RX_BYTES], 15);
    NEAR(at.traffic[LINK_NIC][TRAFFIC_TX_BYTES], 30);
    assert_true(node_samples_at(&at, &s, 1000));
    NEAR(at.values[SAMPLE_user_s], 1);
    assert_true(node_samples_at(&at, &s, 1600));
    NEAR(at.values[SAMPLE_user_s], 4);
    NEAR(at.traffic[LINK_NIC][TRAFFIC_RX_BYTES], 60);
    assert_false(node_samples_at(&at, &s, 999));
    assert_false(node_samples_at(&at, &s, 1601));
    node_samples_free(&s);
}

static void a_torn_last_line_is_ignored(void **state)
{
    struct node_samples s;
    assert_int_equal(
        read_text(&s, NULL, node, SAMPLE_AT(1000, 1, ""), "{\"type\":\"sample\",\"t_ns\":12"), OK);
    assert_int_equal(s.n, 1);
    node_samples_free(&s);
}

static void other_lines_are_named(void **state)
{
    static const struct {
        const char *a, *b, *c, *says;
        int line;
    } cases[] = {
        {node, "{\"type\":\"sa\n", SAMPLE_AT(1000, 1, ""), "not a JSON object", 2},
        {SAMPLE_AT(1000, 1, ""), "", "", "expected one line of type 'node'", 1},
        {node, node, "", "expected one line of type 'node'", 2},
        {"{\"type\":\"node\",\"schema\":2}\n", "", "", "schema 1", 1},
        {"{\"type\":\"node\",\"schema\":1,\"host\":\"n\",\"nic\":\"\"}\n", "", "", "interval_ns",
         1},
        {node, SAMPLE_AT(1000, 1, ""), SAMPLE_AT(1000, 1, ""), "'t_ns' must be later", 3},
        {node, "{\"type\":\"sample\",\"t_ns\":3}\n", "", "a value is missing", 2},
        {node, SAMPLE_AT(1000, 1, "\"eth0\":[1,2,3]"), "", "four counts", 2},
        {node, SAMPLE_AT(1000, 1, "\"eth0\":[1,2,-3,4]"), "", "counts must not be negative", 2},
        {node, SAMPLE_AT(9223372036854775807, 1, ""), "", "'t_ns' must be later", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_samples s;
        struct error e = {.status = OK};
        assert_int_equal(read_text(&s, &e, cases[i].a, cases[i].b, cases[i].c), ERR_DATA);
        assert_string_equal(e.file, path);
        assert_int_equal(e.line, cases[i].line);
        assert_non_null(strstr(e.text, cases[i].says));
        node_samples_free(&s);
    }
    struct node_samples none;
    assert_int_equal(node_samples_read(&none, "/nowhere", NULL), ERR_DATA);
}

static int make_file(void **state)
{
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_wrap_and_interfaces_come_and_go),
        cmocka_unit_test(between_samples_is_between_them),
        cmocka_unit_test(a_torn_last_line_is_ignored),
        cmocka_unit_test(other_lines_are_named),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
