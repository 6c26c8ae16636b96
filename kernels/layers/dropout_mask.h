/* What dropout and dropout2d share: a byte a unit (an element, or a channel of one image) that says
 * whether it is kept, and its use. A pure function of (seed, layer, epoch, sample, unit), so it
 * depends neither on the rank that has the sample nor on its place in the batch. Internal to
 * kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* `units` an image, each of `size` numbers that lie together. */
struct dropout_units {
    size_t units, size;
};

/* Of a layer of either kind: every element by itself, or every channel. */
static inline struct dropout_units dropout_units_of(const struct layer_desc *layer)
{
    size_t plane = (size_t)layer->in.h * (size_t)layer->in.w;
    if (layer->kind == LAYER_dropout2d)
        return (struct dropout_units){.units = (size_t)layer->in.c, .size = plane};
    return (struct dropout_units){.units = shape_count(layer->in), .size = 1};
}

/* Draws keep [units] of one sample, from layer->first_unit on: each is kept with probability 1 - rate. */
void dropout_mask_draw(uint8_t *keep, const struct exec *ex, const struct layer_desc *layer,
                       size_t units, uint32_t sample);

/* The same bits, many at a time by the instructions of `isa`. */
void dropout_mask_draw_by(enum isa isa, uint8_t *keep, const struct exec *ex,
                          const struct layer_desc *layer, size_t units, uint32_t sample);

/* What forward saves: keep [N,units]. */
size_t dropout_mask_bytes(const struct layer_desc *layer, int n);

/* Draws keep while training, and writes y [N,units,size] <- x; a copy in evaluation. The words are
 * drawn one after the other, or by the instructions of `isa`. */
void dropout_mask_forward(const struct layer_call *c);
void dropout_mask_forward_by(const enum isa *isa, const struct layer_call *c);

/* dx <- dy with the mask that forward drew. */
void dropout_mask_backward(const struct layer_call *c);
