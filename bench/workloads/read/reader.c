#include "bench/workloads/read/reader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/read/modes.h"
#include "kernels/base/mem.h"

static const struct read_mode *const modes[READ_KINDS] = {
#define DATA_READ(name, in_step, summary) &read_##name,
#include "bench/spec/data_reads.def"
};

/* ---- Helpers for modes ---- */

enum status reader_agree(struct reader *r, enum status mine, struct error *e)
{
    int first = mine == OK ? INT_MAX : r->rank;
    struct error own = {0};
    if (mine != OK)
        own = *e;
    enum status status =
        wait_allreduce(r->waiter, &first, 1, MPI_INT, MPI_MIN, r->comm, "agreement on the data", e);
    if (status != OK || first == INT_MAX)
        return status;
    status = wait_bcast(r->waiter, &own, sizeof own, MPI_BYTE, first, r->comm,
                        "error of another rank", e);
    if (status == OK)
        *e = own;
    return e->status;
}

int record_type(size_t bytes, MPI_Datatype *type)
{
    int code = MPI_Type_contiguous((int)bytes, MPI_BYTE, type);
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

int samples_type(const uint32_t *samples, uint32_t n, size_t record_bytes, MPI_Datatype *type)
{
    MPI_Datatype record;
    int code = record_type(record_bytes, &record);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_create_indexed_block((int)n, 1, (const int *)samples, record, type);
    MPI_Type_free(&record);
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

/* ---- The store ---- */

static void store_close(struct store *store)
{
    mem_free(store->images);
    mem_free(store->labels);
    free(store->slots);
    *store = (struct store){0};
}

/* Allocates room for n samples, or reuses a store that is large enough. A rank without samples gets
 * room for one image, on which it trains with weight 0, to take part in gradient
 * synchronisation. */
static enum status store_reserve(struct reader *r, size_t n, struct error *e)
{
    struct store *store = &r->store;
    n = n > 0 ? n : 1;
    if (store->slots != NULL && n <= store->room)
        return OK;
    store_close(store);
    TRY(MEM_NEW_ALIGNED(store->images, n * r->image_bytes, "a rank's share of the images", e));
    TRY(MEM_NEW_ALIGNED(store->labels, n, "a rank's share of the labels", e));
    TRY(MEM_NEW(store->slots, r->n, "the positions of a rank's samples", e));
    store->room = n;
    return OK;
}

static void store_publish(struct reader *r, const uint32_t *samples, uint32_t n)
{
    struct store *store = &r->store;
    for (uint32_t i = 0; i < n; i++)
        store->slots[samples[i]] = i;
    r->data.train = (struct data_part){
        .images = store->images, .labels = store->labels, .n = r->source.n, .slots = store->slots};
}

/* ---- The reader ---- */

/* Checks that all ranks have found the same data (same name, numbers of images and image shape),
 * since with data.path = auto each node searches its own folders. */
static enum status check_same_data(struct reader *r, struct error *e)
{
    char own[160] = "", first[160], shape[40];
    const struct data_set *d = &r->data;
    snprintf(own, sizeof own, "%s, %u + %u images of %s", d->name, d->train.n, d->test.n,
             shape_text(shape, d->shape));
    memcpy(first, own, sizeof first);
    TRY(wait_bcast(r->waiter, first, sizeof first, MPI_BYTE, 0, r->comm, "comparison of data", e));
    enum status status = OK;
    if (strcmp(own, first) != 0)
        status = error_set(e, ERR_DATA,
                           "rank %d found other data (%s) than rank 0 (%s). Set data.path to a "
                           "folder that all nodes have",
                           r->rank, own, first);
    return reader_agree(r, status, e);
}

static enum status open_data(struct reader *r, const struct config *config, struct error *e)
{
    uint32_t samples = (uint32_t)config_int(config, OPT_DATA_SAMPLES);
    enum status status =
        data_open_as(&r->data, config_text(config, OPT_DATA_SET),
                     config_text(config, OPT_DATA_PATH), config_text(config, OPT_DATA_NAME), e);
    r->source = r->data.train;
    r->image_bytes = shape_count(r->data.shape);
    r->n = samples > 0 ? samples : r->source.n;
    if (status == OK && r->n > r->source.n)
        status = error_set(e, ERR_DATA, "data.samples = %u, but %s has %u images to train on", r->n,
                           r->data.name, r->source.n);
    if (status == OK && r->mode->fetch != NULL && r->n > INT_MAX)
        status = error_set(e, ERR_DATA, "data.read = %s: expected at most %d samples, found %u",
                           r->mode->name, INT_MAX, r->n);
    return reader_agree(r, status, e);
}

enum status reader_open(struct reader *r, const struct config *config, struct waiter *waiter,
                        MPI_Comm comm, struct error *e)
{
    *r = (struct reader){.mode = modes[config_int(config, OPT_DATA_READ)],
                         .waiter = waiter,
                         .comm = comm,
                         .files = {MPI_FILE_NULL, MPI_FILE_NULL},
                         .node = MPI_COMM_NULL,
                         .window = MPI_WIN_NULL};
    MPI_Comm_rank(r->comm, &r->rank);
    MPI_Comm_size(r->comm, &r->ranks);
    TRY(open_data(r, config, e));
    TRY(check_same_data(r, e));
    if (r->mode->open != NULL)
        TRY(r->mode->open(r, e));
    data_load(&r->data.test, r->image_bytes);
    return OK;
}

void reader_close(struct reader *r)
{
    if (r->mode != NULL && r->mode->close != NULL)
        r->mode->close(r);
    store_close(&r->store);
    data_close(&r->data);
    r->mode = NULL;
}

double reader_data_mib(const struct reader *r)
{
    const struct data_part *train = &r->data.train;
    double mapped = data_resident_mib(&r->data);
    if (train->images == r->source.images)
        return mapped;
    size_t n = r->store.images != NULL ? r->store.room : r->n;
    return mapped + mem_resident_mib(train->images, n * r->image_bytes) +
           mem_resident_mib(train->labels, n);
}

bool reader_shares(const struct reader *r)
{
    return r->mode->fetch != NULL;
}

enum status reader_fetch(struct reader *r, const uint32_t *samples, uint32_t n, struct error *e)
{
    if (r->mode->fetch == NULL)
        return OK;
    TRY(store_reserve(r, n, e));
    TRY(r->mode->fetch(r, samples, n, e));
    store_publish(r, samples, n);
    return OK;
}
