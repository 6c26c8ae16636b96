/* Error of a step's gradient in float relative to double precision, for each tensor, net, plan and
 * instruction set. Also compared with PyTorch's results for the same weights and images, recorded
 * in gradients.csv by bench/tests/lib/pytorch_gradients.py.
 *
 *   test_gradients[_f64]                             the tests
 *   test_gradients_f64 --gradient NET KIND SEED      the oracle's gradient and bounds, doubles
 *   test_gradients_f64 --input NET SEED              a line of JSON about net and arrays, the arrays
 *   test_gradients --seeds NET                       the seeds of a net, one per line
 *   test_gradients --sets                            the instruction sets of this processor
 *   test_gradients --errors NET PLAN ISA SEED        per tensor: norm of its error, its norm
 *
 * The float program runs its double twin, the file beside it. If the twin cannot run, as under an
 * emulator of a single process, its tests are skipped. */
#include "kernels/net/tests/gradient_layers.h"
#include "kernels/net/tests/gradient_rows.h"
#include "kernels/net/tests/gradient_twin.h"
#include "kernels/net/tests/gradient_write.h"

#include "kernels/base/names.h"

/* With these seeds, found by pytorch_gradients.py, no activation is so close to a kink that
 * rounding could cross it. */
static const struct gradient_case cases[] = {
    {"softmax_784", 8, 1e-5, GRADIENT_PLAIN, {1, 2, 3}},
    {"keras_690k", 4, 1e-5, GRADIENT_PLAIN, {17, 18, 38}},
    {"lenet_21k", 8, 1e-5, GRADIENT_PLAIN, {5, 21, 26}},
    {"cifar_62k", 8, 1e-5, GRADIENT_PLAIN, {5, 9, 12}},
    {"keras_1200k", 4, 1e-5, GRADIENT_PLAIN, {6, 17, 8}},
    {"vgg_mini", 8, 1e-5, GRADIENT_PLAIN, {30, 22, 2}},
    {"vgg11_bn", 2, 1e-5, GRADIENT_PLAIN, {2, 42, 23}},
    {"keras_690k", 4, 1e-5, GRADIENT_DROPOUT, {17}},
    {"lenet_21k", 8, 1e-5, GRADIENT_DROPOUT, {5}},
    {"keras_1200k", 4, 1e-5, GRADIENT_DROPOUT, {6}},
    {"keras_690k", 4, 1e-5, GRADIENT_BLANK, {12, 42, 14}},
    {"keras_1200k", 4, 1e-5, GRADIENT_BLANK, {12, 22, 59}},
    {"lenet_21k", 8, 1e-5, GRADIENT_BLANK, {1, 42, 21}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static int seeds_of(const struct gradient_case *c)
{
    int n = 0;
    while (n < SEEDS && c->seed[n] != 0)
        n++;
    return n;
}

static const struct gradient_case *find_case(const char *net, int kind)
{
    for (int i = 0; i < CASES; i++)
        if (strcmp(cases[i].net, net) == 0 && (int)cases[i].kind == kind)
            return &cases[i];
    return NULL;
}

#ifdef SCALEBENCH_F64

/* Signs that look random but are the same everywhere: bit 16 of 2654435761 i modulo 2^32. */
static double projection(const real *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint32_t)i * UINT32_C(2654435761) >> 16 & 1 ? g[i] : -g[i];
    return sum;
}

/* Returns a case's bound for double precision. */
static double bound_in_double(const struct gradient_case *c)
{
    return c->bound * 0x1p-29;
}

/* Compares norm and projection with PyTorch's gradient in double. The norm of the error must be
 * within our bound plus PyTorch's own error. The projection of an error is a sum with random signs,
 * beyond six times its norm once in 10^9. */
static void check_recorded(const struct gradient_input *in, const struct row *row,
                           const real *grads, const double *zero_bounds)
{
    if (row->images != in->about.images || row->hash != gradient_input_hash(in))
        fail_msg("gradients.csv: %s is of other weights or images; record it anew", row->net);
    for (int t = 0; t < in->desc.n_tensors; t++, row++) {
        const struct tensor_desc *tensor = &in->desc.tensors[t];
        const real *g = grads + tensor->offset;
        double off = 2 * bound_in_double(&in->about) * row->norm + zero_bounds[t] * 0x1p-29;
        double norm = norm_of_reals(g, tensor->count), sum = projection(g, tensor->count);
        if (!(fabs(norm - row->norm) <= off) || !(fabs(sum - row->projection) <= 6 * off))
            fail_msg("%s %s: norm %.17g, projection %.17g; PyTorch's %.17g, %.17g", row->net,
                     row->tensor, norm, sum, row->norm, row->projection);
    }
}

/* Returns grads [n_params] and bounds [n_tensors] of gradient_by_layers; free with mem_free. */
static void run_oracle(const struct gradient_input *in, real **grads, double **bounds)
{
    *grads = allocate(in->desc.n_params * sizeof **grads);
    *bounds = allocate((size_t)in->desc.n_tensors * sizeof **bounds);
    gradient_by_layers(in, *grads, *bounds);
}

static void the_oracle_is_pytorch_in_double(void **state)
{
    static struct row rows[ROWS_MAX];
    int n = read_rows(rows);
    for (int i = 0; i < CASES; i++) {
        for (int s = 0; s < seeds_of(&cases[i]) && cases[i].kind == GRADIENT_PLAIN; s++) {
            struct gradient_input in;
            real *grads;
            double *bounds;
            gradient_input_make(&in, cases[i], cases[i].seed[s]);
            run_oracle(&in, &grads, &bounds);
            check_recorded(&in, rows_of(rows, n, &in), grads, bounds);
            mem_free(grads);
            mem_free(bounds);
            gradient_input_free(&in);
        }
    }
}

static int write_gradient(const char *net, int kind, uint64_t seed)
{
    const struct gradient_case *c = find_case(net, kind);
    struct gradient_input in;
    real *grads;
    double *bounds;
    if (!c)
        return 2;
    gradient_input_make(&in, *c, seed);
    run_oracle(&in, &grads, &bounds);
    size_t n_tensors = (size_t)in.desc.n_tensors;
    bool written = fwrite(grads, sizeof *grads, in.desc.n_params, stdout) == in.desc.n_params &&
                   fwrite(bounds, sizeof *bounds, n_tensors, stdout) == n_tensors;
    mem_free(grads);
    mem_free(bounds);
    gradient_input_free(&in);
    return written && fflush(stdout) == 0 ? 0 : 1;
}

static int write_input(const char *net, uint64_t seed)
{
    const struct gradient_case *c = find_case(net, GRADIENT_PLAIN);
    struct gradient_input in;
    if (!c)
        return 2;
    gradient_input_make(&in, *c, seed);
    size_t n = (size_t)c->images, bytes = n * shape_count(in.desc.input);
    write_about(&in, bytes);
    for (size_t i = 0; i < in.desc.n_params; i++) {
        float w = (float)in.params[i];
        fwrite(&w, sizeof w, 1, stdout);
    }
    fwrite(in.images, 1, bytes, stdout);
    fwrite(in.labels, 1, n, stdout);
    gradient_input_free(&in);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int run_command(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--gradient") == 0)
        return write_gradient(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "--input") == 0)
        return write_input(argv[2], strtoull(argv[3], NULL, 10));
    return argc == 2 && strcmp(argv[1], "--here") == 0 ? 0 : 2;
}

#else

/* Reads the twin's gradient [n_params] and bounds [n_tensors]. */
static void read_gradient(const struct gradient_input *in, double *grads, double *bounds)
{
    char question[200];
    snprintf(question, sizeof question, "--gradient %s %d %llu", in->about.net, (int)in->about.kind,
             (unsigned long long)in->seed);
    FILE *twin = ask_twin(question);
    assert_non_null(twin);
    size_t n_tensors = (size_t)in->desc.n_tensors;
    assert_int_equal(fread(grads, sizeof *grads, in->desc.n_params, twin), in->desc.n_params);
    assert_int_equal(fread(bounds, sizeof *bounds, n_tensors, twin), n_tensors);
    assert_int_equal(pclose(twin), 0);
}

static double norm(const double *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += g[i] * g[i];
    return sqrt(sum);
}

static double distance(const real *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum);
}

/* A case with the twin's gradient and room for the float gradient. */
struct setup {
    struct gradient_input in;
    double *expected, *zero_bounds;
    real *grads;
};

static void setup_begin(struct setup *r, const struct gradient_case *c, uint64_t seed)
{
    gradient_input_make(&r->in, *c, seed);
    r->expected = allocate(r->in.desc.n_params * sizeof(double));
    r->zero_bounds = allocate((size_t)r->in.desc.n_tensors * sizeof(double));
    r->grads = allocate(r->in.desc.n_params * sizeof(real));
    read_gradient(&r->in, r->expected, r->zero_bounds);
}

static void setup_end(struct setup *r)
{
    mem_free(r->expected);
    mem_free(r->zero_bounds);
    mem_free(r->grads);
    gradient_input_free(&r->in);
}

static double error_of(const struct setup *r, int tensor)
{
    const struct tensor_desc *t = &r->in.desc.tensors[tensor];
    return distance(r->grads + t->offset, r->expected + t->offset, t->count);
}

static const char *const kind_texts[] = {"", " with dropout", " with blank areas"};

static void check_plan(struct setup *r, enum plan plan, enum isa isa, enum kernel_choice choice)
{
    gradient_by_choice(&r->in, plan, isa, choice, r->grads);
    for (int t = 0; t < r->in.desc.n_tensors; t++) {
        const struct tensor_desc *tensor = &r->in.desc.tensors[t];
        bool zero = tensor_is_without_gradient(&r->in.desc, t);
        double size = norm(r->expected + tensor->offset, tensor->count);
        double bound = zero ? r->zero_bounds[t] : r->in.about.bound * size;
        double error = error_of(r, t);
        if (!(error <= bound))
            fail_msg("%s%s, plan %d, %s, choice %d, %s: error %.3g of norm %.3g, bound %.3g",
                     r->in.about.net, kind_texts[r->in.about.kind], (int)plan, isa_names()[isa],
                     (int)choice, tensor->name, error, size, bound);
    }
}

/* Sums [n_tensors] of squared errors over the seeds of a net, ours and PyTorch's. Ours: the exact
 * plan with default kernels, and with matrix products wherever possible. */
struct comparison {
    double ours[ISAS][TENSORS_MAX], gemm[ISAS][TENSORS_MAX], theirs[TENSORS_MAX];
};

static void add_errors(struct comparison *c, struct setup *r, const struct row *rows)
{
    for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++) {
        gradient_by_plan(&r->in, PLAN_EXACT, (enum isa)isa, r->grads);
        for (int t = 0; t < r->in.desc.n_tensors; t++)
            c->ours[isa][t] += error_of(r, t) * error_of(r, t);
        gradient_by_choice(&r->in, PLAN_EXACT, (enum isa)isa, CHOICE_gemm, r->grads);
        for (int t = 0; t < r->in.desc.n_tensors; t++)
            c->gemm[isa][t] += error_of(r, t) * error_of(r, t);
    }
    for (int t = 0; t < r->in.desc.n_tensors; t++)
        c->theirs[t] += rows[t].error * rows[t].error;
}

static void compare_errors(const struct comparison *c, const struct row *rows, int n_tensors)
{
    for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++)
        for (int t = 0; t < n_tensors; t++)
            if (!(fmax(c->ours[isa][t], c->gemm[isa][t]) <= 4 * c->theirs[t]))
                fail_msg("%s, %s, %s: error %.3g, with matrix products %.3g, PyTorch's %.3g",
                         rows[t].net, isa_names()[isa], rows[t].tensor, sqrt(c->ours[isa][t]),
                         sqrt(c->gemm[isa][t]), sqrt(c->theirs[t]));
}

/* Sums errors over all seeds, because the error of a single small tensor may be small by chance. */
static void check_case(const struct gradient_case *c, const struct row *rows, int n_rows)
{
    struct comparison sums = {0};
    const struct row *row = NULL;
    int n_tensors = 0;
    for (int s = 0; s < seeds_of(c); s++) {
        struct setup r;
        setup_begin(&r, c, c->seed[s]);
        n_tensors = r.in.desc.n_tensors;
        assert_true(n_tensors <= TENSORS_MAX);
        for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++) {
            check_plan(&r, PLAN_FAST, (enum isa)isa, CHOICE_shape);
            check_plan(&r, PLAN_EXACT, (enum isa)isa, CHOICE_shape);
        }
        for (int choice = CHOICE_shape + 1; choice < KERNEL_CHOICES; choice++)
            check_plan(&r, PLAN_FAST, isa_best(), (enum kernel_choice)choice);
        if (c->kind == GRADIENT_PLAIN) {
            row = rows_of(rows, n_rows, &r.in);
            add_errors(&sums, &r, row);
        }
        setup_end(&r);
    }
    if (row)
        compare_errors(&sums, row, n_tensors);
}

/* Every plan must be within the bound, the exact plan within twice PyTorch's error. */
static void check_net(void **state)
{
    static struct row rows[ROWS_MAX];
    if (!twin_runs()) {
        print_message("test_gradients_f64 does not run here\n");
        skip();
    }
    check_case(*state, rows, read_rows(rows));
}

static int print_errors(const char *net, const char *plan, const char *isa, uint64_t seed)
{
    static const char *const plans[] = {"reference", "fast", "exact"};
    const struct gradient_case *c = find_case(net, GRADIENT_PLAIN);
    int chosen = name_index(plan, plans, 3), set = name_index(isa, isa_names(), ISAS);
    struct setup r;
    if (!c || chosen < 0 || set < 0 || set > (int)isa_best())
        return 2;
    setup_begin(&r, c, seed);
    gradient_by_plan(&r.in, (enum plan)chosen, (enum isa)set, r.grads);
    for (int t = 0; t < r.in.desc.n_tensors; t++) {
        const struct tensor_desc *tensor = &r.in.desc.tensors[t];
        printf("%s %.9g %.9g\n", tensor->name, error_of(&r, t),
               norm(r.expected + tensor->offset, tensor->count));
    }
    setup_end(&r);
    return 0;
}

static int print_seeds(const char *net)
{
    const struct gradient_case *c = find_case(net, GRADIENT_PLAIN);
    for (int s = 0; c && s < seeds_of(c); s++)
        printf("%llu\n", (unsigned long long)c->seed[s]);
    return c ? 0 : 2;
}

static int print_sets(void)
{
    for (int isa = ISA_PORTABLE; isa <= (int)isa_best(); isa++)
        puts(isa_names()[isa]);
    return 0;
}

static int run_command(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--sets") == 0)
        return print_sets();
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
        return print_seeds(argv[2]);
    if (argc == 6 && strcmp(argv[1], "--errors") == 0)
        return print_errors(argv[2], argv[3], argv[4], strtoull(argv[5], NULL, 10));
    return 2;
}

#endif

int main(int argc, char **argv)
{
    fp_mode_set();
    gemm_init();
    if (argc > 1)
        return run_command(argc, argv);
#ifdef SCALEBENCH_F64
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_oracle_is_pytorch_in_double)};
#else
    struct CMUnitTest tests[CASES];
    char names[CASES][80];
    for (int i = 0; i < CASES; i++) {
        snprintf(names[i], sizeof names[i], "%s%s", cases[i].net, kind_texts[cases[i].kind]);
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = check_net, .initial_state = (void *)&cases[i]};
    }
#endif
    return cmocka_run_group_tests_name("gradients", tests, NULL, NULL);
}
