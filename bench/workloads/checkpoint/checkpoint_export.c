#include "bench/workloads/checkpoint/checkpoint_export.h"

#include <stdlib.h>
#include <string.h>

#include "bench/workloads/checkpoint/checkpoint_numbers.h"
#include "kernels/base/mem.h"

static enum checkpoint_dtype dtype_of(const struct config *config)
{
    return (enum checkpoint_dtype)config_int(config, OPT_CHECKPOINT_DTYPE);
}

bool export_wanted(const struct config *config)
{
    return dtype_of(config) != CHECKPOINT_DTYPE_f32;
}

void export_path(char path[PATH_MAX], const struct config *config, const char *checkpoint)
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
    return error_at(e, ERR_DATA, path, 0, 0,
                    "tensor '%s': number %zu is %g, which is infinite in %s; the checkpoint itself "
                    "is written: resume from it with another checkpoint.dtype",
                    tensor->name, at, (double)((const real *)tensor->data)[at],
                    config_text(config, OPT_CHECKPOINT_DTYPE));
}

/* Moves a parameter's numbers to codes [as many]. */
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

/* Room for the list of tensors and for the parameters' codes. */
struct room {
    struct safetensors_tensor *tensors;
    uint16_t *codes;
};

/* Readers want each tensor at a multiple of its number's size, so the parameters come last. */
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

enum status export_write(const char *checkpoint, const struct checkpoint_state *s,
                         const struct layout *layout, struct error *e)
{
    const char *what = "a copy of the model";
    char path[PATH_MAX];
    struct room room = {NULL, NULL};
    export_path(path, s->config, checkpoint);
    json_t *metadata = json_pack("{s:s}", "format", "pt");
    enum status status = MEM_NEW(room.tensors, layout->n_model, what, e);
    THEN(status, MEM_NEW(room.codes, s->arenas->n, what, e));
    THEN(status, write_with_room(path, s, layout, metadata, &room, e));
    json_decref(metadata);
    free(room.tensors);
    free(room.codes);
    return status;
}
