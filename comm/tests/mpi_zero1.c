/* A sharded optimizer gives the same bits as an unsharded one: shm_zero1 like shm, zero1 like ring,
 * stages 2 and 3 like shm, which sum in the same order. Checks parameters on every rank, optimizer
 * state at rank 0 after a save, and that each rank's memory holds only its shard.
 *
 * double: 2 3 */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/tests/sync_fixture.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

enum { TENSORS = 4, N = 1013, STEPS = 3, SLOTS = 2 };

static struct tensor_desc tensors[TENSORS];
static struct net_desc desc = {.tensors = tensors};

static void cut(const size_t *counts, int n)
{
    size_t begin = 0;
    for (int i = 0; i < n; begin += counts[i++])
        tensors[i] = (struct tensor_desc){.name = "w",
                                          .n_dims = 1,
                                          .dims = {(int)counts[i]},
                                          .count = counts[i],
                                          .offset = begin};
    desc.n_tensors = n;
    desc.n_params = begin;
}

static int usual_net(void **state)
{
    cut((const size_t[]){7, 900, 1, 105}, TENSORS);
    return 0;
}

/* With more than three ranks, most have nothing to do. */
static int three_numbers(void **state)
{
    cut((const size_t[]){1, 2}, 2);
    return 0;
}

static struct optimizer optimizer(enum optimizer_kind kind)
{
    return (struct optimizer){.kind = kind,
                              .momentum = 0.9,
                              .weight_decay = 1e-4,
                              .beta1 = 0.9,
                              .beta2 = 0.999,
                              .epsilon = 1e-8,
                              .trust = 0.001,
                              .n = desc.n_params,
                              .tensors = tensors,
                              .n_tensors = desc.n_tensors};
}

struct outcome {
    real params[N], state[SLOTS * N];
};

static bool saves(struct sync *s, struct error *e)
{
    const void *data;
    size_t bytes;
    return sync_save(s, &data, &bytes, e) == OK && bytes == 0;
}

static bool step(struct sync *s, const struct optimizer *o, uint64_t k, struct error *e)
{
    const struct range all = {0, desc.n_tensors};
    sync_step_begin(s);
    bool good = true;
    for (enum pass pass = PASS_FORWARD; pass <= PASS_BACKWARD && good; pass++) {
        good = sync_params_needed(s, all, pass, e) == OK;
        sync_params_done(s, all, pass);
    }
    real *grads = sync_grad_buffer(s, all);
    for (size_t i = 0; i < desc.n_params; i++)
        grads[i] = (real)sin((double)i + 10007.0 * mpi_world_rank() + (double)k);
    return good && sync_grad_ready(s, all, 0, true, e) == OK &&
           sync_step_end(s, o, k, 0.01, e) == OK;
}

/* Trains, and saves after the first step and the last. */
static bool train(struct sync *s, struct optimizer *o, struct error *e)
{
    bool good = true;
    o->state = s->arenas.state;
    for (size_t i = 0; i < desc.n_params; i++)
        s->arenas.params[i] = (real)cos((double)i);
    for (uint64_t k = 1; k <= STEPS && good; k++)
        good = step(s, o, k, e) && (k > 1 || saves(s, e));
    return good && saves(s, e);
}

static bool run(struct outcome *out, enum strategy_kind kind, struct optimizer o)
{
    struct exec exec = {0};
    struct error e;
    struct sync *s;
    const struct sync_options options = {.comm = MPI_COMM_WORLD,
                                         .desc = &desc,
                                         .config.options[SYNC_segment] = 512,
                                         .slots = optimizer_slots(o.kind),
                                         .waiter = &program_waiter,
                                         .exec = &exec};
    if (sync_create(&s, kind, &options, &e) != OK)
        return false;
    memset(out, 0, sizeof *out);
    bool good = train(s, &o, &e);
    memcpy(out->params, s->arenas.params, desc.n_params * sizeof(real));
    if (mpi_world_rank() == 0)
        memcpy(out->state, s->arenas.state, (size_t)s->arenas.slots * desc.n_params * sizeof(real));
    sync_destroy(s);
    return good;
}

static void same_bits(enum strategy_kind whole, enum strategy_kind sharded, struct optimizer o)
{
    static struct outcome one, other;
    bool good = run(&one, whole, o) && run(&other, sharded, o) &&
                memcmp(&one, &other, sizeof one) == 0 && one.params[1] != (real)cos(1);
    assert_all(good);
}

static void adam(void **state)
{
    same_bits(STRATEGY_shm, STRATEGY_shm_zero1, optimizer(OPTIMIZER_adam));
    same_bits(STRATEGY_ring, STRATEGY_zero1, optimizer(OPTIMIZER_adam));
    same_bits(STRATEGY_shm, STRATEGY_zero2, optimizer(OPTIMIZER_adam));
    same_bits(STRATEGY_shm, STRATEGY_zero3, optimizer(OPTIMIZER_adam));
    same_bits(STRATEGY_shm, STRATEGY_shm_zero2, optimizer(OPTIMIZER_adam));
    same_bits(STRATEGY_shm, STRATEGY_shm_zero3, optimizer(OPTIMIZER_adam));
}

static void sgd_clipped(void **state)
{
    struct optimizer o = optimizer(OPTIMIZER_sgd);
    o.clip_norm = 0.5;
    same_bits(STRATEGY_shm, STRATEGY_shm_zero1, o);
}

/* The limit is below the sums of three ranks, which almost cancel, so that clipping changes the
 * result. */
static void clipped_by_value(void **state)
{
    static struct outcome clipped, unclipped;
    struct optimizer o = optimizer(OPTIMIZER_sgd);
    assert_all(run(&unclipped, STRATEGY_zero1, o));
    o.clip_value = 0.01;
    assert_all(run(&clipped, STRATEGY_zero1, o));
    assert_all(memcmp(clipped.params, unclipped.params, sizeof unclipped.params) != 0);
    same_bits(STRATEGY_ring, STRATEGY_zero1, o);
    same_bits(STRATEGY_shm, STRATEGY_zero2, o);
    same_bits(STRATEGY_shm, STRATEGY_zero3, o);
    same_bits(STRATEGY_shm, STRATEGY_shm_zero2, o);
    same_bits(STRATEGY_shm, STRATEGY_shm_zero3, o);
}

/* The long tensor belongs to one rank, whatever equal parts would give; other ranks have nothing
 * to do. */
static void lars_and_lamb_get_whole_tensors(void **state)
{
    same_bits(STRATEGY_shm, STRATEGY_shm_zero1, optimizer(OPTIMIZER_lars));
    same_bits(STRATEGY_shm, STRATEGY_shm_zero1, optimizer(OPTIMIZER_lamb));
}

/* ---- Who is late ---- */

static bool pass(struct sync *s, enum pass pass, int tensor, struct error *e)
{
    const struct range range = {tensor, tensor + 1};
    bool good = sync_params_needed(s, range, pass, e) == OK;
    sync_params_done(s, range, pass);
    return good && (pass == PASS_FORWARD || sync_grad_ready(s, range, 0, true, e) == OK);
}

/* Rank 0 waits for others during the step, then computes before its last gradients. Its arrival
 * is then, less the time that it has waited. */
static bool is_late_at_the_end(struct fixture *f, enum strategy_kind kind)
{
    enum { LATE_NS = 20000000 };
    struct error e;
    bool good = fixture_open(f, kind) && fixture_step(f, 1);
    struct sync *s = f->sync;
    int64_t begin_ns = clock_ns();
    sync_step_begin(s);
    for (int i = 0; i < FIXTURE_TENSORS; i++)
        good = good && pass(s, PASS_FORWARD, i, &e);
    for (int i = FIXTURE_TENSORS - 1; i >= 0; i--) {
        while (i == 0 && mpi_world_rank() == 0 && clock_ns() < begin_ns + LATE_NS) {
        }
        good = good && pass(s, PASS_BACKWARD, i, &e);
    }
    int64_t waited_ns = s->times.comm_exposed_ns;
    good = good && sync_step_end(s, &f->optimizer, 2, 1.0, &e) == OK;
    int64_t own_ns = s->times.arrive_ns - begin_ns;
    good = good && own_ns >= 0 && s->times.comm_exposed_ns <= s->times.comm_total_ns;
    good = good && (mpi_world_rank() != 0 || own_ns + waited_ns >= LATE_NS);
    sync_destroy(s);
    return good;
}

/* Each tensor is a block. Two blocks are in transit at a time; at stage 3 each is gathered
 * before its pass. */
static void computing_between_waits_delays_arrival(void **state)
{
    const enum strategy_kind kinds[] = {STRATEGY_zero2, STRATEGY_zero3, STRATEGY_shm_zero2,
                                        STRATEGY_shm_zero3};
    struct fixture f;
    fixture_init(&f);
    f.config.options[SYNC_cap_mib] = f.config.options[SYNC_first_cap_mib] = 1 / 0x1p20;
    f.config.options[SYNC_zero_persist] = 0;
    fixture_no_tensors(&f);
    for (int i = 0; i < FIXTURE_TENSORS; i++)
        fixture_add_tensor(&f, 1000, 0);
    for (int k = 0; k < 4; k++)
        assert_all(is_late_at_the_end(&f, kinds[k]));
}

/* ---- Memory ---- */

enum { LARGE = 4 << 20 };

/* Checks that memory holds only a shard of each state slot of LARGE numbers. Pages may be large,
 * and two of them may extend beyond its ends. */
static bool holds_a_shard(const struct sync *s)
{
    const double page_mib = 2;
    double shard_mib = (double)(LARGE / s->ranks + 1) * sizeof(real) / 0x1p20;
    double resident_mib = mem_resident_mib(s->arenas.state, (size_t)(SLOTS * LARGE) * sizeof(real));
    return !(resident_mib > SLOTS * (shard_mib + 2 * page_mib));
}

/* Checks memory before a checkpoint, and again in the step after it. */
static void zero1_holds_a_shard_of_the_state(void **state)
{
    struct fixture f;
    struct error e;
    const void *data;
    size_t bytes;
    fixture_init(&f);
    fixture_cut(&f, LARGE);
    f.optimizer = optimizer(OPTIMIZER_adam);
    assert_all(fixture_open(&f, STRATEGY_zero1));
    bool good = fixture_step(&f, 0.01) && holds_a_shard(f.sync);
    good = sync_save(f.sync, &data, &bytes, &e) == OK && good;
    good = fixture_step(&f, 0.01) && holds_a_shard(f.sync) && good;
    sync_destroy(f.sync);
    assert_all(good);
}

/* Checks that memory holds only a share of an arena, whose pages may be small. */
static bool holds_a_share(const struct sync *s, const real *arena)
{
    const double pages_mib = 1;
    double share_mib = (double)(LARGE / s->ranks + 1) * sizeof(real) / 0x1p20;
    return !(mem_resident_mib(arena, LARGE * sizeof(real)) > share_mib + pages_mib);
}

/* Checks that between steps a rank holds only its shares, and during evaluation all parameters. */
static void stages_hold_a_share(void **state)
{
    struct fixture f;
    fixture_init(&f);
    fixture_cut(&f, LARGE);
    f.optimizer = optimizer(OPTIMIZER_adam);
    for (int k = 0; k < 4; k++) {
        int stage = 2 + k % 2;
        assert_all(
            fixture_open(&f, strategy_of_stage(k < 2 ? STRATEGY_allreduce : STRATEGY_shm, stage)));
        for (int i = 0; i < 2; i++) {
            fixture_fill(&f);
            bool good = fixture_step(&f, 0.01) && holds_a_shard(f.sync);
            good = good && holds_a_share(f.sync, f.sync->arenas.grads);
            good = good && (stage == 2 || holds_a_share(f.sync, f.sync->arenas.params));
            assert_all(good);
            good = fixture_is_equal_everywhere(&f) && fixture_params(&f)[LARGE - 1] != 0;
            assert_all(good);
        }
        sync_destroy(f.sync);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(adam, usual_net),
        cmocka_unit_test_setup(adam, three_numbers),
        cmocka_unit_test_setup(sgd_clipped, usual_net),
        cmocka_unit_test_setup(clipped_by_value, usual_net),
        cmocka_unit_test_setup(clipped_by_value, three_numbers),
        cmocka_unit_test_setup(lars_and_lamb_get_whole_tensors, usual_net),
        cmocka_unit_test(computing_between_waits_delays_arrival),
        cmocka_unit_test(zero1_holds_a_shard_of_the_state),
        cmocka_unit_test(stages_hold_a_share),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
