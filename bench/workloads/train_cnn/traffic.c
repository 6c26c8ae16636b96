#include "bench/workloads/train_cnn/traffic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/file.h"

static struct traffic_mark mark_of(const struct waiter *w)
{
    return (struct traffic_mark){w->calls,        w->bytes_payload, w->served_calls,
                                 w->served_bytes, w->messages_sent, w->bytes_sent};
}

void traffic_between(struct traffic *t, const struct waiter *w, bool timed)
{
    const struct traffic_mark now = mark_of(w), *seen = &t->seen;
    if (timed) {
        t->messages_sent += now.messages_sent - seen->messages_sent;
        t->bytes_sent += now.bytes_sent - seen->bytes_sent;
        t->calls += now.served_calls - seen->served_calls;
        t->bytes_payload += now.served_bytes - seen->served_bytes;
    }
    t->seen = now;
}

void traffic_step_begin(struct traffic *t, const struct waiter *w)
{
    t->step = mark_of(w);
    if (w->serve == NULL)
        t->seen = t->step;
}

/* Adds the MPI calls of the step and their bytes, except calls that serve other ranks (parameter
 * server). */
static void add_calls(struct traffic *t, const struct waiter *w)
{
    const struct traffic_mark *begin = &t->step;
    t->calls += (w->calls - w->served_calls) - (begin->calls - begin->served_calls);
    t->bytes_payload +=
        (w->bytes_payload - w->served_bytes) - (begin->bytes_payload - begin->served_bytes);
}

/* Adds the messages and bytes that this rank has sent in the step to other pipeline stages, and in
 * sums outside the strategy (norms, overflow flags, batch norm and tensor slices). */
static void add_sent(struct traffic *t, const struct trainer *trainer)
{
    const struct cost *extra = &trainer->sync->extra;
    t->extra.messages_wire += extra->messages_wire;
    t->extra.bytes_wire += extra->bytes_wire;
    if (extra->bytes_wire > 0)
        t->extra.wire_source = extra->wire_source;
    t->tensor_bytes += trainer->model.slice.bytes_sent;
    t->batch_norm_bytes += trainer->group.bytes_sent;
    t->stage_messages += trainer->model.stage.messages_sent;
    t->stage_bytes += trainer->model.stage.bytes_sent;
}

void traffic_step_end(struct traffic *t, const struct trainer *trainer, bool timed)
{
    if (timed) {
        add_calls(t, trainer->job.waiter);
        add_sent(t, trainer);
    }
    traffic_between(t, trainer->job.waiter, timed);
}

/* MPI calls and payload are always counted. Messages and bytes on the wire may come from a formula
 * (wire_source). */
struct cost traffic_total(const struct traffic *t, const struct sync *sync, uint64_t steps_done,
                          uint64_t steps)
{
    struct cost cost = sync_cost(sync);
    bool counted = strcmp(cost.wire_source, WIRE_COUNTED) == 0;
    double times = strategy_times(sync->kind, &sync->config, &cost, steps_done - steps + 1, steps);
    struct cost total = {
        .calls = t->calls,
        .bytes_payload = t->bytes_payload,
        .messages_wire = (uint64_t)((double)cost.messages_wire * times) + t->stage_messages,
        .bytes_wire = (uint64_t)((double)cost.bytes_wire * times) + t->stage_bytes,
        .wire_source = t->extra.bytes_wire > 0 && cost.bytes_wire == 0 ? t->extra.wire_source
                                                                       : cost.wire_source,
    };
    if (counted) {
        total.messages_wire = t->messages_sent;
        total.bytes_wire = t->bytes_sent;
    }
    total.messages_wire += t->extra.messages_wire;
    total.bytes_wire += t->extra.bytes_wire;
    return total;
}

/* ---- The node's interface ---- */

static const struct {
    const char *file;
    size_t at; /* offset of the counter's member in struct record_end */
} counters[NIC_COUNTERS] = {{"tx_bytes", offsetof(struct record_end, bytes_nic)},
                            {"rx_bytes", offsetof(struct record_end, bytes_nic_received)},
                            {"tx_packets", offsetof(struct record_end, packets_nic_sent)},
                            {"rx_packets", offsetof(struct record_end, packets_nic_received)}};

bool nic_read(double counts[NIC_COUNTERS], const char *name)
{
    bool known = true;
    for (int i = 0; i < NIC_COUNTERS; i++) {
        char path[256];
        snprintf(path, sizeof path, "/sys/class/net/%.200s/statistics/%s", name, counters[i].file);
        counts[i] = file_number(path);
        known = known && !isnan(counts[i]);
    }
    return known;
}

void nic_take(struct record_end *end, const double from[NIC_COUNTERS],
              const double to[NIC_COUNTERS])
{
    for (int i = 0; i < NIC_COUNTERS; i++)
        *(double *)((char *)end + counters[i].at) = to[i] - from[i];
}
