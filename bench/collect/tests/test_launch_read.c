/* Tests of reading records: sums by hand, and every reason why a launch does not count. */
#include "bench/collect/tests/fake_run.h"

#include "bench/collect/collect.h"

static char dir[] = "/tmp/test_launch_read.XXXXXX";

static int make_folder(void **state)
{
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_folder(void **state)
{
    fake_remove_folder(dir);
    return 0;
}

/* A rank that trains alone, or the first of several, with further fields. */
#define LONE_RANK(...)                                                                             \
    {                                                                                              \
        .host = "n1", .model = "m", .dataset = "digits", .strategy = "none", .bound = "",          \
        .batch = 8, .global_batch = 8, .step_ms = 2, __VA_ARGS__                                   \
    }
#define FIRST_RANK(...)                                                                            \
    {                                                                                              \
        .host = "n1", .model = "lenet_21k", .dataset = "mnist", .strategy = "allreduce",           \
        .bound = "0", .params = 21840, .weights_equal = true, __VA_ARGS__                          \
    }

/* Two ranks with two timed steps; rank 1 is slower, arrives later in step 1 and earlier in step
 * 2. */
static void write_pair(void)
{
    struct fake_rank first =
        FIRST_RANK(.batch = 129, .global_batch = 257, .n_steps = 2, .step_ms = 10, .compute_ms = 4,
                   .comm_ms = 5, .arrive_ms = {6, 0.5}, .test_acc_pct = 97.5);
    struct fake_rank second = first;
    second.bound = "1";
    second.batch = 128;
    second.step_ms = 11;
    second.compute_ms = 8;
    second.comm_ms = 3;
    second.arrive_ms[0] = 1;
    second.arrive_ms[1] = 4.5;
    fake_write_rank(dir, 0, 2, &first);
    fake_write_rank(dir, 1, 2, &second);
}

static struct launch_result read_pair(void)
{
    struct launch_result result;
    struct error e = {.status = OK};
    if (launch_read(dir, 2, &result, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return result;
}

static void sums_are_right(void **state)
{
    write_pair();
    struct launch_result r = read_pair();
    assert_true(r.ranks == 2 && r.steps == 2);
    NEAR(r.step_ms, 11); /* time of the slower rank */
    NEAR(r.load_ms, (0.4 + 0.8) / 2);
    NEAR(r.forward_ms, (1.2 + 2.4) / 2);
    NEAR(r.backward_ms, (2.0 + 4.0) / 2);
    NEAR(r.optimizer_ms, (0.4 + 0.8) / 2);
    NEAR(r.pack_ms, 0);
    NEAR(r.comm_total_ms, (5.5 + 3.3) / 2);
    NEAR(r.comm_exposed_ms, 4);
    /* step 1: rank 0 waits 4 of 5 ms; step 2: rank 1 would wait 5 ms, but communicates for 3 ms */
    NEAR(r.wait_ms, (4.0 + 3.0) / 4);
    assert_true(r.last_rank == -1 && isnan(r.last_rank_pct)); /* each rank was last once */
    NEAR(r.read_s, 0.75);
    assert_true(isnan(r.fetch_s)); /* no rank recorded it */
    NEAR(r.epoch_s, 2);
    NEAR(r.calls, 2);
    NEAR(r.bytes_payload, 1000);
    NEAR(r.bytes_wire, 1500);
    NEAR(r.messages_wire, 4);
    NEAR(r.poll_s, (0.005 + 0.0055) / 2);
    NEAR(r.cpu_pct, 75);
    NEAR(r.user_s, 2);
    NEAR(r.total_user_s, 4);
    NEAR(r.sys_s, 0.25);
    NEAR(r.rss_mib, 91.5);
    NEAR(r.train_loss, 0.3);
    NEAR(r.train_acc_pct, 91.25);
    NEAR(r.test_loss, 0.09);
    NEAR(r.test_acc_pct, 97.5);
    NEAR(r.batch_per_rank, 128.5);
    assert_int_equal(r.global_batch, 257);
    assert_true(r.weights_equal && r.weights_checked);
    assert_string_equal(r.check, "step");
    assert_string_equal(r.bound, "0|1");
    assert_string_equal(r.dataset, "mnist");
    assert_string_equal(r.host, "n1");
    assert_int_equal(r.params, 21840);
    NEAR(r.flops_per_image, 3e6);
}

/* Fields that a peer may omit and a trainer records. */
static void work_done_and_memory_are_read(void **state)
{
    static const char *const ends[] = {"\"data_mib\":40.5,\"libraries_mib\":20.0,\"user_s\"",
                                       "\"data_mib\":60.5,\"libraries_mib\":10.0,\"user_s\""};
    char path[128];
    write_pair();
    struct launch_result r = read_pair();
    assert_true(isnan(r.flops_done_per_image) && isnan(r.data_mib) && isnan(r.memory_mib));
    assert_string_equal(r.savings, "");
    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/rank.%d.jsonl", dir, rank);
        fake_edit(path, "\"user_s\"", ends[rank]);
        fake_edit(path, "\"dataset\"",
                  "\"flops_done_forward\":400000,\"flops_done_backward\":500000,"
                  "\"savings\":\"winograd dead_outputs\",\"dataset\"");
    }
    r = read_pair();
    NEAR(r.flops_done_per_image, 9e5);
    assert_string_equal(r.savings, "winograd dead_outputs");
    NEAR(r.rss_mib, 91.5);
    NEAR(r.data_mib, 60.5);
    NEAR(r.memory_mib, 50); /* rank 0: 90.5 - 40.5 */
    NEAR(r.growth_mib, 30); /* rank 0: 50 - 20; rank 1: 31 - 10 */
}

/* Accuracies 95, 96, 97, 98 %; two seconds and 60,000 images per epoch. */
static struct launch_result read_epochs(const char *target)
{
    struct fake_rank rank = FIRST_RANK(.batch = 128, .global_batch = 256, .test_acc_pct = 98,
                                       .epochs = 4, .work = target);
    fake_write_rank(dir, 0, 2, &rank);
    fake_write_rank(dir, 1, 2, &rank);
    return read_pair();
}

static void time_to_a_target_is_that_of_the_epochs_before(void **state)
{
    char path[128];
    struct launch_result r = read_epochs("\"target_acc_pct\":96.5,");
    NEAR(r.target_acc_pct, 96.5);
    NEAR(r.to_target_epochs, 3);
    NEAR(r.to_target_images, 180000);
    NEAR(r.to_target_s, 6);
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir); /* its second epoch is slower */
    fake_edit(path, "\"epoch\":1,\"seconds\":2.0", "\"epoch\":1,\"seconds\":5.0");
    NEAR(read_pair().to_target_s, 9);
    NEAR(read_epochs("\"target_acc_pct\":96,").to_target_epochs,
         2); /* an accuracy equal to the target counts */
}

static void a_target_that_is_not_reached_has_no_time(void **state)
{
    struct launch_result r = read_epochs("\"target_acc_pct\":98.5,");
    NEAR(r.target_acc_pct, 98.5);
    assert_true(isnan(r.to_target_epochs) && isnan(r.to_target_images) && isnan(r.to_target_s));
    r = read_epochs(NULL);
    assert_true(isnan(r.target_acc_pct) && isnan(r.to_target_epochs) && isnan(r.to_target_s));
}

/* The rank whose share arrives last delays all others. */
static void fetches_are_those_of_the_slowest_rank(void **state)
{
    static const char *const seconds[] = {"\"fetch_s\":0.5,\"user_s\"",
                                          "\"fetch_s\":0.25,\"user_s\""};
    char path[128];
    write_pair();
    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/rank.%d.jsonl", dir, rank);
        fake_edit(path, "\"user_s\"", seconds[rank]);
    }
    struct launch_result r = read_pair();
    NEAR(r.fetch_s, 0.5);
}

static void a_rank_that_differs_is_seen(void **state)
{
    char path[128];
    write_pair();
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir);
    fake_edit(path, "\"weights_equal\":true,\"first_difference\":\"\"",
              "\"weights_equal\":false,\"first_difference\":\"step 3, rank 1\"");
    struct launch_result r = read_pair();
    assert_false(r.weights_equal);
    assert_true(r.weights_checked);
    assert_string_equal(r.first_difference, "step 3, rank 1");
}

static void unknown_numbers_stay_unknown(void **state)
{
    char path[128];
    write_pair();
    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/rank.%d.jsonl", dir, rank);
        fake_edit(path, "\"train_loss\":0.3", "\"train_loss\":null");
        fake_edit(path, "\"weights_equal\":true", "\"weights_equal\":null");
    }
    struct launch_result r = read_pair();
    assert_true(isnan(r.train_loss));
    NEAR(r.train_acc_pct, 91.25);
    assert_false(r.weights_checked || r.weights_equal);
}

/* Two nodes have different clocks. */
static void wait_is_unknown_between_hosts(void **state)
{
    char path[128];
    write_pair();
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir);
    fake_edit(path, "\"host\":\"n1\"", "\"host\":\"n2\"");
    struct launch_result r = read_pair();
    assert_true(isnan(r.wait_ms));
    assert_int_equal(r.last_rank, -1);
    NEAR(r.comm_exposed_ms, 4);
    assert_string_equal(r.clock_offset_us, "");
    assert_true(isnan(r.clock_error_us));
}

/* Clock readings of a node's first rank: offsets one second after the launch's begin, and ten
 * seconds later, on its own clock. */
#define CLOCK(of, begin_at, begin, end_at, end, error)                                             \
    "\"clock_of\":" of ",\"clock_begin_at_ns\":" begin_at ",\"clock_begin_offset_ns\":" begin      \
    ",\"clock_begin_error_ns\":" error ",\"clock_end_at_ns\":" end_at                              \
    ",\"clock_end_offset_ns\":" end ",\"clock_end_error_ns\":" error ","
#define FIRST_CLOCK CLOCK("0", "1000000000", "0", "11000000000", "0", "0")

/* Three ranks with one host name; the third has its own clock, a second ahead. It arrives last: 4
 * ms after the second rank in the first step, 8 ms after the others in later steps. */
static struct launch_result read_nodes(const char *third)
{
    struct launch_result result;
    struct error e = {.status = OK};
    struct fake_rank rank = {.host = "n1",
                             .model = "lenet_21k",
                             .dataset = "mnist",
                             .strategy = "allreduce",
                             .bound = "0",
                             .memory = FIRST_CLOCK,
                             .batch = 10,
                             .global_batch = 30,
                             .n_steps = 2,
                             .step_ms = 30,
                             .compute_ms = 4,
                             .comm_ms = 20,
                             .arrive_ms = {1, 1}};
    fake_write_rank(dir, 0, 3, &rank);
    rank.memory = "\"clock_of\":0,\"clock_begin_offset_ns\":null,";
    rank.arrive_ms[1] = 5;
    fake_write_rank(dir, 1, 3, &rank);
    rank.memory = third;
    rank.clock_ns = 1000000000;
    rank.arrive_ms[0] = rank.arrive_ms[1] = 9;
    fake_write_rank(dir, 2, 3, &rank);
    if (launch_read(dir, 3, &result, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return result;
}

/* Error: 2 ms at both ends, and 1 ppm of five seconds. */
static void clocks_of_nodes_are_set_right(void **state)
{
    struct launch_result r =
        read_nodes(CLOCK("2", "2000000000", "1000000000", "12000000000", "1000000000", "2000000"));
    assert_string_equal(r.clock_offset_us, "0.000|0.000|1000000.000");
    assert_string_equal(r.clock_drift_ppm, "0|0|0");
    NEAR(r.clock_error_us, 2005);
    NEAR(r.wait_ms, (8 + 4 + 0 + 8 + 8 + 0) / 6.0);
    assert_string_equal(r.rank_wait_ms, "8|6|0");
    assert_int_equal(r.last_rank, 2);
    NEAR(r.last_rank_pct, 100);
}

/* 100 ppm are 0.1 ms per second. */
static void drift_is_taken_out(void **state)
{
    struct launch_result r =
        read_nodes(CLOCK("2", "2000000000", "1000000000", "12000000000", "1001000000", "1000"));
    assert_string_equal(r.clock_drift_ppm, "0|0|100");
    double early_ms[] = {1e-4 * (1000 + 9), 1e-4 * (2000 + 9)};
    NEAR(r.wait_ms, (8 + 4 - 2 * early_ms[0] + 8 + 8 - 2 * early_ms[1]) / 6.0);
    assert_int_equal(r.last_rank, 2);
}

/* With an error of 5 ms, the second rank may be last as often as the third certainly is, and a mean
 * wait of 4.7 ms is unknown. With 10 ms nothing is known. */
static void clocks_that_may_be_off_blame_nobody(void **state)
{
    struct launch_result r =
        read_nodes(CLOCK("2", "2000000000", "1000000000", "12000000000", "1000000000", "5000000"));
    assert_true(isnan(r.wait_ms));
    assert_string_equal(r.rank_wait_ms, "8|6|0");
    assert_int_equal(r.last_rank, -1);
    r = read_nodes(CLOCK("2", "2000000000", "1000000000", "12000000000", "1000000000", "10000000"));
    assert_true(isnan(r.wait_ms) && isnan(r.rank_waits[0]) && isnan(r.last_rank_pct));
    assert_string_equal(r.rank_wait_ms, "");
    NEAR(r.clock_error_us, 10005);
}

/* Two clocks are each compared with a third; their errors add up. */
static void errors_of_two_clocks_add_up(void **state)
{
    char path[128];
    read_nodes(CLOCK("2", "2000000000", "1000000000", "12000000000", "1000000000", "2000000"));
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir);
    fake_edit(path, "\"clock_of\":0,\"clock_begin_offset_ns\":null,",
              CLOCK("1", "1000000000", "0", "11000000000", "0", "1000000"));
    struct launch_result r;
    struct error e;
    assert_int_equal(launch_read(dir, 3, &r, &e), OK);
    NEAR(r.clock_error_us, 2005 + 1005);
    assert_int_equal(r.last_rank, 2); /* 4 ms after the second rank, whose clock is known to 3.01
                                         ms */
}

/* A clock that was set while running, a rank without clock readings, an impossible reading. */
static void what_clocks_do_not_tell_is_unknown(void **state)
{
    struct launch_result r =
        read_nodes(CLOCK("2", "2000000000", "0", "12000000000", "1000000000", "1000"));
    assert_true(isnan(r.wait_ms));
    assert_int_equal(r.last_rank, -1);
    static const char *const unknown[] = {
        "\"clock_of\":1,",
        "\"clock_of\":7,",
        "\"clock_of\":-1,",
        "\"clock_of\":0.5,",
        CLOCK("2", "2000000000", "1000000000", "12000000000", "null", "1000"),
        CLOCK("2", "2000000000", "1000000000", "12000000000", "1000000000", "-1000")};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        r = read_nodes(unknown[i]);
        assert_true(isnan(r.wait_ms) && isnan(r.clock_error_us));
        assert_int_equal(r.last_rank, -1);
        assert_string_equal(r.clock_offset_us, "");
    }
    r = read_nodes(CLOCK("2", "2000000000", "1e300", "12000000000", "-1e300", "1000"));
    assert_true(isnan(r.wait_ms));
}

static void nothing_communicated_is_nothing_waited(void **state)
{
    struct fake_rank rank = LONE_RANK(.n_steps = 3, .compute_ms = 2);
    struct launch_result r;
    struct error e;
    fake_write_rank(dir, 0, 1, &rank);
    assert_int_equal(launch_read(dir, 1, &r, &e), OK);
    NEAR(r.wait_ms, 0);
    assert_int_equal(r.last_rank, -1);
    assert_true(isnan(r.test_acc_pct) && isnan(r.epoch_s) && isnan(r.train_loss));
}

/* Without arrivals, the waiting part of communication is unknown. */
static void no_arrival_is_unknown_wait(void **state)
{
    struct fake_rank rank = LONE_RANK(.n_steps = 3, .compute_ms = 1, .comm_ms = 1);
    struct launch_result r;
    struct error e;
    fake_write_rank(dir, 0, 1, &rank);
    assert_int_equal(launch_read(dir, 1, &r, &e), OK);
    assert_true(isnan(r.wait_ms));
}

/* Each processor counts once, however many ranks share it. */
static void time_of_others_is_taken_from_the_ranks(void **state)
{
    static const char own_8[] = "\"cores_s\":10,\"cores_busy_s\":9,\"cores_steal_s\":0.5,"
                                "\"cores_own_s\":8,";
    static const char own_5[] = "\"cores_s\":12,\"cores_busy_s\":11,\"cores_steal_s\":0.6,"
                                "\"cores_own_s\":5,";
    static const char torn[] = "\"cores_s\":12,\"cores_busy_s\":11,\"cores_own_s\":5,";
    static const struct {
        const char *bound[2], *machine[2], *end[2];
        double foreign_pct, steal_pct, machines;
    } rows[] = {
        {{"0", "0"}, {"a", "b"}, {own_8, own_8}, 100 * (2 + 1) / 20.0, 5, 2},
        {{"0", "1"}, {"a", "a"}, {own_8, own_8}, 100 * (2 + 1) / 20.0, 5, 1},
        {{"0", "0"}, {"a", "a"}, {own_5, own_5}, 100 * (1 + 0.6) / 12, 5, 1},
        {{"0-1", "0-1"}, {"a", "a"}, {own_8, own_8}, 5, 5, 1}, /* own time beyond busy time */
        {{"0-1", "1-2"}, {"a", "a"}, {own_8, own_8}, NAN, NAN, 1},
        {{"0-1", "1-2"}, {"a", "b"}, {own_8, own_8}, 100 * (2 + 1) / 20.0, 5, 2},
        {{"0", "1"}, {"a", "a"}, {own_8, torn}, NAN, NAN, 1},
        {{"0", "1"}, {"a", "a"}, {own_8, ""}, NAN, NAN, 1},
        {{"0", "0"}, {"", ""}, {own_8, own_8}, 100 * (2 + 1) / 20.0, 5, 2}, /* by host */
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (int i = 0; i < 2; i++) {
            char work[64];
            struct fake_rank rank = FIRST_RANK(.n_steps = 2, .step_ms = 10);
            snprintf(work, sizeof work, "\"machine\":\"%s\",", rows[k].machine[i]);
            rank.host = i ? "n2" : "n1";
            rank.bound = rows[k].bound[i];
            rank.work = work;
            rank.memory = rows[k].end[i];
            fake_write_rank(dir, i, 2, &rank);
        }
        struct launch_result r = read_pair();
        assert_true(r.machines == rows[k].machines && r.nodes == 2);
        assert_int_equal(isnan(r.foreign_pct), isnan(rows[k].foreign_pct));
        assert_int_equal(isnan(r.steal_pct), isnan(rows[k].steal_pct));
        if (!isnan(rows[k].foreign_pct)) {
            NEAR(r.foreign_pct, rows[k].foreign_pct);
            NEAR(r.steal_pct, rows[k].steal_pct);
        }
    }
}

/* A list that does not fit is cut, and ends with a mark. */
static void too_many_processors_are_cut(void **state)
{
    char bound[401] = "";
    memset(bound, '7', 400);
    struct fake_rank rank = LONE_RANK(.n_steps = 1, .compute_ms = 1);
    rank.bound = bound;
    rank.global_batch = 32;
    struct launch_result r;
    struct error e;
    for (int i = 0; i < 4; i++)
        fake_write_rank(dir, i, 4, &rank);
    assert_int_equal(launch_read(dir, 4, &r, &e), OK);
    assert_int_equal(strlen(r.bound), 400 + 1 + 400 + 3);
    assert_string_equal(r.bound + 801, "...");
}

/* It polled longer than it had its core. */
static void polling_off_the_core_is_unknown_use(void **state)
{
    struct fake_rank rank = LONE_RANK(.n_steps = 2, .poll_quarters = 3);
    struct launch_result r;
    struct error e;
    fake_write_rank(dir, 0, 1, &rank);
    assert_int_equal(launch_read(dir, 1, &r, &e), OK);
    NEAR(r.cpu_pct, 25);
    rank.poll_quarters = 5;
    fake_write_rank(dir, 0, 1, &rank);
    assert_int_equal(launch_read(dir, 1, &r, &e), OK);
    assert_true(isnan(r.cpu_pct));
}

/* Accuracy runs have no timed window. */
static void untimed_launches_have_no_step_time(void **state)
{
    struct fake_rank rank = LONE_RANK(.test_acc_pct = 98);
    struct launch_result r;
    struct error e;
    fake_write_rank(dir, 0, 1, &rank);
    assert_int_equal(launch_read(dir, 1, &r, &e), OK);
    assert_true(isnan(r.step_ms) && isnan(r.load_ms) && isnan(r.wait_ms) && isnan(r.calls) &&
                isnan(r.cpu_pct));
    NEAR(r.test_acc_pct, 98);
}

/* The rest of a second warm-up step, after its opening brace. */
#define UNTIMED_STEP                                                                               \
    "\"type\":\"step\",\"epoch\":0,\"step\":0,\"samples\":1,\"timed\":false,\"begin_ns\":0,\"end_" \
    "ns\":0,"                                                                                      \
    "\"load_ns\":0,\"forward_ns\":0,\"backward_ns\":0,\"pack_ns\":0,\"comm_total_ns\":0,"          \
    "\"comm_exposed_ns\":0,\"optimizer_ns\":0,\"arrive_ns\":0,\"poll_ns\":0,\"loss_sum\":1,"       \
    "\"hash\":\"\"}"

struct damage {
    const char *from, *to; /* text to replace in rank 1's records */
    int line;
    const char *message;
};

static const struct damage damages[] = {
    {"\"schema\":1", "\"schema\":9", 1, "schema 9, expected 1"},
    {"\"rank\":1,\"ranks\":2", "\"rank\":1,\"ranks\":3", 1, "rank 1 of 3, expected rank 1 of 2"},
    {"\"model\":\"lenet_21k\"", "\"model\":\"other\"", 1,
     "'model': 'other' on this rank, 'lenet_21k' on rank 0"},
    {"\"params\":21840", "\"params\":21841", 1,
     "'params': '21841' on this rank, '21840' on rank 0"},
    {"\"dataset\":\"mnist\"", "\"dataset\":\"digits\"", 1, "'dataset'"},
    {"\"global_batch\":257", "\"global_batch\":256", 1, "'global_batch'"},
    {"\"strategy\":\"allreduce\"", "\"strategy\":\"none\"", 1, "'strategy'"},
    {"\"steps\":3", "\"steps\":4", 7, "'steps': '4' on this rank, '3' on rank 0"},
    {"\"step\":2,\"timed\":true", "\"step\":5,\"timed\":true", 7, "'step': '5' on this rank"},
    {"\"timed\":true", "\"timed\":false", 7, "timed steps: 1 on this rank, 2 on rank 0"},
    {"\"params\":21840,", "", 1, "hello: 'params' is missing"},
    {"\"params\":21840", "\"params\":2.5", 1, "hello: 'params' is not an integer"},
    {"\"params\":21840", "\"params\":-1", 1, "hello: 'params' is negative"},
    {"\"host\":\"n1\"", "\"host\":1", 1, "hello: 'host' is not a text"},
    {"\"precision\":\"f32\"", "\"precision\":\"f32 and more\"", 1, "'precision' is too long"},
    {"\"read_s\":0.75", "\"read_s\":\"fast\"", 1, "hello: 'read_s' is not a number"},
    {"\"user_s\"", "\"fetch_s\":\"fast\",\"user_s\"", 7, "end: 'fetch_s' is not a number"},
    {"\"timed\":false", "\"timed\":1", 2, "step: 'timed' is not true or false"},
    {"\"load_ns\":800000", "\"load_ns\":\"800000\"", 2, "step: 'load_ns' is not an integer"},
    {"\"seconds\":2.0", "\"second\":2.0", 5, "epoch: 'seconds' is missing"},
    {"\"test_loss\":0.09", "\"loss\":0.09", 6, "eval: 'test_loss' is missing"},
    {"\"test_loss\"", "\"class_samples\":[9000,1000],\"test_loss\"", 6, "not lists of one length"},
    {"\"test_loss\"", "\"class_correct\":[9000,1000],\"test_loss\"", 6, "not lists of one length"},
    {"\"test_loss\"", "\"class_samples\":[9000,1000],\"class_correct\":[1],\"test_loss\"", 6,
     "not lists of one length"},
    {"\"test_loss\"", "\"class_samples\":9000,\"class_correct\":9000,\"test_loss\"", 6,
     "not lists of one length"},
    {"\"test_loss\"", "\"class_samples\":[9999],\"class_correct\":[1],\"test_loss\"", 6,
     "'class_samples' does not add up to 'samples'"},
    {"\"test_loss\"", "\"class_samples\":[9000,1001],\"class_correct\":[1,1],\"test_loss\"", 6,
     "0 <= correct <= its samples <= all samples"},
    {"\"test_loss\"", "\"class_samples\":[10000],\"class_correct\":[10001],\"test_loss\"", 6,
     "0 <= correct <= its samples <= all samples"},
    {"\"test_loss\"", "\"class_samples\":[10000],\"class_correct\":[-1],\"test_loss\"", 6,
     "0 <= correct <= its samples <= all samples"},
    {"\"test_loss\"", "\"class_samples\":[10000.0],\"class_correct\":[1],\"test_loss\"", 6,
     "0 <= correct <= its samples <= all samples"},
    {"\"type\":\"epoch\"", UNTIMED_STEP "\n{\"type\":\"epoch\"", 8,
     "untimed steps: 2 on this rank, 1 on rank 0"},
    {"\"status\":\"ok\"", "\"status\":\"error\"", 7, "status 'error', expected 'ok'"},
    {"\"window_ns\":22000000,\"window_cpu", "\"window_ns\":0,\"window_cpu", 7,
     "timed steps, must be above 0"},
    {"\"type\":\"epoch\"", "\"type\":\"epic\"", 5,
     "type 'epic' is unknown; known: hello step span epoch eval end"},
    {"{\"type\":\"eval\"", "{\"eval\":\"eval\"", 6, "the key 'type' is missing"},
    {"{\"type\":\"hello\"", "{\"type\":\"step\"", 1, "type 'hello', found 'step'"},
    {"{\"type\":\"epoch\"", "{\"type\":\"hello\"", 5, "found a second line of type 'hello'"},
    {"{\"type\":\"eval\"", "[\"type\"]\n{\"type\":\"eval\"", 6, "not a JSON object"},
    {"{\"type\":\"eval\"", "{\"type\":\"ev\n{\"type\":\"eval\"", 6, "not a JSON object"},
    {"\"first_difference\":\"\"}\n", "\"first_difference\":\"\"}\n{\"type\":\"step\"}\n", 8,
     "found a line after the line of type 'end', which must be the last"},
    {"\"first_difference\":\"\"}", "", 7,
     "the line of type 'end' is missing: the rank did not finish"},
    {"\"epoch\":0,\"step\":0", "\"epoch\":0,\"epoch\":0,\"step\":0", 2, "not a JSON object"},
};

static void damages_are_named(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const struct damage *d = &damages[i];
        struct launch_result result;
        struct error e = {.status = OK};
        write_pair();
        fake_edit(path, d->from, d->to);
        assert_int_equal(launch_read(dir, 2, &result, &e), ERR_DATA);
        assert_string_equal(e.file, path);
        if (!strstr(e.text, d->message) || e.line != d->line)
            fail_msg("%s -> %s: line %d: %s", d->from, d->to, e.line, e.text);
    }
}

static void a_missing_rank_is_named(void **state)
{
    char path[128];
    struct launch_result result;
    struct error e = {.status = OK};
    write_pair();
    snprintf(path, sizeof path, "%s/rank.1.jsonl", dir);
    unlink(path);
    assert_int_equal(launch_read(dir, 2, &result, &e), ERR_DATA);
    assert_string_equal(e.file, path);
    assert_non_null(strstr(e.text, "cannot read the record of rank 1 of 2"));
    assert_int_equal(launch_read(dir, 0, &result, &e), ERR_ARGUMENT);
}

/* A launch counts only when `end` is complete, whatever part of the records was on disk. */
static void a_torn_record_does_not_count(void **state)
{
    char path[128];
    write_pair();
    snprintf(path, sizeof path, "%s/rank.0.jsonl", dir);
    char *text = fake_read(path);
    size_t whole = strlen(text) - 1; /* only the last line feed may be missing */
    for (size_t n = 0; n <= whole; n++) {
        struct launch_result result;
        struct error e = {.status = OK};
        FILE *out = fopen(path, "w");
        fwrite(text, 1, n, out);
        fclose(out);
        enum status status = launch_read(dir, 2, &result, &e);
        assert_int_equal(status, n < whole ? ERR_DATA : OK);
        if (n < whole)
            assert_non_null(strstr(e.text, "type 'end' is missing"));
    }
    free(text);
}

static void a_torn_line_after_the_end_is_ignored(void **state)
{
    char path[128];
    write_pair();
    snprintf(path, sizeof path, "%s/rank.0.jsonl", dir);
    FILE *out = fopen(path, "a");
    fputs("{\"type\":\"st", out);
    fclose(out);
    NEAR(read_pair().step_ms, 11);
}

/* Steps of 101 to 120 ms on rank 0, and of 110 ms on rank 1, which is slower in the first nine. */
static void tails_are_those_of_the_slowest_rank_of_a_step(void **state)
{
    struct fake_rank rank =
        FIRST_RANK(.batch = 128, .global_batch = 256, .n_steps = 20, .step_ms = 100, .drift = 0.2);
    fake_write_rank(dir, 0, 2, &rank);
    rank.step_ms = 110;
    rank.drift = 0;
    fake_write_rank(dir, 1, 2, &rank);
    struct launch_result result = read_pair();
    NEAR(result.step_p95_ms, 119.05);
    NEAR(result.step_max_ms, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums_are_right, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(tails_are_those_of_the_slowest_rank_of_a_step, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(work_done_and_memory_are_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(time_to_a_target_is_that_of_the_epochs_before, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_target_that_is_not_reached_has_no_time, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(fetches_are_those_of_the_slowest_rank, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_rank_that_differs_is_seen, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(unknown_numbers_stay_unknown, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(wait_is_unknown_between_hosts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(clocks_of_nodes_are_set_right, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(drift_is_taken_out, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(clocks_that_may_be_off_blame_nobody, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(errors_of_two_clocks_add_up, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_clocks_do_not_tell_is_unknown, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(nothing_communicated_is_nothing_waited, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(no_arrival_is_unknown_wait, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(untimed_launches_have_no_step_time, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(polling_off_the_core_is_unknown_use, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(time_of_others_is_taken_from_the_ranks, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(too_many_processors_are_cut, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(damages_are_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_missing_rank_is_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_torn_record_does_not_count, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_torn_line_after_the_end_is_ignored, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
