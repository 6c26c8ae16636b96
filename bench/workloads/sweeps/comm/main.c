/* comm_sweep: see sweep.h. */
#include <errno.h>
#include <stdlib.h>

#include "bench/base/descriptors.h"
#include "bench/workloads/failure.h"
#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/fp_mode.h"
#include "kernels/base/launcher.h"

/* Where a signal leaves its mark; read between rounds. */
static volatile sig_atomic_t interrupted;

static void take_signal(int number)
{
    interrupted = 1;
}

static void listen_to_signals(void)
{
    const struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- What is swept ---- */

static enum status sweep_one(struct sweep *s, const struct problem *p, struct error *e)
{
    if (p->is_stored)
        return store_repeat(s, p->name, e);
    TRY(store_begin(s, p->name, e));
    TRY(s->options->compares ? sweep_compare(s, p, e) : sweep_problem(s, p, e));
    return store_end(s, p->name, e);
}

static enum status sweep_all(struct sweep *s, struct error *e)
{
    struct problems *all = &s->problems;
    for (all->at = 0; all->at < all->n; all->at++) {
        TRY(sweep_one(s, all->all[all->at], e));
        all->left_s -= all->all[all->at]->expected_s;
    }
    return OK;
}

static enum status find_stored(struct sweep *s, struct error *e)
{
    TRY(store_open(s, e));
    for (int i = 0; i < s->problems.n; i++)
        TRY(store_find(s, s->problems.all[i]->name, &s->problems.all[i]->is_stored, e));
    return OK;
}

/* Before a forecast comes what it is made of. */
static enum status sweep_everything(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    TRY(link_check(s, e));
    progress_begin(&s->problems.progress, stderr);
    s->problems.progress.terminal = o->terminal && s->rank == 0;
    TRY(problems_list(&s->problems, o, e));
    TRY(find_stored(s, e));
    TRY(link_measure(s, e));
    forecast_make(s);
    forecast_tell(s);
    if (o->plans) {
        forecast_print(s);
        return OK;
    }
    enum status status = sweep_all(s, e);
    progress_clear(&s->problems.progress);
    TRY(status);
    TRY(link_write(s, e));
    if (s->out != NULL && ferror(s->out))
        return error_set(e, ERR_SYSTEM, "standard output cannot be written");
    return OK;
}

/* ---- The program ---- */

/* Every rank stops for a signal, and for a model that cannot be read; any other failure may be one
 * rank's alone. */
static bool all_have_failed(enum status status)
{
    return status == ERR_INTERRUPTED || status == ERR_SPEC || status == ERR_SHAPE ||
           status == ERR_DATA;
}

static int sweep(const struct sweep_options *options)
{
    struct sweep s = {.options = options, .interrupted = &interrupted, .all_ok = true};
    struct error e = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (launcher_check(s.ranks, program_invocation_name, &e) != OK)
        return failure_report("comm_sweep", &e, true);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fp_mode_set();
    enum status status = ranks_open(&s, &e);
    THEN(status, sweep_everything(&s, &e));
    int exit_status = s.all_ok ? 0 : 1;
    if (status != OK)
        exit_status = failure_report("comm_sweep", &e, s.rank == 0 || !all_have_failed(status));
    if (status != OK && !all_have_failed(status))
        failure_abort_all(exit_status, &e);
    wait_barrier(&s.waiter, MPI_COMM_WORLD, "end of the sweep", NULL);
    waiter_close(&s.waiter);
    problems_free(&s.problems);
    return exit_status;
}

int main(int argc, char **argv)
{
    struct sweep_options options;
    struct error e = {0};
    int exit_status = 0;
    descriptors_open_standard();
    enum status status = options_parse(&options, argc, argv, &e);
    if (status != OK) {
        exit_status = failure_report("comm_sweep", &e, failure_is_first_process());
    } else if (options.help) {
        options_help(stdout);
    } else if (options.columns) {
        rows_write_dictionary(stdout, false);
        link_write_dictionary(stdout);
    } else {
        int level;
        listen_to_signals();
        failure_warn_of_shared_memory();
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
        exit_status = sweep(&options);
        if (launcher_hears_leaving()) {
            options_free(&options);
            launcher_leave(descriptors_end_output("comm_sweep", exit_status));
        }
        MPI_Finalize();
    }
    options_free(&options);
    return descriptors_end_output("comm_sweep", exit_status);
}
