/* Brings training data to the ranks (data.read). Sample numbers mean the same samples in every
 * mode. A mode either gives all data to every rank when it is opened, or each rank fetches the
 * samples that it will use. Every rank maps the test data. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/spec.h"
#include "bench/workloads/data/data_set.h"
#include "comm/wait/wait.h"
#include "kernels/base/error.h"

/* Samples of this rank: images [room,C,H,W], labels [room], slots [n samples]. */
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

    /* Data set for the trainer; its training part is complete after a fetch. */
    struct data_set data;
    struct data_part source; /* mapped training part: accessing it reads the file */
    uint32_t n;              /* number of samples in use */
    size_t image_bytes;
    struct store store;
    MPI_File files[2]; /* images and labels, in the mpiio modes */
    MPI_Comm node;     /* ranks of this node, in the window mode */
    MPI_Win window;
};

/* Opens the data by the options data.*; the waiter is borrowed. Collective: if a rank fails, every
 * rank returns the error of the lowest one. */
enum status reader_open(struct reader *r, const struct config *config, struct waiter *waiter,
                        MPI_Comm comm, struct error *e);
/* Collective; may be called after a failed open. */
void reader_close(struct reader *r);

/* Returns the memory (MiB) of images and labels in this process: mapped files, window or own share.
 * NAN if it is unknown. */
double reader_data_mib(const struct reader *r);

/* Returns whether each rank holds only the samples that it fetches. */
bool reader_shares(const struct reader *r);

/* Replaces this rank's training data by n samples, ascending and unique; n may be 0. Collective. */
enum status reader_fetch(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e);
