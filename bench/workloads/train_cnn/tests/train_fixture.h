/* Fixture of trainer tests: a few images, a net, a configuration, and training sessions.
 *
 * With more ranks than cores, opening a waiter takes longer than most tests. Sessions on all ranks
 * therefore borrow one of two waiters of the program. main passes train_waiters_open and
 * train_waiters_close to the group. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "comm/tests/mpi_test.h"
#include "kernels/base/rng.h"

enum { IMAGES = 120, TEST_IMAGES = 37, PIXELS_MAX = 3 * 32 * 32 };

static struct {
    struct config config;
    struct net_desc desc;
    struct data_set data;
    uint8_t images[(IMAGES + TEST_IMAGES) * PIXELS_MAX], labels[IMAGES + TEST_IMAGES];
} fixture;

static inline void option(enum option_id id, const char *text)
{
    struct error e;
    assert_int_equal(config_set(&fixture.config, option_get(id), text, (struct mark){0}, &e), OK);
}

/* Draws images: a pattern per class plus noise, so that training can learn. */
static inline void draw(uint8_t *images, uint8_t *labels, uint32_t n, uint32_t pixels,
                        uint32_t epoch)
{
    for (uint32_t i = 0; i < n; i++) {
        labels[i] = (uint8_t)(i % 10);
        for (uint32_t j = 0; j < pixels; j++) {
            uint32_t noise = rng_word(7, RNG_STREAM(RNG_DIGITS, 1), epoch, i, j) % 96;
            images[i * pixels + j] = (uint8_t)(noise + (j % 10 == labels[i] ? 150 : 0));
        }
    }
}

static inline int setup_model(const char *model, struct shape shape)
{
    struct error e;
    uint32_t pixels = (uint32_t)shape_count(shape);
    memset(&fixture, 0, sizeof fixture);
    uint8_t *test_images = fixture.images + IMAGES * pixels, *labels = fixture.labels;
    draw(fixture.images, labels, IMAGES, pixels, 0);
    draw(test_images, labels + IMAGES, TEST_IMAGES, pixels, 1);
    fixture.data = (struct data_set){
        .name = "patterns",
        .source = "generated",
        .shape = shape,
        .classes = 10,
        .train = {.images = fixture.images, .labels = labels, .n = IMAGES},
        .test = {.images = test_images, .labels = labels + IMAGES, .n = TEST_IMAGES}};
    if (config_init(&fixture.config, &e) != OK || model_load(&fixture.desc, model, &e) != OK)
        return -1;
    option(OPT_GLOBAL_BATCH, "25"); /* 5 steps per epoch */
    option(OPT_MOMENTUM, "0.5");
    option(OPT_LR, "0.01");
    return 0;
}

static inline int setup(void **state)
{
    return setup_model("lenet_21k", (struct shape){1, 28, 28});
}

static inline int setup_vgg(void **state)
{
    return setup_model("vgg_mini", (struct shape){3, 32, 32});
}

static inline int teardown(void **state)
{
    config_free(&fixture.config);
    net_desc_free(&fixture.desc);
    return 0;
}

/* ---- Waiters ---- */

enum { WAITERS = 2 };
static struct {
    struct waiter waiter;
    bool lent;
} waiters[WAITERS];

static inline int train_waiters_open(void **state)
{
    struct error e;
    bool good = true;
    for (int i = 0; i < WAITERS; i++)
        good = waiter_open(&waiters[i].waiter, WAIT_YIELD, 120, MPI_COMM_WORLD, &e) == OK && good;
    return good ? 0 : -1;
}

static inline int train_waiters_close(void **state)
{
    for (int i = 0; i < WAITERS; i++)
        waiter_close(&waiters[i].waiter);
    return 0;
}

/* Returns NULL if all waiters are lent. */
static inline struct waiter *borrow_waiter(void)
{
    int i = 0;
    while (i < WAITERS && waiters[i].lent)
        i++;
    if (i == WAITERS)
        return NULL;
    waiters[i].lent = true;
    return &waiters[i].waiter;
}

static inline void return_waiter(const struct waiter *w)
{
    for (int i = 0; i < WAITERS; i++)
        if (w == &waiters[i].waiter)
            waiters[i].lent = false;
}

/* ---- Sessions ---- */

/* Trainer on MPI_COMM_WORLD or MPI_COMM_SELF, with the objects that it borrows, and its
 * progress. */
struct session {
    struct waiter alone; /* waiter of a one-rank session */
    struct pool *pool;
    struct trainer trainer;
    struct progress progress;
};

/* Work options of sessions opened from now on. */
static struct work_options session_work;

/* Sums of squared gradients of sessions opened from now on; NULL: none. */
static struct noise_sums *session_noise;

static inline bool session_open(struct session *s, MPI_Comm comm, int threads)
{
    struct error e;
    snprintf(mpi_subject, sizeof mpi_subject, "%s, %s, %s, batch %s, %d threads", fixture.desc.name,
             config_text(&fixture.config, OPT_STRATEGY),
             config_text(&fixture.config, OPT_OPTIMIZER),
             config_text(&fixture.config, OPT_GLOBAL_BATCH), threads);
    memset(s, 0, sizeof *s);
    s->progress.history = json_array();
    s->trainer = (struct trainer){.config = &fixture.config,
                                  .model.desc = &fixture.desc,
                                  .data = &fixture.data,
                                  .job.waiter = &s->alone,
                                  .job.comm = comm,
                                  .noise = session_noise,
                                  .work = session_work};
    if (comm == MPI_COMM_WORLD)
        s->trainer.job.waiter = borrow_waiter();
    else if (waiter_open(&s->alone, WAIT_YIELD, 120, comm, &e) != OK)
        return false;
    return s->trainer.job.waiter != NULL && pool_create(&s->pool, threads, NULL, NULL, &e) == OK &&
           trainer_open(&s->trainer, s->pool, &e) == OK && trainer_connect(&s->trainer, &e) == OK;
}

static inline void session_close(struct session *s)
{
    trainer_close(&s->trainer);
    pool_destroy(s->pool);
    if (s->trainer.job.waiter == &s->alone)
        waiter_close(&s->alone);
    return_waiter(s->trainer.job.waiter);
    json_decref(s->progress.history);
}

static inline bool session_step(struct session *s, uint32_t i)
{
    struct error e;
    struct step_record record;
    uint32_t steps = s->trainer.batches.sampler.steps;
    return trainer_step(&s->trainer, i / steps, i % steps, &record, &e) == OK;
}

static inline bool session_steps(struct session *s, int n)
{
    bool good = true;
    for (int i = 0; i < n; i++)
        good = session_step(s, (uint32_t)i) && good;
    return good;
}

static inline struct arenas *arenas_of(const struct session *s)
{
    return &s->trainer.sync->arenas;
}

/* Returns the norm of a - b over the norm of b - c. */
static inline double relative_difference(const real *a, const real *b, const real *c, size_t n)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += ((double)b[i] - (double)c[i]) * ((double)b[i] - (double)c[i]);
    }
    return sqrt(difference / size);
}

static inline bool is_equal_everywhere(uint64_t hash)
{
    uint64_t root = hash;
    mpi_bcast(&root, 1, MPI_UINT64_T);
    return mpi_all(root == hash);
}
