/* Brings the samples of an epoch to this rank before the epoch's first step. With data.read = all
 * or window, the data is read once. Otherwise, each rank fetches its samples once, or before every
 * epoch if samples are shuffled across ranks. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/workloads/read/reader.h"
#include "bench/workloads/train_cnn/parts/sampler.h"

struct feed {
    struct reader reader;
    uint32_t *needs; /* indices of the samples that this rank fetched last; NULL: none fetched
                        yet */
    uint32_t epoch;  /* epoch of the last fetch */
    uint32_t fetches;
    double read_s;  /* time to open the data and fetch the first epoch's samples (s) */
    double fetch_s; /* time of all fetches so far (s) */
};

/* Opens the reader. Collective, as are feed_close and feed_epoch. */
enum status feed_open(struct feed *f, const struct config *config, struct waiter *waiter,
                      MPI_Comm comm, struct error *e);
/* Closes the reader. May be called after a failed feed_open. */
void feed_close(struct feed *f);

/* Fetches the samples that `sampler` needs in `epoch` into f->reader.data. Does nothing if this
 * rank already has them. */
enum status feed_epoch(struct feed *f, struct sampler *sampler, uint32_t epoch, struct error *e);
