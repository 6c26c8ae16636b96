/* Clocks of nodes. MPICH is told that this machine has several nodes, each with a made-up clock.
 * cores: all
 * double: 3 */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>

#include "comm/clocks.h"
#include "comm/nodes.h"
#include "comm/tests/sync_fixture.h"
#include "kernels/base/clock.h"

/* Each node's clock is a second ahead of the previous node's clock, and 30 ppm faster. */
#define AHEAD_NS INT64_C(1000000000)
#define DRIFT    30e-6

static int own_node;

static int64_t made_up_ns(void)
{
    int64_t now_ns = clock_ns();
    return now_ns + own_node * AHEAD_NS + llround(own_node * DRIFT * (double)now_ns);
}

static double truth_ns(int64_t at_ns)
{
    double machine_ns = (double)(at_ns - own_node * AHEAD_NS) / (1 + own_node * DRIFT);
    return (double)at_ns - machine_ns;
}

/* Returns the number of nodes: one per rank up to three ranks. With more ranks some share a
 * node, so that nodes also ask nodes other than rank 0's. */
static int wanted_nodes(int ranks)
{
    return ranks <= 3 ? ranks : (ranks + 1) / 2;
}

static bool find_own_node(int *first, struct error *e)
{
    int rank = mpi_world_rank(), nodes = 0;
    int *node_of = calloc((size_t)mpi_world_ranks(), sizeof *node_of);
    bool good = nodes_find(&program_waiter, MPI_COMM_WORLD, node_of, e) == OK;
    own_node = node_of[rank];
    *first = rank;
    for (int i = mpi_world_ranks() - 1; i >= 0; i--) {
        *first = node_of[i] == own_node ? i : *first;
        nodes = node_of[i] >= nodes ? node_of[i] + 1 : nodes;
    }
    free(node_of);
    return good && nodes == wanted_nodes(mpi_world_ranks());
}

static bool is_right(const struct clock_offset *o, int of, int first)
{
    if (of != first || mpi_world_rank() != first)
        return of == first && isnan(o->offset_ns);
    if (first == 0)
        return o->offset_ns == 0 && o->error_ns == 0;
    return o->error_ns > 0 && fabs(o->offset_ns - truth_ns(o->at_ns)) <= o->error_ns + 100;
}

static bool finds_clocks(void)
{
    struct clock_line line;
    struct error e;
    int first, of_begin, of_end;
    return find_own_node(&first, &e) &&
           clocks_find(&line.begin, &of_begin, &program_waiter, MPI_COMM_WORLD, made_up_ns, &e) ==
               OK &&
           clocks_find(&line.end, &of_end, &program_waiter, MPI_COMM_WORLD, made_up_ns, &e) == OK &&
           is_right(&line.begin, of_begin, first) && is_right(&line.end, of_end, first) &&
           (isnan(line.end.offset_ns) || line.end.at_ns >= line.begin.at_ns);
}

static void offsets_are_within_their_errors(void **state)
{
    snprintf(mpi_subject, sizeof mpi_subject, "clocks");
    assert_all(finds_clocks());
}

/* Runs last, because it turns call checks on. */
static void offsets_hold_under_call_checks(void **state)
{
    struct error e;
    snprintf(mpi_subject, sizeof mpi_subject, "clocks, with calls compared");
    assert_all(waiter_check_calls(&program_waiter, &e) == OK);
    assert_all(finds_clocks());
}

int main(int argc, char **argv)
{
    char nodes[16];
    const char *ranks = getenv("PMI_SIZE");
    snprintf(nodes, sizeof nodes, "%d", wanted_nodes(ranks != NULL ? atoi(ranks) : 1));
    setenv("MPIR_CVAR_NUM_CLIQUES", nodes, 1);
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_within_their_errors),
        cmocka_unit_test(offsets_hold_under_call_checks),
    };
    int failed = mpi_run_group(tests, mpi_waiter_open, mpi_waiter_close);
    MPI_Finalize();
    return failed;
}
