/* Chooses kernels by timing whole nets, since a kernel's time depends on neighbouring kernels and
 * on the caches. To time a candidate kernel, a net uses this kernel in every layer that supports
 * it. At most two nets are in memory at once: the default net and the net that is compared with
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/stats.h"
#include "kernels/net/net.h"

/* Number of timed rounds per candidate, after one warm-up round. A round is one step of the default
 * net and one of the candidate's net. */
enum { ROUNDS = 7 };

/* A candidate replaces the default kernel of an op only if the candidate's time is below this
 * fraction of the default kernel's time. Smaller gains are noise. */
#define WORTHWHILE 0.98

/* Times one training step. ns [n_layers]: time of each op in ns, forward plus backward, stored at
 * the op's first layer. The first op's time includes loading the images. */
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

/* Compares the times of two nets. For each op of `base`, ratio[first layer of the op] becomes the
 * time of the op's layers in `other`, divided by their time in `base`. *whole becomes this ratio
 * for all layers together. Each ratio is the median over the rounds. */
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

/* Returns the index of the op of `net` whose first layer is `layer`, or -1. */
static int op_at(const struct net *net, int layer)
{
    for (int i = 0; i < net_ops(net); i++)
        if (net_op_view(net, 0, i).first_layer == layer)
            return i;
    return -1;
}

/* Returns whether ops of `other` compute exactly the layers of op `op` of `base`, with a different
 * kernel. */
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

static bool has_kernels(const struct layer_desc *layer)
{
    return layer->kind == LAYER_conv2d || layer->kind == LAYER_dense;
}

static bool is_head(const struct net_desc *desc, const struct net *net, int op)
{
    return has_kernels(&desc->layers[net_op_view(net, 0, op).first_layer]);
}

struct search {
    struct net_batch batch;
    struct net_options options;
    struct net *base;
    uint8_t *choices, *trial; /* [n_layers] kernel of each layer: the best so far, and the
                               * candidate */
    double *best, *ratio;     /* [n_layers] time relative to the default kernel, stored at the first
                                 layer of each op of `base`. `best`: smallest time so far; `ratio`:
                                 time of the candidate */
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

/* Times one candidate kernel and chooses it for each op for which it is the fastest so far. */
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

/* Discards all choices unless their combination is faster than the default kernels. Layout
 * conversions between neighbouring ops with different kernels can cost more than the choices
 * save. */
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

/* Returns "winograd_f4" or "winograd_f2" if this kernel was chosen for the op, else the op's
 * name. */
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
