/* A replayed launch sends the same messages as a computing one, takes at least as long, and learns
 * nothing.
 * double: 3 */
#include <unistd.h>

#include "bench/workloads/train_cnn/replay.h"
#include "bench/workloads/train_cnn/tests/train_fixture.h"

enum { STEPS = 4 };

static char folder[64];

/* Messages and own work of a session after STEPS steps. */
struct outcome {
    uint64_t calls, bytes;
    int64_t own_ns; /* load, forward and backward */
    bool learned;
};

static bool take_steps(struct session *s, struct outcome *o)
{
    struct error e;
    struct step_record record;
    uint64_t calls = s->trainer.job.waiter->calls, bytes = s->trainer.job.waiter->bytes_payload;
    uint64_t hash = trainer_hash(&s->trainer);
    bool good = true;
    o->own_ns = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        good = trainer_step(&s->trainer, 0, i, &record, &e) == OK && good;
        work_keep(&s->trainer);
        o->own_ns += record.line.load_ns + record.line.forward_ns + record.line.backward_ns;
    }
    o->calls = s->trainer.job.waiter->calls - calls;
    o->bytes = s->trainer.job.waiter->bytes_payload - bytes;
    o->learned = trainer_hash(&s->trainer) != hash;
    return good;
}

/* Returns the rank's own work in all steps of a calibration. */
static int64_t own_time(const struct calibration *c)
{
    int64_t sum_ns = 0;
    int parts = calibration_parts(c);
    for (int i = 0; i < c->n_steps; i++)
        for (int k = 0; k < calibration_part(c, PART_OPTIMIZER, 0); k++)
            sum_ns += c->ns[i * parts + k];
    return sum_ns;
}

static bool calibrate(struct outcome *computed)
{
    struct session s;
    struct error e;
    option(OPT_TIME_STEPS, "4");
    session_work = (struct work_options){.calibrate = true};
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && take_steps(&s, computed);
    good = good && s.trainer.times->n_steps == STEPS &&
           own_time(s.trainer.times) <= computed->own_ns &&
           calibration_write(s.trainer.times, folder, s.trainer.job.waiter->node_rank, &e) == OK;
    session_close(&s);
    return mpi_all(good);
}

static bool replay(struct outcome *replayed, int64_t *wanted_ns)
{
    struct session s;
    session_work = (struct work_options){.calibration = folder};
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && take_steps(&s, replayed);
    *wanted_ns = good ? own_time(&s.trainer.replayed->calibration) : 0;
    session_close(&s);
    return good;
}

/* 24 images are divisible by 1 to 4 ranks, so one rank's times hold for another. */
static void a_strategy_sends_the_same(const char *strategy, const char *compressor)
{
    struct outcome computed, replayed;
    int64_t wanted_ns;
    option(OPT_GLOBAL_BATCH, mpi_world_ranks() == 7 ? "28" : "24");
    option(OPT_STRATEGY, strategy);
    option(OPT_COMPRESS, compressor);
    assert_all(calibrate(&computed));
    assert_all(replay(&replayed, &wanted_ns));
    assert_all(replayed.calls == computed.calls && replayed.bytes == computed.bytes);
    assert_all(replayed.own_ns >= wanted_ns);
    assert_all(computed.learned && !replayed.learned);
    session_work = (struct work_options){0};
}

static void messages_are_those_of_a_launch_that_computes(void **state)
{
    a_strategy_sends_the_same("allreduce", "none");
    a_strategy_sends_the_same("bucketed", "none");
    a_strategy_sends_the_same("ring", "none");
    a_strategy_sends_the_same("allreduce", "fp16");
    option(OPT_ACCUMULATE, "2");
    a_strategy_sends_the_same("bucketed", "none");
}

/* A rate needs no file, and only FLOPs take time. */
static void a_stated_rate_is_kept(void **state)
{
    struct session s;
    struct outcome replayed;
    session_work = (struct work_options){.gflops = 1};
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && take_steps(&s, &replayed);
    double flops = good ? (double)(net_flops_done(s.trainer.model.net, false) +
                                   net_flops_done(s.trainer.model.net, true))
                        : 0;
    uint32_t images = 0;
    for (uint32_t i = 0; good && i < STEPS; i++)
        images += sampler_get(&s.trainer.batches.sampler, 0, i).n;
    session_close(&s);
    session_work = (struct work_options){0};
    assert_all(good && !replayed.learned);
    assert_all((double)replayed.own_ns >= 0.999 * flops * images);
}

/* Each rank detects it alone, and none hangs. */
static void a_missing_calibration_is_refused(void **state)
{
    struct session s;
    session_work = (struct work_options){.calibration = "/nowhere"};
    bool opened = session_open(&s, MPI_COMM_WORLD, 1);
    session_close(&s);
    session_work = (struct work_options){0};
    assert_all(!opened);
}

/* Checks the number of calls in replays after `steps` steps: calls of one period of the strategy,
 * plus barriers before steps that send. */
static void calls_are_those_of_steps(int steps, uint64_t calls, uint64_t barriers)
{
    enum { TIMES = 3, WARM = 2 };
    struct session s;
    struct error e;
    double median_ns = -1;
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && session_steps(&s, steps);
    uint64_t before = s.trainer.job.waiter->calls;
    good = good && replay_run(&s.trainer, TIMES, &median_ns, &e) == OK;
    uint64_t seen = s.trainer.job.waiter->calls - before;
    session_close(&s);
    assert_all(good && median_ns >= 0);
    assert_all(seen == (TIMES + WARM) * (calls + barriers));
}

/* local_sgd averages every third step; a replay covers one period, whatever the last trained step
 * was. */
static void replays_communicate_as_often_as_steps(void **state)
{
    option(OPT_STRATEGY, "local_sgd");
    option(OPT_sync_period, "3");
    for (int steps = 3; steps <= 5; steps++)
        calls_are_those_of_steps(steps, 1, 1);
    option(OPT_sync_post_local, "100");
    calls_are_those_of_steps(4, 3, 3);
}

/* Parameters are gathered for each micro-batch. */
static void replays_have_micro_batches(void **state)
{
    static const char *const accumulate[] = {"1", "3"};
    option(OPT_STRATEGY, "zero3");
    option(OPT_sync_zero_persist, "1000");
    for (int i = 0; i < 2; i++) {
        struct session s;
        option(OPT_ACCUMULATE, accumulate[i]);
        assert_all(session_open(&s, MPI_COMM_WORLD, 1));
        const struct cost cost = sync_cost(s.trainer.sync);
        session_close(&s);
        calls_are_those_of_steps(1, cost.calls, 1);
    }
}

/* Rank 0 makes the folder for all ranks. */
static int open_all(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/mpi_replay.XXXXXX");
    int made = mpi_world_rank() == 0 ? mkdtemp(folder) != NULL : 1;
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    return train_waiters_open(state) == 0 && made ? 0 : -1;
}

static int close_all(void **state)
{
    char path[128];
    int rank = mpi_world_rank();
    snprintf(path, sizeof path, "%s/rank.%d.times.json", folder, rank);
    unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        rmdir(folder);
    return train_waiters_close(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(messages_are_those_of_a_launch_that_computes),
        TEST(a_stated_rate_is_kept),
        TEST(a_missing_calibration_is_refused),
        TEST(replays_communicate_as_often_as_steps),
        TEST(replays_have_micro_batches),
    };
    int failed = mpi_run_group(tests, open_all, close_all);
    MPI_Finalize();
    return failed;
}
