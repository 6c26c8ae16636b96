/* Are the replicas still replicas? Each rank keeps a hash of its weights per step; they are
 * compared once, after the run. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Of all weights of this rank, and of those that every slice of a net holds. */
struct weights_hash {
    uint64_t all, shared;
};

/* Hashes of this rank's weights after steps that follow each other. Zeroed: none, without room. */
struct hashes {
    struct weights_hash *list; /* [n] */
    size_t n, capacity;
    uint64_t last_step; /* from 1, of the last hash */
};

/* Makes room for n more, before the steps that add them. */
enum status hashes_reserve(struct hashes *h, size_t n, struct error *e);
void hashes_close(struct hashes *h);
uint64_t hashes_add(struct hashes *h, const struct trainer *t);

/* Compares all ranks' hashes and fills in end->weights_equal and end->first_difference on every rank. What joins the
 * ranks of a replica changes the hashes. Collective. */
enum status hashes_compare(struct hashes *h, const struct job *job, struct record_end *end,
                           struct error *e);
