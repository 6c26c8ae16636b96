#include "comm/local_ops.h"
#include "comm/strategy.h"
#include "kernels/base/clock.h"

/* ---- Intervals ---- */

/* Begins an interval of exposed communication: subtracts the begin time from comm_exposed_ns.
 * end_interval adds the end time, so comm_exposed_ns is not valid within an interval. */
static void begin_at(struct sync *s, int64_t now_ns)
{
    if (s->comm_begin_ns == 0)
        s->comm_begin_ns = now_ns;
    s->interval_ns = now_ns;
    s->times.comm_exposed_ns -= now_ns;
}

static void end_interval(struct sync *s, const char *operation)
{
    int64_t now_ns = clock_ns();
    s->times.comm_exposed_ns += now_ns;
    s->times.comm_total_ns = now_ns - s->comm_begin_ns;
    timeline_add(s->waiter->timeline, PHASE_comm, operation, s->interval_ns, now_ns);
}

void sync_comm_begin(struct sync *s)
{
    int64_t now_ns = clock_ns();
    if (s->times.arrive_ns == 0 || s->computes_on)
        s->times.arrive_ns = now_ns - s->waited_ns;
    s->computes_on = false;
    begin_at(s, now_ns);
}

/* Ends an interval of exposed communication. In the timeline, the interval has the name of the last
 * wait. */
void sync_comm_end(struct sync *s)
{
    end_interval(s, s->waiter->operation);
}

void sync_comm_end_amid(struct sync *s)
{
    sync_comm_end(s);
    s->waited_ns = s->times.comm_exposed_ns;
    s->computes_on = true;
}

void sync_call_begin(struct sync *s)
{
    begin_at(s, clock_ns());
}

void sync_call_end(struct sync *s)
{
    end_interval(s, "messages leave");
}

void sync_pack_begin(struct sync *s)
{
    s->packing_ns = clock_ns();
}

void sync_pack_end(struct sync *s)
{
    int64_t now_ns = clock_ns();
    s->times.pack_ns += now_ns - s->packing_ns;
    timeline_add(s->waiter->timeline, PHASE_pack, "pack", s->packing_ns, now_ns);
}

/* ---- Timed operations ---- */

enum status sync_allreduce(struct sync *s, real *x, size_t n, const char *operation,
                           struct error *e)
{
    sync_comm_begin(s);
    enum status status =
        wait_allreduce(s->waiter, x, n, MPI_REAL_TYPE, MPI_SUM, s->comm, operation, e);
    sync_comm_end(s);
    return status;
}

enum status sync_extra_sum(struct sync *s, const struct extra_sum *x, void (*end)(struct sync *s),
                           struct error *e)
{
    int rank, ranks, width;
    MPI_Comm_rank(x->comm, &rank);
    MPI_Comm_size(x->comm, &ranks);
    MPI_Type_size(x->type, &width);
    cost_add_sum(&s->extra, &s->config, rank, ranks, x->count, (size_t)width);
    sync_comm_begin(s);
    enum status status =
        wait_allreduce(s->waiter, x->values, x->count, x->type, x->op, x->comm, x->operation, e);
    end(s);
    return status;
}

enum status sync_exchange(struct sync *s, const struct exchange *x, struct error *e)
{
    sync_comm_begin(s);
    enum status status = wait_exchange(s->waiter, x, e);
    sync_comm_end(s);
    return status;
}

void sync_add(struct sync *s, real *y, const real *x, size_t n)
{
    sync_pack_begin(s);
    local_add(s->exec, y, x, n);
    sync_pack_end(s);
}

void sync_scale(struct sync *s, real *x, size_t n, real factor)
{
    sync_pack_begin(s);
    local_scale(s->exec, x, n, factor);
    sync_pack_end(s);
}

void sync_copy(struct sync *s, void *to, const void *from, size_t bytes)
{
    sync_pack_begin(s);
    local_copy(s->exec, to, from, bytes);
    sync_pack_end(s);
}
