/* Weights of other programs, in other types and with other names, start a run; a run's weights are
 * written for other programs in 16 bits.
 *
 * ranks: 1 2 3
 * double: 2 3 */
#include "bench/workloads/checkpoint/tests/checkpoint_fixture.h"

#include <float.h>

#include "bench/workloads/checkpoint/checkpoint_numbers.h"
#include "kernels/base/fp_mode.h"

/* ---- Numbers ---- */

static uint16_t narrow_one(real number, enum checkpoint_dtype dtype)
{
    uint16_t code = 0x1234;
    assert_int_equal(numbers_narrow(&code, &number, 1, dtype), 1);
    return code;
}

static size_t refused_at(double x, enum checkpoint_dtype dtype)
{
    uint16_t codes[3];
    const real numbers[] = {1, (real)x, 2};
    return numbers_narrow(codes, numbers, 3, dtype);
}

/* Codes of IEEE 754 and bfloat16, written by hand; ties go to the even code. */
static void numbers_are_rounded_to_the_nearest(void **state)
{
    static const struct {
        real x;
        uint16_t f16, bf16;
    } cases[] = {
        {0, 0, 0},
        {-0.0, 0x8000, 0x8000},
        {1, 0x3c00, 0x3f80},
        {-2.5, 0xc100, 0xc020},
        {1 + 0x1p-11, 0x3c00, 0x3f80},           /* f16: halfway, down to even */
        {1 + 0x3p-11, 0x3c02, 0x3f80},           /* f16: halfway, up to even */
        {1 + 0x1p-11 + 0x1p-20, 0x3c01, 0x3f80}, /* f16: just above */
        {1 + 0x1p-8, 0x3c04, 0x3f80},            /* bf16: halfway, down to even */
        {1 + 0x3p-8, 0x3c0c, 0x3f82},            /* bf16: halfway, up to even */
        {65504, 0x7bff, 0x4780},
        {0x1p-24, 0x0001, 0x3380},
        {0x1p-14 - 0x1p-24, 0x03ff, 0x3880}, /* largest denormal f16 */
        {0x1p-130, 0, 0x0008},               /* denormal as bf16 and as float */
        {INFINITY, 0x7c00, 0x7f80},
    };
    fp_mode_set(); /* as in every training thread */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(narrow_one(cases[i].x, CHECKPOINT_DTYPE_f16), cases[i].f16);
        assert_int_equal(narrow_one(cases[i].x, CHECKPOINT_DTYPE_bf16), cases[i].bf16);
    }
    assert_int_equal(refused_at(65519, CHECKPOINT_DTYPE_f16), 3);
    assert_int_equal(refused_at(65520, CHECKPOINT_DTYPE_f16), 1);
    assert_int_equal(refused_at(-1e9, CHECKPOINT_DTYPE_f16), 1);
    assert_int_equal(refused_at(-1e9, CHECKPOINT_DTYPE_bf16), 3);
    assert_int_equal(refused_at(FLT_MAX, CHECKPOINT_DTYPE_bf16), 1);
    assert_int_equal(refused_at(NAN, CHECKPOINT_DTYPE_f16), 3);
}

/* If rounded to float first, these would be ties: to 1, and to 1 + 2^-7 in bf16. */
static void doubles_are_rounded_once(void **state)
{
    if (sizeof(real) < sizeof(double))
        return;
    assert_int_equal(narrow_one(1 + 0x1p-8 + 0x1p-40, CHECKPOINT_DTYPE_bf16), 0x3f81);
    assert_int_equal(narrow_one(1 + 0x3p-8 - 0x1p-40, CHECKPOINT_DTYPE_bf16), 0x3f81);
    assert_int_equal(narrow_one(1 + 0x1p-11 + 0x1p-40, CHECKPOINT_DTYPE_f16), 0x3c01);
    assert_int_equal(narrow_one(-1 - 0x3p-11 + 0x1p-40, CHECKPOINT_DTYPE_f16), 0xbc01);
}

/* Reads numbers from an odd address, in more than one chunk. */
static void read_as(const char *dtype, const void *numbers, size_t bytes, size_t n, real *to)
{
    uint8_t *room = malloc(bytes + 1);
    memcpy(room + 1, numbers, bytes);
    const struct safetensors_tensor from = {
        .dtype = dtype, .n_dims = 1, .dims = {n}, .data = room + 1, .bytes = bytes};
    numbers_read(to, &from);
    free(room);
}

static void equal_bits(const real *found, double expected)
{
    const real wanted = (real)expected;
    assert_memory_equal(found, &wanted, sizeof wanted);
}

enum { MANY = 3001 };

static void numbers_are_widened_exactly(void **state)
{
    static uint16_t halves[MANY];
    static float floats[MANY];
    static real to[MANY];
    fp_mode_set();
    for (int i = 0; i < MANY; i++) {
        halves[i] = (uint16_t)i;           /* i * 2^-24 up to 2^-14 */
        floats[i] = ldexpf((float)i, -20); /* normal numbers: this thread flushes denormals */
    }
    read_as("F16", halves, sizeof halves, MANY, to);
    for (int i = 0; i <= 1024; i++)
        equal_bits(&to[i], ldexp(i, -24));
    equal_bits(&to[2049], ldexp(1025, -23));
    read_as("F32", floats, sizeof floats, MANY, to);
    equal_bits(&to[3000], ldexp(3000, -20));
    for (int i = 0; i < MANY; i++)
        halves[i] = (uint16_t)(0xbf80 - i);
    read_as("BF16", halves, sizeof halves, MANY, to);
    equal_bits(&to[0], -1);
    equal_bits(&to[1], -1 + 0x1p-8);
    equal_bits(&to[1281], -0x1.fep-11);
}

/* Denormal numbers are kept although this thread flushes them. Their bits are built from
 * integers. */
static void denormal_numbers_are_kept(void **state)
{
    const uint32_t least = 1;
    const uint16_t small = 8; /* 2^-130 in bf16 */
    real to, wanted;
    fp_mode_set();
    read_as("F32", &least, sizeof least, 1, &to);
    if (sizeof(real) == sizeof(double))
        assert_true(to == (real)0x1p-149);
    else
        assert_memory_equal(&to, &least, sizeof least);
    read_as("BF16", &small, sizeof small, 1, &to);
    wanted = (real)0x1p-130;
    assert_memory_equal(&to, &wanted, sizeof wanted);
}

static void doubles_are_rounded_or_exact(void **state)
{
    const bool exact = sizeof(real) == sizeof(double);
    const double numbers[] = {0x1.000001p0, 1 + 0x3p-24, -0x1p-1000, 1e39};
    real to[4];
    read_as("F64", numbers, 3 * sizeof *numbers, 3, to);
    equal_bits(&to[0], exact ? 0x1.000001p0 : 1);
    equal_bits(&to[1], exact ? 1 + 0x3p-24 : 1 + 0x1p-22);
    equal_bits(&to[2], exact ? -0x1p-1000 : -0.0);
    const struct safetensors_tensor all = {
        .dtype = "F64", .n_dims = 1, .dims = {4}, .data = numbers, .bytes = sizeof numbers};
    assert_int_equal(numbers_first_beyond(&all), exact ? 4 : 3);
    const double infinite[] = {INFINITY, NAN};
    const struct safetensors_tensor kept = {
        .dtype = "F64", .n_dims = 1, .dims = {2}, .data = infinite, .bytes = sizeof infinite};
    assert_int_equal(numbers_first_beyond(&kept), 2);
}

/* ---- Files of other programs ---- */

enum { TENSORS_MAX = 96 };

/* Tensors of a model as another program writes them. `strange` edits them first. */
struct written {
    char names[TENSORS_MAX][CHECKPOINT_NAME_BYTES];
    struct safetensors_tensor tensors[TENSORS_MAX];
    void *room[TENSORS_MAX];
    size_t n;
};

/* Returns a number that every type can represent. */
static double number_of(size_t tensor, size_t i)
{
    return ldexp((double)((i * 7 + tensor) % 255) - 127, -7);
}

static void put_number(void *to, const char *dtype, size_t i, double x)
{
    uint16_t code;
    const real narrow = (real)x;
    if (strcmp(dtype, "F64") == 0)
        ((double *)to)[i] = x;
    else if (strcmp(dtype, "F32") == 0)
        ((float *)to)[i] = (float)x;
    else {
        bool f16 = strcmp(dtype, "F16") == 0;
        numbers_narrow(&code, &narrow, 1, f16 ? CHECKPOINT_DTYPE_f16 : CHECKPOINT_DTYPE_bf16);
        ((uint16_t *)to)[i] = code;
    }
}

static void add_tensor(struct written *w, const struct tensor_desc *tensor, const char *prefix,
                       const char *dtype)
{
    struct safetensors_tensor *t = &w->tensors[w->n];
    char *name = w->names[w->n];
    snprintf(name, sizeof w->names[0], "%s%s", prefix, tensor->name);
    *t = (struct safetensors_tensor){.name = name, .dtype = dtype, .n_dims = tensor->n_dims};
    for (int d = 0; d < tensor->n_dims; d++)
        t->dims[d] = (size_t)tensor->dims[d];
    void *numbers = calloc(tensor->count, sizeof(double));
    for (size_t i = 0; i < tensor->count; i++)
        put_number(numbers, dtype, i, number_of(w->n, i));
    t->data = w->room[w->n] = numbers;
    w->n++;
}

static void make_tensors(struct written *w, const char *prefix, const char *dtype)
{
    const struct net_desc *desc = &fixture.desc;
    w->n = 0;
    for (int i = 0; i < desc->n_tensors; i++)
        add_tensor(w, &desc->tensors[i], prefix, dtype);
    for (int i = 0; i < desc->n_buffers; i++)
        add_tensor(w, &desc->buffers[i], prefix, dtype);
}

static void write_tensors(struct written *w)
{
    struct error e;
    assert_int_equal(safetensors_write(path, w->tensors, w->n, NULL, &e), OK);
    for (size_t i = 0; i < w->n; i++)
        free(w->room[i]);
}

/* Opens and restores weights in a new run; `c` receives the open file. */
static bool starts(struct session *s, struct checkpoint *c, struct error *e)
{
    const struct checkpoint_state here = resume_state(&s->trainer);
    return checkpoint_open_weights(c, path, &here, e) == OK &&
           checkpoint_restore(c, &here, e) == OK;
}

static bool has_numbers(const struct session *s)
{
    const struct net_desc *desc = &fixture.desc;
    const struct arenas *a = arenas_of(s);
    bool good = true;
    for (int k = 0; k < desc->n_tensors + desc->n_buffers; k++) {
        bool param = k < desc->n_tensors;
        const struct tensor_desc *t =
            param ? &desc->tensors[k] : &desc->buffers[k - desc->n_tensors];
        const real *own = (param ? a->params : a->buffers) + t->offset;
        for (size_t i = 0; i < t->count; i++)
            good = good && own[i] == (real)number_of((size_t)k, i);
    }
    return good;
}

/* Starts from a file with `prefix` and expects that `left_out` was removed. */
static void start_from(const char *dtype, const char *prefix, const char *left_out)
{
    static struct written w;
    struct session s;
    struct checkpoint c;
    struct error e = {.status = OK};
    make_tensors(&w, prefix, dtype);
    write_tensors(&w);
    assert_true(session_open(&s, MPI_COMM_SELF, 1));
    if (!starts(&s, &c, &e))
        fail_msg("%s", e.text);
    assert_true(has_numbers(&s));
    assert_string_equal(c.prefix, left_out);
    assert_int_equal(c.rounded, strcmp(dtype, "F64") == 0 && sizeof(real) == sizeof(float));
    checkpoint_close(&c);
    assert_true(train_to(&s, 2));
    session_close(&s);
}

static void every_type_starts_a_run(void **state)
{
    static const char *const types[] = {"F16", "BF16", "F32", "F64"};
    for (size_t i = 0; i < 4 && mpi_world_rank() == 0; i++)
        start_from(types[i], "", "");
}

static void prefixes_are_left_out(void **state)
{
    static const char *const prefixes[] = {"module.", "_orig_mod.", "model.", "module._orig_mod.",
                                           "any.thing."};
    for (size_t i = 0; i < 5 && mpi_world_rank() == 0; i++)
        start_from("BF16", prefixes[i], prefixes[i]);
}

/* ---- Files that do not fit ---- */

static void rename_tensor(struct written *w, size_t i, const char *name)
{
    snprintf(w->names[i], sizeof w->names[0], "%s", name);
}

static void lose_prefix(struct written *w)
{
    rename_tensor(w, 7, "fc2.bias");
}

static void misspell(struct written *w)
{
    memcpy(strstr(w->names[5], "bias"), "bais", 4);
}

static void lose(struct written *w)
{
    free(w->room[--w->n]);
}

static void turn(struct written *w)
{
    w->tensors[6].dims[0] = 50;
    w->tensors[6].dims[1] = 10;
}

static void make_whole_numbers(struct written *w)
{
    w->tensors[0].dtype = "I16";
}

static void make_large(struct written *w)
{
    ((double *)w->room[3])[4] = -1e39;
}

static void hide_as_optimizer(struct written *w)
{
    for (size_t i = 0; i < w->n; i++) {
        char name[CHECKPOINT_NAME_BYTES];
        snprintf(name, sizeof name, "%s", w->names[i]);
        snprintf(w->names[i], sizeof w->names[0], "optimizer.0.%.60s", name);
    }
}

static void files_that_do_not_fit_are_refused(void **state)
{
    static const char types[] = "F16, BF16, F32 or F64";
    static const struct {
        const char *dtype, *prefix;
        void (*change)(struct written *);
        const char *expected; /* part of the message */
        const char *also;
    } cases[] = {
        {"F16", "", misspell, "tensor 'fc1.bias' is missing; expected ", "; nearest 'fc1.bais'"},
        {"F16", "module.", misspell, "tensor 'fc1.bias' is missing; expected ",
         "; nearest 'fc1.bais'"},
        {"F16", "", lose, "tensor 'fc2.bias' is missing; expected ", "; nearest 'fc1.bias'"},
        {"F16", "module.", lose, "tensor 'fc2.bias' is missing; expected ", "; nearest 'fc1.bias'"},
        {"F32", "module.", lose_prefix, "tensor 'conv1.weight' is missing; expected ",
         "; nearest 'module.conv1.weight'"},
        {"BF16", "", turn, "tensor 'fc2.weight' is BF16 [50,10]; this model expects ", " [10,50]"},
        {"F16", "", make_whole_numbers, "tensor 'conv1.weight' is I16 [10,1,5,5]; ", types},
        {"F32", "", hide_as_optimizer, "tensor 'conv1.weight' is missing", ""},
    };
    static struct written w;
    struct session s;
    struct checkpoint c;
    if (mpi_world_rank() != 0)
        return;
    assert_true(session_open(&s, MPI_COMM_SELF, 1));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {.status = OK};
        make_tensors(&w, cases[i].prefix, cases[i].dtype);
        cases[i].change(&w);
        write_tensors(&w);
        assert_false(starts(&s, &c, &e));
        checkpoint_close(&c);
        assert_int_equal(error_exit_status(&e), 2);
        assert_string_equal(e.file, path);
        if (strstr(e.text, cases[i].expected) == NULL || strstr(e.text, cases[i].also) == NULL)
            fail_msg("case %zu: %s", i, e.text);
    }
    session_close(&s);
}

static void doubles_beyond_float_are_refused(void **state)
{
    static struct written w;
    struct session s;
    struct checkpoint c;
    struct error e = {.status = OK};
    if (mpi_world_rank() != 0)
        return;
    make_tensors(&w, "", "F64");
    make_large(&w);
    write_tensors(&w);
    assert_true(session_open(&s, MPI_COMM_SELF, 1));
    assert_int_equal(starts(&s, &c, &e), sizeof(real) == sizeof(double));
    checkpoint_close(&c);
    session_close(&s);
    if (sizeof(real) == sizeof(float))
        assert_non_null(
            strstr(e.text, "tensor 'conv2.bias': element 4 is beyond the range of f32"));
}

/* Names in a checkpoint of a run are never shortened. */
static void prefix_all(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    static char names[TENSORS_MAX][CHECKPOINT_NAME_BYTES];
    for (size_t i = 0; i < *n; i++) {
        snprintf(names[i], sizeof names[i], "module.%.60s", list[i].name);
        list[i].name = names[i];
    }
}

static void prefixes_of_checkpoints_stay(void **state)
{
    struct session s;
    struct checkpoint c;
    struct error e = {.status = OK};
    if (mpi_world_rank() != 0)
        return;
    assert_true(session_open(&s, MPI_COMM_SELF, 1) && save(&s, &e) == OK);
    rewrite(prefix_all, SEAL_ANEW);
    assert_false(opens(&s, &e));
    assert_non_null(strstr(e.text, "tensor 'conv1.weight' is missing"));
    assert_false(starts(&s, &c, &e));
    checkpoint_close(&c);
    session_close(&s);
}

/* ---- Copies for other programs ---- */

static bool holds_narrowed(const struct safetensors *copy, const struct arenas *a, const char *text,
                           enum checkpoint_dtype dtype)
{
    bool good = true;
    for (int i = 0; i < a->n_tensors; i++) {
        const struct tensor_desc *t = &a->tensors[i];
        const struct safetensors_tensor *found = safetensors_find(copy, t->name);
        uint16_t *codes = malloc(t->count * sizeof *codes);
        numbers_narrow(codes, a->params + t->offset, t->count, dtype);
        good = good && found != NULL && strcmp(found->dtype, text) == 0 &&
               memcmp(found->data, codes, found->bytes) == 0;
        free(codes);
    }
    return good;
}

static bool holds_statistics(const struct safetensors *copy, const struct arenas *a)
{
    const struct net_desc *desc = &fixture.desc;
    bool good = true;
    for (int i = 0; i < desc->n_buffers; i++) {
        const struct tensor_desc *t = &desc->buffers[i];
        const struct safetensors_tensor *found = safetensors_find(copy, t->name);
        good = good && found != NULL && strcmp(found->dtype, REAL_DTYPE) == 0 &&
               memcmp(found->data, a->buffers + t->offset, found->bytes) == 0;
    }
    return good;
}

/* Each number is aligned to its size, as PyTorch's reader requires. */
static bool is_aligned(const struct safetensors *copy)
{
    bool good = copy->data_offset % 8 == 0;
    for (size_t i = 0; i < copy->n; i++) {
        size_t at = (size_t)((const uint8_t *)copy->tensors[i].data - copy->map.bytes);
        good = good && at % safetensors_type_bytes(copy->tensors[i].dtype) == 0;
    }
    return good;
}

static bool copy_is_right(const struct session *s, const char *text, enum checkpoint_dtype dtype)
{
    struct safetensors copy;
    struct error e;
    const struct arenas *a = arenas_of(s);
    size_t counts = 0;
    for (int i = 0; i < fixture.desc.n_layers; i++)
        counts += fixture.desc.layers[i].n_buffers > 0;
    bool good = safetensors_open(&copy, path, &e) == OK &&
                copy.n == (size_t)a->n_tensors + (size_t)fixture.desc.n_buffers + counts &&
                holds_narrowed(&copy, a, text, dtype) && holds_statistics(&copy, a) &&
                is_aligned(&copy);
    safetensors_close(&copy);
    return good;
}

/* The checkpoint resumes bit for bit; the copy can start a run, but not resume it. */
static void copies_are_of_the_model(enum checkpoint_dtype dtype, const char *text)
{
    char checkpoint[96], name[PATH_MAX];
    char reset[CHECKPOINT_RESET];
    struct session trained, resumed, started;
    struct checkpoint c;
    struct error e = {.status = OK};
    strcpy(checkpoint, path);
    option(OPT_CHECKPOINT_DTYPE, names_checkpoint_dtypes->names[dtype]);
    bool good = session_open(&trained, MPI_COMM_WORLD, 1) && train_to(&trained, 2) &&
                save(&trained, &e) == OK;
    good = session_open(&resumed, MPI_COMM_WORLD, 1) && good && resume(&resumed, &e, reset) &&
           trainer_hash(&resumed.trainer) == trainer_hash(&trained.trainer);
    assert_all(good);
    session_close(&resumed);
    checkpoint_copy_path(name, &fixture.config, checkpoint);
    snprintf(path, sizeof path, "%.95s", name);
    /* Running statistics differ by rank; rank 0 writes its own. */
    assert_all(mpi_world_rank() != 0 || copy_is_right(&trained, text, dtype));
    good = session_open(&started, MPI_COMM_WORLD, 1) && !opens(&started, &e) &&
           strstr(e.text, "not a checkpoint of a run") != NULL && starts(&started, &c, &e) &&
           train_to(&started, 1);
    checkpoint_close(&c);
    session_close(&trained);
    session_close(&started);
    assert_all(good);
    if (mpi_world_rank() == 0)
        unlink(path);
    strcpy(path, checkpoint);
}

static void copies_are_written_in_16_bits(void **state)
{
    copies_are_of_the_model(CHECKPOINT_DTYPE_bf16, "BF16");
    copies_are_of_the_model(CHECKPOINT_DTYPE_f16, "F16");
}

static void stages_and_slices_write_copies(void **state)
{
    char ranks[16];
    if (mpi_world_ranks() == 1 || mpi_world_ranks() > 3)
        return;
    snprintf(ranks, sizeof ranks, "%d", mpi_world_ranks());
    const enum option_id ways[] = {OPT_PIPELINE, OPT_TENSOR};
    for (int i = 0; i < 2; i++) {
        struct session cut;
        struct error e = {.status = OK};
        char name[PATH_MAX];
        option(OPT_CHECKPOINT_DTYPE, "bf16");
        option(ways[i], ranks);
        bool good = session_open(&cut, MPI_COMM_WORLD, 1) && save(&cut, &e) == OK;
        assert_all(good);
        session_close(&cut);
        checkpoint_copy_path(name, &fixture.config, path);
        option(ways[i], "1");
        if (mpi_world_rank() == 0) {
            struct session whole;
            struct checkpoint c;
            assert_true(session_open(&whole, MPI_COMM_SELF, 1));
            const struct checkpoint_state here = resume_state(&whole.trainer);
            assert_int_equal(checkpoint_open_weights(&c, name, &here, &e), OK);
            checkpoint_close(&c);
            session_close(&whole);
            unlink(name);
        }
        mpi_all(true);
    }
}

/* The checkpoint itself exists, and the message names it. */
static void numbers_too_large_for_f16_are_refused(void **state)
{
    char name[PATH_MAX], reset[CHECKPOINT_RESET];
    struct session s;
    struct error e = {.status = OK};
    if (mpi_world_rank() != 0)
        return;
    option(OPT_CHECKPOINT_DTYPE, "f16");
    assert_true(session_open(&s, MPI_COMM_SELF, 1));
    s.trainer.sync->arenas.params[fixture.desc.tensors[1].offset + 2] = 70000;
    assert_int_equal(save(&s, &e), ERR_DATA);
    checkpoint_copy_path(name, &fixture.config, path);
    assert_string_equal(e.file, name);
    assert_string_equal(e.text,
                        "tensor 'conv1.bias': element 2 is 70000, too large for f16. The "
                        "full-precision checkpoint was written. Resume from that checkpoint with "
                        "another checkpoint.dtype");
    assert_int_not_equal(access(name, F_OK), 0);
    assert_true(resume(&s, &e, reset));
    session_close(&s);
}

static void copies_have_a_name_of_their_own(void **state)
{
    char name[PATH_MAX];
    option(OPT_CHECKPOINT_DTYPE, "bf16");
    checkpoint_copy_path(name, &fixture.config, "of/a.safetensors");
    assert_string_equal(name, "of/a.bf16.safetensors");
    checkpoint_copy_path(name, &fixture.config, "of.safetensors/a");
    assert_string_equal(name, "of.safetensors/a.bf16");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_rounded_to_the_nearest), TEST(doubles_are_rounded_once),
        TEST(numbers_are_widened_exactly),        TEST(denormal_numbers_are_kept),
        TEST(doubles_are_rounded_or_exact),       TEST(every_type_starts_a_run),
        TEST_VGG(every_type_starts_a_run),        TEST(prefixes_are_left_out),
        TEST_VGG(prefixes_are_left_out),          TEST(files_that_do_not_fit_are_refused),
        TEST(doubles_beyond_float_are_refused),   TEST(prefixes_of_checkpoints_stay),
        TEST(copies_are_written_in_16_bits),      TEST_VGG(copies_are_written_in_16_bits),
        TEST(stages_and_slices_write_copies),     TEST(numbers_too_large_for_f16_are_refused),
        TEST(copies_have_a_name_of_their_own),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
