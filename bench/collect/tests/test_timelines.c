/* Tests of timelines of ranks on two nodes, on one clock and in lanes, computed by hand. */
#include "bench/collect/tests/fake_run.h"

#include <jansson.h>

#include "bench/collect/csv/timelines.h"

static char dir[] = "/tmp/test_timelines.XXXXXX";

static int make_folder(void **state)
{
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    fake_remove_folder(dir);
    return 0;
}

enum { ROWS = 32, SECOND = 1000000000 };

/* Copies of rows, whose texts are borrowed from records that are freed. */
struct kept {
    int rank, lane;
    char phase[16], name[64], host[16];
    double begin_ms, end_ms, epoch, step;
};

static struct rows {
    struct kept all[ROWS];
    size_t n;
} rows;

static void keep(struct csv *csv, void *kept)
{
    const struct timeline_row *row = kept;
    assert_in_range(rows.n, 0, ROWS - 1);
    struct kept *k = &rows.all[rows.n++];
    *k = (struct kept){.rank = (int)row->rank,
                       .lane = (int)row->lane,
                       .begin_ms = row->begin_ms,
                       .end_ms = row->end_ms,
                       .epoch = row->epoch,
                       .step = row->step};
    snprintf(k->phase, sizeof k->phase, "%s", row->phase);
    snprintf(k->name, sizeof k->name, "%s", row->name);
    snprintf(k->host, sizeof k->host, "%s", row->host);
}

/* Adds a span of step 2, which begins at 3 s, of a rank whose clock is ahead. */
static void add_span(char *text, size_t size, const char *phase, const char *name, double begin_ms,
                     double end_ms, long long ahead_ns)
{
    size_t used = strlen(text);
    long long begin_ns = 3LL * SECOND + ahead_ns;
    snprintf(text + used, size - used,
             "{\"type\":\"span\",\"epoch\":0,\"step\":2,\"phase\":\"%s\",\"name\":\"%s\","
             "\"begin_ns\":%lld,\"end_ns\":%lld}\n",
             phase, name, begin_ns + llround(begin_ms * 1e6), begin_ns + llround(end_ms * 1e6));
}

/* Two nodes; the second clock is one second ahead, known to 0.1 ms. Rank 1 reaches the sum after 6
 * ms, rank 0 after 2 ms. Rank 0 has three buckets in transit; the third can use the lane of the
 * first. */
static void write_ranks(const char *second_clock)
{
    struct fake_rank r = {.host = "n1",
                          .model = "lenet_21k",
                          .dataset = "mnist",
                          .strategy = "bucketed",
                          .bound = "0",
                          .batch = 8,
                          .global_batch = 16,
                          .n_steps = 3,
                          .step_ms = 10,
                          .compute_ms = 4,
                          .comm_ms = 5,
                          .arrive_ms = {2, 2},
                          .memory = "\"clock_of\":0,\"clock_begin_at_ns\":1000000000,"
                                    "\"clock_begin_offset_ns\":0,\"clock_begin_error_ns\":0,"
                                    "\"clock_end_at_ns\":11000000000,\"clock_end_offset_ns\":0,"
                                    "\"clock_end_error_ns\":0,"};
    char path[128], spans[4096] = "";
    fake_write_rank(dir, 0, 2, &r);
    add_span(spans, sizeof spans, "forward", "conv1 relu1", 0.5, 1, 0);
    add_span(spans, sizeof spans, "flight", "bucket", 1, 3, 0);
    add_span(spans, sizeof spans, "flight", "bucket", 2, 7, 0);
    add_span(spans, sizeof spans, "comm", "messages leave", 3, 3.5, 0);
    add_span(spans, sizeof spans, "comm", "bucket", 2, 8, 0);
    add_span(spans, sizeof spans, "flight", "bucket", 3, 8, 0);
    add_span(spans, sizeof spans, "step", "step", 0, 10, 0);
    snprintf(spans + strlen(spans), sizeof spans - strlen(spans), "{\"type\":\"end\"");
    snprintf(path, sizeof path, "%s/rank.0.jsonl", dir);
    fake_edit(path, "{\"type\":\"end\"", spans);
    r.host = "n2";
    r.clock_ns = SECOND;
    r.arrive_ms[0] = r.arrive_ms[1] = 6;
    r.memory = second_clock;
    fake_write_rank(dir, 1, 2, &r);
    spans[0] = '\0';
    add_span(spans, sizeof spans, "comm", "bucket", 6, 9, SECOND);
    add_span(spans, sizeof spans, "step", "step", 1, 11, SECOND);
    snprintf(spans + strlen(spans), sizeof spans - strlen(spans), "{\"type\":\"end\"");
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir);
    fake_edit(path, "{\"type\":\"end\"", spans);
}

static const char known_clock[] =
    "\"clock_of\":1,\"clock_begin_at_ns\":2000000000,\"clock_begin_offset_ns\":1000000000,"
    "\"clock_begin_error_ns\":100000,\"clock_end_at_ns\":12000000000,"
    "\"clock_end_offset_ns\":1000000000,\"clock_end_error_ns\":100000,";

static void write_timeline(void)
{
    struct rank_record *records;
    struct error e = {.status = OK};
    const struct timeline_row of = {.label = "ranks=2 bucketed", .launch = "launches/a/000"};
    rows.n = 0;
    if (records_read(&records, dir, 2, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    assert_int_equal(timeline_write(dir, records, 2, &of, keep, NULL, &e), OK);
    records_free(records, 2);
}

static void expect(size_t i, int rank, int lane, const char *phase, const char *name,
                   double begin_ms, double end_ms)
{
    const struct kept *k = &rows.all[i];
    assert_int_equal(k->rank, rank);
    assert_int_equal(k->lane, lane);
    assert_string_equal(k->phase, phase);
    assert_string_equal(k->name, name);
    assert_string_equal(k->host, rank == 0 ? "n1" : "n2");
    NEAR(k->begin_ms, begin_ms);
    NEAR(k->end_ms, end_ms);
    NEAR(k->epoch, 1);
    NEAR(k->step, 3);
}

/* Longer spans come before spans inside them. Rank 0 waits from its arrival to the arrival of rank
 * 1, which never waits. */
static void ranks_stand_on_one_clock(void **state)
{
    write_ranks(known_clock);
    write_timeline();
    assert_int_equal(rows.n, 10);
    expect(0, 0, 0, "step", "step", 0, 10);
    expect(1, 0, 0, "forward", "conv1 relu1", 0.5, 1);
    expect(2, 0, 1, "flight", "bucket", 1, 3);
    expect(3, 0, 0, "comm", "bucket", 2, 8);
    expect(4, 0, 2, "flight", "bucket", 2, 7);
    expect(5, 0, 0, "wait", "wait", 2, 6);
    expect(6, 0, 1, "flight", "bucket", 3, 8);
    expect(7, 0, 0, "comm", "messages leave", 3, 3.5);
    expect(8, 1, 0, "step", "step", 1, 11);
    expect(9, 1, 0, "comm", "bucket", 6, 9);
}

/* Arrivals 4 ms apart, clocks known to 5 ms. */
static void waits_that_clocks_do_not_tell_are_left_out(void **state)
{
    write_ranks("\"clock_of\":1,\"clock_begin_at_ns\":2000000000,"
                "\"clock_begin_offset_ns\":1000000000,\"clock_begin_error_ns\":5000000,"
                "\"clock_end_at_ns\":12000000000,\"clock_end_offset_ns\":1000000000,"
                "\"clock_end_error_ns\":5000000,");
    write_timeline();
    assert_int_equal(rows.n, 9);
    for (size_t i = 0; i < rows.n; i++)
        assert_string_not_equal(rows.all[i].phase, "wait");
}

static void ranks_whose_clocks_do_not_compare_are_left_out(void **state)
{
    write_ranks("");
    write_timeline();
    assert_int_equal(rows.n, 0);
    assert_int_equal(fake_count(dir, "timeline.json"), 0);
}

static const json_t *find_event(const json_t *trace, const char *ph, int rank, const char *name)
{
    size_t i;
    const json_t *event;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), ph) == 0 &&
            json_integer_value(json_object_get(event, "pid")) == rank &&
            strcmp(json_string_value(json_object_get(event, "name")), name) == 0)
            return event;
    }
    fail_msg("no event %s %s of rank %d", ph, name, rank);
    return NULL;
}

/* Times of events are in microseconds. */
static void a_trace_has_an_event_a_span(void **state)
{
    char path[128];
    json_error_t error;
    write_ranks(known_clock);
    write_timeline();
    snprintf(path, sizeof path, "%s/timeline.json", dir);
    json_t *trace = json_load_file(path, 0, &error);
    assert_non_null(trace);
    const json_t *forward = find_event(trace, "X", 0, "conv1 relu1");
    NEAR(json_number_value(json_object_get(forward, "ts")), 500);
    NEAR(json_number_value(json_object_get(forward, "dur")), 500);
    assert_string_equal(json_string_value(json_object_get(forward, "cat")), "forward");
    const json_t *name = json_object_get(find_event(trace, "M", 1, "process_name"), "args");
    assert_string_equal(json_string_value(json_object_get(name, "name")), "rank 1 on n2");
    /* ten spans, two ranks, and their lanes: three of rank 0, one of rank 1 */
    assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 10 + 2 + 3 + 1);
    const json_t *other = json_object_get(trace, "otherData");
    assert_string_equal(json_string_value(json_object_get(other, "point")), "ranks=2 bucketed");
    json_decref(trace);
}

/* A sum in transit before the step, as strategy delayed has: rows count from the step, a trace from
 * the sum. */
static void a_trace_begins_at_zero(void **state)
{
    char path[128];
    json_error_t error;
    write_ranks(known_clock);
    snprintf(path, sizeof path, "%s/rank.0.jsonl", dir);
    fake_edit(path, "\"begin_ns\":3001000000", "\"begin_ns\":2998000000");
    write_timeline();
    expect(0, 0, 1, "flight", "bucket", -2, 3);
    expect(1, 0, 0, "step", "step", 0, 10);
    snprintf(path, sizeof path, "%s/timeline.json", dir);
    json_t *trace = json_load_file(path, 0, &error);
    assert_non_null(trace);
    const json_t *flight = find_event(trace, "X", 0, "bucket");
    NEAR(json_number_value(json_object_get(flight, "ts")), 0);
    NEAR(json_number_value(json_object_get(flight, "dur")), 5000);
    const json_t *step = find_event(trace, "X", 0, "step");
    NEAR(json_number_value(json_object_get(step, "ts")), 2000);
    NEAR(json_number_value(json_object_get(step, "dur")), 10000);
    json_decref(trace);
}

static void a_launch_without_spans_has_no_timeline(void **state)
{
    struct fake_rank r = {.host = "n1",
                          .model = "m",
                          .dataset = "digits",
                          .strategy = "none",
                          .bound = "",
                          .batch = 8,
                          .global_batch = 8,
                          .n_steps = 2,
                          .step_ms = 2};
    fake_write_rank(dir, 0, 2, &r);
    fake_write_rank(dir, 1, 2, &r);
    write_timeline();
    assert_int_equal(rows.n, 0);
    assert_int_equal(fake_count(dir, "timeline.json"), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ranks_stand_on_one_clock),
        TEST(waits_that_clocks_do_not_tell_are_left_out),
        TEST(ranks_whose_clocks_do_not_compare_are_left_out),
        TEST(a_trace_has_an_event_a_span),
        TEST(a_trace_begins_at_zero),
        TEST(a_launch_without_spans_has_no_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
