/* Updates have the same bits with every instruction set, so that replicas on different machines
 * stay equal. Clipping is not tested here: comm/local_ops.c is compiled once. */
#include "kernels/optimizers/tables.h"
#include "kernels/tests/support.h"

enum { STEPS = 40, LARGEST = 1003, TENSORS = 3 };

/* Sizes around the vectors of all sets, in float and in double, and around unrolled loops. */
static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 257, LARGEST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* All options that select a different path; each optimizer ignores other optimizers' options. */
enum { CHOICES = 16 };

static struct optimizer optimizer_of(int kind, int choice, enum isa isa, size_t n, real *state,
                                     const struct tensor_desc *tensors)
{
    return (struct optimizer){.kind = (enum optimizer_kind)kind,
                              .isa = isa,
                              .momentum = choice & 1 ? 0.9 : 0,
                              .weight_decay = choice & 2 ? 1e-2 : 0,
                              .nesterov = choice & 4,
                              .decoupled = choice & 8,
                              .beta1 = 0.9,
                              .beta2 = 0.999,
                              .epsilon = 1e-8,
                              .trust = 0.02,
                              .n = n,
                              .state = state,
                              .tensors = tensors,
                              .n_tensors = TENSORS};
}

/* Three tensors without gaps, the middle one a bias of one number. If n is small, some are
 * empty. */
static void cut_tensors(struct tensor_desc tensors[TENSORS], size_t n)
{
    const size_t cuts[TENSORS + 1] = {0, n / 2, n / 2 + (n > 1), n};
    for (int i = 0; i < TENSORS; i++)
        tensors[i] =
            (struct tensor_desc){.offset = cuts[i], .count = cuts[i + 1] - cuts[i], .bias = i == 1};
}

static real *zeroes(size_t n)
{
    real *x = mem_alloc((n > 0 ? n : 1) * sizeof *x);
    assert_non_null(x);
    return x;
}

/* Weights and state after STEPS steps from the same start with the same gradients. */
struct run {
    real *params, *state;
    size_t n, n_state;
};

static struct run run_steps(int kind, int choice, enum isa isa, size_t n)
{
    struct run r = {.n = n, .n_state = (size_t)optimizer_slots((enum optimizer_kind)kind) * n};
    struct tensor_desc tensors[TENSORS];
    cut_tensors(tensors, n);
    r.params = random_reals(n, 1);
    r.state = zeroes(r.n_state);
    struct optimizer o = optimizer_of(kind, choice, isa, n, r.state, tensors);
    for (uint64_t step = 1; step <= STEPS; step++) {
        real *g = random_reals(n, 100 + step);
        optimizer_step(&o, NULL, r.params, g, 0, n, step, 0.01);
        mem_free(g);
    }
    return r;
}

static void run_free(struct run *r)
{
    mem_free(r->params);
    mem_free(r->state);
}

static void compare_sets(int kind, int choice, size_t n)
{
    struct run portable = run_steps(kind, choice, ISA_PORTABLE, n);
    for (int isa = ISA_PORTABLE + 1; isa <= (int)isa_best(); isa++) {
        struct run other = run_steps(kind, choice, (enum isa)isa, n);
        if (memcmp(other.params, portable.params, n * sizeof(real)) != 0 ||
            memcmp(other.state, portable.state, other.n_state * sizeof(real)) != 0)
            fail_msg("%s, choice %d, %zu numbers: %s differs from portable",
                     optimizer_names()[kind], choice, n, isa_names()[isa]);
        run_free(&other);
    }
    run_free(&portable);
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    for (int kind = 0; kind < OPTIMIZERS; kind++)
        for (int choice = 0; choice < CHOICES; choice++)
            for (int i = 0; i < SIZES; i++)
                compare_sets(kind, choice, sizes[i]);
}

/* Scalar versions: the same arithmetic in the same order, one element at a time. */
static void sgd_scalar(const struct optimizer *o, real *p, const real *g, double lr)
{
    const real momentum = (real)o->momentum, decay = (real)o->weight_decay, rate = (real)lr;
    for (size_t i = 0; i < o->n; i++) {
        real decayed = g[i] + decay * p[i];
        o->state[i] = momentum * o->state[i] + decayed;
        p[i] -= rate * o->state[i];
    }
}

/* sqrt in double, rounded to float, is the correctly rounded root of a float. */
static void adam_scalar(const struct optimizer *o, real *p, const real *g, uint64_t step, double lr)
{
    const double root = sqrt(1 - whole_power(o->beta2, step));
    const real rate = (real)(lr * root / (1 - whole_power(o->beta1, step)));
    const real epsilon = (real)(o->epsilon * root);
    real *m = o->state, *v = o->state + o->n;
    for (size_t i = 0; i < o->n; i++) {
        real gradient = g[i] + (real)o->weight_decay * p[i];
        m[i] = (real)o->beta1 * m[i] + (real)(1 - o->beta1) * gradient;
        v[i] = (real)o->beta2 * v[i] + (real)(1 - o->beta2) * (gradient * gradient);
        p[i] -= rate * m[i] / ((real)sqrt((double)v[i]) + epsilon);
    }
}

/* Tests momentum and coupled decay. */
static void the_bits_equal_scalar_code(void **state)
{
    enum { CHOICE = 1 | 2 };
    const int kinds[] = {OPTIMIZER_sgd, OPTIMIZER_adam};
    for (int k = 0; k < 2; k++) {
        real *p = random_reals(LARGEST, 1), *slots = zeroes(2 * (size_t)LARGEST);
        struct optimizer o = optimizer_of(kinds[k], CHOICE, ISA_PORTABLE, LARGEST, slots, NULL);
        for (uint64_t step = 1; step <= STEPS; step++) {
            real *g = random_reals(LARGEST, 100 + step);
            if (o.kind == OPTIMIZER_sgd)
                sgd_scalar(&o, p, g, 0.01);
            else
                adam_scalar(&o, p, g, step, 0.01);
            mem_free(g);
        }
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++) {
            struct run r = run_steps(kinds[k], CHOICE, (enum isa)isa, LARGEST);
            assert_memory_equal(r.params, p, LARGEST * sizeof(real));
            run_free(&r);
        }
        mem_free(p);
        mem_free(slots);
    }
}

/* FNV-1a (Fowler, Noll, Vo) over the bits of the numbers, lowest byte first. */
static uint64_t hash_reals(uint64_t hash, const real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &x[i], sizeof x[i]);
        for (size_t byte = 0; byte < sizeof x[i]; byte++)
            hash = (hash ^ (bits >> (8 * byte) & 0xff)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Hashes from another machine, compiler and architecture: replicas may run on both. The constants
 * only change with the arithmetic of the sources. */
static void other_machines_give_the_same_bits(void **state)
{
#ifdef SCALEBENCH_F64
    static const uint64_t expected[OPTIMIZERS] = {
        [OPTIMIZER_sgd] = UINT64_C(0x7dec2b9b74283ec9),
        [OPTIMIZER_adam] = UINT64_C(0x5a5d1f4fc0670245),
        [OPTIMIZER_adamw] = UINT64_C(0x2f9681bf618571f5),
        [OPTIMIZER_lars] = UINT64_C(0x4a7f25ef91940555),
        [OPTIMIZER_lamb] = UINT64_C(0xcf3be8efab609a75),
    };
#else
    static const uint64_t expected[OPTIMIZERS] = {
        [OPTIMIZER_sgd] = UINT64_C(0xca4d7cd01cbfe3bb),
        [OPTIMIZER_adam] = UINT64_C(0x63509fb72959e325),
        [OPTIMIZER_adamw] = UINT64_C(0xd0d6df8a09b73075),
        [OPTIMIZER_lars] = UINT64_C(0xacdbad316ac7fa25),
        [OPTIMIZER_lamb] = UINT64_C(0x43ff8e1234b66395),
    };
#endif
    for (int kind = 0; kind < OPTIMIZERS; kind++) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        for (int choice = 0; choice < CHOICES; choice++) {
            struct run r = run_steps(kind, choice, isa_best(), LARGEST);
            hash = hash_reals(hash, r.params, r.n);
            run_free(&r);
        }
        if (hash != expected[kind])
            fail_msg("%s: 0x%016llx instead of 0x%016llx", optimizer_names()[kind],
                     (unsigned long long)hash, (unsigned long long)expected[kind]);
    }
}

/* By hand, and against pow, whose result is within one rounding: n factors, n roundings. */
static void powers_are_powers(void **state)
{
    assert_true(whole_power(0.5, 0) == 1);
    assert_true(whole_power(0.5, 10) == 0x1p-10);
    assert_true(whole_power(-3, 5) == -243);
    for (uint64_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
        double expected = pow(0.999, (double)n);
        assert_true(fabs(whole_power(0.999, n) - expected) <= (double)(n + 1) * 0x1p-53 * expected);
    }
    assert_true(whole_power(0.999, UINT64_C(1000000000000)) == 0);
}

int main(void)
{
    fp_mode_set();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(the_bits_equal_scalar_code),
        cmocka_unit_test(other_machines_give_the_same_bits),
        cmocka_unit_test(powers_are_powers),
    };
    return cmocka_run_group_tests_name("optimizer_bits", tests, NULL, NULL);
}
