#include "kernels/desc/net_desc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/desc/rules.h"

const char *const *initializer_names(void)
{
    static const char *const names[INITIALIZERS] = {
        [INIT_PYTORCH] = "pytorch", [INIT_GLOROT] = "glorot", [INIT_HE] = "he"};
    return names;
}

char *shape_text(char text[40], struct shape s)
{
    if (s.h == 1 && s.w == 1)
        snprintf(text, 40, "%d", s.c);
    else
        snprintf(text, 40, "%dx%dx%d", s.c, s.h, s.w);
    return text;
}

/* ---- Options of a layer ---- */

/* Returns the address of the option's value in `layer`. For a pair of values, i selects the first
 * (0) or second (1). */
static int *option_int(struct layer_desc *layer, const struct layer_option *option, int i)
{
    return (int *)((char *)layer + option->offset) + i;
}

static double *option_real(struct layer_desc *layer, const struct layer_option *option)
{
    return (double *)((char *)layer + option->offset);
}

struct layer_desc layer_desc_preset(enum layer_kind kind)
{
    struct layer_desc layer = {.kind = kind};
    for (const struct layer_option *o = layer_rule_get(kind)->options; o->key != NULL; o++) {
        if (isnan(o->preset) || o->type == LAYER_PART)
            continue;
        if (o->type == LAYER_REAL)
            *option_real(&layer, o) = o->preset;
        else
            for (int i = 0; i < (o->type == LAYER_PAIR ? 2 : 1); i++)
                *option_int(&layer, o, i) = (int)o->preset;
    }
    return layer;
}

/* Checks that all options are within their ranges. Needed for nets built by code, since model files
 * are already checked when they are read. */
static enum status check_options(struct layer_desc *layer, struct error *e)
{
    const struct layer_rule *rule = layer_rule_get(layer->kind);
    for (const struct layer_option *o = rule->options; o->key != NULL; o++)
        for (int i = 0; o->type != LAYER_PART && i < (o->type == LAYER_PAIR ? 2 : 1); i++) {
            double value =
                o->type == LAYER_REAL ? *option_real(layer, o) : *option_int(layer, o, i);
            if (!(value >= o->min && value <= o->max))
                return layer_error(layer, e, "%s is %g; it must be %g to %g", o->key, value, o->min,
                                   o->max);
        }
    return OK;
}

/* ---- Building a net ---- */

static enum status check_name(const char *what, const char *name, struct error *e)
{
    if (name[0] == '\0' || strlen(name) >= NET_NAME_MAX)
        return error_set(e, ERR_SPEC, "%s '%s' has %zu bytes; expected 1 to %d", what, name,
                         strlen(name), NET_NAME_MAX - 1);
    return OK;
}

#define SIDE_MAX 4096 /* largest number of rows or columns of the input */

static bool within(int value, int most)
{
    return value >= 1 && value <= most;
}

enum status net_desc_begin(struct net_desc *net, const char *name, struct shape input, int classes,
                           struct error *e)
{
    *net = (struct net_desc){.input = input, .classes = classes, .initializer = INIT_PYTORCH};
    TRY(check_name("net name", name, e));
    if (!within(input.c, NET_CHANNELS_MAX) || !within(input.h, SIDE_MAX) ||
        !within(input.w, SIDE_MAX))
        return error_set(e, ERR_SHAPE,
                         "net '%s': found an input of %dx%dx%d; channels must be 1 to %d, rows and "
                         "columns 1 to %d",
                         name, input.c, input.h, input.w, NET_CHANNELS_MAX, SIDE_MAX);
    if (classes < 2 || classes > 1000)
        return error_set(e, ERR_SHAPE, "net '%s' has %d classes; expected 2 to 1000", name,
                         classes);
    snprintf(net->name, sizeof net->name, "%s", name);
    for (int c = 0; c < 4; c++)
        net->std[c] = 1;
    return OK;
}

static const struct layer_desc *find_layer(const struct net_desc *net, const char *name)
{
    for (int i = 0; i < net->n_layers; i++)
        if (strcmp(net->layers[i].name, name) == 0)
            return &net->layers[i];
    return NULL;
}

/* Names a layer by its kind and a number ("conv2d1"), skipping names already in use. */
static void name_by_kind(const struct net_desc *net, struct layer_desc *layer)
{
    int number = 1;
    for (int i = 0; i < net->n_layers; i++)
        number += net->layers[i].kind == layer->kind;
    do
        snprintf(layer->name, sizeof layer->name, "%s%d", layer_names()[layer->kind], number++);
    while (find_layer(net, layer->name) != NULL);
}

/* Returns whether a layer name begins with a prefix that checkpoints use for other data:
 * "optimizer.0.fc.weight", "rank.1.strategy". */
static bool is_reserved(const char *name)
{
    return strncmp(name, "optimizer.", 10) == 0 || strncmp(name, "rank.", 5) == 0;
}

static enum status name_layer(const struct net_desc *net, struct layer_desc *layer, struct error *e)
{
    if (layer->name[0] == '\0') {
        name_by_kind(net, layer);
        return OK;
    }
    if (is_reserved(layer->name))
        return error_at(
            e, ERR_SPEC, NULL, layer->line, layer->column,
            "layer name '%s' must not begin with 'optimizer.' or 'rank.', which checkpoints "
            "use for other data",
            layer->name);
    if (find_layer(net, layer->name) != NULL)
        return error_at(e, ERR_SPEC, NULL, layer->line, layer->column,
                        "a second layer is called '%s'; names must differ", layer->name);
    return OK;
}

static enum status infer_shapes(const struct net_desc *net, struct layer_desc *layer,
                                struct error *e)
{
    layer->in = net->n_layers > 0 ? net->layers[net->n_layers - 1].out : net->input;
    if (shape_count(layer->in) > NET_COUNT_MAX)
        return layer_error(layer, e, "an input of %zu numbers; at most %u are accepted",
                           shape_count(layer->in), NET_COUNT_MAX);
    TRY(layer_rule_get(layer->kind)->infer(layer, e));
    char text[40];
    if (shape_count(layer->out) > NET_COUNT_MAX)
        return layer_error(layer, e, "an output of %s is %zu numbers; at most %u are accepted",
                           shape_text(text, layer->out), shape_count(layer->out), NET_COUNT_MAX);
    return OK;
}

/* Sets name, layer, count and offset of the `n` tensors or buffers of a layer. On entry, `name` is
 * the last part of the name ("weight"), at most 15 letters. *offset: offset of the first tensor;
 * advanced past the last tensor. */
static void place_list(const struct net_desc *net, const struct layer_desc *layer,
                       struct tensor_desc *list, int n, size_t *offset)
{
    for (int i = 0; i < n; i++) {
        struct tensor_desc *t = &list[i];
        char part[NET_NAME_MAX + 16];
        memcpy(part, t->name, sizeof part);
        snprintf(t->name, sizeof t->name, "%.47s.%.15s", layer->name, part);
        t->layer = net->n_layers;
        t->count = 1;
        for (int d = 0; d < t->n_dims; d++)
            t->count *= (size_t)t->dims[d];
        t->offset = *offset;
        *offset += t->count;
    }
}

/* Tensors and buffers of one layer, not yet appended to the net's tables. */
struct layer_parts {
    struct tensor_desc tensors[2], buffers[2];
};

static enum status place_tensors(const struct net_desc *net, struct layer_desc *layer,
                                 struct layer_parts *own, struct error *e)
{
    const struct layer_rule *rule = layer_rule_get(layer->kind);
    size_t params = net->n_params, values = net->n_buffer_values;
    layer->first_tensor = net->n_tensors;
    layer->buffer_offset = values;
    layer->n_tensors = rule->tensors != NULL ? rule->tensors(layer, own->tensors) : 0;
    layer->n_buffers = rule->buffers != NULL ? rule->buffers(layer, own->buffers) : 0;
    place_list(net, layer, own->tensors, layer->n_tensors, &params);
    place_list(net, layer, own->buffers, layer->n_buffers, &values);
    if (params > NET_COUNT_MAX)
        return layer_error(layer, e, "brings the net to %zu parameters; at most %u are accepted",
                           params, NET_COUNT_MAX);
    return OK;
}

static void count_flops(const struct net_desc *net, struct layer_desc *layer)
{
    const struct layer_rule *rule = layer_rule_get(layer->kind);
    layer->flops_forward = rule->flops != NULL ? rule->flops(layer) : 0;
    bool first_with_parameters = net->n_params == 0;
    layer->flops_backward = (first_with_parameters ? 1 : 2) * layer->flops_forward;
}

/* Enlarges `list` to `n` elements and returns its new address. If memory is exhausted, sets *failed
 * and returns `list` unchanged. */
static void *grown(void *list, size_t n, size_t element, bool *failed)
{
    void *more = realloc(list, n * element);
    *failed |= more == NULL;
    return more != NULL ? more : list;
}

/* Adds the layer to the net's tables; on error their content is unchanged. Allocates one tensor and
 * one buffer too many, since realloc with size 0 may return NULL. */
static enum status append(struct net_desc *net, const struct layer_desc *layer,
                          const struct layer_parts *own, struct error *e)
{
    size_t n_layers = (size_t)net->n_layers + 1;
    size_t n_tensors = (size_t)(net->n_tensors + layer->n_tensors) + 1;
    size_t n_buffers = (size_t)(net->n_buffers + layer->n_buffers) + 1;
    bool failed = false;
    net->layers = grown(net->layers, n_layers, sizeof *net->layers, &failed);
    net->tensors = grown(net->tensors, n_tensors, sizeof *net->tensors, &failed);
    net->buffers = grown(net->buffers, n_buffers, sizeof *net->buffers, &failed);
    if (failed)
        return error_no_memory(e, "a layer's description");
    net->layers[net->n_layers++] = *layer;
    for (int i = 0; i < layer->n_tensors; i++) {
        net->tensors[net->n_tensors++] = own->tensors[i];
        net->n_params += own->tensors[i].count;
    }
    for (int i = 0; i < layer->n_buffers; i++) {
        net->buffers[net->n_buffers++] = own->buffers[i];
        net->n_buffer_values += own->buffers[i].count;
    }
    return OK;
}

enum status net_desc_add(struct net_desc *net, const struct layer_desc *layer, struct error *e)
{
    struct layer_desc added = *layer;
    added.index = net->n_layers;
    struct layer_parts own = {0};
    TRY(name_layer(net, &added, e));
    TRY(check_options(&added, e));
    TRY(infer_shapes(net, &added, e));
    TRY(place_tensors(net, &added, &own, e));
    count_flops(net, &added);
    return append(net, &added, &own, e);
}

enum status net_desc_end(struct net_desc *net, struct error *e)
{
    if (net->n_layers == 0)
        return error_set(e, ERR_SHAPE, "net '%s' has no layers; it needs at least one", net->name);
    const struct layer_desc *last = &net->layers[net->n_layers - 1];
    char text[40];
    if (last->out.c != net->classes || last->out.h != 1 || last->out.w != 1)
        return layer_error(last, e,
                           "the last layer gives %s; softmax over %d classes needs a vector of %d",
                           shape_text(text, last->out), net->classes, net->classes);
    net->flops_forward = net->flops_backward = 0;
    for (int i = 0; i < net->n_layers; i++) {
        net->flops_forward += net->layers[i].flops_forward;
        net->flops_backward += net->layers[i].flops_backward;
    }
    return OK;
}

void net_desc_free(struct net_desc *net)
{
    free(net->layers);
    free(net->tensors);
    free(net->buffers);
    *net = (struct net_desc){.n_layers = 0};
}

void net_desc_ready(const struct net_desc *net, double *ready, double backward)
{
    double done = 0;
    for (int i = net->n_layers - 1; i >= 0; i--) {
        const struct layer_desc *layer = &net->layers[i];
        done += (double)layer->flops_backward;
        for (int k = 0; k < layer->n_tensors; k++)
            ready[layer->first_tensor + k] = backward * done / (double)net->flops_backward;
    }
}
