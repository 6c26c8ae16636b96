/* Reading mode `scatter`: rank 0 reads the training data and sends each rank the samples that the
 * rank requests. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/read/modes.h"
#include "kernels/base/mem.h"

enum { TAG_IMAGES = 1, TAG_LABELS };

/* Lists of the samples that ranks need. Each list begins with its number of samples. On rank 0,
 * `all` has the lists of all ranks. */
struct lists {
    uint32_t *mine, *all;
    size_t length; /* number of elements of each list: `mine`, and one list per rank in `all` */
};

/* Gathers the lists of all ranks on rank 0, each padded to the length of the longest one. */
static enum status lists_collect(struct lists *lists, struct reader *r, const uint32_t *samples,
                                 uint32_t n, struct error *e)
{
    uint32_t most = n;
    TRY(wait_allreduce(r->waiter, &most, 1, MPI_UINT32_T, MPI_MAX, r->comm,
                       "longest share of the data", e));
    lists->length = 1 + (size_t)most;
    TRY(MEM_NEW(lists->mine, lists->length, "a rank's list of samples", e));
    if (r->rank == 0)
        TRY(MEM_NEW(lists->all, lists->length * (size_t)r->ranks, "all ranks' samples", e));
    lists->mine[0] = n;
    memcpy(lists->mine + 1, samples, n * sizeof *samples);
    return wait_gather(r->waiter, lists->mine, lists->length * sizeof *lists->mine, lists->all, 0,
                       r->comm, "shares of the data", e);
}

/* Starts to send `n` samples directly from the mapped file. */
static int start_send(const uint8_t *from, size_t record_bytes, const uint32_t *samples, uint32_t n,
                      int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    MPI_Datatype type;
    int code = samples_type(samples, n, record_bytes, &type);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Isend(from, 1, type, to, tag, comm, request);
    MPI_Type_free(&type);
    return code;
}

static int start_sends(struct reader *r, const struct lists *lists, MPI_Request *requests)
{
    int code = MPI_SUCCESS;
    for (int to = 1; to < r->ranks && code == MPI_SUCCESS; to++) {
        const uint32_t *list = lists->all + lists->length * (size_t)to;
        MPI_Request *pair = requests + 2 * (to - 1);
        if (list[0] == 0)
            continue;
        code = start_send(r->source.images, r->image_bytes, list + 1, list[0], to, TAG_IMAGES,
                          r->comm, &pair[0]);
        if (code == MPI_SUCCESS)
            code = start_send(r->source.labels, 1, list + 1, list[0], to, TAG_LABELS, r->comm,
                              &pair[1]);
    }
    return code;
}

static enum status send_shares(struct reader *r, const struct lists *lists, struct error *e)
{
    int n = 2 * (r->ranks - 1);
    MPI_Request *requests;
    TRY(MEM_NEW(requests, (size_t)n, "messages to all ranks", e));
    for (int i = 0; i < n; i++)
        requests[i] = MPI_REQUEST_NULL;
    int code = start_sends(r, lists, requests);
    data_gather(&r->source, r->image_bytes, lists->mine + 1, lists->mine[0], r->store.images,
                r->store.labels);
    enum status status = wait_requests(r->waiter, code, requests, n, 0, "sending the data", e);
    free(requests);
    return status;
}

static enum status receive_share(struct reader *r, uint32_t n, struct error *e)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Datatype image;
    int code = record_type(r->image_bytes, &image);
    if (code != MPI_SUCCESS)
        return mpi_status(code, "type of an image", e);
    if (n > 0)
        code = MPI_Irecv(r->store.images, (int)n, image, 0, TAG_IMAGES, r->comm, &requests[0]);
    if (n > 0 && code == MPI_SUCCESS)
        code = MPI_Irecv(r->store.labels, (int)n, MPI_BYTE, 0, TAG_LABELS, r->comm, &requests[1]);
    MPI_Type_free(&image);
    return wait_requests(r->waiter, code, requests, 2, n * (r->image_bytes + 1), "data from rank 0",
                         e);
}

static enum status fetch_scatter(struct reader *r, const uint32_t *samples, uint32_t n,
                                 struct error *e)
{
    struct lists lists = {0};
    enum status status = lists_collect(&lists, r, samples, n, e);
    THEN(status, r->rank == 0 ? send_shares(r, &lists, e) : receive_share(r, n, e));
    free(lists.mine);
    free(lists.all);
    return status;
}

const struct read_mode read_scatter = {.name = "scatter", .fetch = fetch_scatter};
