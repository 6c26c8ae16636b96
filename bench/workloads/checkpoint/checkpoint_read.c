#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL /* makes xxhash.h include its code, so that no library is linked */
#include <xxhash.h>

#include "bench/workloads/checkpoint/checkpoint.h"
#include "bench/workloads/checkpoint/checkpoint_keys.h"
#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "bench/workloads/checkpoint/checkpoint_names.h"
#include "bench/workloads/checkpoint/checkpoint_numbers.h"
#include "bench/workloads/checkpoint/checkpoint_parts.h"
#include "kernels/base/mem.h"

#define RANKS_MAX 1048576 /* largest value of option `ranks` */

/* ---- Metadata ---- */

/* Returns whether the file is a checkpoint of train_cnn, not weights of another program. */
static bool is_own(const struct safetensors *file)
{
    return safetensors_text(file, "scalebench.checkpoint") != NULL;
}

static enum status need_text(const struct safetensors *file, const char *key, const char **text,
                             struct error *e)
{
    *text = safetensors_text(file, key);
    if (*text == NULL)
        return error_at(e, ERR_DATA, file->path, 0, 0, "__metadata__: '%s' is missing", key);
    return OK;
}

static enum status need_number(const struct safetensors *file, const char *key, uint64_t most,
                               uint64_t *number, struct error *e)
{
    const char *text;
    char *end;
    TRY(need_text(file, key, &text, e));
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *number > most)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "__metadata__: %s = '%s'; expected a whole number from 0 to %" PRIu64, key,
                        text, most);
    return OK;
}

/* Reads a number from the metadata. If `finite`, infinity and NaN are errors. The loss of a
 * diverged run can be infinite or NaN. */
static enum status need_real(const struct safetensors *file, const char *key, bool finite,
                             double *number, struct error *e)
{
    const char *text;
    char *end;
    TRY(need_text(file, key, &text, e));
    *number = strtod(text, &end);
    if (end == text || *end != '\0' || (finite && !isfinite(*number)))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "__metadata__: %s = '%s'; expected a %snumber", key, text,
                        finite ? "finite " : "");
    return OK;
}

static enum status refuse_losses(const struct safetensors *file, const char *at, struct error *e)
{
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "__metadata__: progress.losses has '%.40s'; expected one number per rank", at);
}

/* Reads each rank's sum of losses. Files of older versions have no such sums. */
static enum status read_losses(const struct safetensors *file, struct progress *p, struct error *e)
{
    const char *at = safetensors_text(file, "progress.losses");
    while (at != NULL && *at != '\0') {
        char *end;
        TRY(MEM_GROW(p->losses, p->n_losses, "the losses of a checkpoint", e));
        p->losses[p->n_losses++] = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ' '))
            return refuse_losses(file, at, e);
        at = *end == ' ' ? end + 1 : end;
    }
    return OK;
}

/* Reads the step of divergence. Files of older versions and of runs without divergence lack it. */
static enum status read_divergence(const struct safetensors *file, struct progress *p,
                                   struct error *e)
{
    const char *text;
    struct divergence *d = &p->divergence;
    if (safetensors_text(file, "progress.diverged_step") == NULL)
        return OK;
    TRY(need_number(file, "progress.diverged_step", p->steps_done, &d->step, e));
    TRY(need_text(file, "progress.diverged", &text, e));
    snprintf(d->text, sizeof d->text, "%s", text);
    return OK;
}

static enum status read_history(const struct safetensors *file, struct progress *p, struct error *e)
{
    const char *text;
    TRY(need_text(file, "progress.history", &text, e));
    p->history = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_array(p->history))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "__metadata__: progress.history must be a JSON array");
    return OK;
}

static enum status read_loss_scale(const struct safetensors *file, const struct sync *s,
                                   struct progress *p, struct error *e)
{
    struct loss_scale *scale = &p->loss_scale;
    uint64_t hysteresis;
    *scale = s->loss_scale;
    if (s->config.precision != PRECISION_fp16)
        return OK;
    TRY(need_real(file, "loss_scale.value", true, &scale->value, e));
    TRY(need_number(file, "loss_scale.hysteresis", UINT32_MAX, &hysteresis, e));
    TRY(need_number(file, "loss_scale.clean", UINT64_MAX >> 1, &scale->clean, e));
    TRY(need_number(file, "loss_scale.skipped", p->steps_done, &scale->skipped, e));
    scale->hysteresis = (uint32_t)hysteresis;
    return OK;
}

/* Rejects a checkpoint whose progress is beyond the last epoch of this run. */
static enum status check_end(const struct safetensors *file, const struct progress *p,
                             const struct config *config, struct error *e)
{
    uint32_t epochs = (uint32_t)config_int(config, OPT_EPOCHS);
    if (p->epoch < epochs || (p->epoch == epochs && p->step == 0))
        return OK;
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "train.epochs: the checkpoint was written after %" PRIu32 " epochs and %" PRIu32
                    " steps, but this run has only %" PRIu32
                    " epochs. Use more epochs, or another checkpoint.path",
                    p->epoch, p->step, epochs);
}

/* Reads the progress of the run. In an elastic run, progress.steps_done is not compared with
 * progress.epoch, since earlier epochs may have had another number of steps. */
static enum status read_progress(struct checkpoint *c, const struct checkpoint_state *s,
                                 struct error *e)
{
    const uint32_t epoch_steps = s->epoch_steps;
    const struct safetensors *file = &c->file;
    struct progress *p = &c->progress;
    uint64_t epoch, step, correct, samples;
    uint64_t epochs_most = (uint64_t)option_get(OPT_EPOCHS)->max;
    TRY(need_number(file, "progress.steps_done", UINT64_MAX >> 1, &p->steps_done, e));
    TRY(need_number(file, "progress.epoch", epochs_most, &epoch, e));
    TRY(need_number(file, "progress.step", epoch_steps, &step, e));
    TRY(need_number(file, "progress.samples", UINT32_MAX, &samples, e));
    TRY(need_number(file, "progress.correct", samples, &correct, e));
    TRY(need_real(file, "progress.loss_sum", false, &p->train.loss_sum, e));
    TRY(need_real(file, "progress.seconds", true, &p->seconds, e));
    if (!s->rescales && p->steps_done != epoch * epoch_steps + step)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "__metadata__: progress.steps_done = '%" PRIu64 "'; expected %" PRIu64
                        " (%" PRIu64 " epochs x %" PRIu32 " steps + %" PRIu64
                        " of the current epoch)",
                        p->steps_done, epoch * epoch_steps + step, epoch, epoch_steps, step);
    p->epoch = (uint32_t)epoch;
    p->step = (uint32_t)step;
    p->train.correct = (uint32_t)correct;
    p->train.samples = (uint32_t)samples;
    TRY(read_losses(file, p, e));
    TRY(check_end(file, p, s->config, e));
    TRY(read_divergence(file, p, e));
    return read_history(file, p, e);
}

/* ---- Tensors ---- */

static bool same_shape(const struct safetensors_tensor *a, const struct safetensors_tensor *b)
{
    return a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, (size_t)a->n_dims * sizeof *a->dims) == 0;
}

static bool same_type(const struct safetensors_tensor *a, const struct safetensors_tensor *b)
{
    return strcmp(a->dtype, b->dtype) == 0 && same_shape(a, b);
}

/* Returns the file's tensor for a tensor of the layout, or NULL. Schema 1 used another name:
 * "norm1.mean" for "norm1.running_mean". */
static const struct safetensors_tensor *find_tensor(const struct safetensors *file,
                                                    const struct safetensors_tensor *wanted)
{
    static const char prefix[] = "running_";
    const struct safetensors_tensor *found = safetensors_find(file, wanted->name);
    const char *part = strrchr(wanted->name, '.');
    if (found != NULL || part == NULL || strncmp(part + 1, prefix, strlen(prefix)) != 0)
        return found;
    char older[CHECKPOINT_NAME_BYTES];
    snprintf(older, sizeof older, "%.*s%s", (int)(part + 1 - wanted->name), wanted->name,
             part + 1 + strlen(prefix));
    return safetensors_find(file, older);
}

static size_t offset_of(const struct safetensors *file, const struct safetensors_tensor *tensor)
{
    return (size_t)((const uint8_t *)tensor->data - file->map.bytes);
}

/* Checks a tensor of a file from which only weights are read. The tensor may have any type that can
 * be converted to `real`. */
static enum status check_weight(struct checkpoint *c, const struct safetensors_tensor *found,
                                const struct safetensors_tensor *wanted, struct error *e)
{
    const struct safetensors *file = &c->file;
    struct safetensors_tensor expected = *wanted;
    char shape[128], text[128];
    expected.dtype = numbers_types;
    if (!numbers_known(found->dtype) || !same_shape(found, wanted))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "offset %zu: tensor '%s' is %s; this model expects %s",
                        offset_of(file, found), wanted->name, safetensors_type_text(text, found),
                        safetensors_type_text(shape, &expected));
    size_t beyond = numbers_first_beyond(found);
    if (beyond < found->bytes / safetensors_type_bytes(found->dtype))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "offset %zu: tensor '%s': element %zu is beyond the range of " REAL_NAME
                        ". Use the trainer of `make build/train_cnn_f64`",
                        offset_of(file, found) + beyond * sizeof(double), wanted->name, beyond);
    c->rounded = c->rounded || safetensors_type_bytes(found->dtype) > sizeof(real);
    return OK;
}

static enum status check_tensor(struct checkpoint *c, const struct layout *layout,
                                const struct safetensors_tensor *wanted, struct error *e)
{
    const struct safetensors *file = &c->file;
    const struct safetensors_tensor *found = find_tensor(file, wanted);
    char expected[128], text[128], near[NAME_NEAR_BYTES];
    safetensors_type_text(expected, wanted);
    /* files of schema 1 and of early PyTorch versions lack num_batches_tracked */
    if (found == NULL && strcmp(wanted->dtype, "I64") == 0)
        return OK;
    if (found == NULL)
        return error_at(e, ERR_DATA, file->path, 0, 0, "tensor '%s' is missing; expected %s%s",
                        wanted->name, expected, names_near(near, wanted->name, file, layout));
    if (c->weights_only && numbers_known(wanted->dtype))
        return check_weight(c, found, wanted, e);
    if (!same_type(found, wanted))
        return error_at(
            e, ERR_DATA, file->path, 0, 0,
            "offset %zu: tensor '%s' is %s; this model expects %s in an " REAL_NAME " build",
            offset_of(file, found), wanted->name, safetensors_type_text(text, found), expected);
    return OK;
}

/* Returns whether a tensor is the state of one rank: named rank.<rank>.<what> with a rank below
 * `ranks`, and of the expected type and shape. */
static bool is_section(const struct safetensors_tensor *found, const struct arenas *a, long ranks)
{
    const char *what = "";
    long rank = names_section_rank(found->name, &what);
    struct safetensors_tensor wanted = {.dtype = REAL_DTYPE, .n_dims = 1, .dims = {a->n}};
    if (rank < 0 || rank >= ranks)
        return false;
    if (strcmp(what, "strategy") == 0)
        wanted = (struct safetensors_tensor){.dtype = "U8", .n_dims = 1, .dims = {found->bytes}};
    else if (strcmp(what, "optimizer") == 0)
        wanted = (struct safetensors_tensor){
            .dtype = REAL_DTYPE, .n_dims = 2, .dims = {(size_t)a->slots, a->n}};
    else if (strcmp(what, "params") != 0)
        return false;
    return same_type(found, &wanted);
}

static enum status refuse_tensor(const struct safetensors *file,
                                 const struct safetensors_tensor *found, struct error *e)
{
    char text[128];
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "offset %zu: tensor '%s' (%s) is unknown in this model", offset_of(file, found),
                    found->name, safetensors_type_text(text, found));
}

static bool is_wanted(const struct layout *layout, const struct safetensors *file,
                      const struct safetensors_tensor *found)
{
    for (size_t i = 0; i < layout->n; i++)
        if (find_tensor(file, &layout->tensors[i]) == found)
            return true;
    return false;
}

/* Checks that the file has all tensors of the layout, and no others except sections of single ranks
 * (is_section). If only weights are read, optimizer state is ignored. */
static enum status check_against(struct checkpoint *c, const struct layout *layout,
                                 const struct arenas *a, long ranks, struct error *e)
{
    const struct safetensors *file = &c->file;
    size_t n = c->weights_only ? layout->n_model : layout->n;
    if (!is_own(file))
        names_leave_out_prefix(&c->file, layout->tensors, layout->n_model, c->prefix);
    for (size_t i = 0; i < n; i++)
        TRY(check_tensor(c, layout, &layout->tensors[i], e));
    for (size_t i = 0; i < file->n; i++) {
        const struct safetensors_tensor *found = &file->tensors[i];
        bool known = c->weights_only ? names_a_section(found->name) : is_section(found, a, ranks);
        if (!known && !is_wanted(layout, file, found))
            return refuse_tensor(file, found, e);
    }
    return OK;
}

static enum status check_tensors(struct checkpoint *c, const struct checkpoint_state *s, long ranks,
                                 struct error *e)
{
    struct layout layout;
    struct checkpoint_state of_whole = *s;
    const struct arenas whole = {.tensors = s->desc->tensors,
                                 .n_tensors = s->desc->n_tensors,
                                 .n = s->desc->n_params,
                                 .slots = s->arenas->slots};
    of_whole.arenas = &whole;
    TRY(layout_open(&layout, &of_whole, 0, e));
    enum status status = check_against(c, &layout, &whole, ranks, e);
    layout_close(&layout);
    return status;
}

/* Checks the hash of the file's contents. Schema 1 has a hash of the tensors' bytes only. */
static enum status check_hash(const struct safetensors *file, uint64_t schema, struct error *e)
{
    const char *stated;
    char text[24];
    uint64_t hash;
    TRY(need_text(file, schema == 1 ? "data_xxh3" : "xxh3", &stated, e));
    if (schema == 1)
        hash = XXH3_64bits(file->map.bytes + file->data_offset, file->map.n - file->data_offset);
    else
        TRY(layout_hash(file->tensors, file->n, file->metadata, &hash, e));
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    if (strcmp(stated, text) != 0)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "the file was altered: the hash of its %s is %s, expected %s",
                        schema == 1 ? "tensors" : "metadata and tensors", text, stated);
    return OK;
}

/* ---- Sections of ranks ---- */

static const struct safetensors_tensor *own_section(const struct checkpoint *c,
                                                    const struct sync *s, const char *what)
{
    char name[CHECKPOINT_NAME_BYTES];
    snprintf(name, sizeof name, "rank.%d.%s", s->rank, what);
    return safetensors_find(&c->file, name);
}

/* Checks that a checkpoint with unequal replicas has this rank's parameters and optimizer state.
 * Does nothing on rank 0, whose replica is the checkpoint's model. */
static enum status check_own_sections(const struct checkpoint *c, const struct sync *s,
                                      struct error *e)
{
    const char *const parts[] = {"params", "optimizer"};
    int n = s->arenas.slots > 0 ? 2 : 1;
    for (int i = 0; i < n && s->rank > 0; i++)
        if (own_section(c, s, parts[i]) == NULL)
            return error_at(
                e, ERR_DATA, c->file.path, 0, 0,
                "tensor 'rank.%d.%s' is missing; the replicas in this checkpoint differ, so "
                "expected this tensor for each rank above 0. Use another checkpoint",
                s->rank, parts[i]);
    return OK;
}

static enum status read_sections(struct checkpoint *c, const struct sync *s, uint64_t ranks,
                                 struct error *e)
{
    char title[SYNC_TITLE];
    const char *strategy, *replicas, *own = sync_title(s, title);
    TRY(need_text(&c->file, "strategy", &strategy, e));
    TRY(need_text(&c->file, "replicas", &replicas, e));
    bool differ = strcmp(replicas, "differ") == 0;
    if (ranks != (uint64_t)s->ranks || strcmp(strategy, own) != 0) {
        snprintf(c->reset, sizeof c->reset,
                 "the checkpoint is of %.63s on %llu ranks, this run uses %.63s on %d: state that "
                 "each rank kept by itself is reset%s",
                 strategy, (unsigned long long)ranks, own, s->ranks,
                 differ ? ", all begin from the weights of rank 0" : "");
        return OK;
    }
    return differ ? check_own_sections(c, s, e) : OK;
}

static enum status check_schema(const struct safetensors *file, struct error *e)
{
    uint64_t schema = 0;
    if (!is_own(file))
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "not a checkpoint of a run: 'scalebench.checkpoint' is missing in "
                        "'__metadata__'. To read only the weights of this file, use "
                        "checkpoint.start");
    TRY(need_number(file, "scalebench.checkpoint", UINT32_MAX, &schema, e));
    if (schema < 1 || schema > CHECKPOINT_SCHEMA)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "found a checkpoint of schema %" PRIu64
                        "; this program reads schemas 1 to %d",
                        schema, CHECKPOINT_SCHEMA);
    return check_hash(file, schema, e);
}

/* ---- Open and restore ---- */

enum status checkpoint_open(struct checkpoint *c, const char *path,
                            const struct checkpoint_state *s, struct error *e)
{
    uint64_t ranks;
    *c = (struct checkpoint){.weights_only = false};
    TRY(safetensors_open(&c->file, path, e));
    TRY(check_schema(&c->file, e));
    TRY(checkpoint_keys_compare(&c->file, s, e));
    TRY(need_number(&c->file, "ranks", RANKS_MAX, &ranks, e));
    TRY(check_tensors(c, s, (long)ranks, e));
    TRY(read_progress(c, s, e));
    TRY(read_loss_scale(&c->file, s->sync, &c->progress, e));
    return s->parts == NULL ? read_sections(c, s->sync, ranks, e) : OK;
}

enum status checkpoint_open_weights(struct checkpoint *c, const char *path,
                                    const struct checkpoint_state *s, struct error *e)
{
    *c = (struct checkpoint){.weights_only = true};
    TRY(safetensors_open(&c->file, path, e));
    if (is_own(&c->file))
        TRY(check_schema(&c->file, e));
    const char *model = safetensors_text(&c->file, "model"), *own = s->desc->name;
    enum status status = check_tensors(c, s, 0, e);
    if (status != ERR_DATA || model == NULL || strcmp(model, own) == 0)
        return status;
    return error_at(e, ERR_DATA, path, 0, 0,
                    "the file has weights of model %s, but the model is %s: %s. Give a file with "
                    "weights of %s, or change option model",
                    model, own, e->text, own);
}

static enum status copy_global(const struct checkpoint *c, const struct checkpoint_state *s,
                               struct error *e)
{
    struct layout layout;
    TRY(layout_open(&layout, s, 0, e));
    size_t n = c->weights_only ? layout.n_model : layout.n;
    for (size_t i = 0; i < n; i++) {
        const struct safetensors_tensor *to = &layout.tensors[i];
        const struct safetensors_tensor *from = find_tensor(&c->file, to);
        if (from != NULL && strcmp(from->dtype, to->dtype) == 0)
            memcpy((void *)to->data, from->data, to->bytes);
        else if (from != NULL)
            numbers_read((real *)to->data, from);
    }
    layout_close(&layout);
    return OK;
}

/* Reads whole tensors, then copies this rank's slice of them. */
static enum status copy_slice(const struct checkpoint *c, const struct checkpoint_state *s,
                              struct error *e)
{
    struct arenas whole;
    struct checkpoint_state of_whole = *s;
    of_whole.arenas = &whole;
    enum status status = checkpoint_parts_open(&whole, s, e);
    THEN(status, copy_global(c, &of_whole, e));
    if (status == OK)
        checkpoint_parts_take_slice(s, &whole, c->weights_only);
    checkpoint_parts_free(&whole);
    return status;
}

static void copy_replica(const struct checkpoint *c, const struct sync *s)
{
    const struct safetensors_tensor *params = own_section(c, s, "params");
    const struct safetensors_tensor *optimizer = own_section(c, s, "optimizer");
    if (params != NULL)
        memcpy(s->arenas.params, params->data, params->bytes);
    if (optimizer != NULL)
        memcpy(s->arenas.state, optimizer->data, optimizer->bytes);
}

/* Checks that all ranks opened the same file. Compares only headers; the header of scalebench's own
 * checkpoints contains a hash of the tensors. */
static enum status check_one_file(const struct checkpoint *c, const struct checkpoint_state *s,
                                  struct error *e)
{
    int rank;
    uint64_t mine = XXH3_64bits(c->file.map.bytes, c->file.data_offset), first = mine;
    TRY(wait_bcast(s->sync->waiter, &first, 1, MPI_UINT64_T, 0, s->comm,
                   "comparison of checkpoints", e));
    if (first == mine)
        return OK;
    MPI_Comm_rank(s->comm, &rank);
    return error_at(e, ERR_DATA, c->file.path, 0, 0,
                    "rank %d and rank 0 opened different files; expected the same file on all "
                    "ranks. Use a folder that all ranks share",
                    rank);
}

enum status checkpoint_restore(const struct checkpoint *c, const struct checkpoint_state *s,
                               struct error *e)
{
    bool own = !c->weights_only && c->reset[0] == '\0' && s->parts == NULL;
    const struct safetensors_tensor *strategy = own ? own_section(c, s->sync, "strategy") : NULL;
    TRY(check_one_file(c, s, e));
    *s->batches_tracked = (int64_t)c->progress.steps_done;
    bool cut = s->parts != NULL && s->parts->slice != NULL;
    TRY(cut ? copy_slice(c, s, e) : copy_global(c, s, e));
    if (own)
        copy_replica(c, s->sync);
    if (!c->weights_only) {
        *s->steps_done = c->progress.steps_done;
        s->sync->loss_scale = c->progress.loss_scale;
    }
    return sync_restore(s->sync, strategy != NULL ? strategy->data : NULL,
                        strategy != NULL ? strategy->bytes : 0, e);
}

void checkpoint_close(struct checkpoint *c)
{
    safetensors_close(&c->file);
    json_decref(c->progress.history);
    free(c->progress.losses);
    c->progress.history = NULL;
    c->progress.losses = NULL;
}
