/* Adds the oneDNN calls of pooling, ReLU, dropout and batch norm to a program (program.h). */
#include "bench/workloads/peers/onednn/maker.h"

/* ---- Pooling ---- */

static dnnl_alg_kind_t pool_algorithm(const struct layer_desc *l)
{
    return l->kind == LAYER_maxpool2d ? dnnl_pooling_max : dnnl_pooling_avg_include_padding;
}

/* Makes the workspace that the forward pass fills for the backward pass; NULL if the primitive
 * needs none. */
static enum status make_workspace(struct maker *m, dnnl_memory_t *workspace,
                                  const_dnnl_primitive_desc_t forward, struct error *e)
{
    const dnnl_memory_desc_t *layout = dnn_query(forward, dnnl_query_workspace_md);
    *workspace = NULL;
    if (layout == NULL || dnnl_memory_desc_get_size(layout) == 0)
        return OK;
    return make_result(m, workspace, layout, e);
}

enum status add_pool(struct maker *m, struct error *e)
{
    const struct layer_desc *l = m->op->layer;
    struct op_calls *c = m->calls;
    const dnnl_memory_desc_t *x = dnn_layout(m->x);
    const dnnl_dims_t strides = {l->stride_h, l->stride_w}, size = {l->kernel_h, l->kernel_w},
                      pad = {l->pad_h, l->pad_w};
    const dnnl_dim_t dims[] = {m->n, l->out.c, l->out.h, l->out.w};
    const dnnl_memory_desc_t y = dnn_any(4, dims, x->data_type);
    dnnl_pooling_desc_t d;
    dnnl_primitive_desc_t forward, backward;
    dnnl_memory_t workspace;
    DNN(dnnl_pooling_forward_desc_init(&d, dnnl_forward_training, pool_algorithm(l), x, &y, strides,
                                       size, pad, pad));
    TRY(must_describe(m, &forward, &d, NULL, NULL, e));
    TRY(make_result(m, &c->y, dnn_query(forward, dnnl_query_dst_md), e));
    TRY(make_workspace(m, &workspace, forward, e));
    const dnnl_exec_arg_t ahead[] = {{DNNL_ARG_SRC, m->x},
                                     {DNNL_ARG_DST, c->y},
                                     {workspace != NULL ? DNNL_ARG_WORKSPACE : 0, workspace},
                                     {0, NULL}};
    TRY(dnn_add(m->dnn, &c->forward, forward, ahead, e));
    c->evaluation = c->forward;
    TRY(make_view(m, &c->dx, x, e));
    TRY(make_view(m, &c->dy, dnn_layout(c->y), e));
    DNN(dnnl_pooling_backward_desc_init(&d, pool_algorithm(l), x, dnn_layout(c->y), strides, size,
                                        pad, pad));
    TRY(must_describe(m, &backward, &d, NULL, forward, e));
    const dnnl_exec_arg_t back[] = {{DNNL_ARG_DIFF_DST, c->dy},
                                    {DNNL_ARG_DIFF_SRC, c->dx},
                                    {workspace != NULL ? DNNL_ARG_WORKSPACE : 0, workspace},
                                    {0, NULL}};
    return dnn_add(m->dnn, &c->backward, backward, back, e);
}

/* ---- ReLU, in place ---- */

static enum status describe_relu(struct maker *m, dnnl_primitive_desc_t *desc,
                                 const dnnl_memory_desc_t *layout, struct error *e)
{
    dnnl_eltwise_desc_t d;
    DNN(dnnl_eltwise_forward_desc_init(&d, dnnl_forward_training, dnnl_eltwise_relu_use_dst_for_bwd,
                                       layout, 0, 0));
    return must_describe(m, desc, &d, NULL, NULL, e);
}

enum status add_relu_gradient(struct maker *m, struct dnn_calls *calls, dnnl_memory_t y,
                              dnnl_memory_t gradient, struct error *e)
{
    const dnnl_memory_desc_t *layout = dnn_layout(y);
    dnnl_eltwise_desc_t d;
    dnnl_primitive_desc_t forward, backward;
    TRY(describe_relu(m, &forward, layout, e));
    DNN(dnnl_eltwise_backward_desc_init(&d, dnnl_eltwise_relu_use_dst_for_bwd, layout, layout, 0,
                                        0));
    TRY(must_describe(m, &backward, &d, NULL, forward, e));
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, gradient}, {0, NULL}};
    return dnn_add(m->dnn, calls, backward, arguments, e);
}

/* Sets output and gradients of an op whose output overwrites its input. */
static enum status work_in_place(struct maker *m, struct error *e)
{
    m->calls->y = m->x;
    TRY(make_view(m, &m->calls->dx, dnn_layout(m->x), e));
    return make_view(m, &m->calls->dy, dnn_layout(m->x), e);
}

enum status add_relu(struct maker *m, struct error *e)
{
    struct op_calls *c = m->calls;
    dnnl_primitive_desc_t forward;
    TRY(work_in_place(m, e));
    TRY(describe_relu(m, &forward, dnn_layout(m->x), e));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, m->x}, {DNNL_ARG_DST, c->y}, {0, NULL}};
    TRY(dnn_add(m->dnn, &c->forward, forward, arguments, e));
    c->evaluation = c->forward;
    return add_relu_gradient(m, &c->backward, c->y, c->dy, e);
}

/* ---- Dropout, in place: a product with factors that the caller draws ---- */

/* Makes the memory object `mask`, which holds dropout's factors in row-major layout. Sets *factors
 * to `mask` if the op's input has this layout. Otherwise sets *factors to a new memory object in
 * the input's layout, and adds a call to the forward pass that copies `mask` to *factors. oneDNN
 * 2.6 multiplies fast only if both operands have the same layout. */
static enum status make_mask(struct maker *m, dnnl_memory_t *factors, struct error *e)
{
    struct op_calls *c = m->calls;
    const dnnl_memory_desc_t *x = dnn_layout(m->x);
    const dnnl_memory_desc_t plain = dnn_plain(x->ndims, x->dims, dnnl_f32);
    dnnl_memory_desc_t layout = *x;
    layout.data_type = dnnl_f32;
    TRY(make_result(m, &c->mask, &plain, e));
    return dnn_convert(m->dnn, &c->forward, c->mask, &layout, factors, e);
}

enum status add_dropout(struct maker *m, struct error *e)
{
    struct op_calls *c = m->calls;
    dnnl_memory_t factors;
    dnnl_binary_desc_t d;
    dnnl_primitive_desc_t product;
    TRY(work_in_place(m, e));
    TRY(make_mask(m, &factors, e));
    const dnnl_memory_desc_t *x = dnn_layout(m->x);
    DNN(dnnl_binary_desc_init(&d, dnnl_binary_mul, x, dnn_layout(factors), x));
    TRY(must_describe(m, &product, &d, NULL, NULL, e));
    const dnnl_exec_arg_t ahead[] = {
        {DNNL_ARG_SRC_0, m->x}, {DNNL_ARG_SRC_1, factors}, {DNNL_ARG_DST, c->y}, {0, NULL}};
    TRY(dnn_add(m->dnn, &c->forward, product, ahead, e));
    const dnnl_exec_arg_t back[] = {
        {DNNL_ARG_SRC_0, c->dy}, {DNNL_ARG_SRC_1, factors}, {DNNL_ARG_DST, c->dx}, {0, NULL}};
    return dnn_add(m->dnn, &c->backward, product, back, e);
}

/* ---- Batch norm ---- */

static unsigned norm_flags(const struct maker *m)
{
    return dnnl_use_scaleshift | (m->op->relu ? dnnl_fuse_norm_relu : 0U);
}

static enum status make_statistics(struct maker *m, struct error *e)
{
    struct op_calls *c = m->calls;
    const dnnl_dim_t channels = m->op->layer->in.c, both[] = {2, channels};
    const dnnl_memory_desc_t one = dnn_plain(1, &channels, dnnl_f32),
                             two = dnn_plain(2, both, dnnl_f32);
    TRY(make_result(m, &c->mean, &one, e));
    TRY(make_result(m, &c->variance, &one, e));
    TRY(make_view(m, &c->running_mean, &one, e));
    TRY(make_view(m, &c->running_variance, &one, e));
    TRY(make_view(m, &c->weights, &two, e));
    return make_view(m, &c->dweights, &two, e);
}

/* Appends the evaluation pass of batch norm, which uses the running statistics. */
static enum status add_norm_evaluation(struct maker *m, struct error *e)
{
    struct op_calls *c = m->calls;
    dnnl_batch_normalization_desc_t d;
    dnnl_primitive_desc_t desc;
    DNN(dnnl_batch_normalization_forward_desc_init(&d, dnnl_forward_inference, dnn_layout(m->x),
                                                   (float)m->op->layer->epsilon,
                                                   norm_flags(m) | dnnl_use_global_stats));
    TRY(must_describe(m, &desc, &d, NULL, NULL, e));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, m->x},
                                         {DNNL_ARG_DST, c->y},
                                         {DNNL_ARG_SCALE_SHIFT, c->weights},
                                         {DNNL_ARG_MEAN, c->running_mean},
                                         {DNNL_ARG_VARIANCE, c->running_variance},
                                         {0, NULL}};
    return dnn_add(m->dnn, &c->evaluation, desc, arguments, e);
}

static enum status add_norm_backward(struct maker *m, dnnl_primitive_desc_t forward,
                                     dnnl_memory_t workspace, struct error *e)
{
    struct op_calls *c = m->calls;
    const dnnl_memory_desc_t *x = dnn_layout(m->x);
    dnnl_batch_normalization_desc_t d;
    dnnl_primitive_desc_t desc;
    DNN(dnnl_batch_normalization_backward_desc_init(&d, dnnl_backward, x, x,
                                                    (float)m->op->layer->epsilon, norm_flags(m)));
    TRY(must_describe(m, &desc, &d, NULL, forward, e));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, m->x},
                                         {DNNL_ARG_DIFF_DST, c->dy},
                                         {DNNL_ARG_DIFF_SRC, c->dx},
                                         {DNNL_ARG_SCALE_SHIFT, c->weights},
                                         {DNNL_ARG_DIFF_SCALE_SHIFT, c->dweights},
                                         {DNNL_ARG_MEAN, c->mean},
                                         {DNNL_ARG_VARIANCE, c->variance},
                                         {workspace != NULL ? DNNL_ARG_WORKSPACE : 0, workspace},
                                         {0, NULL}};
    return dnn_add(m->dnn, &c->backward, desc, arguments, e);
}

enum status add_norm(struct maker *m, struct error *e)
{
    struct op_calls *c = m->calls;
    const dnnl_memory_desc_t *x = dnn_layout(m->x);
    dnnl_batch_normalization_desc_t d;
    dnnl_primitive_desc_t forward;
    dnnl_memory_t workspace;
    DNN(dnnl_batch_normalization_forward_desc_init(&d, dnnl_forward_training, x,
                                                   (float)m->op->layer->epsilon, norm_flags(m)));
    TRY(must_describe(m, &forward, &d, NULL, NULL, e));
    TRY(make_result(m, &c->y, x, e));
    TRY(make_view(m, &c->dx, x, e));
    TRY(make_view(m, &c->dy, x, e));
    TRY(make_statistics(m, e));
    TRY(make_workspace(m, &workspace, forward, e));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, m->x},
                                         {DNNL_ARG_DST, c->y},
                                         {DNNL_ARG_SCALE_SHIFT, c->weights},
                                         {DNNL_ARG_MEAN, c->mean},
                                         {DNNL_ARG_VARIANCE, c->variance},
                                         {workspace != NULL ? DNNL_ARG_WORKSPACE : 0, workspace},
                                         {0, NULL}};
    TRY(dnn_add(m->dnn, &c->forward, forward, arguments, e));
    TRY(add_norm_evaluation(m, e));
    return add_norm_backward(m, forward, workspace, e);
}
