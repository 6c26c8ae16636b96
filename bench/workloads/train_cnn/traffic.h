/* What a rank hands to the library and sends in the timed steps of a run, however it does: by calls whose messages the
 * waiter counts, by sums of the library, which a formula counts, and for other ranks, which a parameter server serves
 * in any wait. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* What a waiter has counted up to some moment. */
struct traffic_mark {
    uint64_t calls, bytes_payload, served_calls, served_bytes, messages_sent, bytes_sent;
};

struct traffic {
    uint64_t calls, bytes_payload;           /* at the MPI boundary */
    uint64_t messages_sent, bytes_sent;      /* of these, to one rank */
    uint64_t stage_messages, stage_bytes;    /* of those sent, to other stages of a pipeline */
    struct cost extra;                       /* by sums besides the strategy's own */
    uint64_t tensor_bytes, batch_norm_bytes; /* of these, over slices of layers, of statistics */
    struct traffic_mark step;                /* where the step under way began */
    struct traffic_mark seen; /* messages and what was served up to here are added or left out */
};

/* Around a step. What was sent since the last one is left out, but that of ranks that serve others, which may be
 * answers to timed steps of others. */
void traffic_step_begin(struct traffic *t, const struct waiter *w);
void traffic_step_end(struct traffic *t, const struct trainer *trainer, bool timed);
/* When ranks meet before the timed steps or after them: what was sent and served since the last step is `timed`, or
 * is left out. */
void traffic_meet(struct traffic *t, const struct waiter *w, bool timed);

/* What an interface has sent and received since it came up: bytes, headers included, and packets, as the kernel hands
 * them on. */
enum { NIC_COUNTERS = 4 };

/* False if there is no interface `name`. */
bool nic_read(double counts[NIC_COUNTERS], const char *name);
/* Fills in what it has sent and received in between. */
void nic_take(struct record_end *end, const double from[NIC_COUNTERS],
              const double to[NIC_COUNTERS]);

/* All that this rank has sent in the timed steps, the last of those that were done: calls, payload, messages, bytes and
 * where the last two come from. */
struct cost traffic_total(const struct traffic *t, const struct sync *sync, uint64_t steps_done,
                          uint64_t steps);
