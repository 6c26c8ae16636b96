/* That the library sums by the algorithm that is asked for: at four ranks each adds in an order of
 * its own, which the bits of sums show; recursive_doubling and reduce_scatter_allgather add in the
 * same one. */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/algorithm.h"

enum { N = 1000, RANKS = 4 };

static float number(int rank, size_t i)
{
    return (float)sin((double)i + 10007.0 * rank);
}

static void sum_blocking(float *x)
{
    MPI_Allreduce(MPI_IN_PLACE, x, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void sum_nonblocking(float *x)
{
    MPI_Request request;
    int done = 0;
    MPI_Iallreduce(MPI_IN_PLACE, x, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

/* Addition commutes to the bit: only the brackets matter. Block b of a ring is first sent by rank
 * b + 1; ranks 1 and 2 are the root's children in the tree, rank 3 is that of rank 1, and the root
 * adds them in the order of their coming: either is right. */
static bool is_added_by(enum allreduce_algorithm algorithm, float sum, size_t i)
{
    const float a = number(0, i), b = number(1, i), c = number(2, i), d = number(3, i);
    int first = (int)(i / (N / RANKS)) + 1;
    float around = number(first % RANKS, i);
    switch (algorithm) {
    case ALGORITHM_ring:
        for (int k = 1; k < RANKS; k++)
            around += number((first + k) % RANKS, i);
        return sum == around;
    case ALGORITHM_tree:
        return sum == (a + (b + d)) + c || sum == (a + c) + (b + d);
    default:
        return sum == (a + b) + (c + d);
    }
}

static int count_added_by(enum allreduce_algorithm algorithm, const float *sums)
{
    int n = 0;
    for (size_t i = 0; i < N; i++)
        n += is_added_by(algorithm, sums[i], i);
    return n;
}

/* All numbers fit the algorithm asked for, and not all fit one of another order. */
static bool sums_by(void (*sum)(float *), enum allreduce_algorithm algorithm)
{
    const enum allreduce_algorithm orders[] = {ALGORITHM_recursive_doubling, ALGORITHM_ring,
                                               ALGORITHM_tree};
    static float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = number(mpi_world_rank(), i);
    sum(x);
    int others = 0;
    for (int k = 0; k < 3; k++)
        others += count_added_by(orders[k], x) == N;
    return count_added_by(algorithm, x) == N && others == 1;
}

static void the_library_adds_in_the_order_of_its_algorithm(void **state)
{
    (void)state;
    void (*const calls[])(float *) = {sum_blocking, sum_nonblocking};
    if (mpi_world_ranks() != RANKS)
        skip();
    for (int a = 1; a < ALGORITHMS; a++) {
        struct error e;
        assert_all(algorithm_use((enum allreduce_algorithm)a, &e) == OK);
        assert_string_equal(algorithm_in_use(), algorithm_names()[a]);
        for (int call = 0; call < 2; call++)
            assert_all(sums_by(calls[call], (enum allreduce_algorithm)a));
    }
}

static void settings_can_be_put_back(void **state)
{
    (void)state;
    struct algorithm_settings before, after;
    struct error e;
    assert_all(algorithm_read(&before, &e) == OK);
    assert_all(algorithm_use(ALGORITHM_auto, &e) == OK);
    assert_all(algorithm_read(&after, &e) == OK);
    assert_memory_equal(&before, &after, sizeof before);
    assert_all(algorithm_use(ALGORITHM_ring, &e) == OK);
    assert_string_equal(algorithm_in_use(), "ring");
    assert_all(algorithm_write(&before, &e) == OK);
    assert_all(algorithm_read(&after, &e) == OK);
    assert_memory_equal(&before, &after, sizeof before);
}

/* As MPICH 4.0 writes them, line ends lost, and as it once might. */
static void names_are_found_in_descriptions(void **state)
{
    (void)state;
    static const char text[] = "Variable to select iallreduce algorithmauto - Internal (as the "
                               "file says)sched_auto - Internalsched_smp   - Force smp algorithm"
                               "tsp_ring   - Force ring\nring - Force\nreduce-exchange - no word";
    assert_int_equal(algorithm_number(text, "auto"), 0);
    assert_int_equal(algorithm_number(text, "sched_auto"), 1);
    assert_int_equal(algorithm_number(text, "sched_smp"), 2);
    assert_int_equal(algorithm_number(text, "tsp_ring"), 3);
    assert_int_equal(algorithm_number(text, "ring"), 4);
    assert_int_equal(algorithm_number(text, "smp"), -1);
    assert_int_equal(algorithm_number("", "auto"), -1);
    assert_int_equal(algorithm_number(" - ", "auto"), -1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_in_descriptions),
        cmocka_unit_test(settings_can_be_put_back),
        cmocka_unit_test(the_library_adds_in_the_order_of_its_algorithm),
    };
    MPI_Init(&argc, &argv);
    int failed = mpi_run_tests(tests);
    MPI_Finalize();
    return failed;
}
