#include "bench/workloads/sweeps/kernel/setup.h"

#include <string.h>

#include "kernels/base/rng.h"

/* One per cent off, in the tensors of one layer: what a wrong kernel could do. */
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

static void fill(struct setup *r, const struct sweep *s)
{
    size_t image = shape_count(s->desc->input);
    for (uint32_t i = 0; i < (uint32_t)s->options->batch; i++) {
        for (uint32_t k = 0; k < image; k++)
            r->images[i * image + k] = (uint8_t)rng_word(1, 0, 0, i, k);
        r->labels[i] = (uint8_t)(rng_word(2, 0, 0, 0, i) % (uint32_t)s->desc->classes);
        r->samples[i] = i;
    }
    net_init_params(s->desc, r->params, 1);
    net_init_params(s->desc, r->spoilt, 1);
    spoil(s, r->spoilt);
}

enum status setup_open(struct setup *r, const struct sweep *s, struct error *e)
{
    size_t batch = (size_t)s->options->batch, n = s->desc->n_params;
    static const char images[] = "images to compute with", arenas[] = "parameters and gradients";
    TRY(MEM_KEEP(&r->memory, r->images, batch * shape_count(s->desc->input), images, e));
    TRY(MEM_KEEP(&r->memory, r->labels, batch, images, e));
    TRY(MEM_KEEP(&r->memory, r->samples, batch, images, e));
    TRY(MEM_KEEP(&r->memory, r->params, n, arenas, e));
    TRY(MEM_KEEP(&r->memory, r->spoilt, n, arenas, e));
    TRY(MEM_KEEP(&r->memory, r->grads, n, arenas, e));
    TRY(MEM_KEEP(&r->memory, r->reference_grads, n, arenas, e));
    TRY(MEM_KEEP(&r->memory, r->momentum, n, arenas, e));
    TRY(sweep_make_buffers(&r->buffers, s->desc, &r->memory, e));
    r->ex =
        (struct exec){.training = true, .seed = 1, .samples = r->samples, .buffers = r->buffers};
    r->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd,
                                      .isa = s->options->isas[0],
                                      .momentum = 0.9,
                                      .n = s->desc->n_params,
                                      .state = r->momentum,
                                      .tensors = s->desc->tensors,
                                      .n_tensors = s->desc->n_tensors};
    fill(r, s);
    return product_open(&r->product, &r->memory, e);
}

void setup_update(const struct setup *r)
{
    optimizer_step(&r->optimizer, NULL, r->params, r->grads, 0, r->optimizer.n, 1, 0);
}
