/* Fixture of checkpoint tests: a file per test, sessions of training that save and resume, and
 * changes to the file. */
#pragma once

#include <inttypes.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "bench/workloads/train_cnn/resume.h"
#include "bench/workloads/train_cnn/tests/train_fixture.h"

enum { BEFORE = 7, STEPS = 12 };

/* The path is the same on all ranks. */
static char folder[64], path[96];

static inline int setup_with(int (*setup_net)(void **), void **state)
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
    option(OPT_EPOCHS, "100");
    return 0;
}

static inline int setup_file(void **state)
{
    return setup_with(setup, state);
}

static inline int setup_vgg_file(void **state)
{
    return setup_with(setup_vgg, state);
}

static inline int teardown_file(void **state)
{
    mpi_all(true);
    if (mpi_world_rank() == 0) {
        unlink(path);
        rmdir(folder);
    }
    return teardown(state);
}

/* Trains until `steps` steps are done. */
static inline bool train_to(struct session *s, uint64_t steps)
{
    struct error e;
    struct step_record taken;
    struct progress *p = &s->progress;
    bool good = true;
    while (good && s->trainer.steps_done < steps) {
        if (p->step == s->trainer.batches.sampler.steps) {
            p->epoch++;
            p->step = 0;
        }
        good = trainer_step(&s->trainer, p->epoch, p->step++, &taken, &e) == OK;
    }
    return good;
}

/* Collective over the session's ranks. */
static inline enum status save(struct session *s, struct error *e)
{
    const struct checkpoint_state state = resume_state(&s->trainer);
    return checkpoint_write(path, &state, &s->progress, e);
}

static inline bool resume(struct session *s, struct error *e, char reset[CHECKPOINT_RESET])
{
    struct checkpoint c;
    const struct checkpoint_state state = resume_state(&s->trainer);
    bool good =
        checkpoint_open(&c, path, &state, e) == OK && checkpoint_restore(&c, &state, e) == OK;
    s->progress.epoch = c.progress.epoch;
    s->progress.step = c.progress.step;
    strcpy(reset, c.reset);
    checkpoint_close(&c);
    return good;
}

static inline bool opens(struct session *s, struct error *e)
{
    struct checkpoint c;
    const struct checkpoint_state state = resume_state(&s->trainer);
    bool good = checkpoint_open(&c, path, &state, e) == OK;
    checkpoint_close(&c);
    return good;
}

/* ---- Changed files ---- */

/* Hash to write into a changed checkpoint: unchanged, computed again, or the hash of schema 1. */
enum seal { SEAL_LEFT, SEAL_ANEW, SEAL_SCHEMA_1 };

static inline void set_hash(json_t *metadata, const char *key, uint64_t hash)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_object_set_new(metadata, key, json_string(text));
}

static inline void seal_anew(json_t *metadata, const struct safetensors_tensor *list, size_t n)
{
    uint64_t hash;
    struct error e;
    assert_int_equal(layout_hash(list, n, metadata, &hash, &e), OK);
    set_hash(metadata, "xxh3", hash);
}

/* Hashes as schema 1: only the tensors' bytes. */
static inline void seal_schema_1(json_t *metadata, const struct safetensors_tensor *list, size_t n)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < n; i++)
        XXH3_64bits_update(&state, list[i].data, list[i].bytes);
    json_object_del(metadata, "xxh3");
    json_object_set_new(metadata, "scalebench.checkpoint", json_string("1"));
    set_hash(metadata, "data_xxh3", XXH3_64bits_digest(&state));
}

/* Rewrites the checkpoint after `change` has edited its tensors and metadata. */
static inline void rewrite(void (*change)(struct safetensors_tensor *, size_t *, json_t *),
                           enum seal seal)
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

#define TEST(function)     cmocka_unit_test_setup_teardown(function, setup_file, teardown_file)
#define TEST_VGG(function) cmocka_unit_test_setup_teardown(function, setup_vgg_file, teardown_file)
