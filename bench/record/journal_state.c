#include "bench/record/journal_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/json.h"
#include "kernels/base/mem.h"

const char *const journal_runs[] = {"time", "accuracy"};
const char *const journal_statuses[] = {"running", "ok", "failed", "timeout", "diverged"};

/* ---- Numbers ---- */

/* Of the end of a launch, by their names in its line. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
#define NUMBER(name, member)               {#name, offsetof(struct journal_launch, member)},
#define NOISE(id, unit, launches, meaning) NUMBER(id, noise.id)
    NUMBER(foreign_pct, foreign_pct) NUMBER(step_ms, step_ms) NUMBER(images, images)
        NUMBER(comm_replay_ms, comm_replay_ms)
#include "bench/record/noise.def"
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

void journal_read_numbers(struct journal_launch *ended, const json_t *line)
{
    for (int i = 0; i < NUMBERS; i++)
        *(double *)((char *)ended + numbers[i].offset) = json_known(line, numbers[i].name);
}

void journal_write_numbers(json_t *line, const struct journal_launch *ended)
{
    for (int i = 0; i < NUMBERS; i++)
        json_set_known(line, numbers[i].name,
                       *(const double *)((const char *)ended + numbers[i].offset));
}

/* ---- Lists ---- */

/* Enters a launch by its name, in place of an earlier one of that name; there is room. */
static void enter_launch(struct journal *j, size_t i)
{
    ENTRY *entry;
    hsearch_r((ENTRY){.key = j->launches[i].launch}, ENTER, &entry, &j->names);
    entry->key = j->launches[i].launch;
    entry->data = (void *)i;
}

/* A table that borrows the names of launches is made anew when these move, as they double. */
static enum status grow_names(struct journal *j, struct error *e)
{
    size_t room = j->n_launches > 0 ? 2 * j->n_launches : 1;
    if (j->n_launches > 0)
        hdestroy_r(&j->names);
    j->names = (struct hsearch_data){0};
    if (!hcreate_r(room + room / 2 + 1, &j->names))
        return error_no_memory(e, "the journal");
    for (size_t i = 0; i < j->n_launches; i++)
        enter_launch(j, i);
    return OK;
}

enum status journal_add_launch(struct journal *j, const struct journal_launch *launch,
                               struct error *e)
{
    TRY(MEM_GROW(j->launches, j->n_launches, "the journal", e));
    if ((j->n_launches & (j->n_launches - 1)) == 0)
        TRY(grow_names(j, e));
    j->launches[j->n_launches] = *launch;
    enter_launch(j, j->n_launches++);
    return OK;
}

enum status journal_add_skip(struct journal *j, const struct journal_skip *skip, struct error *e)
{
    TRY(MEM_GROW(j->skips, j->n_skips, "the journal", e));
    j->skips[j->n_skips++] = *skip;
    return OK;
}

void journal_forget_skip(struct journal *j, const char *point)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->n_skips; i++)
        if (strcmp(j->skips[i].point, point) != 0)
            j->skips[kept++] = j->skips[i];
    j->n_skips = kept;
}

enum status journal_add_block(struct journal *j, int block, size_t n, struct error *e)
{
    struct journal_block begun = {.block = block, .first_launch = j->n_launches};
    TRY(MEM_GROW(j->blocks, j->n_blocks, "the journal", e));
    TRY(MEM_NEW(begun.points, n, "the journal", e));
    j->blocks[j->n_blocks++] = begun;
    return OK;
}

void journal_add_point(struct journal *j, const char *point)
{
    struct journal_block *block = &j->blocks[j->n_blocks - 1];
    snprintf(block->points[block->n_points++], sizeof *block->points, "%s", point);
}

struct journal_key *journal_find_key(const struct journal *j, const char *point)
{
    for (size_t i = 0; i < j->n_keys; i++)
        if (strcmp(j->keys[i].point, point) == 0)
            return &j->keys[i];
    return NULL;
}

enum status journal_set_key(struct journal *j, const char *point, const char *name, struct error *e)
{
    struct journal_key *key = journal_find_key(j, point);
    if (key == NULL) {
        TRY(MEM_GROW(j->keys, j->n_keys, "the journal", e));
        key = &j->keys[j->n_keys++];
        snprintf(key->point, sizeof key->point, "%s", point);
    }
    snprintf(key->key, sizeof key->key, "%s", name);
    j->finished = false;
    return OK;
}

/* ---- Launches ---- */

const struct journal_launch journal_not_ended = {.status = LAUNCH_RUNNING,
                                                 .foreign_pct = NAN,
                                                 .exit_status = -1,
                                                 .step_ms = NAN,
                                                 .images = NAN,
                                                 .comm_replay_ms = NAN,
                                                 .noise = {
#define NOISE(id, unit, launches, meaning) .id = NAN,
#include "bench/record/noise.def"
                                                 }};

/* Launches of earlier versions have no key. */
void journal_find_outdated(struct journal_launch *launch, const struct journal_key *key)
{
    launch->outdated = launch->key[0] != '\0' && strcmp(launch->key, key->key) != 0;
}

struct journal_launch *journal_find_launch(struct journal *j, const char *name)
{
    ENTRY *entry;
    if (j->n_launches == 0 || !hsearch_r((ENTRY){.key = (char *)name}, FIND, &entry, &j->names))
        return NULL;
    return &j->launches[(size_t)entry->data];
}

void journal_end_launch(struct journal_launch *launch, const struct journal_launch *ended)
{
    launch->status = ended->status;
    launch->retried = false;
    memcpy(launch->reason, ended->reason, sizeof launch->reason);
    launch->wall_s = ended->wall_s;
    launch->foreign_pct = ended->foreign_pct;
    launch->exit_status = ended->exit_status;
    launch->step_ms = ended->step_ms;
    launch->images = ended->images;
    launch->comm_replay_ms = ended->comm_replay_ms;
    launch->noise = ended->noise;
}

void journal_take_back(struct journal *j, struct journal_launch *launch)
{
    if (launch_is_done(launch))
        journal_end_launch(launch, &journal_not_ended);
    else
        launch->retried = true;
    j->finished = false;
}
