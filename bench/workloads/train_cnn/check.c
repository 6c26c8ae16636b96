#include "bench/workloads/train_cnn/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status hashes_open(struct hashes *h, size_t capacity, struct error *e)
{
    *h = (struct hashes){.capacity = capacity};
    h->values = calloc(capacity, sizeof *h->values);
    h->steps = calloc(capacity, sizeof *h->steps);
    if (h->values == NULL || h->steps == NULL) {
        hashes_close(h);
        return error_set(e, ERR_MEMORY, "no memory for %zu hashes", capacity);
    }
    return OK;
}

void hashes_close(struct hashes *h)
{
    free(h->values);
    free(h->steps);
    h->values = h->steps = NULL;
}

uint64_t hashes_add(struct hashes *h, const struct trainer *t)
{
    uint64_t hash = trainer_hash(t);
    if (h->n < h->capacity) {
        h->values[h->n] = hash;
        h->steps[h->n] = t->steps_done;
        h->n++;
    }
    return hash;
}

enum status hashes_add_model(struct hashes *h, struct trainer *t, struct error *e)
{
    enum status status = sync_eval_begin(t->sync, e);
    if (status == OK)
        hashes_add(h, t);
    return status == OK ? sync_eval_end(t->sync, e) : status;
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

enum status hashes_compare(const struct hashes *h, struct trainer *t, struct comparison *comparison,
                           struct error *e)
{
    *comparison = (struct comparison){.made = true, .equal = true};
    size_t bytes = h->n * sizeof *h->values;
    uint64_t *all = NULL;
    if (t->rank == 0 && (all = malloc(bytes * (size_t)t->ranks + 1)) == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the hashes of %d ranks", t->ranks);
    enum status status =
        wait_gather(t->waiter, h->values, bytes, all, 0, t->comm, "comparison of weights", e);
    if (status == OK && t->rank == 0)
        find_difference(h, all, t->ranks, comparison);
    free(all);
    if (status == OK) {
        status = wait_bcast(t->waiter, comparison, sizeof *comparison, MPI_BYTE, 0, t->comm,
                            "result of the comparison", e);
    }
    return status;
}
