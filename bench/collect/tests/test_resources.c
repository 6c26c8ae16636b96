/* Tests of rows from samples of nodes, computed by hand. */
#include "bench/collect/tests/fake_run.h"

#include "bench/collect/resources.h"

static char dir[] = "/tmp/test_resources.XXXXXX";

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

enum { ROWS = 64, HZ = 1000000000 };

static struct rows {
    struct resources_row all[ROWS];
    size_t n;
} rows;

static void keep(struct csv *csv, void *row)
{
    assert_in_range(rows.n, 0, ROWS - 1);
    rows.all[rows.n++] = *(const struct resources_row *)row;
}

/* Writes samples from 1 s on, every half second. Processor times grow by 0.4 s and 0.1 s per
 * second, bytes by `rx` and `tx`. */
static void write_samples(int rank, const char *nic, int samples, double rx, double tx)
{
    char path[320];
    snprintf(path, sizeof path, "%s/node.%d.jsonl", dir, rank);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "{\"type\":\"node\",\"schema\":1,\"host\":\"s%d\",\"interval_ns\":%d,\"nic\":\"%s\"}\n",
            rank, HZ / 2, nic);
    for (int i = 0; i < samples; i++) {
        double s = 0.5 * i;
        fprintf(out,
                "{\"type\":\"sample\",\"t_ns\":%.0f,\"processes\":3,\"user_s\":%g,\"sys_s\":%g,"
                "\"resident_mib\":%g,\"sampler_s\":%g,\"interfaces\":{\"lo\":[%.0f,1,%.0f,1],"
                "\"eth0\":[%.0f,%d,%.0f,%d]}}\n",
                (1 + s) * HZ, 0.4 * s, 0.1 * s, 100 + s, 0.001 * s, 1e6 + 1e6 * s, 1e6 + 1e6 * s,
                5 + rx * s, 1 + 10 * i, 7 + tx * s, 1 + 20 * i);
    }
    assert_int_equal(fclose(out), 0);
}

/* One rank per node. Steps begin at 1 s, 2 s, ... and last one second; the first is a warm-up.
 * Ranks poll for a quarter of each. */
static void write_ranks(int ranks, int n_steps)
{
    for (int rank = 0; rank < ranks; rank++) {
        char host[16], path[320];
        snprintf(host, sizeof host, "n%d", rank);
        struct fake_rank r = {.host = host,
                              .model = "lenet_21k",
                              .dataset = "mnist",
                              .strategy = "allreduce",
                              .bound = "0",
                              .batch = 64,
                              .global_batch = 64 * ranks,
                              .n_steps = n_steps,
                              .step_ms = 1000,
                              .weights_equal = true};
        fake_write_rank(dir, rank, ranks, &r);
        snprintf(path, sizeof path, "%s/rank.%d.jsonl", dir, rank);
        for (int i = 0; i <= n_steps; i++)
            fake_edit(path, "\"poll_ns\":0", "\"poll_ns\":250000000");
    }
}

static struct launch_result read_result(int ranks)
{
    struct launch_result result;
    struct error e = {.status = OK};
    if (launch_read(dir, ranks, &result, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return result;
}

static void read_rows(const struct rank_record *records, bool timed, int ranks)
{
    static struct fake_run fake;
    char spec[256];
    struct error e = {.status = OK};
    const struct resources_row of = {.point = "p"};
    rows.n = 0;
    snprintf(spec, sizeof spec,
             "{name: x, model: lenet_21k, data: {set: digits}, train: {global_batch: 64}, ranks: "
             "%d, nodes: %d, site: emulated}",
             ranks, ranks);
    fake_open(&fake, spec);
    if (resources_write(dir, &fake.spec.points[0], timed, records, ranks, &of, keep, NULL, &e) !=
        OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    fake_close(&fake);
}

/* Timed steps run from 2 s to 5 s, samples from 1 s to 5.5 s. */
static void rows_are_aligned_with_the_timed_part(void **state)
{
    struct rank_record *records;
    write_ranks(2, 3);
    write_samples(0, "eth0", 10, 3e6, 2e6);
    write_samples(1, "eth0", 10, 1e6, 4e6);
    assert_int_equal(records_read(&records, dir, 2, NULL), OK);
    read_rows(records, true, 2);
    assert_int_equal(rows.n, 18);
    for (size_t i = 0; i < 18; i++) {
        const struct resources_row *row = &rows.all[i];
        bool root = i < 9;
        double time_s = -0.5 + 0.5 * (double)(i % 9);
        assert_string_equal(row->point, "p");
        assert_string_equal(row->role, root ? "root" : "worker");
        NEAR(row->node, root ? 0 : 1);
        NEAR(row->ranks, 1);
        NEAR(row->time_s, time_s);
        assert_int_equal(row->timed, time_s > 0 && time_s <= 3);
        NEAR(row->cpu_user_pct, 40);
        NEAR(row->cpu_sys_pct, 10);
        NEAR(row->resident_mib, 101 + time_s);
        NEAR(row->received_mb_per_s, root ? 3 : 1);
        NEAR(row->sent_mb_per_s, root ? 2 : 4);
        NEAR(row->received_mb, time_s * (root ? 3 : 1));
        NEAR(row->sent_packets_per_s, 40);
        NEAR(row->lo_mb_per_s, 1);
        NEAR(row->others_mb_per_s, 0);
        NEAR(row->sampler_pct, 0.1);
    }
    /* half a second minus a quarter of polling; steps are recorded up to 5 s */
    NEAR(rows.all[0].cpu_useful_pct, 25);
    NEAR(rows.all[7].cpu_useful_pct, 25);
    assert_true(isnan(rows.all[8].cpu_useful_pct));
    records_free(records, 2);
}

static void programs_without_steps_begin_with_the_samples(void **state)
{
    write_samples(0, "", 3, 3e6, 2e6);
    read_rows(NULL, true, 2);
    assert_int_equal(rows.n, 2);
    NEAR(rows.all[0].time_s, 0.5);
    assert_int_equal(rows.all[0].timed, 1);
    NEAR(rows.all[1].time_s, 1);
    assert_true(isnan(rows.all[0].cpu_useful_pct));
    /* the interface that carries MPI is unknown */
    assert_true(isnan(rows.all[0].received_mb_per_s) && isnan(rows.all[0].received_mb));
    NEAR(rows.all[0].lo_mb_per_s, 1);
}

static void nothing_sampled_is_no_row(void **state)
{
    write_samples(0, "eth0", 1, 1, 1);
    read_rows(NULL, true, 2);
    assert_int_equal(rows.n, 0);
}

/* Programs count their own bytes; nodes other than the root's keep the maximum. */
static void programs_count_their_own_bytes(void **state)
{
    write_ranks(3, 4);
    for (int rank = 0; rank < 3; rank++) {
        char path[320], text[160];
        snprintf(path, sizeof path, "%s/rank.%d.jsonl", dir, rank);
        snprintf(text, sizeof text,
                 "\"bytes_nic\":%d,\"bytes_nic_received\":%d,\"packets_nic_sent\":%d,"
                 "\"packets_nic_received\":%d,\"check\"",
                 4000 * (rank + 1), 400 * (3 - rank), 8 * (rank + 1), 4 * (3 - rank));
        fake_edit(path, "\"check\"", text);
    }
    struct launch_result result = read_result(3);
    NEAR(result.bytes_nic_rx, 300);
    NEAR(result.bytes_nic_tx, 1000);
    NEAR(result.bytes_nic_rx_worker, 200);
    NEAR(result.bytes_nic_tx_worker, 3000);
    NEAR(result.packets_nic_rx, 3);
    NEAR(result.packets_nic_tx, 2);
    NEAR(result.packets_nic_rx_worker, 2);
    NEAR(result.packets_nic_tx_worker, 6);
}

/* 10 s have 20 samples, the fewest allowed. */
static void samples_tell_where_programs_do_not(void **state)
{
    write_ranks(2, 10);
    write_samples(0, "eth0", 30, 3e6, 2e6);
    write_samples(1, "eth0", 30, 1e6, 4e6);
    struct launch_result result = read_result(2);
    NEAR(result.bytes_nic_rx, 3e6);
    NEAR(result.bytes_nic_tx, 2e6);
    NEAR(result.bytes_nic_rx_worker, 1e6);
    NEAR(result.bytes_nic_tx_worker, 4e6);
    NEAR(result.packets_nic_rx, 20);
    NEAR(result.packets_nic_tx_worker, 40);
    write_ranks(2, 9);
    result = read_result(2);
    assert_true(isnan(result.bytes_nic_rx) && isnan(result.bytes_nic_tx_worker));
}

static void a_node_alone_exchanges_nothing(void **state)
{
    write_ranks(1, 10);
    write_samples(0, "eth0", 30, 3e6, 2e6);
    struct launch_result result = read_result(1);
    assert_true(isnan(result.bytes_nic_rx) && isnan(result.bytes_nic_rx_worker));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_aligned_with_the_timed_part),
        TEST(programs_without_steps_begin_with_the_samples),
        TEST(nothing_sampled_is_no_row),
        TEST(programs_count_their_own_bytes),
        TEST(samples_tell_where_programs_do_not),
        TEST(a_node_alone_exchanges_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
