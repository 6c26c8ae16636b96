#include "bench/workloads/checkpoint/checkpoint_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/desc/net_slice.h"

static const char operation[] = "parts of a checkpoint";

/* ---- Arrays: parameters, each slot of the state, all running statistics ---- */

static int arrays_of(const struct arenas *a)
{
    return 1 + a->slots + (a->n_buffers > 0);
}

static real *array_of(const struct arenas *a, int i, size_t *n)
{
    *n = i <= a->slots ? a->n : a->n_buffers;
    if (i == 0)
        return a->params;
    return i <= a->slots ? a->state + (size_t)(i - 1) * a->n : a->buffers;
}

/* Copies the running statistics of the layers whose tensors are in range `of`. */
static void copy_buffers(real *to, const real *from, const struct net_desc *desc, struct range of)
{
    int first = of.first > 0 ? desc->tensors[of.first].layer : 0;
    int last = of.last < desc->n_tensors ? desc->tensors[of.last - 1].layer : INT_MAX;
    for (int i = 0; i < desc->n_buffers; i++) {
        const struct tensor_desc *b = &desc->buffers[i];
        if (b->layer >= first && b->layer <= last)
            memcpy(to + b->offset, from + b->offset, b->count * sizeof *to);
    }
}

/* ---- A part: consecutive tensors of the net, or slices of them ---- */

struct part {
    struct range tensors;
    const struct net_desc *net, *slice; /* `slice`: NULL if tensors are whole */
};

static size_t count_of(const struct part *p, int tensor)
{
    return (p->slice != NULL ? p->slice : p->net)->tensors[tensor].count;
}

/* Returns the index that element k of a tensor of this part has in the whole network's array. */
static size_t place_of(const struct part *p, int tensor, size_t k)
{
    return p->net->tensors[tensor].offset +
           (p->slice != NULL ? net_slice_element(p->net, p->slice, tensor, k) : k);
}

static size_t part_numbers(const struct part *p)
{
    size_t n = 0;
    for (int i = p->tensors.first; i < p->tensors.last; i++)
        n += count_of(p, i);
    return n;
}

/* Copies array i (parameters, an optimizer slot or statistics) of a part: from `own` to `whole`, or
 * from `whole` to `own` if `take`. */
static void copy_array(struct arenas *whole, int i, real *own, const struct part *p, bool take)
{
    size_t n;
    real *all = array_of(whole, i, &n);
    if (i > whole->slots && take)
        memcpy(own, all, n * sizeof *own);
    else if (i > whole->slots)
        copy_buffers(all, own, p->net, p->tensors);
    for (int t = p->tensors.first; t < p->tensors.last && i <= whole->slots; t++)
        for (size_t k = 0; k < count_of(p, t); k++, own++) {
            real *at = &all[place_of(p, t, k)];
            *(take ? own : at) = *(take ? at : own);
        }
}

void checkpoint_parts_take_slice(const struct checkpoint_state *s, struct arenas *whole,
                                 bool weights_only)
{
    const struct part p = {s->parts->tensors, s->desc, s->parts->slice};
    size_t n;
    for (int i = 0; i < arrays_of(s->arenas); i++)
        if (i == 0 || i > whole->slots || !weights_only)
            copy_array(whole, i, array_of(s->arenas, i, &n), &p, true);
}

/* ---- Gathering ---- */

static enum status send_part(const struct checkpoint_state *s, struct error *e)
{
    for (int i = 0; i < arrays_of(s->arenas); i++) {
        size_t n;
        real *data = array_of(s->arenas, i, &n);
        struct message message = {.data = data, .bytes = n * sizeof *data, .rank = 0};
        TRY(wait_send(s->sync->waiter, &message, 1, s->parts->comm, operation, e));
    }
    return OK;
}

static enum status receive_arrays(struct arenas *whole, const struct checkpoint_state *s,
                                  const struct part *p, real *numbers, int rank, struct error *e)
{
    size_t n = part_numbers(p);
    for (int i = 0; i < arrays_of(whole); i++) {
        struct message message = {.data = numbers,
                                  .bytes =
                                      (i <= whole->slots ? n : whole->n_buffers) * sizeof *numbers,
                                  .rank = rank};
        TRY(wait_receive(s->sync->waiter, &message, 1, s->parts->comm, operation, e));
        copy_array(whole, i, numbers, p, false);
    }
    return OK;
}

static enum status receive_part(struct arenas *whole, const struct checkpoint_state *s,
                                struct range tensors, int rank, int ranks, struct error *e)
{
    struct net_desc slice = {0};
    struct part p = {tensors, s->desc, NULL};
    real *numbers = NULL;
    if (s->parts->slice != NULL) {
        TRY(net_desc_slice(&slice, s->desc, rank, ranks, e));
        p.slice = &slice;
    }
    size_t n = part_numbers(&p), room = n > whole->n_buffers ? n : whole->n_buffers;
    enum status status = MEM_NEW(numbers, room, "a part of a checkpoint", e);
    THEN(status, receive_arrays(whole, s, &p, numbers, rank, e));
    free(numbers);
    net_desc_free(&slice);
    return status;
}

static enum status receive_all(struct arenas *whole, const struct checkpoint_state *s,
                               const struct range *tensors, int ranks, struct error *e)
{
    const struct part own = {s->parts->tensors, s->desc, s->parts->slice};
    TRY(checkpoint_parts_open(whole, s, e));
    for (int r = 1; r < ranks; r++)
        TRY(receive_part(whole, s, tensors[r], r, ranks, e));
    size_t n;
    for (int i = 0; i < arrays_of(s->arenas); i++)
        copy_array(whole, i, array_of(s->arenas, i, &n), &own, false);
    return OK;
}

enum status checkpoint_parts_gather(struct arenas *whole, const struct checkpoint_state *s,
                                    struct error *e)
{
    int rank, ranks;
    struct range *tensors = NULL;
    *whole = (struct arenas){.params = NULL};
    MPI_Comm_rank(s->parts->comm, &rank);
    MPI_Comm_size(s->parts->comm, &ranks);
    if (rank == 0)
        TRY(MEM_NEW(tensors, (size_t)ranks, "the parts of a checkpoint", e));
    enum status status = wait_gather(s->sync->waiter, &s->parts->tensors, sizeof s->parts->tensors,
                                     tensors, 0, s->parts->comm, operation, e);
    THEN(status, rank == 0 ? receive_all(whole, s, tensors, ranks, e) : send_part(s, e));
    free(tensors);
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

void checkpoint_parts_free(struct arenas *whole)
{
    mem_free(whole->params);
    mem_free(whole->state);
    mem_free(whole->buffers);
    *whole = (struct arenas){.params = NULL};
}
