/* Tests of patterns that read metrics from the output of a user's program. */
#include "bench/spec/tests/spec_file.h"

#include <math.h>

#include "bench/collect/collect.h"

static char dir[] = "/tmp/test_launch_foreign.XXXXXX";

static int make_all(void **state)
{
    return mkdtemp(dir) == NULL ? -1 : make_file(state);
}

static int remove_all(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command) != 0 ? -1 : remove_file(state);
}

static void write_log(const char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s/log.txt", dir);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

/* Reads the metric of a spec with one pattern. */
static enum status read_metric(const char *pattern, double *value, struct error *e)
{
    char text[512];
    struct spec spec;
    int size = snprintf(text, sizeof text,
                        "name: f\nworkload:\n  command: [echo]\n  metrics: ['%s']\n", pattern);
    write_file(text, (size_t)size);
    enum status status = spec_load(&spec, file, NULL, &eight, e);
    if (status == OK)
        status = launch_metrics(dir, &spec.points[0].config, value, e);
    spec_free(&spec);
    return status;
}

/* Patterns as written for ReFrame, JUBE, Ramble, Python and POSIX. */
static void test_patterns_of_other_tools(void **state)
{
    static const char log[] = "Total time: 1.5 s (2 ranks)\n"
                              "Bandwidth 12 GB/s, latency 3.25 us\n"
                              "x\0 hidden 7\n"
                              "Total time: 2.5 s (4 ranks)\n"
                              "\xff\xfe bytes \x80 8\n"
                              "CRLF 9\r\n"
                              "Laufzeit 4 \xc2\xb5s\n"
                              "no line break at the end: -6e-3";
    static const struct {
        const char *pattern;
        double value;
    } rows[] = {
        {"a_s = ^Total time: ([0-9.]+) s", 2.5},
        {"a = Total time:\\s+(\\d+\\.\\d+)\\s*s", 2.5},
        {"a = Total time: (?P<s>\\d+\\.\\d+) s", 2.5},
        {"a = (\\w+) time: (?P<s>\\d+\\.\\d+)", 2.5},
        {"a = (?P<unit>latency) (?P<value>\\S+)", 3.25},
        {"a = Total.*?([\\d.]+).*", 2.5},
        {"a = \\b(\\d) ranks\\b", 4},
        {"a = (?:Bandwidth|Rate)\\s(\\d+)", 12},
        {"a = (?i)bandwidth (\\d+)", 12},
        {"a = (?<=latency )[\\d.]+", 3.25},
        {"a = latency \\K[\\d.]+", 3.25},
        {"a = hidden (\\d)", 7},
        {"a = bytes .* (\\d)", 8},
        {"a = CRLF (\\d+)", 9},
        {"a = Laufzeit (\\d) [\xc2\xb5n]s", 4},
        {"a = at the end: ([-+]?\\d*\\.?\\d+(?:[eE][-+]?\\d+)?)$", -6e-3},
    };
    write_log(log, sizeof log - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = NAN;
        struct error e = {.status = OK};
        enum status status = read_metric(rows[i].pattern, &value, &e);
        if (status != OK || value != rows[i].value)
            fail_msg("%s: %g, %s", rows[i].pattern, value, e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_of_other_tools),
    };
    return cmocka_run_group_tests_name("launch_foreign", tests, make_all, remove_all);
}
