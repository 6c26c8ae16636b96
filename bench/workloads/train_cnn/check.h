/* Are the replicas still replicas? Each rank keeps a hash of its weights per step; they are
 * compared once, after the run. */
#pragma once

#include "bench/workloads/train_cnn/report.h"
#include "bench/workloads/train_cnn/trainer.h"

/* Hashes of this rank's weights after some steps, in order. */
struct hashes {
    uint64_t *values;
    uint64_t *shared; /* of weights that every slice of a net holds */
    uint64_t *steps;  /* number of the step, from 1 */
    size_t n, capacity;
};

/* Closed with hashes_close, also after an error. */
enum status hashes_open(struct hashes *h, size_t capacity, struct error *e);
/* Makes room for n more, before the steps that add them. */
enum status hashes_reserve(struct hashes *h, size_t n, struct error *e);
void hashes_close(struct hashes *h);
uint64_t hashes_add(struct hashes *h, const struct trainer *t);

/* The same of the model that a strategy makes of replicas that differ. Collective. */
enum status hashes_add_model(struct hashes *h, struct trainer *t, struct error *e);

/* Compares all ranks' hashes; every rank gets the result. Collective. */
enum status hashes_compare(const struct hashes *h, const struct job *job,
                           struct comparison *comparison, struct error *e);
