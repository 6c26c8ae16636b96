/* Tensor parallelism: a rank computes its slice of the dense layers (kernels/desc/net_slice.h). The
 * ranks of a replica sum outputs forward and input gradients backward. All other layers are
 * computed in full on each rank, bit for bit alike. Without tensor parallelism these functions do
 * nothing. */
#pragma once

#include "comm/grid.h"
#include "comm/strategy.h"
#include "kernels/desc/net_slice.h"

struct model;

struct slice {
    struct net_desc desc; /* net as this rank computes it; empty if it is not sliced */
    /* [PASS_FORWARD][ops] whether an op's outputs are summed; [PASS_BACKWARD][ops] whether its
     * input gradients are */
    bool *sums[2];
    /* [n_tensors] whether the tensor is in this slice only, or shared and this is slice 0 */
    bool *answers_for;
    const struct grid *grid;
    struct sync *sync;
    uint64_t bytes_sent; /* bytes that this step's sums sent */
};

/* Makes m->computed, the description of this rank's net; grid and sync are borrowed. Call
 * slice_close in any case. */
enum status slice_open(struct model *m, const struct grid *grid, struct error *e);
/* Finds the ops whose results are summed; requires m->net. */
enum status slice_find_sums(struct model *m, struct error *e);
/* Makes one sum of zeros for `images` images, so that the MPI library sets up its collectives
 * before the first step. Requires the strategy. Collective over the replica. */
enum status slice_connect(struct model *m, struct sync *sync, uint32_t images, struct error *e);
void slice_close(struct slice *s);

/* Fills in the initial weights of this rank's tensors, equal to the same elements of the whole
 * net. */
void slice_init_params(const struct model *m, real *params, uint64_t seed);

/* Returns a hash of the weights that every slice holds. */
uint64_t slice_shared_hash(const struct model *m, const real *params);

/* Sums the results of an op over slices, if it needs a sum. n: images in m->slot, may be 0. */
enum status slice_after_op(struct model *m, enum pass pass, int op, uint32_t n, struct error *e);
