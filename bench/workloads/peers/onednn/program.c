#include "bench/workloads/peers/onednn/program.h"

#include <stdlib.h>

#include "bench/workloads/peers/onednn/maker.h"
#include "kernels/base/mem.h"

enum status must_describe(struct maker *m, dnnl_primitive_desc_t *desc, const_dnnl_op_desc_t op,
                          const_dnnl_primitive_attr_t attributes, const_dnnl_primitive_desc_t hint,
                          struct error *e)
{
    bool made;
    TRY(dnn_describe(m->dnn, desc, &made, op, attributes, hint, e));
    return made ? OK
                : error_set(e, ERR_UNAVAILABLE, "oneDNN has no implementation of layer '%s'",
                            m->op->layer->name);
}

enum status make_result(struct maker *m, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                        struct error *e)
{
    return dnn_memory(m->dnn, memory, layout, DNNL_MEMORY_ALLOCATE, e);
}

enum status make_view(struct maker *m, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                      struct error *e)
{
    return dnn_memory(m->dnn, memory, layout, DNNL_MEMORY_NONE, e);
}

void *program_data(dnnl_memory_t memory)
{
    void *at;
    dnnl_memory_get_data_handle(memory, &at);
    return at;
}

void program_place(dnnl_memory_t view, const void *at)
{
    if (view != NULL)
        dnnl_memory_set_data_handle(view, (void *)at);
}

static enum status add_op(struct maker *m, struct error *e)
{
    static enum status (*const add[LAYER_KINDS])(struct maker *, struct error *) = {
        [LAYER_conv2d] = add_weighted,  [LAYER_dense] = add_weighted,
        [LAYER_maxpool2d] = add_pool,   [LAYER_avgpool2d] = add_pool,
        [LAYER_batchnorm2d] = add_norm, [LAYER_relu] = add_relu,
        [LAYER_dropout] = add_dropout,  [LAYER_dropout2d] = add_dropout,
    };
    return add[m->op->layer->kind](m, e);
}

static bool is_in_place(const struct onednn_op *op)
{
    return op->layer->kind == LAYER_relu || op->layer->kind == LAYER_dropout ||
           op->layer->kind == LAYER_dropout2d;
}

/* Places the gradients of all ops in two buffers. Each op reads one buffer and writes the other,
 * except ops that work in place. */
static enum status place_gradients(struct program *p, const struct onednn_op *ops, struct error *e)
{
    size_t most = 0;
    dnnl_memory_t buffers[2];
    for (int i = 0; i < p->n_ops; i++) {
        size_t bytes = dnnl_memory_desc_get_size(dnn_layout(p->ops[i].dy));
        size_t before = dnnl_memory_desc_get_size(dnn_layout(p->ops[i].dx));
        bytes = bytes > before ? bytes : before;
        most = bytes > most ? bytes : most;
    }
    const dnnl_dim_t dims = (dnnl_dim_t)most;
    const dnnl_memory_desc_t layout = dnn_plain(1, &dims, dnnl_u8);
    for (int i = 0; i < 2; i++)
        TRY(dnn_memory(p->dnn, &buffers[i], &layout, DNNL_MEMORY_ALLOCATE, e));
    for (int i = 0, buffer = 0; i < p->n_ops; i++) {
        program_place(p->ops[i].dx, program_data(buffers[buffer]));
        buffer = is_in_place(&ops[i]) ? buffer : 1 - buffer;
        program_place(p->ops[i].dy, program_data(buffers[buffer]));
    }
    return OK;
}

static enum status make_ops(struct program *p, struct onednn_op *ops, struct shape input,
                            enum precision values, bool first, struct error *e)
{
    const dnnl_dim_t dims[] = {p->n, input.c, input.h, input.w};
    const dnnl_memory_desc_t images = dnn_plain(4, dims, dnnl_f32);
    struct maker m = {.dnn = p->dnn,
                      .type = values == PRECISION_bf16 ? dnnl_bf16 : dnnl_f32,
                      .n = p->n,
                      .first = first};
    TRY(MEM_NEW(p->ops, (size_t)p->n_ops, "the calls of ops", e));
    TRY(make_result(&m, &p->x, &images, e));
    m.x = p->x;
    for (int i = 0; i < p->n_ops; i++) {
        m.op = &ops[i];
        m.calls = &p->ops[i];
        m.last = i == p->n_ops - 1;
        TRY(add_op(&m, e));
        m.x = m.calls->y;
    }
    return place_gradients(p, ops, e);
}

enum status program_make(struct program **program, struct dnn *dnn, struct onednn_op *ops,
                         int n_ops, struct shape input, enum precision values, int n, bool first,
                         struct error *e)
{
    TRY(MEM_NEW(*program, 1, "a program of oneDNN", e));
    **program = (struct program){.dnn = dnn, .n = n, .n_ops = n_ops};
    return make_ops(*program, ops, input, values, first, e);
}

void program_free(struct program *program)
{
    if (program != NULL)
        free(program->ops);
    free(program);
}
