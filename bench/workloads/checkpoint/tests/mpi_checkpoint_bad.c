/* Checkpoints that are altered or do not fit the run are rejected with a reason.
 * ranks: 1 2 3
 * double: 3 */
#include "bench/workloads/checkpoint/tests/checkpoint_fixture.h"

static bool write_one(struct session *s)
{
    struct error e;
    return session_open(s, MPI_COMM_SELF, 1) && train_to(s, 1) && save(s, &e) == OK;
}

static void another_run_is_refused_by_key(void **state)
{
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
        {OPT_CLIP_VALUE, "0.5", "train.clip_value: the checkpoint has '0', this run '0.5'"},
        {OPT_BROADCAST_INIT, "false",
         "train.broadcast_init: the checkpoint has 'true', this run 'false'"},
        {OPT_PRECISION, "bf16", "train.precision: the checkpoint has 'fp32', this run 'bf16'"},
    };
    struct session s;
    struct error e;
    assert_true(write_one(&s) && opens(&s, &e));
    session_close(&s);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char before[64];
        snprintf(before, sizeof before, "%s", config_text(&fixture.config, changes[i].id));
        option(changes[i].id, changes[i].text);
        assert_true(session_open(&s, MPI_COMM_SELF, 1));
        assert_false(opens(&s, &e));
        assert_string_equal(e.file, path);
        assert_memory_equal(e.text, changes[i].expected, strlen(changes[i].expected));
        assert_int_equal(error_exit_status(&e), 2);
        session_close(&s);
        option(changes[i].id, before);
    }
}

/* A net with the same tensors and other computations. */
static void another_net_is_refused(void **state)
{
    if (mpi_world_rank() != 0)
        return;
    struct session s;
    struct error e;
    assert_true(write_one(&s));
    for (int i = 0; i < fixture.desc.n_layers; i++)
        if (fixture.desc.layers[i].kind == LAYER_dropout)
            fixture.desc.layers[i].rate = 0.25;
    assert_false(opens(&s, &e));
    assert_memory_equal(e.text, "model.sha256: the checkpoint has '", 34);
    strcpy(fixture.desc.name, "other");
    assert_false(opens(&s, &e));
    assert_memory_equal(e.text, "model: the checkpoint has 'lenet_21k', this run 'other'", 55);
    session_close(&s);
}

static void drop_last(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    --*n;
}

static void add_one(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
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
    list[0].n_dims = 1;
    list[0].dims[0] = 250;
}

/* Swaps the bytes of two tensors: only the hash reveals it. */
static void swap_slots(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
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
    set_text(metadata, "progress.step", "6");
}

static void spoil_epoch(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    set_text(metadata, "progress.epoch", "2000000000");
}

static void skip_epochs(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    set_text(metadata, "progress.epoch", "3");
}

static void spoil_loss(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    set_text(metadata, "progress.loss_sum", "little");
}

static void spoil_losses(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    set_text(metadata, "progress.losses", "0x1p+1 much");
}

static void lose_seed(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    json_object_del(metadata, "seed");
}

static void lose_later_keys(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    json_object_del(metadata, "train.clip_value");
    json_object_del(metadata, "train.accumulate");
}

static void age(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    set_text(metadata, "scalebench.checkpoint", "7");
}

#define ALTERED "the file was altered: the hash of its "

static void malformed_checkpoints_are_refused(void **state)
{
    if (mpi_world_rank() != 0)
        return;
    static const struct {
        void (*change)(struct safetensors_tensor *, size_t *, json_t *);
        enum seal seal;
        const char *expected;
    } cases[] = {
        {drop_last, SEAL_ANEW,
         "tensor 'optimizer.1.fc2.bias' is missing; expected " /* F32, F64 */},
        {add_one, SEAL_ANEW, "tensor 'rank.1.strategy' (U8 [1]) is unknown in this model"},
        {turn_shape, SEAL_ANEW, "tensor 'conv1.weight' is "},
        {turn_shape, SEAL_LEFT, ALTERED "metadata and tensors is "},
        {swap_slots, SEAL_LEFT, ALTERED "metadata and tensors is "},
        {spoil_epoch, SEAL_LEFT, ALTERED "metadata and tensors is "},
        {lose_seed, SEAL_LEFT, ALTERED "metadata and tensors is "},
        {spoil_step, SEAL_ANEW, "progress.step = '6'; expected a whole number from 0 to 5"},
        {spoil_epoch, SEAL_SCHEMA_1,
         "progress.epoch = '2000000000'; expected a whole number from 0 "},
        {skip_epochs, SEAL_SCHEMA_1,
         "progress.steps_done = '1'; expected 16 (3 epochs x 5 steps + 1 of the current epoch)"},
        {spoil_loss, SEAL_ANEW, "progress.loss_sum = 'little'; expected a number"},
        {spoil_losses, SEAL_ANEW, "progress.losses has 'much'; expected one number per rank"},
        {lose_seed, SEAL_ANEW,
         "__metadata__: 'seed' is missing; expected '1', the value of this run"},
        {age, SEAL_ANEW, "found a checkpoint of schema 7; this program reads schemas 1 to 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        struct error e;
        assert_true(write_one(&s));
        rewrite(cases[i].change, cases[i].seal);
        assert_false(opens(&s, &e));
        if (strstr(e.text, cases[i].expected) == NULL)
            assert_string_equal(e.text, cases[i].expected);
        assert_string_equal(e.file, path);
        session_close(&s);
    }
}

/* Opens the checkpoint in a new run; on failure `e` has the reason. */
static bool opens_anew(struct error *e)
{
    struct session s;
    bool opened = session_open(&s, MPI_COMM_SELF, 1), good = opened && opens(&s, e);
    session_close(&s);
    return good;
}

/* Without batch norm, micro-batches do not change the result. */
static void micro_batches_count_where_statistics_are_taken_of_them(void **state)
{
    if (mpi_world_rank() != 0)
        return;
    bool norm = fixture.desc.n_buffers > 0;
    struct session s;
    struct error e = {.status = OK};
    assert_true(write_one(&s));
    session_close(&s);
    option(OPT_ACCUMULATE, "2");
    assert_int_equal(opens_anew(&e), !norm);
    if (norm)
        assert_memory_equal(e.text, "train.accumulate: the checkpoint has '1', this run '2'", 54);
}

/* A missing key means its default. */
static void older_checkpoints_were_at_presets(void **state)
{
    if (mpi_world_rank() != 0)
        return;
    struct session s;
    struct error e = {.status = OK};
    assert_true(write_one(&s));
    session_close(&s);
    rewrite(lose_later_keys, SEAL_ANEW);
    assert_true(opens_anew(&e));
    option(OPT_CLIP_VALUE, "0.5");
    assert_false(opens_anew(&e));
    assert_memory_equal(e.text, "train.clip_value: the checkpoint has '0', this run '0.5'", 56);
}

/* A checkpoint in the second epoch: a run of one epoch would report two. */
static void more_epochs_than_the_run_trains_are_refused(void **state)
{
    if (mpi_world_rank() != 0)
        return;
    struct session s;
    struct error e;
    assert_true(session_open(&s, MPI_COMM_SELF, 1) && train_to(&s, 7) && save(&s, &e) == OK);
    session_close(&s);
    option(OPT_EPOCHS, "1");
    assert_false(opens_anew(&e));
    assert_non_null(strstr(e.text,
                           "train.epochs: the checkpoint was written after 1 epochs and 2 steps, "
                           "but this run has only 1 epochs. Use more epochs"));
    assert_int_equal(error_exit_status(&e), 2);
    option(OPT_EPOCHS, "2");
    assert_true(opens_anew(&e));
}

static void pretend_ranks(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    set_text(metadata, "ranks of train.lr_rule", "2");
}

/* With a rate that depends on the number of epochs, or on ranks. */
static void a_rate_of_epochs_or_ranks_is_refused_where_they_differ(void **state)
{
    if (mpi_world_rank() != 0)
        return;
    struct session s;
    struct error e;
    option(OPT_LR_SCHEDULE, "cosine");
    option(OPT_LR_RULE, "linear");
    assert_true(write_one(&s));
    session_close(&s);
    option(OPT_EPOCHS, "99");
    assert_false(opens_anew(&e));
    assert_memory_equal(e.text, "train.epochs: the checkpoint has '100', this run '99'", 53);
    option(OPT_EPOCHS, "100");
    rewrite(pretend_ranks, SEAL_ANEW);
    assert_false(opens_anew(&e));
    assert_memory_equal(e.text, "ranks of train.lr_rule: the checkpoint has '2', this run '1'", 60);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(another_run_is_refused_by_key),
        TEST(more_epochs_than_the_run_trains_are_refused),
        TEST(a_rate_of_epochs_or_ranks_is_refused_where_they_differ),
        TEST(another_net_is_refused),
        TEST(malformed_checkpoints_are_refused),
        TEST(micro_batches_count_where_statistics_are_taken_of_them),
        TEST_VGG(micro_batches_count_where_statistics_are_taken_of_them),
        TEST_VGG(older_checkpoints_were_at_presets),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
