/* Counts calls, messages and bytes that a rank sends in the timed steps. Messages of own algorithms
 * are counted by the waiter, collectives of the MPI library by formula. A parameter server also
 * sends while it waits for other things. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Counters of a waiter at one moment. */
struct traffic_mark {
    uint64_t calls, bytes_payload, served_calls, served_bytes, messages_sent, bytes_sent;
};

struct traffic {
    uint64_t calls, bytes_payload;        /* at the MPI boundary */
    uint64_t messages_sent, bytes_sent;   /* point-to-point messages among these calls */
    uint64_t stage_messages, stage_bytes; /* messages to other pipeline stages, included above */
    struct cost extra;                    /* cost of collectives outside the strategy */
    /* Share of `extra` for tensor slices and for batch-norm statistics. */
    uint64_t tensor_bytes, batch_norm_bytes;
    struct traffic_mark step; /* counters at the begin of the current step */
    /* Counters up to which messages and served calls are accounted for. */
    struct traffic_mark seen;
};

/* Call before and after each step. Messages between two steps do not count, except on ranks that
 * serve others: they may answer timed steps of other ranks. */
void traffic_step_begin(struct traffic *t, const struct waiter *w);
void traffic_step_end(struct traffic *t, const struct trainer *trainer, bool timed);
/* Accounts for messages and served calls since the last step, when ranks synchronise before or
 * after the timed steps. `timed`: count them; else leave them out. */
void traffic_between(struct traffic *t, const struct waiter *w, bool timed);

/* Counters of a network interface since it came up, read from the kernel: bytes with headers, and
 * packets, sent and received. */
enum { NIC_COUNTERS = 4 };

/* Reads the counters of interface `name`. Returns false if it does not exist. */
bool nic_read(double counts[NIC_COUNTERS], const char *name);
/* Fills in the bytes and packets between two readings. */
void nic_take(struct record_end *end, const double from[NIC_COUNTERS],
              const double to[NIC_COUNTERS]);

/* Returns the calls, payload, messages and bytes of this rank in the last `steps` steps, and the
 * source of the last two. */
struct cost traffic_total(const struct traffic *t, const struct sync *sync, uint64_t steps_done,
                          uint64_t steps);
