#include "bench/workloads/peers/batches.h"
#include "bench/workloads/data/augment.h"
#include "bench/workloads/train_cnn/parts/learning_rate.h"
#include "kernels/base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t steps_of_run(const struct trainer *t, enum run_kind run)
{
    const struct config *c = t->config;
    if (run == RUN_FOR_TIME)
        return (size_t)(config_int(c, OPT_TIME_WARMUP) + config_int(c, OPT_TIME_STEPS));
    return (size_t)config_int(c, OPT_EPOCHS) * t->batches.sampler.steps;
}

static enum status list_alloc(struct batch_list *list, size_t n_max, bool crops, struct error *e)
{
    const char *what = "the batches of a run";
    size_t steps = list->steps, room = steps * n_max;
    TRY(MEM_NEW(list->epoch, steps, what, e));
    TRY(MEM_NEW(list->step, steps, what, e));
    TRY(MEM_NEW(list->count, steps, what, e));
    TRY(MEM_NEW(list->global, steps, what, e));
    TRY(MEM_NEW(list->lr, steps, what, e));
    TRY(MEM_NEW(list->samples, room, what, e));
    TRY(MEM_NEW(list->weights, room, what, e));
    return crops ? MEM_NEW(list->crops, room, what, e) : OK;
}

static void list_add(struct batch_list *list, size_t i, const struct batch *batch)
{
    list->count[i] = batch->n;
    list->global[i] = batch->global;
    memcpy(list->samples + list->n, batch->samples, batch->n * sizeof *list->samples);
    for (uint32_t k = 0; k < batch->n; k++)
        list->weights[list->n + k] = batch->weights != NULL ? batch->weights[k] : 1;
    list->padded = list->padded || batch->weights != NULL;
    list->n += batch->n;
}

/* Sets the crops of the images of step i. Step i must be the step that list_add added last. */
static void list_add_crops(struct batch_list *list, size_t i, uint64_t seed)
{
    for (size_t k = list->n - list->count[i]; k < list->n; k++) {
        struct crop crop = augment_crop(seed, list->epoch[i], list->samples[k]);
        list->crops[k] =
            (struct batch_crop){(int8_t)crop.row, (int8_t)crop.column, (int8_t)crop.flip};
    }
}

enum status batch_list_make(struct batch_list *list, struct trainer *t, enum run_kind run,
                            struct error *e)
{
    const struct sampler *s = &t->batches.sampler;
    /* timed runs use only full batches, as in train_cnn */
    uint32_t per_epoch = run == RUN_FOR_TIME ? s->n_samples / s->global_batch : s->steps;
    *list = (struct batch_list){.steps = steps_of_run(t, run)};
    bool crops = config_int(t->config, OPT_AUGMENT) == AUGMENT_crop_flip;
    TRY(list_alloc(list, t->batches.sampler.n_max, crops, e));
    for (size_t i = 0; i < list->steps; i++) {
        list->epoch[i] = (uint32_t)(i / per_epoch);
        list->step[i] = (uint32_t)(i % per_epoch);
        list->lr[i] =
            learning_rate(t->config, t->job.ranks, t->batches.sampler.steps, (uint64_t)i + 1);
        struct batch batch = sampler_get(&t->batches.sampler, list->epoch[i], list->step[i]);
        list_add(list, i, &batch);
        if (crops)
            list_add_crops(list, i, t->batches.sampler.seed);
    }
    return OK;
}

void batch_list_free(struct batch_list *list)
{
    free(list->epoch);
    free(list->step);
    free(list->count);
    free(list->global);
    free(list->lr);
    free(list->samples);
    free(list->weights);
    free(list->crops);
    *list = (struct batch_list){0};
}
