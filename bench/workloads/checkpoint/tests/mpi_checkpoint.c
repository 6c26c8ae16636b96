/* A resumed run equals an uninterrupted one: bit for bit on the same number of ranks, with every
 * strategy, with dropout, within an epoch; up to rounding on another number.
 * ranks: 1 2 3 4
 * double: 1 2 3 */
#include "bench/workloads/checkpoint/tests/checkpoint_fixture.h"

static bool equal_state(const struct session *a, const struct session *b)
{
    const struct arenas *x = arenas_of(a), *y = arenas_of(b);
    const struct loss_scale *one = &a->trainer.sync->loss_scale;
    const struct loss_scale *other = &b->trainer.sync->loss_scale;
    return one->value == other->value && one->hysteresis == other->hysteresis &&
           one->clean == other->clean && one->skipped == other->skipped &&
           memcmp(x->params, y->params, x->n * sizeof(real)) == 0 &&
           memcmp(x->state, y->state, (size_t)x->slots * x->n * sizeof(real)) == 0;
}

/* Trains BEFORE steps, saves and trains on; a second run resumes from the file and must be
 * equal. */
static bool resumes_to_the_bit(void)
{
    struct session whole, resumed;
    struct error e = {.status = OK};
    char reset[CHECKPOINT_RESET];
    bool good = session_open(&whole, MPI_COMM_WORLD, 1) && train_to(&whole, BEFORE) &&
                save(&whole, &e) == OK && train_to(&whole, STEPS);
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
    assert_true(resumes_to_the_bit());
}

static void sgd_is_resumed_to_the_bit(void **state)
{
    option(OPT_OPTIMIZER, "sgd");
    option(OPT_MOMENTUM, "0.5");
    option(OPT_WARMUP_STEPS, "10");
    assert_true(resumes_to_the_bit());
}

static void accumulation_is_resumed_to_the_bit(void **state)
{
    option(OPT_ACCUMULATE, "2");
    assert_true(resumes_to_the_bit());
}

/* With overflows before the checkpoint, and a window that ends after it. */
static void loss_scales_are_resumed_to_the_bit(void **state)
{
    option(OPT_PRECISION, "bf16");
    assert_true(resumes_to_the_bit());
    option(OPT_PRECISION, "fp16");
    option(OPT_LOSS_SCALE_INITIAL, "4294967296");
    option(OPT_LOSS_SCALE_WINDOW, "3");
    assert_true(resumes_to_the_bit());
    option(OPT_LOSS_SCALE_INITIAL, "1024");
    assert_true(resumes_to_the_bit());
}

static bool is_deterministic(enum strategy_kind kind, const char *variant)
{
    unsigned flags = strategy_config_flags(kind, strategy_variant_find(kind, variant));
    return (flags & STRATEGY_DETERMINISTIC) != 0;
}

/* Includes `none`, whose replicas differ. Strategies with variants use their first one. */
static void every_strategy_is_resumed_to_the_bit(void **state)
{
    const char *variants[VARIANTS];
    for (int kind = 0; kind < STRATEGIES; kind++) {
        size_t n = strategy_variant_list((enum strategy_kind)kind, variants);
        const char *variant = variants[n > 1 ? 1 : 0];
        if (!is_deterministic((enum strategy_kind)kind, variant))
            continue;
        option(OPT_STRATEGY, strategy_names()[kind]);
        option(OPT_VARIANT, variant);
        bool good = resumes_to_the_bit();
        if (!good)
            print_error("strategy %s\n", strategy_names()[kind]);
        assert_true(good);
    }
}

/* With several servers, whose parts of the state are merged. */
static void servers_are_resumed_to_the_bit(void **state)
{
    option(OPT_STRATEGY, "param_server");
    option(OPT_sync_servers, mpi_world_ranks() > 1 ? "2" : "1");
    assert_true(resumes_to_the_bit());
}

static void every_compressor_is_resumed_to_the_bit(void **state)
{
    for (int kind = COMPRESSOR_none + 1; kind < COMPRESSORS; kind++) {
        option(OPT_COMPRESS, compressor_names()[kind]);
        bool good = resumes_to_the_bit();
        if (!good)
            print_error("compressor %s\n", compressor_names()[kind]);
        assert_true(good);
    }
}

/* ---- Progress of an epoch ---- */

/* Trains in epoch 0 until `steps` steps are done. kept: writes due checkpoints; NULL: none. Rank
 * 0's loss is made so large that sums are rounded to even numbers. */
static bool score_to(struct session *s, struct progress *p, uint32_t steps, struct resume *kept)
{
    struct step_record taken;
    struct error e;
    bool good = true;
    while (good && p->step < steps) {
        good = trainer_step(&s->trainer, 0, p->step++, &taken, &e) == OK;
        trainer_add_score(&p->train, &taken.score);
        p->train.loss_sum += p->step == 1 && s->trainer.job.rank == 0 ? 0x1p53 : 0;
        good = good && (kept == NULL || resume_after_step(kept, &s->trainer, p, &e) == OK);
    }
    return good;
}

/* Resumes from the file on the ranks of `comm` to the end of the epoch; *score is over all
 * ranks. */
static bool goes_on_to_the_end(MPI_Comm comm, struct score *score)
{
    struct session s;
    struct resume from;
    struct progress p = {.history = NULL};
    struct error e;
    bool good = session_open(&s, comm, 1) && resume_open(&from, &s.trainer, true, &e) == OK &&
                resume_begin(&from, &s.trainer, &p, &e) == OK && p.step == 3 && p.losses == NULL;
    resume_close(&from);
    good = good && score_to(&s, &p, 5, NULL);
    *score = p.train;
    good = trainer_sum_scores(&s.trainer.job, score, &e) == OK && good;
    json_decref(p.history);
    session_close(&s);
    return good;
}

/* On the same number of ranks the loss is equal bit for bit, although it depends on summation
 * order; a single rank continues from the sum. */
static void losses_are_resumed_to_the_bit(void **state)
{
    struct session s;
    struct score whole, resumed;
    struct error e;
    option(OPT_CHECKPOINT_PATH, path);
    option(OPT_CHECKPOINT_STEPS, "3");
    struct resume kept = {.config = &fixture.config};
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && score_to(&s, &s.progress, 5, &kept);
    whole = s.progress.train;
    good = trainer_sum_scores(&s.trainer.job, &whole, &e) == OK && kept.written == 1 && good;
    session_close(&s);
    option(OPT_CHECKPOINT_RESUME, path);
    good = goes_on_to_the_end(MPI_COMM_WORLD, &resumed) && good;
    assert_all(good && resumed.samples == 120 && resumed.correct == whole.correct);
    assert_all(memcmp(&resumed.loss_sum, &whole.loss_sum, sizeof whole.loss_sum) == 0);
    assert_all(goes_on_to_the_end(MPI_COMM_SELF, &resumed) && resumed.samples == 120);
    assert_all(fabs(resumed.loss_sum - whole.loss_sum) <= 0.01 * whole.loss_sum);
}

/* The last rank has found a divergence before the file is written. */
static void a_divergence_is_remembered(void **state)
{
    struct session s;
    struct resume kept = {.config = &fixture.config}, from;
    struct progress p = {.history = NULL};
    struct error e;
    const int last = mpi_world_ranks() - 1;
    option(OPT_CHECKPOINT_PATH, path);
    option(OPT_CHECKPOINT_STEPS, "3");
    bool good = session_open(&s, MPI_COMM_WORLD, 1);
    s.progress.divergence = (struct divergence){.step = mpi_world_rank() == last ? 2 : 3};
    strcpy(s.progress.divergence.text,
           mpi_world_rank() == last ? "loss is nan" : "loss is infinite");
    good = score_to(&s, &s.progress, 3, &kept) && good;
    option(OPT_CHECKPOINT_RESUME, path);
    good = resume_open(&from, &s.trainer, true, &e) == OK &&
           resume_begin(&from, &s.trainer, &p, &e) == OK && good;
    resume_close(&from);
    good = good && p.divergence.step == 2 && strcmp(p.divergence.text, "loss is nan") == 0;
    json_decref(p.history);
    session_close(&s);
    assert_all(good);
}

/* ---- Sections of ranks ---- */

/* Test strategy with own state: rank r saves r + 1 bytes of value r. */
static struct {
    uint8_t saved[64], restored[64];
    size_t bytes;
    int calls;
} kept;

static enum status keep(struct sync *s, const void **data, size_t *bytes, struct error *e)
{
    memset(kept.saved, s->rank, sizeof kept.saved);
    *data = kept.saved;
    *bytes = (size_t)s->rank + 1;
    return OK;
}

static enum status take_back(struct sync *s, const void *data, size_t bytes, struct error *e)
{
    if (bytes > 0)
        memcpy(kept.restored, data, bytes);
    kept.bytes = bytes;
    kept.calls++;
    return OK;
}

/* Saves on `from` and resumes on `to`, with the test strategy. */
static bool keeps(MPI_Comm from, MPI_Comm to, char reset[CHECKPOINT_RESET])
{
    struct session first, second;
    struct error e;
    bool opened = session_open(&first, from, 1), good = session_open(&second, to, 1) && opened;
    struct strategy keeping = *first.trainer.sync->strategy;
    keeping.save = keep;
    keeping.restore = take_back;
    memset(&kept, 0, sizeof kept);
    first.trainer.sync->strategy = second.trainer.sync->strategy = &keeping;
    if (from == MPI_COMM_WORLD || mpi_world_rank() == 0)
        good = save(&first, &e) == OK && good;
    mpi_all(true);
    good = resume(&second, &e, reset) && good;
    session_close(&first);
    session_close(&second);
    return mpi_all(good && kept.calls == 1);
}

static void what_a_strategy_keeps_comes_back_to_its_rank(void **state)
{
    char reset[CHECKPOINT_RESET];
    assert_true(keeps(MPI_COMM_WORLD, MPI_COMM_WORLD, reset));
    assert_all(kept.bytes == (size_t)mpi_world_rank() + 1 && reset[0] == '\0');
    assert_all(memcmp(kept.restored, kept.saved, kept.bytes) == 0);
}

static void what_ranks_kept_is_reset_on_another_number(void **state)
{
    char reset[CHECKPOINT_RESET];
    assert_true(keeps(MPI_COMM_SELF, MPI_COMM_WORLD, reset));
    if (mpi_world_ranks() == 1)
        return;
    char expected[CHECKPOINT_RESET];
    snprintf(expected, sizeof expected,
             "the checkpoint is of allreduce on 1 ranks, this run uses allreduce on %d: "
             "state that each rank kept by itself is reset",
             mpi_world_ranks());
    assert_all(kept.bytes == 0 && strcmp(reset, expected) == 0);
}

/* Sums scaled afterwards are saved unscaled: they are larger than means by the number of ranks. */
static void what_ranks_kept_is_reset_at_another_scale(void **state)
{
    struct session s;
    struct error e;
    char reset[CHECKPOINT_RESET], expected[CHECKPOINT_RESET];
    option(OPT_STRATEGY, "delayed");
    assert_all(session_open(&s, MPI_COMM_WORLD, 1) && train_to(&s, BEFORE) && save(&s, &e) == OK);
    session_close(&s);
    option(OPT_SCALE, "post");
    assert_all(session_open(&s, MPI_COMM_WORLD, 1) && resume(&s, &e, reset));
    snprintf(expected, sizeof expected,
             "the checkpoint is of delayed on %d ranks, this run uses delayed, scaled after on "
             "%d: state that each rank kept by itself is reset",
             mpi_world_ranks(), mpi_world_ranks());
    session_close(&s);
    assert_all(strcmp(reset, expected) == 0);
    assert_true(resumes_to_the_bit());
}

/* ---- Another number of ranks ---- */

/* One rank trains, then all ranks resume. Compares with one rank that continued alone, relative to
 * its movement. Global batches are equal, so the tolerances of mpi_train hold. */
static void more_ranks_go_on(void **state)
{
    struct session before, alone, after;
    struct error e;
    char reset[CHECKPOINT_RESET];
#ifdef SCALEBENCH_F64
    const uint64_t last = STEPS;
    const double allowed = 1e-10;
#else
    const uint64_t last = BEFORE + 1;
    const double allowed = 1e-4;
#endif
    bool good = session_open(&before, MPI_COMM_SELF, 1) && train_to(&before, BEFORE);
    if (mpi_world_rank() == 0)
        good = save(&before, &e) == OK && good;
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

/* All ranks resume with the loss scale of one rank, and it stays equal on all. */
static void more_ranks_take_the_loss_scale(void **state)
{
    struct session before, after;
    struct error e;
    char reset[CHECKPOINT_RESET];
    option(OPT_PRECISION, "fp16");
    option(OPT_LOSS_SCALE_INITIAL, "4294967296");
    option(OPT_LOSS_SCALE_HYSTERESIS, "3");
    bool good = session_open(&before, MPI_COMM_SELF, 1) && train_to(&before, BEFORE);
    if (mpi_world_rank() == 0)
        good = save(&before, &e) == OK && good;
    mpi_all(true);
    good = session_open(&after, MPI_COMM_WORLD, 1) && resume(&after, &e, reset) && good;
    const struct loss_scale *was = &before.trainer.sync->loss_scale;
    const struct loss_scale *is = &after.trainer.sync->loss_scale;
    good = good && was->skipped == BEFORE && was->value == 0x1p27 && equal_state(&before, &after);
    good = train_to(&after, BEFORE + 1) && is->skipped == BEFORE + 1 && is->value == 0x1p26 && good;
    good = is_equal_everywhere(trainer_hash(&after.trainer)) && good;
    session_close(&before);
    session_close(&after);
    assert_all(good);
}

/* A file of ZeRO stage 3, with sharded parameters and moments, resumes on one rank and in every
 * stage on all ranks. They differ at most as single precision allows for one step. */
static void every_stage_goes_on(void **state)
{
    struct session before, alone, after;
    struct error e;
    char reset[CHECKPOINT_RESET], text[16];
    const double allowed = sizeof(real) == sizeof(double) ? 1e-10 : 1e-4;
    option(OPT_sync_zero_persist, "1000");
    option(OPT_sync_zero, "3");
    bool good = session_open(&before, MPI_COMM_WORLD, 1) && train_to(&before, BEFORE) &&
                save(&before, &e) == OK;
    good = session_open(&alone, MPI_COMM_SELF, 1) && resume(&alone, &e, reset) &&
           train_to(&alone, BEFORE + 1) && good;
    for (int stage = 0; stage <= 3; stage++) {
        snprintf(text, sizeof text, "%d", stage);
        option(OPT_sync_zero, text);
        good = session_open(&after, MPI_COMM_WORLD, 1) && resume(&after, &e, reset) &&
               train_to(&after, BEFORE + 1) && good;
        good = sync_eval_begin(after.trainer.sync, &e) == OK && good;
        double distance = relative_difference(arenas_of(&after)->params, arenas_of(&alone)->params,
                                              arenas_of(&before)->params, fixture.desc.n_params);
        session_close(&after);
        assert_all(good && distance <= allowed);
    }
    session_close(&before);
    session_close(&alone);
}

/* ---- Batch norm ---- */

/* Renames running statistics as in schema 1, and removes batch counts, which come first. */
static void make_older(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    static char names[64][NET_NAME_MAX];
    size_t left = 0, renamed = 0;
    for (size_t i = 0; i < *n; i++) {
        const char *part = strstr(list[i].name, ".running_");
        if (strcmp(list[i].dtype, "I64") == 0)
            continue;
        list[left] = list[i];
        if (part != NULL) {
            snprintf(names[renamed], NET_NAME_MAX, "%.*s.%s", (int)(part - list[i].name),
                     list[i].name, part + strlen(".running_"));
            list[left].name = names[renamed++];
        }
        left++;
    }
    assert_int_equal(renamed, fixture.desc.n_buffers);
    *n = left;
}

static bool same_statistics(const struct session *a, const struct session *b)
{
    const struct arenas *x = arenas_of(a), *y = arenas_of(b);
    return memcmp(x->buffers, y->buffers, x->n_buffers * sizeof(real)) == 0 &&
           a->trainer.batches_tracked == b->trainer.batches_tracked;
}

static void older_checkpoints_are_read(void **state)
{
    struct session first, second;
    struct error e;
    char reset[CHECKPOINT_RESET];
    if (mpi_world_rank() != 0)
        return;
    assert_true(session_open(&first, MPI_COMM_SELF, 1) && train_to(&first, 2));
    assert_int_equal(first.trainer.batches_tracked, 2);
    first.trainer.batches_tracked = 7; /* as if read from a file of PyTorch */
    assert_int_equal(save(&first, &e), OK);
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

/* ---- Stages of a pipeline ---- */

static void set_stages(int stages)
{
    char text[16];
    snprintf(text, sizeof text, "%d", stages);
    option(OPT_PIPELINE, text);
}

/* Opens the file on one rank and compares with another run on one rank. */
static bool holds_the_state_of(const struct session *alone)
{
    struct session read;
    struct error e;
    char reset[CHECKPOINT_RESET];
    set_stages(1);
    bool good = session_open(&read, MPI_COMM_SELF, 1) && resume(&read, &e, reset);
    good = good && equal_state(alone, &read) &&
           (fixture.desc.n_buffers == 0 || same_statistics(alone, &read)) &&
           read.trainer.steps_done == alone->trainer.steps_done;
    session_close(&read);
    return mpi_all(good);
}

/* Resumes on all ranks in `stages` stages (or begins anew), trains to `steps` and saves. */
static bool goes_on_in_stages(int stages, bool anew, uint64_t steps)
{
    struct session s;
    struct error e = {.status = OK};
    char reset[CHECKPOINT_RESET];
    set_stages(stages);
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && (anew || resume(&s, &e, reset));
    mpi_all(good); /* barrier: all ranks have read the file */
    good = train_to(&s, steps) && save(&s, &e) == OK && good;
    if (e.status != OK)
        print_error("%s %s\n", e.file, e.text);
    session_close(&s);
    return mpi_all(good);
}

/* Any number of stages can read a checkpoint that stages wrote. With one rank per stage, results
 * equal one rank's bit for bit. */
static void stages_write_a_whole_checkpoint(void **state)
{
    struct session alone;
    int ranks = mpi_world_ranks();
    if (ranks > 4)
        return;
    option(OPT_ACCUMULATE, "4");
    option(OPT_KERNELS, "exact"); /* its ops are single layers: enough for four stages */
    set_stages(1);
    assert_all(session_open(&alone, MPI_COMM_SELF, 1) && train_to(&alone, BEFORE));
    assert_all(goes_on_in_stages(ranks, true, BEFORE) && holds_the_state_of(&alone));
    for (int stages = 1; stages < ranks; stages++)
        if (ranks % stages == 0)
            assert_all(goes_on_in_stages(stages, false, BEFORE) && holds_the_state_of(&alone));
    assert_all(goes_on_in_stages(ranks, false, STEPS) && train_to(&alone, STEPS) &&
               holds_the_state_of(&alone));
    session_close(&alone);
}

/* ---- Slices of layers ---- */

static void set_slices(int slices)
{
    char text[16];
    snprintf(text, sizeof text, "%d", slices);
    option(OPT_TENSOR, text);
}

static bool has_slice_of(const real *whole, const real *own, const struct net_desc *slice)
{
    bool same = true;
    for (int i = 0; i < slice->n_tensors; i++)
        for (size_t k = 0; k < slice->tensors[i].count; k++) {
            size_t element = net_slice_element(&fixture.desc, slice, i, k);
            same = same && own[slice->tensors[i].offset + k] ==
                               whole[fixture.desc.tensors[i].offset + element];
        }
    return same;
}

/* Opens the file on one rank and compares with a slice. */
static bool file_has_the_slice(const struct session *cut)
{
    struct session read;
    struct error e;
    char reset[CHECKPOINT_RESET];
    const struct arenas *own = arenas_of(cut), *whole;
    const struct net_desc *slice = &cut->trainer.model.slice.desc;
    set_slices(1);
    bool good = session_open(&read, MPI_COMM_SELF, 1) && resume(&read, &e, reset);
    whole = arenas_of(&read);
    good = good && has_slice_of(whole->params, own->params, slice);
    for (int k = 0; k < own->slots && good; k++)
        good = has_slice_of(whole->state + (size_t)k * whole->n, own->state + (size_t)k * own->n,
                            slice);
    session_close(&read);
    return mpi_all(good);
}

/* Reads and rewrites the file with `slices` slices. */
static bool passes_through(int slices)
{
    struct session s;
    struct error e;
    char reset[CHECKPOINT_RESET];
    set_slices(slices);
    bool good = session_open(&s, MPI_COMM_WORLD, 1) && resume(&s, &e, reset);
    mpi_all(good); /* barrier: all ranks have read the file */
    good = save(&s, &e) == OK && good;
    session_close(&s);
    return mpi_all(good);
}

/* One rank, or any number of slices, can read a checkpoint that slices wrote. */
static void slices_write_a_whole_checkpoint(void **state)
{
    struct session cut;
    struct error e;
    int ranks = mpi_world_ranks();
    if (ranks == 1)
        return;
    set_slices(ranks);
    assert_true(resumes_to_the_bit());
    bool good = session_open(&cut, MPI_COMM_WORLD, 1) && train_to(&cut, BEFORE);
    good = save(&cut, &e) == OK && good;
    assert_all(good && file_has_the_slice(&cut));
    for (int slices = 1; slices < ranks; slices++)
        if (ranks % slices == 0)
            assert_all(passes_through(slices) && file_has_the_slice(&cut));
    session_close(&cut);
}

/* ---- Weights only ---- */

static void keep_params(struct safetensors_tensor *list, size_t *n, json_t *metadata)
{
    *n = (size_t)fixture.desc.n_tensors;
    json_object_clear(metadata);
}

/* Uses a file with weights only, like files of other programs. */
static void weights_alone_start_a_run(void **state)
{
    struct session trained, started;
    struct checkpoint c;
    struct error e = {.status = OK};
    bool good = session_open(&trained, MPI_COMM_WORLD, 1) && train_to(&trained, 2) &&
                save(&trained, &e) == OK;
    if (mpi_world_rank() == 0)
        rewrite(keep_params, SEAL_LEFT);
    mpi_all(true);
    option(OPT_SEED, "9");
    good = session_open(&started, MPI_COMM_WORLD, 1) && good && !opens(&started, &e);
    const struct checkpoint_state here = resume_state(&started.trainer);
    good = checkpoint_open_weights(&c, path, &here, &e) == OK && good &&
           checkpoint_restore(&c, &here, &e) == OK;
    checkpoint_close(&c);
    good = good && trainer_hash(&started.trainer) == trainer_hash(&trained.trainer) &&
           started.trainer.steps_done == 0 && started.trainer.sync->arenas.state[0] == 0;
    session_close(&trained);
    session_close(&started);
    assert_all(good);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gemm_init();
    const struct CMUnitTest tests[] = {
        TEST(adam_is_resumed_to_the_bit),
        TEST(sgd_is_resumed_to_the_bit),
        TEST(accumulation_is_resumed_to_the_bit),
        TEST(loss_scales_are_resumed_to_the_bit),
        TEST(every_strategy_is_resumed_to_the_bit),
        TEST(servers_are_resumed_to_the_bit),
        TEST(every_compressor_is_resumed_to_the_bit),
        TEST(losses_are_resumed_to_the_bit),
        TEST(a_divergence_is_remembered),
        TEST(what_a_strategy_keeps_comes_back_to_its_rank),
        TEST(what_ranks_kept_is_reset_on_another_number),
        TEST(what_ranks_kept_is_reset_at_another_scale),
        TEST(more_ranks_go_on),
        TEST(more_ranks_take_the_loss_scale),
        TEST(every_stage_goes_on),
        TEST_VGG(older_checkpoints_are_read),
        TEST(stages_write_a_whole_checkpoint),
        TEST_VGG(stages_write_a_whole_checkpoint),
        TEST(slices_write_a_whole_checkpoint),
        TEST(weights_alone_start_a_run),
    };
    int failed = mpi_run_group(tests, train_waiters_open, train_waiters_close);
    MPI_Finalize();
    return failed;
}
