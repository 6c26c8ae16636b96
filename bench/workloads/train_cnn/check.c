#include "bench/workloads/train_cnn/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/mem.h"

enum status hashes_reserve(struct hashes *h, size_t n, struct error *e)
{
    struct weights_hash *grown = reallocarray(h->list, h->n + n, sizeof *grown);
    if (grown == NULL)
        return error_no_memory(e, "the hashes of weights");
    h->list = grown;
    h->capacity = h->n + n;
    return OK;
}

void hashes_close(struct hashes *h)
{
    free(h->list);
    *h = (struct hashes){.list = NULL};
}

uint64_t hashes_add(struct hashes *h, const struct trainer *t)
{
    struct weights_hash hash = {trainer_hash(t),
                                slice_shared_hash(&t->model, t->sync->arenas.params)};
    if (h->n < h->capacity)
        h->list[h->n++] = hash;
    h->last_step = t->steps_done;
    return hash.all;
}

/* Writes to end->first_difference the first step at which hashes differ, and the lowest rank whose
 * hash differs from rank 0's in that step. */
static void find_difference(const struct hashes *h, const struct weights_hash *all, int ranks,
                            bool shared, struct record_end *end)
{
    for (size_t i = 0; i < h->n; i++)
        for (int r = 1; r < ranks; r++) {
            const struct weights_hash *own = &all[(size_t)r * h->n + i];
            if (shared ? own->shared != all[i].shared : own->all != all[i].all) {
                snprintf(end->first_difference, sizeof end->first_difference, "step %llu, rank %d",
                         (unsigned long long)(h->last_step - (h->n - 1 - i)), r);
                return;
            }
        }
}

/* Replaces the hash of each step by the sum of hashes over the pipeline stages and tensor slices of
 * a replica, so that replicas can be compared. */
static enum status join_replica(struct hashes *h, const struct job *job, struct error *e)
{
    const MPI_Comm holders[] = {job->grid.pipeline, job->grid.tensor};
    for (int i = 0; i < 2; i++)
        if (holders[i] != MPI_COMM_NULL)
            TRY(wait_allreduce(job->waiter, h->list, 2 * h->n, MPI_UINT64_T, MPI_SUM, holders[i],
                               "sum of a replica's hashes", e));
    return OK;
}

static enum status compare(const struct hashes *h, bool shared, const struct job *job,
                           struct record_end *end, struct error *e)
{
    struct weights_hash *all = NULL;
    if (job->rank == 0)
        TRY(MEM_NEW(all, h->n * (size_t)job->ranks, "the hashes of all ranks", e));
    enum status status = wait_gather(job->waiter, h->list, h->n * sizeof *h->list, all, 0,
                                     job->comm, "comparison of weights", e);
    if (status == OK && job->rank == 0)
        find_difference(h, all, job->ranks, shared, end);
    free(all);
    TRY(status);
    return wait_bcast(job->waiter, end->first_difference, sizeof end->first_difference, MPI_BYTE, 0,
                      job->comm, "result of the comparison", e);
}

enum status hashes_compare(struct hashes *h, const struct job *job, struct record_end *end,
                           struct error *e)
{
    end->first_difference[0] = '\0';
    if (job->grid.slices > 1)
        TRY(compare(h, true, job, end, e));
    TRY(join_replica(h, job, e));
    if (end->first_difference[0] == '\0')
        TRY(compare(h, false, job, end, e));
    end->weights_equal = end->first_difference[0] == '\0' ? VERDICT_TRUE : VERDICT_FALSE;
    return OK;
}
