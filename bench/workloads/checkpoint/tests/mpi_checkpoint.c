/* A run that was interrupted equals one that was not: to the bit on the same number of ranks, with
 * every strategy, with dropout, in the middle of an epoch; up to rounding on another number. What
 * does not fit is refused by name. */
#include "bench/workloads/train_cnn/tests/train_fixture.h"

#include <inttypes.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bench/workloads/checkpoint/checkpoint_layout.h"

enum { BEFORE = 7, STEPS = 12 };

/* The file is the same on all ranks. */
static char folder[64], path[96];

static int setup_with(int (*setup_net)(void **), void **state)
{
    strcpy(folder, "/tmp/scalebench-checkpoint-XXXXXX");
    if (mpi_world_rank() == 0 && mkdtemp(folder) == NULL)
        return -1;
    mpi_bcast(folder, sizeof folder, MPI_CHAR);
    snprintf(path, sizeof path, "%.63s/c", folder);
    if (setup_net(state) != 0)
        return -1;
    option(OPT_OPTIMIZER, "adam");
    option(OPT_LR, "0.001");
    return 0;
}

static int setup_file(void **state)
{
    return setup_with(setup, state);
}

static int setup_vgg_file(void **state)
{
    return setup_with(setup_vgg, state);
}

static int teardown_file(void **state)
{
    mpi_all(true);
    if (mpi_world_rank() == 0) {
        unlink(path);
        rmdir(folder);
    }
    return teardown(state);
}

/* Trains until `steps` steps are done. */
static bool train_to(struct session *s, uint64_t steps)
{
    struct error e;
    struct step_record taken;
    struct progress *p = &s->progress;
    bool good = true;
    while (good && s->trainer.steps_done < steps) {
        if (p->step == s->trainer.sampler.steps) {
            p->epoch++;
            p->step = 0;
        }
        good = trainer_step(&s->trainer, p->epoch, p->step++, &taken, &e) == OK;
    }
    return good;
}

static bool resume(struct session *s, struct error *e, char reset[256])
{
    struct checkpoint c;
    bool good = checkpoint_open(&c, path, &s->trainer, e) == OK &&
                checkpoint_restore(&c, &s->trainer, e) == OK;
    s->progress.epoch = c.progress.epoch;
    s->progress.step = c.progress.step;
    strcpy(reset, c.reset);
    checkpoint_close(&c);
    return good;
}

static bool equal_state(const struct session *a, const struct session *b)
{
    const struct arenas *x = arenas_of(a), *y = arenas_of(b);
    return memcmp(x->params, y->params, x->n * sizeof(real)) == 0 &&
           memcmp(x->state, y->state, (size_t)x->slots * x->n * sizeof(real)) == 0;
}

/* Trains BEFORE steps, writes, trains on; a second run goes on from the file. */
static bool resumes_to_the_bit(void)
{
    struct session whole, resumed;
    struct error e = {.status = OK};
    char reset[256];
    bool good = session_open(&whole, MPI_COMM_WORLD, 1) && train_to(&whole, BEFORE) &&
                checkpoint_write(path, &whole.trainer, &whole.progress, &e) == OK &&
                train_to(&whole, STEPS);
    good = session_open(&resumed, MPI_COMM_WORLD, 1) && good;
    good = resume(&resumed, &e, reset) && good && reset[0] == '\0' && resumed.progress.epoch == 1 &&
           resumed.progress.step == 2 && resumed.trainer.steps_done == BEFORE;
    good = train_to(&resumed, STEPS) && good && equal_state(&whole, &resumed);
    if (e.status != OK)
        print_error("%s %s\n", e.file, e.text);
    session_close(&whole);
    session_close(&resumed);
    return mpi_all(good);
}

static void adam_is_resumed_to_the_bit(void **state)
{
    (void)state;
    assert_true(resumes_to_the_bit());
}

static void sgd_is_resumed_to_the_bit(void **state)
{
    (void)state;
    option(OPT_OPTIMIZER, "sgd");
    option(OPT_MOMENTUM, "0.5");
    option(OPT_WARMUP_STEPS, "10");
    assert_true(resumes_to_the_bit());
}

static bool suits_ranks(enum strategy_kind kind, const char *variant)
{
    int ranks = mpi_world_ranks();
    unsigned flags = strategy_config_flags(kind, strategy_variant_find(kind, variant));
    return (flags & STRATEGY_DETERMINISTIC) != 0 &&
           ((flags & STRATEGY_POWER_OF_TWO) == 0 || (ranks & (ranks - 1)) == 0);
}

/* `none` among them, whose replicas differ, and the first form of those that have several. */
static void every_strategy_is_resumed_to_the_bit(void **state)
{
    (void)state;
    const char *variants[VARIANTS];
    for (int kind = 0; kind < STRATEGIES; kind++) {
        size_t n = strategy_variant_list((enum strategy_kind)kind, variants);
        const char *variant = variants[n > 1 ? 1 : 0];
        if (!suits_ranks((enum strategy_kind)kind, variant))
            continue;
        option(OPT_STRATEGY, strategy_names()[kind]);
        option(OPT_VARIANT, variant);
        bool good = resumes_to_the_bit();
        if (!good)
            print_error("strategy %s\n", strategy_names()[kind]);
        assert_true(good);
    }
}

/* Several servers, whose parts of the state become one. */
static void servers_are_resumed_to_the_bit(void **state)
{
    (void)state;
    option(OPT_STRATEGY, "param_server");
    option(OPT_SERVERS, mpi_world_ranks() > 1 ? "2" : "1");
    assert_true(resumes_to_the_bit());
}

static void every_compressor_is_resumed_to_the_bit(void **state)
{
    (void)state;
    for (int kind = COMPRESSOR_none + 1; kind < COMPRESSORS; kind++) {
        option(OPT_COMPRESS, compressor_names()[kind]);
        bool good = resumes_to_the_bit();
        if (!good)
            print_error("compressor %s\n", compressor_names()[kind]);
        assert_true(good);
    }
}

/* ---- Sections of ranks ---- */

/* A strategy that keeps something: rank r, r + 1 bytes of value r. */
static struct {
    uint8_t saved[64], restored[64];
    size_t bytes;
    int calls;
} keeper;

static enum status keep(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    (void)e;
    memset(keeper.saved, s->rank, sizeof keeper.saved);
    *data = keeper.saved;
    *bytes = (size_t)s->rank + 1;
    return OK;
}

static enum status take_back(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    (void)s;
    (void)e;
    if (bytes > 0)
        memcpy(keeper.restored, data, bytes);
    keeper.bytes = bytes;
    keeper.calls++;
    return OK;
}

/* Writes on `from`, resumes on `to`, with a strategy that keeps something. */
static bool keeps(MPI_Comm from, MPI_Comm to, char reset[256])
{
    struct session first, second;
    struct error e;
    bool opened = session_open(&first, from, 1), good = session_open(&second, to, 1) && opened;
    struct strategy keeping = *first.trainer.sync->strategy;
    keeping.save = keep;
    keeping.restore = take_back;
    memset(&keeper, 0, sizeof keeper);
    first.trainer.sync->strategy = second.trainer.sync->strategy = &keeping;
    if (from == MPI_COMM_WORLD || mpi_world_rank() == 0)
        good = checkpoint_write(path, &first.trainer, &first.progress, &e) == OK && good;
    mpi_all(true);
    good = resume(&second, &e, reset) && good;
    session_close(&first);
    session_close(&second);
    return mpi_all(good && keeper.calls == 1);
}

static void what_a_strategy_keeps_comes_back_to_its_rank(void **state)
{
    (void)state;
    char reset[256];
    assert_true(keeps(MPI_COMM_WORLD, MPI_COMM_WORLD, reset));
    assert_all(keeper.bytes == (size_t)mpi_world_rank() + 1 && reset[0] == '\0');
    assert_all(memcmp(keeper.restored, keeper.saved, keeper.bytes) == 0);
}

static void what_ranks_kept_is_reset_on_another_number(void **state)
{
    (void)state;
    char reset[256];
    assert_true(keeps(MPI_COMM_SELF, MPI_COMM_WORLD, reset));
    if (mpi_world_ranks() == 1)
        return;
    char expected[256];
    snprintf(expected, sizeof expected,
             "the checkpoint is of allreduce on 1 ranks, this run of allreduce on %d: what each "
             "rank kept for itself is reset",
             mpi_world_ranks());
    assert_all(keeper.bytes == 0 && strcmp(reset, expected) == 0);
}

/* ---- Another number of ranks ---- */

/* One rank trains, then all go on: how far they are from one rank that went on alone, of what that
 * has moved by since. The same global batches, so the tolerances of mpi_train. */
static void more_ranks_go_on(void **state)
{
    (void)state;
    struct session before, alone, after;
    struct error e;
    char reset[256];
#ifdef SCALEBENCH_F64
    const uint64_t last = STEPS;
    const double allowed = 1e-10;
#else
    const uint64_t last = BEFORE + 1;
    const double allowed = 1e-4;
#endif
    bool good = session_open(&before, MPI_COMM_SELF, 1) && train_to(&before, BEFORE);
    if (mpi_world_rank() == 0)
        good = checkpoint_write(path, &before.trainer, &before.progress, &e) == OK && good;
    mpi_all(true);
    good = session_open(&alone, MPI_COMM_SELF, 1) && resume(&alone, &e, reset) &&
           train_to(&alone, last) && good;
    good = session_open(&after, MPI_COMM_WORLD, 1) && resume(&after, &e, reset) &&
           train_to(&after, last) && good;
    double distance = relative_difference(arenas_of(&after)->params, arenas_of(&alone)->params,
                                          arenas_of(&before)->params, fixture.desc.n_params);
    session_close(&before);
    session_close(&alone);
    session_close(&after);
    if (!(distance <= allowed) && mpi_world_rank() == 0)
        print_error("distance %g, allowed %g\n", distance, allowed);
    assert_all(good && distance <= allowed);
}

/* ---- What does not fit ---- */

static bool opens(const struct trainer *t, struct error *e)
{
    struct checkpoint c;
    bool good = checkpoint_open(&c, path, t, e) == OK;
    checkpoint_close(&c);
    return good;
}

static bool write_one(struct session *s)
{
    struct error e;
    return session_open(s, MPI_COMM_SELF, 1) && train_to(s, 1) &&
           checkpoint_write(path, &s->trainer, &s->progress, &e) == OK;
}

static void another_run_is_refused_by_key(void **state)
{
    (void)state;
    if (mpi_world_rank() != 0)
        return;
    static const struct {
        enum option_id id;
        const char *text, *expected;
    } changes[] = {
        {OPT_SEED, "2", "seed: the checkpoint has '1', this run '2'"},
        {OPT_SHUFFLE, "false", "train.shuffle: the checkpoint has 'true', this run 'false'"},
        {OPT_GLOBAL_BATCH, "24", "train.global_batch: the checkpoint has '25', this run '24'"},
        {OPT_DATA_SAMPLES, "50", "data.samples: the checkpoint has '120', this run '50'"},
        {OPT_REMAINDER, "pad", "train.remainder: the checkpoint has 'uneven', this run 'pad'"},
        {OPT_OPTIMIZER, "sgd", "train.optimizer: the checkpoint has 'adam', this run 'sgd'"},
        {OPT_LR, "0.002", "train.lr: the checkpoint has '0.001', this run '0.002'"},
        {OPT_BETA2, "0.99", "train.beta2: the checkpoint has '0.999', this run '0.99'"},
    };
    struct session s;
    struct error e;
    assert_true(write_one(&s) && opens(&s.trainer, &e));
    session_close(&s);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char before[64];
        snprintf(before, sizeof before, "%s", config_text(&fixture.config, changes[i].id));
        option(changes[i].id, changes[i].text);
        assert_true(session_open(&s, MPI_COMM_SELF, 1));
        assert_false(opens(&s.trainer, &e));
        assert_string_equal(e.file, path);
        assert_memory_equal(e.text, changes[i].expected, strlen(changes[i].expected));
        assert_int_equal(error_exit_status(&e), 2);
        session_close(&s);
        option(changes[i].id, before);
    }
}

/* A net of the same tensors that computes something else. */
static void another_net_is_refused(void **state)
{
    (void)state;
    if (mpi_world_rank() != 0)
        return;
    struct session s;
    struct error e;
    assert_true(write_one(&s));
    for (int i = 0; i < fixture.desc.n_layers; i++)
        if (fixture.desc.layers[i].kind == LAYER_dropout)
            fixture.desc.layers[i].rate = 0.25;
    assert_false(opens(&s.trainer, &e));
    assert_memory_equal(e.text, "model.sha256: the checkpoint has '", 34);
    strcpy(fixture.desc.name, "other");
    assert_false(opens(&s.trainer, &e));
    assert_memory_equal(e.text, "model: the checkpoint has 'lenet_21k', this run 'other'", 55);
    session_close(&s);
}

/* Which hash goes into a checkpoint that was written anew. */
enum seal { SEAL_LEFT, SEAL_ANEW, SEAL_SCHEMA_1 };

static void set_hash(json_t *metadata, const char *key, uint64_t hash)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_object_set_new(metadata, key, json_string(text));
}

static void seal_anew(json_t *metadata, const struct safetensors_tensor *list, size_t n)
{
    uint64_t hash;
    struct error e;
    assert_int_equal(layout_hash(list, n, metadata, &hash, &e), OK);
    set_hash(metadata, "xxh3", hash);
}

/* A file as it was before schema 2: of the tensors' bytes alone. */
static void seal_schema_1(json_t *metadata, const struct safetensors_tensor *list, size_t n)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < n; i++)
        XXH3_64bits_update(&state, list[i].data, list[i].bytes);
    json_object_del(metadata, "xxh3");
    json_object_set_new(metadata, "scalebench.checkpoint", json_string("1"));
    set_hash(metadata, "data_xxh3", XXH3_64bits_digest(&state));
}

/* Writes the checkpoint anew after `change` has been at its list of tensors and its metadata. */
static void rewrite(void (*change)(struct safetensors_tensor *, size_t *, json_t *), enum seal seal)
{
    struct safetensors file;
    struct error e;
    assert_int_equal(safetensors_open(&file, path, &e), OK);
    struct safetensors_tensor *list = calloc(file.n + 1, sizeof *list);
    memcpy(list, file.tensors, file.n * sizeof *list);
    json_t *metadata = json_deep_copy(file.metadata);
    size_t n = file.n;
    change(list, &n, metadata);
    if (seal == SEAL_ANEW)
        seal_anew(metadata, list, n);
    if (seal == SEAL_SCHEMA_1)
        seal_schema_1(metadata, list, n);
    assert_int_equal(safetensors_write(path, list, n, metadata, &e), OK);
    json_decref(metadata);
    free(list);
    safetensors_close(&file);
}

static void drop_last(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)metadata;
    --*n;
}

static void add_one(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)metadata;
    list[*n] = (struct safetensors_tensor){.name = "rank.1.strategy",
                                           .dtype = "U8",
                                           .n_dims = 1,
                                           .dims = {1},
                                           .data = "x",
                                           .bytes = 1};
    ++*n;
}

static void turn_shape(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)n;
    (void)metadata;
    list[0].n_dims = 1;
    list[0].dims[0] = 250;
}

/* Swaps two tensors' bytes: everything but the hash still fits. */
static void swap_slots(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)n;
    (void)metadata;
    const void *data = list[8].data;
    list[8].data = list[16].data;
    list[16].data = data;
}

static void set_text(json_t *metadata, const char *key, const char *text)
{
    json_object_set_new(metadata, key, json_string(text));
}

static void spoil_step(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)n;
    set_text(metadata, "progress.step", "6");
}

static void spoil_epoch(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)n;
    set_text(metadata, "progress.epoch", "2000000000");
}

static void skip_epochs(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)n;
    set_text(metadata, "progress.epoch", "3");
}

static void spoil_loss(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)n;
    set_text(metadata, "progress.loss_sum", "little");
}

static void lose_seed(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)n;
    json_object_del(metadata, "seed");
}

static void age(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    (void)n;
    set_text(metadata, "scalebench.checkpoint", "7");
}

#define ALTERED "altered since it was written: its "

static void malformed_checkpoints_are_refused(void **state)
{
    (void)state;
    if (mpi_world_rank() != 0)
        return;
    static const struct {
        void (*change)(struct safetensors_tensor *, size_t *, json_t *);
        enum seal seal;
        const char *expected;
    } cases[] = {
        {drop_last, SEAL_ANEW,
         "tensor 'optimizer.1.fc2.bias' is missing; expected " /* F32, F64 */},
        {add_one, SEAL_ANEW, "tensor 'rank.1.strategy', U8 [1], belongs to nothing in this model"},
        {turn_shape, SEAL_ANEW, "tensor 'conv1.weight' is "},
        {turn_shape, SEAL_LEFT, ALTERED "metadata and tensors have the hash "},
        {swap_slots, SEAL_LEFT, ALTERED "metadata and tensors have the hash "},
        {spoil_epoch, SEAL_LEFT, ALTERED "metadata and tensors have the hash "},
        {lose_seed, SEAL_LEFT, ALTERED "metadata and tensors have the hash "},
        {spoil_step, SEAL_ANEW, "progress.step = '6'; expected a whole number of 0 to 5"},
        {spoil_epoch, SEAL_SCHEMA_1,
         "progress.epoch = '2000000000'; expected a whole number of 0 "},
        {skip_epochs, SEAL_SCHEMA_1,
         "progress.steps_done = '1'; 3 epochs of 5 steps and 1 steps are expected"},
        {spoil_loss, SEAL_ANEW, "progress.loss_sum = 'little'; expected a number"},
        {lose_seed, SEAL_ANEW, "__metadata__: 'seed' is missing; this run has '1'"},
        {age, SEAL_ANEW, "a checkpoint of schema 7; this program reads 1 to 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        struct error e;
        assert_true(write_one(&s));
        rewrite(cases[i].change, cases[i].seal);
        assert_false(opens(&s.trainer, &e));
        if (strstr(e.text, cases[i].expected) == NULL)
            assert_string_equal(e.text, cases[i].expected);
        assert_string_equal(e.file, path);
        session_close(&s);
    }
}

/* ---- Batch norm ---- */

/* As schema 1 called running statistics; it did not count batches, of which the counts lie
 * first. */
static void make_older(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    static char names[64][NET_NAME_MAX];
    size_t kept = 0, renamed = 0;
    (void)metadata;
    for (size_t i = 0; i < *n; i++) {
        const char *part = strstr(list[i].name, ".running_");
        if (strcmp(list[i].dtype, "I64") == 0)
            continue;
        list[kept] = list[i];
        if (part != NULL) {
            snprintf(names[renamed], NET_NAME_MAX, "%.*s.%s", (int)(part - list[i].name),
                     list[i].name, part + strlen(".running_"));
            list[kept].name = names[renamed++];
        }
        kept++;
    }
    assert_int_equal(renamed, fixture.desc.n_buffers);
    *n = kept;
}

static bool same_statistics(const struct session *a, const struct session *b)
{
    const struct arenas *x = arenas_of(a), *y = arenas_of(b);
    return memcmp(x->buffers, y->buffers, x->n_buffers * sizeof(real)) == 0 &&
           a->trainer.batches_tracked == b->trainer.batches_tracked;
}

static void older_checkpoints_are_read(void **state)
{
    (void)state;
    struct session first, second;
    struct error e;
    char reset[256];
    if (mpi_world_rank() != 0)
        return;
    assert_true(session_open(&first, MPI_COMM_SELF, 1) && train_to(&first, 2));
    assert_int_equal(first.trainer.batches_tracked, 2);
    first.trainer.batches_tracked = 7; /* as a file of PyTorch had it, say */
    assert_int_equal(checkpoint_write(path, &first.trainer, &first.progress, &e), OK);
    assert_true(session_open(&second, MPI_COMM_SELF, 1) && resume(&second, &e, reset));
    assert_true(equal_state(&first, &second) && same_statistics(&first, &second));
    session_close(&second);
    rewrite(make_older, SEAL_SCHEMA_1);
    assert_true(session_open(&second, MPI_COMM_SELF, 1) && resume(&second, &e, reset));
    first.trainer.batches_tracked = 2;
    assert_true(equal_state(&first, &second) && same_statistics(&first, &second));
    session_close(&first);
    session_close(&second);
}

/* ---- Weights alone ---- */

static void keep_params(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    (void)list;
    *n = (size_t)fixture.desc.n_tensors;
    json_object_clear(metadata);
}

/* Of a file that holds nothing else, as other programs write it. */
static void weights_alone_start_a_run(void **state)
{
    (void)state;
    struct session trained, started;
    struct checkpoint c;
    struct error e = {.status = OK};
    bool good = session_open(&trained, MPI_COMM_WORLD, 1) && train_to(&trained, 2) &&
                checkpoint_write(path, &trained.trainer, &trained.progress, &e) == OK;
    if (mpi_world_rank() == 0)
        rewrite(keep_params, SEAL_LEFT);
    mpi_all(true);
    option(OPT_SEED, "9");
    good = session_open(&started, MPI_COMM_WORLD, 1) && good && !opens(&started.trainer, &e);
    good = checkpoint_open_weights(&c, path, &started.trainer, &e) == OK && good &&
           checkpoint_restore(&c, &started.trainer, &e) == OK;
    checkpoint_close(&c);
    good = good && trainer_hash(&started.trainer) == trainer_hash(&trained.trainer) &&
           started.trainer.steps_done == 0 && started.trainer.sync->arenas.state[0] == 0;
    session_close(&trained);
    session_close(&started);
    assert_all(good);
}

#define TEST(function)     cmocka_unit_test_setup_teardown(function, setup_file, teardown_file)
#define TEST_VGG(function) cmocka_unit_test_setup_teardown(function, setup_vgg_file, teardown_file)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(adam_is_resumed_to_the_bit),
        TEST(sgd_is_resumed_to_the_bit),
        TEST(every_strategy_is_resumed_to_the_bit),
        TEST(servers_are_resumed_to_the_bit),
        TEST(every_compressor_is_resumed_to_the_bit),
        TEST(what_a_strategy_keeps_comes_back_to_its_rank),
        TEST(what_ranks_kept_is_reset_on_another_number),
        TEST(more_ranks_go_on),
        TEST(another_run_is_refused_by_key),
        TEST(another_net_is_refused),
        TEST(malformed_checkpoints_are_refused),
        TEST_VGG(older_checkpoints_are_read),
        TEST(weights_alone_start_a_run),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
