#include "bench/workloads/train_cnn/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/log.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

static bool is_no(const char *text)
{
    return strcmp(text, "no") == 0;
}

/* Returns the path of the checkpoint to resume from. Returns NULL if checkpoint.resume = no, or if
 * checkpoint.resume = auto and the file checkpoint.path does not exist. */
static const char *file_to_resume(const struct config *config)
{
    const char *resume = config_text(config, OPT_CHECKPOINT_RESUME);
    const char *path = config_text(config, OPT_CHECKPOINT_PATH);
    if (is_no(resume))
        return NULL;
    if (strcmp(resume, "auto") != 0)
        return resume;
    return access(path, F_OK) == 0 ? path : NULL;
}

struct checkpoint_state resume_state(struct trainer *t)
{
    return (struct checkpoint_state){
        .sync = t->sync,
        .arenas = &t->sync->arenas,
        .parts = t->job.grid.stages > 1 || t->job.grid.slices > 1 ? &t->model.parts : NULL,
        .comm = t->job.comm,
        .steps_done = &t->steps_done,
        .batches_tracked = &t->batches_tracked,
        .config = t->config,
        .desc = t->model.desc,
        .data_name = t->data->name,
        .data_source = t->data->source,
        .samples = t->batches.sampler.n_samples,
        .global_batch = t->batches.global_batch,
        .epoch_steps = t->batches.sampler.steps,
        .rescales = t->rescales,
    };
}

enum status resume_open(struct resume *r, struct trainer *t, bool resumes, struct error *e)
{
    *r = (struct resume){.config = t->config};
    const char *start = config_text(t->config, OPT_CHECKPOINT_START);
    const char *path = resumes ? file_to_resume(t->config) : NULL;
    const struct checkpoint_state state = resume_state(t);
    r->opened = path != NULL || !is_no(start);
    if (path != NULL)
        return checkpoint_open(&r->checkpoint, path, &state, e);
    return r->opened ? checkpoint_open_weights(&r->checkpoint, start, &state, e) : OK;
}

void resume_close(struct resume *r)
{
    checkpoint_close(&r->checkpoint);
}

/* With checkpoint.resume = auto, fails if some ranks, but not all, found the checkpoint. Without
 * this check, ranks without a shared folder would start from different states. */
static enum status check_all_found(const struct resume *r, const struct job *job, struct error *e)
{
    int found = r->opened;
    TRY(wait_allreduce(job->waiter, &found, 1, MPI_INT, MPI_SUM, job->comm,
                       "count of the ranks that see the checkpoint", e));
    if (found == 0 || found == job->ranks)
        return OK;
    return error_at(e, ERR_DATA, config_text(r->config, OPT_CHECKPOINT_PATH), 0, 0,
                    "only %d of %d ranks find this file. Use a folder that all ranks share", found,
                    job->ranks);
}

static void announce(const struct resume *r, const struct progress *p, uint32_t steps)
{
    const struct checkpoint *c = &r->checkpoint;
    if (!r->opened && !is_no(config_text(r->config, OPT_CHECKPOINT_RESUME)))
        printf("checkpoint %s not found: starting from the first step\n",
               config_text(r->config, OPT_CHECKPOINT_PATH));
    else if (r->opened && c->weights_only)
        printf("weights from %s\n", c->file.path);
    else if (r->opened)
        printf("resumed from %s after %llu steps: epoch %u, step %u of %u\n", c->file.path,
               (unsigned long long)p->steps_done, p->epoch + 1, p->step, steps);
    fflush(stdout);
    if (r->opened && c->reset[0] != '\0')
        log_print(LOG_WARNING, "%s: %s", c->file.path, c->reset);
    if (r->opened && c->prefix[0] != '\0')
        log_print(LOG_NOTE, "%s: prefix '%s' of all tensor names is ignored", c->file.path,
                  c->prefix);
    if (r->opened && c->rounded)
        log_print(LOG_NOTE, "%s: F64 tensors are rounded to F32", c->file.path);
}

/* Restores progress from the checkpoint. The training score in the file is a sum over ranks, so
 * rank 0 continues from it and all other ranks from 0. Exception: if the number of ranks is
 * unchanged, each rank continues from its own loss sum, so that sums round as in an uninterrupted
 * run. */
static enum status take_progress(const struct resume *r, const struct trainer *t,
                                 struct progress *progress, struct error *e)
{
    *progress = (struct progress){.history = NULL};
    if (r->opened && !r->checkpoint.weights_only)
        *progress = r->checkpoint.progress;
    if (t->job.rank != 0)
        progress->train = (struct score){0};
    if (progress->n_losses == (size_t)t->job.ranks)
        progress->train.loss_sum = progress->losses[t->job.rank];
    progress->losses = NULL;
    progress->n_losses = 0;
    progress->history =
        progress->history != NULL ? json_deep_copy(progress->history) : json_array();
    return progress->history != NULL ? OK : error_no_memory(e, "a run's epochs");
}

enum status resume_begin(struct resume *r, struct trainer *t, struct progress *progress,
                         struct error *e)
{
    const struct checkpoint_state state = resume_state(t);
    TRY(check_all_found(r, &t->job, e));
    if (r->opened)
        TRY(checkpoint_restore(&r->checkpoint, &state, e));
    TRY(take_progress(r, t, progress, e));
    t->steps_aside =
        t->steps_done - ((uint64_t)progress->epoch * t->batches.sampler.steps + progress->step);
    if (t->job.rank == 0)
        announce(r, progress, t->batches.sampler.steps);
    return OK;
}

/* Returns whether a checkpoint is due after `done` steps or epochs. The value of `option` is the
 * interval between checkpoints, in steps or epochs; 0: never. */
static bool is_due(const struct resume *r, enum option_id option, uint64_t done)
{
    uint64_t every = (uint64_t)config_int(r->config, option);
    return every > 0 && done % every == 0;
}

/* The part of a rank's progress that differs between ranks. */
struct standing {
    double loss;
    struct divergence divergence;
};

static void take_standings(struct progress *global, double *losses, const struct standing *all,
                           int ranks)
{
    struct divergence *first = &global->divergence;
    for (int r = 0; r < ranks; r++) {
        const struct divergence *own = &all[r].divergence;
        losses[r] = all[r].loss;
        if (own->step > 0 && (first->step == 0 || own->step < first->step))
            *first = *own;
    }
    global->losses = losses;
    global->n_losses = (size_t)ranks;
}

/* Buffers [ranks] on rank 0 for the progress of all ranks. */
struct standings {
    struct standing *all;
    double *losses;
};

static enum status write_progress(const struct resume *r, struct trainer *t,
                                  const struct progress *progress, const struct standings *room,
                                  struct error *e)
{
    const struct checkpoint_state state = resume_state(t);
    const struct standing mine = {progress->train.loss_sum, progress->divergence};
    struct progress global = *progress;
    TRY(wait_gather(t->job.waiter, &mine, sizeof mine, room->all, 0, t->job.comm,
                    "progress of all ranks", e));
    TRY(trainer_sum_scores(&t->job, &global.train, e));
    if (t->job.rank == 0)
        take_standings(&global, room->losses, room->all, t->job.ranks);
    return checkpoint_write(config_text(r->config, OPT_CHECKPOINT_PATH), &state, &global, e);
}

static enum status write_with_room(const struct resume *r, struct trainer *t,
                                   const struct progress *progress, struct error *e)
{
    struct standings room = {NULL, NULL};
    size_t n = t->job.rank == 0 ? (size_t)t->job.ranks : 0;
    enum status status = MEM_NEW(room.all, n, "the progress of all ranks", e);
    THEN(status, MEM_NEW(room.losses, n, "the progress of all ranks", e));
    THEN(status, write_progress(r, t, progress, &room, e));
    free(room.all);
    free(room.losses);
    return status;
}

static enum status write_now(struct resume *r, struct trainer *t, const struct progress *progress,
                             struct error *e)
{
    int64_t begin_ns = clock_ns();
    inject_sleep(&t->inject, INJECT_PHASE_checkpoint, t->steps_done);
    TRY(write_with_room(r, t, progress, e));
    r->written++;
    r->write_ns += clock_ns() - begin_ns;
    return OK;
}

enum status resume_after_step(struct resume *r, struct trainer *t, const struct progress *progress,
                              struct error *e)
{
    return is_due(r, OPT_CHECKPOINT_STEPS, t->steps_done) ? write_now(r, t, progress, e) : OK;
}

enum status resume_after_epoch(struct resume *r, struct trainer *t, const struct progress *progress,
                               bool ends_segment, struct error *e)
{
    bool due = ends_segment || is_due(r, OPT_CHECKPOINT_EPOCHS, progress->epoch);
    return due ? write_now(r, t, progress, e) : OK;
}
