/* Sums of gradients that travel in 16 bits, of the compressors fp16 and bf16. */
#pragma once

#include "comm/compress.h"
#include "kernels/cast16.h"

/* A sum that was started: shares go to the ranks that add them up, then the sums of shares to all. */
struct sum_started {
    struct span span;
    uint16_t *received; /* [ranks - 1][share] */
    struct exchanger scatter, gather;
};

/* What sync->compression is. */
struct sum16 {
    const struct cast16_functions *functions;
    const struct cast16 *cast;
    float scale;
    bool counts_infinite;
    MPI_Comm gathers;         /* of messages that shares of later sums may overtake */
    struct sum_started *sums; /* [n_tensors] */
    int started;              /* of these sums are on their way: */
    int gathering,
        complete; /* of the first so many, this rank's share is summed; all is known to be there */
    uint16_t *wire;     /* [n]: own numbers, then the sum's */
    uint16_t *received; /* [n + ranks n_tensors] */
    real *sum;          /* [longest share] */
};

/* Hooks of a compressor that sums in bf16 or fp16; `scale`, a power of two, multiplies numbers on their way. */
enum status sum16_create(struct sync *s, enum precision precision, double scale, struct error *e);
enum status sum16(struct sync *s, struct range tensors, struct error *e);
enum status sum16_start(struct sync *s, struct range tensors, struct error *e);
enum status sum16_advance(struct sync *s, struct error *e);
bool sum16_poll(struct sync *s);
enum status sum16_finish(struct sync *s, struct error *e);
void sum16_destroy(struct sync *s);
