/* Reading mode `window`: one copy of the training data per node. The node's first rank reads the
 * data into shared memory, which all ranks of the node use. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/workloads/read/modes.h"
#include "kernels/base/mem.h"

static const char WHO[] = "data.read = window";

/* Allocates all pages of the window, so that a lack of memory returns an error here, not SIGBUS
 * later. The earlier mem_check_shared does not suffice, because another process may have used the
 * memory since. Does nothing on Linux before 5.14. */
static enum status touch_pages(uint8_t *window, size_t bytes, struct error *e)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)window & ~(page - 1);
    size_t length = (uintptr_t)window + bytes - begin;
    if (madvise((void *)begin, length, MADV_POPULATE_WRITE) != 0 &&
        (errno == EFAULT || errno == ENOMEM))
        return mem_shared_is_full(WHO, (double)bytes, e);
#endif
    return OK;
}

static enum status find_node(struct reader *r, int *node_rank, struct error *e)
{
    blocking_call_begin(r->waiter, "finding the ranks of this node");
    int code = MPI_Comm_split_type(r->comm, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &r->node);
    blocking_call_end(r->waiter);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(r->node, node_rank);
    return mpi_status(code, "finding the ranks of this node", e);
}

static enum status make_window(struct reader *r, size_t own_bytes, uint8_t **window,
                               struct error *e)
{
    void *own;
    MPI_Aint size;
    int unit;
    blocking_call_begin(r->waiter, "sharing the data among a node's ranks");
    int code =
        MPI_Win_allocate_shared((MPI_Aint)own_bytes, 1, MPI_INFO_NULL, r->node, &own, &r->window);
    blocking_call_end(r->waiter);
    if (code == MPI_SUCCESS)
        code = MPI_Win_shared_query(r->window, 0, &size, &unit, window);
    return mpi_status(code, "sharing the data among a node's ranks", e);
}

static enum status fill(struct reader *r, uint8_t *window, size_t bytes, struct error *e)
{
    TRY(touch_pages(window, bytes, e));
    memcpy(window, r->source.images, r->n * r->image_bytes);
    memcpy(window + r->n * r->image_bytes, r->source.labels, r->n);
    return OK;
}

/* Opens the window in several steps. After each step, all ranks agree whether the step succeeded;
 * this is also a barrier before the next step. */
static enum status open_window(struct reader *r, struct error *e)
{
    size_t bytes = r->n * (r->image_bytes + 1);
    int node_rank = 0;
    uint8_t *window = NULL;
    TRY(reader_agree(r, find_node(r, &node_rank, e), e));
    bool first = node_rank == 0;
    TRY(reader_agree(r, first ? mem_check_shared(WHO, (double)bytes, e) : OK, e));
    TRY(reader_agree(r, make_window(r, first ? bytes : 0, &window, e), e));
    TRY(reader_agree(r, first ? fill(r, window, bytes, e) : OK, e));
    r->data.train.images = window;
    r->data.train.labels = window + r->n * r->image_bytes;
    const struct data_part used = {.images = window, .labels = r->data.train.labels, .n = r->n};
    data_load(&used, r->image_bytes);
    return OK;
}

static void close_window(struct reader *r)
{
    if (r->window != MPI_WIN_NULL) {
        blocking_call_begin(r->waiter, "end of shared data");
        MPI_Win_free(&r->window);
        blocking_call_end(r->waiter);
    }
    if (r->node != MPI_COMM_NULL)
        MPI_Comm_free(&r->node);
}

const struct read_mode read_window = {.name = "window", .open = open_window, .close = close_window};
