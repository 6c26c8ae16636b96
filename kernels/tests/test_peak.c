/* Tests the loops that measure bandwidth: they must read and write every number. */
#include "kernels/tests/support.h"

#include "kernels/peak.h"
#include "kernels/simd/peak.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_TILES(struct peak_functions, peak)

enum { N = 5 * PEAK_REALS };

/* Sets x to 0, 1, 2, ... These sums are exact. */
static real *count(void)
{
    real *x = mem_alloc(N * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < N; i++)
        x[i] = (real)i;
    return x;
}

static void loads_read_every_number(void **state)
{
    real *x = count();
    for (enum isa isa = ISA_PORTABLE; isa <= isa_best_bf16(); isa++)
        assert_true(peak_for(isa)->load(x, N) == (real)(N * (N - 1) / 2));
    mem_free(x);
}

static void adding_writes_half_of_the_numbers(void **state)
{
    const int part = N / 4;
    for (enum isa isa = ISA_PORTABLE; isa <= isa_best_bf16(); isa++) {
        real *x = count();
        peak_for(isa)->add(x, N);
        for (int i = 0; i < N; i++)
            assert_true(x[i] == (real)(i / part % 2 == 0 ? i + (i + part) : i));
        mem_free(x);
    }
}

static void the_rate_is_positive(void **state)
{
    real *x = count();
    for (enum isa isa = ISA_PORTABLE; isa <= isa_best_bf16(); isa++)
        assert_true(peak_byte_per_s(isa, x, N) > 0);
    mem_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_read_every_number),
        cmocka_unit_test(adding_writes_half_of_the_numbers),
        cmocka_unit_test(the_rate_is_positive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
