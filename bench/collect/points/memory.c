/* Finds the memory of a rank for model states (parameters, gradients, optimizer state) in three
 * ways: by scalebench's forecast, by DeepSpeed's formulas, and by measurement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/summary.h"
#include "comm/cost/cost.h"
#include "kernels/base/mem.h"
#include "kernels/desc/net_slice.h"

/* A point is flagged if measured and forecast memory differ by more than MEMORY_OFF_PCT and by more
 * than MEMORY_OFF_PAGES. */
#define MEMORY_OFF_PCT 5.0
/* difference between measured and forecast memory (pages) up to which no point is flagged, since
 * forecasts ignore where in a page an arena begins */
#define MEMORY_OFF_PAGES 8

bool point_forecasts_memory(const struct point *point)
{
    const struct config *c = &point->config;
    return point->net != NULL && !config_is_foreign(c) && !config_is_peer(c) &&
           config_int(c, OPT_PIPELINE) == 1;
}

/* Builds the network that rank 0 stores: with tensor parallelism, rank 0's slice of each layer. No
 * rank has a larger slice. Free with net_desc_free. */
static enum status held_by_rank(struct net_desc *held, const struct point *point, struct error *e)
{
    return net_desc_slice(held, &point->net->net, 0, (int)config_int(&point->config, OPT_TENSOR),
                          e);
}

/* Returns whether one op computes layers i - 1 and i. Plans other than the reference join a 3x3
 * convolution of stride 1 and its batch norm. */
static bool joins_layer_before(const struct layer_desc *layers, int i, enum plan plan)
{
    const struct layer_desc *conv = &layers[i - 1];
    return plan != PLAN_REFERENCE && layers[i].kind == LAYER_batchnorm2d &&
           conv->kind == LAYER_conv2d && conv->kernel_h == 3 && conv->kernel_w == 3 &&
           conv->stride_h == 1 && conv->stride_w == 1;
}

/* Sets ops[t] to the index of the op whose parameters include tensor t. */
static void find_ops(int *ops, const struct net_desc *net, enum plan plan)
{
    int op = 0;
    for (int i = 0; i < net->n_layers; i++) {
        const struct layer_desc *l = &net->layers[i];
        op += i > 0 && !joins_layer_before(net->layers, i, plan);
        for (int t = l->first_tensor; t < l->first_tensor + l->n_tensors; t++)
            ops[t] = op;
    }
}

/* Computes the memory that the point's strategy needs on rank 0. `held`: the network, or the slice
 * of it, that rank 0 stores. `counts` and `ops`: scratch space [number of tensors]. */
static enum status memory_of(struct sync_memory *m, const struct point *point,
                             const struct net_desc *held, size_t width, size_t *counts, int *ops,
                             struct error *e)
{
    const struct config *c = &point->config;
    struct strategy_config config;
    enum option_id at;
    TRY(config_strategy(c, &config, &at, e));
    config.ops = ops;
    config.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < held->n_tensors; i++)
        counts[i] = held->tensors[i].count;
    find_ops(ops, held, (enum plan)config_int(c, OPT_KERNELS));
    *m = strategy_memory(config_strategy_kind(c), &config, 0, (int)config_int(c, OPT_RANKS), counts,
                         (size_t)held->n_tensors, width, config_state_slots(c));
    return OK;
}

enum status point_memory(struct sync_memory *m, const struct point *point, size_t width,
                         struct error *e)
{
    size_t n = (size_t)point->net->net.n_tensors, *counts = NULL;
    int *ops = NULL;
    struct net_desc held;
    TRY(held_by_rank(&held, point, e));
    enum status status = MEM_NEW(counts, n, "the tensors of a net", e);
    THEN(status, MEM_NEW(ops, n, "the ops of tensors", e));
    THEN(status, memory_of(m, point, &held, width, counts, ops, e));
    net_desc_free(&held);
    free(counts);
    free(ops);
    return status;
}

static enum status formula_of(struct sync_memory *m, const struct point *point, size_t width,
                              struct error *e)
{
    const struct config *c = &point->config;
    struct net_desc held;
    TRY(held_by_rank(&held, point, e));
    *m = strategy_memory_formula(
        config_strategy_kind(c), (enum precision)config_int(c, OPT_PRECISION),
        (int)config_int(c, OPT_RANKS), held.n_params, width, config_state_slots(c));
    net_desc_free(&held);
    return OK;
}

static struct model_states in_mib(const struct sync_memory *m)
{
    return (struct model_states){
        .params = (double)m->params / 0x1p20,
        .grads = (double)m->grads / 0x1p20,
        .state = (double)m->state / 0x1p20,
        .all = ((double)m->params + (double)m->grads + (double)m->state) / 0x1p20,
    };
}

static double measured_mib(const struct samples *samples)
{
    double most = NAN;
    for (size_t i = 0; i < samples->n; i++) {
        const struct launch_result *r = samples->items[i].result;
        most = fmax(most, r->params_mib + r->grads_mib + r->state_mib);
    }
    return most;
}

static size_t width_of(const struct samples *samples)
{
    bool is_double = samples->n > 0 && strcmp(samples->items[0].result->precision, "f64") == 0;
    return is_double ? sizeof(double) : sizeof(float);
}

/* Measured values are from timed launches or, if there are none, from accuracy runs. Model states
 * of elastic accuracy runs are ignored, since the number of ranks may change. */
enum status memory_set(struct point_memory *m, const struct point *point,
                       const struct point_samples *all, struct error *e)
{
    static const struct model_states unknown = {NAN, NAN, NAN, NAN};
    const struct samples *any = all->time.n > 0 ? &all->time : &all->accuracy;
    const struct samples *samples = config_is_elastic(&point->config) ? &all->time : any;
    struct sync_memory forecast, formula;
    *m = (struct point_memory){
        .most_mib = samples_median(any, offsetof(struct launch_result, memory_mib)),
        .growth_mib = samples_median(any, offsetof(struct launch_result, growth_mib)),
        .forecast_mib = unknown,
        .formula_mib = unknown,
        .states_mib = measured_mib(samples),
        .error_pct = NAN};
    if (!point_forecasts_memory(point))
        return OK;
    TRY(point_memory(&forecast, point, width_of(samples), e));
    TRY(formula_of(&formula, point, width_of(samples), e));
    m->forecast_mib = in_mib(&forecast);
    m->formula_mib = in_mib(&formula);
    m->error_pct = 100 * (m->states_mib / m->forecast_mib.all - 1);
    return OK;
}

bool memory_is_off(const struct point_memory *m, const struct point *point)
{
    double off_mib = fabs(m->states_mib - m->forecast_mib.all);
    double pages_mib = MEMORY_OFF_PAGES * (double)sysconf(_SC_PAGESIZE) / 0x1p20;
    return strategy_stage(config_strategy_kind(&point->config)) > 0 && off_mib > pages_mib &&
           fabs(m->error_pct) > MEMORY_OFF_PCT;
}
