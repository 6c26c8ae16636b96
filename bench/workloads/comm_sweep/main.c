/* comm_sweep: see sweep.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench/place/place.h"
#include "bench/workloads/comm_sweep/sweep.h"
#include "bench/workloads/failure.h"
#include "bench/workloads/sweep/models.h"
#include "kernels/base/descriptors.h"
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

/* --- Ranks ---------------------------------------------------------------------------------------
 */

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
    if (place_open(&place, NULL, e) != OK)
        return e->status;
    status = place_make_plan(place, local_ranks, 1, BIND_CORE, ORDER_COMPACT, true, &plan, e);
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
    s->out = s->rank == 0 ? stdout : NULL;
    return status;
}

/* --- What is swept -------------------------------------------------------------------------------
 */

static enum status sweep_tensors(struct sweep *s, const char *part, const char *model,
                                 const struct net_desc *desc, struct error *e)
{
    struct problem p = {.part = part, .model = model, .desc = desc};
    size_t n = (size_t)desc->n_tensors;
    p.counts = calloc(2 * n + 1, sizeof *p.counts);
    if (p.counts == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the sizes of %zu tensors", n);
    p.rows = p.counts + n;
    for (size_t i = 0; i < n; i++) {
        p.counts[i] = desc->tensors[i].count;
        p.rows[i] = desc->tensors[i].n_dims > 1 ? (size_t)desc->tensors[i].dims[0] : 0;
    }
    enum status status = s->options->compares ? sweep_compare(s, &p, e) : sweep_problem(s, &p, e);
    free(p.counts);
    return status;
}

static enum status sweep_size(struct sweep *s, size_t bytes, struct error *e)
{
    size_t n = (bytes + sizeof(real) - 1) / sizeof(real);
    struct tensor_desc tensor = {
        .name = "flat", .n_dims = 1, .dims = {(int)n}, .count = n, .fan_in = n, .fan_out = n};
    const struct net_desc desc = {.tensors = &tensor, .n_tensors = 1, .n_params = n};
    return sweep_tensors(s, "flat", "", &desc, e);
}

static enum status sweep_model(void *arg, const char *model, struct error *e)
{
    struct sweep *s = arg;
    struct net_desc desc;
    if (model_load(&desc, model, e) != OK)
        return e->status;
    enum status status = sweep_tensors(s, "net", desc.name, &desc, e);
    net_desc_free(&desc);
    return status;
}

static enum status sweep_models(struct sweep *s, struct error *e)
{
    const struct choice *models = &s->options->models;
    if (models->none)
        return OK;
    if (models->n == 0)
        return models_for_each("models", sweep_model, s, e);
    enum status status = OK;
    for (int i = 0; status == OK && i < models->n; i++)
        status = sweep_model(s, models->names[i], e);
    return status;
}

static enum status sweep_everything(struct sweep *s, struct error *e)
{
    bool measures = !s->options->compares || s->options->link != NULL;
    enum status status = link_check(s, e);
    if (status == OK && measures)
        status = link_measure(s, e);
    for (int i = 0; status == OK && i < s->options->n_sizes; i++)
        status = sweep_size(s, s->options->sizes[i], e);
    if (status == OK)
        status = sweep_models(s, e);
    if (status == OK)
        status = link_write(s, e);
    if (status == OK && s->out != NULL && ferror(s->out))
        status = error_set(e, ERR_SYSTEM, "standard output cannot be written");
    return status;
}

/* --- The program ---------------------------------------------------------------------------------
 */

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
