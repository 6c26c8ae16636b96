/* Output of test_gradients for programs that compute the same step by other means. */
#pragma once

#include "kernels/net/tests/gradients.h"

#include <stdio.h>

static inline void write_shape(const char *key, struct shape s)
{
    printf("\"%s\":[%d,%d,%d],", key, s.c, s.h, s.w);
}

/* Writes kind, input and options of a layer. */
static inline void write_layer(const struct layer_desc *l)
{
    const struct layer_rule *rule = layer_rule_get(l->kind);
    printf("{\"kind\":\"%s\",", layer_names()[l->kind]);
    write_shape("in", l->in);
    printf("\"options\":{");
    for (const struct layer_option *o = rule->options; o && o->key; o++) {
        const char *field = (const char *)l + o->offset;
        const int *whole = (const int *)field;
        printf("%s\"%s\":", o == rule->options ? "" : ",", o->key);
        if (o->type == LAYER_PART)
            printf("%s", layer_lacks(l, o) ? "false" : "true");
        else if (o->type == LAYER_REAL)
            printf("%.17g", *(const double *)field);
        else if (o->type == LAYER_PAIR)
            printf("[%d,%d]", whole[0], whole[1]);
        else
            printf("%d", whole[0]);
    }
    printf("}}");
}

static inline void write_tensor(const struct tensor_desc *t)
{
    printf("{\"name\":\"%s\",\"offset\":%zu,\"count\":%zu,\"dims\":[", t->name, t->offset,
           t->count);
    for (int i = 0; i < t->n_dims; i++)
        printf("%s%d", i > 0 ? "," : "", t->dims[i]);
    printf("]}");
}

/* Writes a line of JSON about the net and the arrays that follow it: weights in float, images,
 * labels. */
static inline void write_about(const struct gradient_input *in, size_t bytes)
{
    const struct net_desc *d = &in->desc;
    printf("{\"images\":%d,\"hash\":\"%016llx\",", in->about.images,
           (unsigned long long)gradient_input_hash(in));
    write_shape("input", d->input);
    for (int c = 0; c < d->input.c; c++)
        printf("%s%.17g", c > 0 ? "," : "\"mean\":[", d->mean[c]);
    for (int c = 0; c < d->input.c; c++)
        printf("%s%.17g", c > 0 ? "," : "],\"std\":[", d->std[c]);
    for (int i = 0; i < d->n_layers; i++) {
        printf("%s", i > 0 ? "," : "],\"layers\":[");
        write_layer(&d->layers[i]);
    }
    for (int t = 0; t < d->n_tensors; t++) {
        printf("%s", t > 0 ? "," : "],\"tensors\":[");
        write_tensor(&d->tensors[t]);
    }
    printf("],\"arrays\":[{\"name\":\"params\",\"n\":%zu,\"type\":\"f4\"},{\"name\":\"images\","
           "\"n\":%zu,\"type\":\"u1\"},{\"name\":\"labels\",\"n\":%d,\"type\":\"u1\"}]}\n",
           d->n_params, bytes, in->about.images);
}
