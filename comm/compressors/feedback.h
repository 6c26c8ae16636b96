/* Error feedback (comm/compress.h) of compressors whose ranks all send a packet to all others: what
 * they have in common. Each rank adds its gradients to its residual, takes a packet out of that and
 * keeps the rest for the next step; every rank adds what all sent, in the order of ranks. */
#pragma once

#include "comm/compress.h"

/* What sync->compression begins with. */
struct feedback {
    struct exchanger exchanger;
    real *residual;         /* [n] */
    unsigned char *packets; /* [ranks][bytes of a packet] */
};

/* How packets are made. */
struct packing {
    const char *operation; /* of the exchange, for messages */
    /* Takes what is sent of the tensors' residuals out of them. */
    void (*encode)(struct sync *s, struct range tensors, unsigned char *packet);
    /* Adds what a packet holds to the tensors' gradients. */
    void (*decode)(struct sync *s, struct range tensors, const unsigned char *packet);
};

/* Opens the struct feedback for packets of at most `packet_bytes`. */
enum status feedback_create(struct sync *s, size_t packet_bytes, struct error *e);
/* The sum of the tensors, by packets of `bytes`. */
enum status feedback_sum(struct sync *s, struct range tensors, size_t bytes,
                         const struct packing *packing, struct error *e);

/* Hooks of struct compressor. */
void *feedback_memory(struct sync *s, size_t *bytes);
void feedback_begin(struct sync *s);
