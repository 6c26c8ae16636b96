/* Gradients lie in a window that the ranks of a node share, where backward leaves them. Each rank
 * sums its slice over all of them in place, in the order of ranks; every rank's optimizer reads
 * each slice where it was summed. Nothing is sent and nothing copied, and a line of memory that is
 * summed is one that has been read: in place the sum moves a quarter less memory than into an arena
 * of its own.
 *
 *   each rank's part   flag, gradients [n]
 *
 * Two waits a step: for all gradients, then for all slices; a third where they are clipped.
 * Backward of the next step overwrites what other ranks' optimizers may still read: before its
 * first gradient a rank waits for them, usually for nothing, since they have been in forward since.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "comm/local_ops.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

struct window {
    MPI_Win window;
    struct flag **flags; /* [ranks] */
    const real **grads;  /* [ranks], of each rank */
    uint64_t waits;
    bool is_read;        /* what this rank's part holds has been read by all */
    int64_t read_ns;     /* spent waiting for that in this step */
    enum status settled; /* what came of that wait */
    struct error error;
};

/* Parts begin on pages; within one, numbers begin on cache lines. */
static size_t arena_bytes(const struct sync *s)
{
    return (s->arenas.n * sizeof(real) + MEM_ALIGNMENT - 1) / MEM_ALIGNMENT * MEM_ALIGNMENT;
}

/* --- A step --------------------------------------------------------------------------------------
 */

static enum status meet(struct sync *s, const char *operation, struct error *e)
{
    struct window *w = s->own;
    flag_raise(w->flags[s->rank], ++w->waits);
    return wait_flags(s->waiter, w->flags, s->ranks, w->waits, s->comm, operation, e);
}

static enum status sum_gradients(struct sync *s, struct error *e)
{
    const struct window *w = s->own;
    size_t begin, end;
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    enum status status = meet(s, "gradients in shared memory", e);
    if (status != OK)
        return status;
    local_sum(s->exec, s->arenas.grads, w->grads, s->ranks, begin, end);
    return meet(s, "sums in shared memory", e);
}

/* Tells that this rank reads other parts no more. */
static void let_go(struct sync *s)
{
    struct window *w = s->own;
    flag_raise(w->flags[s->rank], ++w->waits);
    w->is_read = false;
}

/* Returns when this rank may write its gradients. */
static enum status wait_for_readers(struct sync *s)
{
    struct window *w = s->own;
    if (w->is_read)
        return w->settled;
    int64_t begin_ns = clock_ns();
    w->settled = wait_flags(s->waiter, w->flags, s->ranks, w->waits, s->comm,
                            "optimizers that read shared memory", &w->error);
    w->read_ns += clock_ns() - begin_ns;
    w->is_read = true;
    return w->settled;
}

/* Slice by slice, from this rank's own on, so that ranks do not crowd around one. Whole tensors may
 * cross slices: an optimizer that wants them gets all slices copied to where this rank's own is. */
static void optimize(struct sync *s, const struct optimizer *o, uint64_t step, double lr)
{
    const struct window *w = s->own;
    bool takes_tensors = optimizer_takes_tensors(o->kind);
    for (int i = 0; i < s->ranks; i++) {
        int r = (s->rank + i) % s->ranks;
        size_t begin, end;
        pool_share(s->arenas.n, (size_t)r, (size_t)s->ranks, &begin, &end);
        if (!takes_tensors)
            sync_optimize_from(s, o, w->grads[r], begin, end, step, lr);
        else if (i > 0)
            sync_copy(s, s->arenas.grads + begin, w->grads[r] + begin,
                      (end - begin) * sizeof(real));
    }
    if (takes_tensors)
        sync_optimize(s, o, 0, s->arenas.n, step, lr);
}

/* The sum is everyone's: each scales its slice, and waits for the others to have done so. */
static enum status clip(struct sync *s, const struct optimizer *o, struct error *e)
{
    size_t begin, end;
    pool_share(s->arenas.n, (size_t)s->rank, (size_t)s->ranks, &begin, &end);
    enum status status = sync_clip(s, o, begin, end, e);
    if (status != OK)
        return status;
    sync_comm_begin(s);
    status = meet(s, "clipped sums in shared memory", e);
    sync_comm_end(s);
    return status;
}

/* --- Hooks ---------------------------------------------------------------------------------------
 */

/* A page that the file system of shared memory does not have would end the process when it is
 * touched. */
static enum status check_space(const struct sync *s, struct error *e)
{
    struct statvfs fs;
    double wanted = (double)(sizeof(struct flag) + arena_bytes(s)) * s->ranks;
    if (statvfs("/dev/shm", &fs) != 0 || (double)fs.f_bavail * (double)fs.f_frsize >= wanted)
        return OK;
    return error_set(e, ERR_MEMORY,
                     "strategy shm wants %.1f MiB of shared memory, /dev/shm has %.1f MiB left",
                     wanted / 0x1p20, (double)fs.f_bavail * (double)fs.f_frsize / 0x1p20);
}

static enum status find_node(const struct sync *s, MPI_Comm *node, struct error *e)
{
    int ranks;
    wait_library_begin(s->waiter, "finding the ranks of this node");
    int code = MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, node);
    wait_library_end(s->waiter);
    if (code != MPI_SUCCESS)
        return error_set(e, ERR_MPI, "finding the ranks of this node: MPI error %d", code);
    MPI_Comm_size(*node, &ranks);
    if (ranks == s->ranks)
        return OK;
    MPI_Comm_free(node);
    return error_set(e, ERR_ARGUMENT,
                     "strategy shm wants all ranks on one node: this one has %d of %d", ranks,
                     s->ranks);
}

static enum status open_window(struct sync *s, MPI_Comm node, struct error *e)
{
    struct window *w = s->own;
    MPI_Aint bytes = (MPI_Aint)(sizeof(struct flag) + arena_bytes(s));
    MPI_Info apart;
    void *mine;
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");
    wait_library_begin(s->waiter, "sharing gradients among a node's ranks");
    int code = MPI_Win_allocate_shared(bytes, 1, apart, node, &mine, &w->window);
    wait_library_end(s->waiter);
    MPI_Info_free(&apart);
    if (code != MPI_SUCCESS)
        return error_set(e, ERR_MPI, "sharing %zu bytes among a node's ranks: MPI error %d",
                         (size_t)bytes, code);
    for (int r = 0; r < s->ranks; r++) {
        MPI_Aint size;
        int unit;
        void *part;
        MPI_Win_shared_query(w->window, r, &size, &unit, &part);
        w->flags[r] = part;
        w->grads[r] = (real *)(w->flags[r] + 1);
    }
    s->arenas.grads = (real *)(w->flags[s->rank] + 1);
    return OK;
}

/* A rank is the first to touch its gradients, for their memory to be near it; then it looks at all
 * that it will read. */
static enum status touch(struct sync *s, struct error *e)
{
    struct window *w = s->own;
    memset(w->flags[s->rank], 0, sizeof(struct flag));
    memset(s->arenas.grads, 0, s->arenas.n * sizeof(real));
    w->is_read = true;
    enum status status = wait_barrier(s->waiter, s->comm, "opening of shared memory", e);
    if (status == OK)
        status = sum_gradients(s, e);
    for (int r = 0; r < s->ranks && status == OK; r++)
        local_norm2(s->exec, w->grads[r], s->arenas.n);
    if (status == OK)
        let_go(s);
    return status;
}

static enum status share_arenas(struct sync *s, struct error *e)
{
    MPI_Comm node;
    struct window *w = s->own = calloc(1, sizeof *w);
    if (w != NULL) {
        w->window = MPI_WIN_NULL;
        w->flags = calloc((size_t)s->ranks, sizeof *w->flags);
        w->grads = calloc((size_t)s->ranks, sizeof *w->grads);
    }
    if (w == NULL || w->flags == NULL || w->grads == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the parts of %d ranks", s->ranks);
    enum status status = find_node(s, &node, e);
    if (status != OK)
        return status;
    status = open_window(s, node, e);
    MPI_Comm_free(&node);
    return status;
}

/* Whether there is space is for rank 0 to say: others may have taken theirs already. */
static enum status agree_on_space(struct sync *s, struct error *e)
{
    int found = check_space(s, e);
    enum status status =
        wait_bcast(s->waiter, &found, 1, MPI_INT, 0, s->comm, "agreement on shared memory", e);
    if (status == OK && found != OK && s->rank > 0)
        return error_set(e, (enum status)found, "rank 0 finds no room for strategy shm");
    return status != OK ? status : (enum status)found;
}

static enum status shm_create(struct sync *s, struct error *e)
{
    enum status status = agree_on_space(s, e);
    if (status == OK)
        status = share_arenas(s, e);
    if (status == OK)
        status = arenas_alloc(&s->arenas, e);
    return status == OK ? touch(s, e) : status;
}

static enum status shm_params_needed(struct sync *s, struct range range, enum pass pass,
                                     struct error *e)
{
    const struct window *w = s->own;
    (void)range;
    if (pass == PASS_FORWARD || wait_for_readers(s) == OK)
        return OK;
    *e = w->error;
    return w->settled;
}

/* A caller that asks for nothing before may write at once as well; it learns of a wait that failed
 * at the end of its step. */
static real *shm_grad_buffer(struct sync *s, struct range range)
{
    (void)range;
    (void)wait_for_readers(s);
    return s->arenas.grads;
}

static enum status shm_step_end(struct sync *s, const struct optimizer *o, uint64_t step, double lr,
                                struct error *e)
{
    struct window *w = s->own;
    if (wait_for_readers(s) != OK) {
        *e = w->error;
        return w->settled;
    }
    sync_comm_begin(s);
    enum status status = sum_gradients(s, e);
    sync_comm_end(s);
    if (status == OK && o->clip_norm > 0)
        status = clip(s, o, e);
    if (status == OK)
        optimize(s, o, step, lr);
    s->times.comm_exposed_ns += w->read_ns;
    s->times.comm_total_ns += w->read_ns;
    w->read_ns = 0;
    let_go(s);
    return status;
}

static void shm_destroy(struct sync *s)
{
    struct window *w = s->own;
    if (w != NULL && w->window != MPI_WIN_NULL) {
        s->arenas.grads = NULL;
        wait_library_begin(s->waiter, "end of shared gradients");
        MPI_Win_free(&w->window);
        wait_library_end(s->waiter);
    }
    if (w != NULL) {
        free(w->flags);
        free(w->grads);
        free(w);
    }
    arenas_free(&s->arenas);
}

const struct strategy strategy_shm = {
    .create = shm_create,
    .params_needed = shm_params_needed,
    .grad_buffer = shm_grad_buffer,
    .step_end = shm_step_end,
    .destroy = shm_destroy,
};
