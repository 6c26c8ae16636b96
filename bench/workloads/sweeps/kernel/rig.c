#include "bench/workloads/sweeps/kernel/rig.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"

/* One per cent off, in the tensors of one layer: what a wrong kernel could do. */
static void spoil(const struct sweep *s, real *params)
{
    for (int i = 0; i < s->desc->n_tensors; i++) {
        const struct tensor_desc *t = &s->desc->tensors[i];
        if (!s->options->spoil || strcmp(s->desc->layers[t->layer].name, s->options->spoil) != 0)
            continue;
        for (size_t k = 0; k < t->count; k++)
            params[t->offset + k] *= (real)1.01;
    }
}

static void fill(struct rig *r, const struct sweep *s)
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
    memset(r->momentum, 0, s->desc->n_params * sizeof *r->momentum);
}

enum status rig_open(struct rig *r, const struct sweep *s, struct error *e)
{
    size_t batch = (size_t)s->options->batch, arena = s->desc->n_params * sizeof(real);
    r->images = mem_alloc(batch * shape_count(s->desc->input));
    r->labels = mem_alloc(batch);
    r->samples = mem_alloc(batch * sizeof *r->samples);
    r->params = mem_alloc(arena);
    r->spoilt = mem_alloc(arena);
    r->grads = mem_alloc(arena);
    r->reference_grads = mem_alloc(arena);
    r->momentum = mem_alloc(arena);
    r->buffers = sweep_make_buffers(s->desc);
    if (!r->buffers || !r->images || !r->labels || !r->samples || !r->params || !r->spoilt ||
        !r->grads || !r->reference_grads || !r->momentum)
        return error_set(e, ERR_MEMORY, "no memory for %zu parameters and %zu images",
                         s->desc->n_params, batch);
    r->ex =
        (struct exec){.training = true, .seed = 1, .samples = r->samples, .buffers = r->buffers};
    r->optimizer = (struct optimizer){.kind = OPTIMIZER_sgd,
                                      .isa = s->options->isa,
                                      .momentum = 0.9,
                                      .n = s->desc->n_params,
                                      .state = r->momentum,
                                      .tensors = s->desc->tensors,
                                      .n_tensors = s->desc->n_tensors};
    fill(r, s);
    return product_open(&r->product, e);
}

void rig_close(struct rig *r)
{
    product_close(&r->product);
    mem_free(r->images);
    mem_free(r->labels);
    mem_free(r->samples);
    mem_free(r->params);
    mem_free(r->spoilt);
    mem_free(r->grads);
    mem_free(r->reference_grads);
    mem_free(r->momentum);
    mem_free(r->buffers);
}

void rig_update(const struct rig *r)
{
    optimizer_step(&r->optimizer, NULL, r->params, r->grads, 0, r->optimizer.n, 1, 0);
}
