/* Evaluates a trainer's network: loss and accuracy over training or test samples, and
 * predictions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/mem.h"

/* Adds n images that the net has just classified to the counts per class, and keeps their predicted
 * classes if requested. `first`: index of the first image. */
static void count_classes(struct trainer *t, size_t first, size_t n, struct class_counts *counts)
{
    net_classify(t->model.net, t->model.slot, t->batches.eval_classes);
    for (size_t i = 0; i < n; i++) {
        struct class_score *of = &counts->of[t->batches.labels[i]];
        of->samples++;
        of->correct += t->batches.eval_classes[i] == t->batches.labels[i];
    }
    if (t->batches.predictions != NULL)
        memcpy(t->batches.predictions + first, t->batches.eval_classes,
               n * sizeof *t->batches.predictions);
}

/* Runs this stage's forward pass on n images. 16-bit weights are rounded only for the first images
 * of an evaluation (`is_first`), since the weights do not change. */
static enum status forward(struct trainer *t, uint32_t n, bool is_first, struct error *e)
{
    for (int op = t->model.stage.first; op < t->model.stage.last; op++) {
        net_forward(t->model.net, &t->model.exec, t->model.slot, op, op + 1,
                    work_op_weights(t, op, is_first));
        TRY(slice_after_op(&t->model, PASS_FORWARD, op, n, e));
    }
    return OK;
}

/* Scores images [first, first + n). The score is zero on all but one rank of a replica, so that no
 * image counts twice in sums over ranks. */
static enum status evaluate_images(struct trainer *t, const struct data_part *part, size_t first,
                                   size_t n, bool is_first, struct score *score,
                                   struct class_counts *classes, struct error *e)
{
    const struct batch batch = {.n = (uint32_t)n, .samples = t->batches.eval_samples};
    *score = (struct score){0};
    t->model.slot = 0;
    for (size_t i = 0; i < n; i++)
        t->batches.eval_samples[i] = (uint32_t)(first + i);
    t->model.exec.samples = t->batches.eval_samples;
    data_locate(part, shape_count(t->model.desc->input), t->batches.eval_samples, n,
                t->batches.images, t->batches.labels);
    if (t->model.stage.first == 0)
        net_load_each(t->model.net, &t->model.exec, t->model.slot, (int)n, t->batches.images);
    else
        net_expect(t->model.net, t->model.slot, (int)n);
    TRY(stage_step_begin(&t->model.stage, &batch, 1, e));
    TRY(stage_forward_begin(&t->model.stage, 0, e));
    TRY(forward(t, (uint32_t)n, is_first, e));
    TRY(stage_forward_end(&t->model.stage, 0, e));
    if (t->model.stage.last < net_ops(t->model.net) || t->job.grid.slice > 0)
        return OK;
    count_classes(t, first, n, classes);
    *score = net_loss(t->model.net, &t->model.exec, t->model.slot, t->batches.labels, NULL, 0);
    return OK;
}

static enum status evaluate_share(struct trainer *t, const struct data_part *part,
                                  struct score *score, struct class_counts *classes,
                                  struct error *e)
{
    size_t begin, end;
    pool_share(part->n, (size_t)t->job.grid.replica, (size_t)t->job.grid.replicas, &begin, &end);
    for (size_t i = begin; i < end; i += t->batches.micro_max) {
        size_t n = end - i < t->batches.micro_max ? end - i : t->batches.micro_max;
        struct score images;
        TRY(evaluate_images(t, part, i, n, i == begin, &images, classes, e));
        trainer_add_score(score, &images);
    }
    return stage_step_end(&t->model.stage, e);
}

/* If replicas have different initial weights: saves this rank's weights and loads the weights of
 * the first replica for the evaluation. */
static enum status take_first_weights(struct trainer *t, struct error *e)
{
    if (t->own_params == NULL)
        return OK;
    memcpy(t->own_params, t->sync->arenas.params, t->sync->arenas.n * sizeof *t->own_params);
    return sync_broadcast_params(t->sync, e);
}

enum status trainer_evaluate(struct trainer *t, const struct data_part *part, struct score *score,
                             struct class_counts *classes, struct error *e)
{
    inject_sleep(&t->inject, INJECT_PHASE_evaluation, t->steps_done);
    TRY(sync_eval_begin(t->sync, e));
    TRY(take_first_weights(t, e));
    if (config_int(t->config, OPT_BATCH_NORM) == BATCH_NORM_local && t->model.desc->n_buffers > 0)
        TRY(sync_broadcast_buffers(t->sync, e));
    *score = (struct score){0};
    *classes = (struct class_counts){.n = t->data->classes};
    t->model.exec.training = false;
    enum status status = evaluate_share(t, part, score, classes, e);
    t->model.exec.training = true;
    TRY(status);
    if (t->own_params != NULL)
        memcpy(t->sync->arenas.params, t->own_params, t->sync->arenas.n * sizeof *t->own_params);
    TRY(sync_eval_end(t->sync, e));
    TRY(wait_allreduce(t->job.waiter, classes->of, 2 * classes->n, MPI_UINT32_T, MPI_SUM,
                       t->job.comm, "sum of the counts of classes", e));
    return trainer_sum_scores(&t->job, score, e);
}

/* ---- Predictions ---- */

enum status trainer_keep_predictions(struct trainer *t, struct error *e)
{
    return MEM_NEW(t->batches.predictions, t->data->test.n, "the predictions", e);
}

static enum status write_lines(const struct trainer *t, const char *path, struct error *e)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(errno));
    bool failed = false;
    for (uint32_t i = 0; i < t->data->test.n; i++)
        failed |= fprintf(out, "%d\n", t->batches.predictions[i]) < 0;
    if (fclose(out) != 0 || failed)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written in full: %s",
                        strerror(errno));
    return OK;
}

enum status trainer_write_predictions(struct trainer *t, const char *path, struct error *e)
{
    /* Each rank has predicted a share of the images. Its predictions for other images are 0, so the
     * sum over ranks has all predictions. */
    TRY(wait_allreduce(t->job.waiter, t->batches.predictions, t->data->test.n, MPI_INT, MPI_SUM,
                       t->job.comm, "collection of the predictions", e));
    return t->job.rank == 0 ? write_lines(t, path, e) : OK;
}
