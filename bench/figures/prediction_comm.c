/* What the ranks of a point say to each other in a step, by the model. */
#include <math.h>
#include <stdlib.h>

#include "bench/figures/prediction.h"
#include "comm/cost/cost.h"
#include "comm/cost/pipeline.h"
#include "comm/cost/tensor.h"
#include "kernels/base/mem.h"

/* A point's ranks: `replicas` share its batch, each of them several ranks where the net is cut. */
struct talk {
    const struct net_desc *net; /* of one slice, which is as large as any */
    const struct config *config;
    struct strategy_config strategy;
    enum strategy_kind kind;
    int replicas;
    size_t images, micros; /* of a replica in a step, and micro-batches */
    size_t *counts, *rows; /* of each tensor; rows as strategy_config has them */
    size_t width;
    const struct link_model *link;
};

static enum status count_tensors(struct talk *t, struct error *e)
{
    size_t n = (size_t)t->net->n_tensors;
    TRY(MEM_NEW(t->counts, n, "the tensors of a net", e));
    TRY(MEM_NEW(t->rows, n, "the tensors of a net", e));
    for (size_t i = 0; i < n; i++) {
        t->counts[i] = t->net->tensors[i].count;
        t->rows[i] = t->net->tensors[i].n_dims > 1 ? (size_t)t->net->tensors[i].dims[0] : 0;
    }
    return OK;
}

/* The strategy's sum of tensors [first, last): its slowest rank. */
static double sum_s(const struct talk *t, size_t first, size_t last)
{
    struct strategy_config config = t->strategy;
    double seconds = 0;
    config.rows = t->rows + first;
    for (int r = 0; r < t->replicas; r++) {
        struct cost c = strategy_cost(t->kind, &config, r, t->replicas, t->counts + first,
                                      last - first, t->width, t->link);
        seconds = fmax(seconds, c.seconds / (double)(c.steps > 0 ? c.steps : 1));
    }
    return seconds;
}

/* ---- Slices ---- */

/* What the slowest slice of a replica sums with the others in all micro-batches. */
static double slices_s(const struct talk *t, const struct net_desc *whole)
{
    int slices = (int)config_int(t->config, OPT_TENSOR);
    size_t images = (t->images + t->micros - 1) / t->micros;
    double seconds = 0;
    for (int i = 0; i < slices && slices > 1; i++)
        seconds = fmax(
            seconds, tensor_cost(whole, i, slices, t->strategy.algorithm, images, t->width, t->link)
                         .seconds);
    return (double)t->micros * seconds;
}

/* ---- Stages ---- */

/* Layers [first[s], first[s + 1]) of each stage: by FLOPs, since times and the ops of a plan are known to the trainer
 * alone. */
static enum status cut_layers(int *first, const struct net_desc *net, int stages, struct error *e)
{
    size_t n = (size_t)net->n_layers;
    double *costs = NULL;
    bool *has_params = NULL;
    enum status status = MEM_NEW(costs, n, "the layers of a net", e);
    THEN(status, MEM_NEW(has_params, n, "the layers of a net", e));
    for (size_t i = 0; i < n && status == OK; i++) {
        const struct layer_desc *layer = &net->layers[i];
        costs[i] = (double)(layer->flops_forward + layer->flops_backward);
        has_params[i] = layer->n_tensors > 0;
    }
    if (status == OK && !pipeline_cut_ops(first, stages, costs, has_params, net->n_layers))
        status = error_no_memory(e, "the stages of a pipeline");
    free(costs);
    free(has_params);
    return status;
}

/* Layers [first, last): the sum of their gradients, and what they send to the stages beside them. */
static double stage_s(const struct talk *t, int first, int last)
{
    const struct layer_desc *layers = t->net->layers;
    bool is_first = first == 0, is_last = last == t->net->n_layers;
    size_t begin = (size_t)layers[first].first_tensor;
    size_t end = (size_t)(layers[last - 1].first_tensor + layers[last - 1].n_tensors);
    size_t in = is_first ? 0 : shape_count(layers[first].in);
    size_t out = is_last ? 0 : shape_count(layers[last - 1].out);
    struct pipeline_traffic sent = pipeline_traffic(in, out, (int)t->micros, t->images, t->width);
    return sum_s(t, begin, end) + (double)sent.messages * t->link->alpha_s +
           (double)sent.bytes * t->link->beta_s;
}

static enum status stages_s(double *seconds, const struct talk *t, struct error *e)
{
    int stages = (int)config_int(t->config, OPT_PIPELINE), *first;
    TRY(MEM_NEW(first, (size_t)stages + 1, "the stages of a pipeline", e));
    enum status status = cut_layers(first, t->net, stages, e);
    *seconds = 0;
    for (int i = 0; i < stages && status == OK; i++)
        *seconds = fmax(*seconds, stage_s(t, first[i], first[i + 1]));
    free(first);
    return status;
}

/* ---- A step ---- */

static enum status find_ms(double *ms, struct talk *t, const struct net_desc *whole,
                           struct error *e)
{
    enum option_id at;
    double seconds;
    TRY(count_tensors(t, e));
    TRY(config_strategy(t->config, &t->strategy, &at, e));
    TRY(stages_s(&seconds, t, e));
    *ms = 1e3 * (seconds + slices_s(t, whole));
    return OK;
}

enum status prediction_comm_ms(double *ms, const struct point *point, size_t width,
                               const struct link_model *link, struct error *e)
{
    const struct config *config = &point->config;
    struct net_desc held;
    TRY(net_desc_slice(&held, &point->net->net, 0, (int)config_int(config, OPT_TENSOR), e));
    struct talk t = {.net = &held,
                     .config = config,
                     .kind = config_strategy_kind(config),
                     .replicas = (int)config_replicas(config, config_int(config, OPT_RANKS)),
                     .micros = (size_t)config_int(config, OPT_ACCUMULATE),
                     .width = width,
                     .link = link};
    t.images = (size_t)ceil(config_images(config) / t.replicas);
    *ms = 0;
    enum status status = find_ms(ms, &t, &point->net->net, e);
    free(t.counts);
    free(t.rows);
    net_desc_free(&held);
    return status;
}
