/* Choosing kernels by time, with whole nets: a kernel's neighbours and the state of the caches
 * count as much as it does by itself. Every candidate is used wherever it can be, so that there are
 * as many nets as candidates, and two at a time in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/stats.h"
#include "kernels/net/net.h"

/* Timed rounds of each candidate, after one that warms up. */
enum { ROUNDS = 7 };

/* A candidate must be so much faster than the kernel of the shape: less than that is noise. */
#define WORTHWHILE 0.98

/* ns [n_layers]: of each op forward and backward, where its first layer is; loading is the first
 * layer's. */
static void time_step(struct net_batch *r, struct net *net, int64_t *ns)
{
    int ops = net_ops(net);
    int64_t begin = clock_ns();
    memset(ns, 0, (size_t)r->desc->n_layers * sizeof *ns);
    net_load(net, &r->ex, 0, r->n, r->images);
    for (int i = 0; i < ops; i++) {
        net_forward(net, &r->ex, 0, i, i + 1, r->params);
        int64_t end = clock_ns();
        ns[net_op_view(net, 0, i).first_layer] += end - begin;
        begin = end;
    }
    net_loss(net, &r->ex, 0, r->labels, NULL, 1.0 / r->n);
    for (int i = ops - 1; i >= 0; i--) {
        begin = clock_ns();
        net_backward(net, &r->ex, 0, i, i + 1, r->params, r->grads);
        ns[net_op_view(net, 0, i).first_layer] += clock_ns() - begin;
    }
}

static double sum_ns(const int64_t *ns, int first, int last)
{
    int64_t sum = 0;
    for (int i = first; i < last; i++)
        sum += ns[i];
    return (double)sum;
}

/* ratio [n_layers]: of an op of `base` at its first layer, the median over rounds of its layers'
 * time in `other` over that in `base`. *whole: of all layers. */
static enum status compare(struct net_batch *r, struct net *base, struct net *other, double *ratio,
                           double *whole, struct error *e)
{
    int layers = r->desc->n_layers;
    int64_t *ns;
    TRY(MEM_NEW(ns, 2 * ROUNDS * (size_t)layers, "the times of layers", e));
    for (int round = -1; round < ROUNDS; round++) {
        int64_t *of_base = ns + 2 * (round < 0 ? 0 : round) * layers, *of_other = of_base + layers;
        time_step(r, base, of_base);
        time_step(r, other, of_other);
    }
    double rounds[ROUNDS];
    for (int i = 0; i < net_ops(base); i++) {
        struct net_op_view v = net_op_view(base, 0, i);
        for (int t = 0; t < ROUNDS; t++)
            rounds[t] = sum_ns(ns + (2 * t + 1) * layers, v.first_layer, v.last_layer) /
                        sum_ns(ns + 2 * t * layers, v.first_layer, v.last_layer);
        ratio[v.first_layer] = stats_median(rounds, ROUNDS);
    }
    for (int t = 0; t < ROUNDS; t++)
        rounds[t] =
            sum_ns(ns + (2 * t + 1) * layers, 0, layers) / sum_ns(ns + 2 * t * layers, 0, layers);
    *whole = stats_median(rounds, ROUNDS);
    free(ns);
    return OK;
}

/* The op of `net` that begins at a layer, or -1. */
static int op_at(const struct net *net, int layer)
{
    for (int i = 0; i < net_ops(net); i++)
        if (net_op_view(net, 0, i).first_layer == layer)
            return i;
    return -1;
}

/* Whether `other` computes the layers of an op of `base` by themselves, and not by the same kernel
 * in the same way. */
static bool differs(const struct net *base, int op, const struct net *other)
{
    struct net_op_view v = net_op_view(base, 0, op);
    int at = op_at(other, v.first_layer),
        layers = net_op_view(base, 0, net_ops(base) - 1).last_layer;
    bool ends = v.last_layer == layers || op_at(other, v.last_layer) >= 0;
    if (at < 0 || !ends)
        return false;
    struct net_op_view o = net_op_view(other, 0, at);
    return strcmp(net_op_name(base, op), net_op_name(other, at)) != 0 ||
           v.flops_forward != o.flops_forward || v.flops_backward != o.flops_backward;
}

/* Layers that there are several kernels for. */
static bool has_kernels(const struct layer_desc *layer)
{
    return layer->kind == LAYER_conv2d || layer->kind == LAYER_dense;
}

static bool is_head(const struct net_desc *desc, const struct net *net, int op)
{
    return has_kernels(&desc->layers[net_op_view(net, 0, op).first_layer]);
}

/* What a search carries along. */
struct search {
    struct net_batch batch;
    struct net_options options;
    struct net *base;
    uint8_t *choices, *trial; /* [n_layers] */
    double *best, *ratio;     /* [n_layers], of the layers that ops of base begin with */
};

static enum status make_net(struct search *s, struct net **net, const uint8_t *choices,
                            struct error *e)
{
    struct net_options options = s->options;
    options.choices = choices;
    return net_create(net, s->batch.desc, &options, e);
}

static void choose(uint8_t *choices, const struct net_desc *desc, int first, int last,
                   enum kernel_choice choice)
{
    for (int i = first; i < last; i++)
        if (has_kernels(&desc->layers[i]))
            choices[i] = (uint8_t)choice;
}

/* One candidate, wherever it can be used. */
static enum status try_choice(struct search *s, enum kernel_choice choice, struct error *e)
{
    struct net *other = NULL;
    const struct net_desc *desc = s->batch.desc;
    bool any = false;
    double whole;
    choose(s->trial, desc, 0, desc->n_layers, choice);
    TRY(make_net(s, &other, s->trial, e));
    for (int i = 0; i < net_ops(s->base); i++)
        any = any || (is_head(desc, s->base, i) && differs(s->base, i, other));
    enum status status = any ? compare(&s->batch, s->base, other, s->ratio, &whole, e) : OK;
    for (int i = 0; any && status == OK && i < net_ops(s->base); i++) {
        struct net_op_view v = net_op_view(s->base, 0, i);
        if (!is_head(desc, s->base, i) || !differs(s->base, i, other) ||
            s->ratio[v.first_layer] >= s->best[v.first_layer])
            continue;
        s->best[v.first_layer] = s->ratio[v.first_layer];
        choose(s->choices, desc, v.first_layer, v.last_layer, choice);
    }
    net_destroy(other);
    return status;
}

/* What was fastest by itself must be so together: layouts have to be changed where neighbours
 * differ. */
static enum status check_together(struct search *s, struct error *e)
{
    struct net *together = NULL;
    double whole;
    size_t n = (size_t)s->batch.desc->n_layers;
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || s->choices[i] != CHOICE_shape;
    if (!any)
        return OK;
    TRY(make_net(s, &together, s->choices, e));
    enum status status = compare(&s->batch, s->base, together, s->ratio, &whole, e);
    if (status == OK && whole >= 1)
        memset(s->choices, CHOICE_shape, n);
    net_destroy(together);
    return status;
}

static enum status search_open(struct search *s, uint8_t *choices, const struct net_desc *desc,
                               const struct net_options *options, struct pool *pool,
                               struct error *e)
{
    size_t n = (size_t)desc->n_layers;
    *s = (struct search){.options = *options, .choices = choices};
    s->options.slots = 1;
    TRY(net_batch_open(&s->batch, desc, options->n_max, e));
    s->batch.ex.pool = pool;
    TRY(MEM_KEEP(&s->batch.memory, s->trial, n, "the choices of kernels", e));
    TRY(MEM_KEEP(&s->batch.memory, s->best, n, "the times of layers", e));
    TRY(MEM_KEEP(&s->batch.memory, s->ratio, n, "the times of layers", e));
    for (size_t i = 0; i < n; i++)
        s->best[i] = WORTHWHILE;
    return make_net(s, &s->base, NULL, e);
}

static void search_close(struct search *s)
{
    net_destroy(s->base);
    mem_room_empty(&s->batch.memory);
}

enum status net_tune(uint8_t *choices, const struct net_desc *desc,
                     const struct net_options *options, struct pool *pool, struct error *e)
{
    static const struct {
        enum kernel_choice choice;
        unsigned plans;
    } candidates[] = {
#define CHOICE(name, plans, summary) {CHOICE_##name, plans},
#include "kernels/ops/choices.def"
    };
    struct search s;
    memset(choices, CHOICE_shape, (size_t)desc->n_layers);
    enum status status = search_open(&s, choices, desc, options, pool, e);
    for (size_t i = 0; status == OK && i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i].plans & 1u << options->plan)
            status = try_choice(&s, candidates[i].choice, e);
    THEN(status, check_together(&s, e));
    search_close(&s);
    return status;
}

/* A choice that says more than the kind of op does. */
static const char *kernel_name(const struct net *net, int op)
{
    enum kernel_choice choice = net_op_view(net, 0, op).choice;
    return choice == CHOICE_winograd_f4   ? "winograd_f4"
           : choice == CHOICE_winograd_f2 ? "winograd_f2"
                                          : net_op_name(net, op);
}

char *net_kernels_text(const struct net *net, const struct net_desc *desc, char text[KERNELS_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < net_ops(net); i++) {
        struct net_op_view v = net_op_view(net, 0, i);
        for (int l = v.first_layer; l < v.last_layer; l++)
            if (has_kernels(&desc->layers[l]) && used < KERNELS_TEXT)
                used += (size_t)snprintf(text + used, KERNELS_TEXT - used, "%s%s:%s%s",
                                         used > 0 ? " " : "", desc->layers[l].name,
                                         kernel_name(net, i), v.bf16 ? "_bf16" : "");
    }
    return text;
}
