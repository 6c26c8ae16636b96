/* Writes a network as JSON, for programs that build the same network in other frameworks. */
#include <jansson.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/spec.h"

static json_t *shape_json(struct shape s)
{
    return json_pack("[i, i, i]", s.c, s.h, s.w);
}

static json_t *option_json(const struct layer_option *option, const struct layer_desc *layer)
{
    const char *field = (const char *)layer + option->offset;
    if (option->type == LAYER_PART)
        return json_boolean(!layer_lacks(layer, option));
    if (option->type == LAYER_REAL)
        return json_real(*(const double *)field);
    const int *numbers = (const int *)field;
    return option->type == LAYER_PAIR ? json_pack("[i, i]", numbers[0], numbers[1])
                                      : json_integer(numbers[0]);
}

static json_t *layer_json(const struct layer_desc *layer)
{
    const struct layer_rule *rule = layer_rule_get(layer->kind);
    json_t *options = json_object();
    for (const struct layer_option *o = rule->options; o != NULL && o->key != NULL; o++)
        /* Boolean options such as `bias` are written only if false. A network in which all of them
         * are true keeps the digest from before these options existed. */
        if (o->type != LAYER_PART || layer_lacks(layer, o))
            json_object_set_new(options, o->key, option_json(o, layer));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:i}", "name", layer->name, "kind",
                     layer_names()[layer->kind], "options", options, "in", shape_json(layer->in),
                     "out", shape_json(layer->out), "first_tensor", layer->first_tensor, "tensors",
                     layer->n_tensors);
}

static json_t *tensor_json(const struct tensor_desc *tensor)
{
    json_t *dims = json_array();
    for (int i = 0; i < tensor->n_dims; i++)
        json_array_append_new(dims, json_integer(tensor->dims[i]));
    return json_pack("{s:s, s:o, s:I, s:I}", "name", tensor->name, "dims", dims, "offset",
                     (json_int_t)tensor->offset, "count", (json_int_t)tensor->count);
}

static json_t *net_json(const struct net_desc *net)
{
    json_t *layers = json_array(), *tensors = json_array();
    json_t *mean = json_array(), *std = json_array();
    for (int c = 0; c < net->input.c && c < (int)(sizeof net->mean / sizeof *net->mean); c++) {
        json_array_append_new(mean, json_real(net->mean[c]));
        json_array_append_new(std, json_real(net->std[c]));
    }
    for (int i = 0; i < net->n_layers; i++)
        json_array_append_new(layers, layer_json(&net->layers[i]));
    for (int i = 0; i < net->n_tensors; i++)
        json_array_append_new(tensors, tensor_json(&net->tensors[i]));
    return json_pack("{s:s, s:o, s:i, s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:o}", "name", net->name,
                     "input", shape_json(net->input), "classes", net->classes, "mean", mean, "std",
                     std, "initializer", initializer_names()[net->initializer], "parameters",
                     (json_int_t)net->n_params, "flops_forward", (json_int_t)net->flops_forward,
                     "flops_backward", (json_int_t)net->flops_backward, "layers", layers, "tensors",
                     tensors);
}

#define FORM (JSON_COMPACT | JSON_REAL_PRECISION(17))

enum status model_write_json(FILE *out, const struct net_desc *net, struct error *e)
{
    json_t *json = net_json(net);
    int failed = json == NULL || json_dumpf(json, out, FORM) != 0;
    json_decref(json);
    return failed ? error_set(e, ERR_SYSTEM, "the network cannot be written as JSON") : OK;
}

enum status model_sha256(const struct net_desc *net, char hex[SHA256_TEXT_BYTES], struct error *e)
{
    json_t *json = net_json(net);
    char *text = json != NULL ? json_dumps(json, FORM) : NULL;
    if (text != NULL)
        SHA256Data((const uint8_t *)text, strlen(text), hex);
    bool made = text != NULL;
    free(text);
    json_decref(json);
    return made ? OK : error_no_memory(e, "a network's digest");
}
