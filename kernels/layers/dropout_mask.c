#include "kernels/layers/dropout_mask.h"

#include <math.h>
#include <string.h>

#include "kernels/base/rng.h"
#include "kernels/base/simd.h"
#include "kernels/simd/keep.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE(struct keep_functions, keep)

struct dropout_call {
    const struct exec *ex;
    const enum isa *isa; /* NULL: word by word */
    const struct layer_desc *layer;
    struct dropout_units u;
    real *out;
    const real *in;
    uint8_t *draw; /* forward fills it */
    const uint8_t *keep;
};

void dropout_mask_draw(uint8_t *keep, const struct exec *ex, const struct layer_desc *layer,
                       size_t units, uint32_t sample)
{
    uint32_t stream = RNG_STREAM(RNG_DROPOUT, layer->index);
    for (size_t i = 0; i < units; i += 4) {
        uint32_t words[4];
        rng_words4(words, ex->seed, stream, ex->epoch, sample, (uint32_t)(i / 4));
        for (size_t j = 0; j < 4 && i + j < units; j++)
            keep[i + j] = rng_unit(words[j]) >= layer->rate;
    }
}

/* rng_unit(word) >= rate says of the word's 24 upper bits: at least rate * 2^24, which is exact. */
void dropout_mask_draw_by(enum isa isa, uint8_t *keep, const struct exec *ex,
                          const struct layer_desc *layer, size_t units, uint32_t sample)
{
    const uint32_t counter[4] = {0, sample, ex->epoch, RNG_STREAM(RNG_DROPOUT, layer->index)};
    const uint32_t key[2] = {(uint32_t)ex->seed, (uint32_t)(ex->seed >> 32)};
    keep_for(isa)->draw(keep, units, counter, key, (uint32_t)ceil(layer->rate * 0x1p24));
}

static void draw_image(const struct dropout_call *call, size_t image)
{
    uint8_t *keep = call->draw + image * call->u.units;
    uint32_t sample = call->ex->samples[image];
    if (call->isa)
        dropout_mask_draw_by(*call->isa, keep, call->ex, call->layer, call->u.units, sample);
    else
        dropout_mask_draw(keep, call->ex, call->layer, call->u.units, sample);
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
    (void)thread;
    const struct dropout_call *call = arg;
    struct dropout_units u = call->u;
    real scale = (real)(1.0 / (1.0 - call->layer->rate));
    for (size_t i = begin; i < end; i++) {
        if (call->draw)
            draw_image(call, i);
        real *out = call->out + i * u.units * u.size;
        const real *in = call->in + i * u.units * u.size;
        if (u.size == 1)
            apply_to_elements(out, in, call->keep + i * u.units, u.units, scale);
        else
            apply_to_planes(out, in, call->keep + i * u.units, u, scale);
    }
}

static void copy_block(void *arg, size_t begin, size_t end, int thread)
{
    (void)thread;
    const struct dropout_call *call = arg;
    memcpy(call->out + begin, call->in + begin, (end - begin) * sizeof(real));
}

void dropout_mask_forward(const struct exec *ex, const enum isa *isa,
                          const struct layer_desc *layer, int n, struct dropout_units u, real *y,
                          const real *x, uint8_t *keep)
{
    struct dropout_call call = {.ex = ex,
                                .isa = isa,
                                .layer = layer,
                                .u = u,
                                .out = y,
                                .in = x,
                                .draw = keep,
                                .keep = keep};
    size_t image = u.units * u.size;
    if (ex->training)
        exec_for(ex, (size_t)n, images_per_block(ELEMENTS_PER_BLOCK, image), apply_block, &call);
    else
        exec_for(ex, (size_t)n * image, ELEMENTS_PER_BLOCK, copy_block, &call);
}

void dropout_mask_backward(const struct exec *ex, const struct layer_desc *layer, int n,
                           struct dropout_units u, real *dx, const real *dy, const uint8_t *keep)
{
    struct dropout_call call = {
        .ex = ex, .layer = layer, .u = u, .out = dx, .in = dy, .keep = keep};
    exec_for(ex, (size_t)n, images_per_block(ELEMENTS_PER_BLOCK, u.units * u.size), apply_block,
             &call);
}
