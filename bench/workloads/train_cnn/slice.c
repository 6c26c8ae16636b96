#include "bench/workloads/train_cnn/slice.h"

#include <assert.h>
#include <stdlib.h>
#define XXH_INLINE_ALL /* the hash is a header: nothing to link */
#include <xxhash.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/mem.h"

static bool is_cut(const struct trainer *t)
{
    return t->grid.slices > 1;
}

static bool is_whole(const struct trainer *t, int tensor)
{
    return net_slice_has_whole(t->desc, &t->slice.desc, tensor);
}

/* ---- Opening ---- */

enum status slice_open(struct trainer *t, struct error *e)
{
    struct slice *s = &t->slice;
    t->computed = t->desc;
    if (!is_cut(t))
        return OK;
    TRY(net_desc_slice(&s->desc, t->desc, t->grid.slice, t->grid.slices, e));
    TRY(MEM_NEW(s->answers_for, (size_t)s->desc.n_tensors, "the tensors of a slice", e));
    for (int i = 0; i < s->desc.n_tensors; i++)
        s->answers_for[i] = t->grid.slice == 0 || !is_whole(t, i);
    t->computed = &s->desc;
    return OK;
}

/* Of each pair the first layer begins an op, and the second one ends one: plans compute nothing in the same go whose
 * inputs are not there yet (layer_desc.addend). */
enum status slice_find_sums(struct trainer *t, struct error *e)
{
    struct slice *s = &t->slice;
    struct net_pair pair = NET_PAIR_NONE;
    bool more = is_cut(t) && net_pair_next(t->desc, &pair);
    if (!more)
        return OK;
    TRY(MEM_NEW(s->sums_forward, (size_t)net_ops(t->net), "the sums of slices", e));
    TRY(MEM_NEW(s->sums_backward, (size_t)net_ops(t->net), "the sums of slices", e));
    for (int op = 0; op < net_ops(t->net) && more; op++) {
        const struct net_op_view v = net_op_view(t->net, 0, op);
        assert(pair.columns <= v.first_layer || pair.columns >= v.last_layer);
        assert(pair.rows < v.first_layer || pair.rows >= v.last_layer - 1);
        s->sums_backward[op] = v.first_layer == pair.columns && net_op_hands_back(t->net, op);
        s->sums_forward[op] = v.last_layer - 1 == pair.rows;
        if (s->sums_forward[op])
            more = net_pair_next(t->desc, &pair);
    }
    return OK;
}

void slice_close(struct trainer *t)
{
    struct slice *s = &t->slice;
    net_desc_free(&s->desc);
    free(s->sums_forward);
    free(s->sums_backward);
    free(s->answers_for);
    s->sums_forward = s->sums_backward = s->answers_for = NULL;
}

/* ---- Weights ---- */

void slice_init_params(const struct trainer *t, real *params, uint64_t seed)
{
    const struct net_desc *own = &t->slice.desc;
    for (int i = 0; i < own->n_tensors; i++)
        for (size_t k = 0; k < own->tensors[i].count; k++)
            params[own->tensors[i].offset + k] =
                net_initial_value(t->desc, i, net_slice_element(t->desc, own, i, k), seed);
}

uint64_t slice_shared_hash(const struct trainer *t)
{
    const struct net_desc *own = &t->slice.desc;
    uint64_t hash = 0;
    for (int i = 0; i < own->n_tensors; i++)
        if (is_whole(t, i))
            hash = XXH3_64bits_withSeed(t->sync->arenas.params + own->tensors[i].offset,
                                        own->tensors[i].count * sizeof(real), hash);
    return hash;
}

/* ---- Sums ---- */

/* Slices without images take part, so that all make as many calls. */
static enum status sum(struct trainer *t, real *x, size_t n, const char *what, struct error *e)
{
    const struct extra_sum sum = {x, n, MPI_REAL_TYPE, MPI_SUM, t->grid.tensor, what};
    const uint64_t before = t->sync->extra.bytes_wire;
    enum status status = sync_extra_sum(t->sync, &sum, sync_comm_end_amid, e);
    t->slice.bytes_sent += t->sync->extra.bytes_wire - before;
    return status;
}

static size_t reals_of(const struct trainer *t, int op, uint32_t n)
{
    return n > 0 ? net_activation_reals(t->net, op, (int)n) : 0;
}

enum status slice_after_forward(struct trainer *t, int op, uint32_t n, struct error *e)
{
    if (t->slice.sums_forward == NULL || !t->slice.sums_forward[op])
        return OK;
    return sum(t, net_activations(t->net, t->slot, op + 1), reals_of(t, op + 1, n),
               "outputs of slices", e);
}

enum status slice_after_backward(struct trainer *t, int op, uint32_t n, struct error *e)
{
    if (t->slice.sums_backward == NULL || !t->slice.sums_backward[op])
        return OK;
    return sum(t, net_gradients(t->net, t->slot, op), reals_of(t, op, n), "gradients of slices", e);
}

enum status slice_connect(struct trainer *t, struct error *e)
{
    for (int i = 0; i < SYNC_WARM_CALLS && is_cut(t); i++)
        for (int op = 0; op < net_ops(t->net); op++) {
            TRY(slice_after_forward(t, op, t->micro_max, e));
            TRY(slice_after_backward(t, op, t->micro_max, e));
        }
    return OK;
}

void slice_step_begin(struct trainer *t)
{
    t->slice.bytes_sent = 0;
}
