/* Strategies on real ranks: exact sums at awkward sizes, counters against an independent count at
 * the PMPI boundary and against the formulas, every way of waiting.
 *
 * Where ranks outnumber cores a rank that spins in the library keeps the others from running: there
 * the ranks yield, and the largest gradients are left out. */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/strategy.h"
#include "comm/tests/mpi_seen.h"

/* Of strategies that cut their messages: small, so that there is something to cut. */
#define SEGMENT_BYTES 1024
#define CAP_BYTES     4096
#define CYCLE_NS      200000

/* Every strategy that sums, in every form. */
struct form {
    enum strategy_kind strategy;
    enum strategy_variant variant;
};

static struct form forms[STRATEGIES + VARIANTS];
static int n_forms;
static const struct form oracle = {STRATEGY_allreduce, VARIANT_usual};

static void list_forms(void)
{
    const char *names[VARIANTS];
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        size_t n = strategy_variant_list(kind, names);
        for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
            enum strategy_variant variant = strategy_variant_find(kind, names[i]);
            if (strategy_form_flags(kind, variant) & STRATEGY_EXACT)
                forms[n_forms++] = (struct form){kind, variant};
        }
    }
}

/* A net of three tensors, n numbers in all, as a strategy sees it. */
enum { TENSORS = 3 };
struct fixture {
    struct tensor_desc tensors[TENSORS];
    struct net_desc desc;
    struct exec exec;
    struct waiter waiter;
    struct sync *sync;
    struct optimizer optimizer;
    size_t segment_bytes;
    int node_ranks;   /* of pretended nodes */
    int64_t cycle_ns; /* of fusion */
    uint64_t calls_between[TENSORS];
    int n_between;
};

/* Half of the numbers, a sixth, and the rest. */
static void cut(struct fixture *f, size_t n)
{
    const size_t ends[TENSORS] = {n / 2, n / 2 + n / 6, n};
    for (size_t i = 0, begin = 0; i < TENSORS; begin = ends[i++])
        f->tensors[i] = (struct tensor_desc){.name = "w",
                                             .n_dims = 1,
                                             .dims = {(int)(ends[i] - begin)},
                                             .count = ends[i] - begin,
                                             .offset = begin};
    f->desc = (struct net_desc){.tensors = f->tensors, .n_tensors = TENSORS, .n_params = n};
}

static bool open_sync(struct fixture *f, struct form form, size_t n)
{
    struct error e;
    cut(f, n);
    f->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd, .n = n};
    struct sync_options options = {.comm = MPI_COMM_WORLD,
                                   .desc = &f->desc,
                                   .form = {.variant = form.variant,
                                            .segment_bytes = f->segment_bytes,
                                            .cap_bytes = CAP_BYTES,
                                            .fusion_bytes = CAP_BYTES,
                                            .cycle_ns = f->cycle_ns,
                                            .node_ranks = f->node_ranks},
                                   .slots = optimizer_slots(OPTIMIZER_sgd),
                                   .waiter = &f->waiter,
                                   .exec = &f->exec};
    if (sync_create(&f->sync, form.strategy, &options, &e) != OK)
        return false;
    f->optimizer.state = f->sync->arenas.state;
    return true;
}

/* Where ranks outnumber cores opening one takes longer than most of what is tested: one serves many
 * strategies. */
static bool open_waiter(struct fixture *f, enum wait_kind wait)
{
    struct error e;
    *f = (struct fixture){.segment_bytes = SEGMENT_BYTES, .cycle_ns = CYCLE_NS};
    return waiter_open(&f->waiter, wait, 60, MPI_COMM_WORLD, &e) == OK;
}

static enum wait_kind usual_wait(void)
{
    return mpi_is_crowded() ? WAIT_YIELD : WAIT_BLOCK;
}

static bool setup(struct fixture *f, struct form form, size_t n)
{
    return open_waiter(f, usual_wait()) && open_sync(f, form, n);
}

static void teardown(struct fixture *f)
{
    sync_destroy(f->sync);
    waiter_close(&f->waiter);
}

/* One step of plain SGD at rate 1 from 0: the parameters are minus the summed gradient. */
static bool step(struct fixture *f)
{
    struct error e;
    sync_step_begin(f->sync);
    struct range all = {0, TENSORS};
    return sync_params_needed(f->sync, all, PASS_FORWARD, &e) == OK &&
           sync_grad_ready(f->sync, all, 0, true, &e) == OK &&
           sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
}

/* Where backward leaves them. */
static real *grads_of(const struct fixture *f)
{
    return sync_grad_buffer(f->sync, (struct range){0, TENSORS});
}

/* Integers small enough that every order of summation is exact. */
static real gradient(int rank, size_t i)
{
    return (real)((int)((i * 7 + (size_t)rank * 13) % 101) - 50);
}

/* Twice: what a step leaves behind must not reach the next. */
static bool sums_exactly(struct fixture *f, size_t n)
{
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    bool good = true;
    for (int again = 1; again <= 2; again++) {
        for (size_t i = 0; i < n; i++)
            grads_of(f)[i] = gradient(rank, i);
        good = step(f) && good;
        for (size_t i = 0; i < n && good; i++) {
            real sum = 0;
            for (int r = 0; r < ranks; r++)
                sum += gradient(r, i);
            good = f->sync->arenas.params[i] == (real)again * -sum;
        }
    }
    return good;
}

static void every_form_sums_integers_exactly(void **state)
{
    (void)state;
    size_t p = (size_t)mpi_world_ranks();
    const size_t sizes[] = {0, 1, p - 1, p, p + 1, 97, 1009, 7850, 1000000};
    size_t n = sizeof sizes / sizeof *sizes - (mpi_is_crowded() ? 3 : 0);
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (int form = 0; form < n_forms; form++) {
        for (size_t i = 0; i < n; i++) {
            bool good = open_sync(&f, forms[form], sizes[i]) && sums_exactly(&f, sizes[i]);
            assert_all(good);
            sync_destroy(f.sync);
        }
    }
    waiter_close(&f.waiter);
}

static void every_way_of_waiting_gives_the_same(void **state)
{
    (void)state;
    const enum wait_kind kinds[] = {WAIT_BLOCK, WAIT_POLL, WAIT_YIELD};
    for (int k = 0; k < 3; k++) {
        struct fixture f;
        assert_all(open_waiter(&f, kinds[k]));
        for (int form = 0; form < n_forms; form++) {
            if (mpi_is_crowded() && form > 0 && kinds[k] != WAIT_YIELD)
                continue;
            bool good = open_sync(&f, forms[form], 1009) && sums_exactly(&f, 1009);
            assert_all(good);
            sync_destroy(f.sync);
        }
        waiter_close(&f.waiter);
    }
}

/* |error| <= p eps sum|x|: what any order of adding p numbers keeps. */
static bool keeps_the_bound(const struct fixture *f, int n)
{
    int ranks = mpi_world_ranks();
    bool good = true;
    for (int i = 0; i < n; i++) {
        double sum = 0, size = 0;
        for (int r = 0; r < ranks; r++) {
            double x = (real)sin(i + 10007.0 * r);
            sum += x;
            size += fabs(x);
        }
        good = good && fabs(f->sync->arenas.params[i] + sum) <= ranks * REAL_EPSILON * size;
    }
    return good;
}

/* The replicas' own bits, where the order of summation matters. */
static bool is_equal_everywhere(const struct fixture *f, size_t n)
{
    real *root = malloc(n * sizeof *root);
    memcpy(root, f->sync->arenas.params, n * sizeof *root);
    PMPI_Bcast(root, (int)n, MPI_REAL_TYPE, 0, MPI_COMM_WORLD);
    bool equal = memcmp(root, f->sync->arenas.params, n * sizeof *root) == 0;
    free(root);
    return equal;
}

/* What is exposed lies within the whole and leaves out what was packed. */
static bool accounts_for_its_time(const struct fixture *f, struct form form)
{
    const struct sync_times *t = &f->sync->times;
    bool packs = form.variant == VARIANT_reduce_bcast_pickled;
    if (t->arrive_ns == 0)
        return sync_cost(f->sync).calls == 0 && t->comm_total_ns == 0;
    return t->arrive_ns > 0 && t->comm_exposed_ns > 0 && t->comm_exposed_ns <= t->comm_total_ns &&
           (!packs || t->pack_ns > 0);
}

static void every_form_keeps_bound_bits_and_time(void **state)
{
    (void)state;
    enum { N = 10007 };
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (int form = 0; form < n_forms; form++) {
        assert_all(open_sync(&f, forms[form], N));
        for (int i = 0; i < N; i++)
            grads_of(&f)[i] = (real)sin(i + 10007.0 * mpi_world_rank());
        bool good = step(&f) && keeps_the_bound(&f, N);
        good = is_equal_everywhere(&f, N) && good && accounts_for_its_time(&f, forms[form]);
        sync_destroy(f.sync);
        assert_all(good);
    }
    waiter_close(&f.waiter);
}

/* Messages of the strategy's own: all that it has or, of pickles, those up the tree. */
static struct cost own_messages(const struct fixture *f, struct form form)
{
    if (form.variant == VARIANT_reduce_bcast_pickled && mpi_world_rank() > 0) {
        size_t bytes = pickle_bytes(f->sync->counts, TENSORS, sizeof(real));
        return (struct cost){.messages_wire = 2, .bytes_wire = sizeof(uint64_t) + bytes};
    }
    struct cost cost = sync_cost(f->sync);
    return strcmp(cost.wire_source, WIRE_COUNTED) == 0 ? cost : (struct cost){0};
}

/* What `steps` steps were seen to do, what the waiter counted and what the formulas say. */
static bool counts_agree(const struct fixture *f, const struct waiter *before, struct form form,
                         uint64_t steps)
{
    const struct waiter *w = &f->waiter;
    struct cost cost = sync_cost(f->sync), own = own_messages(f, form);
    uint64_t calls = w->calls - before->calls;
    uint64_t bytes = w->bytes_payload - before->bytes_payload;
    uint64_t messages = w->messages_sent - before->messages_sent;
    uint64_t sent = w->bytes_sent - before->bytes_sent;
    return calls == seen.calls && bytes == seen.bytes && calls == steps * cost.calls &&
           bytes == steps * cost.bytes_payload && messages == seen.messages && sent == seen.sent &&
           messages == steps * own.messages_wire && sent == steps * own.bytes_wire;
}

static void counters_equal_an_independent_count(void **state)
{
    (void)state;
    enum { N = 1234, STEPS = 3 };
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (int form = 0; form < n_forms; form++) {
        assert_all(open_sync(&f, forms[form], N));
        const struct waiter before = f.waiter;
        memset(&seen, 0, sizeof seen);
        bool good = true;
        for (int i = 0; i < STEPS; i++)
            good = good && step(&f);
        good = good && counts_agree(&f, &before, forms[form], STEPS);
        sync_destroy(f.sync);
        assert_all(good);
    }
    waiter_close(&f.waiter);
}

/* Sums made in the order of ranks, to the bit; the first step's parameters are minus them. */
static bool sums_in_order(const struct fixture *f, int n)
{
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        real sum = (real)sin(i);
        for (int r = 1; r < mpi_world_ranks(); r++)
            sum += (real)sin(i + 10007.0 * r);
        good = f->sync->arenas.params[i] == -sum;
    }
    return good;
}

/* Whatever the algorithm and however many the messages. */
static void fixed_order_gives_the_same_bits(void **state)
{
    (void)state;
    enum { N = 5003 };
    const struct form same[] = {{STRATEGY_fixed_order, VARIANT_usual},
                                {STRATEGY_shm, VARIANT_usual},
                                {STRATEGY_shm_zero1, VARIANT_usual},
                                {STRATEGY_gather_scatter, VARIANT_gather_scatter_linear}};
    const size_t segments[] = {SEGMENT_BYTES, 4000, 1000000};
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (int k = 0; k < 12; k++) {
        f.segment_bytes = segments[k / 4];
        assert_all(open_sync(&f, same[k % 4], N));
        for (int i = 0; i < N; i++)
            grads_of(&f)[i] = (real)sin(i + 10007.0 * mpi_world_rank());
        bool good = step(&f) && sums_in_order(&f, N);
        sync_destroy(f.sync);
        assert_all(good);
    }
    waiter_close(&f.waiter);
}

/* The machine's own nodes, and those of so many ranks with a smaller last one: 7 ranks make nodes
 * of 3, 3 and 1. */
static void pretended_nodes_sum_and_count(void **state)
{
    (void)state;
    const struct form forms_of_nodes[] = {{STRATEGY_hierarchical, VARIANT_usual},
                                          {STRATEGY_leader, VARIANT_usual}};
    const size_t sizes[] = {0, 1, (size_t)mpi_world_ranks(), 1009, 7850};
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (int k = 0; k < 40; k++) {
        size_t n = sizes[k % 5];
        struct form form = forms_of_nodes[k / 5 % 2];
        f.node_ranks = k / 10;
        assert_all(open_sync(&f, form, n));
        const struct waiter before = f.waiter;
        memset(&seen, 0, sizeof seen);
        bool good = sums_exactly(&f, n) && counts_agree(&f, &before, form, 2);
        sync_destroy(f.sync);
        assert_all(good);
    }
    waiter_close(&f.waiter);
}

/* A bucket a tensor, each on its way as soon as its tensor is there. */
static void buckets_leave_during_backward(void **state)
{
    (void)state;
    enum { N = 12000 };
    struct fixture f;
    struct error e;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    assert_all(setup(&f, (struct form){STRATEGY_bucketed, VARIANT_usual}, N));
    for (size_t i = 0; i < N; i++)
        f.sync->arenas.grads[i] = gradient(rank, i);
    memset(&seen, 0, sizeof seen);
    bool good = true;
    sync_step_begin(f.sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        good = good && sync_grad_ready(f.sync, (struct range){i, i + 1}, 0, true, &e) == OK;
        good = good && seen.calls == (uint64_t)(TENSORS - i);
    }
    good = good && f.sync->times.comm_exposed_ns > 0 && f.sync->times.arrive_ns == 0;
    good = good && sync_step_end(f.sync, &f.optimizer, 1, 1.0, &e) == OK;
    for (size_t i = 0; i < N && good; i++) {
        real sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += gradient(r, i);
        good = f.sync->arenas.params[i] == -sum;
    }
    good = good && f.sync->times.arrive_ns > 0;
    good = good && f.sync->times.comm_exposed_ns <= f.sync->times.comm_total_ns;
    teardown(&f);
    assert_all(good);
}

/* A step whose tensors become ready one by one; `between` comes after each. */
static bool step_by_tensors(struct fixture *f, void (*between)(struct fixture *f))
{
    struct error e;
    bool good = true;
    sync_step_begin(f->sync);
    for (int i = TENSORS - 1; i >= 0 && good; i--) {
        good = sync_grad_ready(f->sync, (struct range){i, i + 1}, 0, true, &e) == OK;
        between(f);
    }
    return good && sync_step_end(f->sync, &f->optimizer, 1, 1.0, &e) == OK;
}

static bool has_summed(const struct fixture *f, size_t n, int steps)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        real sum = 0;
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += gradient(r, i);
        good = f->sync->arenas.params[i] == (real)steps * -sum;
    }
    return good;
}

static void fill(struct fixture *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        f->sync->arenas.grads[i] = gradient(mpi_world_rank(), i);
}

static const struct form fusion = {STRATEGY_fusion, VARIANT_usual};

static void note_calls(struct fixture *f)
{
    f->calls_between[f->n_between++] = seen.calls;
}

/* The ends of the scale, where nothing depends on time: without cycles each tensor leaves by itself
 * when it is there; in an endless one they leave after backward, behind one question, as few as
 * the threshold allows. Of 12000 numbers it takes none together, of as many as fill it all, of one
 * more the last two of three. */
static void fusion_without_time_is_as_its_formula(void **state)
{
    (void)state;
    const struct {
        int64_t cycle_ns;
        size_t n;
        uint64_t during[TENSORS], calls;
    } cases[] = {{0, 12000, {1, 2, 3}, 3},
                 {0, 900, {1, 2, 3}, 3},
                 {INT64_MAX, 12000, {0, 0, 0}, 4},
                 {INT64_MAX, 4096 / sizeof(real), {0, 0, 0}, 2},
                 {INT64_MAX, 4096 / sizeof(real) + 1, {0, 0, 0}, 3}};
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        f.cycle_ns = cases[k].cycle_ns;
        f.n_between = 0;
        assert_all(open_sync(&f, fusion, cases[k].n));
        fill(&f, cases[k].n);
        const struct waiter before = f.waiter;
        memset(&seen, 0, sizeof seen);
        bool good = step_by_tensors(&f, note_calls) && has_summed(&f, cases[k].n, 1);
        good = good && counts_agree(&f, &before, fusion, 1) && seen.calls == cases[k].calls;
        good = good && memcmp(f.calls_between, cases[k].during, sizeof cases[k].during) == 0;
        sync_destroy(f.sync);
        assert_all(good);
    }
    waiter_close(&f.waiter);
}

/* Ranks that are apart by more than a cycle, some ahead and some behind. */
static void dawdle_and_poll(struct fixture *f)
{
    int rank = mpi_world_rank();
    usleep((unsigned)(rank * 7919 % 5) * 150);
    for (int i = 0; i < 3; i++) {
        sync_poll(f->sync);
        usleep(CYCLE_NS / 1000 / 2);
    }
}

/* In cycles the messages depend on time, what is in them does not: between one question and one for
 * each tensor, the gradient once. */
static void fusion_in_cycles_sums_everything_once(void **state)
{
    (void)state;
    enum { N = 12000, STEPS = 20 };
    struct fixture f;
    assert_all(setup(&f, fusion, N));
    bool good = true;
    for (int i = 1; i <= STEPS; i++) {
        const struct waiter before = f.waiter;
        memset(&seen, 0, sizeof seen);
        fill(&f, N);
        good = step_by_tensors(&f, dawdle_and_poll) && has_summed(&f, N, i) && good;
        uint64_t questions = seen.calls - TENSORS;
        good = good && questions >= 1 && questions <= TENSORS;
        good = good && seen.bytes == N * sizeof(real) + questions * sizeof(int);
        good = good && f.waiter.calls - before.calls == seen.calls;
        good = good && f.waiter.bytes_payload - before.bytes_payload == seen.bytes;
    }
    teardown(&f);
    assert_all(good);
}

static void none_leaves_gradients_alone(void **state)
{
    (void)state;
    struct fixture f;
    int rank = mpi_world_rank();
    assert_all(setup(&f, (struct form){STRATEGY_none, VARIANT_usual}, 100));
    uint64_t calls = f.waiter.calls;
    for (size_t i = 0; i < 100; i++)
        f.sync->arenas.grads[i] = gradient(rank, i);
    bool good = step(&f);
    for (size_t i = 0; i < 100; i++)
        good = good && f.sync->arenas.params[i] == -gradient(rank, i);
    good = good && f.waiter.calls == calls;
    teardown(&f);
    assert_all(good);
}

static void broadcast_gives_everyone_rank_0s_weights(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    assert_all(setup(&f, oracle, 50));
    for (size_t i = 0; i < 50; i++)
        f.sync->arenas.params[i] = (real)(mpi_world_rank() * 1000 + (int)i);
    bool good = sync_broadcast_params(f.sync, &e) == OK;
    for (size_t i = 0; i < 50; i++)
        good = good && f.sync->arenas.params[i] == (real)i;
    teardown(&f);
    assert_all(good);
}

/* The shares of the norm add up to the norm of the summed gradient. */
static void norms_add_up(void **state)
{
    (void)state;
    enum { N = 1001 };
    struct fixture f;
    assert_all(setup(&f, oracle, N));
    for (size_t i = 0; i < N; i++)
        f.sync->arenas.grads[i] = gradient(mpi_world_rank(), i);
    bool good = step(&f);
    double expected = 0, norm2 = sync_norm2_local(f.sync);
    for (size_t i = 0; i < N; i++)
        expected += (double)f.sync->arenas.grads[i] * (double)f.sync->arenas.grads[i];
    PMPI_Allreduce(MPI_IN_PLACE, &norm2, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    teardown(&f);
    assert_all(good && norm2 == expected);
}

/* Plain SGD at rate 1 from 0: the norm of the weights is that of the clipped gradient. Rounding of
 * the factor and of each product: 2 epsilons; of this test's own sum of squares: N halves of one.
 */
static bool clips_to(struct fixture *f, struct form form, double limit, double norm)
{
    enum { N = 1001 };
    int rank = mpi_world_rank();
    if (!open_sync(f, form, N))
        return false;
    f->optimizer.clip_norm = limit;
    for (size_t i = 0; i < N; i++)
        grads_of(f)[i] = gradient(rank, i);
    bool good = step(f);
    double squares = 0, scale = fmin(1, limit / norm);
    for (size_t i = 0; i < N; i++) {
        double p = (double)f->sync->arenas.params[i], own = (double)gradient(rank, i);
        squares += p * p;
        if (form.strategy == STRATEGY_none)
            good = good && fabs(p + scale * own) <= 2 * REAL_EPSILON * fabs(own);
    }
    double expected = fmin(limit, norm);
    sync_destroy(f->sync);
    return good && fabs(sqrt(squares) - expected) <= (4 * REAL_EPSILON + N * 0x1p-53) * expected;
}

static void gradients_are_clipped_by_their_global_norm(void **state)
{
    (void)state;
    double own = 0, all = 0;
    for (size_t i = 0; i < 1001; i++) {
        double sum = 0, mine = (double)gradient(mpi_world_rank(), i);
        for (int r = 0; r < mpi_world_ranks(); r++)
            sum += (double)gradient(r, i);
        own += mine * mine;
        all += sum * sum;
    }
    struct fixture f;
    assert_all(open_waiter(&f, usual_wait()));
    for (int i = 0; i < n_forms; i++) {
        assert_all(clips_to(&f, forms[i], 10, sqrt(all)));
        assert_all(clips_to(&f, forms[i], 1e6, sqrt(all)));
    }
    assert_all(clips_to(&f, (struct form){STRATEGY_none, VARIANT_usual}, 10, sqrt(own)));
    waiter_close(&f.waiter);
}

static void gather_and_barrier_work(void **state)
{
    (void)state;
    int rank = mpi_world_rank(), ranks = mpi_world_ranks();
    const enum wait_kind kinds[] = {WAIT_BLOCK, WAIT_YIELD};
    for (int k = 0; k < 2; k++) {
        struct waiter w;
        struct error e;
        int all[64] = {0};
        bool good = waiter_open(&w, kinds[k], 60, MPI_COMM_WORLD, &e) == OK;
        assert_all(good);
        good = wait_gather(&w, &rank, sizeof rank, all, 0, MPI_COMM_WORLD, "test", &e) == OK &&
               wait_barrier(&w, MPI_COMM_WORLD, "test", &e) == OK;
        for (int r = 0; rank == 0 && r < ranks; r++)
            good = good && all[r] == r;
        waiter_close(&w);
        assert_all(good);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    list_forms();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_sums_integers_exactly),
        cmocka_unit_test(every_way_of_waiting_gives_the_same),
        cmocka_unit_test(every_form_keeps_bound_bits_and_time),
        cmocka_unit_test(counters_equal_an_independent_count),
        cmocka_unit_test(fixed_order_gives_the_same_bits),
        cmocka_unit_test(pretended_nodes_sum_and_count),
        cmocka_unit_test(buckets_leave_during_backward),
        cmocka_unit_test(fusion_without_time_is_as_its_formula),
        cmocka_unit_test(fusion_in_cycles_sums_everything_once),
        cmocka_unit_test(none_leaves_gradients_alone),
        cmocka_unit_test(broadcast_gives_everyone_rank_0s_weights),
        cmocka_unit_test(norms_add_up),
        cmocka_unit_test(gradients_are_clipped_by_their_global_norm),
        cmocka_unit_test(gather_and_barrier_work),
    };
    int failed = mpi_run_tests(tests);
    MPI_Finalize();
    return failed;
}
