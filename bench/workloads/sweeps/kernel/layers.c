/* Times every layer alone, with each plan's kernel for that layer. Compares each kernel's results
 * for the whole batch with the reference kernel's results on the same input. */
#include <math.h>
#include <string.h>

#include "bench/workloads/sweeps/kernel/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"

/* Buffers of one layer. */
struct stage {
    const struct layer_desc *layer;
    const struct layer_kernel *kernel;
    int n;
    size_t in, out, params; /* number of elements of x, y and the parameters */
    real *x, *y, *dx, *dy, *weights, *grads;
    char *saved, *scratch;
    struct mem_room memory;
};

static void fill(real *x, size_t n, uint32_t stream)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(2 * rng_unit(rng_word(1, stream, 0, 0, (uint32_t)i)) - 1);
}

static enum status open_stage(struct stage *g, const struct net_desc *desc, int layer,
                              enum plan plan, int n, struct error *e)
{
    static const char numbers[] = "the numbers of a layer";
    const struct layer_desc *l = &desc->layers[layer];
    *g = (struct stage){.layer = l, .kernel = layer_kernel_get(l->kind, plan), .n = n};
    g->in = (size_t)n * shape_count(l->in);
    g->out = (size_t)n * shape_count(l->out);
    g->params = net_layer_params(desc, l);
    TRY(MEM_KEEP(&g->memory, g->x, g->in, numbers, e));
    TRY(MEM_KEEP(&g->memory, g->dx, g->in, numbers, e));
    TRY(MEM_KEEP(&g->memory, g->y, g->out, numbers, e));
    TRY(MEM_KEEP(&g->memory, g->dy, g->out, numbers, e));
    TRY(MEM_KEEP(&g->memory, g->weights, g->params, numbers, e));
    TRY(MEM_KEEP(&g->memory, g->grads, g->params, numbers, e));
    TRY(MEM_KEEP(&g->memory, g->saved, layer_saved_bytes(g->kernel, l, n), numbers, e));
    TRY(MEM_KEEP(&g->memory, g->scratch, layer_scratch_bytes(g->kernel, l, n, 1), numbers, e));
    fill(g->x, g->in, 1);
    fill(g->dy, g->out, 2);
    fill(g->weights, g->params, 3);
    return OK;
}

/* Returns the arguments of a layer's kernel. As in training, the first layer computes no input
 * gradient. */
static struct layer_call call_of(const struct stage *g, const struct exec *ex)
{
    return (struct layer_call){.ex = ex,
                               .layer = g->layer,
                               .n = g->n,
                               .y = g->y,
                               .x = g->x,
                               .dx = g->layer->index > 0 ? g->dx : NULL,
                               .dy = g->dy,
                               .params = g->weights,
                               .dparams = g->grads,
                               .saved = g->saved,
                               .scratch = g->scratch};
}

static void forward(const struct stage *g, const struct exec *ex)
{
    struct layer_call call = call_of(g, ex);
    g->kernel->forward(&call);
}

static void backward(const struct stage *g, const struct exec *ex)
{
    struct layer_call call = call_of(g, ex);
    g->kernel->backward(&call);
}

static void time_stage(const struct stage *g, const struct exec *ex, int repeats, double *ms)
{
    for (int k = -1; k < repeats; k++) { /* the first call is a warm-up */
        int64_t begin_ns = clock_ns();
        forward(g, ex);
        int64_t between_ns = clock_ns();
        backward(g, ex);
        int64_t end_ns = clock_ns();
        if (k < 0)
            continue;
        ms[k] = 1e-6 * (double)(between_ns - begin_ns);
        ms[repeats + k] = 1e-6 * (double)(end_ns - between_ns);
    }
}

static double stage_distance(const struct stage *g, const struct stage *reference, enum pass pass)
{
    struct distance d = {0, 0};
    if (pass == PASS_FORWARD) {
        distance_add(&d, g->y, reference->y, g->out);
        return distance_relative(&d);
    }
    distance_add(&d, g->grads, reference->grads, g->params);
    double worst = distance_relative(&d);
    d = (struct distance){0, 0};
    if (g->layer->index > 0)
        distance_add(&d, g->dx, reference->dx, g->in);
    return fmax(worst, distance_relative(&d));
}

static void print_layer(struct sweep *s, const struct stage *g, const struct stage *reference,
                        enum plan plan, enum pass pass, const double *ms)
{
    int i = g->layer->index, n = s->options->batch;
    double flop = written_flop(s->desc, i, i + 1, n, pass);
    const struct value_bytes of = {i > 0 ? sizeof(real) : sizeof(uint8_t), sizeof(real)};
    struct kernel_row row = {
        .plan = plan_name(plan),
        .part = "layer",
        .position = i,
        .kernel = layer_names()[g->layer->kind],
        .layers = g->layer->name,
        .pass = pass_name(pass),
        .flop = flop,
        .flop_done = flop,
        .bytes = least_bytes(s->desc, i, i + 1, n, pass, of),
        .residual = stage_distance(g, reference, pass),
        .bound = bound_of_layer(s->desc, i, n, pass),
        .done_pct = NAN,
        .done_pct_lo = NAN,
        .done_pct_hi = NAN,
        .ratio = NAN,
        .ratio_lo = NAN,
        .ratio_hi = NAN,
    };
    sweep_print_row(s, &row, s->options->isas[0], ms, (size_t)s->options->repeats);
}

/* Makes results 1 % larger, as a wrong kernel could, to test the verdicts. */
static void spoil(struct stage *g)
{
    for (size_t i = 0; i < g->out; i++)
        g->y[i] *= (real)1.01;
    for (size_t i = 0; i < g->in; i++)
        g->dx[i] *= (real)1.01;
}

static enum status sweep_layer(struct sweep *s, int layer, enum plan plan, const struct exec *ex,
                               double *ms, struct error *e)
{
    struct stage own = {.layer = NULL}, reference = {.layer = NULL};
    int n = s->options->batch, repeats = s->options->repeats;
    enum status status = open_stage(&own, s->desc, layer, plan, n, e);
    THEN(status, open_stage(&reference, s->desc, layer, PLAN_REFERENCE, n, e));
    if (status == OK) {
        forward(&reference, ex);
        backward(&reference, ex);
        time_stage(&own, ex, repeats, ms);
        if (s->options->spoil != NULL && strcmp(own.layer->name, s->options->spoil) == 0)
            spoil(&own);
        print_layer(s, &own, &reference, plan, PASS_FORWARD, ms);
        if (own.layer->index > 0 || own.params > 0)
            print_layer(s, &own, &reference, plan, PASS_BACKWARD, ms + repeats);
    }
    mem_room_empty(&own.memory);
    mem_room_empty(&reference.memory);
    return status;
}

/* Times all layers that --layer selects, with each plan. The layers share the buffers for sample
 * ids, running statistics and times [PASSES, repeats]. */
static enum status sweep_shared(struct sweep *s, struct mem_room *memory, struct error *e)
{
    const struct sweep_options *o = s->options;
    struct exec ex = {.training = true, .seed = 1};
    uint32_t *samples;
    double *ms;
    TRY(MEM_KEEP(memory, samples, (size_t)o->batch, "sample ids", e));
    TRY(sweep_make_buffers(&ex.buffers, s->desc, memory, e));
    TRY(MEM_KEEP(memory, ms, PASSES * (size_t)o->repeats, "times", e));
    for (uint32_t i = 0; i < (uint32_t)o->batch; i++)
        samples[i] = i;
    ex.samples = samples;
    for (int i = 0; i < s->desc->n_layers; i++)
        for (int p = 0; p < o->n_plans; p++)
            if (sweep_wants(s, i, i + 1))
                TRY(sweep_layer(s, i, o->plans[p], &ex, ms, e));
    return OK;
}

enum status sweep_layers(struct sweep *s, struct error *e)
{
    struct mem_room memory = {.n = 0};
    enum status status = sweep_shared(s, &memory, e);
    mem_room_empty(&memory);
    return status;
}
