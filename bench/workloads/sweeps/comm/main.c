/* Main program of comm_sweep, which times strategies of gradient synchronisation; see sweep.h. */
#include <errno.h>
#include <stdlib.h>

#include "bench/base/descriptors.h"
#include "bench/workloads/failure.h"
#include "bench/workloads/sweeps/comm/sweep.h"
#include "bench/workloads/sweeps/file.h"
#include "kernels/base/fp_mode.h"
#include "kernels/base/launcher.h"

static enum status sweep_gradients(struct sweep *s, const struct problem *p, struct error *e)
{
    TRY(link_measure(s, e));
    if (link_is_swept(s->options))
        return link_write(s, e);
    return s->options->compares ? sweep_compare(s, p, e) : sweep_problem(s, p, e);
}

static enum status sweep_into(struct sweep *s, const struct problem *p, struct error *e)
{
    struct sweep_file file;
    const char *name = s->options->compares ? "compare.csv" : "comm.csv";
    if (s->rank > 0)
        return sweep_gradients(s, p, e);
    TRY(sweep_file_open(&file, s->options->record, name, e));
    s->out = file.out;
    csv_write_header(s->out, &sweep_files[SWEEP_COMM]);
    return sweep_file_close(&file, sweep_gradients(s, p, e), e);
}

static enum status sweep_everything(struct sweep *s, struct error *e)
{
    struct problem problem = {.counts = NULL};
    enum status status = problem_open(&problem, s->options, e);
    THEN(status, sweep_into(s, &problem, e));
    problem_close(&problem);
    return status;
}

/* ---- The program ---- */

/* Returns whether this error occurs on all ranks. An invalid network or data file is an error on
 * every rank; other errors may occur on one rank only. */
static bool all_have_failed(enum status status)
{
    return status == ERR_SPEC || status == ERR_SHAPE || status == ERR_DATA;
}

static int sweep(const struct sweep_options *options)
{
    struct sweep s = {.options = options};
    struct error e = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (launcher_check(s.ranks, program_invocation_name, &e) != OK)
        return failure_report("comm_sweep", &e, true);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fp_mode_set();
    enum status status = ranks_open(&s, &e);
    THEN(status, sweep_everything(&s, &e));
    int exit_status = s.wrong > 0 ? 1 : 0;
    if (s.wrong > 0 && s.rank == 0)
        fprintf(stderr, "comm_sweep: %d results are wrong\n", s.wrong);
    if (status != OK)
        exit_status = failure_report("comm_sweep", &e, s.rank == 0 || !all_have_failed(status));
    if (status != OK && !all_have_failed(status))
        failure_abort_all(exit_status, &e);
    wait_barrier(&s.waiter, MPI_COMM_WORLD, "end of the sweep", NULL);
    waiter_close(&s.waiter);
    free(s.node_of);
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
    } else {
        int level;
        failure_warn_of_shared_memory();
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
        exit_status = sweep(&options);
        if (launcher_hears_leaving()) {
            config_free(&options.config);
            launcher_leave(descriptors_end_output("comm_sweep", exit_status));
        }
        MPI_Finalize();
    }
    config_free(&options.config);
    return descriptors_end_output("comm_sweep", exit_status);
}
