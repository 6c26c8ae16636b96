#include "bench/workloads/peers/batches.h"
#include "bench/workloads/data/augment.h"
#include "bench/workloads/train_cnn/schedule.h"

#include <stdlib.h>
#include <string.h>

/* Timed runs take full batches only, as train_cnn does. */
static uint32_t steps_of_epoch(const struct sampler *s, enum run_kind run)
{
    return run == RUN_FOR_TIME ? s->n_samples / s->global_batch : s->steps;
}

static size_t steps_of_run(const struct trainer *t, enum run_kind run)
{
    const struct config *c = t->config;
    if (run == RUN_FOR_TIME)
        return (size_t)(config_int(c, OPT_TIME_WARMUP) + config_int(c, OPT_TIME_STEPS));
    return (size_t)config_int(c, OPT_EPOCHS) * t->sampler.steps;
}

static enum status list_alloc(struct batch_list *list, size_t n_max, bool crops, struct error *e)
{
    size_t steps = list->steps, room = steps * n_max;
    list->epoch = calloc(steps, sizeof *list->epoch);
    list->step = calloc(steps, sizeof *list->step);
    list->count = calloc(steps, sizeof *list->count);
    list->global = calloc(steps, sizeof *list->global);
    list->lr = calloc(steps, sizeof *list->lr);
    list->samples = calloc(room, sizeof *list->samples);
    list->weights = calloc(room, sizeof *list->weights);
    list->crops = crops ? calloc(room, sizeof *list->crops) : NULL;
    if (list->epoch && list->step && list->count && list->global && list->lr && list->samples &&
        list->weights && (list->crops || !crops))
        return OK;
    return error_set(e, ERR_MEMORY, "no memory for the %zu images of %zu steps", room, steps);
}

static void list_add(struct batch_list *list, size_t i, const struct batch *batch)
{
    list->count[i] = batch->n;
    list->global[i] = batch->global;
    memcpy(list->samples + list->n, batch->samples, batch->n * sizeof *list->samples);
    for (uint32_t k = 0; k < batch->n; k++)
        list->weights[list->n + k] = batch->weights ? batch->weights[k] : 1;
    list->padded = list->padded || batch->weights;
    list->n += batch->n;
}

/* Where the images of step i, the last of the list, are cropped. */
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
    uint32_t per_epoch = steps_of_epoch(&t->sampler, run);
    *list = (struct batch_list){.steps = steps_of_run(t, run)};
    bool crops = config_int(t->config, OPT_AUGMENT) == AUGMENT_crop_flip;
    enum status status = list_alloc(list, t->sampler.n_max, crops, e);
    for (size_t i = 0; status == OK && i < list->steps; i++) {
        list->epoch[i] = (uint32_t)(i / per_epoch);
        list->step[i] = (uint32_t)(i % per_epoch);
        list->lr[i] = schedule_lr(t->config, t->ranks, t->sampler.steps, (uint64_t)i + 1);
        struct batch batch = sampler_get(&t->sampler, list->epoch[i], list->step[i]);
        list_add(list, i, &batch);
        if (crops)
            list_add_crops(list, i, t->sampler.seed);
    }
    return status;
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
