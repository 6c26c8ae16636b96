/* Ranks that are about to make different calls are detected before they call, for every possible
 * difference. Ranks that agree see no effect. A run frees all MPI objects, even if it ends
 * half-way.
 * double: 3 */
#include "comm/tests/mpi_test.h"

#include <stdlib.h>
#include <string.h>

#include "comm/overlap.h"
#include "comm/tests/mpi_held.h"
#include "comm/tests/sync_fixture.h"
#include "kernels/gemm.h"

/* ---- A net of two tensors, as a strategy sees it ---- */

enum { TENSORS = 2, N = 600 };

/* Opens a strategy on the program's waiter, with call checks on. */
static bool begin(struct fixture *f)
{
    struct error e;
    fixture_init(f);
    return waiter_check_calls(f->waiter, &e) == OK;
}

static void end(struct fixture *f)
{
    call_check_close(f->waiter->check);
    f->waiter->check = NULL;
}

static enum status open_sync(struct fixture *f, enum strategy_kind kind,
                             enum strategy_variant variant, size_t n, struct error *e)
{
    f->config.variant = variant;
    f->config.options[SYNC_segment] = 512;
    f->config.options[SYNC_cap_mib] = f->config.options[SYNC_first_cap_mib] = 1 / 0x1p20;
    f->config.options[SYNC_cycle_ms] = 0;
    f->config.options[SYNC_period] = 2;
    fixture_no_tensors(f);
    for (size_t i = 0; i < TENSORS; i++)
        fixture_add_tensor(f, n / TENSORS, 0);
    return fixture_create(f, kind, e);
}

static enum status step(struct fixture *f, struct error *e)
{
    sync_step_begin(f->sync);
    for (int i = TENSORS - 1; i >= 0; i--) {
        struct range range = {i, i + 1};
        sync_grad_buffer(f->sync, range);
        if (sync_grad_ready(f->sync, range, 0, true, e) != OK)
            return e->status;
    }
    return sync_step_end(f->sync, &f->optimizer, 1, 0.1, e);
}

static bool runs_and_leaves_nothing(enum strategy_kind kind, enum strategy_variant variant)
{
    struct fixture f;
    struct error e;
    memset(&held, 0, sizeof held);
    bool good = begin(&f) && open_sync(&f, kind, variant, N, &e) == OK;
    for (int i = 0; i < 3 && good; i++)
        good = step(&f, &e) == OK;
    sync_destroy(f.sync);
    end(&f);
    return holds_nothing(strategy_names()[kind]) && good;
}

static bool waiter_leaves_nothing(void)
{
    struct waiter w;
    struct error e;
    memset(&held, 0, sizeof held);
    bool good = waiter_open(&w, usual_wait(), 60, MPI_COMM_WORLD, &e) == OK &&
                waiter_check_calls(&w, &e) == OK;
    waiter_close(&w);
    return holds_nothing("a waiter") && good;
}

static void every_strategy_agrees_and_frees_everything(void **state)
{
    const char *variants[VARIANTS];
    assert_all(waiter_leaves_nothing());
    for (int s = 0; s < STRATEGIES; s++) {
        enum strategy_kind kind = (enum strategy_kind)s;
        size_t n = strategy_variant_list(kind, variants);
        for (size_t i = n > 1 ? 1 : 0; i < n; i++)
            assert_all(runs_and_leaves_nothing(kind, strategy_variant_find(kind, variants[i])));
    }
}

#ifdef SCALEBENCH_F64
#define REAL_TYPE_NAME "MPI_DOUBLE"
#else
#define REAL_TYPE_NAME "MPI_FLOAT"
#endif

/* ---- Ranks that disagree ---- */

static real numbers[100];

static bool is_odd_one(void)
{
    return mpi_world_rank() == mpi_world_ranks() - 1;
}

static enum status sums(struct waiter *w, size_t n, const char *operation, struct error *e)
{
    return wait_allreduce(w, numbers, n, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD, operation, e);
}

static enum status other_size(struct waiter *w, struct error *e)
{
    return sums(w, is_odd_one() ? 99 : 100, "test", e);
}

static enum status other_operation(struct waiter *w, struct error *e)
{
    return sums(w, 100, is_odd_one() ? "second" : "first", e);
}

static enum status other_kind(struct waiter *w, struct error *e)
{
    if (is_odd_one())
        return wait_bcast(w, numbers, 100, MPI_REAL_TYPE, 0, MPI_COMM_WORLD, "test", e);
    return sums(w, 100, "test", e);
}

static enum status other_type(struct waiter *w, struct error *e)
{
    MPI_Datatype type = is_odd_one() ? MPI_INT : MPI_UNSIGNED;
    return wait_reduce(w, numbers, 10, type, MPI_SUM, 0, MPI_COMM_WORLD, "test", e);
}

static enum status other_root(struct waiter *w, struct error *e)
{
    int root = is_odd_one() ? 1 : 0;
    return wait_bcast(w, numbers, 10, MPI_INT, root, MPI_COMM_WORLD, "test", e);
}

/* Makes a barrier one call too early. */
static enum status other_order(struct waiter *w, struct error *e)
{
    if (is_odd_one())
        return wait_barrier(w, MPI_COMM_WORLD, "end", e);
    return sums(w, 100, "test", e);
}

static bool says(const struct error *e, const char *what)
{
    bool found = strstr(e->text, what) != NULL;
    if (!found)
        print_error("'%s' is not in: %s\n", what, e->text);
    return found;
}

/* Checks that every rank learns the number of the collective and both calls. */
static bool is_caught(enum status (*mistake)(struct waiter *, struct error *), const char *one,
                      const char *other)
{
    struct fixture f;
    struct error e = {.text = ""};
    char ranks[64] = "rank";
    for (int r = 0; r < mpi_world_ranks() - 1; r++)
        snprintf(ranks + strlen(ranks), sizeof ranks - strlen(ranks), " %d", r);
    snprintf(ranks + strlen(ranks), sizeof ranks - strlen(ranks), ": %s", one);
    bool good = begin(&f) && sums(f.waiter, 100, "before", &e) == OK;
    good = good && mistake(f.waiter, &e) == ERR_MPI && says(&e, "collective 2 is not the same") &&
           says(&e, ranks);
    snprintf(ranks, sizeof ranks, "rank %d: %s", mpi_world_ranks() - 1, other);
    good = good && says(&e, ranks);
    end(&f);
    return good;
}

static void disagreements_are_caught(void **state)
{
    if (mpi_world_ranks() == 1)
        return;
#define SUM "allreduce of 100 " REAL_TYPE_NAME " (test)"
    assert_all(is_caught(other_size, SUM, "allreduce of 99 " REAL_TYPE_NAME " (test)"));
    assert_all(is_caught(other_operation, "allreduce of 100 " REAL_TYPE_NAME " (first)",
                         "allreduce of 100 " REAL_TYPE_NAME " (second)"));
    assert_all(
        is_caught(other_kind, SUM, "broadcast of 100 " REAL_TYPE_NAME " with root 0 (test)"));
    assert_all(is_caught(other_type, "reduce of 10 MPI_UNSIGNED with root 0 (test)",
                         "reduce of 10 MPI_INT with root 0 (test)"));
    assert_all(is_caught(other_root, "broadcast of 10 MPI_INT with root 0 (test)",
                         "broadcast of 10 MPI_INT with root 1 (test)"));
    assert_all(is_caught(other_order, SUM, "barrier of 0 MPI_BYTE (end)"));
}

/* Checks that calls are compared when a collective starts, not when it completes. */
static void buckets_of_another_size_are_caught(void **state)
{
    if (mpi_world_ranks() == 1)
        return;
    struct fixture f;
    struct error e = {.text = ""};
    bool good = begin(&f);
    good = good &&
           open_sync(&f, STRATEGY_bucketed, VARIANT_usual, is_odd_one() ? N + 2 : N, &e) == ERR_MPI;
    good = good && says(&e, "allreduce of 300 ") && says(&e, "allreduce of 301 ");
    end(&f);
    assert_all(good);
}

/* Checks that sums started without waiting are compared before a rank waits for them. */
static void pending_sums_are_compared(void **state)
{
    if (mpi_world_ranks() == 1)
        return;
    struct fixture f;
    struct error e = {.text = ""};
    static real values[2][100];
    struct pending two[2];
    bool good = begin(&f);
    for (int i = 0; i < 2; i++) {
        two[i] = (struct pending){.values = values[i],
                                  .count = 100,
                                  .type = MPI_REAL_TYPE,
                                  .op = MPI_SUM,
                                  .comm = MPI_COMM_WORLD,
                                  .operation = i == 1 && is_odd_one() ? "another sum" : "test"};
        pending_begin_at_once(f.waiter, &two[i]);
    }
    good = good && pending_wait(f.waiter, &two[0], &e) == OK && !two[0].active;
    good = good && !pending_test(f.waiter, &two[1]);
    good = good && pending_wait(f.waiter, &two[1], &e) == ERR_MPI;
    good = good && says(&e, "collective 2 is not the same") && says(&e, "allreduce of 100 MPI_") &&
           says(&e, " (test)") && says(&e, " (another sum)");
    MPI_Wait(&two[1].request, MPI_STATUS_IGNORE);
    end(&f);
    assert_all(good);
}

/* ---- Messages ---- */

/* Sends two messages from the last rank to rank 0, which expects a different second one. */
static bool message_is_caught(enum wait_kind wait, size_t bytes, const char *operation)
{
    struct fixture f;
    struct error e = {.text = ""};
    char text[160];
    int last = mpi_world_ranks() - 1;
    bool good = begin(&f), sends = mpi_world_rank() == last;
    f.waiter->kind = wait;
    for (int i = 0; i < 2 && good; i++) {
        struct message m = {.data = numbers, .bytes = 100, .rank = sends ? 0 : last};
        const char *what = sends || i == 0 ? "test" : operation;
        m.bytes = sends || i == 0 ? 100 : bytes;
        if (sends)
            good = wait_send(f.waiter, &m, 1, MPI_COMM_WORLD, what, &e) == OK;
        else if (mpi_world_rank() == 0)
            good =
                wait_receive(f.waiter, &m, 1, MPI_COMM_WORLD, what, &e) == (i == 0 ? OK : ERR_MPI);
        if (mpi_world_rank() == 0 && i == 1)
            MPI_Wait(&m.request, MPI_STATUS_IGNORE);
    }
    snprintf(text, sizeof text,
             "message 2 from rank %d to rank 0 is not the same on both: rank %d sends 100 bytes "
             "(test); rank 0 expects %zu bytes (%s)",
             last, last, bytes, operation);
    good = good && (mpi_world_rank() > 0 || says(&e, text));
    f.waiter->kind = usual_wait();
    end(&f);
    return good;
}

static void messages_of_another_kind_are_caught(void **state)
{
    if (mpi_world_ranks() == 1)
        return;
    assert_all(message_is_caught(usual_wait(), 104, "test"));
    assert_all(message_is_caught(usual_wait(), 100, "another step"));
    assert_all(message_is_caught(WAIT_POLL, 200, "test"));
}

/* Rank 0 only tests, and gets the same error when it waits. */
static void messages_that_are_tested_are_caught(void **state)
{
    if (mpi_world_ranks() == 1)
        return;
    struct fixture f;
    struct error e = {.text = ""};
    int last = mpi_world_ranks() - 1, code = MPI_SUCCESS;
    bool good = begin(&f), done = false;
    bool sends = mpi_world_rank() == last;
    struct message m = {.data = numbers, .bytes = sends ? 100 : 108, .rank = sends ? 0 : last};
    if (sends)
        good = good && message_begin_send(f.waiter, &m, 1, MPI_COMM_WORLD, "test") == MPI_SUCCESS &&
               message_wait(f.waiter, &m, "test", &e) == OK;
    if (mpi_world_rank() == 0) {
        good =
            good && message_begin_receive(f.waiter, &m, 1, MPI_COMM_WORLD, "test") == MPI_SUCCESS;
        while (good && code == MPI_SUCCESS && !done)
            code = message_test(f.waiter, &m, &done);
        good = good && message_status(f.waiter, code, "test", &e) == ERR_MPI &&
               says(&e, "sends 100 bytes (test); rank 0 expects 108 bytes (test)");
        e.text[0] = '\0';
        good = good && message_wait(f.waiter, &m, "test", &e) == ERR_MPI &&
               says(&e, "rank 0 expects 108 bytes (test)");
        MPI_Wait(&m.request, MPI_STATUS_IGNORE);
    }
    end(&f);
    assert_all(good);
}

/* Limits message sizes as MPI before version 4 does with its int counts. */
static void messages_that_are_too_long_are_refused(void **state)
{
    struct fixture f;
    struct error e = {.text = ""};
    bool good = begin(&f);
    size_t most = f.waiter->message_most;
    struct message m = {.data = numbers, .bytes = 101, .rank = mpi_world_rank()};
    f.waiter->message_most = 100;
    int code = message_begin_send(f.waiter, &m, 1, MPI_COMM_WORLD, "test");
    good =
        good && m.request == MPI_REQUEST_NULL &&
        message_status(f.waiter, code, "test", &e) == ERR_ARGUMENT &&
        says(&e, "test has a message that is longer than 100 bytes, the limit of this MPI library");
    good = good && wait_send(f.waiter, &m, 1, MPI_COMM_WORLD, "test", &e) == ERR_ARGUMENT &&
           says(&e, "test has a message of 101 bytes, but MPI accepts at most 100");
    f.waiter->message_most = most;
    end(&f);
    assert_all(good);
}

/* Large messages are replaced by ones of SHOWN bytes with the full size in their envelope. */
enum { SHOWN = 16 };
static MPI_Count said_to_send, said_to_receive;

#if MPI_VERSION >= 4
int MPI_Isend_c(const void *data, MPI_Count n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request *r)
{
    held.requests++;
    said_to_send = n;
    return PMPI_Isend_c(data, SHOWN, type, to, tag, comm, r);
}

int MPI_Irecv_c(void *data, MPI_Count n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request *r)
{
    held.requests++;
    said_to_receive = n;
    return PMPI_Irecv_c(data, SHOWN, type, from, tag, comm, r);
}
#endif

/* Converted to an int, the size would be 7 bytes. Sends from the last rank to rank 0, also with
 * one rank. */
static void messages_have_more_bytes_than_an_int(void **state)
{
    const size_t bytes = ((size_t)1 << 32) + 7;
    struct fixture f;
    struct error e;
    int last = mpi_world_ranks() - 1;
    bool good = begin(&f);
    char data[2][SHOWN] = {"a long one", ""};
    struct message sent = {.data = data[0], .bytes = bytes, .rank = 0};
    struct message received = {.data = data[1], .bytes = bytes, .rank = last};
    const struct exchange x = {.sends = &sent,
                               .receives = &received,
                               .n_sends = mpi_world_rank() == last,
                               .n_receives = mpi_world_rank() == 0,
                               .comm = MPI_COMM_WORLD,
                               .operation = "test"};
    enum status expected = MPI_VERSION >= 4 || x.n_sends + x.n_receives == 0 ? OK : ERR_ARGUMENT;
    said_to_send = said_to_receive = 0;
    good = good && wait_exchange(f.waiter, &x, &e) == expected;
    if (MPI_VERSION >= 4 && x.n_sends > 0)
        good = good && said_to_send == (MPI_Count)bytes;
    if (MPI_VERSION >= 4 && x.n_receives > 0)
        good = good && said_to_receive == (MPI_Count)bytes && strcmp(data[1], data[0]) == 0;
    end(&f);
    assert_all(good);
}

/* ---- Steps that are given up ---- */

/* Rank 0 begins a block alone and gets no answers, so its receives must be cancelled. The test
 * receives its sends itself, so that no other rank mistakes them. */
static void messages_of_a_failed_step_are_cancelled(void **state)
{
    static real share[N];
    for (int kind = STRATEGY_zero2; kind <= STRATEGY_zero3; kind++) {
        struct fixture f;
        struct error e;
        const struct range last = {TENSORS - 1, TENSORS};
        memset(&held, 0, sizeof held);
        fixture_init(&f);
        bool good = open_sync(&f, (enum strategy_kind)kind, VARIANT_usual, N, &e) == OK;
        sync_step_begin(f.sync);
        if (mpi_world_rank() == 0) {
            sync_grad_buffer(f.sync, last);
            good = good && sync_grad_ready(f.sync, last, 0, true, &e) == OK;
            good = good && (mpi_world_ranks() == 1) == (held.requests == 0);
        } else {
            PMPI_Recv(share, N, MPI_REAL_TYPE, 0, 0, f.sync->comm, MPI_STATUS_IGNORE);
        }
        sync_destroy(f.sync);
        good = holds_nothing(strategy_names()[kind]) && good;
        assert_all(good);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_agrees_and_frees_everything),
        cmocka_unit_test(disagreements_are_caught),
        cmocka_unit_test(buckets_of_another_size_are_caught),
        cmocka_unit_test(pending_sums_are_compared),
        cmocka_unit_test(messages_of_another_kind_are_caught),
        cmocka_unit_test(messages_that_are_tested_are_caught),
        cmocka_unit_test(messages_that_are_too_long_are_refused),
        cmocka_unit_test(messages_have_more_bytes_than_an_int),
        cmocka_unit_test(messages_of_a_failed_step_are_cancelled),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
