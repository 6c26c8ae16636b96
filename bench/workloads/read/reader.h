/* Gives ranks their training data (option data.read). A sample has the same index in every mode. In
 * modes `all` and `window`, reader_open gives every rank all data. In other modes, each rank
 * fetches the samples that it will use. Every rank maps the test data. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/spec.h"
#include "bench/workloads/data/data_set.h"
#include "comm/wait/wait.h"
#include "kernels/base/error.h"

/* Samples that this rank has fetched: `images` [room,C,H,W] and `labels` [room]. `slots` [number of
 * samples in use]: position of each fetched sample in both. In mode `all`, `images` is a copy of
 * the images in use, or NULL; `labels` and `slots` are NULL. */
struct store {
    uint8_t *images, *labels;
    uint32_t *slots;
    size_t room;
};

struct read_mode;

struct reader {
    const struct read_mode *mode;
    struct waiter *waiter;
    MPI_Comm comm;
    int rank, ranks;

    /* Data set that the trainer uses. Its training part is valid after reader_open in modes `all`
     * and `window`, after a fetch in other modes. */
    struct data_set data;
    struct data_part source; /* training part of the mapped file; accessing it reads the file */
    uint32_t n;              /* number of training samples in use */
    size_t image_bytes;
    struct store store;
    MPI_File files[2]; /* image file and label file; mpiio modes only */
    MPI_Comm node;     /* communicator of this node's ranks; mode window only */
    MPI_Win window;
};

/* Opens the data set that options data.* select. The waiter is borrowed. Collective: if a rank
 * fails, every rank returns the error of the lowest rank that failed. */
enum status reader_open(struct reader *r, const struct config *config, struct waiter *waiter,
                        MPI_Comm comm, struct error *e);
/* Closes the reader. Collective; may be called after a failed open. */
void reader_close(struct reader *r);

/* Returns the resident memory (MiB) of images and labels in this process: mapped files plus,
 * depending on data.read, copied images, the shared window or fetched samples. NAN if unknown. */
double reader_data_mib(const struct reader *r);

/* Returns whether each rank holds only the training samples that reader_fetch gives it, instead of
 * all. */
bool reader_shares(const struct reader *r);

/* Replaces this rank's training data by the n samples in `samples`, which are ascending and unique;
 * n may be 0. Does nothing in modes `all` and `window`. Collective. */
enum status reader_fetch(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e);
