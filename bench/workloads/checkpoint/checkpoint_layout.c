#include "bench/workloads/checkpoint/checkpoint_layout.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL /* makes xxhash.h include its code, so that no library is linked */
#include <xxhash.h>

#include "kernels/base/mem.h"

static struct safetensors_tensor *add(struct layout *l)
{
    struct safetensors_tensor *t = &l->tensors[l->n];
    *t = (struct safetensors_tensor){.name = l->names[l->n]};
    l->n++;
    return t;
}

/* Adds the n tensors of `arena`: parameters or running statistics if `slot` is -1, otherwise slot
 * number `slot` of the optimizer state. */
static void add_arena(struct layout *l, const struct tensor_desc *tensors, int n, const real *arena,
                      int slot)
{
    for (int i = 0; i < n; i++) {
        const struct tensor_desc *tensor = &tensors[i];
        char *name = l->names[l->n];
        struct safetensors_tensor *t = add(l);
        if (slot < 0)
            snprintf(name, CHECKPOINT_NAME_BYTES, "%s", tensor->name);
        else
            snprintf(name, CHECKPOINT_NAME_BYTES, "optimizer.%d.%s", slot, tensor->name);
        t->dtype = REAL_DTYPE;
        t->n_dims = tensor->n_dims;
        for (int d = 0; d < tensor->n_dims; d++)
            t->dims[d] = (size_t)tensor->dims[d];
        t->data = arena != NULL ? arena + tensor->offset : NULL;
        t->bytes = tensor->count * sizeof(real);
    }
}

static bool has_statistics(const struct layer_desc *layer)
{
    return layer->n_buffers > 0;
}

static size_t count_statistics(const struct net_desc *desc)
{
    size_t n = 0;
    for (int i = 0; i < desc->n_layers; i++)
        n += has_statistics(&desc->layers[i]);
    return n;
}

/* Adds the batch counts of batch norm. PyTorch's format has one count per layer; here all layers
 * have the same count. */
static void add_counts(struct layout *l, const struct checkpoint_state *s)
{
    for (int i = 0; i < s->desc->n_layers; i++) {
        if (!has_statistics(&s->desc->layers[i]))
            continue;
        char *name = l->names[l->n];
        struct safetensors_tensor *count = add(l);
        snprintf(name, CHECKPOINT_NAME_BYTES, "%s.num_batches_tracked", s->desc->layers[i].name);
        count->dtype = "I64";
        count->data = s->batches_tracked;
        count->bytes = sizeof *s->batches_tracked;
    }
}

enum status layout_open(struct layout *l, const struct checkpoint_state *s, size_t sections,
                        struct error *e)
{
    const struct arenas *a = s->arenas;
    size_t n_buffers = (size_t)s->desc->n_buffers + count_statistics(s->desc);
    size_t room = (size_t)a->n_tensors * (1 + (size_t)a->slots) + n_buffers + sections;
    *l = (struct layout){.n_model = (size_t)a->n_tensors + n_buffers};
    enum status status = MEM_NEW(l->tensors, room, "a checkpoint's tensors", e);
    THEN(status, MEM_NEW(l->names, room, "names of a checkpoint's tensors", e));
    if (status != OK) {
        layout_close(l);
        return status;
    }
    add_counts(l, s);
    add_arena(l, a->tensors, a->n_tensors, a->params, -1);
    add_arena(l, s->desc->buffers, s->desc->n_buffers, a->buffers, -1);
    for (int slot = 0; slot < a->slots; slot++)
        add_arena(l, a->tensors, a->n_tensors,
                  a->state != NULL ? a->state + (size_t)slot * a->n : NULL, slot);
    return OK;
}

void layout_close(struct layout *l)
{
    free(l->tensors);
    free(l->names);
    *l = (struct layout){.tensors = NULL};
}

void layout_add_section(struct layout *l, int rank, const char *what, const char *dtype,
                        size_t rows, size_t columns, const void *data)
{
    char *name = l->names[l->n];
    struct safetensors_tensor *t = add(l);
    snprintf(name, CHECKPOINT_NAME_BYTES, "rank.%d.%s", rank, what);
    t->dtype = dtype;
    t->n_dims = rows > 0 ? 2 : 1;
    t->dims[0] = rows > 0 ? rows : columns;
    t->dims[1] = rows > 0 ? columns : 0;
    t->data = data;
    t->bytes = safetensors_type_bytes(dtype) * columns * (rows > 0 ? rows : 1);
}

static void hash_text(XXH3_state_t *state, const char *text)
{
    XXH3_64bits_update(state, text, strlen(text) + 1);
}

/* Returns the metadata without the key `xxh3` as JSON text for the hash; NULL if memory runs out.
 * The caller frees the text. Keys are sorted, since other programs may reorder them. */
static char *metadata_text(const json_t *metadata)
{
    json_t *rest = metadata != NULL ? json_copy((json_t *)metadata) : json_object();
    json_object_del(rest, "xxh3");
    char *text = rest != NULL ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(rest);
    return text;
}

enum status layout_hash(const struct safetensors_tensor *tensors, size_t n, const json_t *metadata,
                        uint64_t *hash, struct error *e)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    char *text = metadata_text(metadata);
    if (text == NULL)
        return error_no_memory(e, "the metadata of a checkpoint");
    hash_text(&state, text);
    free(text);
    for (size_t i = 0; i < n; i++) {
        hash_text(&state, tensors[i].name);
        hash_text(&state, safetensors_type_text((char[128]){""}, &tensors[i]));
        XXH3_64bits_update(&state, tensors[i].data, tensors[i].bytes);
    }
    *hash = XXH3_64bits_digest(&state);
    return OK;
}
