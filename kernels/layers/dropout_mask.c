#include "kernels/layers/dropout_mask.h"

#include <math.h>
#include <string.h>

#include "kernels/base/rng.h"
#include "kernels/base/simd.h"
#include "kernels/simd/keep.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE(struct keep_functions, keep)

enum { BLOCK = 4 }; /* random words per call of rng_words4; each unit uses one word */

struct dropout_call {
    const struct layer_call *c;
    const enum isa *isa; /* instruction set of the code that draws many random words at a time;
                            NULL: plain C code is used */
    struct dropout_units u;
    real *out;
    const real *in;
    bool draw; /* whether to draw the mask (forward) or reuse the saved mask (backward) */
};

size_t dropout_mask_bytes(const struct layer_desc *layer, int n)
{
    return (size_t)n * dropout_units_of(layer).units;
}

void dropout_mask_draw(uint8_t *keep, const struct exec *ex, const struct layer_desc *layer,
                       size_t units, uint32_t sample)
{
    uint32_t stream = RNG_STREAM(RNG_DROPOUT, layer->index), words[BLOCK] = {0};
    size_t first = (size_t)layer->first_unit;
    for (size_t i = 0; i < units; i++) {
        if (i == 0 || (first + i) % BLOCK == 0)
            rng_words4(words, ex->seed, stream, ex->epoch, sample, (uint32_t)((first + i) / BLOCK));
        keep[i] = rng_unit(words[(first + i) % BLOCK]) >= layer->rate;
    }
}

/* Draws units one by one up to the first whole block of random words, since a slice of a net can
 * begin inside a block. rng_unit(word) >= rate is equivalent to (upper 24 bits of the word) >=
 * ceil(rate * 2^24). */
void dropout_mask_draw_by(enum isa isa, uint8_t *keep, const struct exec *ex,
                          const struct layer_desc *layer, size_t units, uint32_t sample)
{
    size_t first = (size_t)layer->first_unit, rest = (BLOCK - first % BLOCK) % BLOCK;
    rest = rest < units ? rest : units;
    const uint32_t counter[4] = {(uint32_t)((first + rest) / BLOCK), sample, ex->epoch,
                                 RNG_STREAM(RNG_DROPOUT, layer->index)};
    const uint32_t key[2] = {(uint32_t)ex->seed, (uint32_t)(ex->seed >> 32)};
    dropout_mask_draw(keep, ex, layer, rest, sample);
    keep_for(isa)->draw(keep + rest, units - rest, counter, key,
                        (uint32_t)ceil(layer->rate * 0x1p24));
}

static void draw_image(const struct dropout_call *call, uint8_t *keep, size_t image)
{
    const struct exec *ex = call->c->ex;
    if (call->isa != NULL)
        dropout_mask_draw_by(*call->isa, keep, ex, call->c->layer, call->u.units,
                             ex->samples[image]);
    else
        dropout_mask_draw(keep, ex, call->c->layer, call->u.units, ex->samples[image]);
}

SIMD_CLONES static void apply_to_elements(real *restrict out, const real *restrict in,
                                          const uint8_t *restrict keep, size_t units, real scale)
{
    for (size_t i = 0; i < units; i++)
        out[i] = keep[i] ? in[i] * scale : 0;
}

SIMD_CLONES static void apply_to_planes(real *restrict out, const real *restrict in,
                                        const uint8_t *restrict keep, struct dropout_units u,
                                        real scale)
{
    for (size_t i = 0; i < u.units; i++) {
        for (size_t j = i * u.size; j < (i + 1) * u.size; j++)
            out[j] = keep[i] ? in[j] * scale : 0;
    }
}

static void apply_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct dropout_call *call = arg;
    struct dropout_units u = call->u;
    real scale = (real)(1.0 / (1.0 - call->c->layer->rate));
    for (size_t i = begin; i < end; i++) {
        uint8_t *keep = (uint8_t *)call->c->saved + i * u.units;
        if (call->draw)
            draw_image(call, keep, i);
        real *out = call->out + i * u.units * u.size;
        const real *in = call->in + i * u.units * u.size;
        if (u.size == 1)
            apply_to_elements(out, in, keep, u.units, scale);
        else
            apply_to_planes(out, in, keep, u, scale);
    }
}

static void copy_block(void *arg, size_t begin, size_t end, int thread)
{
    const struct layer_call *c = arg;
    memcpy(c->y + begin, c->x + begin, (end - begin) * sizeof(real));
}

static void apply(struct dropout_call *call)
{
    call->u = dropout_units_of(call->c->layer);
    exec_for(call->c->ex, (size_t)call->c->n,
             images_per_block(ELEMENTS_PER_BLOCK, call->u.units * call->u.size), apply_block, call);
}

void dropout_mask_forward_by(const enum isa *isa, const struct layer_call *c)
{
    if (c->ex->training)
        apply(&(struct dropout_call){.c = c, .isa = isa, .out = c->y, .in = c->x, .draw = true});
    else
        exec_for(c->ex, (size_t)c->n * shape_count(c->layer->in), ELEMENTS_PER_BLOCK, copy_block,
                 (void *)c);
}

void dropout_mask_forward(const struct layer_call *c)
{
    dropout_mask_forward_by(NULL, c);
}

void dropout_mask_backward(const struct layer_call *c)
{
    if (c->dx != NULL)
        apply(&(struct dropout_call){.c = c, .out = c->dx, .in = c->dy});
}

#define HOOKS                                                                                      \
    {                                                                                              \
        .saved_bytes = dropout_mask_bytes, .forward = dropout_mask_forward,                        \
        .backward = dropout_mask_backward,                                                         \
    }

const struct layer_kernel layer_dropout = HOOKS;

/* Tompson et al., "Efficient object localization using convolutional networks", CVPR 2015. */
const struct layer_kernel layer_dropout2d = HOOKS;
