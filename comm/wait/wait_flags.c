#include <sched.h>
#include <stdatomic.h>

#include "comm/wait/wait_internal.h"
#include "kernels/base/clock.h"

/* Number of flag tests (about 50 us) after which a waiting rank yields its core and lets MPI
 * messages progress. Under WAIT_YIELD, the rank yields after each test. */
#define TESTS_ALONE 1024

void flag_raise(struct flag *flag, uint64_t value)
{
    atomic_store_explicit(&flag->value, value, memory_order_release);
}

static bool are_raised(struct flag *const *flags, int n, uint64_t value)
{
    bool raised = true;
    for (int i = 0; i < n && raised; i++)
        raised = atomic_load_explicit(&flags[i]->value, memory_order_acquire) >= value;
    return raised;
}

/* After every TESTS_ALONE tests, yields the core and lets MPI messages progress, since other ranks
 * may be waiting for them. Under WAIT_YIELD, yields after each test. */
static void let_others_run(const struct waiter *w, unsigned tests, MPI_Comm comm)
{
    int found;
    if (w->kind == WAIT_YIELD || tests % TESTS_ALONE == 0)
        sched_yield();
    if (tests % TESTS_ALONE == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
}

/* Tests the flags in a loop under every wait policy, because MPI cannot wait for flags. */
enum status wait_flags(struct waiter *w, struct flag *const *flags, int n, uint64_t value,
                       MPI_Comm comm, const char *operation, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    wait_enter_polling(w, operation);
    for (unsigned tests = 1; status == OK && !are_raised(flags, n, value); tests++) {
        let_others_run(w, tests, comm);
        if (w->serve != NULL)
            w->serve(w->serve_arg);
        status = wait_check_deadline(w, e);
    }
    wait_leave(w);
    w->poll_ns += clock_ns() - begin_ns;
    return status;
}
