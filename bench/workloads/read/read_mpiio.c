/* Reading modes that use MPI-IO: every rank reads its own samples. A file view selects the samples,
 * and one call per file (images, labels) reads them. */
#include <stdio.h>
#include <string.h>

#include "bench/workloads/read/modes.h"

enum { IMAGES, LABELS, FILES };

static const struct data_place *place_of(const struct reader *r, int file)
{
    return file == IMAGES ? &r->data.train_images : &r->data.train_labels;
}

static enum status check_place(const struct reader *r, struct error *e)
{
    for (int i = 0; i < FILES; i++)
        if (place_of(r, i)->path[0] == '\0')
            return error_set(
                e, ERR_DATA,
                "data.read = %s reads files, but data set '%s' is only in the memory of each "
                "process. Set $SCALEBENCH_CACHE to a writable folder",
                r->mode->name, r->data.name);
    return OK;
}

/* Opens a file of the data. ROMIO takes text before a colon as the name of a file system, so a path
 * with a colon gets the prefix "ufs:". */
static enum status open_file(struct reader *r, int file, struct error *e)
{
    char path[PATH_MAX + 8];
    const char *name = place_of(r, file)->path;
    snprintf(path, sizeof path, "%s%s", strchr(name, ':') != NULL ? "ufs:" : "", name);
    blocking_call_begin(r->waiter, "opening the data");
    int code = MPI_File_open(r->comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &r->files[file]);
    blocking_call_end(r->waiter);
    return mpi_status(code, name, e);
}

static enum status open_mpiio(struct reader *r, struct error *e)
{
    TRY(reader_agree(r, check_place(r, e), e));
    for (int i = 0; i < FILES; i++)
        TRY(reader_agree(r, open_file(r, i, e), e));
    return OK;
}

static void close_mpiio(struct reader *r)
{
    blocking_call_begin(r->waiter, "closing the data");
    for (int i = 0; i < FILES; i++)
        if (r->files[i] != MPI_FILE_NULL)
            MPI_File_close(&r->files[i]);
    blocking_call_end(r->waiter);
}

/* Sets the file view to the n samples of this rank. A rank without samples gets a view of single
 * bytes, since a view's MPI type cannot be empty. */
static int set_view(struct reader *r, int file, const uint32_t *samples, uint32_t n, size_t bytes)
{
    MPI_Datatype type = MPI_BYTE;
    int code = n > 0 ? samples_type(samples, n, bytes, &type) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    blocking_call_begin(r->waiter, "choosing samples of the data");
    code = MPI_File_set_view(r->files[file], (MPI_Offset)place_of(r, file)->offset, MPI_BYTE, type,
                             "native", MPI_INFO_NULL);
    blocking_call_end(r->waiter);
    if (n > 0)
        MPI_Type_free(&type);
    return code;
}

static enum status read_records(struct reader *r, int file, uint32_t n, size_t bytes, uint8_t *to,
                                struct error *e)
{
    const char *path = place_of(r, file)->path;
    /* only the collective read waits for other ranks */
    bool together = r->mode->read == MPI_File_read_at_all;
    MPI_Datatype record;
    MPI_Status done;
    int found = 0;
    int code = record_type(bytes, &record);
    if (code != MPI_SUCCESS)
        return mpi_status(code, path, e);
    if (together)
        blocking_call_begin(r->waiter, "reading the data");
    code = r->mode->read(r->files[file], 0, to, (int)n, record, &done);
    if (together)
        blocking_call_end(r->waiter);
    if (code == MPI_SUCCESS)
        code = MPI_Get_count(&done, record, &found);
    MPI_Type_free(&record);
    if (code == MPI_SUCCESS && found != (int)n)
        return error_at(e, ERR_DATA, path, 0, 0, "rank %d: expected %u samples, found fewer",
                        r->rank, n);
    return mpi_status(code, path, e);
}

/* Fetches samples through a file view. Setting the view is collective. Reading is collective only
 * in mode mpiio_collective. */
static enum status fetch(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e)
{
    uint8_t *to[FILES] = {r->store.images, r->store.labels};
    size_t bytes[FILES] = {r->image_bytes, 1};
    TRY(wait_barrier(r->waiter, r->comm, "all ranks before reading the data", e));
    for (int i = 0; i < FILES; i++) {
        TRY(mpi_status(set_view(r, i, samples, n, bytes[i]), place_of(r, i)->path, e));
        TRY(read_records(r, i, n, bytes[i], to[i], e));
    }
    return OK;
}

const struct read_mode read_mpiio = {.name = "mpiio",
                                     .read = MPI_File_read_at,
                                     .open = open_mpiio,
                                     .fetch = fetch,
                                     .close = close_mpiio};

const struct read_mode read_mpiio_collective = {.name = "mpiio_collective",
                                                .read = MPI_File_read_at_all,
                                                .open = open_mpiio,
                                                .fetch = fetch,
                                                .close = close_mpiio};
