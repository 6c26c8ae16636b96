/* Adds ops for convolutions and dense layers. Times the algorithms of each pass and chooses the
 * fastest. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads/peers/onednn/maker.h"

enum pass { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS, PASSES };
_Static_assert((int)PASSES == (int)ONEDNN_PASSES, "passes");

/* Layouts of a pass: input, weights, bias (NULL: none) and output, or their gradients. */
struct layouts {
    const dnnl_memory_desc_t *x, *weights, *bias, *y;
};

union descriptor {
    dnnl_convolution_desc_t convolution;
    dnnl_inner_product_desc_t dense;
};

/* Arguments of each pass and the queries for their layouts, as dnn_time needs them. */
static const struct dnn_role roles[PASSES][5] = {
    [FORWARD] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                 {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                 {DNNL_ARG_BIAS, dnnl_query_weights_md, 1},
                 {DNNL_ARG_DST, dnnl_query_dst_md, 0}},
    [BACKWARD_DATA] = {{DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0},
                       {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0},
                       {DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, 0}},
    [BACKWARD_WEIGHTS] = {{DNNL_ARG_SRC, dnnl_query_src_md, 0},
                          {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0},
                          {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, 0},
                          {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 1}}};

static const dnnl_query_t x_of[PASSES] = {dnnl_query_src_md, dnnl_query_diff_src_md,
                                          dnnl_query_src_md},
                          y_of[PASSES] = {dnnl_query_dst_md, dnnl_query_diff_dst_md,
                                          dnnl_query_diff_dst_md};

static const struct algorithm {
    dnnl_alg_kind_t kind;
    const char *name;
} algorithms[] = {{dnnl_convolution_direct, "direct"},
                  {dnnl_convolution_winograd, "winograd"},
                  {dnnl_convolution_auto, "auto"}};
#define N_ALGORITHMS (sizeof algorithms / sizeof *algorithms)
_Static_assert(2 * N_ALGORITHMS == (size_t)ONEDNN_WAYS, "ways");

/* ---- Shapes ---- */

/* Writes the dimensions [N,C,H,W] of activations, or [N,C] for a vector. Returns the number of
 * dimensions. */
static int value_dims(const struct maker *m, struct shape shape, bool vector, dnnl_dim_t dims[4])
{
    const dnnl_dim_t all[] = {m->n, shape.c, shape.h, shape.w};
    memcpy(dims, all, sizeof all);
    return vector ? 2 : 4;
}

/* Writes the dimensions [O,I,H,W] of weights; [O,I] for a dense layer whose input is a vector.
 * Returns the number of dimensions. */
static int weight_dims(const struct maker *m, dnnl_dim_t dims[4])
{
    const struct layer_desc *l = m->op->layer;
    bool dense = l->kind == LAYER_dense;
    const dnnl_dim_t all[] = {l->channels, l->in.c, dense ? l->in.h : l->kernel_h,
                              dense ? l->in.w : l->kernel_w};
    memcpy(dims, all, sizeof all);
    return dnn_layout(m->x)->ndims;
}

/* ---- Choosing ---- */

static dnnl_status_t init_convolution(dnnl_convolution_desc_t *d, enum pass pass,
                                      dnnl_alg_kind_t algorithm, const struct layer_desc *l,
                                      const struct layouts *at)
{
    const dnnl_dims_t strides = {l->stride_h, l->stride_w}, pad = {l->pad_h, l->pad_w};
    if (pass == FORWARD)
        return dnnl_convolution_forward_desc_init(d, dnnl_forward_training, algorithm, at->x,
                                                  at->weights, at->bias, at->y, strides, pad, pad);
    if (pass == BACKWARD_DATA)
        return dnnl_convolution_backward_data_desc_init(d, algorithm, at->x, at->weights, at->y,
                                                        strides, pad, pad);
    return dnnl_convolution_backward_weights_desc_init(d, algorithm, at->x, at->weights, at->bias,
                                                       at->y, strides, pad, pad);
}

static dnnl_status_t init_dense(dnnl_inner_product_desc_t *d, enum pass pass,
                                const struct layouts *at)
{
    if (pass == FORWARD)
        return dnnl_inner_product_forward_desc_init(d, dnnl_forward_training, at->x, at->weights,
                                                    at->bias, at->y);
    if (pass == BACKWARD_DATA)
        return dnnl_inner_product_backward_data_desc_init(d, at->x, at->weights, at->y);
    return dnnl_inner_product_backward_weights_desc_init(d, at->x, at->weights, at->bias, at->y);
}

/* Inputs for choosing the way of a pass: its algorithm and layouts (see program.h). `at`: layouts
 * of the pass, each fixed or left to oneDNN (dnn_any). given_x, given_y: layouts in which input and
 * output need no conversion; NULL if not known. */
struct choice {
    enum pass pass;
    struct layouts at;
    const dnnl_memory_desc_t *given_x, *given_y;
    const_dnnl_primitive_attr_t attributes;
    const_dnnl_primitive_desc_t hint;
};

/* Makes the description of a pass with one algorithm. *made: whether oneDNN has the algorithm for
 * the layouts c->at. */
static enum status describe(struct maker *m, dnnl_primitive_desc_t *desc, bool *made,
                            const struct choice *c, const struct algorithm *algorithm,
                            struct error *e)
{
    union descriptor d;
    const struct layer_desc *l = m->op->layer;
    dnnl_status_t status = l->kind == LAYER_conv2d ? init_convolution(&d.convolution, c->pass,
                                                                      algorithm->kind, l, &c->at)
                                                   : init_dense(&d.dense, c->pass, &c->at);
    *made = false;
    if (status == dnnl_unimplemented)
        return OK;
    TRY(dnn_status(status, "the descriptor of a layer", e));
    return dnn_describe(m->dnn, desc, made, &d, c->attributes, c->hint, e);
}

static void note_algorithm(const struct maker *m, const char *name)
{
    char *text = m->op->algorithms;
    size_t used = strlen(text), room = sizeof m->op->algorithms - used;
    if (m->first)
        snprintf(text + used, room, "%s%s", used > 0 ? "/" : "", name);
}

/* Adds to *seconds the time of converting layout `given` to the layout of argument `what`. Adds
 * nothing if `given` is NULL or the primitive has no such argument. */
static enum status add_conversion(const struct maker *m, dnnl_primitive_desc_t desc,
                                  dnnl_query_t what, const dnnl_memory_desc_t *given,
                                  double *seconds, struct error *e)
{
    const dnnl_memory_desc_t *chosen = given != NULL ? dnn_query(desc, what) : NULL;
    return chosen == NULL || chosen->ndims == 0
               ? OK
               : dnn_time_conversion(m->dnn, given, chosen, seconds, e);
}

/* Sets *seconds to the time of a primitive and of the conversions from c->given_x and
 * c->given_y. */
static enum status time_candidate(const struct maker *m, const struct choice *c,
                                  dnnl_primitive_desc_t desc, double *seconds, struct error *e)
{
    *seconds = 0;
    TRY(dnn_time(m->dnn, desc, roles[c->pass], seconds, e));
    TRY(add_conversion(m, desc, x_of[c->pass], c->given_x, seconds, e));
    return add_conversion(m, desc, y_of[c->pass], c->given_y, seconds, e);
}

/* Makes oneDNN's description of a pass for `way`, an algorithm and layouts (program.h). *made is
 * false, with status OK, if oneDNN does not have the algorithm for the layouts. */
static enum status describe_way(struct maker *m, dnnl_primitive_desc_t *desc, bool *made,
                                const struct choice *c, int way, struct error *e)
{
    struct choice one = *c;
    bool given = way < (int)N_ALGORITHMS;
    one.at.x = given && c->given_x != NULL ? c->given_x : c->at.x;
    one.at.y = given && c->given_y != NULL ? c->given_y : c->at.y;
    return describe(m, desc, made, &one, &algorithms[way % (int)N_ALGORITHMS], e);
}

static bool is_way_of(const struct maker *m, int way, enum pass pass)
{
    int chosen = m->first ? m->op->ways[pass] : -1;
    bool has_algorithms = m->op->layer->kind == LAYER_conv2d;
    return chosen >= 0 ? way == chosen : has_algorithms || way % (int)N_ALGORITHMS == 0;
}

/* Chooses a pass's algorithm and layouts; see program_make. Reference implementations are the last
 * resort. */
static enum status choose(struct maker *m, dnnl_primitive_desc_t *best, const struct choice *c,
                          struct error *e)
{
    int chosen = -1;
    double least = INFINITY;
    for (int way = 0; way < ONEDNN_WAYS; way++) {
        dnnl_primitive_desc_t desc;
        bool made;
        double seconds = DBL_MAX;
        if (!is_way_of(m, way, c->pass))
            continue;
        TRY(describe_way(m, &desc, &made, c, way, e));
        if (made && !dnn_is_reference(desc))
            TRY(time_candidate(m, c, desc, &seconds, e));
        if (!made || seconds >= least)
            continue;
        *best = desc;
        least = seconds;
        chosen = way;
    }
    if (chosen < 0)
        return error_set(e, ERR_UNAVAILABLE, "oneDNN has no implementation of layer '%s'",
                         m->op->layer->name);
    if (m->first)
        m->op->ways[c->pass] = (int8_t)chosen;
    note_algorithm(m, m->op->layer->kind == LAYER_dense
                          ? "dense"
                          : algorithms[chosen % (int)N_ALGORITHMS].name);
    return OK;
}

/* Chooses the way (algorithm and layouts) of the forward pass, including the op's ReLU if it has
 * one. */
static enum status choose_forward(struct maker *m, dnnl_primitive_desc_t *desc,
                                  const dnnl_memory_desc_t *bias, struct error *e)
{
    const struct layer_desc *l = m->op->layer;
    dnnl_dim_t dims[4];
    int n = value_dims(m, l->out, l->kind == LAYER_dense, dims);
    const dnnl_memory_desc_t y = m->last ? dnn_plain(n, dims, dnnl_f32) : dnn_any(n, dims, m->type);
    n = value_dims(m, l->in, dnn_layout(m->x)->ndims == 2, dims);
    const dnnl_memory_desc_t x = dnn_any(n, dims, m->type);
    n = weight_dims(m, dims);
    const dnnl_memory_desc_t weights = dnn_any(n, dims, m->type);
    dnnl_primitive_attr_t attributes;
    dnnl_post_ops_t after;
    DNN(dnnl_primitive_attr_create(&attributes));
    DNN(dnnl_post_ops_create(&after));
    if (m->op->relu)
        DNN(dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_relu, 0, 0));
    DNN(dnnl_primitive_attr_set_post_ops(attributes, after));
    dnnl_memory_desc_t given = *dnn_layout(m->x);
    given.data_type = m->type;
    const struct choice c = {
        FORWARD, {&x, &weights, bias, &y}, &given, m->last ? &y : NULL, attributes, NULL};
    enum status status = choose(m, desc, &c, e);
    dnnl_post_ops_destroy(after);
    dnnl_primitive_attr_destroy(attributes);
    return status;
}

/* ---- Weights ---- */

/* Sets the layout of weights in the arenas. On AVX-512, most of oneDNN's convolutions use blocks of
 * 16 inputs and 16 outputs. Gradient sums need the same layout on all ranks, which may choose
 * different primitives. The layout therefore follows from the shape alone. */
static void set_layout(struct maker *m)
{
    dnnl_dim_t dims[4];
    int n = weight_dims(m, dims);
    bool fills = dims[0] % 16 == 0 && dims[1] % 16 == 0;
    m->op->weights = fills ? dnn_blocked(n, dims) : dnn_plain(n, dims, dnnl_f32);
}

static enum status view_weights(struct maker *m, const dnnl_memory_desc_t *bias, struct error *e)
{
    struct op_calls *c = m->calls;
    TRY(make_view(m, &c->weights, &m->op->weights, e));
    TRY(make_view(m, &c->dweights, &m->op->weights, e));
    if (bias == NULL)
        return OK;
    TRY(make_view(m, &c->bias, bias, e));
    return make_view(m, &c->dbias, bias, e);
}

/* ---- Calls ---- */

static enum status add_forward(struct maker *m, dnnl_primitive_desc_t desc, struct error *e)
{
    struct op_calls *c = m->calls;
    dnnl_memory_t x, weights;
    TRY(dnn_convert(m->dnn, &c->forward, m->x, dnn_query(desc, dnnl_query_src_md), &x, e));
    TRY(dnn_convert(m->dnn, &c->forward, c->weights, dnn_query(desc, dnnl_query_weights_md),
                    &weights, e));
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, x},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, c->y},
        {c->bias != NULL ? DNNL_ARG_BIAS : 0, c->bias},
        {0, NULL},
    };
    TRY(dnn_add(m->dnn, &c->forward, desc, arguments, e));
    c->evaluation = c->forward;
    return OK;
}

/* Appends the calls that compute the gradients of weights and bias. */
static enum status add_weight_gradient(struct maker *m, dnnl_primitive_desc_t desc, struct error *e)
{
    struct op_calls *c = m->calls;
    const dnnl_memory_desc_t *layout = dnn_query(desc, dnnl_query_diff_weights_md);
    bool converts = !dnnl_memory_desc_equal(layout, dnn_layout(c->dweights));
    dnnl_memory_t x, dy, dweights = c->dweights;
    TRY(dnn_convert(m->dnn, &c->backward, m->x, dnn_query(desc, dnnl_query_src_md), &x, e));
    TRY(dnn_convert(m->dnn, &c->backward, c->dy, dnn_query(desc, dnnl_query_diff_dst_md), &dy, e));
    if (converts)
        TRY(make_result(m, &dweights, layout, e));
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, x},
        {DNNL_ARG_DIFF_DST, dy},
        {DNNL_ARG_DIFF_WEIGHTS, dweights},
        {c->dbias != NULL ? DNNL_ARG_DIFF_BIAS : 0, c->dbias},
        {0, NULL},
    };
    TRY(dnn_add(m->dnn, &c->backward, desc, arguments, e));
    return converts ? dnn_add_reorder(m->dnn, &c->backward, dweights, c->dweights, e) : OK;
}

/* Appends the calls that compute the gradient of the input. */
static enum status add_input_gradient(struct maker *m, dnnl_primitive_desc_t desc, struct error *e)
{
    struct op_calls *c = m->calls;
    const dnnl_memory_desc_t *layout = dnn_query(desc, dnnl_query_diff_src_md);
    bool converts = !dnnl_memory_desc_equal(layout, dnn_layout(c->dx));
    dnnl_memory_t weights, dy, dx = c->dx;
    TRY(dnn_convert(m->dnn, &c->backward, c->dy, dnn_query(desc, dnnl_query_diff_dst_md), &dy, e));
    TRY(dnn_convert(m->dnn, &c->backward, c->weights, dnn_query(desc, dnnl_query_weights_md),
                    &weights, e));
    if (converts)
        TRY(make_result(m, &dx, layout, e));
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, dx}, {0, NULL}};
    TRY(dnn_add(m->dnn, &c->backward, desc, arguments, e));
    return converts ? dnn_add_reorder(m->dnn, &c->backward, dx, c->dx, e) : OK;
}

/* Chooses the algorithm and the layouts of backward pass `pass`. The layouts are either the
 * existing layouts of the op's input and output, or layouts that oneDNN chooses. */
static enum status choose_backward(struct maker *m, dnnl_primitive_desc_t *desc, enum pass pass,
                                   const dnnl_memory_desc_t *bias, dnnl_primitive_desc_t forward,
                                   struct error *e)
{
    dnnl_dim_t dims[4];
    dnnl_memory_desc_t given_x = *dnn_layout(m->x), given_y = *dnn_layout(m->calls->y);
    given_x.data_type = given_y.data_type = m->type;
    const dnnl_memory_desc_t x = dnn_any(given_x.ndims, given_x.dims, m->type),
                             y = dnn_any(given_y.ndims, given_y.dims, m->type);
    int n = weight_dims(m, dims);
    const dnnl_memory_desc_t weights =
        dnn_any(n, dims, pass == BACKWARD_WEIGHTS ? dnnl_f32 : m->type);
    const struct choice c = {pass, {&x, &weights, bias, &y}, &given_x, &given_y, NULL, forward};
    return choose(m, desc, &c, e);
}

enum status add_weighted(struct maker *m, struct error *e)
{
    struct op_calls *c = m->calls;
    dnnl_primitive_desc_t forward, gradient, of_input;
    const dnnl_dim_t channels = m->op->layer->channels;
    const dnnl_memory_desc_t biases = dnn_plain(1, &channels, dnnl_f32),
                             *bias = m->op->layer->without_bias ? NULL : &biases;
    TRY(choose_forward(m, &forward, bias, e));
    TRY(make_result(m, &c->y, dnn_query(forward, dnnl_query_dst_md), e));
    TRY(choose_backward(m, &gradient, BACKWARD_WEIGHTS, bias, forward, e));
    set_layout(m);
    TRY(view_weights(m, bias, e));
    TRY(add_forward(m, forward, e));
    TRY(make_view(m, &c->dy, dnn_layout(c->y), e));
    TRY(make_view(m, &c->dx, dnn_layout(m->x), e));
    if (m->op->relu)
        TRY(add_relu_gradient(m, &c->backward, c->y, c->dy, e));
    TRY(add_weight_gradient(m, gradient, e));
    if (!m->op->hands_back)
        return OK;
    TRY(choose_backward(m, &of_input, BACKWARD_DATA, NULL, forward, e));
    return add_input_gradient(m, of_input, e);
}
