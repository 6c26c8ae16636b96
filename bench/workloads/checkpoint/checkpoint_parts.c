#include "bench/workloads/checkpoint/checkpoint_parts.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/desc/net_slice.h"

/* What a part is sent as: parameters, each slot of the state, all running statistics. The i-th of n numbers
 * that begin at `offset` of the arenas; *count: how many. */
static real *piece_of(const struct arenas *a, size_t offset, size_t n, real *buffers, int i,
                      size_t *count)
{
    *count = i <= a->slots ? n : a->n_buffers;
    if (i == 0)
        return a->params + offset;
    return i <= a->slots ? a->state + (size_t)(i - 1) * a->n + offset : buffers;
}

static int pieces_of(const struct arenas *a)
{
    return 1 + a->slots + (a->n_buffers > 0);
}

/* Where tensors [first, last) of the net lie in its arenas. */
static size_t offset_of(const struct net_desc *desc, struct range of)
{
    return desc->tensors[of.first].offset;
}

static size_t count_of(const struct net_desc *desc, struct range of)
{
    const struct tensor_desc *last = &desc->tensors[of.last - 1];
    return last->offset + last->count - offset_of(desc, of);
}

/* The statistics of layers whose scales and shifts are among the tensors. */
static void copy_buffers(real *to, const real *from, const struct net_desc *desc, struct range of)
{
    int first = desc->tensors[of.first].layer, last = desc->tensors[of.last - 1].layer;
    for (int i = 0; i < desc->n_buffers; i++) {
        const struct tensor_desc *b = &desc->buffers[i];
        if (b->layer >= first && b->layer <= last)
            memcpy(to + b->offset, from + b->offset, b->count * sizeof *to);
    }
}

static const char operation[] = "parts of a checkpoint";

static enum status send_part(const struct checkpoint_state *s, struct error *e)
{
    const struct arenas *own = s->arenas;
    for (int i = 0; i < pieces_of(own); i++) {
        size_t n;
        real *data = piece_of(own, 0, own->n, own->buffers, i, &n);
        struct message message = {.data = data, .bytes = n * sizeof *data, .rank = 0};
        TRY(wait_send(s->sync->waiter, &message, 1, s->parts->comm, operation, e));
    }
    return OK;
}

static enum status receive_part(struct arenas *whole, real *buffers,
                                const struct checkpoint_state *s, struct range of, int rank,
                                struct error *e)
{
    size_t offset = offset_of(s->desc, of), count = count_of(s->desc, of);
    for (int i = 0; i < pieces_of(whole); i++) {
        size_t n;
        real *data = piece_of(whole, offset, count, buffers, i, &n);
        struct message message = {.data = data, .bytes = n * sizeof *data, .rank = rank};
        TRY(wait_receive(s->sync->waiter, &message, 1, s->parts->comm, operation, e));
    }
    copy_buffers(whole->buffers, buffers, s->desc, of);
    return OK;
}

static void copy_own_part(struct arenas *whole, const struct checkpoint_state *s)
{
    const struct arenas *own = s->arenas;
    size_t at = offset_of(s->desc, s->parts->tensors);
    memcpy(whole->params + at, own->params, own->n * sizeof(real));
    for (int slot = 0; slot < own->slots; slot++)
        memcpy(whole->state + (size_t)slot * whole->n + at, own->state + (size_t)slot * own->n,
               own->n * sizeof(real));
    if (own->n_buffers > 0)
        copy_buffers(whole->buffers, own->buffers, s->desc, s->parts->tensors);
}

static enum status receive_all(struct arenas *whole, const struct checkpoint_state *s,
                               const struct range *parts, int ranks, struct error *e)
{
    real *buffers;
    TRY(MEM_NEW(buffers, whole->n_buffers, "a part of a checkpoint", e));
    enum status status = OK;
    for (int r = 1; r < ranks && status == OK; r++)
        status = receive_part(whole, buffers, s, parts[r], r, e);
    free(buffers);
    copy_own_part(whole, s);
    return status;
}

enum status checkpoint_parts_open(struct arenas *whole, const struct checkpoint_state *s,
                                  struct error *e)
{
    const char *what = "a whole net for a checkpoint";
    *whole = (struct arenas){.tensors = s->desc->tensors,
                             .n_tensors = s->desc->n_tensors,
                             .n = s->desc->n_params,
                             .slots = s->arenas->slots,
                             .n_buffers = s->desc->n_buffer_values};
    TRY(MEM_NEW_ALIGNED(whole->params, whole->n, what, e));
    TRY(MEM_NEW_ALIGNED(whole->state, whole->n * (size_t)whole->slots, what, e));
    return MEM_NEW_ALIGNED(whole->buffers, whole->n_buffers, what, e);
}

/* ---- Stages ---- */

static enum status gather_stages(struct arenas *whole, const struct checkpoint_state *s, int rank,
                                 int ranks, struct error *e)
{
    struct range *parts = NULL;
    struct waiter *w = s->sync->waiter;
    if (rank == 0)
        TRY(MEM_NEW(parts, (size_t)ranks, "the parts of a checkpoint", e));
    enum status status = wait_gather(w, &s->parts->tensors, sizeof s->parts->tensors, parts, 0,
                                     s->parts->comm, operation, e);
    if (rank != 0) {
        THEN(status, send_part(s, e));
    } else {
        THEN(status, checkpoint_parts_open(whole, s, e));
        THEN(status, receive_all(whole, s, parts, ranks, e));
    }
    free(parts);
    return status;
}

/* ---- Slices ---- */

static void place_slice(real *whole, const real *own, const struct net_desc *net,
                        const struct net_desc *slice)
{
    for (int i = 0; i < slice->n_tensors; i++)
        for (size_t k = 0; k < slice->tensors[i].count; k++)
            whole[net->tensors[i].offset + net_slice_element(net, slice, i, k)] =
                own[slice->tensors[i].offset + k];
}

static void take_slice(real *own, const real *whole, const struct net_desc *net,
                       const struct net_desc *slice)
{
    for (int i = 0; i < slice->n_tensors; i++)
        for (size_t k = 0; k < slice->tensors[i].count; k++)
            own[slice->tensors[i].offset + k] =
                whole[net->tensors[i].offset + net_slice_element(net, slice, i, k)];
}

void checkpoint_parts_take_slice(const struct checkpoint_state *s, const struct arenas *whole,
                                 bool weights_only)
{
    const struct arenas *own = s->arenas;
    const struct net_desc *slice = s->parts->slice;
    take_slice(own->params, whole->params, s->desc, slice);
    for (int slot = 0; slot < own->slots && !weights_only; slot++)
        take_slice(own->state + (size_t)slot * own->n, whole->state + (size_t)slot * whole->n,
                   s->desc, slice);
    if (own->n_buffers > 0)
        memcpy(own->buffers, whole->buffers, own->n_buffers * sizeof(real));
}

/* Parameters, then slots of the state; statistics are those of every slice. */
static enum status send_slice(const struct checkpoint_state *s, struct error *e)
{
    const struct arenas *own = s->arenas;
    for (int i = 0; i <= own->slots; i++) {
        real *data = i == 0 ? own->params : own->state + (size_t)(i - 1) * own->n;
        struct message message = {.data = data, .bytes = own->n * sizeof *data, .rank = 0};
        TRY(wait_send(s->sync->waiter, &message, 1, s->parts->comm, operation, e));
    }
    return OK;
}

static enum status receive_slice(struct arenas *whole, real *numbers,
                                 const struct checkpoint_state *s, const struct net_desc *slice,
                                 int rank, struct error *e)
{
    for (int i = 0; i <= whole->slots; i++) {
        real *to = i == 0 ? whole->params : whole->state + (size_t)(i - 1) * whole->n;
        struct message message = {
            .data = numbers, .bytes = slice->n_params * sizeof *numbers, .rank = rank};
        TRY(wait_receive(s->sync->waiter, &message, 1, s->parts->comm, operation, e));
        place_slice(to, numbers, s->desc, slice);
    }
    return OK;
}

static enum status add_slice(struct arenas *whole, const struct checkpoint_state *s, int rank,
                             int ranks, struct error *e)
{
    struct net_desc slice;
    real *numbers = NULL;
    TRY(net_desc_slice(&slice, s->desc, rank, ranks, e));
    enum status status = MEM_NEW(numbers, slice.n_params, "a slice of a checkpoint", e);
    THEN(status, receive_slice(whole, numbers, s, &slice, rank, e));
    free(numbers);
    net_desc_free(&slice);
    return status;
}

static void place_own_slice(struct arenas *whole, const struct checkpoint_state *s)
{
    const struct arenas *own = s->arenas;
    place_slice(whole->params, own->params, s->desc, s->parts->slice);
    for (int slot = 0; slot < own->slots; slot++)
        place_slice(whole->state + (size_t)slot * whole->n, own->state + (size_t)slot * own->n,
                    s->desc, s->parts->slice);
    if (own->n_buffers > 0)
        memcpy(whole->buffers, own->buffers, own->n_buffers * sizeof(real));
}

static enum status gather_slices(struct arenas *whole, const struct checkpoint_state *s, int rank,
                                 int ranks, struct error *e)
{
    if (rank != 0)
        return send_slice(s, e);
    TRY(checkpoint_parts_open(whole, s, e));
    for (int r = 1; r < ranks; r++)
        TRY(add_slice(whole, s, r, ranks, e));
    place_own_slice(whole, s);
    return OK;
}

/* ---- Both ---- */

enum status checkpoint_parts_gather(struct arenas *whole, const struct checkpoint_state *s,
                                    struct error *e)
{
    int rank, ranks;
    *whole = (struct arenas){.params = NULL};
    MPI_Comm_rank(s->parts->comm, &rank);
    MPI_Comm_size(s->parts->comm, &ranks);
    return s->parts->slice != NULL ? gather_slices(whole, s, rank, ranks, e)
                                   : gather_stages(whole, s, rank, ranks, e);
}

void checkpoint_parts_free(struct arenas *whole)
{
    mem_free(whole->params);
    mem_free(whole->state);
    mem_free(whole->buffers);
    *whole = (struct arenas){.params = NULL};
}
