/* Times of a sweep against closed forms, and how they change with bytes, rates, late ranks and
 * hosts. With alpha 1, beta 1/2 and gamma 1/4 all times are exact in binary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "comm/cost/sweep.h"

enum { RANKS_MOST = 64, WIDTH = 4 };

static const struct link_model link = {.alpha_s = 1, .beta_s = 0.5, .gamma_s = 0.25};

/* Sweep of a strategy. Default: whole messages, one link, all ranks on one host. */
struct run {
    enum strategy_kind strategy;
    struct strategy_config config;
    struct sweep_machine machine;
    int ranks;
    const size_t *counts;
    size_t n;
    const double *ready_s;     /* as in struct clock_sweep */
    uint64_t seed;             /* as in struct clock_sweep */
    double late_s[RANKS_MOST]; /* delay of each rank at the start */
    double clock_s[RANKS_MOST];
};

static struct run run_of(enum strategy_kind strategy, int ranks, const size_t *counts, size_t n)
{
    return (struct run){.strategy = strategy,
                        .config.options[SYNC_segment] = 0x1p62,
                        .machine = sweep_machine_of(&link, ranks),
                        .ranks = ranks,
                        .counts = counts,
                        .n = n};
}

/* Returns the end time of the last rank. */
static double latest_s(struct run *run)
{
    struct clock_sweep w;
    struct error e;
    assert_int_equal(clock_sweep_open(&w, &run->machine, run->ranks, &e), OK);
    w.ready_s = run->ready_s;
    w.seed = run->seed;
    for (int r = 0; r < run->ranks; r++)
        w.clock_s[r] = run->late_s[r];
    program_read(run->strategy, &run->config, run->ranks, run->counts, run->n, WIDTH, &w.reader);
    for (int r = 0; r < run->ranks; r++)
        run->clock_s[r] = w.clock_s[r];
    double latest = clock_sweep_latest_s(&w);
    clock_sweep_close(&w);
    return latest;
}

static double message_s(size_t bytes)
{
    return link.alpha_s + (double)bytes * link.beta_s;
}

static double sum_s(size_t bytes)
{
    return (double)bytes * link.gamma_s;
}

/* ---- Closed forms ---- */

/* 2 (p-1) (alpha + n/p beta) + (p-1) n/p gamma, on every rank. */
static void ring_follows_the_closed_form(void **state)
{
    for (int ranks = 1; ranks <= 16; ranks++) {
        const size_t block = 96, count = block / WIDTH * (size_t)ranks;
        struct run run = run_of(STRATEGY_ring, ranks, &count, 1);
        double expected = (ranks - 1) * (2 * message_s(block) + sum_s(block));
        assert_true(latest_s(&run) == expected);
        for (int r = 0; r < ranks; r++)
            assert_true(run.clock_s[r] == expected);
    }
}

/* lg p (alpha + n beta + n gamma). If 6 ranks fold into 4, rank 0 hands over its numbers and gets
 * back the sum. Rank 1 is behind rank 4, whose numbers it adds while it still sends its own. */
static void recursive_doubling_follows_the_closed_form(void **state)
{
    const size_t count = 24, n = count * WIDTH;
    for (int ranks = 1, lg = 0; ranks <= 64; ranks *= 2, lg++) {
        struct run run = run_of(STRATEGY_recursive_doubling, ranks, &count, 1);
        assert_true(latest_s(&run) == lg * (message_s(n) + sum_s(n)));
    }
    struct run six = run_of(STRATEGY_recursive_doubling, 6, &count, 1);
    assert_true(latest_s(&six) == 4 * message_s(n) + 2 * sum_s(n));
}

/* 2 lg p alpha + (p-1)/p n (2 beta + gamma), for our messages and for the library's. */
static void rabenseifner_follows_the_closed_form(void **state)
{
    for (int ranks = 2, lg = 1; ranks <= 64; ranks *= 2, lg++) {
        const size_t block = 32, count = block / WIDTH * (size_t)ranks;
        double moved = (double)block * (ranks - 1), expected = 2 * lg + moved * (2 * 0.5 + 0.25);
        struct run ours = run_of(STRATEGY_rabenseifner, ranks, &count, 1);
        struct run library = run_of(STRATEGY_allreduce, ranks, &count, 1);
        assert_true(latest_s(&ours) == expected);
        assert_true(latest_s(&library) == expected);
    }
}

/* The same formula for 65,536 ranks on hosts of their own. */
static void many_ranks_follow_the_closed_form(void **state)
{
    const int ranks = 65536;
    const size_t count = 8 * (size_t)ranks;
    struct run run = run_of(STRATEGY_rabenseifner, ranks, &count, 1);
    struct clock_sweep w;
    struct error e;
    run.machine.hosts.group = 1;
    assert_int_equal(clock_sweep_open(&w, &run.machine, ranks, &e), OK);
    program_read(run.strategy, &run.config, ranks, &count, 1, WIDTH, &w.reader);
    double moved = 32.0 * (ranks - 1);
    assert_true(clock_sweep_latest_s(&w) == 2 * 16 + moved * (2 * 0.5 + 0.25));
    clock_sweep_close(&w);
}

/* A tree of height h takes two consecutive messages at every level, up and down. gamma is 0. */
static void trees_wait_level_by_level(void **state)
{
    const size_t count = 6;
    for (int height = 1; height <= 4; height++) {
        struct run run = run_of(STRATEGY_tree, (2 << height) - 1, &count, 1);
        run.machine.memory.gamma_s = 0;
        assert_true(latest_s(&run) == 4 * height * message_s(count * WIDTH));
    }
}

/* lg p (2 alpha + 2 n beta + n gamma) up and down a binomial tree. */
static void reduce_and_broadcast_follow_the_closed_form(void **state)
{
    const size_t count = 8, n = count * WIDTH;
    for (int ranks = 2, lg = 1; ranks <= 32; ranks *= 2, lg++) {
        struct run run = run_of(STRATEGY_reduce_bcast, ranks, &count, 1);
        assert_true(latest_s(&run) == lg * (2 * message_s(n) + sum_s(n)));
    }
}

/* A chain fills: one segment passes p - 1 ranks up and p - 1 down. */
static void chains_fill_before_they_flow(void **state)
{
    const size_t count = 10;
    for (int ranks = 2; ranks <= 64; ranks++) {
        struct run run = run_of(STRATEGY_fixed_order, ranks, &count, 1);
        assert_true(latest_s(&run) ==
                    (ranks - 1) * (2 * message_s(count * WIDTH) + sum_s(count * WIDTH)));
    }
}

/* 4 ranks exchange k equal tensors with rank 0. While rank 0 scatters one, ranks that have it send
 * the next: 4 messages per tensor after the first, where one after the other would be 6. */
static void gathers_overlap_scatters(void **state)
{
    const size_t counts[] = {10, 10, 10, 10, 10};
    for (size_t k = 1; k <= 5; k++) {
        struct run run = run_of(STRATEGY_gather_scatter, 4, counts, k);
        run.config.variant = VARIANT_gather_scatter_linear;
        run.machine.memory.gamma_s = 0;
        assert_true(latest_s(&run) == (2.0 + 4.0 * (double)k) * message_s(40));
    }
}

/* Shares of 16 bits: all messages are posted at once, and all but the last share are added while
 * others arrive. */
static void posted_messages_follow_the_closed_form(void **state)
{
    for (int ranks = 2; ranks <= 16; ranks++) {
        const size_t share = 48, count = share / 2 * (size_t)ranks;
        struct run run = run_of(STRATEGY_allreduce, ranks, &count, 1);
        run.config.compressor = COMPRESSOR_bf16;
        assert_true(latest_s(&run) == 2 * (ranks - 1) * message_s(share) + sum_s(share));
    }
}

/* Slices of 4, 3 and 3 numbers, each read from two other ranks between two barriers. Then rank 1
 * copies 7 numbers. */
static void shared_memory_follows_the_closed_forms(void **state)
{
    const size_t count = 10;
    const double sum = 2 + 2 * 16 * 0.75;
    struct run shm = run_of(STRATEGY_shm, 3, &count, 1), alone = run_of(STRATEGY_shm, 1, &count, 1);
    struct run zero1 = run_of(STRATEGY_shm_zero1, 3, &count, 1);
    struct run zero2 = run_of(STRATEGY_shm_zero2, 3, &count, 1);
    struct run zero3 = run_of(STRATEGY_shm_zero3, 3, &count, 1);
    assert_true(latest_s(&shm) == sum);
    assert_true(latest_s(&alone) == 0);
    assert_true(latest_s(&zero1) == sum + 28 * 0.5);
    assert_true(zero1.clock_s[0] == sum + 24 * 0.5);
    assert_true(latest_s(&zero2) == sum + 28 * 0.5 + 1);
    assert_true(latest_s(&zero3) == sum + 2 * 28 * 0.5 + 1);
}

/* Two segments: the first is added while the second arrives. */
static void segments_are_added_while_others_arrive(void **state)
{
    const size_t count = 24;
    struct run run = run_of(STRATEGY_recursive_doubling, 2, &count, 1);
    run.config.options[SYNC_segment] = 48;
    assert_true(latest_s(&run) == 2 * message_s(48) + sum_s(48));
}

/* ---- Influences on times ---- */

static const enum strategy_kind MOVED[] = {STRATEGY_ring, STRATEGY_rabenseifner, STRATEGY_tree,
                                           STRATEGY_allreduce, STRATEGY_gather_scatter};
enum { MOVED_N = sizeof MOVED / sizeof *MOVED };

/* If messages cost nothing but their bytes, twice the bytes or half the rate take twice as long. */
static void bytes_and_rates_move_times(void **state)
{
    const size_t once = 960, twice = 2 * once;
    for (int i = 0; i < MOVED_N; i++) {
        struct run run = run_of(MOVED[i], 8, &once, 1);
        run.machine.memory.alpha_s = 0;
        double base = latest_s(&run);
        run.counts = &twice;
        assert_true(latest_s(&run) == 2 * base);
        run.counts = &once;
        run.machine.memory.beta_s *= 2;
        run.machine.memory.gamma_s *= 2;
        assert_true(latest_s(&run) == 2 * base);
    }
}

/* Any late rank delays all ranks of a ring. */
static void a_late_rank_delays_a_ring(void **state)
{
    const size_t count = 960;
    struct run run = run_of(STRATEGY_ring, 8, &count, 1);
    double base = latest_s(&run);
    for (int r = 0; r < 8; r++) {
        run.late_s[r] = 1e6;
        assert_true(latest_s(&run) == base + 1e6);
        run.late_s[r] = 0;
    }
}

/* Rank 3 is the third that rank 0 receives from: two messages late it is still in time, three late
 * it delays by one. */
static void a_late_rank_may_be_in_time(void **state)
{
    const size_t count = 10;
    struct run run = run_of(STRATEGY_gather_scatter, 4, &count, 1);
    run.config.variant = VARIANT_gather_scatter_linear;
    double base = latest_s(&run), message = message_s(40);
    run.late_s[3] = 2 * message;
    assert_true(latest_s(&run) == base);
    run.late_s[3] = 3 * message;
    assert_true(latest_s(&run) == base + message);
}

/* Rank 2 sends to the root when it has added the numbers of rank 3. Rank 1 may be late by the time
 * of this sum, since one message after the other arrives at the root; rank 3 may not. */
static void a_late_leaf_may_be_in_time(void **state)
{
    const size_t count = 10, n = count * WIDTH;
    struct run run = run_of(STRATEGY_reduce_bcast, 4, &count, 1);
    double base = latest_s(&run);
    run.late_s[1] = sum_s(n);
    assert_true(latest_s(&run) == base);
    run.late_s[1] = sum_s(n) + 1;
    assert_true(latest_s(&run) == base + 1);
    run.late_s[1] = 0;
    run.late_s[3] = 1;
    assert_true(latest_s(&run) == base + 1);
}

/* Four tensors, each a bucket of its own, leave while backward goes on until 8. strategy_exposed
 * finds the same time from the total of all sums, here 1/4 of a second and more per number. */
static void buckets_leave_during_backward(void **state)
{
    static const size_t counts[] = {4, 2, 2, 8};
    static const double ready[] = {8, 6, 4, 1}, sums_s[] = {4, 8, 16, 32};
    for (int i = 0; i < 4; i++) {
        struct run run = run_of(STRATEGY_bucketed, 2, counts, 4);
        run.machine.memory = (struct link_model){.beta_s = sums_s[i] / (16 * WIDTH)};
        assert_true(latest_s(&run) == sums_s[i]);
        run.ready_s = ready;
        double exposed = latest_s(&run) - 8;
        assert_true(exposed > 0 && exposed < sums_s[i]);
        assert_true(exposed == strategy_exposed(STRATEGY_bucketed, &run.config, counts, ready, 4,
                                                WIDTH, 8, sums_s[i]));
        run.strategy = STRATEGY_allreduce_layer;
        assert_true(latest_s(&run) == 8 + sums_s[i]);
    }
}

/* ---- Hosts ---- */

/* Ranks 0 and 1, 2 and 3 share a host; the second exchange is between hosts, of two messages
 * through each interface. */
static void ranks_of_a_host_share_its_interface(void **state)
{
    const size_t count = 24, n = count * WIDTH;
    struct run run = run_of(STRATEGY_recursive_doubling, 4, &count, 1);
    const double within = message_s(n) + sum_s(n);
    run.machine.hosts.group = 2;
    run.machine.network = (struct link_model){.alpha_s = 4, .beta_s = 8};
    double between = 4 + (double)n * 8;
    assert_true(latest_s(&run) == within + 2 * between + sum_s(n));
    run.machine.delay_s = 1000;
    assert_true(latest_s(&run) == within + 2 * between + 1000 + sum_s(n));
    run.machine.hosts.group = 1;
    assert_true(latest_s(&run) == 2 * (between + 1000 + sum_s(n)));
    run.machine.hosts.node_of = (const int[]){0, 1, 2, 3};
    assert_true(latest_s(&run) == 2 * (between + 1000 + sum_s(n)));
}

/* Ranks 0 and 3 share a host, and so do 1 and 2. If ranks are numbered the other way round,
 * partners stay partners, so delays of ranks in the opposite order have the opposite effects. Hosts
 * that served rank 0 first would let only the other rank wait. */
static void hosts_serve_the_earliest_rank(void **state)
{
    const size_t count = 24;
    struct run run = run_of(STRATEGY_gossip, 4, &count, 1), opposite = run;
    for (int r = 0; r < 4; r++)
        opposite.late_s[3 - r] = run.late_s[r] = 10 - 3 * r;
    run.machine.hosts.node_of = opposite.machine.hosts.node_of = (const int[]){0, 1, 1, 0};
    assert_true(latest_s(&run) == latest_s(&opposite));
    for (int r = 0; r < 4; r++)
        assert_true(run.clock_s[r] == opposite.clock_s[3 - r]);
}

/* Eight hosts exchange numbers with the hosts 1, 2 and 4 away. A leaf has one link to a spine
 * switch for every two hosts, so an exchange between leaves takes twice as long. If leaves have 2,
 * 4 or 8 hosts, then 2, 1 or 0 of the three exchanges are between leaves. */
static void leaves_share_their_links_to_spines(void **state)
{
    const size_t count = 24;
    const double message = (double)(count * WIDTH) * link.beta_s;
    struct run run = run_of(STRATEGY_recursive_doubling, 8, &count, 1);
    run.machine.network.alpha_s = 0;
    run.machine.memory.gamma_s = 0;
    run.machine.hosts.group = 1;
    for (int hosts = 2, leave = 2; hosts <= 8; hosts *= 2, leave--) {
        run.machine.leaf_hosts = hosts;
        run.machine.leaf_spines = hosts / 2;
        assert_true(latest_s(&run) == (3 + leave) * message);
        run.machine.leaf_spines = hosts;
        assert_true(latest_s(&run) == 3 * message);
        run.machine.leaf_spines = 1;
        assert_true(latest_s(&run) == (3 - leave + hosts * leave) * message);
    }
}

/* Emulated hosts limit only sending: rank 0 receives from three ranks at once, but sends to one
 * after the other. */
static void hosts_may_receive_freely(void **state)
{
    const size_t count = 10;
    struct run run = run_of(STRATEGY_gather_scatter, 4, &count, 1);
    run.config.variant = VARIANT_gather_scatter_linear;
    run.machine.memory.gamma_s = 0;
    run.machine.hosts.group = 1;
    assert_true(latest_s(&run) == 6 * message_s(40));
    run.machine.receives_freely = true;
    assert_true(latest_s(&run) == 4 * message_s(40));
}

/* Emulated hosts send a burst at once after a pause. The second round of a ring follows without
 * one. Between two sums a host pauses, and saves up tokens again. */
static void a_burst_passes_at_once(void **state)
{
    const size_t counts[] = {16, 16};
    struct run run = run_of(STRATEGY_ring, 2, counts, 1);
    run.machine.memory.gamma_s = 0;
    run.machine.hosts.group = 1;
    run.machine.receives_freely = true;
    double rounds_s = latest_s(&run);
    run.machine.burst_s = 0.5 * message_s(32);
    assert_true(latest_s(&run) == rounds_s - run.machine.burst_s);
    run.machine.burst_s = 2 * rounds_s;
    assert_true(latest_s(&run) == 0);
    run.strategy = STRATEGY_gather_scatter;
    run.config.variant = VARIANT_gather_scatter_linear;
    run.n = 2;
    run.machine.burst_s = 1;
    assert_true(latest_s(&run) == 4 * (message_s(64) - 1));
}

/* Returns the end of a sum of two ranks, whose messages advance when the gradient is ready at 100
 * s, and after computing at 200 s. */
static double computing_s(enum strategy_kind strategy, size_t count, double socket_bytes)
{
    static const double zero[2] = {0}, one[2] = {1, 1}, ready = 100, calls[] = {100, 200};
    struct run run = run_of(strategy, 2, &count, 1);
    struct clock_sweep w;
    struct error e;
    run.machine.memory.gamma_s = 0;
    run.machine.hosts.group = 1;
    run.machine.socket_bytes = socket_bytes;
    assert_int_equal(clock_sweep_open(&w, &run.machine, 2, &e), OK);
    w.begins_s = zero, w.paces = one, w.ready_s = &ready, w.calls_s = calls, w.n_calls = 2;
    program_read(strategy, &run.config, 2, &count, 1, WIDTH, &w.reader);
    double latest = clock_sweep_latest_s(&w);
    clock_sweep_close(&w);
    return latest;
}

/* A message that fits the socket leaves while the rank computes. The rest of a longer one, and the
 * next round, wait until the rank has computed. */
static void sockets_send_while_a_rank_computes(void **state)
{
    const size_t count = 16;
    const double message = message_s(64), half = message_s(32);
    assert_true(computing_s(STRATEGY_recursive_doubling, count, 64) == 100 + message);
    assert_true(computing_s(STRATEGY_recursive_doubling, count, 24) == 200 + message - 24 * 0.5);
    assert_true(computing_s(STRATEGY_ring, count, 64) == 200 + half);
}

/* Every program ends on every number of ranks, and takes no time on one. */
static void every_program_ends(void **state)
{
    const size_t counts[] = {7, 0, 100, 33};
    for (int s = 0; s < STRATEGIES; s++)
        for (int ranks = 1; ranks <= 9; ranks++) {
            struct run run = run_of((enum strategy_kind)s, ranks, counts, 4);
            run.config.options[SYNC_node_ranks] = 3;
            run.machine.hosts.group = 3;
            double latest = latest_s(&run);
            assert_true(isfinite(latest));
            assert_true((latest > 0) == (ranks > 1 && s != STRATEGY_none));
        }
}

/* ---- Scatter ---- */

static void paces_are_interpolated_between_percentiles(void **state)
{
    (void)state;
    const struct link_model scattered = {.paces = {0.5, 1, 2, 3, 4, 5, 7}}, even = {.paces = {0}};
    const double us[] = {0, 0.125, 0.5, 0.625, 0.9, 0.995, 1},
                 paces[] = {0.5, 0.75, 2, 2.5, 4, 6, 7};
    for (size_t i = 0; i < sizeof us / sizeof *us; i++) {
        assert_true(fabs(link_pace(&scattered, us[i]) - paces[i]) < 1e-12);
        assert_true(link_pace(&even, us[i]) == 1);
    }
}

/* If all messages take twice as long, only sums keep their time. */
static void a_pace_multiplies_the_time_of_messages(void **state)
{
    (void)state;
    const size_t count = 24;
    for (int ranks = 2; ranks <= 8; ranks++) {
        struct run run = run_of(STRATEGY_ring, ranks, &count, 1);
        run.machine.memory.gamma_s = 0;
        double base = latest_s(&run);
        for (int i = 0; i < LINK_PACES; i++)
            run.machine.memory.paces[i] = 2;
        assert_true(latest_s(&run) == base);
        run.seed = 1;
        assert_true(latest_s(&run) == 2 * base);
    }
}

/* The step ends with its slowest message, so the mean of several seeds grows faster with ranks than
 * without scatter. Equal seeds give equal times. */
static void scattered_messages_delay_more_ranks_more(void **state)
{
    (void)state;
    const size_t count = 64;
    double before = 1;
    for (int ranks = 2; ranks <= RANKS_MOST; ranks *= 4) {
        enum { SEEDS = 40 };
        struct run run = run_of(STRATEGY_recursive_doubling, ranks, &count, 1);
        const double paces[LINK_PACES] = {0.75, 0.875, 1, 1.125, 1.25, 3, 5};
        double base = latest_s(&run), sum = 0;
        memcpy(run.machine.memory.paces, paces, sizeof paces);
        for (run.seed = 1; run.seed <= SEEDS; run.seed++)
            sum += latest_s(&run) / base / SEEDS;
        assert_true(sum > 1.02 * before);
        before = sum;
        run.seed = 7;
        double first = latest_s(&run);
        assert_true(latest_s(&run) == first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_follows_the_closed_form),
        cmocka_unit_test(recursive_doubling_follows_the_closed_form),
        cmocka_unit_test(rabenseifner_follows_the_closed_form),
        cmocka_unit_test(many_ranks_follow_the_closed_form),
        cmocka_unit_test(trees_wait_level_by_level),
        cmocka_unit_test(reduce_and_broadcast_follow_the_closed_form),
        cmocka_unit_test(chains_fill_before_they_flow),
        cmocka_unit_test(gathers_overlap_scatters),
        cmocka_unit_test(posted_messages_follow_the_closed_form),
        cmocka_unit_test(shared_memory_follows_the_closed_forms),
        cmocka_unit_test(segments_are_added_while_others_arrive),
        cmocka_unit_test(bytes_and_rates_move_times),
        cmocka_unit_test(buckets_leave_during_backward),
        cmocka_unit_test(a_late_rank_delays_a_ring),
        cmocka_unit_test(a_late_rank_may_be_in_time),
        cmocka_unit_test(a_late_leaf_may_be_in_time),
        cmocka_unit_test(ranks_of_a_host_share_its_interface),
        cmocka_unit_test(hosts_serve_the_earliest_rank),
        cmocka_unit_test(leaves_share_their_links_to_spines),
        cmocka_unit_test(hosts_may_receive_freely),
        cmocka_unit_test(a_burst_passes_at_once),
        cmocka_unit_test(sockets_send_while_a_rank_computes),
        cmocka_unit_test(every_program_ends),
        cmocka_unit_test(paces_are_interpolated_between_percentiles),
        cmocka_unit_test(a_pace_multiplies_the_time_of_messages),
        cmocka_unit_test(scattered_messages_delay_more_ranks_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
