/* Compares traffic columns with an independent count at the MPI boundary: calls and payload of all
 * calls; messages and bytes of point-to-point calls, and of collectives by formula.
 * ranks: 2 3 4
 * double: 2 */
#include "bench/workloads/train_cnn/replay.h"
#include "bench/workloads/train_cnn/tests/train_fixture.h"
#include "bench/workloads/train_cnn/traffic.h"
#include "comm/tests/mpi_seen.h"

enum { STEPS = 2 };

/* Options that add sums to the strategy's own sums, alone and combined. */
static const struct {
    enum option_id option;
    const char *text;
} extras[] = {{OPT_CLIP_NORM, "0.01"},
              {OPT_PRECISION, "fp16"},
              {OPT_OPTIMIZER, "lars"},
              {OPT_BATCH_NORM, "sync"}};
enum { EXTRAS = sizeof extras / sizeof *extras, ALL = (1 << EXTRAS) - 1, FP16 = 2, NORM = 8 };

static void set_extras(int mask)
{
    for (int i = 0; i < EXTRAS; i++)
        option(extras[i].option,
               mask & 1 << i ? extras[i].text : option_get(extras[i].option)->preset);
}

/* Makes messages short enough to be cut, while fusion asks once. */
static void cut_messages(void)
{
    option(OPT_GLOBAL_BATCH, "6");
    option(OPT_sync_segment, "4KiB");
    option(OPT_sync_cap_mib, "0.02");
    option(OPT_sync_first_cap_mib, "0");
    option(OPT_sync_node_ranks, "2");
    option(OPT_sync_fusion_mib, "0.02");
    option(OPT_sync_cycle_ms, "1e9");
    option(OPT_sync_period, "2");
    option(OPT_sync_zero_persist, "100");
}

/* Synchronises ranks, as around timed steps: until then one may serve others. */
static bool meet(struct session *s, struct traffic *t, bool timed)
{
    struct error e;
    bool good = wait_barrier(s->trainer.job.waiter, MPI_COMM_WORLD, "ranks of a test", &e) == OK;
    traffic_between(t, s->trainer.job.waiter, timed);
    return good;
}

static bool take_steps(struct session *s, struct traffic *t)
{
    struct step_record taken;
    struct error e;
    bool good = true;
    for (uint32_t i = 0; i < STEPS; i++) {
        traffic_step_begin(t, s->trainer.job.waiter);
        good = trainer_step(&s->trainer, 0, i, &taken, &e) == OK && good;
        traffic_step_end(t, &s->trainer, true);
    }
    return good;
}

static bool columns_are_what_was_seen(struct session *s)
{
    struct traffic t = {.calls = 0};
    bool good = meet(s, &t, false);
    memset(&seen, 0, sizeof seen);
    good = take_steps(s, &t) && meet(s, &t, true) && good;
    const struct cost total = traffic_total(&t, s->trainer.sync, s->trainer.steps_done, STEPS);
    return good && total.calls == seen.calls && total.bytes_payload == seen.bytes &&
           total.messages_wire == seen.messages + seen.collectives.messages_wire &&
           total.bytes_wire == seen.sent + seen.collectives.bytes_wire;
}

static bool is_refused(void)
{
    struct strategy_config config;
    enum option_id at;
    struct error e;
    return config_strategy(&fixture.config, &config, &at, &e) != OK ||
           config_check_strategy(&fixture.config, mpi_world_ranks(), &at, &e) != OK;
}

/* Returns the extras that a strategy accepts: 16 bits if it can send them, norms if ranks run in
 * step. */
static int accepted_extras(enum strategy_kind kind, const char *variant)
{
    bool narrow = kind == STRATEGY_none || (strategy_flags(kind) & STRATEGY_COMPRESSES) != 0;
    bool apart = strcmp(variant, "stale") == 0 || strcmp(variant, "async") == 0;
    return ALL & ~(narrow ? 0 : FP16) & ~(apart ? NORM : 0);
}

static void expect_columns_with(int mask)
{
    struct session s;
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    snprintf(mpi_subject + strlen(mpi_subject), sizeof mpi_subject - strlen(mpi_subject),
             ", variant %s, extras %d", config_text(&fixture.config, OPT_VARIANT), mask);
    good = good && columns_are_what_was_seen(&s);
    session_close(&s);
    assert_all(good);
}

/* Compares columns with PMPI: without extras, with each extra alone, and with all extras that the
 * strategy accepts. */
static void expect_columns(int accepted)
{
    for (int i = -1; i <= EXTRAS; i++) {
        int mask = i < 0 ? 0 : i < EXTRAS ? 1 << i : accepted;
        set_extras(mask);
        assert_int_equal(is_refused(), (mask & ~accepted) != 0);
        if (!(mask & ~accepted))
            expect_columns_with(mask);
    }
}

/* Tests every strategy in every variant. */
static void columns_count_every_sum(void **state)
{
    const char *variants[VARIANTS];
    cut_messages();
    for (int k = 0; k < STRATEGIES; k++) {
        enum strategy_kind kind = (enum strategy_kind)k;
        size_t n = strategy_variant_list(kind, variants);
        option(OPT_STRATEGY, strategy_names()[k]);
        for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
            option(OPT_VARIANT, variants[i]);
            expect_columns(accepted_extras(kind, variants[i]));
        }
        option(OPT_VARIANT, "usual");
    }
}

/* Waiting within layers is not computing: here sums of statistics take longer by a fixed time. */
static void waiting_for_statistics_is_communication(void **state)
{
    enum { SLEEP_US = 2000, LAYERS = 8, SUMS = 2 * LAYERS };
    struct session s;
    struct step_record r;
    struct error e;
    option(OPT_BATCH_NORM, "sync");
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    see_sleep_us = SLEEP_US;
    good = good && trainer_step(&s.trainer, 0, 0, &r, &e) == OK;
    see_sleep_us = 0;
    good = good && s.trainer.group.bytes_sent > 0;
    session_close(&s);
    int64_t computing_ns =
        r.line.load_ns + r.line.forward_ns + r.line.backward_ns + r.line.optimizer_ns;
    good = good && r.line.comm_exposed_ns >= SUMS * SLEEP_US * 1000;
    assert_all(good && computing_ns + r.line.comm_exposed_ns <= r.line.end_ns - r.line.begin_ns);
    assert_all(r.line.batch_norm_ns >= SUMS * SLEEP_US * 1000 && r.line.poll_ns > 0);
    assert_all(r.line.batch_norm_ns <= r.line.comm_exposed_ns);
    assert_all(r.line.arrive_ns > r.line.begin_ns && r.line.arrive_ns < r.line.end_ns);
}

/* Also with a thread that may use the MPI library while the rank computes. */
static void replays_make_every_call(void **state)
{
    struct session s;
    struct step_record r;
    struct error e;
    double median_ns;
    set_extras(ALL);
    option(OPT_STRATEGY, "bucketed");
    option(OPT_OVERLAP, "thread");
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    memset(&seen, 0, sizeof seen);
    good = good && trainer_step(&s.trainer, 0, 0, &r, &e) == OK;
    const uint64_t calls = seen.calls, bytes = seen.bytes;
    good = good && replay_run(&s.trainer, 1, &median_ns, &e) == OK;
    session_close(&s);
    assert_all(good && calls > 16 && seen.calls % calls == 0 && seen.calls > calls &&
               seen.bytes == seen.calls / calls * bytes);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup_vgg, teardown)

int main(int argc, char **argv)
{
    int level; /* sync.overlap = thread needs MPI_THREAD_SERIALIZED */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(columns_count_every_sum),
        TEST(waiting_for_statistics_is_communication),
        TEST(replays_make_every_call),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
