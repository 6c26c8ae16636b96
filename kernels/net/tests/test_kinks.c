/* Effect of rounding on a step's gradient, apart from kinks of ReLU and max pooling. If an
 * activation is within rounding of 0, or two are equal within rounding in a pooling window, either
 * decision is possible. The gradient of an image then changes by far more than rounding. That
 * happens in any float computation and is no error of a sum.
 *
 * The test reads the decisions of a plan and compares its gradient with the double-precision
 * gradient for the same decisions. Wherever a decision differs from double precision, the
 * activation must be within rounding of the kink.
 *
 *   test_kinks[_f64]                             the tests
 *   test_kinks_f64 --gradient NET SEED FILE      the gradient with the decisions in FILE, and the
 *                                                largest distance from a kink in double precision
 *
 * The float program runs its double twin, the file beside it. */
#include "kernels/net/tests/gradient_layers.h"
#include "kernels/net/tests/gradient_twin.h"

/* The bound, half of README's, applies to the norm of the whole gradient, which varies less between
 * seeds than a small tensor's. The seeds are not selected. */
static const struct gradient_case cases[] = {
    {"vgg_mini", 8, 5e-6, GRADIENT_PLAIN, {0}},
    {"vgg11_bn", 4, 5e-6, GRADIENT_PLAIN, {0}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const int seeds[CASES] = {12, 2};

/* Distance from a kink, relative to the layer's root mean square, within which decisions may
 * differ: ten times the error of vgg11_bn's last activations. */
#define NEAR 0x1p-15

/* ---- Which way activations fell ---- */

/* [bytes] decisions of all layers with kinks, in order. */
struct kinks {
    uint8_t *bytes;
    size_t n;
    size_t at[LAYERS_MAX]; /* offset of each layer's decisions in bytes */
};

static bool has_kinks(const struct layer_desc *l)
{
    return l->kind == LAYER_relu || l->kind == LAYER_maxpool2d;
}

static struct kinks kinks_make(const struct gradient_input *in)
{
    struct kinks k = {.n = 0};
    for (int i = 0; i < in->desc.n_layers; i++) {
        k.at[i] = k.n;
        if (has_kinks(&in->desc.layers[i]))
            k.n += (size_t)in->about.images * shape_count(in->desc.layers[i].out);
    }
    k.bytes = allocate(k.n);
    return k;
}

/* y <- the output of the first n_layers layers. */
static void first_layers(const struct gradient_input *in, enum isa isa, int n_layers, real *y)
{
    struct net_desc desc = in->desc;
    struct exec ex = gradient_exec(in);
    struct error e = {0};
    struct net *net = NULL;
    int n = in->about.images;
    const struct net_options options = {
        .plan = PLAN_FAST, .isa = isa, .n_max = n, .threads = 1, .slots = 1};
    desc.n_layers = n_layers;
    if (net_create(&net, &desc, &options, &e) != OK)
        fail_msg("%s", e.text);
    net_load(net, &ex, 0, n, in->images);
    net_forward(net, &ex, 0, 0, net_ops(net), in->params);
    memcpy(y, net_logits(net, 0),
           (size_t)n * shape_count(desc.layers[n_layers - 1].out) * sizeof *y);
    net_destroy(net);
}

/* Sets the decisions of a layer for inputs x, and its outputs y. */
static void fall(const struct layer_desc *l, size_t n, const real *x, uint8_t *kinks, real *y)
{
    size_t places = l->kind == LAYER_relu ? 1 : (size_t)(l->kernel_h * l->kernel_w);
    for (size_t o = 0; o < n * shape_count(l->out); o++) {
        kinks[o] = l->kind == LAYER_relu && x[o] > 0;
        for (size_t k = 1; k < places; k++)
            if (x[chain_source(l, o, (uint8_t)k)] > x[chain_source(l, o, kinks[o])])
                kinks[o] = (uint8_t)k;
        real taken = x[chain_source(l, o, kinks[o])];
        y[o] = l->kind == LAYER_relu && !kinks[o] ? 0 : taken;
    }
}

/* Reads the decisions of the plan, layer by layer, from the inputs of each layer with kinks. Checks
 * that they reproduce the plan's outputs. */
static void read_decisions(const struct gradient_input *in, enum isa isa, struct kinks *k)
{
    const struct net_desc *d = &in->desc;
    size_t n = (size_t)in->about.images, most = 0;
    for (int i = 0; i < d->n_layers; i++)
        most = shape_count(d->layers[i].out) > most ? shape_count(d->layers[i].out) : most;
    real *x = allocate(n * most * sizeof *x), *y = allocate(n * most * sizeof *y);
    for (int i = 0; i < d->n_layers; i++) {
        if (!has_kinks(&d->layers[i]))
            continue;
        first_layers(in, isa, i, x);
        for (; has_kinks(&d->layers[i]); i++) {
            fall(&d->layers[i], n, x, k->bytes + k->at[i], y);
            memcpy(x, y, n * shape_count(d->layers[i].out) * sizeof *x);
        }
        first_layers(in, isa, i, y);
        assert_memory_equal(x, y, n * shape_count(d->layers[i - 1].out) * sizeof *x);
    }
    mem_free(x);
    mem_free(y);
}

/* ---- The gradient that goes the same way ---- */

#ifdef SCALEBENCH_F64

/* Returns the largest distance from its kink of an activation with a forced decision, relative to
 * its layer's root mean square. */
static double largest_distance_from_kink(const struct layer_chain *c)
{
    double farthest = 0;
    for (int i = 0; i < c->in->desc.n_layers; i++) {
        const struct layer_desc *l = &c->in->desc.layers[i];
        size_t n = (size_t)c->in->about.images, in = n * shape_count(l->in);
        if (!has_kinks(l))
            continue;
        real *y = allocate(n * shape_count(l->out) * sizeof *y);
        uint8_t *own = allocate(n * shape_count(l->out));
        double size = norm_of_reals(c->value[i], in) / sqrt((double)in);
        fall(l, n, c->value[i], own, y);
        for (size_t o = 0; o < n * shape_count(l->out); o++) {
            double mine = (double)y[o], told = (double)c->value[i + 1][o];
            farthest = fmax(farthest, fabs(mine - told) / size);
        }
        mem_free(y);
        mem_free(own);
    }
    return farthest;
}

static void same_way(const struct gradient_input *in, const struct kinks *k, real *grads,
                     double *farthest)
{
    struct layer_chain c = {.in = in, .ex = gradient_exec(in)};
    assert_true(in->desc.n_layers <= LAYERS_MAX);
    for (int i = 0; i < in->desc.n_layers; i++)
        c.kinks[i] = has_kinks(&in->desc.layers[i]) ? k->bytes + k->at[i] : NULL;
    chain_forward(&c);
    chain_backward(&c, grads);
    *farthest = largest_distance_from_kink(&c);
    chain_free(&c);
}

/* Factor of float's bounds in the double build. 4: the oracle rounds as much as the plan, in long
 * chains. */
static const double unit = 4 * 0x1p-29;

static bool oracle_runs(void)
{
    return true;
}

static void run_oracle(const struct gradient_input *in, const struct kinks *k, double *grads,
                       double *farthest)
{
    same_way(in, k, grads, farthest);
}

static int run_command(int argc, char **argv)
{
    for (int i = 0; i < CASES && argc == 5 && strcmp(argv[1], "--gradient") == 0; i++) {
        struct gradient_input in;
        double farthest;
        if (strcmp(argv[2], cases[i].net) != 0)
            continue;
        gradient_input_make(&in, cases[i], strtoull(argv[3], NULL, 10));
        struct kinks k = kinks_make(&in);
        real *grads = allocate(in.desc.n_params * sizeof *grads);
        FILE *file = fopen(argv[4], "r");
        if (!file || fread(k.bytes, 1, k.n, file) != k.n)
            return 1;
        fclose(file);
        same_way(&in, &k, grads, &farthest);
        fwrite(grads, sizeof *grads, in.desc.n_params, stdout);
        fwrite(&farthest, sizeof farthest, 1, stdout);
        mem_free(grads);
        mem_free(k.bytes);
        gradient_input_free(&in);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    return argc == 2 && strcmp(argv[1], "--here") == 0 ? 0 : 2;
}

#else

static const double unit = 1;

static bool oracle_runs(void)
{
    return twin_runs();
}

static void run_oracle(const struct gradient_input *in, const struct kinks *k, double *grads,
                       double *farthest)
{
    char path[] = "/tmp/scalebench-kinks-XXXXXX", question[200];
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, k->bytes, k->n) == (ssize_t)k->n && close(fd) == 0);
    snprintf(question, sizeof question, "--gradient %s %llu %s", in->about.net,
             (unsigned long long)in->seed, path);
    FILE *twin = ask_twin(question);
    assert_non_null(twin);
    assert_int_equal(fread(grads, sizeof *grads, in->desc.n_params, twin), in->desc.n_params);
    assert_int_equal(fread(farthest, sizeof *farthest, 1, twin), 1);
    assert_int_equal(pclose(twin), 0);
    unlink(path);
}

static int run_command(int argc, char **argv)
{
    return 2;
}

#endif

/* ---- The test ---- */

static double error_of(const struct gradient_input *in, const real *grads, const double *expected)
{
    double off = 0, size = 0;
    for (size_t i = 0; i < in->desc.n_params; i++) {
        off += ((double)grads[i] - expected[i]) * ((double)grads[i] - expected[i]);
        size += expected[i] * expected[i];
    }
    return sqrt(off / size);
}

static void check_seed(const struct gradient_case *about, uint64_t seed, enum isa isa)
{
    struct gradient_input in;
    double farthest;
    gradient_input_make(&in, *about, seed);
    struct kinks k = kinks_make(&in);
    real *grads = allocate(in.desc.n_params * sizeof *grads);
    double *expected = allocate(in.desc.n_params * sizeof *expected);
    read_decisions(&in, isa, &k);
    gradient_by_plan(&in, PLAN_FAST, isa, grads);
    run_oracle(&in, &k, expected, &farthest);
    double error = error_of(&in, grads, expected);
    if (!(error <= about->bound * unit))
        fail_msg("%s, seed %llu, %s: off by %.3g of its norm", about->net, (unsigned long long)seed,
                 isa_names()[isa], error);
    if (!(farthest <= NEAR * unit))
        fail_msg("%s, seed %llu, %s: fell another way %.3g from a kink", about->net,
                 (unsigned long long)seed, isa_names()[isa], farthest);
    mem_free(grads);
    mem_free(expected);
    mem_free(k.bytes);
    gradient_input_free(&in);
}

static void check_net(void **state)
{
    const struct gradient_case *about = *state;
    if (!oracle_runs()) {
        print_message("test_kinks_f64 does not run here\n");
        skip();
    }
    for (int seed = 1; seed <= seeds[about - cases]; seed++)
        check_seed(about, (uint64_t)seed, isa_best());
    for (int isa = ISA_PORTABLE; isa < (int)isa_best() && about == cases; isa++)
        check_seed(about, 1, (enum isa)isa);
}

int main(int argc, char **argv)
{
    fp_mode_set();
    gemm_init();
    if (argc > 1)
        return run_command(argc, argv);
    struct CMUnitTest tests[CASES];
    for (int i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].net, .test_func = check_net, .initial_state = (void *)&cases[i]};
    return cmocka_run_group_tests_name("kinks", tests, NULL, NULL);
}
