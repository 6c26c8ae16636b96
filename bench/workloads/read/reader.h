/* How training data reach the ranks (data.read). Every way ends with the same samples behind the
 * same numbers: a way that gives all to every rank is ready when it is open, one that gives each
 * rank its share fetches the samples that the rank is going to use. Test data are mapped by every
 * rank. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/spec.h"
#include "bench/workloads/data/data_set.h"
#include "comm/wait/wait.h"
#include "kernels/base/error.h"

/* Samples of this rank alone: images [room,C,H,W], labels [room], slots [n samples]. */
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

    struct data_set data;    /* what a trainer reads; its training part is complete after a fetch */
    struct data_part source; /* the training part as it was mapped: reading it reads the file */
    uint32_t n;              /* samples that are used */
    size_t image_bytes;
    struct store store;
    MPI_File files[2]; /* images, labels; of the mpiio modes */
    MPI_Comm node;     /* of the window mode */
    MPI_Win window;
};

/* As the options data.* say; the waiter is borrowed. Collective. The error of the first rank that fails is every
 * rank's. */
enum status reader_open(struct reader *r, const struct config *config, struct waiter *waiter,
                        MPI_Comm comm, struct error *e);
/* Collective; also after a failed open. */
void reader_close(struct reader *r);

/* What of the images and labels is in this process's memory: of mapped files, a window, a rank's
 * share; NAN where that cannot be told. */
double reader_data_mib(const struct reader *r);

/* Each rank holds only what it fetches. */
bool reader_shares(const struct reader *r);

/* Makes the n given samples (ascending, each once; 0 is fine) this rank's training data instead of
 * those before. Collective. */
enum status reader_fetch(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e);
