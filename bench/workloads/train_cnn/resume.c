#include "bench/workloads/train_cnn/resume.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"

static bool is_no(const char *text)
{
    return strcmp(text, "no") == 0;
}

/* The checkpoint to go on from, or NULL. */
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

enum status resume_open(struct resume *r, const struct trainer *t, bool resumes, struct error *e)
{
    *r = (struct resume){.config = t->config};
    const char *start = config_text(t->config, OPT_CHECKPOINT_START);
    const char *path = resumes ? file_to_resume(t->config) : NULL;
    r->opened = path != NULL || !is_no(start);
    if (path != NULL)
        return checkpoint_open(&r->checkpoint, path, t, e);
    return r->opened ? checkpoint_open_weights(&r->checkpoint, start, t, e) : OK;
}

void resume_close(struct resume *r)
{
    checkpoint_close(&r->checkpoint);
}

/* auto looks for a file: ranks that do not share a folder would begin differently. */
static enum status check_all_found(const struct resume *r, struct trainer *t, struct error *e)
{
    int found = r->opened;
    enum status status = wait_allreduce(t->waiter, &found, 1, MPI_INT, MPI_SUM, t->comm,
                                        "count of the ranks that see the checkpoint", e);
    if (status != OK || found == 0 || found == t->ranks)
        return status;
    return error_at(e, ERR_DATA, config_text(r->config, OPT_CHECKPOINT_PATH), 0, 0,
                    "%d of %d ranks see this file; expected a folder that all ranks share", found,
                    t->ranks);
}

static void announce(const struct resume *r, const struct progress *p, uint32_t steps)
{
    const struct checkpoint *c = &r->checkpoint;
    if (!r->opened && !is_no(config_text(r->config, OPT_CHECKPOINT_RESUME)))
        printf("no checkpoint %s: begins anew\n", config_text(r->config, OPT_CHECKPOINT_PATH));
    else if (r->opened && c->weights_only)
        printf("weights from %s\n", c->file.path);
    else if (r->opened)
        printf("resumed from %s after %llu steps: epoch %u, step %u of %u\n", c->file.path,
               (unsigned long long)p->steps_done, p->epoch + 1, p->step, steps);
    fflush(stdout);
    if (r->opened && c->reset[0] != '\0')
        log_print(LOG_WARNING, "%s: %s", c->file.path, c->reset);
}

/* What was summed over all ranks goes on at rank 0. */
static enum status take_progress(const struct resume *r, const struct trainer *t,
                                 struct progress *progress, struct error *e)
{
    *progress = (struct progress){.history = NULL};
    if (r->opened && !r->checkpoint.weights_only)
        *progress = r->checkpoint.progress;
    if (t->rank != 0)
        progress->train = (struct score){0};
    progress->history =
        progress->history != NULL ? json_deep_copy(progress->history) : json_array();
    return progress->history != NULL ? OK
                                     : error_set(e, ERR_MEMORY, "no memory for a run's epochs");
}

enum status resume_begin(struct resume *r, struct trainer *t, struct progress *progress,
                         struct error *e)
{
    enum status status = check_all_found(r, t, e);
    if (status == OK && r->opened)
        status = checkpoint_restore(&r->checkpoint, t, e);
    if (status == OK)
        status = take_progress(r, t, progress, e);
    if (status == OK && t->rank == 0)
        announce(r, progress, t->sampler.steps);
    return status;
}

/* Whether a checkpoint is due each time that `done` is a multiple of the option. */
static bool is_due(const struct resume *r, enum option_id option, uint64_t done)
{
    uint64_t every = (uint64_t)config_int(r->config, option);
    return every > 0 && done % every == 0;
}

static enum status write_now(struct resume *r, struct trainer *t, const struct progress *progress,
                             struct error *e)
{
    int64_t begin_ns = clock_ns();
    const char *path = config_text(r->config, OPT_CHECKPOINT_PATH);
    inject_sleep(&t->inject, INJECT_PHASE_checkpoint, t->steps_done);
    enum status status = checkpoint_write(path, t, progress, e);
    r->written++;
    r->write_ns += clock_ns() - begin_ns;
    return status;
}

enum status resume_after_step(struct resume *r, struct trainer *t, const struct progress *progress,
                              struct error *e)
{
    return is_due(r, OPT_CHECKPOINT_STEPS, t->steps_done) ? write_now(r, t, progress, e) : OK;
}

enum status resume_after_epoch(struct resume *r, struct trainer *t, const struct progress *progress,
                               struct error *e)
{
    return is_due(r, OPT_CHECKPOINT_EPOCHS, progress->epoch) ? write_now(r, t, progress, e) : OK;
}
