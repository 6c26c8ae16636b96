/* Rank 0 reads the training data and sends every rank the samples that it asks for: the only one to
 * touch the file, and the one all others wait for. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/read/modes.h"

enum { TAG_IMAGES = 1, TAG_LABELS };

/* What the ranks ask for, at rank 0: for each rank their number and then the samples. */
struct wishes {
    uint32_t *mine, *all;
    size_t length; /* of one rank's part */
};

static enum status open_scatter(struct reader *r, struct error *e)
{
    (void)r, (void)e;
    return OK;
}

static void wishes_free(struct wishes *w)
{
    free(w->mine);
    free(w->all);
}

/* Parts are as long as the longest list, so that one gather collects them. */
static enum status wishes_collect(struct wishes *w, struct reader *r, const uint32_t *samples,
                                  uint32_t n, struct error *e)
{
    uint32_t most = n;
    TRY(wait_allreduce(r->waiter, &most, 1, MPI_UINT32_T, MPI_MAX, r->comm,
                       "longest share of the data", e));
    w->length = 1 + (size_t)most;
    w->mine = calloc(w->length, sizeof *w->mine);
    if (r->rank == 0)
        w->all = calloc(w->length * (size_t)r->ranks, sizeof *w->all);
    if (w->mine == NULL || (r->rank == 0 && w->all == NULL))
        return error_set(e, ERR_MEMORY, "no memory for the samples of %d ranks", r->ranks);
    w->mine[0] = n;
    memcpy(w->mine + 1, samples, n * sizeof *samples);
    return wait_gather(r->waiter, w->mine, w->length * sizeof *w->mine, w->all, 0, r->comm,
                       "shares of the data", e);
}

/* Starts a message of `n` samples straight out of the mapped file. */
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

static int start_sends(struct reader *r, const struct wishes *w, MPI_Request *requests)
{
    int code = MPI_SUCCESS;
    for (int to = 1; to < r->ranks && code == MPI_SUCCESS; to++) {
        const uint32_t *wish = w->all + w->length * (size_t)to;
        MPI_Request *pair = requests + 2 * (to - 1);
        if (wish[0] == 0)
            continue;
        code = start_send(r->source.images, r->image_bytes, wish + 1, wish[0], to, TAG_IMAGES,
                          r->comm, &pair[0]);
        if (code == MPI_SUCCESS)
            code = start_send(r->source.labels, 1, wish + 1, wish[0], to, TAG_LABELS, r->comm,
                              &pair[1]);
    }
    return code;
}

static enum status send_shares(struct reader *r, const struct wishes *w, struct error *e)
{
    int n = 2 * (r->ranks - 1);
    MPI_Request *requests = malloc(((size_t)n + 1) * sizeof *requests);
    if (requests == NULL)
        return error_set(e, ERR_MEMORY, "no memory for messages to %d ranks", r->ranks);
    requests[0] = MPI_REQUEST_NULL;
    for (int i = 0; i < n; i++)
        requests[i] = MPI_REQUEST_NULL;
    int code = start_sends(r, w, requests);
    data_gather(&r->source, r->image_bytes, w->mine + 1, w->mine[0], r->store.images,
                r->store.labels);
    enum status status = wait_requests(r->waiter, code, requests, n, 0, "sending the data", e);
    free(requests);
    return status;
}

static enum status receive_share(struct reader *r, uint32_t n, struct error *e)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Datatype image;
    int code = MPI_Type_contiguous((int)r->image_bytes, MPI_BYTE, &image);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&image);
    if (code != MPI_SUCCESS)
        return reader_check(code, "type of an image", e);
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
    struct wishes wishes = {0};
    enum status status = wishes_collect(&wishes, r, samples, n, e);
    if (status == OK)
        status = r->rank == 0 ? send_shares(r, &wishes, e) : receive_share(r, n, e);
    wishes_free(&wishes);
    return status;
}

const struct read_mode read_scatter = {
    .name = "scatter", .open = open_scatter, .fetch = fetch_scatter};
