/* Campaigns in memory: a spec and a journal, to which launches are added as the runner does. */
#pragma once

#include "bench/order/launch_order.h"

#include <math.h>

#include "bench/spec/tests/spec_file.h"

struct campaign_fixture {
    struct spec spec;
    struct journal journal;
    struct launch_order order;
};

static inline void fixture_open(struct campaign_fixture *f)
{
    struct error e = {.status = OK};
    if (launch_order_open(&f->order, &f->spec, &f->journal, "/nowhere", 1, &e) != OK)
        fail_msg("%s", e.text);
}

/* Loads a spec that consists of BODY and `text`. */
static inline void fixture_load(struct campaign_fixture *f, const char *text)
{
    char whole[2000];
    snprintf(whole, sizeof whole, BODY "%s\n", text);
    load(&f->spec, whole, NULL);
}

static inline void fixture_begin(struct campaign_fixture *f, const char *text)
{
    *f = (struct campaign_fixture){.journal = {.fd = -1}};
    fixture_load(f, text);
    fixture_open(f);
}

/* Resumes with another spec, or with the same spec (NULL) as after an interruption. */
static inline void fixture_go_on(struct campaign_fixture *f, const char *text)
{
    launch_order_close(&f->order);
    if (text != NULL) {
        spec_free(&f->spec);
        fixture_load(f, text);
    }
    fixture_open(f);
}

static inline void fixture_end(struct campaign_fixture *f)
{
    launch_order_close(&f->order);
    for (size_t i = 0; i < f->journal.n_blocks; i++)
        free(f->journal.blocks[i].points);
    free(f->journal.blocks);
    free(f->journal.launches);
    free(f->journal.skips);
    spec_free(&f->spec);
}

static inline void fixture_learn(struct campaign_fixture *f)
{
    struct error e = {.status = OK};
    if (launch_order_learn(&f->order, &e) != OK)
        fail_msg("%s", e.text);
}

static inline bool fixture_next(struct campaign_fixture *f, struct next_launch *next)
{
    bool found;
    struct error e = {.status = OK};
    if (launch_order_next(&f->order, next, &found, &e) != OK)
        fail_msg("%s", e.text);
    return found;
}

static inline void *fixture_grown(void *items, size_t n, size_t size)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return items;
    items = realloc(items, (n > 0 ? 2 * n : 1) * size);
    assert_non_null(items);
    return items;
}

/* Writes the line of a new block before its first launch, as the runner does. */
static inline void fixture_write_block(struct campaign_fixture *f, const struct next_launch *next)
{
    struct journal *j = &f->journal;
    if (next->n_begins == 0)
        return;
    j->blocks = fixture_grown(j->blocks, j->n_blocks, sizeof *j->blocks);
    struct journal_block *block = &j->blocks[j->n_blocks++];
    *block = (struct journal_block){
        .block = next->block, .n_points = next->n_begins, .first_launch = j->n_launches};
    block->points = calloc(next->n_begins, sizeof *block->points);
    assert_non_null(block->points);
    for (size_t i = 0; i < next->n_begins; i++)
        strcpy(block->points[i], next->begins[i]);
}

/* Adds the launch as running and returns it. */
static inline struct journal_launch *fixture_start(struct campaign_fixture *f,
                                                   const struct next_launch *next)
{
    struct journal *j = &f->journal;
    fixture_write_block(f, next);
    j->launches = fixture_grown(j->launches, j->n_launches, sizeof *j->launches);
    struct journal_launch *l = &j->launches[j->n_launches++];
    *l = (struct journal_launch){.run = next->run,
                                 .block = next->block,
                                 .seed = next->seed,
                                 .foreign_pct = NAN,
                                 .exit_status = -1,
                                 .step_ms = NAN,
                                 .images = NAN,
                                 .comm_replay_ms = NAN};
    strcpy(l->point, f->spec.points[next->point].id);
    return l;
}

/* Runs a launch with the given time per step. */
static inline void fixture_run(struct campaign_fixture *f, const struct next_launch *next,
                               double step_ms)
{
    struct journal_launch *l = fixture_start(f, next);
    l->status = LAUNCH_OK;
    l->wall_s = 5;
    l->step_ms = step_ms;
    l->images = 64;
    fixture_learn(f);
}

static inline void fixture_fail(struct campaign_fixture *f, const struct next_launch *next,
                                const char *reason, int exit_status)
{
    struct journal_launch *l = fixture_start(f, next);
    l->status = LAUNCH_FAILED;
    l->wall_s = 5;
    l->exit_status = exit_status;
    snprintf(l->reason, sizeof l->reason, "%s", reason);
    fixture_learn(f);
}
