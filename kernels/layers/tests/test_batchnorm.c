/* Batch norm against PyTorch's formulas in double, on one rank and on two ranks that share a
 * batch. */
#include "kernels/tests/support.h"

#include <stdlib.h>

enum { IMAGES_MAX = 13 };

/* One layer with a batch and its arenas. */
struct setup {
    struct net_desc desc;
    const struct layer_desc *layer;
    const struct layer_kernel *kernel;
    struct pool *pool;
    int n;
    size_t channels, plane, all; /* all: numbers in x */
    real *x, *y, *dx, *dy, *params, *dparams, buffers[64], weights[IMAGES_MAX];
    void *saved, *scratch;
    struct exec ex;
};

static const struct shape shapes[] = {{1, 1, 1}, {1, 5, 5}, {3, 7, 5}, {2, 1, 1}, {13, 3, 3}};
static const int images[] = {1, 1, 7, 13, 2};
enum { CASES = sizeof images / sizeof *images };

static void setup_begin(struct setup *r, struct shape in, int n, enum plan plan, int threads)
{
    *r = (struct setup){.n = n, .channels = (size_t)in.c, .plane = (size_t)in.h * (size_t)in.w};
    begin_net(&r->desc, "norm", in, 2);
    add_layer(&r->desc, layer_desc_preset(LAYER_batchnorm2d));
    r->layer = &r->desc.layers[0];
    r->kernel = layer_kernel_get(LAYER_batchnorm2d, plan);
    r->pool = make_pool(threads);
    r->all = (size_t)n * shape_count(in);
    r->x = random_reals(r->all, 1);
    r->dy = random_reals(r->all, 2);
    r->params = random_reals(r->desc.n_params, 3);
    r->y = random_reals(r->all, 4);
    r->dx = random_reals(r->all, 5);
    r->dparams = random_reals(r->desc.n_params, 6);
    r->saved = mem_alloc(layer_saved_bytes(r->kernel, r->layer, n));
    r->scratch = mem_alloc(layer_scratch_bytes(r->kernel, r->layer, n, threads));
    for (size_t c = 0; c < r->channels; c++) { /* statistics as after some batches */
        r->buffers[c] = (real)0.25;
        r->buffers[r->channels + c] = (real)0.5;
    }
    r->ex = (struct exec){.pool = r->pool, .training = true, .buffers = r->buffers};
}

static void setup_end(struct setup *r)
{
    mem_free(r->x);
    mem_free(r->y);
    mem_free(r->dx);
    mem_free(r->dy);
    mem_free(r->params);
    mem_free(r->dparams);
    mem_free(r->saved);
    mem_free(r->scratch);
    pool_destroy(r->pool);
    net_desc_free(&r->desc);
}

static struct layer_call setup_call(struct setup *r)
{
    return (struct layer_call){.ex = &r->ex,
                               .layer = r->layer,
                               .n = r->n,
                               .y = r->y,
                               .x = r->x,
                               .dx = r->dx,
                               .dy = r->dy,
                               .params = r->params,
                               .dparams = r->dparams,
                               .saved = r->saved,
                               .scratch = r->scratch};
}

static void setup_forward(struct setup *r)
{
    struct layer_call call = setup_call(r);
    r->kernel->forward(&call);
}

static void setup_backward(struct setup *r)
{
    struct layer_call call = setup_call(r);
    r->kernel->backward(&call);
}

/* ---- The formulas ---- */

/* Expected results of one channel, and bounds of their errors. Statistics are sums of k numbers in
 * double, each off by (k + 8) roundings. If the variance is small compared with the mean square
 * around the running mean, errors grow by `magnified`. All that follows is at most eight roundings
 * in `real`. */
struct channel {
    double count, mean, var, deviation, dweight, dbias;
    double magnified, dy_absolute, dyz_absolute;
};

static size_t at(const struct setup *r, int image, size_t c, size_t j)
{
    return ((size_t)image * r->channels + c) * r->plane + j;
}

#define FOR_CHANNEL(r, i, j)                                                                       \
    for (int i = 0; i < (r)->n; i++)                                                               \
        for (size_t j = 0; j < (r)->plane; j++)

static struct channel channel_of(const struct setup *r, size_t c)
{
    struct channel k = {.count = r->n * (double)r->plane};
    FOR_CHANNEL(r, i, j) k.mean += (double)r->x[at(r, i, c, j)] / k.count;
    FOR_CHANNEL(r, i, j) k.var += pow((double)r->x[at(r, i, c, j)] - k.mean, 2) / k.count;
    k.deviation = sqrt(k.var + 1e-5);
    FOR_CHANNEL(r, i, j)
    {
        double dy = (double)r->dy[at(r, i, c, j)];
        double x = (double)r->x[at(r, i, c, j)], z = (x - k.mean) / k.deviation;
        k.dweight += dy * z;
        k.dbias += dy;
        k.dy_absolute += fabs(dy);
        k.dyz_absolute += fabs(dy) * (fabs(x) + fabs(k.mean)) / k.deviation;
    }
    double shifted = k.var + pow(fabs(k.mean) + 1, 2); /* around some number below 1 */
    k.magnified = (k.count + 8) * 0x1p-52 * (1 + shifted / (k.var + 1e-5));
    return k;
}

static void assert_near(const char *what, double found, double expected, double bound)
{
    if (!(fabs(found - expected) <= bound))
        fail_msg("%s: %.17g, expected %.17g, bound %.3g", what, found, expected, bound);
}

static void check_channel(const struct setup *r, size_t c)
{
    const double relative = 8 * REAL_EPSILON;
    struct channel k = channel_of(r, c);
    double weight = (double)r->params[c], bias = (double)r->params[r->channels + c];
    FOR_CHANNEL(r, i, j)
    {
        double x = (double)r->x[at(r, i, c, j)], dy = (double)r->dy[at(r, i, c, j)];
        double z = (x - k.mean) / k.deviation, scale = weight / k.deviation;
        double size = (fabs(x) + fabs(k.mean)) / k.deviation;
        assert_near("y", (double)r->y[at(r, i, c, j)], z * weight + bias,
                    (relative + k.magnified) * (size * fabs(weight) + fabs(bias)));
        double dx = scale * (dy - k.dbias / k.count - z * k.dweight / k.count);
        double terms = fabs(dy) + (k.dy_absolute + size * k.dyz_absolute) / k.count;
        assert_near("dx", (double)r->dx[at(r, i, c, j)], dx,
                    (relative + 2 * k.magnified) * fabs(scale) * terms);
    }
    assert_near("dweight", (double)r->dparams[c], k.dweight,
                relative * fabs(k.dweight) + k.magnified * k.dyz_absolute);
    assert_near("dbias", (double)r->dparams[r->channels + c], k.dbias,
                relative * fabs(k.dbias) + k.magnified * k.dy_absolute);
    assert_near("running mean", (double)r->buffers[c], 0.9 * 0.25 + 0.1 * k.mean, relative);
    double unbiased = k.count > 1 ? k.var * k.count / (k.count - 1) : 0.5;
    assert_near("running variance", (double)r->buffers[r->channels + c], 0.9 * 0.5 + 0.1 * unbiased,
                relative);
}

static void both_plans_follow_pytorch(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        for (int i = 0; i < CASES; i++) {
            for (int threads = 1; threads <= 3; threads += 2) {
                struct setup r;
                setup_begin(&r, shapes[i], images[i], (enum plan)plan, threads);
                setup_forward(&r);
                setup_backward(&r);
                for (size_t c = 0; c < r.channels; c++)
                    check_channel(&r, c);
                setup_end(&r);
            }
        }
    }
}

#ifdef SCALEBENCH_F64
static double weighted_output(struct setup *r)
{
    double sum = 0;
    setup_forward(r);
    for (size_t i = 0; i < r->all; i++)
        sum += r->dy[i] * r->y[i];
    return sum;
}

static double central_difference(struct setup *r, real *value, double h)
{
    real kept = *value;
    *value = kept + h;
    double above = weighted_output(r);
    *value = kept - h;
    double below = weighted_output(r);
    *value = kept;
    return (above - below) / (2 * h);
}

/* Richardson's extrapolation of two central differences. The error is h^4/30 = 8e-12 times a fifth
 * derivative, which is below 1000 for numbers in [-1, 1). Rounding adds about 1e-13/h = 3e-11. */
static void check_differences(struct setup *r, real *values, const real *gradient, size_t n)
{
    const double h = 0x1p-8;
    for (size_t i = 0; i < n; i++) {
        double coarse = central_difference(r, &values[i], h);
        double fine = central_difference(r, &values[i], h / 2);
        assert_near("difference", (4 * fine - coarse) / 3, gradient[i], 1e-8);
    }
}

static void gradients_are_finite_differences(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        for (int fixed = 0; fixed <= 1; fixed++) {
            struct setup r;
            setup_begin(&r, (struct shape){2, 3, 5}, 3, (enum plan)plan, 1);
            r.ex.fixed_statistics = fixed;
            setup_forward(&r);
            setup_backward(&r);
            check_differences(&r, r.x, r.dx, r.all);
            check_differences(&r, r.params, r.dparams, r.desc.n_params);
            setup_end(&r);
        }
    }
}
#endif

/* ---- Which statistics ---- */

static void evaluation_and_fixed_statistics_use_the_running_ones(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        struct setup r;
        setup_begin(&r, (struct shape){3, 4, 4}, 5, (enum plan)plan, 1);
        real *evaluated = mem_alloc(r.all * sizeof(real));
        r.ex.training = false;
        setup_forward(&r);
        memcpy(evaluated, r.y, r.all * sizeof(real));
        r.ex.training = r.ex.fixed_statistics = true;
        setup_forward(&r);
        assert_memory_equal(r.y, evaluated, r.all * sizeof(real));
        setup_backward(&r);
        for (size_t i = 0; i < r.all; i++) {
            size_t c = i / r.plane % r.channels;
            double scale = (double)r.params[c] / sqrt(0.5 + 1e-5);
            double y = ((double)r.x[i] - 0.25) * scale + (double)r.params[3 + c];
            assert_near("y", (double)r.y[i], y, 8 * REAL_EPSILON * 4);
            assert_near("dx", (double)r.dx[i], (double)r.dy[i] * scale, 4 * REAL_EPSILON * 2);
        }
        for (size_t c = 0; c < 3; c++)
            assert_true(r.buffers[c] == (real)0.25 && r.buffers[3 + c] == (real)0.5);
        mem_free(evaluated);
        setup_end(&r);
    }
}

/* Images of weight 0 neither change the statistics nor have a gradient. */
static void padding_has_no_part_in_a_batch(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        struct setup five, seven;
        const struct shape in = {3, 4, 5};
        setup_begin(&five, in, 5, (enum plan)plan, 1);
        setup_begin(&seven, in, 7, (enum plan)plan, 3);
        seven.ex.weights = seven.weights;
        for (int i = 0; i < 7; i++)
            seven.weights[i] = i < 5;
        for (size_t i = five.all; i < seven.all; i++)
            seven.dy[i] = 0; /* as the loss sets it */
        setup_forward(&five);
        setup_backward(&five);
        setup_forward(&seven);
        setup_backward(&seven);
        assert_memory_equal(five.y, seven.y, five.all * sizeof(real));
        assert_memory_equal(five.dx, seven.dx, five.all * sizeof(real));
        assert_memory_equal(five.dparams, seven.dparams, five.desc.n_params * sizeof(real));
        assert_memory_equal(five.buffers, seven.buffers, sizeof five.buffers);
        for (size_t i = five.all; i < seven.all; i++)
            assert_true(seven.dx[i] == 0);
        setup_end(&five);
        setup_end(&seven);
    }
}

static void a_batch_of_padding_keeps_the_statistics(void **state)
{
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        struct setup r;
        setup_begin(&r, (struct shape){2, 3, 3}, 1, (enum plan)plan, 1);
        r.ex.weights = r.weights; /* all 0: every image is padding */
        setup_forward(&r);
        setup_backward(&r);
        for (size_t i = 0; i < r.all; i++)
            assert_true(isfinite(r.y[i]) && r.dx[i] == 0);
        assert_true(r.buffers[0] == (real)0.25 && r.buffers[2] == (real)0.5);
        setup_end(&r);
    }
}

/* ---- Two ranks ---- */

enum { SUMS_MAX = 8, NUMBERS_MAX = 64 };

/* Simulates two ranks in turn: a pass is repeated, and each time one more of its group sums is
 * known. */
struct exchange {
    int known, call;
    double total[SUMS_MAX][NUMBERS_MAX], next[NUMBERS_MAX];
};

static enum status exchange_sum(void *arg, double *values, size_t n)
{
    struct exchange *x = arg;
    assert_true(n <= NUMBERS_MAX && x->call < SUMS_MAX);
    if (x->call < x->known)
        memcpy(values, x->total[x->call], n * sizeof *values);
    for (size_t i = 0; i < n && x->call == x->known; i++)
        x->next[i] += values[i];
    x->call++;
    return OK;
}

/* Runs a pass on both ranks until all its sums include both ranks. */
static void run_both(struct setup ranks[2], struct exchange *x, void (*pass)(struct setup *))
{
    real before[64];
    memcpy(before, ranks[0].buffers, sizeof before);
    for (*x = (struct exchange){0}, x->call = 1; x->known <= x->call; x->known++) {
        memset(x->next, 0, sizeof x->next);
        for (int r = 0; r < 2; r++) {
            memcpy(ranks[r].buffers, before, sizeof before);
            x->call = 0;
            pass(&ranks[r]);
        }
        memcpy(x->total[x->known], x->next, sizeof x->next);
    }
}

static void assert_part(const struct setup *whole, const struct setup *part, size_t first)
{
    const double bound = 64 * REAL_EPSILON; /* numbers of order 1, statistics in double */
    for (size_t i = 0; i < part->all; i++) {
        assert_near("y", (double)part->y[i], (double)whole->y[first + i], bound);
        assert_near("dx", (double)part->dx[i], (double)whole->dx[first + i], bound);
    }
}

static void two_ranks_share_a_batch(void **state)
{
    const struct shape in = {3, 4, 5};
    for (int plan = PLAN_REFERENCE; plan <= PLAN_FAST; plan++) {
        struct setup whole, ranks[2];
        struct exchange exchange;
        setup_begin(&whole, in, 7, (enum plan)plan, 1);
        for (int r = 0; r < 2; r++) {
            setup_begin(&ranks[r], in, 3 + r, (enum plan)plan, 1 + r);
            size_t first = (size_t)r * ranks[0].all;
            memcpy(ranks[r].x, whole.x + first, ranks[r].all * sizeof(real));
            memcpy(ranks[r].dy, whole.dy + first, ranks[r].all * sizeof(real));
            ranks[r].ex.group_sum = exchange_sum;
            ranks[r].ex.group_arg = &exchange;
        }
        setup_forward(&whole);
        setup_backward(&whole);
        run_both(ranks, &exchange, setup_forward);
        run_both(ranks, &exchange, setup_backward);
        assert_part(&whole, &ranks[0], 0);
        assert_part(&whole, &ranks[1], ranks[0].all);
        assert_memory_equal(ranks[0].buffers, ranks[1].buffers, sizeof whole.buffers);
        for (size_t i = 0; i < 6; i++) {
            assert_near("buffer", (double)ranks[0].buffers[i], (double)whole.buffers[i],
                        4 * REAL_EPSILON);
            assert_near("gradient", (double)(ranks[0].dparams[i] + ranks[1].dparams[i]),
                        (double)whole.dparams[i], 64 * REAL_EPSILON * 140);
        }
        setup_end(&whole);
        setup_end(&ranks[0]);
        setup_end(&ranks[1]);
    }
}

static void buffers_start_at_zero_and_one(void **state)
{
    struct setup r;
    setup_begin(&r, (struct shape){3, 2, 2}, 1, PLAN_FAST, 1);
    net_init_buffers(&r.desc, r.buffers);
    net_init_params(&r.desc, r.params, 9);
    for (size_t c = 0; c < 3; c++) {
        assert_true(r.buffers[c] == 0 && r.buffers[3 + c] == 1);
        assert_true(r.params[c] == 1 && r.params[3 + c] == 0);
    }
    setup_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_plans_follow_pytorch),
#ifdef SCALEBENCH_F64
        cmocka_unit_test(gradients_are_finite_differences),
#endif
        cmocka_unit_test(evaluation_and_fixed_statistics_use_the_running_ones),
        cmocka_unit_test(padding_has_no_part_in_a_batch),
        cmocka_unit_test(a_batch_of_padding_keeps_the_statistics),
        cmocka_unit_test(two_ranks_share_a_batch),
        cmocka_unit_test(buffers_start_at_zero_and_one),
    };
    return cmocka_run_group_tests_name("batchnorm", tests, NULL, NULL);
}
