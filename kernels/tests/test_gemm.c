#include "kernels/tests/support.h"

#include <float.h>

/* Computes one number of a b in double; `absolute` is the sum of absolute products. */
static double product_at(struct gemm_operand a, struct gemm_operand b, size_t i, size_t j, size_t k,
                         double *absolute)
{
    double sum = 0;
    *absolute = 0;
    for (size_t l = 0; l < k; l++) {
        double x = (double)(a.transposed ? a.data[l * a.ld + i] : a.data[i * a.ld + l]);
        double y = (double)(b.transposed ? b.data[j * b.ld + l] : b.data[l * b.ld + j]);
        sum += x * y;
        *absolute += fabs(x * y);
    }
    return sum;
}

/* Both results may differ from the exact sum by (k + 2) unit roundoffs of the absolute sum. */
static void check_product(size_t m, size_t n, size_t k, bool a_transposed, bool b_transposed,
                          bool add)
{
    const size_t spare = 3; /* leading dimensions larger than the rows */
    struct gemm_operand a = {.ld = (a_transposed ? m : k) + spare, .transposed = a_transposed};
    struct gemm_operand b = {.ld = (b_transposed ? k : n) + spare, .transposed = b_transposed};
    size_t ldc = n + spare;
    real *a_data = random_reals((a_transposed ? k : m) * a.ld, 1);
    real *b_data = random_reals((b_transposed ? n : k) * b.ld, 2);
    real *c = random_reals(m * ldc, 3), *before = random_reals(m * ldc, 3);
    a.data = a_data;
    b.data = b_data;
    gemm(m, n, k, c, ldc, a, b, add);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < ldc; j++) {
            double old = (double)before[i * ldc + j], got = (double)c[i * ldc + j], absolute = 0;
            if (j >= n) {
                assert_true(got == old); /* memory beside c is unchanged */
                continue;
            }
            double expected = product_at(a, b, i, j, k, &absolute) + (add ? old : 0);
            double bound = ((double)k + 3) * REAL_EPSILON * (absolute + (add ? fabs(old) : 0));
            assert_true(fabs(got - expected) <= bound);
        }
    }
    mem_free(a_data);
    mem_free(b_data);
    mem_free(c);
    mem_free(before);
}

static void products_are_right_for_every_storage(void **state)
{
    const size_t sizes[][3] = {{1, 1, 1},    {1, 7, 3},     {7, 1, 5},      {13, 17, 19},
                               {32, 48, 16}, {10, 576, 25}, {128, 121, 288}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int flags = 0; flags < 8; flags++)
            check_product(sizes[s][0], sizes[s][1], sizes[s][2], flags & 1, flags & 2, flags & 4);
}

/* If c is overwritten, its old contents are not read, not even NaN. */
static void without_add_the_old_contents_do_not_matter(void **state)
{
    real *a = random_reals(6 * 5, 1), *b = random_reals(5 * 4, 2), *c = mem_alloc(24 * sizeof *c);
    for (int i = 0; i < 24; i++)
        c[i] = (real)NAN;
    gemm(6, 4, 5, c, 4, (struct gemm_operand){.data = a, .ld = 5},
         (struct gemm_operand){.data = b, .ld = 4}, false);
    for (int i = 0; i < 24; i++)
        assert_false(isnan(c[i]));
    mem_free(a);
    mem_free(b);
    mem_free(c);
}

enum { SIDE = 150 };

struct many_products {
    const real *a, *b;
    real *c[4];
};

static void multiply_in_thread(void *arg, int thread, int threads)
{
    struct many_products *p = arg;
    struct gemm_operand a = {.data = p->a, .ld = SIDE}, b = {.data = p->b, .ld = SIDE};
    for (int i = 0; i < 20; i++)
        gemm(SIDE, SIDE, SIDE, p->c[thread], SIDE, a, b, false);
}

/* Several threads multiply at once; each gets the same bits as one alone. */
static void threads_multiply_at_the_same_time(void **state)
{
    struct pool *pool = make_pool(4);
    real *a = random_reals(SIDE * SIDE, 1), *b = random_reals(SIDE * SIDE, 2);
    real *alone = random_reals(SIDE * SIDE, 3);
    struct many_products p = {.a = a, .b = b};
    for (int t = 0; t < 4; t++)
        p.c[t] = random_reals(SIDE * SIDE, 4);
    gemm(SIDE, SIDE, SIDE, alone, SIDE, (struct gemm_operand){.data = a, .ld = SIDE},
         (struct gemm_operand){.data = b, .ld = SIDE}, false);
    pool_run(pool, multiply_in_thread, &p);
    for (int t = 0; t < 4; t++) {
        assert_memory_equal(p.c[t], alone, SIDE * SIDE * sizeof(real));
        mem_free(p.c[t]);
    }
    mem_free(a);
    mem_free(b);
    mem_free(alone);
    pool_destroy(pool);
}

/* Name, version and kernel set of the library. */
static void library_has_name_version_and_kernel_set(void **state)
{
    const char *text = gemm_library();
    assert_memory_equal(text, "BLIS ", 5);
    assert_non_null(strchr(text + 5, ' '));
}

static void floating_point_mode_flushes_denormals(void **state)
{
    fp_mode_set();
    volatile float smallest = FLT_MIN;
    volatile float half = smallest * 0.5f;
#if defined(__x86_64__) || defined(__aarch64__)
    assert_true(fp_mode_flushes());
    assert_true(half == 0);
#else
    assert_true(fp_mode_flushes() == (half == 0));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right_for_every_storage),
        cmocka_unit_test(without_add_the_old_contents_do_not_matter),
        cmocka_unit_test(threads_multiply_at_the_same_time),
        cmocka_unit_test(library_has_name_version_and_kernel_set),
        cmocka_unit_test(floating_point_mode_flushes_denormals),
    };
    gemm_init();
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
