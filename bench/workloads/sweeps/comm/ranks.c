/* The ranks of a sweep: how many there are, where they run, how they wait. */
#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "bench/workloads/sweeps/comm/sweep.h"
#include "comm/library.h"

static enum status bind_to_core(struct place *place, int local_rank, int local_ranks, bool *crowded,
                                struct error *e)
{
    struct place_plan plan = {0};
    TRY(place_make_plan(place, local_ranks, 1, BIND_core, ORDER_compact, true, &plan, e));
    enum status status = place_bind_self(plan.slots[local_rank].cpus, e);
    *crowded = plan.oversubscribed;
    place_plan_free(&plan);
    return status;
}

/* On a core of its own, unless whoever started this rank saw to that. *crowded: there are more
 * ranks than cores. */
static enum status bind_rank(int local_rank, int local_ranks, bool *crowded, struct error *e)
{
    char bound[8192];
    int cpus[CPUS_MAX];
    struct place *place;
    *crowded = false;
    TRY(place_read_back(bound, sizeof bound, e));
    if (cpu_list_parse(bound, cpus, CPUS_MAX) == 1)
        return OK;
    TRY(place_open(&place, NULL, e));
    enum status status = bind_to_core(place, local_rank, local_ranks, crowded, e);
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

enum status ranks_open(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    int local_rank;
    bool crowded;
    count_ranks(s, &local_rank);
    library_name(s->mpi, sizeof s->mpi);
    s->can_choose = algorithm_read(&s->library, e) == OK;
    s->out = s->rank == 0 && !o->plans ? stdout : NULL;
    enum status status = bind_rank(local_rank, s->local_ranks, &crowded, e);
    int any = crowded;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    TRY(status);
    enum wait_kind wait = o->wait_is_set ? o->wait : any ? WAIT_YIELD : WAIT_BLOCK;
    return waiter_open(&s->waiter, wait, config_number(&o->config, OPT_DEADLINE), MPI_COMM_WORLD,
                       e);
}

enum status ranks_stop_if_asked(struct sweep *s, struct error *e)
{
    int asked = *s->interrupted != 0;
    TRY(wait_allreduce(&s->waiter, &asked, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                       "agreement to go on", e));
    return asked ? error_set(e, ERR_INTERRUPTED, "stopped by a signal; rows so far are whole") : OK;
}
