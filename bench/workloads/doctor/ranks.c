/* Finds the node and the processors of each rank, and synchronises ranks. A rank that waits for
 * synchronisation sleeps, so it uses no core. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/doctor/facts.h"
#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "bench/workloads/doctor/doctor.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Longest wait (s) for other ranks. Normal waits take seconds, and a lost rank must not delay the
 * result by minutes. */
#define DEADLINE_S 60.0
#define SLEEP_NS   1000000

/* Placement of one rank, as exchanged among all ranks. */
struct place_of_rank {
    int first;           /* first rank of this rank's node */
    int lowest, highest; /* lowest and highest processor that the rank is bound to */
    char machine[64];
};

static void take_places(struct doctor *d, const struct place_of_rank *places)
{
    const char *here = places[d->rank].machine;
    for (int r = 0; r < d->ranks; r++) {
        int first = places[r].first;
        if (first == r) {
            d->firsts[d->nodes] = r;
            for (int k = 0; k < d->nodes; k++)
                d->turns[d->nodes] += strcmp(places[d->firsts[k]].machine, places[r].machine) == 0;
            d->n_turns = d->turns[d->nodes] >= d->n_turns ? d->turns[d->nodes] + 1 : d->n_turns;
            d->nodes++;
        }
        d->node_of[r] = first == r ? d->nodes - 1 : d->node_of[first];
        d->lasts[d->node_of[r]] = r;
        d->machine_ranks += strcmp(places[r].machine, here) == 0;
    }
    d->node = d->node_of[d->rank];
}

static void take_ends(struct doctor *d, const struct place_of_rank *places)
{
    int lowest = places[d->rank].lowest, highest = places[d->rank].highest;
    for (int r = 0; r < d->ranks; r++) {
        if (strcmp(places[r].machine, places[d->rank].machine) != 0)
            continue;
        lowest = places[r].lowest < lowest ? places[r].lowest : lowest;
        highest = places[r].highest > highest ? places[r].highest : highest;
    }
    snprintf(d->ends[0], sizeof d->ends[0], "%d", lowest);
    snprintf(d->ends[1], sizeof d->ends[1], "%d", highest);
}

static enum status take_processors(struct place_of_rank *mine, struct doctor *d, struct error *e)
{
    int cpus[CPUS_MAX];
    TRY(place_read_back(d->cpus, sizeof d->cpus, e));
    int n = cpu_list_parse(d->cpus, cpus, CPUS_MAX);
    mine->lowest = mine->highest = n > 0 ? cpus[0] : 0;
    for (int i = 0; i < n && i < CPUS_MAX; i++) {
        mine->lowest = cpus[i] < mine->lowest ? cpus[i] : mine->lowest;
        mine->highest = cpus[i] > mine->highest ? cpus[i] : mine->highest;
    }
    return OK;
}

static enum status find_places(struct doctor *d, struct error *e)
{
    MPI_Comm node;
    struct doctor_node facts;
    struct place_of_rank mine = {0}, *places;
    TRY(take_processors(&mine, d, e));
    TRY(MEM_NEW(places, (size_t)d->ranks, "the ranks of a job", e));
    doctor_clear(&doctor_nodes, &facts);
    facts_read(&facts, "");
    snprintf(mine.machine, sizeof mine.machine, "%.63s", facts.machine);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, d->rank, MPI_INFO_NULL, &node);
    MPI_Allreduce(&d->rank, &mine.first, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    take_places(d, places);
    take_ends(d, places);
    free(places);
    return OK;
}

enum status ranks_open(struct doctor *d, struct error *e)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &d->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &d->ranks);
    size_t n = (size_t)d->ranks;
    TRY(MEM_NEW(d->node_of, n, "the ranks of a job", e));
    TRY(MEM_NEW(d->firsts, n, "the ranks of a job", e));
    TRY(MEM_NEW(d->lasts, n, "the ranks of a job", e));
    TRY(MEM_NEW(d->turns, n, "the ranks of a job", e));
    TRY(find_places(d, e));
    TRY(waiter_open(&d->waiter, d->n_turns > 1 ? WAIT_YIELD : WAIT_BLOCK, DEADLINE_S,
                    MPI_COMM_WORLD, e));
    d->waiter.free_running = true;
    return OK;
}

void ranks_close(struct doctor *d)
{
    free(d->node_of);
    free(d->firsts);
    free(d->lasts);
    free(d->turns);
    free(d->bursts);
    free(d->messages);
    mem_free(d->buffer);
}

enum status ranks_synchronise(struct doctor *d, const char *what, struct error *e)
{
    static const struct timespec moment = {.tv_nsec = SLEEP_NS};
    int here = 1;
    struct pending all = {.values = &here,
                          .count = 1,
                          .type = MPI_INT,
                          .op = MPI_SUM,
                          .comm = MPI_COMM_WORLD,
                          .operation = what};
    TRY(pending_begin(&d->waiter, &all, e));
    int64_t begin_ns = clock_ns();
    while (!pending_test(&d->waiter, &all) && clock_seconds_since(begin_ns) < DEADLINE_S)
        nanosleep(&moment, NULL);
    return pending_wait(&d->waiter, &all, e);
}
