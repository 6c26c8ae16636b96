/* Tensor parallelism: a rank that computes its slice of the net's dense layers (kernels/desc/net_slice.h) and, with
 * the other ranks of its replica, sums what they give forward and what they hand back. All other layers each of
 * these ranks computes whole, of the same images, to the same bits. A rank without it has no slice, and nothing
 * here does anything. */
#pragma once

#include "comm/grid.h"
#include "comm/strategy.h"
#include "kernels/desc/net_slice.h"

struct model;

struct slice {
    struct net_desc desc; /* of the net as the rank computes it; nothing: all of it */
    /* [PASS_FORWARD][ops] whether outputs are summed after the op, [PASS_BACKWARD][ops] inputs' gradients. */
    bool *sums[2];
    bool *answers_for; /* [n_tensors] this slice's alone, or shared and this slice is the first */
    const struct grid *grid;
    struct sync *sync;
    uint64_t bytes_sent; /* by the sums of this step */
};

/* The description that the rank's net is made from, m->computed; grid and sync are borrowed. slice_close in any case. */
enum status slice_open(struct model *m, const struct grid *grid, struct error *e);
/* After the net: finds what is summed behind which op. */
enum status slice_find_sums(struct model *m, struct error *e);
/* After the strategy: sums of zeroes of so many images, so that the library has chosen how to sum before the first step.
 * Collective over the replica. */
enum status slice_connect(struct model *m, struct sync *sync, uint32_t images, struct error *e);
void slice_close(struct slice *s);

/* Initial weights of the tensors that the rank holds, as the whole net has them. */
void slice_init_params(const struct model *m, real *params, uint64_t seed);

/* Hash of the weights that every slice holds. */
uint64_t slice_shared_hash(const struct model *m, const real *params);

/* After an op, on the n images of m->slot, or on none: sums over the slices where the op takes part in them. */
enum status slice_after_op(struct model *m, enum pass pass, int op, uint32_t n, struct error *e);
