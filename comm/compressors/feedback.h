/* Error feedback (comm/compress.h) for compressors in which every rank sends a packet to all
 * others. Each rank adds its gradients to its residual, moves a packet out of the residual and
 * keeps the rest for the next step. Every rank adds all packets in the order of ranks. */
#pragma once

#include "comm/compress.h"

/* First member of sync->compression. */
struct feedback {
    struct exchanger exchanger;
    real *residual;         /* [n] error of earlier steps */
    unsigned char *packets; /* [ranks][bytes of a packet] */
};

/* Packet format of a compressor. */
struct packing {
    const char *operation; /* name of the exchange, for messages */
    /* Moves a packet out of the residuals of the tensors. */
    void (*encode)(struct sync *s, struct range tensors, unsigned char *packet);
    /* Adds the content of a packet to the gradients of the tensors. */
    void (*decode)(struct sync *s, struct range tensors, const unsigned char *packet);
};

/* Opens the struct feedback for packets of at most `packet_bytes`. */
enum status feedback_create(struct sync *s, size_t packet_bytes, struct error *e);
/* Sums the gradients of the tensors by packets of `bytes`. */
enum status feedback_sum(struct sync *s, struct range tensors, size_t bytes,
                         const struct packing *packing, struct error *e);

/* Hooks of struct compressor. */
void *feedback_memory(struct sync *s, size_t *bytes);
void feedback_begin(struct sync *s);
