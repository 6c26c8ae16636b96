/* Brings the samples of an epoch to this rank before its first step, never within a step. Ranks
 * that hold all data read it once. Ranks that hold a share fetch it once, or every epoch under a
 * global shuffle. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/workloads/read/reader.h"
#include "bench/workloads/train_cnn/parts/sampler.h"

struct feed {
    struct reader reader;
    uint32_t *needs; /* samples of this rank in an epoch, used while fetching */
    uint32_t epoch;  /* epoch of the last fetch */
    uint32_t fetches;
    double read_s;  /* seconds until the first step could start: opening and first fetch */
    double fetch_s; /* seconds in all fetches */
};

/* Opens the reader. Collective, as are feed_close and feed_epoch. */
enum status feed_open(struct feed *f, const struct config *config, struct waiter *waiter,
                      MPI_Comm comm, struct error *e);
/* May be called after a failed open. */
void feed_close(struct feed *f);

/* Fetches the samples that `sampler` needs in `epoch` into f->reader.data. */
enum status feed_epoch(struct feed *f, struct sampler *sampler, uint32_t epoch, struct error *e);
