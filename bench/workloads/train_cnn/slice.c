#include "bench/workloads/train_cnn/slice.h"

#include <assert.h>
#include <stdlib.h>
#define XXH_INLINE_ALL /* XXH3 is used as a header-only library */
#include <xxhash.h>

#include "bench/workloads/train_cnn/model.h"
#include "kernels/base/mem.h"

static bool is_cut(const struct model *m)
{
    return m->slice.grid->slices > 1;
}

static bool is_whole(const struct model *m, int tensor)
{
    return net_slice_has_whole(m->desc, &m->slice.desc, tensor);
}

/* ---- Opening ---- */

enum status slice_open(struct model *m, const struct grid *grid, struct error *e)
{
    struct slice *s = &m->slice;
    s->grid = grid;
    m->computed = m->desc;
    if (!is_cut(m))
        return OK;
    TRY(net_desc_slice(&s->desc, m->desc, m->slice.grid->slice, m->slice.grid->slices, e));
    TRY(MEM_NEW(s->in_norm, (size_t)s->desc.n_tensors, "the tensors of a slice", e));
    for (int i = 0; i < s->desc.n_tensors; i++)
        s->in_norm[i] = m->slice.grid->slice == 0 || !is_whole(m, i);
    m->computed = &s->desc;
    return OK;
}

/* Finds the ops whose results are summed over slices. In each pair of split dense layers
 * (net_slice.h), these are the input gradients of the first layer's op, if any, and the outputs of
 * the second layer's op. Plans never fuse the second layer with the next layer
 * (layer_desc.addend). */
enum status slice_find_sums(struct model *m, struct error *e)
{
    struct slice *s = &m->slice;
    struct net_pair pair = NET_PAIR_NONE;
    bool more = is_cut(m) && net_pair_next(m->desc, &pair);
    if (!more)
        return OK;
    for (int pass = 0; pass < 2; pass++)
        TRY(MEM_NEW(s->sums[pass], (size_t)net_ops(m->net), "the sums of slices", e));
    for (int op = 0; op < net_ops(m->net) && more; op++) {
        const struct net_op_view v = net_op_view(m->net, 0, op);
        assert(pair.columns <= v.first_layer || pair.columns >= v.last_layer);
        assert(pair.rows < v.first_layer || pair.rows >= v.last_layer - 1);
        s->sums[PASS_BACKWARD][op] = v.first_layer == pair.columns && net_op_hands_back(m->net, op);
        s->sums[PASS_FORWARD][op] = v.last_layer - 1 == pair.rows;
        if (s->sums[PASS_FORWARD][op])
            more = net_pair_next(m->desc, &pair);
    }
    return OK;
}

void slice_close(struct slice *s)
{
    net_desc_free(&s->desc);
    free(s->sums[PASS_FORWARD]);
    free(s->sums[PASS_BACKWARD]);
    free(s->in_norm);
    s->sums[PASS_FORWARD] = s->sums[PASS_BACKWARD] = s->in_norm = NULL;
}

/* ---- Weights ---- */

void slice_init_params(const struct model *m, real *params, uint64_t seed)
{
    const struct net_desc *own = &m->slice.desc;
    for (int i = 0; i < own->n_tensors; i++)
        for (size_t k = 0; k < own->tensors[i].count; k++)
            params[own->tensors[i].offset + k] =
                net_initial_value(m->desc, i, net_slice_element(m->desc, own, i, k), seed);
}

uint64_t slice_shared_hash(const struct model *m, const real *params)
{
    const struct net_desc *own = &m->slice.desc;
    uint64_t hash = 0;
    for (int i = 0; i < own->n_tensors; i++)
        if (is_whole(m, i))
            hash = XXH3_64bits_withSeed(params + own->tensors[i].offset,
                                        own->tensors[i].count * sizeof(real), hash);
    return hash;
}

/* ---- Sums ---- */

/* A rank without images (n = 0) also calls the sum over slices, with 0 elements: all ranks make the
 * same calls. */
enum status slice_after_op(struct model *m, enum pass pass, int op, uint32_t n, struct error *e)
{
    const bool *sums = m->slice.sums[pass];
    if (sums == NULL || !sums[op])
        return OK;
    const bool forward = pass == PASS_FORWARD;
    const int at = forward ? op + 1 : op;
    real *x = forward ? net_activations(m->net, m->slot, at) : net_gradients(m->net, m->slot, at);
    const struct extra_sum sum = {x,
                                  n > 0 ? net_activation_reals(m->net, at, (int)n) : 0,
                                  MPI_REAL_TYPE,
                                  MPI_SUM,
                                  m->slice.grid->tensor,
                                  forward ? "outputs of slices" : "gradients of slices"};
    const uint64_t before = m->slice.sync->extra.bytes_wire;
    enum status status = sync_extra_sum(m->slice.sync, &sum, sync_comm_end_amid, e);
    m->slice.bytes_sent += m->slice.sync->extra.bytes_wire - before;
    return status;
}

enum status slice_connect(struct model *m, struct sync *sync, uint32_t images, struct error *e)
{
    m->slice.sync = sync;
    for (int i = 0; i < SYNC_WARM_CALLS && is_cut(m); i++)
        for (int op = 0; op < net_ops(m->net); op++) {
            TRY(slice_after_op(m, PASS_FORWARD, op, images, e));
            TRY(slice_after_op(m, PASS_BACKWARD, op, images, e));
        }
    return OK;
}
