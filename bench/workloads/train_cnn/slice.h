/* Tensor parallelism: a rank computes its slice of the dense layers (kernels/desc/net_slice.h). The
 * ranks of a replica compute all other layers in full, with bitwise equal results. Without tensor
 * parallelism, only slice_open has an effect. */
#pragma once

#include "comm/grid.h"
#include "comm/strategy.h"
#include "kernels/desc/net_slice.h"

struct model;

struct slice {
    /* description of this rank's slice of the net; empty if the net is not sliced */
    struct net_desc desc;
    /* sums[PASS_FORWARD][op]: whether slices sum the op's outputs. sums[PASS_BACKWARD][op]: whether
     * slices sum the op's input gradients. */
    bool *sums[2];
    /* [n_tensors] whether this rank includes the tensor in gradient norms. Slice 0 includes tensors
     * that all slices have. */
    bool *in_norm;
    const struct grid *grid;
    struct sync *sync;
    uint64_t bytes_sent; /* bytes sent by this step's sums */
};

/* Sets m->computed to the description of this rank's slice, or to m->desc without tensor
 * parallelism. `grid` is borrowed. Call slice_close in any case. */
enum status slice_open(struct model *m, const struct grid *grid, struct error *e);
/* Finds the ops whose results are summed over slices. Requires m->net. */
enum status slice_find_sums(struct model *m, struct error *e);
/* Sets up the collectives of the MPI library: makes all sums over slices SYNC_WARM_CALLS times, for
 * `images` images. Call it after the strategy is opened. `sync` is borrowed. Collective over the
 * replica. */
enum status slice_connect(struct model *m, struct sync *sync, uint32_t images, struct error *e);
void slice_close(struct slice *s);

/* Fills in the initial weights of this rank's slice. They are the values that the same weights of
 * the whole network get from `seed`. */
void slice_init_params(const struct model *m, real *params, uint64_t seed);

/* Returns a hash of the weights that all slices have in full. */
uint64_t slice_shared_hash(const struct model *m, const real *params);

/* Sums an op's outputs (forward) or input gradients (backward) over slices, if they need a sum. n:
 * number of images in activation slot m->slot, can be 0. */
enum status slice_after_op(struct model *m, enum pass pass, int op, uint32_t n, struct error *e);
