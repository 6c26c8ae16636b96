/* Error feedback (comm/compress.h) for compressors in which every rank sends one packet to all
 * others. Each rank adds its gradients to its residual, moves a packet (compressed gradients) out
 * of the residual and keeps the rest. Every rank adds all packets in the order of ranks. */
#pragma once

#include "comm/compress.h"

/* State of error feedback; first member of sync->compression. */
struct feedback {
    struct exchanger exchanger;
    real *residual;         /* [n] gradients not sent in earlier steps */
    unsigned char *packets; /* [ranks][bytes of a packet] packets of all ranks */
};

/* Packet format of a compressor: functions that make and read packets. */
struct packing {
    const char *operation; /* name of the exchange in error messages */
    /* Makes a packet from the residuals of `tensors` and subtracts the packet's content from these
     * residuals. */
    void (*encode)(struct sync *s, struct range tensors, unsigned char *packet);
    /* Adds the content of `packet` to the gradients of `tensors`. */
    void (*decode)(struct sync *s, struct range tensors, const unsigned char *packet);
};

/* Allocates the state for packets of at most `packet_bytes`. */
enum status feedback_create(struct sync *s, size_t packet_bytes, struct error *e);
/* Replaces the gradients of `tensors` by the sum of all ranks' packets. `bytes`: size of a
 * packet. */
enum status feedback_sum(struct sync *s, struct range tensors, size_t bytes,
                         const struct packing *packing, struct error *e);

/* Implement the hooks `memory` and `begin` of struct compressor. */
void *feedback_memory(struct sync *s, size_t *bytes);
void feedback_begin(struct sync *s);
