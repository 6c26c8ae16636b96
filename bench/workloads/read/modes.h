/* Functions of a reading mode (data.read), and helpers for several modes. */
#pragma once

#include "bench/workloads/read/reader.h"
#include "comm/wait/mpi_error.h"

typedef int read_call(MPI_File file, MPI_Offset offset, void *to, int count, MPI_Datatype type,
                      MPI_Status *status);

struct read_mode {
    const char *name;
    read_call *read; /* read call of the mpiio modes */
    /* Opens this reading mode. The data set is mapped, but not loaded. NULL: nothing to open. */
    enum status (*open)(struct reader *r, struct error *e);
    /* Reads the samples into the store, which has room for them. NULL: all samples are
     * available. */
    enum status (*fetch)(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e);
    void (*close)(struct reader *r); /* called by reader_close; may be NULL */
};

#define DATA_READ(name, in_step, summary) extern const struct read_mode read_##name;
#include "bench/spec/data_reads.def"

/* Makes the error of the lowest failed rank the error and result of every rank. Collective. */
enum status reader_agree(struct reader *r, enum status mine, struct error *e);

/* Makes an MPI type of one record, which the caller frees. Returns an MPI error code. */
int record_type(size_t bytes, MPI_Datatype *type);

/* Makes an MPI type that selects n samples of `record_bytes` each, counted from sample 0; n > 0.
 * The caller frees it. Returns an MPI error code. */
int samples_type(const uint32_t *samples, uint32_t n, size_t record_bytes, MPI_Datatype *type);
