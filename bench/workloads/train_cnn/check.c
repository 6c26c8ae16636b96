#include "bench/workloads/train_cnn/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/mem.h"

enum status hashes_open(struct hashes *h, size_t capacity, struct error *e)
{
    *h = (struct hashes){.capacity = 0};
    return hashes_reserve(h, capacity, e);
}

static enum status grow(uint64_t **list, size_t capacity, struct error *e)
{
    uint64_t *grown = reallocarray(*list, capacity, sizeof *grown);
    if (grown == NULL)
        return error_no_memory(e, "the hashes of weights");
    *list = grown;
    return OK;
}

enum status hashes_reserve(struct hashes *h, size_t n, struct error *e)
{
    size_t wanted = h->n + n, capacity = 2 * h->capacity > wanted ? 2 * h->capacity : wanted;
    if (wanted <= h->capacity)
        return OK;
    TRY(grow(&h->values, capacity, e));
    TRY(grow(&h->shared, capacity, e));
    TRY(grow(&h->steps, capacity, e));
    h->capacity = capacity;
    return OK;
}

void hashes_close(struct hashes *h)
{
    free(h->values);
    free(h->shared);
    free(h->steps);
    h->values = h->shared = h->steps = NULL;
}

uint64_t hashes_add(struct hashes *h, const struct trainer *t)
{
    uint64_t hash = trainer_hash(t);
    if (h->n < h->capacity) {
        h->values[h->n] = hash;
        h->shared[h->n] = slice_shared_hash(&t->model, t->sync->arenas.params);
        h->steps[h->n] = t->steps_done;
        h->n++;
    }
    return hash;
}

enum status hashes_add_model(struct hashes *h, struct trainer *t, struct error *e)
{
    TRY(sync_eval_begin(t->sync, e));
    hashes_add(h, t);
    return sync_eval_end(t->sync, e);
}

/* First step, and the first rank there, that differs from rank 0. */
static void find_difference(const struct hashes *h, const uint64_t *all, int ranks,
                            struct comparison *c)
{
    for (size_t i = 0; i < h->n; i++) {
        for (int r = 1; r < ranks; r++) {
            if (all[(size_t)r * h->n + i] != all[i]) {
                c->equal = false;
                snprintf(c->first_difference, sizeof c->first_difference, "step %llu, rank %d",
                         (unsigned long long)h->steps[i], r);
                return;
            }
        }
    }
}

/* Of all ranks that hold a net together, by their sum: replicas are compared. */
static enum status join_replica(const struct hashes *h, const struct job *job, struct error *e)
{
    const MPI_Comm holders[] = {job->grid.pipeline, job->grid.tensor};
    for (int i = 0; i < 2; i++)
        if (holders[i] != MPI_COMM_NULL)
            TRY(wait_allreduce(job->waiter, h->values, h->n, MPI_UINT64_T, MPI_SUM, holders[i],
                               "sum of a replica's hashes", e));
    return OK;
}

/* hashes [h->n] of all ranks. */
static enum status compare(const struct hashes *h, const uint64_t *hashes, const struct job *job,
                           struct comparison *comparison, struct error *e)
{
    uint64_t *all = NULL;
    if (job->rank == 0)
        TRY(MEM_NEW(all, h->n * (size_t)job->ranks, "the hashes of all ranks", e));
    enum status status = wait_gather(job->waiter, hashes, h->n * sizeof *hashes, all, 0, job->comm,
                                     "comparison of weights", e);
    if (status == OK && job->rank == 0)
        find_difference(h, all, job->ranks, comparison);
    free(all);
    TRY(status);
    return wait_bcast(job->waiter, comparison, sizeof *comparison, MPI_BYTE, 0, job->comm,
                      "result of the comparison", e);
}

enum status hashes_compare(const struct hashes *h, const struct job *job,
                           struct comparison *comparison, struct error *e)
{
    *comparison = (struct comparison){.made = true, .equal = true};
    if (job->grid.slices > 1)
        TRY(compare(h, h->shared, job, comparison, e));
    TRY(join_replica(h, job, e));
    return comparison->equal ? compare(h, h->values, job, comparison, e) : OK;
}
