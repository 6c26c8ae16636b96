/* Sums of gradients that travel in 16 bits, of the compressors fp16 and bf16. */
#pragma once

#include "comm/compress.h"
#include "kernels/cast16.h"

/* What the two differ in. */
enum format16 { FORMAT_FP16, FORMAT_BF16 };

/* What sync->compression is. */
struct sum16 {
    struct exchanger exchanger;
    const struct cast16_functions *functions;
    const struct cast16 *cast;
    float scale;
    bool counts_infinite;
    uint16_t *wire;     /* [n]: own numbers, then the sum's */
    uint16_t *received; /* [ranks][longest share] */
    real *sum;          /* [longest share] */
};

/* Hooks of a compressor; `scale`, a power of two, multiplies numbers on their way. */
enum status sum16_create(struct sync *s, enum format16 format, double scale, struct error *e);
enum status sum16(struct sync *s, struct range tensors, struct error *e);
void sum16_destroy(struct sync *s);
