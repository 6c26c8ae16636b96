#include "bench/workloads/train_cnn/checkpoint_layout.h"

#include <stdlib.h>
#include <string.h>

static struct safetensors_tensor *add(struct layout *l)
{
    struct safetensors_tensor *t = &l->tensors[l->n];
    *t = (struct safetensors_tensor){.name = l->names[l->n]};
    l->n++;
    return t;
}

/* Tensors of one arena, each under its name or, with `slot` >= 0, as that part of the optimizer. */
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
        t->data = arena + tensor->offset;
        t->bytes = tensor->count * sizeof(real);
    }
}

enum status layout_open(struct layout *l, const struct trainer *t, size_t sections, struct error *e)
{
    const struct arenas *a = &t->sync->arenas;
    size_t n_buffers = (size_t)t->desc->n_buffers;
    size_t room = (size_t)a->n_tensors * (1 + (size_t)a->slots) + n_buffers + sections;
    *l = (struct layout){.tensors = calloc(room + 1, sizeof *l->tensors),
                         .names = calloc(room + 1, sizeof *l->names),
                         .n_model = (size_t)a->n_tensors + n_buffers,
                         .room = room};
    if (l->tensors == NULL || l->names == NULL) {
        layout_close(l);
        return error_set(e, ERR_MEMORY, "no memory for a checkpoint of %zu tensors", room);
    }
    add_arena(l, a->tensors, a->n_tensors, a->params, -1);
    add_arena(l, t->desc->buffers, t->desc->n_buffers, a->buffers, -1);
    for (int slot = 0; slot < a->slots; slot++)
        add_arena(l, a->tensors, a->n_tensors, a->state + (size_t)slot * a->n, slot);
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

const struct safetensors_tensor *layout_find(const struct layout *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->tensors[i].name, name) == 0)
            return &l->tensors[i];
    return NULL;
}
