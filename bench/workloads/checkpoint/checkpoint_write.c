#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL /* makes xxhash.h include its code, so that no library is linked */
#include <xxhash.h>

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/checkpoint/checkpoint_keys.h"
#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "bench/workloads/checkpoint/checkpoint_numbers.h"
#include "bench/workloads/checkpoint/checkpoint_parts.h"
#include "kernels/base/mem.h"

/* ---- The copy of checkpoint.dtype ---- */

static enum checkpoint_dtype dtype_of(const struct config *config)
{
    return (enum checkpoint_dtype)config_int(config, OPT_CHECKPOINT_DTYPE);
}

static bool export_wanted(const struct config *config)
{
    return dtype_of(config) != CHECKPOINT_DTYPE_f32;
}

void checkpoint_copy_path(char path[PATH_MAX], const struct config *config, const char *checkpoint)
{
    static const char end[] = ".safetensors";
    size_t n = strlen(checkpoint), m = strlen(end);
    bool ends = n > m && strcmp(checkpoint + n - m, end) == 0;
    snprintf(path, PATH_MAX, "%.*s.%s%s", (int)(ends ? n - m : n), checkpoint,
             config_text(config, OPT_CHECKPOINT_DTYPE), ends ? end : "");
}

static enum status refuse_number(const char *path, const struct safetensors_tensor *tensor,
                                 size_t at, const struct config *config, struct error *e)
{
    return error_at(
        e, ERR_DATA, path, 0, 0,
        "tensor '%s': element %zu is %g, too large for %s. The full-precision checkpoint "
        "was written. Resume from that checkpoint with another checkpoint.dtype",
        tensor->name, at, (double)((const real *)tensor->data)[at],
        config_text(config, OPT_CHECKPOINT_DTYPE));
}

/* Replaces the data of a parameter tensor by 16-bit numbers, which are written to `codes`. */
static enum status narrow(struct safetensors_tensor *tensor, uint16_t *codes, const char *path,
                          const struct config *config, struct error *e)
{
    size_t n = tensor->bytes / sizeof(real);
    size_t beyond = numbers_narrow(codes, tensor->data, n, dtype_of(config));
    if (beyond < n)
        return refuse_number(path, tensor, beyond, config, e);
    tensor->dtype = numbers_dtype(dtype_of(config));
    tensor->data = codes;
    tensor->bytes = n * sizeof *codes;
    return OK;
}

/* Memory for the 16-bit copy: the list of its tensors, and its parameters. */
struct room {
    struct safetensors_tensor *tensors;
    uint16_t *codes;
};

/* Writes the 16-bit copy of the model. Readers need tensors aligned to the size of their numbers.
 * The parameters, with 16-bit numbers, therefore come after all tensors with wider numbers. */
static enum status write_with_room(const char *path, const struct checkpoint_state *s,
                                   const struct layout *layout, const json_t *metadata,
                                   const struct room *room, struct error *e)
{
    size_t n = layout->n_model, n_params = (size_t)s->arenas->n_tensors;
    size_t counts = n - n_params - (size_t)s->desc->n_buffers, rest = n - n_params;
    struct safetensors_tensor *params = room->tensors + rest;
    uint16_t *codes = room->codes;
    memcpy(room->tensors, layout->tensors, counts * sizeof *params);
    memcpy(room->tensors + counts, layout->tensors + counts + n_params,
           (rest - counts) * sizeof *params);
    memcpy(params, layout->tensors + counts, n_params * sizeof *params);
    for (size_t i = 0; i < n_params; i++) {
        TRY(narrow(&params[i], codes, path, s->config, e));
        codes += params[i].bytes / sizeof *codes;
    }
    return safetensors_write(path, room->tensors, n, metadata, e);
}

/* Writes the 16-bit copy of the model. If a parameter is too large for the type, writes nothing and
 * returns ERR_DATA with the parameter's name. */
static enum status export_write(const char *checkpoint, const struct checkpoint_state *s,
                                const struct layout *layout, struct error *e)
{
    const char *what = "a copy of the model";
    char path[PATH_MAX];
    struct room room = {NULL, NULL};
    checkpoint_copy_path(path, s->config, checkpoint);
    json_t *metadata = json_pack("{s:s}", "format", "pt");
    enum status status = MEM_NEW(room.tensors, layout->n_model, what, e);
    THEN(status, MEM_NEW(room.codes, s->arenas->n, what, e));
    THEN(status, write_with_room(path, s, layout, metadata, &room, e));
    json_decref(metadata);
    free(room.tensors);
    free(room.codes);
    return status;
}

/* ---- The checkpoint ---- */

/* Hashes of a rank's replica, to compare with rank 0's, and size of the rank's strategy state. */
struct replica {
    uint64_t params, state; /* hashes of parameters and optimizer state */
    uint64_t strategy_bytes;
};

/* Tensors rank.* of a checkpoint, with state of single ranks. Rank 0 has the state of all ranks;
 * other ranks use `differ` and `strategy_most` only. */
struct sections {
    /* 1 if replicas differ, so that the replicas of ranks other than 0 are saved too; otherwise
     * 0 */
    uint64_t differ;
    uint64_t strategy_most; /* largest size of a rank's strategy state (bytes) */
    struct replica *replicas;
    uint8_t *strategy; /* [ranks][strategy_most] bytes of each rank's strategy state; only on rank
                          0 */
    /* parameters [ranks][n] and optimizer state [ranks][slots][n], as bytes of `real` */
    uint8_t *params, *state;
};

/* Returns hashes of this rank's replica and the size of its strategy state. Optimizer state that
 * the strategy shards is not hashed, since rank 0 collects it. */
static struct replica describe_replica(const struct sync *s, size_t strategy_bytes)
{
    const struct arenas *a = &s->arenas;
    bool owns = (strategy_flags(s->kind) & STRATEGY_OWNS_OPTIMIZER) != 0;
    size_t state_bytes = owns ? 0 : (size_t)a->slots * a->n * sizeof(real);
    return (struct replica){.params = XXH3_64bits(a->params, a->n * sizeof(real)),
                            .state = XXH3_64bits(a->state, state_bytes),
                            .strategy_bytes = strategy_bytes};
}

static void compare_replicas(struct sections *all, int ranks)
{
    const struct replica *first = all->replicas;
    for (int r = 0; r < ranks; r++) {
        const struct replica *other = &all->replicas[r];
        if (other->params != first->params || other->state != first->state)
            all->differ = 1;
        if (other->strategy_bytes > all->strategy_most)
            all->strategy_most = other->strategy_bytes;
    }
}

/* Sets all->differ (whether the ranks' replicas differ) and all->strategy_most (size in bytes of
 * the largest strategy state of a rank). Rank 0 finds both values and broadcasts them. */
static enum status plan_sections(struct sections *all, struct sync *s, size_t strategy_bytes,
                                 struct error *e)
{
    struct replica mine = describe_replica(s, strategy_bytes);
    uint64_t plan[2] = {0};
    if (s->rank == 0)
        TRY(MEM_NEW(all->replicas, (size_t)s->ranks, "the replicas of all ranks", e));
    TRY(wait_gather(s->waiter, &mine, sizeof mine, all->replicas, 0, s->comm,
                    "hashes of the replicas", e));
    if (s->rank == 0) {
        compare_replicas(all, s->ranks);
        plan[0] = all->differ;
        plan[1] = all->strategy_most;
    }
    TRY(wait_bcast(s->waiter, plan, 2, MPI_UINT64_T, 0, s->comm, "plan of the checkpoint", e));
    all->differ = plan[0];
    all->strategy_most = plan[1];
    return OK;
}

/* Gathers `bytes` bytes of every rank on rank 0, in newly allocated memory *all. */
static enum status gather(struct sync *s, const void *mine, size_t bytes, uint8_t **all,
                          const char *what, struct error *e)
{
    if (s->rank == 0)
        TRY(MEM_NEW(*all, (size_t)s->ranks * bytes, what, e));
    return wait_gather(s->waiter, mine, bytes, *all, 0, s->comm, what, e);
}

static enum status gather_strategy(struct sections *all, struct sync *s, const void *mine,
                                   size_t bytes, struct error *e)
{
    uint8_t *padded;
    TRY(MEM_NEW(padded, all->strategy_most, "state of the strategy", e));
    if (bytes > 0)
        memcpy(padded, mine, bytes);
    enum status status =
        gather(s, padded, all->strategy_most, &all->strategy, "state of the strategy", e);
    free(padded);
    return status;
}

static enum status gather_sections(struct sections *all, struct sync *s, struct error *e)
{
    const struct arenas *a = &s->arenas;
    const void *mine = NULL;
    size_t bytes = 0, n_bytes = a->n * sizeof(real);
    TRY(sync_save(s, &mine, &bytes, e));
    TRY(plan_sections(all, s, bytes, e));
    if (all->strategy_most > 0)
        TRY(gather_strategy(all, s, mine, bytes, e));
    if (all->differ)
        TRY(gather(s, a->params, n_bytes, &all->params, "replicas' parameters", e));
    if (all->differ && a->slots > 0)
        TRY(gather(s, a->state, (size_t)a->slots * n_bytes, &all->state,
                   "replicas' optimizer state", e));
    return OK;
}

static void free_sections(struct sections *all)
{
    free(all->replicas);
    free(all->strategy);
    free(all->params);
    free(all->state);
}

static void add_sections(struct layout *layout, const struct sections *all, const struct sync *s)
{
    size_t n = s->arenas.n, slots = (size_t)s->arenas.slots, bytes = n * sizeof(real);
    for (int r = 1; r < s->ranks && all->differ; r++) {
        size_t rank = (size_t)r;
        layout_add_section(layout, r, "params", REAL_DTYPE, 0, n, all->params + rank * bytes);
        if (slots > 0)
            layout_add_section(layout, r, "optimizer", REAL_DTYPE, slots, n,
                               all->state + rank * slots * bytes);
    }
    for (int r = 0; r < s->ranks && all->strategy_most > 0; r++)
        if (all->replicas[r].strategy_bytes > 0)
            layout_add_section(layout, r, "strategy", "U8", 0, all->replicas[r].strategy_bytes,
                               all->strategy + (size_t)r * all->strategy_most);
}

static void set_number(json_t *metadata, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    json_object_set_new(metadata, key, json_string(text));
}

/* Adds a number to the metadata in hexadecimal, which keeps every bit. */
static void set_real(json_t *metadata, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%a", value);
    json_object_set_new(metadata, key, json_string(text));
}

/* Adds each rank's sum of losses to the metadata, as one text, such as "0x1.8p+1 0x1p+0" for two
 * ranks. */
static enum status set_losses(json_t *metadata, const struct progress *p, struct error *e)
{
    enum { ROOM = 32 };
    char *text;
    size_t used = 0;
    TRY(MEM_NEW(text, p->n_losses * ROOM, "the losses of a checkpoint", e));
    for (size_t i = 0; i < p->n_losses; i++)
        used += (size_t)snprintf(text + used, ROOM, "%s%a", i > 0 ? " " : "", p->losses[i]);
    json_object_set_new(metadata, "progress.losses", json_string(text));
    free(text);
    return OK;
}

static enum status add_progress(json_t *metadata, uint64_t steps_done, const struct progress *p,
                                struct error *e)
{
    char *history = json_dumps(p->history, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (history == NULL)
        return error_no_memory(e, "the epochs of a checkpoint");
    set_number(metadata, "progress.steps_done", steps_done);
    set_number(metadata, "progress.epoch", p->epoch);
    set_number(metadata, "progress.step", p->step);
    set_number(metadata, "progress.correct", p->train.correct);
    set_number(metadata, "progress.samples", p->train.samples);
    set_real(metadata, "progress.loss_sum", p->train.loss_sum);
    set_real(metadata, "progress.seconds", p->seconds);
    if (p->divergence.step > 0) {
        set_number(metadata, "progress.diverged_step", p->divergence.step);
        json_object_set_new(metadata, "progress.diverged", json_string(p->divergence.text));
    }
    json_object_set_new(metadata, "progress.history", json_string(history));
    free(history);
    return p->n_losses > 0 ? set_losses(metadata, p, e) : OK;
}

/* Adds the loss scale and its counters to the metadata if train.precision is fp16. */
static void add_loss_scale(json_t *metadata, const struct sync *s)
{
    const struct loss_scale *scale = &s->loss_scale;
    if (s->config.precision != PRECISION_fp16)
        return;
    set_real(metadata, "loss_scale.value", scale->value);
    set_number(metadata, "loss_scale.hysteresis", scale->hysteresis);
    set_number(metadata, "loss_scale.clean", scale->clean);
    set_number(metadata, "loss_scale.skipped", scale->skipped);
}

/* Adds to the metadata the facts that identify the run. Public model collections need the key
 * "format"; the value "pt" means PyTorch's names and shapes. */
static enum status add_facts(json_t *metadata, const struct checkpoint_state *s,
                             const struct sections *all, struct error *e)
{
    char title[SYNC_TITLE];
    json_object_set_new(metadata, "format", json_string("pt"));
    set_number(metadata, "scalebench.checkpoint", CHECKPOINT_SCHEMA);
    set_number(metadata, "ranks", (uint64_t)s->sync->ranks);
    json_object_set_new(metadata, "strategy", json_string(sync_title(s->sync, title)));
    json_object_set_new(metadata, "replicas", json_string(all->differ ? "differ" : "equal"));
    return checkpoint_keys_add(metadata, s, e);
}

static enum status add_hash(json_t *metadata, const struct layout *layout, struct error *e)
{
    uint64_t hash;
    char text[24];
    TRY(layout_hash(layout->tensors, layout->n, metadata, &hash, e));
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_object_set_new(metadata, "xxh3", json_string(text));
    return OK;
}

static enum status write_layout(const char *path, const struct layout *layout, json_t *metadata,
                                const struct checkpoint_state *s, const struct progress *p,
                                const struct sections *all, struct error *e)
{
    TRY(add_facts(metadata, s, all, e));
    TRY(add_progress(metadata, *s->steps_done, p, e));
    add_loss_scale(metadata, s->sync);
    TRY(add_hash(metadata, layout, e));
    TRY(safetensors_write(path, layout->tensors, layout->n, metadata, e));
    return export_wanted(s->config) ? export_write(path, s, layout, e) : OK;
}

static enum status write_file(const char *path, const struct checkpoint_state *s,
                              const struct progress *p, const struct sections *all, struct error *e)
{
    struct layout layout;
    TRY(layout_open(&layout, s, 3 * (size_t)s->sync->ranks, e));
    add_sections(&layout, all, s->sync);
    json_t *metadata = json_object();
    enum status status = write_layout(path, &layout, metadata, s, p, all, e);
    json_decref(metadata);
    layout_close(&layout);
    return status;
}

enum status checkpoint_check(const struct config *config, struct error *e)
{
    const char *path = config_text(config, OPT_CHECKPOINT_PATH);
    char copy[PATH_MAX];
    TRY(safetensors_check("checkpoint.path", path, e));
    checkpoint_copy_path(copy, config, path);
    return export_wanted(config) ? safetensors_check("checkpoint.dtype", copy, e) : OK;
}

static enum status write_replicas(const char *path, const struct checkpoint_state *s,
                                  const struct progress *progress, struct error *e)
{
    struct sections all = {0};
    enum status status = gather_sections(&all, s->sync, e);
    if (status == OK && s->sync->rank == 0)
        status = write_file(path, s, progress, &all, e);
    free_sections(&all);
    return status;
}

/* Gathers the first replica of a divided network and writes it like an undivided one. Strategies
 * with state of their own are not supported on divided networks (bench/spec/rules/parallel.c). */
static enum status write_parts(const char *path, const struct checkpoint_state *s,
                               const struct progress *progress, struct error *e)
{
    struct arenas whole;
    struct checkpoint_state of_whole = *s;
    const struct sections none = {0};
    const void *kept;
    size_t bytes;
    TRY(sync_save(s->sync, &kept, &bytes, e));
    if (s->sync->rank != 0)
        return OK;
    enum status status = checkpoint_parts_gather(&whole, s, e);
    of_whole.arenas = &whole;
    if (status == OK && whole.params != NULL)
        status = write_file(path, &of_whole, progress, &none, e);
    checkpoint_parts_free(&whole);
    return status;
}

enum status checkpoint_write(const char *path, const struct checkpoint_state *s,
                             const struct progress *progress, struct error *e)
{
    TRY(s->parts != NULL ? write_parts(path, s, progress, e)
                         : write_replicas(path, s, progress, e));
    /* until rank 0 has written, other ranks wait here instead of within their next step */
    return wait_barrier(s->sync->waiter, s->comm, "writing of a checkpoint", e);
}
