/* Checks that MPICH sums by the requested algorithm. Algorithms add in different orders, which
 * shows in the bits of sums; recursive_doubling and reduce_scatter_allgather share an order.
 * From four ranks on all orders differ; two numbers have only one order. */
#include "comm/tests/mpi_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/algorithm.h"

/* N: number of floats that makes equal blocks on 1, 2, 3, 4 and 7 ranks. */
enum { N = 1008, RANKS_MOST = 7, TREE_SUMS = 8 };

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

/* Returns whether `sum` was added around a ring. Addition commutes to the bit, so only the
 * grouping matters. Block b starts at rank b + 1. */
static bool is_added_around(float sum, int ranks, size_t i)
{
    int first = (int)(i / (N / (size_t)ranks)) + 1;
    float around = number(first % ranks, i);
    for (int k = 1; k < ranks; k++)
        around += number((first + k) % ranks, i);
    return sum == around;
}

/* Returns whether `sum` was added in pairs: first the ranks beyond a power of two, then
 * neighbours, then pairs of neighbours, and so on. */
static bool is_added_in_pairs(float sum, int ranks, size_t i)
{
    float x[RANKS_MOST];
    int n = 1, rest;
    while (2 * n <= ranks)
        n *= 2;
    rest = ranks - n;
    for (int k = 0; k < n; k++)
        x[k] = k < rest ? number(2 * k, i) + number(2 * k + 1, i) : number(k + rest, i);
    for (; n > 1; n /= 2)
        for (int k = 0; k < n / 2; k++)
            x[k] = x[2 * k] + x[2 * k + 1];
    return sum == x[0];
}

/* Computes all sums that the tree below `rank` may give: a rank adds the values of its children,
 * 2 rank + 1 and 2 rank + 2, in order of arrival. Returns how many. */
static int tree_sums(float *sums, int rank, int ranks, size_t i)
{
    float left[TREE_SUMS], right[TREE_SUMS];
    int n = 0, n_left, n_right;
    sums[0] = number(rank, i);
    if (2 * rank + 1 >= ranks)
        return 1;
    n_left = tree_sums(left, 2 * rank + 1, ranks, i);
    n_right = 2 * rank + 2 < ranks ? tree_sums(right, 2 * rank + 2, ranks, i) : 0;
    float own = sums[0];
    for (int l = 0; l < n_left; l++)
        for (int r = 0; r < n_right; r++) {
            sums[n++] = own + left[l] + right[r];
            sums[n++] = own + right[r] + left[l];
        }
    for (int l = 0; l < n_left && n_right == 0; l++)
        sums[n++] = own + left[l];
    return n;
}

static bool is_added_up_a_tree(float sum, int ranks, size_t i)
{
    float sums[TREE_SUMS];
    bool found = false;
    int n = tree_sums(sums, 0, ranks, i);
    for (int k = 0; k < n; k++)
        found = found || sums[k] == sum;
    return found;
}

static bool is_added_by(enum allreduce_algorithm algorithm, float sum, size_t i)
{
    int ranks = mpi_world_ranks();
    switch (algorithm) {
    case ALGORITHM_ring:
        return is_added_around(sum, ranks, i);
    case ALGORITHM_tree:
        return is_added_up_a_tree(sum, ranks, i);
    default:
        return is_added_in_pairs(sum, ranks, i);
    }
}

static int count_added_by(enum allreduce_algorithm algorithm, const float *sums)
{
    int n = 0;
    for (size_t i = 0; i < N; i++)
        n += is_added_by(algorithm, sums[i], i);
    return n;
}

/* Returns whether all numbers fit the requested algorithm and, if orders differ, not all fit
 * another one. */
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
    return count_added_by(algorithm, x) == N && (mpi_world_ranks() < 4 || others == 1);
}

static void the_library_adds_in_the_order_of_its_algorithm(void **state)
{
    void (*const calls[])(float *) = {sum_blocking, sum_nonblocking};
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

/* Descriptions as in MPICH 4.0, without line ends, and in other possible forms. */
static void names_are_found_in_descriptions(void **state)
{
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
