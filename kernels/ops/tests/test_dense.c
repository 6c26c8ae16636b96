/* The dense op in blocks against plain sums in double, on every instruction set. A sum of k
 * products is off by at most k + 2 roundings of the sum of magnitudes. Operands rounded to bf16 are
 * each off by a share of at most BF16_OFF more. */
#include "kernels/tests/support.h"

#include "kernels/ops/op.h"
#include "kernels/simd/dense.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE_BF16(struct dense_functions, dense)

#define BF16_OFF 0x1p-8

struct setup {
    struct net_desc desc;
    struct fused_layers fused;
    int n, in, out;
    real *x, *dy, *params, *y, *dx, *dparams;
    void *scratch;
    struct pool *pool;
    struct exec ex;
};

static void setup_begin(struct setup *r, int in, int out, int n, enum isa isa, int threads)
{
    *r = (struct setup){.n = n, .in = in, .out = out};
    begin_net(&r->desc, "one", (struct shape){in, 1, 1}, out);
    add_layer(&r->desc, dense_layer(out));
    r->fused = (struct fused_layers){.layers = r->desc.layers,
                                     .n_layers = 1,
                                     .plan = PLAN_FAST,
                                     .isa = isa,
                                     .in = LAYOUT_NCHW,
                                     .out = LAYOUT_NCHW,
                                     .wants_input = true};
    size_t x = (size_t)(n * in), y = (size_t)(n * out);
    r->x = random_reals(x, 1);
    r->dy = random_reals(y, 2);
    r->params = random_reals(r->desc.n_params, 3);
    r->y = random_reals(y, 4);
    r->dx = random_reals(x, 5);
    r->dparams = random_reals(r->desc.n_params, 6);
    r->scratch = mem_alloc(op_dense.scratch_bytes(&r->fused, n, threads));
    assert_non_null(r->scratch);
    r->pool = make_pool(threads);
    r->ex = (struct exec){.pool = r->pool, .training = true};
}

static void setup_end(struct setup *r)
{
    void *all[] = {r->x, r->dy, r->params, r->y, r->dx, r->dparams, r->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    pool_destroy(r->pool);
    net_desc_free(&r->desc);
}

static void setup_run(struct setup *r)
{
    struct op_call call = {.ex = &r->ex,
                           .n = r->n,
                           .x = r->x,
                           .y = r->y,
                           .dy = r->dy,
                           .dx = r->dx,
                           .params = r->params,
                           .dparams = r->dparams,
                           .scratch = r->scratch};
    op_dense.forward(&r->fused, &call);
    op_dense.backward(&r->fused, &call);
}

/* Compares one number with start + the sum of k products of a and b, whose numbers are a_step and
 * b_step apart. */
static void check_sum(const struct setup *r, const char *what, size_t at, real is, double start,
                      int k, const real *a, size_t a_step, const real *b, size_t b_step)
{
    double sum = start, sizes = fabs(start), off = 0;
    if (dense_for(r->fused.isa)->pair > 1)
        off = 2 * BF16_OFF + BF16_OFF * BF16_OFF;
    for (size_t i = 0; i < (size_t)k; i++) {
        double product = (double)a[i * a_step] * (double)b[i * b_step];
        sum += product;
        sizes += fabs(product);
    }
    double bound = ((k + 2) * REAL_EPSILON * (1 + off) + off) * sizes;
    if (!(fabs((double)is - sum) <= bound))
        fail_msg("%s, %s[%zu] of %d x %d: %.17g, expected %.17g to within %.3g",
                 isa_names()[r->fused.isa], what, at, r->in, r->out, (double)is, sum, bound);
}

/* before [n_params]: old gradients to which new ones are added, or NULL. */
static void check_all(const struct setup *r, const real *before)
{
    const real one = 1;
    size_t in = (size_t)r->in, out = (size_t)r->out;
    for (size_t i = 0; i < (size_t)r->n; i++) {
        for (size_t o = 0; o < out; o++)
            check_sum(r, "y", i * out + o, r->y[i * out + o], (double)r->params[in * out + o],
                      r->in, r->x + i * in, 1, r->params + o * in, 1);
        for (size_t j = 0; j < in; j++)
            check_sum(r, "dx", i * in + j, r->dx[i * in + j], 0, r->out, r->dy + i * out, 1,
                      r->params + j, in);
    }
    for (size_t o = 0; o < out; o++) {
        for (size_t j = 0; j < in; j++)
            check_sum(r, "dw", o * in + j, r->dparams[o * in + j],
                      before != NULL ? (double)before[o * in + j] : 0, r->n, r->dy + o, out,
                      r->x + j, in);
        size_t at = in * out + o;
        check_sum(r, "db", at, r->dparams[at], before != NULL ? (double)before[at] : 0, r->n,
                  r->dy + o, out, &one, 0);
    }
}

/* Whole and partial blocks, one or several slices of weights, odd numbers of everything. */
static const struct {
    int in, out, n;
} cases[] = {{1, 32, 1}, {33, 35, 3}, {64, 96, 32}, {301, 64, 7}, {70, 265, 33}, {513, 33, 2}};
enum { CASES = sizeof cases / sizeof *cases };

static void products_are_within_their_bound(void **state)
{
    for (int c = 0; c < CASES; c++)
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best_bf16(); isa++)
            for (int threads = 1; threads <= 3; threads++) {
                struct setup r;
                setup_begin(&r, cases[c].in, cases[c].out, cases[c].n, (enum isa)isa, threads);
                setup_run(&r);
                check_all(&r, NULL);
                setup_end(&r);
            }
}

static void accumulate_adds_to_gradients(void **state)
{
    for (int c = 0; c < CASES; c++) {
        struct setup r;
        setup_begin(&r, cases[c].in, cases[c].out, cases[c].n, isa_best_bf16(), 2);
        real *before = random_reals(r.desc.n_params, 6); /* as set by setup_begin */
        r.ex.accumulate = true;
        setup_run(&r);
        check_all(&r, before);
        mem_free(before);
        setup_end(&r);
    }
}

static void threads_change_no_bit(void **state)
{
    for (int c = 0; c < CASES; c++) {
        struct setup one, three;
        setup_begin(&one, cases[c].in, cases[c].out, cases[c].n, isa_best_bf16(), 1);
        setup_begin(&three, cases[c].in, cases[c].out, cases[c].n, isa_best_bf16(), 3);
        setup_run(&one);
        setup_run(&three);
        setup_run(&three);
        size_t x = (size_t)(cases[c].n * cases[c].in), y = (size_t)(cases[c].n * cases[c].out);
        assert_memory_equal(one.y, three.y, y * sizeof(real));
        assert_memory_equal(one.dx, three.dx, x * sizeof(real));
        assert_memory_equal(one.dparams, three.dparams, one.desc.n_params * sizeof(real));
        setup_end(&one);
        setup_end(&three);
    }
}

static const struct op_kernel *chosen(int outputs, enum plan plan, enum isa isa)
{
    struct net_desc desc;
    int taken = 0;
    begin_net(&desc, "one", (struct shape){50, 10, 10}, outputs);
    add_layer(&desc, dense_layer(outputs));
    struct extent read[2] = {{.h = 1, .w = 1}, {.h = 1, .w = 1}};
    const struct op_kernel *op = op_find(plan, isa, LAYOUT_NCHW, desc.layers, 1, read, &taken);
    assert_int_equal(taken, 1);
    net_desc_free(&desc);
    return op;
}

static void the_dense_op_is_chosen_with_wide_vectors(void **state)
{
    for (int isa = ISA_PORTABLE; isa < ISAS; isa++) {
        const struct op_kernel *wide = isa == ISA_PORTABLE ? &op_layer : &op_dense;
        assert_ptr_equal(chosen(31, PLAN_FAST, (enum isa)isa), &op_layer);
        assert_ptr_equal(chosen(32, PLAN_FAST, (enum isa)isa), wide);
        assert_ptr_equal(chosen(32, PLAN_EXACT, (enum isa)isa), &op_layer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_within_their_bound),
        cmocka_unit_test(accumulate_adds_to_gradients),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(the_dense_op_is_chosen_with_wide_vectors),
    };
    return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
