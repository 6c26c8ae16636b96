#include "bench/workloads/sweeps/kernel/setup.h"

#include <string.h>

/* If --spoil names a layer, multiplies all parameters of this layer by 1.01. The false results test
 * the verdicts. */
static void spoil(const struct sweep *s, real *params)
{
    for (int i = 0; i < s->desc->n_tensors; i++) {
        const struct tensor_desc *t = &s->desc->tensors[i];
        if (s->options->spoil == NULL ||
            strcmp(s->desc->layers[t->layer].name, s->options->spoil) != 0)
            continue;
        for (size_t k = 0; k < t->count; k++)
            params[t->offset + k] *= (real)1.01;
    }
}

enum status setup_open(struct setup *r, const struct sweep *s, struct error *e)
{
    static const char arenas[] = "parameters and gradients";
    size_t n = s->desc->n_params;
    struct mem_room *memory = &r->batch.memory;
    TRY(net_batch_open(&r->batch, s->desc, s->options->batch, e));
    TRY(MEM_KEEP(memory, r->spoilt, n, arenas, e));
    TRY(MEM_KEEP(memory, r->reference_grads, n, arenas, e));
    TRY(MEM_KEEP(memory, r->momentum, n, arenas, e));
    r->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd,
                                      .isa = s->options->isas[0],
                                      .momentum = 0.9,
                                      .n = n,
                                      .state = r->momentum,
                                      .tensors = s->desc->tensors,
                                      .n_tensors = s->desc->n_tensors};
    net_init_params(s->desc, r->spoilt, 1);
    spoil(s, r->spoilt);
    if (s->options->limits)
        TRY(limits_open(&r->limits, memory, e));
    return product_open(&r->product, memory, e);
}

void setup_update(const struct setup *r)
{
    optimizer_step(&r->optimizer, NULL, r->batch.params, r->batch.grads, 0, r->optimizer.n, 1, 0);
}
