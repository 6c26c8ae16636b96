/* The timeline of a step agrees with its record: the spans of every strategy add up.
 * double: 3 */
#include "bench/workloads/train_cnn/tests/train_fixture.h"
#include "bench/workloads/train_cnn/trace.h"

/* Sums over the spans of a step. */
struct sums {
    int64_t of[PHASES];
    int64_t exposed_ns; /* comm without spans nested in it */
    int64_t ops_ns;     /* forward and backward without spans nested in them */
    size_t flights;
    bool inside; /* each span is within the step, except sums in flight, which may begin earlier */
};

static bool lies_in(const struct timeline_span *inner, const struct timeline_span *outer)
{
    return inner != outer && inner->begin_ns >= outer->begin_ns && inner->end_ns <= outer->end_ns;
}

/* Returns the time nested in span k. Spans are sorted by end, so nested spans come first. */
static int64_t inside_ns(const struct timeline_span *spans, size_t k)
{
    int64_t sum = 0;
    for (size_t i = 0; i < k; i++)
        if (spans[i].phase != PHASE_flight && lies_in(&spans[i], &spans[k]))
            sum += spans[i].end_ns - spans[i].begin_ns;
    return sum;
}

static struct sums add_up(const struct trace *trace, const struct step_record *step)
{
    size_t n;
    const struct timeline_span *spans = timeline_step(trace->timeline, 0, &n);
    struct sums sums = {.inside = n > 0};
    for (size_t i = 0; i < n; i++) {
        int64_t ns = spans[i].end_ns - spans[i].begin_ns;
        sums.of[spans[i].phase] += ns;
        if (spans[i].phase == PHASE_comm)
            sums.exposed_ns += ns - inside_ns(spans, i);
        if (spans[i].phase == PHASE_forward || spans[i].phase == PHASE_backward)
            sums.ops_ns += ns - inside_ns(spans, i);
        sums.flights += spans[i].phase == PHASE_flight;
        sums.inside = sums.inside && ns >= 0 && spans[i].end_ns <= step->line.end_ns &&
                      (spans[i].phase == PHASE_flight || spans[i].begin_ns >= step->line.begin_ns);
    }
    return sums;
}

/* Runs a warm-up step, which is not kept, then a step that is. */
static bool trace_step(struct session *s, struct trace *trace, struct step_record *taken)
{
    struct error e;
    bool good = trace_open(trace, &s->trainer, &e) == OK && session_step(s, 0);
    good = good && trainer_step(&s->trainer, 0, 1, taken, &e) == OK;
    trace_keep(trace, taken);
    return good && timeline_steps(trace->timeline) == 1;
}

/* Spans of ops are nested within their phase. A server's sleep has a span only if it is not 0. */
static bool adds_up(const struct sums *sums, const struct step_record *taken, unsigned flags)
{
    const struct record_step *sync = &taken->line;
    bool serves = (flags & STRATEGY_OWNS_OPTIMIZER) != 0;
    return sums->inside && sums->of[PHASE_step] == taken->line.end_ns - taken->line.begin_ns &&
           sums->exposed_ns >= sync->comm_exposed_ns &&
           (serves || sums->exposed_ns == sync->comm_exposed_ns) &&
           sums->of[PHASE_pack] == sync->pack_ns &&
           sums->of[PHASE_optimizer] == sync->optimizer_ns && sums->ops_ns > 0 &&
           sums->ops_ns <= taken->line.forward_ns + taken->line.backward_ns &&
           sums->of[PHASE_load] <= taken->line.load_ns;
}

static void expect_sums(size_t flights)
{
    struct session s;
    struct trace trace = {0};
    struct step_record taken = {0};
    struct sums sums = {.inside = false};
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && trace_step(&s, &trace, &taken);
    if (good)
        sums = add_up(&trace, &taken);
    good = good && adds_up(&sums, &taken, sync_flags(s.trainer.sync)) && sums.flights >= flights;
    if (!good)
        print_error(
            "%s: exposed %lld of %lld ns, pack %lld of %lld, optimizer %lld of %lld, ops %lld of "
            "%lld, %zu in flight\n",
            config_text(&fixture.config, OPT_STRATEGY), (long long)sums.exposed_ns,
            (long long)taken.line.comm_exposed_ns, (long long)sums.of[PHASE_pack],
            (long long)taken.line.pack_ns, (long long)sums.of[PHASE_optimizer],
            (long long)taken.line.optimizer_ns, (long long)sums.ops_ns,
            (long long)(taken.line.forward_ns + taken.line.backward_ns), sums.flights);
    trace_close(&trace, &s.trainer);
    session_close(&s);
    assert_all(good);
}

static void spans_of_every_strategy_add_up(void **state)
{
    option(OPT_sync_node_ranks, "3");
    for (int k = 0; k < STRATEGIES; k++) {
        struct error e;
        enum option_id at;
        option(OPT_STRATEGY, strategy_names()[k]);
        if (config_check_strategy(&fixture.config, mpi_world_ranks(), &at, &e) == OK)
            expect_sums(0);
    }
}

static void buckets_are_in_flight(void **state)
{
    option(OPT_STRATEGY, "bucketed");
    option(OPT_OVERLAP, "poll_tiles");
    option(OPT_sync_cap_mib, "0.02");
    option(OPT_sync_first_cap_mib, "0");
    expect_sums(2);
}

static void a_delayed_sum_is_in_flight_since_the_step_before(void **state)
{
    option(OPT_STRATEGY, "delayed");
    expect_sums(1);
}

static void sleeps_are_seen(void **state)
{
    struct session s;
    struct trace trace = {0};
    struct step_record taken = {0};
    option(OPT_INJECT_KIND, "fixed");
    option(OPT_INJECT_SLEEP, "0.002s");
    option(OPT_INJECT_PHASE, "sync");
    assert_all(session_open(&s, MPI_COMM_WORLD, 1) && trace_step(&s, &trace, &taken));
    struct sums sums = add_up(&trace, &taken);
    bool sleeps = mpi_world_rank() == 0;
    bool good =
        sleeps ? sums.of[PHASE_inject] >= taken.line.inject_ns && taken.line.inject_ns >= 2000000
               : sums.of[PHASE_inject] == 0;
    trace_close(&trace, &s.trainer);
    session_close(&s);
    assert_all(good);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(spans_of_every_strategy_add_up),
        TEST(buckets_are_in_flight),
        TEST(a_delayed_sum_is_in_flight_since_the_step_before),
        TEST(sleeps_are_seen),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
