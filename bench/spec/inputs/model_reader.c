/* Reads networks from YAML: configs/models/<name>.yaml, or a file given by its path. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "bench/spec/find.h"
#include "bench/spec/spec.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/file_kind.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/names.h"

/* Largest number of image channels: grey, grey with alpha, RGB or RGBA. struct net_desc has a mean
 * for each channel. */
#define CHANNELS_MAX 4
/* Largest height and width of an image, in pixels. */
#define SIDE_MAX 4096
/* Largest number of classes. */
#define CLASSES_MAX 1000
/* Largest parameter count: a double represents all whole numbers up to this one exactly. */
#define COUNT_MAX 9007199254740992.0

enum model_key {
    KEY_NAME,
    KEY_INPUT,
    KEY_CLASSES,
    KEY_LAYERS,
    KEYS_REQUIRED,
    KEY_NORMALIZE = KEYS_REQUIRED,
    KEY_INITIALIZER,
    KEY_PARAMETERS,
    KEYS
};

static const char *const key_names[KEYS] = {[KEY_NAME] = "name",
                                            [KEY_INPUT] = "input",
                                            [KEY_CLASSES] = "classes",
                                            [KEY_LAYERS] = "layers",
                                            [KEY_NORMALIZE] = "normalize",
                                            [KEY_INITIALIZER] = "initializer",
                                            [KEY_PARAMETERS] = "parameters"};

/* Largest number of options of a layer, including its name. */
enum { OPTIONS_MAX = 16 };

/* Bounds of a number in a model file. */
struct bounds {
    const char *what; /* name for messages: "conv2d: kernel" */
    double min, max;
    bool whole;
};

static enum status unknown_name(const char *what, const char *name, struct mark mark,
                                const char *const *known, size_t n, struct error *e)
{
    char text[900];
    return mark_error(e, ERR_SPEC, mark, "%s: %s", what,
                      name_explain(text, sizeof text, name, known, n));
}

static enum status read_number(const struct node *node, const struct bounds *bounds, double *number,
                               struct error *e)
{
    const char *kind = bounds->whole ? "whole number" : "number";
    if (node->kind != NODE_SCALAR)
        return mark_error(e, ERR_SPEC, node->mark, "%s: expected one %s", bounds->what, kind);
    if (node->quoted || !number_parse(node->text, number) ||
        (bounds->whole && *number != floor(*number)))
        return mark_error(e, ERR_SPEC, node->mark, "%s: '%s' is not a %s from %.15g to %.15g%s",
                          bounds->what, node->text, kind, bounds->min, bounds->max,
                          strcmp(node->text, "same") == 0
                              ? "; a pad of (kernel - 1) / 2 keeps the size of the feature map"
                              : "");
    if (*number < bounds->min || *number > bounds->max)
        return mark_error(e, ERR_SPEC, node->mark, "%s = %s: allowed %.15g..%.15g", bounds->what,
                          node->text, bounds->min, bounds->max);
    return OK;
}

static enum status read_numbers(const struct node *node, const struct bounds *bounds,
                                double *numbers, size_t n, struct error *e)
{
    if (node->kind != NODE_LIST || node->n != n)
        return mark_error(e, ERR_SPEC, node->mark, "%s: expected a list of %zu number%s",
                          bounds->what, n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        TRY(read_number(&node->items[i], bounds, &numbers[i], e));
    }
    return OK;
}

static enum status read_name(const struct node *node, const char *what, char name[NET_NAME_MAX],
                             struct error *e)
{
    if (node->kind != NODE_SCALAR || node->text[0] == '\0' || strlen(node->text) >= NET_NAME_MAX)
        return mark_error(e, ERR_SPEC, node->mark, "%s: expected a name of 1 to %d bytes", what,
                          NET_NAME_MAX - 1);
    for (const char *c = node->text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return mark_error(e, ERR_SPEC, node->mark,
                              "%s: expected a name without line breaks and control characters",
                              what);
    strcpy(name, node->text);
    return OK;
}

/* Adds the position in the file to an error `inner` of kernels/desc. */
static enum status place_error(const struct error *inner, struct mark mark, struct error *e)
{
    return mark_error(e, inner->status, mark, "%s", inner->text);
}

/* ---- Layers ---- */

static void store_int(struct layer_desc *layer, size_t offset, double number)
{
    *(int *)((char *)layer + offset) = (int)number;
}

static enum status read_part(struct layer_desc *layer, const struct layer_option *option,
                             const char *what, const struct node *node, struct error *e)
{
    bool yes;
    if (node->kind != NODE_SCALAR || !bool_parse(node->text, &yes))
        return mark_error(e, ERR_SPEC, node->mark, "%s: expected true or false, found %s", what,
                          node->kind == NODE_SCALAR ? node->text : "a list or map");
    *(bool *)((char *)layer + option->offset) = !yes;
    return OK;
}

static enum status read_layer_option(struct layer_desc *layer, const struct layer_option *option,
                                     const struct node *node, struct error *e)
{
    char what[64];
    snprintf(what, sizeof what, "%s: %s", layer_names()[layer->kind], option->key);
    if (option->type == LAYER_PART)
        return read_part(layer, option, what, node, e);
    struct bounds bounds = {what, option->min, option->max, option->type != LAYER_REAL};
    double numbers[2];
    bool pair = option->type == LAYER_PAIR && node->kind == NODE_LIST;
    TRY(pair ? read_numbers(node, &bounds, numbers, 2, e)
             : read_number(node, &bounds, &numbers[0], e));
    if (option->type == LAYER_REAL) {
        *(double *)((char *)layer + option->offset) = numbers[0];
        return OK;
    }
    store_int(layer, option->offset, numbers[0]);
    if (option->type == LAYER_PAIR)
        store_int(layer, option->offset + sizeof(int), numbers[pair]);
    return OK;
}

static const struct layer_option *find_layer_option(const struct layer_rule *rule, const char *key)
{
    for (const struct layer_option *o = rule->options; o->key != NULL; o++)
        if (strcmp(o->key, key) == 0)
            return o;
    return NULL;
}

/* Options of layers in other frameworks, and scalebench's option with the same meaning. NULL:
 * scalebench needs no such option. */
static const char *const foreign_options[][2] = {
    {"padding", "pad"},      {"filters", "channels"},     {"out_channels", "channels"},
    {"units", "outputs"},    {"out_features", "outputs"}, {"kernel_size", "kernel"},
    {"pool_size", "size"},   {"kernel_size", "size"},     {"p", "rate"},
    {"use_bias", "bias"},    {"eps", "epsilon"},          {"in_channels", NULL},
    {"in_features", NULL},   {"input_shape", NULL},       {"input_dim", NULL},
    {"input_channels", NULL}};

/* Rejects an option that scalebench calls by another name, replaces by a layer (`activation`) or
 * does not need. Returns OK for all other options. */
static enum status refuse_foreign_option(enum layer_kind kind, const struct node *entry,
                                         struct error *e)
{
    const char *name = layer_names()[kind];
    bool softmax = entry->kind == NODE_SCALAR && strcasecmp(entry->text, "softmax") == 0;
    if (strcmp(entry->key, "activation") == 0)
        return mark_error(e, ERR_SPEC, entry->key_mark, "%s: 'activation' is unknown: %s", name,
                          softmax ? "the loss includes softmax. Leave the option out"
                                  : "activations are layers. Write `- relu` after the layer");
    for (size_t i = 0; i < sizeof foreign_options / sizeof *foreign_options; i++) {
        const char *own = foreign_options[i][1];
        if (strcmp(entry->key, foreign_options[i][0]) != 0)
            continue;
        if (own == NULL)
            return mark_error(e, ERR_SPEC, entry->key_mark,
                              "%s: '%s' is unknown: the input shape follows from the previous "
                              "layer or the model's `input`. Leave the option out",
                              name, entry->key);
        if (find_layer_option(layer_rule_get(kind), own) != NULL)
            return mark_error(e, ERR_SPEC, entry->key_mark, "%s: '%s' is unknown. Use '%s'", name,
                              entry->key, own);
    }
    return OK;
}

static enum status unknown_layer_option(enum layer_kind kind, const struct node *entry,
                                        struct error *e)
{
    TRY(refuse_foreign_option(kind, entry, e));
    const char *known[OPTIONS_MAX] = {"name"};
    char text[900];
    size_t n = 1;
    for (const struct layer_option *o = layer_rule_get(kind)->options;
         o->key != NULL && n < OPTIONS_MAX; o++)
        known[n++] = o->key;
    struct name_places places = {known, n, key_names, KEYS, key_names[KEY_LAYERS]};
    return mark_error(e, ERR_SPEC, entry->key_mark, "%s: %s", layer_names()[kind],
                      name_explain_place(text, sizeof text, entry->key, &places));
}

static enum status check_layer_complete(enum layer_kind kind, const struct node *options,
                                        struct mark mark, struct error *e)
{
    for (const struct layer_option *o = layer_rule_get(kind)->options; o->key != NULL; o++)
        if (isnan(o->preset) && !(options != NULL && node_find(options, o->key) != NULL))
            return mark_error(e, ERR_SPEC, mark, "%s: the key '%s' is missing: %s",
                              layer_names()[kind], o->key, o->help);
    return OK;
}

static enum status read_layer_options(struct layer_desc *layer, const struct node *options,
                                      struct error *e)
{
    const struct layer_rule *rule = layer_rule_get(layer->kind);
    if (options->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, options->mark, "%s: expected a map of options",
                          layer_names()[layer->kind]);
    for (size_t i = 0; i < options->n; i++) {
        const struct node *entry = &options->items[i];
        const struct layer_option *option = find_layer_option(rule, entry->key);
        enum status status;
        if (option != NULL)
            status = read_layer_option(layer, option, entry, e);
        else if (strcmp(entry->key, "name") == 0)
            status = read_name(entry, "name", layer->name, e);
        else
            status = unknown_layer_option(layer->kind, entry, e);
        TRY(status);
    }
    return OK;
}

/* Rejects an unknown layer. For layers of other frameworks, the message states an alternative. */
static enum status unknown_layer(const char *name, struct mark mark, struct error *e)
{
    static const char *const foreign[][2] = {{"flatten", "dense flattens its input. Leave it out"},
                                             {"softmax", "the loss includes softmax. Leave it out"},
                                             {"linear", "use dense"},
                                             {"fc", "use dense"},
                                             {"sigmoid", "relu is the only activation"},
                                             {"tanh", "relu is the only activation"}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcasecmp(name, foreign[i][0]) == 0)
            return mark_error(e, ERR_SPEC, mark, "layer: '%s' is unknown: %s", name, foreign[i][1]);
    if (strchr(name, '(') != NULL)
        return mark_error(
            e, ERR_SPEC, mark,
            "layer: '%s' is unknown. Write options as a map, such as "
            "`- conv2d: {channels: 10, kernel: 5}`; `scalebench list layers` lists all layers",
            name);
    return unknown_name("layer", name, mark, layer_names(), LAYER_KINDS, e);
}

/* Returns whether a layer is pooling or dropout, which keep nonnegative inputs nonnegative. */
static bool keeps_sign(enum layer_kind kind)
{
    return kind == LAYER_maxpool2d || kind == LAYER_avgpool2d || kind == LAYER_dropout ||
           kind == LAYER_dropout2d;
}

static bool has_negative_pixels(const struct net_desc *net)
{
    bool found = false;
    for (int i = 0; i < net->input.c; i++)
        found = found || net->mean[i] > 0;
    return found;
}

/* Rejects a relu layer whose inputs are never negative. */
static enum status check_idle_relu(const struct net_desc *net, const struct node *node,
                                   struct error *e)
{
    int before = net->n_layers - 2;
    if (net->layers[net->n_layers - 1].kind != LAYER_relu)
        return OK;
    while (before >= 0 && keeps_sign(net->layers[before].kind))
        before--;
    if (before < 0 && !has_negative_pixels(net))
        return mark_error(e, ERR_SPEC, node->mark,
                          "this relu changes nothing, because pixels are never negative unless "
                          "`normalize` subtracts a mean. Leave the relu out");
    if (before < 0 || net->layers[before].kind != LAYER_relu)
        return OK;
    return mark_error(
        e, ERR_SPEC, node->mark,
        "this relu follows another relu and changes nothing. Leave one of the two out");
}

/* Rejects dropout with rate 0, which changes nothing. */
static enum status check_dropout(const struct layer_desc *layer, const struct node *node,
                                 struct error *e)
{
    if ((layer->kind != LAYER_dropout && layer->kind != LAYER_dropout2d) || layer->rate > 0)
        return OK;
    return mark_error(e, ERR_SPEC, node->mark,
                      "%s: a rate of 0 changes nothing; set a larger rate, or leave the layer out",
                      layer_names()[layer->kind]);
}

/* Rejects a convolution whose outermost windows contain only padding. */
static enum status check_padding(const struct layer_desc *layer, const struct node *node,
                                 struct error *e)
{
    if (layer->kind != LAYER_conv2d ||
        (layer->pad_h < layer->kernel_h && layer->pad_w < layer->kernel_w))
        return OK;
    return mark_error(
        e, ERR_SPEC, node->mark,
        "conv2d: the outermost windows contain only padding: expected pad below kernel = "
        "%dx%d, found %dx%d",
        layer->kernel_h, layer->kernel_w, layer->pad_h, layer->pad_w);
}

/* Rejects batch norm whose running statistics never change. */
static enum status check_momentum(const struct layer_desc *layer, const struct node *node,
                                  struct error *e)
{
    if (layer->kind != LAYER_batchnorm2d || layer->momentum > 0)
        return OK;
    return mark_error(e, ERR_SPEC, node->mark,
                      "batchnorm2d: momentum 0 never updates the running statistics. Use a larger "
                      "momentum (weight of a new batch), such as 0.1");
}

/* Rejects a layer after a dense layer if the layer's window, less its padding, exceeds 1x1 pixels.
 * A dense layer's output has height and width 1. */
static enum status check_not_flat(const struct net_desc *net, const struct layer_desc *layer,
                                  const struct node *node, struct error *e)
{
    const char *kind = layer_names()[layer->kind];
    int dense = net->n_layers - 1;
    while (dense >= 0 && net->layers[dense].kind != LAYER_dense)
        dense--;
    if (dense < 0 ||
        (layer->kernel_h <= 1 + 2 * layer->pad_h && layer->kernel_w <= 1 + 2 * layer->pad_w))
        return OK;
    return mark_error(
        e, ERR_SPEC, node->mark,
        "%s: a %dx%d window needs images, but dense layer '%s' outputs a vector. Move %s before it",
        kind, layer->kernel_h, layer->kernel_w, net->layers[dense].name, kind);
}

/* Rejects `- {kind: dense, outputs: 10}`, which gives the layer's kind as a value, not as the
 * key. */
static enum status check_named_by_key(const struct node *node, struct error *e)
{
    const struct node *kind = node->kind == NODE_MAP ? node_find(node, "kind") : NULL;
    if (kind == NULL)
        return OK;
    const char *name = kind->kind == NODE_SCALAR && kind->text[0] ? kind->text : "dense";
    const char *rest = node->n > 1 ? node->items[kind == node->items].key : "...";
    return mark_error(e, ERR_SPEC, kind->key_mark,
                      "layer: the layer's kind must be the key, not the value of `kind`. Write "
                      "`- %s: {%s%s}`; a layer without options is written as `- relu`",
                      name, rest, node->n > 1 ? ": ..." : "");
}

/* Reads a layer, such as `- relu` or `- conv2d: {...}`. */
static enum status read_layer(struct net_desc *net, const struct node *node, struct error *e)
{
    bool map = node->kind == NODE_MAP && node->n == 1;
    TRY(check_named_by_key(node, e));
    if (node->kind == NODE_MAP && node->n > 1)
        return mark_error(e, ERR_SPEC, node->items[1].key_mark,
                          "expected one layer per list item. Write `- %s` as the next item, or "
                          "indent the key below %s to make it an option of %s",
                          node->items[1].key, node->items[0].key, node->items[0].key);
    if (!map && (node->kind != NODE_SCALAR || node_is_empty(node)))
        return mark_error(e, ERR_SPEC, node->mark,
                          "a layer is written as `- relu` or `- dense: {outputs: 10}`");
    const char *name = map ? node->items[0].key : node->text;
    const struct node *options = map && !node_is_empty(&node->items[0]) ? &node->items[0] : NULL;
    int kind = name_index(name, layer_names(), LAYER_KINDS);
    if (kind < 0)
        return unknown_layer(name, node->mark, e);

    struct layer_desc layer = layer_desc_preset((enum layer_kind)kind);
    layer.line = node->mark.line;
    layer.column = node->mark.column;
    if (options != NULL)
        TRY(read_layer_options(&layer, options, e));
    TRY(check_layer_complete(layer.kind, options, node->mark, e));
    TRY(check_dropout(&layer, node, e));
    TRY(check_padding(&layer, node, e));
    TRY(check_momentum(&layer, node, e));
    TRY(check_not_flat(net, &layer, node, e));
    struct error inner;
    if (net_desc_add(net, &layer, &inner) != OK)
        return place_error(&inner, node->mark, e);
    return check_idle_relu(net, node, e);
}

/* Rejects a last layer without parameters that has as many outputs as inputs: it would only change
 * the logits of the previous layer. */
static enum status check_last(const struct net_desc *net, const struct node *list, struct error *e)
{
    const struct layer_desc *last = &net->layers[net->n_layers - 1];
    const struct layer_rule *rule = layer_rule_get(last->kind);
    if (rule->tensors != NULL || shape_count(last->in) != shape_count(last->out))
        return OK;
    return mark_error(e, ERR_SPEC, list->items[list->n - 1].mark,
                      "the last layer must compute the logits of the classes, but %s only changes "
                      "the logits of the layer before. Leave %s out",
                      layer_names()[last->kind], layer_names()[last->kind]);
}

static enum status read_layers(struct net_desc *net, const struct node *list, struct error *e)
{
    if (list->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, list->mark, "layers: expected a list of layers");
    if (list->n == 0)
        return mark_error(e, ERR_SPEC, list->mark,
                          "layers: the list is empty; expected at least one layer");
    for (size_t i = 0; i < list->n; i++)
        TRY(read_layer(net, &list->items[i], e));
    struct error inner;
    if (net_desc_end(net, &inner) == OK)
        return check_last(net, list, e);
    return place_error(&inner, inner.line > 0 ? list->items[list->n - 1].mark : list->mark, e);
}

/* ---- Network ---- */

/* Rejects an unknown key of a model. The message may suggest an option of a layer, such as
 * "conv2d.kernel". */
static enum status unknown_model_key(const struct node *entry, struct error *e)
{
    char text[900], options[LAYER_KINDS * OPTIONS_MAX][40];
    const char *paths[LAYER_KINDS * OPTIONS_MAX];
    size_t n = 0;
    for (int kind = 0; kind < LAYER_KINDS; kind++) {
        const struct layer_rule *rule = layer_rule_get((enum layer_kind)kind);
        for (const struct layer_option *o = rule->options;
             o->key != NULL && n < LAYER_KINDS * OPTIONS_MAX; o++, n++) {
            snprintf(options[n], sizeof options[n], "%s.%s", layer_names()[kind], o->key);
            paths[n] = options[n];
        }
    }
    struct name_places places = {key_names, KEYS, paths, n, NULL};
    return mark_error(e, ERR_SPEC, entry->key_mark, "model: %s",
                      name_explain_place(text, sizeof text, entry->key, &places));
}

/* Stores each entry of the file in `entries`, at the index of its key; skips the author's own keys
 * (x-). Missing optional entries are NULL. */
static enum status sort_entries(const struct node *root, const struct node *entries[KEYS],
                                struct error *e)
{
    if (root->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, root->mark,
                          "expected a map with name, input, classes and layers");
    TRY(file_kind_check(root, FILE_MODEL, e));
    for (size_t i = 0; i < root->n; i++) {
        const struct node *entry = &root->items[i];
        int key = name_index(entry->key, key_names, KEYS);
        if (key_is_own(entry->key))
            continue;
        if (key < 0)
            return unknown_model_key(entry, e);
        entries[key] = entry;
    }
    for (int key = 0; key < KEYS_REQUIRED; key++)
        if (entries[key] == NULL)
            return mark_error(e, ERR_SPEC, root->mark, "the key '%s' is missing", key_names[key]);
    return OK;
}

static enum status begin_net(struct net_desc *net, const struct node *entries[KEYS],
                             struct error *e)
{
    char name[NET_NAME_MAX];
    double channels, sides[3], classes;
    static const struct bounds all = {"input [channels, rows, columns]", 1, SIDE_MAX, true},
                               first = {"input [channels, rows, columns]: channels", 1,
                                        CHANNELS_MAX, true},
                               several = {"classes", 2, CLASSES_MAX, true};
    TRY(read_name(entries[KEY_NAME], "name", name, e));
    TRY(read_numbers(entries[KEY_INPUT], &all, sides, 3, e));
    TRY(read_number(&entries[KEY_INPUT]->items[0], &first, &channels, e));
    TRY(read_number(entries[KEY_CLASSES], &several, &classes, e));
    struct shape input = {(int)channels, (int)sides[1], (int)sides[2]};
    struct error inner;
    if (net_desc_begin(net, name, input, (int)classes, &inner) == OK)
        return OK;
    return place_error(&inner, entries[KEY_INPUT]->mark, e);
}

static enum status read_normalize(struct net_desc *net, const struct node *map, struct error *e)
{
    static const char *const known[] = {"mean", "std"};
    static const struct bounds bounds[] = {{"normalize: mean of pixels in 0..1", 0, 1, false},
                                           {"normalize: std of pixels in 0..1", 1e-6, 1, false}};
    if (map->kind != NODE_MAP)
        return mark_error(e, ERR_SPEC, map->mark, "normalize: expected {mean: [...], std: [...]}");
    for (size_t i = 0; i < map->n; i++) {
        const struct node *entry = &map->items[i];
        int key = name_index(entry->key, known, 2);
        if (key < 0)
            return unknown_name("normalize", entry->key, entry->key_mark, known, 2, e);
        TRY(read_numbers(entry, &bounds[key], key == 0 ? net->mean : net->std, (size_t)net->input.c,
                         e));
    }
    return OK;
}

static enum status read_initializer(struct net_desc *net, const struct node *node, struct error *e)
{
    const char *name = node->kind == NODE_SCALAR ? node->text : "a list or map";
    int index = name_index(name, initializer_names(), INITIALIZERS);
    if (index < 0)
        return unknown_name("initializer", name, node->mark, initializer_names(), INITIALIZERS, e);
    net->initializer = (enum initializer)index;
    return OK;
}

static enum status check_parameters(const struct net_desc *net, const struct node *node,
                                    struct error *e)
{
    double stated;
    enum status status =
        read_number(node, &(struct bounds){"parameters", 0, COUNT_MAX, true}, &stated, e);
    if (status != OK || stated == (double)net->n_params)
        return status;
    return mark_error(
        e, ERR_SPEC, node->mark,
        "parameters = %.0f, but the layers have %zu parameters. Correct the layers or `parameters`",
        stated, net->n_params);
}

static enum status read_model(struct net_desc *net, const struct node *root, struct error *e)
{
    const struct node *entries[KEYS] = {NULL};
    TRY(sort_entries(root, entries, e));
    TRY(begin_net(net, entries, e));
    if (entries[KEY_NORMALIZE] != NULL)
        TRY(read_normalize(net, entries[KEY_NORMALIZE], e));
    if (entries[KEY_INITIALIZER] != NULL)
        TRY(read_initializer(net, entries[KEY_INITIALIZER], e));
    TRY(read_layers(net, entries[KEY_LAYERS], e));
    if (entries[KEY_PARAMETERS] != NULL)
        TRY(check_parameters(net, entries[KEY_PARAMETERS], e));
    return OK;
}

/* ---- Find and read the file ---- */

static enum status find_model(char **path, const char *name, struct error *e)
{
    TRY(file_kind_check_path(name, FILE_MODEL, e));
    if (find_is_path(name) && (strchr(name, '/') != NULL || find_is_there(name))) {
        if (access(name, R_OK) != 0)
            return error_set(e, ERR_SPEC, "model file '%s' cannot be opened: %s", name,
                             strerror(errno));
        return node_copy_text(path, name, "a path", e);
    }
    return find_config(path, "configs/models", name, e);
}

enum status model_load(struct net_desc *net, const char *name, struct error *e)
{
    char *path = NULL;
    struct node root;
    memset(net, 0, sizeof *net);
    TRY(find_model(&path, name, e));
    enum status status = yaml_read_file(&root, path, e);
    THEN(status, read_model(net, &root, e));
    if (status != OK)
        net_desc_free(net);
    node_free(&root);
    free(path);
    return status;
}
