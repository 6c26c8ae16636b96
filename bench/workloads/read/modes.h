/* What a way of reading consists of, and what several of them use. */
#pragma once

#include "bench/workloads/read/reader.h"
#include "comm/wait/mpi_error.h"

typedef int read_call(MPI_File file, MPI_Offset offset, void *to, int count, MPI_Datatype type,
                      MPI_Status *status);

struct read_mode {
    const char *name;
    read_call *read; /* of the mpiio modes */
    /* The data set is open and mapped, nothing of it loaded. NULL: that is enough. */
    enum status (*open)(struct reader *r, struct error *e);
    /* Puts the samples into the store, which has room for them; NULL: all are there already. */
    enum status (*fetch)(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e);
    void (*close)(struct reader *r); /* or NULL */
};

#define DATA_READ(name, in_step, summary) extern const struct read_mode read_##name;
#include "bench/spec/data_reads.def"

/* The error of the first rank that has one becomes every rank's: *e and the result are the same
 * everywhere. Collective. */
enum status reader_agree(struct reader *r, enum status mine, struct error *e);

/* An MPI type of one record; freed by the caller. */
int record_type(size_t bytes, MPI_Datatype *type);

/* An MPI type of the n samples (at least one) of `record_bytes` each, counted from sample 0; freed
 * by the caller. */
int samples_type(const uint32_t *samples, uint32_t n, size_t record_bytes, MPI_Datatype *type);
