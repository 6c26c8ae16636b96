/* comm_sweep: see sweep.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench/place/place.h"
#include "bench/workloads/failure.h"
#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/descriptors.h"
#include "kernels/base/fp_mode.h"
#include "kernels/base/launcher.h"

#define CPUS_MAX 4096

/* Where a signal leaves its mark; read between turns. */
static volatile sig_atomic_t interrupted;

bool sweep_is_interrupted(void)
{
    return interrupted != 0;
}

static void take_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void listen_to_signals(void)
{
    const struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- Ranks ---- */

/* On a core of its own, unless whoever started this rank saw to that. *crowded: there are more
 * ranks than cores. */
static enum status bind_rank(int local_rank, int local_ranks, bool *crowded, struct error *e)
{
    char bound[8192];
    int cpus[CPUS_MAX];
    struct place *place;
    struct place_plan plan = {0};
    *crowded = false;
    enum status status = place_read_back(bound, sizeof bound, e);
    if (status != OK || place_parse_cpus(bound, cpus, CPUS_MAX) == 1)
        return status;
    TRY(place_open(&place, NULL, e));
    status = place_make_plan(place, local_ranks, 1, BIND_core, ORDER_compact, true, &plan, e);
    if (status == OK)
        status = place_bind_self(plan.slots[local_rank].cpus, e);
    *crowded = plan.oversubscribed;
    place_plan_free(&plan);
    place_close(place);
    return status;
}

/* Ranks of this node, and nodes. */
static void count_ranks(struct sweep *s, int *local_rank)
{
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, local_rank);
    MPI_Comm_size(node, &s->local_ranks);
    MPI_Comm_free(&node);
    int is_first = *local_rank == 0;
    MPI_Allreduce(&is_first, &s->nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* "MPICH 4.0.2" out of what the library says of itself. */
static void name_library(struct sweep *s)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", name[32] = "", version[24] = "";
    int length;
    MPI_Get_library_version(text, &length);
    sscanf(text, "%31s Version: %23s", name, version);
    snprintf(s->mpi, sizeof s->mpi, "%s %s", name, version);
}

static enum status open_ranks(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    int local_rank;
    bool crowded;
    count_ranks(s, &local_rank);
    name_library(s);
    s->can_choose = algorithm_read(&s->library, e) == OK;
    enum status status = bind_rank(local_rank, s->local_ranks, &crowded, e);
    int any = crowded;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    enum wait_kind wait = o->wait_is_set ? o->wait : any ? WAIT_YIELD : WAIT_BLOCK;
    if (status == OK)
        status = waiter_open(&s->waiter, wait, config_number(&o->config, OPT_DEADLINE),
                             MPI_COMM_WORLD, e);
    s->out = s->rank == 0 && !o->plans ? stdout : NULL;
    return status;
}

/* ---- What is swept ---- */

static enum status sweep_task(struct sweep *s, const struct task *task, struct error *e)
{
    const struct problem *p = &task->problem;
    if (task->is_kept)
        return keep_repeat(s, task->name, e);
    enum status status = keep_begin(s, task->name, e);
    if (status == OK)
        status = s->options->compares ? sweep_compare(s, p, e) : sweep_problem(s, p, e);
    return status == OK ? keep_end(s, task->name, e) : status;
}

static enum status sweep_tasks(struct sweep *s, struct error *e)
{
    struct tasks *t = &s->tasks;
    enum status status = OK;
    for (t->at = 0; status == OK && t->at < t->n; t->at++) {
        status = sweep_task(s, t->all[t->at], e);
        t->left_s -= t->all[t->at]->expected_s;
    }
    progress_clear(&t->progress);
    return status;
}

static enum status find_kept(struct sweep *s, struct error *e)
{
    enum status status = keep_open(s, e);
    for (int i = 0; status == OK && i < s->tasks.n; i++)
        status = keep_find(s, s->tasks.all[i]->name, &s->tasks.all[i]->is_kept, e);
    return status;
}

/* Before a forecast comes what it is made of. */
static enum status sweep_everything(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    enum status status = link_check(s, e);
    progress_begin(&s->tasks.progress, stderr);
    s->tasks.progress.terminal = o->terminal && s->rank == 0;
    if (status == OK)
        status = tasks_list(&s->tasks, o, e);
    if (status == OK)
        status = find_kept(s, e);
    if (status == OK)
        status = link_measure(s, e);
    if (status != OK)
        return status;
    tasks_expect(s);
    tasks_tell_forecast(s);
    if (o->plans) {
        tasks_print_plan(s);
        return OK;
    }
    status = sweep_tasks(s, e);
    if (status == OK)
        status = link_write(s, e);
    if (status == OK && s->out != NULL && ferror(s->out))
        status = error_set(e, ERR_SYSTEM, "standard output cannot be written");
    return status;
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
    struct sweep s = {.options = options, .all_ok = true};
    struct error e = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (launcher_check(s.ranks, program_invocation_name, &e) != OK)
        return failure_report("comm_sweep", &e, true);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fp_mode_set();
    enum status status = open_ranks(&s, &e);
    if (status == OK)
        status = sweep_everything(&s, &e);
    int exit_status = s.all_ok ? 0 : 1;
    if (status != OK)
        exit_status = failure_report("comm_sweep", &e, s.rank == 0 || !all_have_failed(status));
    if (status != OK && !all_have_failed(status))
        failure_abort_all(exit_status);
    wait_barrier(&s.waiter, MPI_COMM_WORLD, "end of the sweep", NULL);
    waiter_close(&s.waiter);
    tasks_free(&s.tasks);
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
        listen_to_signals();
        failure_warn_of_shared_memory();
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
        exit_status = sweep(&options);
        options_free(&options);
        launcher_leave(exit_status);
    }
    options_free(&options);
    return exit_status;
}
