/* Loss and accuracy over a part of the data set. */
#include <string.h>

#include "bench/workloads/train_cnn/trainer.h"

static enum status sum_classes(struct trainer *t, struct class_counts *c, struct error *e)
{
    uint32_t sums[2 * DATA_CLASSES_MAX];
    int n = c->n;
    memcpy(sums, c->samples, (size_t)n * sizeof *sums);
    memcpy(sums + n, c->correct, (size_t)n * sizeof *sums);
    TRY(wait_allreduce(t->waiter, sums, 2 * n, MPI_UINT32_T, MPI_SUM, t->comm,
                       "sum of the counts of classes", e));
    memcpy(c->samples, sums, (size_t)n * sizeof *sums);
    memcpy(c->correct, sums + n, (size_t)n * sizeof *sums);
    return OK;
}

/* Counts the n images from `first` that the net has just seen. */
static void count_classes(struct trainer *t, size_t first, size_t n, struct class_counts *counts)
{
    net_classify(t->net, t->slot, t->eval_classes);
    for (size_t i = 0; i < n; i++) {
        counts->samples[t->labels[i]]++;
        counts->correct[t->labels[i]] += t->eval_classes[i] == t->labels[i];
    }
    if (t->predictions != NULL)
        memcpy(t->predictions + first, t->eval_classes, n * sizeof *t->predictions);
}

/* With the weights of a step, which are rounded once. */
static enum status forward(struct trainer *t, uint32_t n, bool is_first, struct error *e)
{
    for (int op = t->stage.first; op < t->stage.last; op++) {
        struct range range = work_op_range(t, op);
        const real *params =
            is_first ? weights16_round(&t->weights, range) : weights16_widen(&t->weights, range);
        net_forward(t->net, &t->exec, t->slot, op, op + 1, params);
        TRY(slice_after_forward(t, op, n, e));
    }
    return OK;
}

/* Scores of images [first, first + n) of a part; of a replica's ranks one alone has any. */
static enum status evaluate_images(struct trainer *t, const struct data_part *part, size_t first,
                                   size_t n, bool is_first, struct score *score,
                                   struct class_counts *classes, struct error *e)
{
    const struct batch batch = {.n = (uint32_t)n, .samples = t->eval_samples};
    *score = (struct score){0};
    t->slot = 0;
    for (size_t i = 0; i < n; i++)
        t->eval_samples[i] = (uint32_t)(first + i);
    t->exec.samples = t->eval_samples;
    data_locate(part, shape_count(t->desc->input), t->eval_samples, n, t->images, t->labels);
    if (t->stage.first == 0)
        net_load_each(t->net, &t->exec, t->slot, (int)n, t->images);
    else
        net_expect(t->net, t->slot, (int)n);
    TRY(stage_step_begin(t, &batch, 1, e));
    TRY(stage_forward_begin(t, 0, e));
    TRY(forward(t, (uint32_t)n, is_first, e));
    TRY(stage_forward_end(t, 0, e));
    if (t->stage.last < net_ops(t->net) || t->grid.slice > 0)
        return OK;
    count_classes(t, first, n, classes);
    *score = net_loss(t->net, &t->exec, t->slot, t->labels, NULL, 0);
    return OK;
}

static enum status evaluate_share(struct trainer *t, const struct data_part *part,
                                  struct score *score, struct class_counts *classes,
                                  struct error *e)
{
    size_t begin, end;
    pool_share(part->n, (size_t)t->grid.replica, (size_t)t->grid.replicas, &begin, &end);
    for (size_t i = begin; i < end; i += t->micro_max) {
        size_t n = end - i < t->micro_max ? end - i : t->micro_max;
        struct score images;
        TRY(evaluate_images(t, part, i, n, i == begin, &images, classes, e));
        trainer_add_score(score, &images);
    }
    return stage_step_end(t, e);
}

/* Ranks that hold weights of their own evaluate rank 0's together, and then have theirs back. */
static enum status take_first_weights(struct trainer *t, struct error *e)
{
    if (t->own_params == NULL)
        return OK;
    memcpy(t->own_params, t->sync->arenas.params, t->sync->arenas.n * sizeof *t->own_params);
    return sync_broadcast_params(t->sync, e);
}

static void restore_own_weights(struct trainer *t)
{
    if (t->own_params != NULL)
        memcpy(t->sync->arenas.params, t->own_params, t->sync->arenas.n * sizeof *t->own_params);
}

enum status trainer_evaluate(struct trainer *t, const struct data_part *part, struct score *score,
                             struct class_counts *classes, struct error *e)
{
    inject_sleep(&t->inject, INJECT_PHASE_evaluation, t->steps_done);
    TRY(sync_eval_begin(t->sync, e));
    TRY(take_first_weights(t, e));
    if (config_int(t->config, OPT_BATCH_NORM) == BATCH_NORM_local && t->desc->n_buffers > 0)
        TRY(sync_broadcast_buffers(t->sync, e));
    *score = (struct score){0};
    *classes = (struct class_counts){.n = t->data->classes};
    t->exec.training = false;
    enum status status = evaluate_share(t, part, score, classes, e);
    t->exec.training = true;
    TRY(status);
    restore_own_weights(t);
    TRY(sync_eval_end(t->sync, e));
    TRY(sum_classes(t, classes, e));
    return trainer_sum_scores(t, score, e);
}
