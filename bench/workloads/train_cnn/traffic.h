/* Counts a rank's MPI calls, messages and bytes in the timed steps. Messages are counted for
 * scalebench's own algorithms, and computed by a formula for MPI collectives. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Snapshot of waiter counters. served_*: MPI calls made to serve other ranks, and bytes passed to
 * these calls. */
struct traffic_mark {
    uint64_t calls, bytes_payload, served_calls, served_bytes, messages_sent, bytes_sent;
};

struct traffic {
    uint64_t calls, bytes_payload;        /* MPI calls, and bytes passed to them */
    uint64_t messages_sent, bytes_sent;   /* point-to-point messages, and bytes sent in them */
    uint64_t stage_messages, stage_bytes; /* messages and bytes sent to other pipeline stages */
    /* Messages and bytes sent by batch-norm sums and tensor-slice sums. */
    struct cost extra;
    /* Bytes sent by tensor-slice sums and by batch-norm sums, both included in extra.bytes_wire. */
    uint64_t tensor_bytes, batch_norm_bytes;
    struct traffic_mark step; /* counters when the current step began */
    /* Counter values up to which messages, and MPI calls made to serve other ranks, are already
     * added to the totals or ignored. */
    struct traffic_mark seen;
};

/* Call traffic_step_begin before each step and traffic_step_end after it. Messages between steps
 * are ignored. With parameter servers, such messages count as part of the next step, since they may
 * serve timed steps of other ranks. */
void traffic_step_begin(struct traffic *t, const struct waiter *w);
void traffic_step_end(struct traffic *t, const struct trainer *trainer, bool timed);
/* Call traffic_between when ranks synchronise before or after the timed steps. Messages sent since
 * t->seen, and MPI calls made since then to serve other ranks, are added to the totals if `timed`,
 * otherwise ignored. */
void traffic_between(struct traffic *t, const struct waiter *w, bool timed);

/* Counters that the kernel keeps for a network interface since boot: bytes sent and received,
 * including headers; packets sent and received. */
enum { NIC_COUNTERS = 4 };

/* Reads the counters of interface `name`. Returns false if the interface does not exist. */
bool nic_read(double counts[NIC_COUNTERS], const char *name);
/* Sets the bytes_nic* and packets_nic* members of *end to the increases from reading `from` to
 * reading `to`. */
void nic_take(struct record_end *end, const double from[NIC_COUNTERS],
              const double to[NIC_COUNTERS]);

/* Returns this rank's calls, payload, messages and bytes in the timed steps, which are the last
 * `steps` of `steps_done` steps. Member wire_source of the result states whether messages and bytes
 * were counted or computed by formula. */
struct cost traffic_total(const struct traffic *t, const struct sync *sync, uint64_t steps_done,
                          uint64_t steps);
