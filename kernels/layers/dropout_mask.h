/* Masks of dropout and dropout2d: one byte per unit, 1 if the unit is kept. The mask depends only
 * on (seed, layer, epoch, sample, unit), not on the rank or the position in the batch. Internal to
 * kernels/. */
#pragma once

#include "kernels/layers/layer_tables.h"

/* Dropout units of one image: `units` units of `size` consecutive numbers each. The numbers of a
 * unit are dropped or kept together. */
struct dropout_units {
    size_t units, size;
};

/* Returns the units of a layer: elements for dropout, channels for dropout2d. */
static inline struct dropout_units dropout_units_of(const struct layer_desc *layer)
{
    size_t plane = (size_t)layer->in.h * (size_t)layer->in.w;
    if (layer->kind == LAYER_dropout2d)
        return (struct dropout_units){.units = (size_t)layer->in.c, .size = plane};
    return (struct dropout_units){.units = shape_count(layer->in), .size = 1};
}

/* Draws the mask keep [units] of one sample. keep[0] is unit layer->first_unit of the whole layer.
 * Each unit is kept with probability 1 - rate. */
void dropout_mask_draw(uint8_t *keep, const struct exec *ex, const struct layer_desc *layer,
                       size_t units, uint32_t sample);

/* Draws the same mask as dropout_mask_draw, but with vector instructions of `isa`. */
void dropout_mask_draw_by(enum isa isa, uint8_t *keep, const struct exec *ex,
                          const struct layer_desc *layer, size_t units, uint32_t sample);

/* Returns the size in bytes of the mask `keep` [N,units] that forward saves. */
size_t dropout_mask_bytes(const struct layer_desc *layer, int n);

/* Write y [N,units,size] <- x. In training, draw the mask `keep`, zero the dropped units and scale
 * the kept units by 1 / (1 - rate); in evaluation, copy x. dropout_mask_forward_by draws with the
 * vector instructions of *isa. If isa is NULL, it draws without vector instructions, as
 * dropout_mask_forward does. */
void dropout_mask_forward(const struct layer_call *c);
void dropout_mask_forward_by(const enum isa *isa, const struct layer_call *c);

/* Sets dx to dy with the mask and scale of forward applied. Does nothing if dx is NULL. */
void dropout_mask_backward(const struct layer_call *c);
