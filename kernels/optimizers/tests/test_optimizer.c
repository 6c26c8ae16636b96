#include "kernels/tests/support.h"

enum { N = 1003 }; /* not a multiple of any vector */

static struct optimizer sgd_of(double momentum, double decay, real *state)
{
    return (struct optimizer){
        .kind = OPTIMIZER_sgd, .momentum = momentum, .weight_decay = decay, .n = N, .state = state};
}

static struct optimizer adam_of(double decay, real *state)
{
    return (struct optimizer){.kind = OPTIMIZER_adam,
                              .weight_decay = decay,
                              .beta1 = 0.9,
                              .beta2 = 0.999,
                              .epsilon = 1e-8,
                              .n = N,
                              .state = state};
}

/* Powers of two, so that every step is exact. v: 1, 1.5, 1.75; p: 4 - 0.5 v. */
static void sgd_follows_a_sequence_by_hand(void **state)
{
    real velocity = 0, p = 4;
    const real gradient = 1, expected[] = {3.5, 2.75, 1.875};
    struct optimizer o = sgd_of(0.5, 0, &velocity);
    o.n = 1;
    for (uint64_t step = 1; step <= 3; step++) {
        optimizer_step(&o, NULL, &p, &gradient, 0, 1, step, 0.5);
        assert_true(p == expected[step - 1]);
    }
    assert_true(velocity == (real)1.75);
}

/* Decay is added to the gradient: 1 + 0.5 * 2 = 2, p = 2 - 0.25 * 2. */
static void sgd_couples_weight_decay(void **state)
{
    real velocity = 0, p = 2;
    const real gradient = 1;
    struct optimizer o = sgd_of(0, 0.5, &velocity);
    o.n = 1;
    optimizer_step(&o, NULL, &p, &gradient, 0, 1, 1, 0.25);
    assert_true(p == (real)1.5);
}

/* The first step of Adam is lr g / (|g| + epsilon), for any size of g. The corrected moments cancel
 * except for the rounding of the betas, a few epsilons of the step. */
static void adam_starts_with_the_sign(void **state)
{
    real moments[2] = {0}, p = 1;
    const real gradients[] = {(real)-3e-3, (real)0.25, 7};
    for (int i = 0; i < 3; i++) {
        struct optimizer o = adam_of(0, moments);
        o.n = 1;
        moments[0] = moments[1] = 0;
        p = 1;
        optimizer_step(&o, NULL, &p, &gradients[i], 0, 1, 1, 0.125);
        double g = (double)gradients[i];
        double expected = 1 - 0.125 * g / (fabs(g) + 1e-8);
        /* 1 - 0.999 has 10 bits less than 0.999 */
        assert_true(fabs((double)p - expected) <= 0.125 * 0x1p10 * REAL_EPSILON + REAL_EPSILON);
    }
}

/* PyTorch's formulas in double, from its documentation. */
static void adam_double(double *p, double m_v[2], double g, double decay, uint64_t t, double lr)
{
    g += decay * *p;
    m_v[0] = 0.9 * m_v[0] + (1 - 0.9) * g;
    m_v[1] = 0.999 * m_v[1] + (1 - 0.999) * g * g;
    double m_hat = m_v[0] / (1 - pow(0.9, (double)t));
    double v_hat = m_v[1] / (1 - pow(0.999, (double)t));
    *p -= lr * m_hat / (sqrt(v_hat) + 1e-8);
}

static void adam_follows_pytorch(void **state)
{
    const double lr = 0x1p-7, decay = 0.01;
    real moments[2] = {0}, p = (real)0.5;
    double p_double = 0.5, m_v[2] = {0};
    struct optimizer o = adam_of(decay, moments);
    o.n = 1;
    for (uint64_t step = 1; step <= 20; step++) {
        real g = (real)(rng_unit(rng_word(7, 97, 0, 0, (uint32_t)step)) + 0.5);
        optimizer_step(&o, NULL, &p, &g, 0, 1, step, lr);
        adam_double(&p_double, m_v, (double)g, decay, step, lr);
        /* Gradients of one sign, so nothing cancels. In `real` each update is off by some 2^4
         * roundings and, through 1 - beta2, by 2^10 times the rounding of beta2. p adds one
         * rounding per step. */
        double bound = (double)step * (lr * 0x1p11 + 1) * REAL_EPSILON;
        assert_true(fabs((double)p - p_double) <= bound);
    }
}

/* Five tensors without gaps, the fourth a bias of one number, the fifth a scale of batch norm. */
enum { TENSORS = 5 };
static const size_t cuts[TENSORS + 1] = {0, 1, 17, 500, 501, N};

static void cut_tensors(struct tensor_desc tensors[TENSORS])
{
    for (int i = 0; i < TENSORS; i++)
        tensors[i] = (struct tensor_desc){
            .offset = cuts[i], .count = cuts[i + 1] - cuts[i], .bias = i == 3, .norm = i == 4};
}

/* Returns any kind of optimizer with all its options set. */
static struct optimizer optimizer_of(int kind, real *state, const struct tensor_desc *tensors)
{
    return (struct optimizer){.kind = (enum optimizer_kind)kind,
                              .momentum = 0.9,
                              .weight_decay = 1e-2,
                              .beta1 = 0.8,
                              .beta2 = 0.99,
                              .epsilon = 1e-6,
                              .trust = 0.02,
                              .n = N,
                              .state = state,
                              .tensors = tensors,
                              .n_tensors = TENSORS};
}

static real *make_state(int kind)
{
    real *state = mem_alloc((size_t)optimizer_slots((enum optimizer_kind)kind) * N * sizeof(real));
    assert_non_null(state);
    return state;
}

/* One call, three threads, or slices give the same bits. Nothing outside a slice changes. */
static void cutting_the_arena_changes_no_bit(void **state)
{
    struct pool *pool = make_pool(3);
    struct tensor_desc tensors[TENSORS];
    cut_tensors(tensors);
    for (int kind = 0; kind < OPTIMIZERS; kind++) {
        real *p[3], *slots[3], *g = random_reals(N, 2), *untouched = random_reals(N, 1);
        struct optimizer o[3];
        for (int i = 0; i < 3; i++) {
            p[i] = random_reals(N, 1);
            slots[i] = make_state(kind);
            o[i] = optimizer_of(kind, slots[i], tensors);
        }
        for (uint64_t step = 1; step <= 3; step++) {
            optimizer_step(&o[0], NULL, p[0], g, 0, N, step, 0.01);
            optimizer_step(&o[1], pool, p[1], g, 0, N, step, 0.01);
            for (size_t c = 0; c < TENSORS; c++) {
                optimizer_step(&o[2], pool, p[2], g, cuts[c], cuts[c + 1], step, 0.01);
                if (step == 1)
                    assert_memory_equal(p[2] + cuts[c + 1], untouched + cuts[c + 1],
                                        (N - cuts[c + 1]) * sizeof(real));
            }
        }
        assert_memory_equal(p[1], p[0], N * sizeof(real));
        assert_memory_equal(p[2], p[0], N * sizeof(real));
        for (int i = 0; i < 3; i++) {
            mem_free(p[i]);
            mem_free(slots[i]);
        }
        mem_free(g);
        mem_free(untouched);
    }
    pool_destroy(pool);
}

/* ---- Formulas of the papers, in double ---- */

/* A run in double beside the run under test. */
struct book {
    double p[N], m[N], v[N];
};

static double norm_of(const double *x, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void book_sgd(struct book *b, const struct optimizer *o, const real *g, double lr)
{
    for (size_t i = 0; i < N; i++) {
        double gradient = (double)g[i] + (o->decoupled ? 0 : o->weight_decay * b->p[i]);
        if (o->decoupled)
            b->p[i] -= lr * o->weight_decay * b->p[i];
        b->m[i] = o->momentum * b->m[i] + gradient;
        b->p[i] -= lr * (o->nesterov ? gradient + o->momentum * b->m[i] : b->m[i]);
    }
}

static void book_lars(struct book *b, const struct optimizer *o, const real *g, double lr)
{
    for (int t = 0; t < TENSORS; t++) {
        double gradient[N], ratio = 1, decay = t < 3 ? o->weight_decay : 0;
        for (size_t i = cuts[t]; i < cuts[t + 1]; i++)
            gradient[i] = (double)g[i];
        double w = norm_of(b->p, cuts[t], cuts[t + 1]);
        if (t < 3)
            ratio = o->trust * w / (norm_of(gradient, cuts[t], cuts[t + 1]) + decay * w);
        for (size_t i = cuts[t]; i < cuts[t + 1]; i++) {
            b->m[i] = o->momentum * b->m[i] + lr * ratio * (gradient[i] + decay * b->p[i]);
            b->p[i] -= b->m[i];
        }
    }
}

/* Returns Adam's direction without decay, and updates the moments by `gradient`. */
static double book_direction(struct book *b, const struct optimizer *o, size_t i, double gradient,
                             uint64_t step)
{
    b->m[i] = o->beta1 * b->m[i] + (1 - o->beta1) * gradient;
    b->v[i] = o->beta2 * b->v[i] + (1 - o->beta2) * gradient * gradient;
    double m = b->m[i] / (1 - pow(o->beta1, (double)step));
    double v = b->v[i] / (1 - pow(o->beta2, (double)step));
    return m / (sqrt(v) + o->epsilon);
}

static void book_adam(struct book *b, const struct optimizer *o, const real *g, uint64_t step,
                      double lr)
{
    bool coupled = o->kind == OPTIMIZER_adam;
    for (size_t i = 0; i < N; i++) {
        double decayed = (double)g[i] + (coupled ? o->weight_decay * b->p[i] : 0);
        double shrink = coupled ? 0 : lr * o->weight_decay * b->p[i];
        b->p[i] -= shrink + lr * book_direction(b, o, i, decayed, step);
    }
}

static void book_lamb(struct book *b, const struct optimizer *o, const real *g, uint64_t step,
                      double lr)
{
    for (int t = 0; t < TENSORS; t++) {
        double r[N], decay = t < 3 ? o->weight_decay : 0, ratio = 1;
        for (size_t i = cuts[t]; i < cuts[t + 1]; i++)
            r[i] = book_direction(b, o, i, (double)g[i], step) + decay * b->p[i];
        if (t < 3)
            ratio = norm_of(b->p, cuts[t], cuts[t + 1]) / norm_of(r, cuts[t], cuts[t + 1]);
        for (size_t i = cuts[t]; i < cuts[t + 1]; i++)
            b->p[i] -= lr * ratio * r[i];
    }
}

static void book_step(struct book *b, const struct optimizer *o, const real *g, uint64_t step,
                      double lr)
{
    if (o->kind == OPTIMIZER_sgd)
        book_sgd(b, o, g, lr);
    else if (o->kind == OPTIMIZER_lars)
        book_lars(b, o, g, lr);
    else if (o->kind == OPTIMIZER_lamb)
        book_lamb(b, o, g, step, lr);
    else
        book_adam(b, o, g, step, lr);
}

/* Weights are below 2, and a step changes none by more than `moved`. The change is off by 2^4
 * roundings and, with second moments, by the 2^7 lost in 1 - beta2 = 0.01. p adds two roundings per
 * step. */
static void assert_by_the_book(struct optimizer o, struct book *b)
{
    const double lr = 0x1p-6;
    real *p = random_reals(N, 1);
    struct tensor_desc tensors[TENSORS];
    cut_tensors(tensors);
    o.tensors = tensors;
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < N; i++)
        b->p[i] = (double)p[i];
    double bound = 0;
    for (uint64_t step = 1; step <= 8; step++) {
        real *g = random_reals(N, 100 + step);
        for (size_t i = 0; i < N; i++)
            g[i] += g[i] < 0 ? -1 : 1; /* large enough that rounding cannot change the sign */
        double moved = 0;
        struct book last = *b;
        optimizer_step(&o, NULL, p, g, 0, N, step, lr);
        book_step(b, &o, g, step, lr);
        for (size_t i = 0; i < N; i++)
            moved = fmax(moved, fabs(b->p[i] - last.p[i]));
        bound += ((0x1p4 + 0x1p7) * moved * (double)step + 4) * REAL_EPSILON;
        for (size_t i = 0; i < N; i++)
            if (!(fabs((double)p[i] - b->p[i]) <= bound))
                fail_msg("%s, step %d, number %zu: %.9g, by the book %.9g, bound %.3g",
                         optimizer_names()[o.kind], (int)step, i, (double)p[i], b->p[i], bound);
        mem_free(g);
    }
    mem_free(p);
}

static void every_optimizer_follows_its_paper(void **state)
{
    static struct book book; /* too large for the stack */
    for (int kind = 0; kind < OPTIMIZERS; kind++) {
        for (int variant = 0; variant < (kind == OPTIMIZER_sgd ? 4 : 1); variant++) {
            real *slots = make_state(kind);
            struct optimizer o = optimizer_of(kind, slots, NULL);
            o.nesterov = variant & 1;
            o.decoupled = variant & 2;
            assert_by_the_book(o, &book);
            mem_free(slots);
        }
    }
}

/* If a norm is 0, the plain rate is used, and nothing becomes NaN. */
static void layer_wise_rates_accept_zero_norms(void **state)
{
    const int kinds[] = {OPTIMIZER_lars, OPTIMIZER_lamb};
    struct tensor_desc tensors[TENSORS];
    cut_tensors(tensors);
    for (int k = 0; k < 2; k++) {
        real *p = mem_alloc(N * sizeof *p), *g = random_reals(N, 2), *slots = make_state(kinds[k]);
        struct optimizer o = optimizer_of(kinds[k], slots, tensors);
        optimizer_step(&o, NULL, p, g, 0, N, 1, 0.5);
        for (size_t i = 0; i < N; i++) {
            double size = o.kind == OPTIMIZER_lars ? fabs((double)g[i]) : 1;
            assert_true(fabs(fabs((double)p[i]) - 0.5 * size) <= 1e-2 * size + 1e-6);
        }
        memset(g, 0, N * sizeof *g);
        memset(slots, 0, (size_t)optimizer_slots(o.kind) * N * sizeof *slots);
        optimizer_step(&o, NULL, p, g, 0, N, 1, 0.5);
        for (size_t i = 0; i < N; i++)
            assert_true(isfinite(p[i]));
        mem_free(p);
        mem_free(g);
        mem_free(slots);
    }
}

static void tables_have_a_row_for_every_optimizer(void **state)
{
    assert_string_equal(optimizer_names()[OPTIMIZER_sgd], "sgd");
    assert_string_equal(optimizer_names()[OPTIMIZER_adam], "adam");
    assert_int_equal(optimizer_slots(OPTIMIZER_sgd), 1);
    assert_int_equal(optimizer_slots(OPTIMIZER_adam), 2);
    for (int kind = 0; kind < OPTIMIZERS; kind++)
        assert_int_equal(optimizer_takes_tensors((enum optimizer_kind)kind),
                         kind == OPTIMIZER_lars || kind == OPTIMIZER_lamb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_follows_a_sequence_by_hand),
        cmocka_unit_test(sgd_couples_weight_decay),
        cmocka_unit_test(adam_starts_with_the_sign),
        cmocka_unit_test(adam_follows_pytorch),
        cmocka_unit_test(cutting_the_arena_changes_no_bit),
        cmocka_unit_test(every_optimizer_follows_its_paper),
        cmocka_unit_test(layer_wise_rates_accept_zero_norms),
        cmocka_unit_test(tables_have_a_row_for_every_optimizer),
    };
    return cmocka_run_group_tests_name("optimizer", tests, NULL, NULL);
}
