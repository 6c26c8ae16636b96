/* Interface of a reading mode (value of option data.read), and functions that several modes use. */
#pragma once

#include "bench/workloads/read/reader.h"
#include "comm/wait/mpi_error.h"

typedef int read_call(MPI_File file, MPI_Offset offset, void *to, int count, MPI_Datatype type,
                      MPI_Status *status);

struct read_mode {
    const char *name;
    read_call *read; /* MPI-IO read function; NULL in modes without MPI-IO */
    /* Opens files, or copies or loads samples, as the mode requires. On entry, the data set is
     * mapped but its pages are not loaded. NULL: nothing to do. */
    enum status (*open)(struct reader *r, struct error *e);
    /* Reads n samples into r->store, which has room for them. NULL: every rank already has all
     * samples. */
    enum status (*fetch)(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e);
    void (*close)(struct reader *r); /* called by reader_close; may be NULL */
};

#define DATA_READ(name, in_step, summary) extern const struct read_mode read_##name;
#include "bench/spec/data_reads.def"

/* Collective. Returns OK if `mine`, the status of this rank, is OK on all ranks. Otherwise every
 * rank gets the status and error of the lowest failed rank. */
enum status reader_agree(struct reader *r, enum status mine, struct error *e);

/* Creates an MPI type of one record of `bytes` bytes. The caller frees the type. Returns an MPI
 * error code. */
int record_type(size_t bytes, MPI_Datatype *type);

/* Creates an MPI type that selects n > 0 samples from consecutive records of `record_bytes` bytes
 * each. The caller frees the type. Returns an MPI error code. */
int samples_type(const uint32_t *samples, uint32_t n, size_t record_bytes, MPI_Datatype *type);
