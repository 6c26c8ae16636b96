/* Checks that replicas have equal weights. Each rank keeps a hash per step; hashes are compared
 * once, after the run. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Hashes of a rank's weights. `all`: one hash of all weights. `shared`: one hash of the weights
 * that are copied to every tensor slice, not split. */
struct weights_hash {
    uint64_t all, shared;
};

/* Hashes of this rank's weights after consecutive steps. A zeroed struct is empty and owns no
 * memory. */
struct hashes {
    struct weights_hash *list; /* [n] one pair of hashes per step */
    size_t n, capacity;
    uint64_t last_step; /* step of the last hash; the first step is 1 */
};

/* Makes room for n more hashes. */
enum status hashes_reserve(struct hashes *h, size_t n, struct error *e);
void hashes_close(struct hashes *h);
uint64_t hashes_add(struct hashes *h, const struct trainer *t);

/* Compares the hashes of all ranks and sets end->weights_equal and end->first_difference on every
 * rank. Overwrites the hashes in `h`. Collective. */
enum status hashes_compare(struct hashes *h, const struct job *job, struct record_end *end,
                           struct error *e);
