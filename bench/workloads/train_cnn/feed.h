/* What brings the samples of an epoch to this rank before its first step. Ranks that hold all data
 * are fed once; ranks that hold a share fetch it once, or, where a global shuffle deals the samples
 * anew, for each epoch. Never inside a step. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/workloads/read/reader.h"
#include "bench/workloads/train_cnn/parts/sampler.h"

struct feed {
    struct reader reader;
    uint32_t *needs; /* samples of this rank in an epoch, while they are fetched */
    uint32_t epoch;  /* of the last fetch */
    uint32_t fetches;
    double read_s;  /* until the first step could start: opening, the first fetch */
    double fetch_s; /* of all fetches */
};

/* Collective, as are the next two. */
enum status feed_open(struct feed *f, const struct config *config, struct waiter *waiter,
                      MPI_Comm comm, struct error *e);
/* Also after a failed open. */
void feed_close(struct feed *f);

/* Makes what `sampler` gives in `epoch` ready in f->reader.data. */
enum status feed_epoch(struct feed *f, struct sampler *sampler, uint32_t epoch, struct error *e);
